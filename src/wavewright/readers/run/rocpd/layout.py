"""The stored tables of ROCpd databases, per version of the schema, declared once for the reader and the writer.

A stored table is called `rocpd_<name><suffix>`; the suffix is `_` and the guid of the run with `_` for `-`. All tables
but `metadata` begin with `id` (primary key) and `guid` (text). Drafts of the schema have more tables and columns; the
reader takes what a file has.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

PREFIX = "rocpd_"
#: Released versions of the schema, as metadata stores them.
VERSIONS = ("3", "3.0.0", "3.0.1", "3.0.2", "3.0.3", "3.0.4", "3.0.5")


@dataclass(frozen=True)
class StoredColumn:
    """A column as a `CREATE TABLE` would declare it."""

    name: str
    type: str  #: INTEGER, BIGINT, REAL, TEXT, or JSONB (the stored value is JSON text).
    is_required: bool = False
    is_unique: bool = False
    default: str | None = None  #: Default value as SQL; None = none.
    target: str | None = None  #: Name of the table that it refers to.
    choices: tuple[str, ...] = ()  #: The only values that are allowed; empty = any.


@dataclass(frozen=True)
class StoredTable:
    """A table with all of its columns, `id` and `guid` included."""

    name: str
    columns: tuple[StoredColumn, ...]

    @property
    def names(self) -> list[str]:
        """Names of the columns in stored order."""
        return [column.name for column in self.columns]


def stored_tables(version: str) -> dict[str, StoredTable]:
    """The tables of a version of the schema by name, in an order in which each refers only to earlier ones.

    Examples
    --------
    >>> "graph_launch" in stored_tables("3.0.1"), "graph_launch" in stored_tables("3.0.2")
    (False, True)
    """
    wanted_version = _number(version)
    tables = {}
    for declared in _TABLES.strip().split("\n\n"):
        head, *lines = (line.strip() for line in declared.splitlines())
        name, _, since = head.partition(" since ")
        if _number(since) > wanted_version:
            continue
        columns = [column for line in lines if (column := _column(line, wanted_version))]
        guid = () if name == "metadata" else (_GUID,)
        tables[name] = StoredTable(name, (_ID, *guid, *columns))
    return tables


def suffix_of(guid: str) -> str:
    """The suffix of the names of a run's tables.

    Examples
    --------
    >>> suffix_of("0000ddb5-8903-7903-b269-cd8d3745bb8a")
    '_0000ddb5_8903_7903_b269_cd8d3745bb8a'
    """
    return "_" + guid.replace("-", "_")


def _number(version: str) -> tuple[int, ...]:
    """`3` and `3.0.0` are the same."""
    numbers = [int(part) for part in re.findall(r"\d+", version)[:3]]
    return tuple(numbers + [0] * (3 - len(numbers)))


def _column(line: str, version: tuple[int, ...]) -> StoredColumn | None:
    """`name TYPE[!] [unique] [>target] [=default] [in A,B] [since 3.0.2]`; ! = not null."""
    name, kind, *marks = line.split()
    words = dict(pairwise(marks))
    if _number(words.get("since", "")) > version:
        return None
    choices = tuple(words.get("in", "").split(",")) if "in" in words else ()
    if choices == _AGENT_KINDS and version < _NIC_SINCE:
        choices = choices[:2]
    default = next((mark[1:] or "''" for mark in marks if mark.startswith("=")), None)
    return StoredColumn(
        name,
        kind.rstrip("!"),
        is_required=kind.endswith("!"),
        is_unique="unique" in marks,
        default="'{}'" if kind.startswith("JSONB") else default,
        target=next((mark[1:] for mark in marks if mark.startswith(">")), None),
        choices=choices,
    )


_ID = StoredColumn("id", "INTEGER", is_required=True)
_GUID = StoredColumn("guid", "TEXT", is_required=True)
_AGENT_KINDS = ("CPU", "GPU", "NIC")
_NIC_SINCE = (3, 0, 1)

_TABLES = """
metadata
    tag TEXT!
    value TEXT!

string
    string TEXT! unique

info_node
    hash BIGINT! unique
    machine_id TEXT! unique
    system_name TEXT
    hostname TEXT
    release TEXT
    version TEXT
    hardware_name TEXT
    domain_name TEXT

info_process
    nid INTEGER! >info_node
    ppid INTEGER
    pid INTEGER!
    init BIGINT
    fini BIGINT
    start BIGINT
    end BIGINT
    command TEXT
    environment JSONB!
    extdata JSONB!

info_thread
    nid INTEGER! >info_node
    ppid INTEGER
    pid INTEGER! >info_process
    tid INTEGER!
    name TEXT
    start BIGINT
    end BIGINT
    extdata JSONB!

info_agent
    nid INTEGER! >info_node
    pid INTEGER! >info_process
    type TEXT in CPU,GPU,NIC
    absolute_index INTEGER
    logical_index INTEGER
    type_index INTEGER
    uuid INTEGER
    name TEXT
    model_name TEXT
    vendor_name TEXT
    product_name TEXT
    user_name TEXT
    extdata JSONB!

info_queue
    nid INTEGER! >info_node
    pid INTEGER! >info_process
    name TEXT
    extdata JSONB!

info_stream
    nid INTEGER! >info_node
    pid INTEGER! >info_process
    name TEXT
    extdata JSONB!

info_pmc
    nid INTEGER! >info_node
    pid INTEGER! >info_process
    agent_id INTEGER >info_agent
    target_arch TEXT in CPU,GPU,NIC
    event_code INT
    instance_id INTEGER
    name TEXT!
    symbol TEXT!
    description TEXT
    long_description TEXT =
    component TEXT
    units TEXT =
    value_type TEXT in ABS,ACCUM,RELATIVE
    block TEXT
    expression TEXT
    is_constant INTEGER
    is_derived INTEGER
    spm_support INTEGER since 3.0.3
    extdata JSONB!

info_code_object
    nid INTEGER! >info_node
    pid INTEGER! >info_process
    agent_id INTEGER >info_agent
    uri TEXT
    load_base BIGINT
    load_size BIGINT
    load_delta BIGINT
    storage_type TEXT in FILE,MEMORY
    extdata JSONB!

info_kernel_symbol
    nid INTEGER! >info_node
    pid INTEGER! >info_process
    code_object_id INTEGER! >info_code_object
    kernel_name TEXT
    display_name TEXT
    kernel_object INTEGER
    kernarg_segment_size INTEGER
    kernarg_segment_alignment INTEGER
    group_segment_size INTEGER
    private_segment_size INTEGER
    sgpr_count INTEGER
    arch_vgpr_count INTEGER
    accum_vgpr_count INTEGER
    extdata JSONB!

track
    nid INTEGER! >info_node
    pid INTEGER >info_process
    tid INTEGER >info_thread
    name_id INTEGER >string
    extdata JSONB!

event
    category_id INTEGER >string
    stack_id INTEGER
    parent_stack_id INTEGER
    correlation_id INTEGER
    call_stack JSONB!
    line_info JSONB!
    extdata JSONB!

arg
    event_id INTEGER! >event
    position INTEGER!
    type TEXT!
    name TEXT!
    value TEXT
    extdata JSONB!

region
    nid INTEGER! >info_node
    pid INTEGER! >info_process
    tid INTEGER! >info_thread
    start BIGINT!
    end BIGINT!
    name_id INTEGER! >string
    event_id INTEGER >event
    extdata JSONB!

sample
    track_id INTEGER! >track
    timestamp BIGINT!
    event_id INTEGER >event
    extdata JSONB!

pmc_event
    event_id INTEGER >event
    sample_id INTEGER >sample since 3.0.3
    pmc_id INTEGER! >info_pmc
    value REAL =0.0
    xcc INTEGER since 3.0.3
    shader_engine INTEGER since 3.0.3
    instance INTEGER since 3.0.3
    shader_array INTEGER since 3.0.5
    wgp INTEGER since 3.0.5
    extdata JSONB

kernel_dispatch
    nid INTEGER! >info_node
    pid INTEGER! >info_process
    tid INTEGER >info_thread
    agent_id INTEGER! >info_agent
    kernel_id INTEGER! >info_kernel_symbol
    dispatch_id INTEGER!
    queue_id INTEGER! >info_queue
    stream_id INTEGER! >info_stream
    start BIGINT!
    end BIGINT!
    private_segment_size INTEGER
    group_segment_size INTEGER
    workgroup_size_x INTEGER!
    workgroup_size_y INTEGER!
    workgroup_size_z INTEGER!
    grid_size_x INTEGER!
    grid_size_y INTEGER!
    grid_size_z INTEGER!
    graph_exec_id INTEGER! =0 since 3.0.2
    graph_node_id INTEGER! =0 since 3.0.2
    region_name_id INTEGER >string
    event_id INTEGER >event
    extdata JSONB!

memory_copy
    nid INTEGER! >info_node
    pid INTEGER! >info_process
    tid INTEGER >info_thread
    start BIGINT!
    end BIGINT!
    name_id INTEGER! >string
    dst_agent_id INTEGER >info_agent
    dst_address INTEGER
    src_agent_id INTEGER >info_agent
    src_address INTEGER
    size INTEGER!
    queue_id INTEGER >info_queue
    stream_id INTEGER >info_stream
    graph_exec_id INTEGER! =0 since 3.0.2
    graph_node_id INTEGER! =0 since 3.0.2
    region_name_id INTEGER >string
    event_id INTEGER >event
    extdata JSONB!

memory_allocate
    nid INTEGER! >info_node
    pid INTEGER! >info_process
    tid INTEGER >info_thread
    agent_id INTEGER >info_agent
    type TEXT in ALLOC,FREE,REALLOC,RECLAIM
    level TEXT in REAL,VIRTUAL,SCRATCH
    start BIGINT!
    end BIGINT!
    address INTEGER
    size INTEGER!
    queue_id INTEGER >info_queue
    stream_id INTEGER >info_stream
    event_id INTEGER >event
    extdata JSONB!

graph_launch since 3.0.2
    nid INTEGER! >info_node
    pid INTEGER! >info_process
    tid INTEGER >info_thread
    agent_id INTEGER >info_agent
    queue_id INTEGER >info_queue
    start BIGINT!
    end BIGINT!
    graph_exec_id INTEGER!
    kernel_dispatch_count INTEGER! =0
    event_id INTEGER >event
    extdata JSONB!
"""
