"""The tables of ROCpd databases, schema 3 to 3.0.3, as SQL.

On purpose not those of `readers.rocpd.layout`: made inputs test the reader only where both were written down apart.
"""

from __future__ import annotations

__all__ = ["VERSIONS", "columns_of", "create_statements"]

VERSIONS = ("3", "3.0.1", "3.0.2", "3.0.3")

# One column per line: name, type, then ! = not null, * = unique, =x default, >table = its id, (A|B) = allowed texts,
# @version = since. Every table begins with id and guid; JSON is text that is "{}" when nothing is said.
_WHERE = """
    nid INTEGER ! >info_node
    pid INTEGER ! >info_process
"""
_BY_THREAD = _WHERE + "tid INTEGER >info_thread\n"
_SPAN = "start BIGINT !\n end BIGINT !\n"
_GRAPH = """
    graph_exec_id INTEGER ! =0 @3.0.2
    graph_node_id INTEGER ! =0 @3.0.2
"""
_END = "event_id INTEGER >event\n extdata JSON !\n"

_TABLES = {
    "string": "string TEXT ! *",
    "info_node": """
        hash BIGINT ! *
        machine_id TEXT ! *
        system_name TEXT
        hostname TEXT
        release TEXT
        version TEXT
        hardware_name TEXT
        domain_name TEXT
    """,
    "info_process": """
        nid INTEGER ! >info_node
        ppid INTEGER
        pid INTEGER !
        init BIGINT
        fini BIGINT
        start BIGINT
        end BIGINT
        command TEXT
        environment JSON !
        extdata JSON !
    """,
    "info_thread": """
        nid INTEGER ! >info_node
        ppid INTEGER
        pid INTEGER ! >info_process
        tid INTEGER !
        name TEXT
        start BIGINT
        end BIGINT
        extdata JSON !
    """,
    "info_agent": _WHERE
    + """
        type TEXT (AGENTS)
        absolute_index INTEGER
        logical_index INTEGER
        type_index INTEGER
        uuid INTEGER
        name TEXT
        model_name TEXT
        vendor_name TEXT
        product_name TEXT
        user_name TEXT
        extdata JSON !
    """,
    "info_queue": _WHERE + "name TEXT\n extdata JSON !",
    "info_stream": _WHERE + "name TEXT\n extdata JSON !",
    "info_pmc": _WHERE
    + """
        agent_id INTEGER >info_agent
        target_arch TEXT (AGENTS)
        event_code INT
        instance_id INTEGER
        name TEXT !
        symbol TEXT !
        description TEXT
        long_description TEXT =''
        component TEXT
        units TEXT =''
        value_type TEXT (ABS|ACCUM|RELATIVE)
        block TEXT
        expression TEXT
        is_constant INTEGER
        is_derived INTEGER
        spm_support INTEGER @3.0.3
        extdata JSON !
    """,
    "info_code_object": _WHERE
    + """
        agent_id INTEGER >info_agent
        uri TEXT
        load_base BIGINT
        load_size BIGINT
        load_delta BIGINT
        storage_type TEXT (FILE|MEMORY)
        extdata JSON !
    """,
    "info_kernel_symbol": _WHERE
    + """
        code_object_id INTEGER ! >info_code_object
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
        extdata JSON !
    """,
    "track": """
        nid INTEGER ! >info_node
        pid INTEGER >info_process
        tid INTEGER >info_thread
        name_id INTEGER >string
        extdata JSON !
    """,
    "event": """
        category_id INTEGER >string
        stack_id INTEGER
        parent_stack_id INTEGER
        correlation_id INTEGER
        call_stack JSON !
        line_info JSON !
        extdata JSON !
    """,
    "arg": """
        event_id INTEGER ! >event
        position INTEGER !
        type TEXT !
        name TEXT !
        value TEXT
        extdata JSON !
    """,
    "pmc_event": """
        event_id INTEGER >event
        sample_id INTEGER >sample @3.0.3
        pmc_id INTEGER ! >info_pmc
        value REAL =0.0
        xcc INTEGER @3.0.3
        shader_engine INTEGER @3.0.3
        instance INTEGER @3.0.3
        extdata JSON
    """,
    "region": _WHERE + "tid INTEGER ! >info_thread\n" + _SPAN + "name_id INTEGER ! >string\n" + _END,
    "sample": "track_id INTEGER ! >track\n timestamp BIGINT !\n" + _END,
    "kernel_dispatch": _BY_THREAD
    + """
        agent_id INTEGER ! >info_agent
        kernel_id INTEGER ! >info_kernel_symbol
        dispatch_id INTEGER !
        queue_id INTEGER ! >info_queue
        stream_id INTEGER ! >info_stream
    """
    + _SPAN
    + """
        private_segment_size INTEGER
        group_segment_size INTEGER
        workgroup_size_x INTEGER !
        workgroup_size_y INTEGER !
        workgroup_size_z INTEGER !
        grid_size_x INTEGER !
        grid_size_y INTEGER !
        grid_size_z INTEGER !
    """
    + _GRAPH
    + "region_name_id INTEGER >string\n"
    + _END,
    "memory_copy": _BY_THREAD
    + _SPAN
    + """
        name_id INTEGER ! >string
        dst_agent_id INTEGER >info_agent
        dst_address INTEGER
        src_agent_id INTEGER >info_agent
        src_address INTEGER
        size INTEGER !
        queue_id INTEGER >info_queue
        stream_id INTEGER >info_stream
    """
    + _GRAPH
    + "region_name_id INTEGER >string\n"
    + _END,
    "memory_allocate": _BY_THREAD
    + """
        agent_id INTEGER >info_agent
        type TEXT (ALLOC|FREE|REALLOC|RECLAIM)
        level TEXT (REAL|VIRTUAL|SCRATCH)
    """
    + _SPAN
    + """
        address INTEGER
        size INTEGER !
        queue_id INTEGER >info_queue
        stream_id INTEGER >info_stream
    """
    + _END,
    "graph_launch@3.0.2": _BY_THREAD
    + "agent_id INTEGER >info_agent\n queue_id INTEGER >info_queue\n"
    + _SPAN
    + "graph_exec_id INTEGER !\n kernel_dispatch_count INTEGER ! =0\n"
    + _END,
}


def _number(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def columns_of(version: str) -> dict[str, list[str]]:
    """The definition of every column of every table but metadata, without id and guid, by table.

    Examples
    --------
    >>> columns_of("3")["string"]
    ['string TEXT ! *']
    """
    columns = {}
    for key, text in _TABLES.items():
        table, _, since = key.partition("@")
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        parts = [line.partition("@") for line in lines]
        if _number(since or "3") <= _number(version):
            columns[table] = [line.strip() for line, _, since in parts if _number(since or "3") <= _number(version)]
    return columns


def create_statements(version: str, guid: str) -> list[str]:
    """SQL that makes the tables of one recording.

    Examples
    --------
    >>> create_statements("3", "0000-7")[1][:34]
    'CREATE TABLE "rocpd_string_0000_7"'
    """
    suffix = "_" + guid.replace("-", "_")
    key = '"id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT'
    statements = [f'CREATE TABLE "rocpd_metadata{suffix}" ({key}, "tag" TEXT NOT NULL, "value" TEXT NOT NULL)']
    for table, lines in columns_of(version).items():
        columns = [key, f"\"guid\" TEXT DEFAULT '{guid}' NOT NULL"]
        links = []
        for line in lines:
            column, link = _column(line, suffix, version)
            columns.append(column)
            links += link
        statements.append(f'CREATE TABLE "rocpd_{table}{suffix}" ({", ".join(columns + links)})')
    return statements


def _column(line: str, suffix: str, version: str) -> tuple[str, list[str]]:
    name, kind, *flags = line.split()
    text, link = f'"{name}" {kind}', []
    if kind == "JSON":
        text = f"\"{name}\" JSONB DEFAULT '{{}}'"
    for flag in flags:
        if flag == "!":
            text += " NOT NULL"
        elif flag == "*":
            text += " UNIQUE"
        elif flag.startswith("="):
            text += f" DEFAULT {flag[1:]}"
        elif flag.startswith(">"):
            link.append(f'FOREIGN KEY ("{name}") REFERENCES "rocpd_{flag[1:]}{suffix}" ("id") ON UPDATE CASCADE')
        else:
            allowed = flag.strip("()").replace("AGENTS", "CPU|GPU" if version == "3" else "CPU|GPU|NIC")
            text += f""" CHECK ("{name}" IN ('{"', '".join(allowed.split("|"))}'))"""
    return text, link
