-- Views of entities, in the order of AMD's schema.

-- VIEW code_objects: one loaded code object
SELECT
    -- BIGINT -: id as stored
    x.code_object_id AS "id",
    -- VARCHAR -: unique id of the recording
    p.guid AS "guid",
    -- BIGINT -: id of the node
    n.node_id AS "nid",
    -- BIGINT -: process id
    p.pid AS "pid",
    -- BIGINT -: number of the agent among all of the node
    a.absolute_index AS "agent_abs_index",
    -- VARCHAR -: where it came from
    x.uri AS "uri",
    -- BIGINT -: address it was loaded to
    x.load_base AS "load_base",
    -- BIGINT bytes: its size in memory
    x.load_bytes AS "load_size",
    -- BIGINT -: loaded address minus address in the file
    x.load_delta AS "load_delta",
    -- VARCHAR -: FILE or MEMORY; often not stored
    x.storage AS "storage_type_str",
    -- BIGINT bytes: size of the record about it
    json_number(x.properties, '$.size') AS "code_object_size",
    -- BIGINT -: 1 = file, 2 = memory
    json_number(x.properties, '$.storage_type') AS "storage_type",
    -- BIGINT -: where it was in memory
    json_number(x.properties, '$.memory_base') AS "memory_base",
    -- BIGINT bytes: how large it was there
    json_number(x.properties, '$.memory_size') AS "memory_size"
FROM run.code_objects x
LEFT JOIN run.processes p ON p.process = x.process
LEFT JOIN run.nodes n ON n.node = p.node
LEFT JOIN run.agents a ON a.agent = x.agent;

-- VIEW kernel_symbols: one kernel in a code object
SELECT
    -- BIGINT -: id as stored
    x.symbol_id AS "id",
    -- VARCHAR -: unique id of the recording
    p.guid AS "guid",
    -- BIGINT -: id of the node
    n.node_id AS "nid",
    -- BIGINT -: process id
    p.pid AS "pid",
    -- BIGINT -: its code object
    o.code_object_id AS "code_object_id",
    -- VARCHAR -: name in the code object
    x.mangled AS "kernel_name",
    -- VARCHAR -: name to show
    x.name AS "display_name",
    -- BIGINT -: address of its descriptor
    x.kernel_object AS "kernel_object",
    -- BIGINT bytes: size of its arguments
    x.kernarg_bytes AS "kernarg_segment_size",
    -- BIGINT bytes: alignment of its arguments
    x.kernarg_alignment AS "kernarg_segment_alignment",
    -- BIGINT bytes: LDS it always takes
    x.lds_bytes AS "group_segment_size",
    -- BIGINT bytes: scratch memory per lane it always takes
    x.scratch_bytes AS "private_segment_size",
    -- BIGINT -: scalar registers
    x.sgpr_count AS "sgpr_count",
    -- BIGINT -: vector registers
    x.vgpr_count AS "arch_vgpr_count",
    -- BIGINT -: accumulation registers
    x.accum_vgpr_count AS "accum_vgpr_count",
    -- BIGINT bytes: size of the record about it
    json_number(x.properties, '$.size') AS "kernel_symbol_size",
    -- BIGINT -: as `id`, if stored
    json_number(x.properties, '$.kernel_id') AS "kernel_id",
    -- BIGINT bytes: from descriptor to code
    json_number(x.properties, '$.kernel_code_entry_byte_offset') AS "kernel_code_entry_byte_offset",
    -- VARCHAR -: as `display_name`, if stored
    json_string(x.properties, '$.formatted_kernel_name') AS "formatted_kernel_name",
    -- VARCHAR -: C++ signature
    json_string(x.properties, '$.demangled_kernel_name') AS "demangled_kernel_name",
    -- VARCHAR -: without arguments
    json_string(x.properties, '$.truncated_kernel_name') AS "truncated_kernel_name",
    -- BIGINT -: address of its code
    json_number(x.properties, '$.kernel_address.handle') AS "kernel_address"
FROM run.symbols x
LEFT JOIN run.processes p ON p.process = x.process
LEFT JOIN run.nodes n ON n.node = p.node
LEFT JOIN run.code_objects o ON o.code_object = x.code_object;

-- VIEW processes: one process
SELECT
    -- BIGINT -: id of the node
    n.node_id AS "nid",
    -- VARCHAR -: identity of the machine
    n.machine_id AS "machine_id",
    -- VARCHAR -: operating system
    n.system AS "system_name",
    -- VARCHAR -: name of the node
    n.hostname AS "hostname",
    -- VARCHAR -: of the operating system
    n.release AS "system_release",
    -- VARCHAR -: of the operating system
    n.version AS "system_version",
    -- VARCHAR -: unique id of the recording
    p.guid AS "guid",
    -- BIGINT -: process that started it
    p.parent_pid AS "ppid",
    -- BIGINT -: process id
    p.pid AS "pid",
    -- BIGINT ns: when the recording tool was loaded
    p.init_ns AS "init",
    -- BIGINT ns: when the process began
    p.start_ns AS "start",
    -- BIGINT ns: when the process ended
    p.end_ns AS "end",
    -- BIGINT ns: when the recording tool ended
    p.fini_ns AS "fini",
    -- VARCHAR -: command line
    p.command AS "command"
FROM run.processes p
LEFT JOIN run.nodes n ON n.node = p.node;

-- VIEW threads: one thread
SELECT
    -- BIGINT -: id of the node
    n.node_id AS "nid",
    -- VARCHAR -: identity of the machine
    n.machine_id AS "machine_id",
    -- VARCHAR -: operating system
    n.system AS "system_name",
    -- VARCHAR -: name of the node
    n.hostname AS "hostname",
    -- VARCHAR -: of the operating system
    n.release AS "system_release",
    -- VARCHAR -: of the operating system
    n.version AS "system_version",
    -- VARCHAR -: unique id of the recording
    p.guid AS "guid",
    -- BIGINT -: process that started its process
    x.parent_pid AS "ppid",
    -- BIGINT -: process id
    p.pid AS "pid",
    -- BIGINT -: thread id
    x.tid AS "tid",
    -- BIGINT ns: when it began
    x.start_ns AS "start",
    -- BIGINT ns: when it ended
    x.end_ns AS "end",
    -- VARCHAR -: its name
    x.name AS "name"
FROM run.threads x
LEFT JOIN run.processes p ON p.process = x.process
LEFT JOIN run.nodes n ON n.node = p.node;

-- VIEW pmc_info: one hardware counter
SELECT
    -- BIGINT -: id as stored
    x.counter_id AS "id",
    -- VARCHAR -: unique id of the recording
    p.guid AS "guid",
    -- BIGINT -: id of the node
    n.node_id AS "nid",
    -- BIGINT -: process id
    p.pid AS "pid",
    -- BIGINT -: number of the agent among all of the node
    a.absolute_index AS "agent_abs_index",
    -- BIGINT -: 1 = never changes
    CAST(x.is_constant AS BIGINT) AS "is_constant",
    -- BIGINT -: 1 = computed from others
    CAST(x.is_derived AS BIGINT) AS "is_derived",
    -- VARCHAR -: name
    x.name AS "name",
    -- VARCHAR -: what it counts
    x.description AS "description",
    -- VARCHAR -: hardware block
    x.block AS "block",
    -- VARCHAR -: formula, if it is derived
    x.expression AS "expression"
FROM run.counter_info x
LEFT JOIN run.processes p ON p.process = x.process
LEFT JOIN run.nodes n ON n.node = p.node
LEFT JOIN run.agents a ON a.agent = x.agent;
