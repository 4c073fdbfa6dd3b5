"""Views of GPU work: dispatches, copies, allocations, and the counters of dispatches."""

from __future__ import annotations

from wavewright.analysis.run.contents.views.spec import view_spec

_LINKS = """
    stack_id         BIGINT  -  | x.correlation | id shared with the call that issued it
    parent_stack_id  BIGINT  -  | x.parent_correlation | stack_id of the enclosing call
    corr_id          BIGINT  -  | x.external_correlation | id that the application gave; 0 = none
"""
_RANK = "rank BIGINT - | CAST(p.rank AS BIGINT) | rank of its process; null = unknown"
_SPAN = """
    start     BIGINT  ns  | x.start_ns | when it began
    end       BIGINT  ns  | x.end_ns | when it ended
    duration  BIGINT  ns  | x.end_ns - x.start_ns | how long it took
"""
_PLACE = """
    LEFT JOIN run.processes p ON p.process = x.process
    LEFT JOIN run.nodes n ON n.node = p.node
    LEFT JOIN run.threads t ON t.thread = x.thread
    LEFT JOIN run.queues q ON q.queue = x.queue
    LEFT JOIN run.streams s ON s.stream = x.stream
"""
_AGENT = """
    {prefix}agent_abs_index   BIGINT   -  | {agent}.absolute_index | number among all agents of the node
    {prefix}agent_log_index   BIGINT   -  | {agent}.logical_index | number among the agents visible to the process
    {prefix}agent_type_index  BIGINT   -  | {agent}.type_index | number among the agents of its kind
    {prefix}agent_type        VARCHAR  -  | {agent}.kind | CPU, GPU or NIC
"""
_THE_AGENT = _AGENT.format(prefix="", agent="a")
_KERNEL = f"""{_PLACE}
    LEFT JOIN run.agents a ON a.agent = x.agent
    LEFT JOIN run.symbols k ON k.symbol = x.symbol
    LEFT JOIN run.code_objects o ON o.code_object = k.code_object
"""
_ALLOCATION = f"FROM run.numbered_allocations x {_PLACE} LEFT JOIN run.agents a ON a.agent = x.agent"
_CATEGORY = "CASE WHEN x.level = 'SCRATCH' THEN 'SCRATCH_MEMORY' ELSE 'MEMORY_ALLOCATION' END"
_COUNTED = """
    FROM (
        SELECT process, event, counter, MIN(row_in_process) AS id, SUM(value) AS value
        FROM run.numbered_counters WHERE time_ns IS NULL GROUP BY process, event, counter
    ) c
    JOIN run.dispatches x ON x.process = c.process AND x.event = c.event
    JOIN run.counter_info i ON i.counter = c.counter
"""

#: Views of GPU work, in the order of AMD's schema.
WORK = (
    view_spec(
        "kernels",
        "one dispatch of a kernel",
        """
        id                   BIGINT   -      | x.dispatch_id | number of the dispatch in its process
        guid                 VARCHAR  -      | p.guid | unique id of the recording
        tid                  BIGINT   -      | t.tid | thread that launched it
        category             VARCHAR  -      | 'KERNEL_DISPATCH' | always KERNEL_DISPATCH
        region               VARCHAR  -      | x.region_name | marker range it was renamed after; empty = none
        name                 VARCHAR  -      | x.name | name of the kernel to show
        nid                  BIGINT   -      | n.node_id | id of the node
        pid                  BIGINT   -      | p.pid | process id
        """
        + _THE_AGENT
        + """
        code_object_id       BIGINT   -      | o.code_object_id | code object of the kernel
        kernel_id            BIGINT   -      | k.symbol_id | id of the kernel
        dispatch_id          BIGINT   -      | x.dispatch_id | number of the dispatch in its process
        stream_id            BIGINT   -      | s.stream_id | id of the stream
        queue_id             BIGINT   -      | q.queue_id | id of the queue
        queue                VARCHAR  -      | q.name | name of the queue
        stream               VARCHAR  -      | s.name | name of the stream
        """
        + _SPAN
        + """
        grid_x               BIGINT   lanes  | x.grid_x | size of the grid
        grid_y               BIGINT   lanes  | x.grid_y | size of the grid
        grid_z               BIGINT   lanes  | x.grid_z | size of the grid
        workgroup_x          BIGINT   lanes  | x.workgroup_x | size of a workgroup
        workgroup_y          BIGINT   lanes  | x.workgroup_y | size of a workgroup
        workgroup_z          BIGINT   lanes  | x.workgroup_z | size of a workgroup
        lds_size             BIGINT   bytes  | x.lds_bytes | LDS per workgroup
        scratch_size         BIGINT   bytes  | x.scratch_bytes | scratch memory per lane
        vgpr_count           BIGINT   -      | x.vgpr_count | vector registers
        accum_vgpr_count     BIGINT   -      | x.accum_vgpr_count | accumulation registers
        sgpr_count           BIGINT   -      | x.sgpr_count | scalar registers
        static_lds_size      BIGINT   bytes  | k.lds_bytes | LDS that the kernel always takes
        static_scratch_size  BIGINT   bytes  | k.scratch_bytes | scratch memory per lane it always takes
        """
        + _LINKS
        + _RANK,
        f"FROM run.dispatches x {_KERNEL}",
    ),
    view_spec(
        "pmc_events",
        "one value of one instance of a counter, for a dispatch",
        """
        id             BIGINT   -  | c.row_in_process | number of the value in its process
        guid           VARCHAR  -  | p.guid | unique id of the recording
        pmc_id         BIGINT   -  | i.counter_id | id of the counter
        event_id       BIGINT   -  | c.event | id of the event of the dispatch in its process
        category       VARCHAR  -  | 'KERNEL_DISPATCH' | always KERNEL_DISPATCH
        name           VARCHAR  -  | x.name | name of the kernel
        nid            BIGINT   -  | n.node_id | id of the node
        pid            BIGINT   -  | p.pid | process id
        dispatch_id    BIGINT   -  | x.dispatch_id | number of the dispatch in its process
        """
        + _SPAN
        + """
        counter_name   VARCHAR  -  | i.name | name of the counter
        counter_value  DOUBLE   -  | c.value | the value
        """
        + _RANK,
        f"""FROM run.numbered_counters c
        JOIN run.dispatches x ON x.process = c.process AND x.event = c.event
        JOIN run.counter_info i ON i.counter = c.counter {_PLACE}""",
    ),
    view_spec(
        "memory_copies",
        "one copy of memory",
        """
        id           BIGINT   -   | x.row_in_process | number of the copy in its process
        guid         VARCHAR  -   | p.guid | unique id of the recording
        category     VARCHAR  -   | 'MEMORY_COPY' | always MEMORY_COPY
        nid          BIGINT   -   | n.node_id | id of the node
        pid          BIGINT   -   | p.pid | process id
        tid          BIGINT   -   | t.tid | thread that asked for it
        """
        + _SPAN
        + """
        name         VARCHAR  -   | x.name | MEMORY_COPY_HOST_TO_DEVICE, ...
        region_name  VARCHAR  -   | x.region_name | marker range it was renamed after
        stream_id    BIGINT   -   | s.stream_id | id of the stream
        queue_id     BIGINT   -   | q.queue_id | id of the queue
        stream_name  VARCHAR  -   | s.name | name of the stream
        queue_name   VARCHAR  -   | q.name | name of the queue
        size         BIGINT   bytes | x.size_bytes | how much was copied
        dst_device   VARCHAR  -   | d.target | to: gfx942, ...; for CPUs their name
        """
        + _AGENT.format(prefix="dst_", agent="d")
        + """
        dst_address  BIGINT   -   | x.dst_address | to
        src_device   VARCHAR  -   | f.target | from: gfx942, ...; for CPUs their name
        """
        + _AGENT.format(prefix="src_", agent="f")
        + """
        src_address  BIGINT   -   | x.src_address | from
        """
        + _LINKS
        + _RANK,
        f"""FROM run.numbered_copies x {_PLACE}
        LEFT JOIN run.agents d ON d.agent = x.dst_agent LEFT JOIN run.agents f ON f.agent = x.src_agent""",
    ),
    view_spec(
        "memory_allocations",
        "one allocation or release of memory",
        f"""
        id           BIGINT   -   | x.row_in_process | number of the row in its process
        guid         VARCHAR  -   | p.guid | unique id of the recording
        category     VARCHAR  -   | {_CATEGORY} | MEMORY_ALLOCATION or SCRATCH_MEMORY
        nid          BIGINT   -   | n.node_id | id of the node
        pid          BIGINT   -   | p.pid | process id
        tid          BIGINT   -   | t.tid | thread id
        """
        + _SPAN
        + """
        type         VARCHAR  -   | x.type | ALLOC, FREE, REALLOC or RECLAIM
        level        VARCHAR  -   | x.level | REAL, VIRTUAL or SCRATCH
        agent_name   VARCHAR  -   | a.target | gfx942, ...; for CPUs their name; releases have none
        """
        + _THE_AGENT
        + """
        address      BIGINT   -   | x.address | the memory
        size         BIGINT   bytes | x.size_bytes | how much; 0 for releases
        queue_id     BIGINT   -   | q.queue_id | id of the queue
        queue_name   VARCHAR  -   | q.name | name of the queue
        stream_id    BIGINT   -   | s.stream_id | id of the stream
        stream_name  VARCHAR  -   | s.name | name of the stream
        """
        + _LINKS
        + _RANK,
        _ALLOCATION,
    ),
    view_spec(
        "scratch_memory",
        "one allocation or release of scratch memory; these rows are in memory_allocations as well",
        """
        id              BIGINT   -   | x.row_in_process | as in memory_allocations
        guid            VARCHAR  -   | p.guid | unique id of the recording
        nid             BIGINT   -   | n.node_id | id of the node
        pid             BIGINT   -   | p.pid | process id
        operation       VARCHAR  -   | x.type | ALLOC, FREE, RECLAIM
        agent_name      VARCHAR  -   | a.target | gfx942, ...
        """
        + _THE_AGENT
        + """
        queue_id        BIGINT   -   | q.queue_id | id of the queue
        tid             BIGINT   -   | t.tid | thread id
        alloc_flags     VARCHAR  -   | json_string(x.properties, '$.flags') | flags, a number
        """
        + _SPAN
        + """
        size            BIGINT   bytes | x.size_bytes | how much
        address         BIGINT   -   | x.address | the memory
        correlation_id  BIGINT   -   | x.external_correlation | as corr_id
        """
        + _LINKS
        + """
        category        VARCHAR  -   | 'SCRATCH_MEMORY' | always SCRATCH_MEMORY
        event_extdata   VARCHAR  -   | '{}' | always empty
        """
        + _RANK,
        f"{_ALLOCATION} WHERE x.level = 'SCRATCH' ORDER BY x.start_ns",
    ),
    view_spec(
        "counters_collection",
        "the sum of all instances of a counter, for a dispatch",
        """
        id                BIGINT   -      | c.id | number of the first value in its process
        guid              VARCHAR  -      | p.guid | unique id of the recording
        dispatch_id       BIGINT   -      | x.dispatch_id | number of the dispatch in its process
        kernel_id         BIGINT   -      | k.symbol_id | id of the kernel
        event_id          BIGINT   -      | c.event | id of the event of the dispatch in its process
        correlation_id    BIGINT   -      | x.external_correlation | id that the application gave; 0 = none
        stack_id          BIGINT   -      | x.correlation | id shared with the call that issued it
        parent_stack_id   BIGINT   -      | x.parent_correlation | stack_id of the enclosing call
        pid               BIGINT   -      | p.pid | process id
        tid               BIGINT   -      | t.tid | thread that launched it
        agent_id          BIGINT   -      | a.agent_id | id of the agent
        """
        + _THE_AGENT
        + """
        queue_id          BIGINT   -      | q.queue_id | id of the queue
        grid_size_x       BIGINT   lanes  | x.grid_x | size of the grid
        grid_size_y       BIGINT   lanes  | x.grid_y | size of the grid
        grid_size_z       BIGINT   lanes  | x.grid_z | size of the grid
        grid_size         BIGINT   lanes  | x.grid_x * x.grid_y * x.grid_z | lanes in all
        kernel_name       VARCHAR  -      | x.name | name of the kernel to show
        kernel_region     VARCHAR  -      | x.region_name | marker range it was renamed after; empty = none
        workgroup_size_x  BIGINT   lanes  | x.workgroup_x | size of a workgroup
        workgroup_size_y  BIGINT   lanes  | x.workgroup_y | size of a workgroup
        workgroup_size_z  BIGINT   lanes  | x.workgroup_z | size of a workgroup
        workgroup_size    BIGINT   lanes  | x.workgroup_x * x.workgroup_y * x.workgroup_z | lanes of a workgroup
        lds_block_size    BIGINT   bytes  | x.lds_bytes | LDS per workgroup
        scratch_size      BIGINT   bytes  | x.scratch_bytes | scratch memory per lane
        vgpr_count        BIGINT   -      | x.vgpr_count | vector registers
        accum_vgpr_count  BIGINT   -      | x.accum_vgpr_count | accumulation registers
        sgpr_count        BIGINT   -      | x.sgpr_count | scalar registers
        counter_name      VARCHAR  -      | i.name | name of the counter
        counter_symbol    VARCHAR  -      | i.symbol | short name of the counter
        component         VARCHAR  -      | i.component | tool that measured it
        description       VARCHAR  -      | i.description | what it counts
        block             VARCHAR  -      | i.block | hardware block
        expression        VARCHAR  -      | i.expression | formula, if it is derived
        value_type        VARCHAR  -      | i.value_type | ABS, ACCUM or RELATIVE
        counter_id        BIGINT   -      | i.counter_id | id of the counter
        value             DOUBLE   -      | c.value | sum of the instances: no meaning for maxima, means and ratios
        start             BIGINT   ns     | x.start_ns | when the dispatch began
        end               BIGINT   ns     | x.end_ns | when the dispatch ended
        is_constant       BIGINT   -      | CAST(i.is_constant AS BIGINT) | 1 = never changes
        is_derived        BIGINT   -      | CAST(i.is_derived AS BIGINT) | 1 = computed from others
        duration          BIGINT   ns     | x.end_ns - x.start_ns | how long the dispatch took
        category          VARCHAR  -      | 'KERNEL_DISPATCH' | always KERNEL_DISPATCH
        nid               BIGINT   -      | n.node_id | id of the node
        extdata           VARCHAR  -      | '{}' | always empty
        code_object_id    BIGINT   -      | o.code_object_id | code object of the kernel
        """
        + _RANK,
        f"{_COUNTED} {_KERNEL}",
    ),
)
