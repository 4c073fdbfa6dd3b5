-- Views of GPU work, in the order of AMD's schema.

-- VIEW kernels: one dispatch of a kernel
SELECT
    -- BIGINT -: number of the dispatch in its process
    x.dispatch_id AS "id",
    -- VARCHAR -: unique id of the recording
    p.guid AS "guid",
    -- BIGINT -: thread that launched it
    t.tid AS "tid",
    -- VARCHAR -: always KERNEL_DISPATCH
    'KERNEL_DISPATCH' AS "category",
    -- VARCHAR -: marker range it was renamed after; empty = none
    x.region_name AS "region",
    -- VARCHAR -: name of the kernel to show
    x.name AS "name",
    -- BIGINT -: id of the node
    n.node_id AS "nid",
    -- BIGINT -: process id
    p.pid AS "pid",
    -- BIGINT -: number among all agents of the node
    a.absolute_index AS "agent_abs_index",
    -- BIGINT -: number among the agents visible to the process
    a.logical_index AS "agent_log_index",
    -- BIGINT -: number among the agents of its kind
    a.type_index AS "agent_type_index",
    -- VARCHAR -: CPU, GPU or NIC
    a.kind AS "agent_type",
    -- BIGINT -: code object of the kernel
    o.code_object_id AS "code_object_id",
    -- BIGINT -: id of the kernel
    k.symbol_id AS "kernel_id",
    -- BIGINT -: number of the dispatch in its process
    x.dispatch_id AS "dispatch_id",
    -- BIGINT -: id of the stream
    s.stream_id AS "stream_id",
    -- BIGINT -: id of the queue
    q.queue_id AS "queue_id",
    -- VARCHAR -: name of the queue
    q.name AS "queue",
    -- VARCHAR -: name of the stream
    s.name AS "stream",
    -- BIGINT ns: when it began
    x.start_ns AS "start",
    -- BIGINT ns: when it ended
    x.end_ns AS "end",
    -- BIGINT ns: how long it took
    x.end_ns - x.start_ns AS "duration",
    -- BIGINT lanes: size of the grid
    x.grid_x AS "grid_x",
    -- BIGINT lanes: size of the grid
    x.grid_y AS "grid_y",
    -- BIGINT lanes: size of the grid
    x.grid_z AS "grid_z",
    -- BIGINT lanes: size of a workgroup
    x.workgroup_x AS "workgroup_x",
    -- BIGINT lanes: size of a workgroup
    x.workgroup_y AS "workgroup_y",
    -- BIGINT lanes: size of a workgroup
    x.workgroup_z AS "workgroup_z",
    -- BIGINT bytes: LDS per workgroup
    x.lds_bytes AS "lds_size",
    -- BIGINT bytes: scratch memory per lane
    x.scratch_bytes AS "scratch_size",
    -- BIGINT -: vector registers
    x.vgpr_count AS "vgpr_count",
    -- BIGINT -: accumulation registers
    x.accum_vgpr_count AS "accum_vgpr_count",
    -- BIGINT -: scalar registers
    x.sgpr_count AS "sgpr_count",
    -- BIGINT bytes: LDS that the kernel always takes
    k.lds_bytes AS "static_lds_size",
    -- BIGINT bytes: scratch memory per lane it always takes
    k.scratch_bytes AS "static_scratch_size",
    -- BIGINT -: id shared with the call that issued it
    x.correlation AS "stack_id",
    -- BIGINT -: stack_id of the enclosing call
    x.parent_correlation AS "parent_stack_id",
    -- BIGINT -: id that the application gave; 0 = none
    x.external_correlation AS "corr_id",
    -- BIGINT -: rank of its process; null = unknown
    CAST(p.rank AS BIGINT) AS "rank"
FROM run.dispatches x
LEFT JOIN run.processes p ON p.process = x.process
LEFT JOIN run.nodes n ON n.node = p.node
LEFT JOIN run.threads t ON t.thread = x.thread
LEFT JOIN run.queues q ON q.queue = x.queue
LEFT JOIN run.streams s ON s.stream = x.stream
LEFT JOIN run.agents a ON a.agent = x.agent
LEFT JOIN run.symbols k ON k.symbol = x.symbol
LEFT JOIN run.code_objects o ON o.code_object = k.code_object;

-- VIEW pmc_events: one value of one instance of a counter, for a dispatch
SELECT
    -- BIGINT -: number of the value in its process
    c.row_in_process AS "id",
    -- VARCHAR -: unique id of the recording
    p.guid AS "guid",
    -- BIGINT -: id of the counter
    i.counter_id AS "pmc_id",
    -- BIGINT -: id of the event of the dispatch in its process
    c.event AS "event_id",
    -- VARCHAR -: always KERNEL_DISPATCH
    'KERNEL_DISPATCH' AS "category",
    -- VARCHAR -: name of the kernel
    x.name AS "name",
    -- BIGINT -: id of the node
    n.node_id AS "nid",
    -- BIGINT -: process id
    p.pid AS "pid",
    -- BIGINT -: number of the dispatch in its process
    x.dispatch_id AS "dispatch_id",
    -- BIGINT ns: when it began
    x.start_ns AS "start",
    -- BIGINT ns: when it ended
    x.end_ns AS "end",
    -- BIGINT ns: how long it took
    x.end_ns - x.start_ns AS "duration",
    -- VARCHAR -: name of the counter
    i.name AS "counter_name",
    -- DOUBLE -: the value
    c.value AS "counter_value",
    -- BIGINT -: rank of its process; null = unknown
    CAST(p.rank AS BIGINT) AS "rank"
FROM run.numbered_counters c
JOIN run.dispatches x ON x.process = c.process AND x.event = c.event
JOIN run.counter_info i ON i.counter = c.counter
LEFT JOIN run.processes p ON p.process = x.process
LEFT JOIN run.nodes n ON n.node = p.node
LEFT JOIN run.threads t ON t.thread = x.thread
LEFT JOIN run.queues q ON q.queue = x.queue
LEFT JOIN run.streams s ON s.stream = x.stream;

-- VIEW memory_copies: one copy of memory
SELECT
    -- BIGINT -: number of the copy in its process
    x.row_in_process AS "id",
    -- VARCHAR -: unique id of the recording
    p.guid AS "guid",
    -- VARCHAR -: always MEMORY_COPY
    'MEMORY_COPY' AS "category",
    -- BIGINT -: id of the node
    n.node_id AS "nid",
    -- BIGINT -: process id
    p.pid AS "pid",
    -- BIGINT -: thread that asked for it
    t.tid AS "tid",
    -- BIGINT ns: when it began
    x.start_ns AS "start",
    -- BIGINT ns: when it ended
    x.end_ns AS "end",
    -- BIGINT ns: how long it took
    x.end_ns - x.start_ns AS "duration",
    -- VARCHAR -: MEMORY_COPY_HOST_TO_DEVICE, ...
    x.name AS "name",
    -- VARCHAR -: marker range it was renamed after
    x.region_name AS "region_name",
    -- BIGINT -: id of the stream
    s.stream_id AS "stream_id",
    -- BIGINT -: id of the queue
    q.queue_id AS "queue_id",
    -- VARCHAR -: name of the stream
    s.name AS "stream_name",
    -- VARCHAR -: name of the queue
    q.name AS "queue_name",
    -- BIGINT bytes: how much was copied
    x.size_bytes AS "size",
    -- VARCHAR -: to: gfx942, ...; for CPUs their name
    d.target AS "dst_device",
    -- BIGINT -: number among all agents of the node
    d.absolute_index AS "dst_agent_abs_index",
    -- BIGINT -: number among the agents visible to the process
    d.logical_index AS "dst_agent_log_index",
    -- BIGINT -: number among the agents of its kind
    d.type_index AS "dst_agent_type_index",
    -- VARCHAR -: CPU, GPU or NIC
    d.kind AS "dst_agent_type",
    -- BIGINT -: to
    x.dst_address AS "dst_address",
    -- VARCHAR -: from: gfx942, ...; for CPUs their name
    f.target AS "src_device",
    -- BIGINT -: number among all agents of the node
    f.absolute_index AS "src_agent_abs_index",
    -- BIGINT -: number among the agents visible to the process
    f.logical_index AS "src_agent_log_index",
    -- BIGINT -: number among the agents of its kind
    f.type_index AS "src_agent_type_index",
    -- VARCHAR -: CPU, GPU or NIC
    f.kind AS "src_agent_type",
    -- BIGINT -: from
    x.src_address AS "src_address",
    -- BIGINT -: id shared with the call that issued it
    x.correlation AS "stack_id",
    -- BIGINT -: stack_id of the enclosing call
    x.parent_correlation AS "parent_stack_id",
    -- BIGINT -: id that the application gave; 0 = none
    x.external_correlation AS "corr_id",
    -- BIGINT -: rank of its process; null = unknown
    CAST(p.rank AS BIGINT) AS "rank"
FROM run.numbered_copies x
LEFT JOIN run.processes p ON p.process = x.process
LEFT JOIN run.nodes n ON n.node = p.node
LEFT JOIN run.threads t ON t.thread = x.thread
LEFT JOIN run.queues q ON q.queue = x.queue
LEFT JOIN run.streams s ON s.stream = x.stream
LEFT JOIN run.agents d ON d.agent = x.dst_agent
LEFT JOIN run.agents f ON f.agent = x.src_agent;

-- VIEW memory_allocations: one allocation or release of memory
SELECT
    -- BIGINT -: number of the row in its process
    x.row_in_process AS "id",
    -- VARCHAR -: unique id of the recording
    p.guid AS "guid",
    -- VARCHAR -: MEMORY_ALLOCATION or SCRATCH_MEMORY
    CASE WHEN x.level = 'SCRATCH' THEN 'SCRATCH_MEMORY' ELSE 'MEMORY_ALLOCATION' END AS "category",
    -- BIGINT -: id of the node
    n.node_id AS "nid",
    -- BIGINT -: process id
    p.pid AS "pid",
    -- BIGINT -: thread id
    t.tid AS "tid",
    -- BIGINT ns: when it began
    x.start_ns AS "start",
    -- BIGINT ns: when it ended
    x.end_ns AS "end",
    -- BIGINT ns: how long it took
    x.end_ns - x.start_ns AS "duration",
    -- VARCHAR -: ALLOC, FREE, REALLOC or RECLAIM
    x.type AS "type",
    -- VARCHAR -: REAL, VIRTUAL or SCRATCH
    x.level AS "level",
    -- VARCHAR -: gfx942, ...; for CPUs their name; releases have none
    a.target AS "agent_name",
    -- BIGINT -: number among all agents of the node
    a.absolute_index AS "agent_abs_index",
    -- BIGINT -: number among the agents visible to the process
    a.logical_index AS "agent_log_index",
    -- BIGINT -: number among the agents of its kind
    a.type_index AS "agent_type_index",
    -- VARCHAR -: CPU, GPU or NIC
    a.kind AS "agent_type",
    -- BIGINT -: the memory
    x.address AS "address",
    -- BIGINT bytes: how much; 0 for releases
    x.size_bytes AS "size",
    -- BIGINT -: id of the queue
    q.queue_id AS "queue_id",
    -- VARCHAR -: name of the queue
    q.name AS "queue_name",
    -- BIGINT -: id of the stream
    s.stream_id AS "stream_id",
    -- VARCHAR -: name of the stream
    s.name AS "stream_name",
    -- BIGINT -: id shared with the call that issued it
    x.correlation AS "stack_id",
    -- BIGINT -: stack_id of the enclosing call
    x.parent_correlation AS "parent_stack_id",
    -- BIGINT -: id that the application gave; 0 = none
    x.external_correlation AS "corr_id",
    -- BIGINT -: rank of its process; null = unknown
    CAST(p.rank AS BIGINT) AS "rank"
FROM run.numbered_allocations x
LEFT JOIN run.processes p ON p.process = x.process
LEFT JOIN run.nodes n ON n.node = p.node
LEFT JOIN run.threads t ON t.thread = x.thread
LEFT JOIN run.queues q ON q.queue = x.queue
LEFT JOIN run.streams s ON s.stream = x.stream
LEFT JOIN run.agents a ON a.agent = x.agent;

-- VIEW scratch_memory: one allocation or release of scratch memory; these rows are in memory_allocations as well
SELECT
    -- BIGINT -: as in memory_allocations
    x.row_in_process AS "id",
    -- VARCHAR -: unique id of the recording
    p.guid AS "guid",
    -- BIGINT -: id of the node
    n.node_id AS "nid",
    -- BIGINT -: process id
    p.pid AS "pid",
    -- VARCHAR -: ALLOC, FREE, RECLAIM
    x.type AS "operation",
    -- VARCHAR -: gfx942, ...
    a.target AS "agent_name",
    -- BIGINT -: number among all agents of the node
    a.absolute_index AS "agent_abs_index",
    -- BIGINT -: number among the agents visible to the process
    a.logical_index AS "agent_log_index",
    -- BIGINT -: number among the agents of its kind
    a.type_index AS "agent_type_index",
    -- VARCHAR -: CPU, GPU or NIC
    a.kind AS "agent_type",
    -- BIGINT -: id of the queue
    q.queue_id AS "queue_id",
    -- BIGINT -: thread id
    t.tid AS "tid",
    -- VARCHAR -: flags, a number
    json_string(x.properties, '$.flags') AS "alloc_flags",
    -- BIGINT ns: when it began
    x.start_ns AS "start",
    -- BIGINT ns: when it ended
    x.end_ns AS "end",
    -- BIGINT ns: how long it took
    x.end_ns - x.start_ns AS "duration",
    -- BIGINT bytes: how much
    x.size_bytes AS "size",
    -- BIGINT -: the memory
    x.address AS "address",
    -- BIGINT -: as corr_id
    x.external_correlation AS "correlation_id",
    -- BIGINT -: id shared with the call that issued it
    x.correlation AS "stack_id",
    -- BIGINT -: stack_id of the enclosing call
    x.parent_correlation AS "parent_stack_id",
    -- BIGINT -: id that the application gave; 0 = none
    x.external_correlation AS "corr_id",
    -- VARCHAR -: always SCRATCH_MEMORY
    'SCRATCH_MEMORY' AS "category",
    -- VARCHAR -: always empty
    '{}' AS "event_extdata",
    -- BIGINT -: rank of its process; null = unknown
    CAST(p.rank AS BIGINT) AS "rank"
FROM run.numbered_allocations x
LEFT JOIN run.processes p ON p.process = x.process
LEFT JOIN run.nodes n ON n.node = p.node
LEFT JOIN run.threads t ON t.thread = x.thread
LEFT JOIN run.queues q ON q.queue = x.queue
LEFT JOIN run.streams s ON s.stream = x.stream
LEFT JOIN run.agents a ON a.agent = x.agent
WHERE x.level = 'SCRATCH'
ORDER BY x.start_ns;

-- VIEW counters_collection: the sum of all instances of a counter, for a dispatch
SELECT
    -- BIGINT -: number of the first value in its process
    c.id AS "id",
    -- VARCHAR -: unique id of the recording
    p.guid AS "guid",
    -- BIGINT -: number of the dispatch in its process
    x.dispatch_id AS "dispatch_id",
    -- BIGINT -: id of the kernel
    k.symbol_id AS "kernel_id",
    -- BIGINT -: id of the event of the dispatch in its process
    c.event AS "event_id",
    -- BIGINT -: id that the application gave; 0 = none
    x.external_correlation AS "correlation_id",
    -- BIGINT -: id shared with the call that issued it
    x.correlation AS "stack_id",
    -- BIGINT -: stack_id of the enclosing call
    x.parent_correlation AS "parent_stack_id",
    -- BIGINT -: process id
    p.pid AS "pid",
    -- BIGINT -: thread that launched it
    t.tid AS "tid",
    -- BIGINT -: id of the agent
    a.agent_id AS "agent_id",
    -- BIGINT -: number among all agents of the node
    a.absolute_index AS "agent_abs_index",
    -- BIGINT -: number among the agents visible to the process
    a.logical_index AS "agent_log_index",
    -- BIGINT -: number among the agents of its kind
    a.type_index AS "agent_type_index",
    -- VARCHAR -: CPU, GPU or NIC
    a.kind AS "agent_type",
    -- BIGINT -: id of the queue
    q.queue_id AS "queue_id",
    -- BIGINT lanes: size of the grid
    x.grid_x AS "grid_size_x",
    -- BIGINT lanes: size of the grid
    x.grid_y AS "grid_size_y",
    -- BIGINT lanes: size of the grid
    x.grid_z AS "grid_size_z",
    -- BIGINT lanes: lanes in all
    x.grid_x * x.grid_y * x.grid_z AS "grid_size",
    -- VARCHAR -: name of the kernel to show
    x.name AS "kernel_name",
    -- VARCHAR -: marker range it was renamed after; empty = none
    x.region_name AS "kernel_region",
    -- BIGINT lanes: size of a workgroup
    x.workgroup_x AS "workgroup_size_x",
    -- BIGINT lanes: size of a workgroup
    x.workgroup_y AS "workgroup_size_y",
    -- BIGINT lanes: size of a workgroup
    x.workgroup_z AS "workgroup_size_z",
    -- BIGINT lanes: lanes of a workgroup
    x.workgroup_x * x.workgroup_y * x.workgroup_z AS "workgroup_size",
    -- BIGINT bytes: LDS per workgroup
    x.lds_bytes AS "lds_block_size",
    -- BIGINT bytes: scratch memory per lane
    x.scratch_bytes AS "scratch_size",
    -- BIGINT -: vector registers
    x.vgpr_count AS "vgpr_count",
    -- BIGINT -: accumulation registers
    x.accum_vgpr_count AS "accum_vgpr_count",
    -- BIGINT -: scalar registers
    x.sgpr_count AS "sgpr_count",
    -- VARCHAR -: name of the counter
    i.name AS "counter_name",
    -- VARCHAR -: short name of the counter
    i.symbol AS "counter_symbol",
    -- VARCHAR -: tool that measured it
    i.component AS "component",
    -- VARCHAR -: what it counts
    i.description AS "description",
    -- VARCHAR -: hardware block
    i.block AS "block",
    -- VARCHAR -: formula, if it is derived
    i.expression AS "expression",
    -- VARCHAR -: ABS, ACCUM or RELATIVE
    i.value_type AS "value_type",
    -- BIGINT -: id of the counter
    i.counter_id AS "counter_id",
    -- DOUBLE -: sum of the instances: no meaning for maxima, means and ratios
    c.value AS "value",
    -- BIGINT ns: when the dispatch began
    x.start_ns AS "start",
    -- BIGINT ns: when the dispatch ended
    x.end_ns AS "end",
    -- BIGINT -: 1 = never changes
    CAST(i.is_constant AS BIGINT) AS "is_constant",
    -- BIGINT -: 1 = computed from others
    CAST(i.is_derived AS BIGINT) AS "is_derived",
    -- BIGINT ns: how long the dispatch took
    x.end_ns - x.start_ns AS "duration",
    -- VARCHAR -: always KERNEL_DISPATCH
    'KERNEL_DISPATCH' AS "category",
    -- BIGINT -: id of the node
    n.node_id AS "nid",
    -- VARCHAR -: always empty
    '{}' AS "extdata",
    -- BIGINT -: code object of the kernel
    o.code_object_id AS "code_object_id",
    -- BIGINT -: rank of its process; null = unknown
    CAST(p.rank AS BIGINT) AS "rank"
FROM (
    SELECT process, event, counter, MIN(row_in_process) AS id, SUM(value) AS value
    FROM run.numbered_counters
    WHERE time_ns IS NULL
    GROUP BY process, event, counter
) c
JOIN run.dispatches x ON x.process = c.process AND x.event = c.event
JOIN run.counter_info i ON i.counter = c.counter
LEFT JOIN run.processes p ON p.process = x.process
LEFT JOIN run.nodes n ON n.node = p.node
LEFT JOIN run.threads t ON t.thread = x.thread
LEFT JOIN run.queues q ON q.queue = x.queue
LEFT JOIN run.streams s ON s.stream = x.stream
LEFT JOIN run.agents a ON a.agent = x.agent
LEFT JOIN run.symbols k ON k.symbol = x.symbol
LEFT JOIN run.code_objects o ON o.code_object = k.code_object;
