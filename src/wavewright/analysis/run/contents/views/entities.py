"""Views of the entities of a run: processes, threads, code objects, kernels, counters."""

from __future__ import annotations

from wavewright.analysis.run.contents.views.spec import view_spec

_WHERE = """
    id     BIGINT   -  | {id} | id as stored
    guid   VARCHAR  -  | p.guid | unique id of the recording
    nid    BIGINT   -  | n.node_id | id of the node
    pid    BIGINT   -  | p.pid | process id
"""
_PROCESS = """
    LEFT JOIN run.processes p ON p.process = x.process
    LEFT JOIN run.nodes n ON n.node = p.node
"""
_ENTRY = "kernel_code_entry_byte_offset"
_HOST = """
    nid             BIGINT   -   | n.node_id | id of the node
    machine_id      VARCHAR  -   | n.machine_id | identity of the machine
    system_name     VARCHAR  -   | n.system | operating system
    hostname        VARCHAR  -   | n.hostname | name of the node
    system_release  VARCHAR  -   | n.release | of the operating system
    system_version  VARCHAR  -   | n.version | of the operating system
    guid            VARCHAR  -   | p.guid | unique id of the recording
"""


def _number(key: str) -> str:
    return f"json_number(x.properties, '$.{key}')"


def _string(key: str) -> str:
    return f"json_string(x.properties, '$.{key}')"


#: Views of entities, in the order of AMD's schema.
ENTITIES = (
    view_spec(
        "code_objects",
        "one loaded code object",
        _WHERE.format(id="x.code_object_id")
        + f"""
        agent_abs_index   BIGINT   -      | a.absolute_index | number of the agent among all of the node
        uri               VARCHAR  -      | x.uri | where it came from
        load_base         BIGINT   -      | x.load_base | address it was loaded to
        load_size         BIGINT   bytes  | x.load_bytes | its size in memory
        load_delta        BIGINT   -      | x.load_delta | loaded address minus address in the file
        storage_type_str  VARCHAR  -      | x.storage | FILE or MEMORY; often not stored
        code_object_size  BIGINT   bytes  | {_number("size")} | size of the record about it
        storage_type      BIGINT   -      | {_number("storage_type")} | 1 = file, 2 = memory
        memory_base       BIGINT   -      | {_number("memory_base")} | where it was in memory
        memory_size       BIGINT   bytes  | {_number("memory_size")} | how large it was there
        """,
        f"FROM run.code_objects x {_PROCESS} LEFT JOIN run.agents a ON a.agent = x.agent",
    ),
    view_spec(
        "kernel_symbols",
        "one kernel in a code object",
        _WHERE.format(id="x.symbol_id")
        + f"""
        code_object_id             BIGINT   -      | o.code_object_id | its code object
        kernel_name                VARCHAR  -      | x.mangled | name in the code object
        display_name               VARCHAR  -      | x.name | name to show
        kernel_object              BIGINT   -      | x.kernel_object | address of its descriptor
        kernarg_segment_size       BIGINT   bytes  | x.kernarg_bytes | size of its arguments
        kernarg_segment_alignment  BIGINT   bytes  | x.kernarg_alignment | alignment of its arguments
        group_segment_size         BIGINT   bytes  | x.lds_bytes | LDS it always takes
        private_segment_size       BIGINT   bytes  | x.scratch_bytes | scratch memory per lane it always takes
        sgpr_count                 BIGINT   -      | x.sgpr_count | scalar registers
        arch_vgpr_count            BIGINT   -      | x.vgpr_count | vector registers
        accum_vgpr_count           BIGINT   -      | x.accum_vgpr_count | accumulation registers
        kernel_symbol_size         BIGINT   bytes  | {_number("size")} | size of the record about it
        kernel_id                  BIGINT   -      | {_number("kernel_id")} | as `id`, if stored
        {_ENTRY} BIGINT bytes | {_number(_ENTRY)} | from descriptor to code
        formatted_kernel_name      VARCHAR  -      | {_string("formatted_kernel_name")} | as `display_name`, if stored
        demangled_kernel_name      VARCHAR  -      | {_string("demangled_kernel_name")} | C++ signature
        truncated_kernel_name      VARCHAR  -      | {_string("truncated_kernel_name")} | without arguments
        kernel_address             BIGINT   -      | {_number("kernel_address.handle")} | address of its code
        """,
        f"FROM run.symbols x {_PROCESS} LEFT JOIN run.code_objects o ON o.code_object = x.code_object",
    ),
    view_spec(
        "processes",
        "one process",
        _HOST
        + """
        ppid     BIGINT   -   | p.parent_pid | process that started it
        pid      BIGINT   -   | p.pid | process id
        init     BIGINT   ns  | p.init_ns | when the recording tool was loaded
        start    BIGINT   ns  | p.start_ns | when the process began
        end      BIGINT   ns  | p.end_ns | when the process ended
        fini     BIGINT   ns  | p.fini_ns | when the recording tool ended
        command  VARCHAR  -   | p.command | command line
        """,
        "FROM run.processes p LEFT JOIN run.nodes n ON n.node = p.node",
    ),
    view_spec(
        "threads",
        "one thread",
        _HOST
        + """
        ppid   BIGINT   -   | x.parent_pid | process that started its process
        pid    BIGINT   -   | p.pid | process id
        tid    BIGINT   -   | x.tid | thread id
        start  BIGINT   ns  | x.start_ns | when it began
        end    BIGINT   ns  | x.end_ns | when it ended
        name   VARCHAR  -   | x.name | its name
        """,
        f"FROM run.threads x {_PROCESS}",
    ),
    view_spec(
        "pmc_info",
        "one hardware counter",
        _WHERE.format(id="x.counter_id")
        + """
        agent_abs_index  BIGINT   -  | a.absolute_index | number of the agent among all of the node
        is_constant      BIGINT   -  | CAST(x.is_constant AS BIGINT) | 1 = never changes
        is_derived       BIGINT   -  | CAST(x.is_derived AS BIGINT) | 1 = computed from others
        name             VARCHAR  -  | x.name | name
        description      VARCHAR  -  | x.description | what it counts
        block            VARCHAR  -  | x.block | hardware block
        expression       VARCHAR  -  | x.expression | formula, if it is derived
        """,
        f"FROM run.counter_info x {_PROCESS} LEFT JOIN run.agents a ON a.agent = x.agent",
    ),
)
