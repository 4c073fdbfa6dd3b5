-- The views that AMD's tools expect in a ROCpd file, by their names and columns; every join is by run and id.

-- VIEW code_objects
SELECT x.id, x.guid, x.nid, p.pid, a.absolute_index AS agent_abs_index, x.uri, x.load_base, x.load_size, x.load_delta,
    x.storage_type AS storage_type_str,
    CASE WHEN json_valid(x.extdata) THEN json_extract(x.extdata, '$.size') END AS code_object_size,
    CASE WHEN json_valid(x.extdata) THEN json_extract(x.extdata, '$.storage_type') END AS storage_type,
    CASE WHEN json_valid(x.extdata) THEN json_extract(x.extdata, '$.memory_base') END AS memory_base,
    CASE WHEN json_valid(x.extdata) THEN json_extract(x.extdata, '$.memory_size') END AS memory_size
FROM rocpd_info_code_object x
LEFT JOIN rocpd_info_agent a ON a.id = x.agent_id AND a.guid = x.guid
JOIN rocpd_info_process p ON p.id = x.pid AND p.guid = x.guid;

-- VIEW kernel_symbols
SELECT x.id, x.guid, x.nid, p.pid, x.code_object_id, x.kernel_name, x.display_name, x.kernel_object,
    x.kernarg_segment_size, x.kernarg_segment_alignment, x.group_segment_size, x.private_segment_size, x.sgpr_count,
    x.arch_vgpr_count, x.accum_vgpr_count,
    CASE WHEN json_valid(x.extdata) THEN json_extract(x.extdata, '$.size') END AS kernel_symbol_size,
    CASE WHEN json_valid(x.extdata) THEN json_extract(x.extdata, '$.kernel_id') END AS kernel_id,
    CASE WHEN json_valid(x.extdata) THEN json_extract(x.extdata, '$.kernel_code_entry_byte_offset') END AS
    kernel_code_entry_byte_offset,
    CASE WHEN json_valid(x.extdata) THEN json_extract(x.extdata, '$.formatted_kernel_name') END AS
    formatted_kernel_name,
    CASE WHEN json_valid(x.extdata) THEN json_extract(x.extdata, '$.demangled_kernel_name') END AS
    demangled_kernel_name,
    CASE WHEN json_valid(x.extdata) THEN json_extract(x.extdata, '$.truncated_kernel_name') END AS
    truncated_kernel_name,
    CASE WHEN json_valid(x.extdata) THEN json_extract(x.extdata, '$.kernel_address.handle') END AS kernel_address
FROM rocpd_info_kernel_symbol x
JOIN rocpd_info_process p ON p.id = x.pid AND p.guid = x.guid;

-- VIEW processes
SELECT x.nid, n.machine_id, n.system_name, n.hostname, n.release AS system_release, n.version AS system_version,
    x.guid, x.ppid, x.pid, x.init, x.start, x."end", x.fini, x.command
FROM rocpd_info_process x
JOIN rocpd_info_node n ON n.id = x.nid AND n.guid = x.guid;

-- VIEW threads
SELECT x.nid, n.machine_id, n.system_name, n.hostname, n.release AS system_release, n.version AS system_version,
    x.guid, x.ppid, p.pid, x.tid, x.start, x."end", x.name
FROM rocpd_info_thread x
JOIN rocpd_info_process p ON p.id = x.pid AND p.guid = x.guid
JOIN rocpd_info_node n ON n.id = x.nid AND n.guid = x.guid;

-- VIEW regions
SELECT x.id, x.guid, c.string AS category, w.string AS name, x.nid, p.pid, t.tid, x.start, x."end",
    x."end" - x.start AS duration, x.event_id, e.stack_id, e.parent_stack_id, e.correlation_id AS corr_id, e.extdata,
    e.call_stack, e.line_info
FROM rocpd_region x
LEFT JOIN rocpd_event e ON e.id = x.event_id AND e.guid = x.guid
LEFT JOIN rocpd_string c ON c.id = e.category_id AND c.guid = e.guid
JOIN rocpd_string w ON w.id = x.name_id AND w.guid = x.guid
JOIN rocpd_info_process p ON p.id = x.pid AND p.guid = x.guid
LEFT JOIN rocpd_info_thread t ON t.id = x.tid AND t.guid = x.guid;

-- VIEW region_args
SELECT x.id, x.guid, x.nid, p.pid, r.type, r.name, r.value
FROM rocpd_region x
JOIN rocpd_info_process p ON p.id = x.pid AND p.guid = x.guid
JOIN rocpd_arg r ON r.event_id = x.event_id AND r.guid = x.guid;

-- VIEW samples
SELECT x.id, x.guid, c.string AS category, w.string AS name, k.nid, p.pid, t.tid, x.timestamp, x.event_id, e.stack_id,
    e.parent_stack_id, e.correlation_id AS corr_id, e.extdata, e.call_stack, e.line_info
FROM rocpd_sample x
JOIN rocpd_track k ON k.id = x.track_id AND k.guid = x.guid
LEFT JOIN rocpd_info_process p ON p.id = k.pid AND p.guid = k.guid
LEFT JOIN rocpd_info_thread t ON t.id = k.tid AND t.guid = k.guid
LEFT JOIN rocpd_string w ON w.id = k.name_id AND w.guid = k.guid
LEFT JOIN rocpd_event e ON e.id = x.event_id AND e.guid = x.guid
LEFT JOIN rocpd_string c ON c.id = e.category_id AND c.guid = e.guid;

-- VIEW sample_regions
SELECT x.id, x.guid, c.string AS category, w.string AS name, k.nid, p.pid, t.tid, x.timestamp AS start,
    x.timestamp AS "end", 0 AS duration, x.event_id, e.stack_id, e.parent_stack_id, e.correlation_id AS corr_id,
    e.extdata, e.call_stack, e.line_info
FROM rocpd_sample x
JOIN rocpd_track k ON k.id = x.track_id AND k.guid = x.guid
LEFT JOIN rocpd_info_process p ON p.id = k.pid AND p.guid = k.guid
LEFT JOIN rocpd_info_thread t ON t.id = k.tid AND t.guid = k.guid
LEFT JOIN rocpd_string w ON w.id = k.name_id AND w.guid = k.guid
LEFT JOIN rocpd_event e ON e.id = x.event_id AND e.guid = x.guid
LEFT JOIN rocpd_string c ON c.id = e.category_id AND c.guid = e.guid;

-- VIEW regions_and_samples
SELECT *
FROM regions
UNION ALL
SELECT *
FROM sample_regions;

-- VIEW kernels
SELECT x.id, x.guid, t.tid, c.string AS category, g.string AS region, m.display_name AS name, x.nid, p.pid,
    a.absolute_index AS agent_abs_index, a.logical_index AS agent_log_index, a.type_index AS agent_type_index,
    a.type AS agent_type, m.code_object_id, x.kernel_id, x.dispatch_id, x.stream_id, x.queue_id, q.name AS queue,
    s.name AS stream, x.start, x."end", x."end" - x.start AS duration, x.grid_size_x AS grid_x,
    x.grid_size_y AS grid_y, x.grid_size_z AS grid_z, x.workgroup_size_x AS workgroup_x,
    x.workgroup_size_y AS workgroup_y, x.workgroup_size_z AS workgroup_z, x.group_segment_size AS lds_size,
    x.private_segment_size AS scratch_size, m.arch_vgpr_count AS vgpr_count, m.accum_vgpr_count, m.sgpr_count,
    m.group_segment_size AS static_lds_size, m.private_segment_size AS static_scratch_size, e.stack_id,
    e.parent_stack_id, e.correlation_id AS corr_id
FROM rocpd_kernel_dispatch x
JOIN rocpd_info_kernel_symbol m ON m.id = x.kernel_id AND m.guid = x.guid
JOIN rocpd_info_agent a ON a.id = x.agent_id AND a.guid = x.guid
JOIN rocpd_info_process p ON p.id = x.pid AND p.guid = x.guid
LEFT JOIN rocpd_info_thread t ON t.id = x.tid AND t.guid = x.guid
LEFT JOIN rocpd_info_queue q ON q.id = x.queue_id AND q.guid = x.guid
LEFT JOIN rocpd_info_stream s ON s.id = x.stream_id AND s.guid = x.guid
LEFT JOIN rocpd_event e ON e.id = x.event_id AND e.guid = x.guid
LEFT JOIN rocpd_string c ON c.id = e.category_id AND c.guid = e.guid
LEFT JOIN rocpd_string g ON g.id = x.region_name_id AND g.guid = x.guid;

-- VIEW pmc_info
SELECT x.id, x.guid, x.nid, p.pid, a.absolute_index AS agent_abs_index, x.is_constant, x.is_derived, x.name,
    x.description, x.block, x.expression
FROM rocpd_info_pmc x
JOIN rocpd_info_process p ON p.id = x.pid AND p.guid = x.guid
LEFT JOIN rocpd_info_agent a ON a.id = x.agent_id AND a.guid = x.guid;

-- VIEW pmc_events
SELECT x.id, x.guid, x.pmc_id, x.event_id, c.string AS category, m.display_name AS name, d.nid, p.pid, d.dispatch_id,
    d.start, d."end", d."end" - d.start AS duration, i.name AS counter_name, x.value AS counter_value
FROM rocpd_pmc_event x
JOIN rocpd_kernel_dispatch d ON d.event_id = x.event_id AND d.guid = x.guid
JOIN rocpd_info_pmc i ON i.id = x.pmc_id AND i.guid = x.guid
JOIN rocpd_info_kernel_symbol m ON m.id = d.kernel_id AND m.guid = d.guid
JOIN rocpd_info_process p ON p.id = d.pid AND p.guid = d.guid
LEFT JOIN rocpd_event e ON e.id = x.event_id AND e.guid = x.guid
LEFT JOIN rocpd_string c ON c.id = e.category_id AND c.guid = e.guid;

-- VIEW events_args
SELECT e.id AS event_id, c.string AS category, e.stack_id, e.parent_stack_id, e.correlation_id,
    x.position AS arg_position, x.type AS arg_type, x.name AS arg_name, x.value AS arg_value, e.call_stack,
    e.line_info, e.extdata
FROM rocpd_arg x
LEFT JOIN rocpd_event e ON e.id = x.event_id AND e.guid = x.guid
LEFT JOIN rocpd_string c ON c.id = e.category_id AND c.guid = e.guid;

-- VIEW stream_args
SELECT x.id AS argument_id, x.event_id, x.position AS arg_position, x.type AS arg_type, x.value AS arg_value,
    x.stream_id, s.nid, p.pid, s.name AS stream_name, x.extdata
FROM (
    SELECT *, CASE WHEN json_valid(extdata) THEN json_extract(extdata, '$.stream_id') END AS stream_id
    FROM rocpd_arg
    WHERE name = 'stream'
) x
JOIN rocpd_info_stream s ON s.id = x.stream_id AND s.guid = x.guid
JOIN rocpd_info_process p ON p.id = s.pid AND p.guid = s.guid;

-- VIEW memory_copies
SELECT x.id, x.guid, c.string AS category, x.nid, p.pid, t.tid, x.start, x."end", x."end" - x.start AS duration,
    w.string AS name, g.string AS region_name, x.stream_id, x.queue_id, s.name AS stream_name, q.name AS queue_name,
    x.size, d.name AS dst_device, d.absolute_index AS dst_agent_abs_index, d.logical_index AS dst_agent_log_index,
    d.type_index AS dst_agent_type_index, d.type AS dst_agent_type, x.dst_address, o.name AS src_device,
    o.absolute_index AS src_agent_abs_index, o.logical_index AS src_agent_log_index,
    o.type_index AS src_agent_type_index, o.type AS src_agent_type, x.src_address, e.stack_id, e.parent_stack_id,
    e.correlation_id AS corr_id
FROM rocpd_memory_copy x
JOIN rocpd_string w ON w.id = x.name_id AND w.guid = x.guid
JOIN rocpd_info_process p ON p.id = x.pid AND p.guid = x.guid
LEFT JOIN rocpd_info_thread t ON t.id = x.tid AND t.guid = x.guid
LEFT JOIN rocpd_info_queue q ON q.id = x.queue_id AND q.guid = x.guid
LEFT JOIN rocpd_info_stream s ON s.id = x.stream_id AND s.guid = x.guid
LEFT JOIN rocpd_event e ON e.id = x.event_id AND e.guid = x.guid
LEFT JOIN rocpd_string c ON c.id = e.category_id AND c.guid = e.guid
LEFT JOIN rocpd_info_agent d ON d.id = x.dst_agent_id AND d.guid = x.guid
LEFT JOIN rocpd_info_agent o ON o.id = x.src_agent_id AND o.guid = x.guid
LEFT JOIN rocpd_string g ON g.id = x.region_name_id AND g.guid = x.guid;

-- VIEW memory_allocations
SELECT x.id, x.guid, c.string AS category, x.nid, p.pid, t.tid, x.start, x."end", x."end" - x.start AS duration,
    x.type, x.level, a.name AS agent_name, a.absolute_index AS agent_abs_index, a.logical_index AS agent_log_index,
    a.type_index AS agent_type_index, a.type AS agent_type, x.address, x.size, x.queue_id, q.name AS queue_name,
    x.stream_id, s.name AS stream_name, e.stack_id, e.parent_stack_id, e.correlation_id AS corr_id
FROM rocpd_memory_allocate x
LEFT JOIN rocpd_info_agent a ON a.id = x.agent_id AND a.guid = x.guid
JOIN rocpd_info_process p ON p.id = x.pid AND p.guid = x.guid
LEFT JOIN rocpd_info_thread t ON t.id = x.tid AND t.guid = x.guid
LEFT JOIN rocpd_info_queue q ON q.id = x.queue_id AND q.guid = x.guid
LEFT JOIN rocpd_info_stream s ON s.id = x.stream_id AND s.guid = x.guid
LEFT JOIN rocpd_event e ON e.id = x.event_id AND e.guid = x.guid
LEFT JOIN rocpd_string c ON c.id = e.category_id AND c.guid = e.guid;

-- VIEW scratch_memory
SELECT x.id, x.guid, x.nid, p.pid, x.type AS operation, a.name AS agent_name, a.absolute_index AS agent_abs_index,
    a.logical_index AS agent_log_index, a.type_index AS agent_type_index, a.type AS agent_type, x.queue_id, t.tid,
    CASE WHEN json_valid(x.extdata) THEN json_extract(x.extdata, '$.flags') END AS alloc_flags, x.start, x."end",
    x."end" - x.start AS duration, x.size, x.address, e.correlation_id, e.stack_id, e.parent_stack_id,
    e.correlation_id AS corr_id, c.string AS category, e.extdata AS event_extdata
FROM rocpd_memory_allocate x
LEFT JOIN rocpd_info_agent a ON a.id = x.agent_id AND a.guid = x.guid
JOIN rocpd_info_process p ON p.id = x.pid AND p.guid = x.guid
LEFT JOIN rocpd_info_thread t ON t.id = x.tid AND t.guid = x.guid
LEFT JOIN rocpd_event e ON e.id = x.event_id AND e.guid = x.guid
LEFT JOIN rocpd_string c ON c.id = e.category_id AND c.guid = e.guid
WHERE x.level = 'SCRATCH'
ORDER BY x.start;

-- VIEW counters_collection
SELECT MIN(v.id) AS id, x.guid, x.dispatch_id, x.kernel_id, e.id AS event_id, e.correlation_id, e.stack_id,
    e.parent_stack_id, p.pid, t.tid, x.agent_id, a.absolute_index AS agent_abs_index,
    a.logical_index AS agent_log_index, a.type_index AS agent_type_index, a.type AS agent_type, x.queue_id,
    x.grid_size_x, x.grid_size_y, x.grid_size_z, x.grid_size_x * x.grid_size_y * x.grid_size_z AS grid_size,
    m.display_name AS kernel_name, g.string AS kernel_region, x.workgroup_size_x, x.workgroup_size_y,
    x.workgroup_size_z, x.workgroup_size_x * x.workgroup_size_y * x.workgroup_size_z AS workgroup_size,
    x.group_segment_size AS lds_block_size, x.private_segment_size AS scratch_size, m.arch_vgpr_count AS vgpr_count,
    m.accum_vgpr_count, m.sgpr_count, i.name AS counter_name, i.symbol AS counter_symbol, i.component, i.description,
    i.block, i.expression, i.value_type, i.id AS counter_id, SUM(v.value) AS value, x.start, x."end", i.is_constant,
    i.is_derived, x."end" - x.start AS duration, c.string AS category, x.nid, e.extdata, m.code_object_id
FROM rocpd_pmc_event v
JOIN rocpd_kernel_dispatch x ON x.event_id = v.event_id AND x.guid = v.guid
JOIN rocpd_info_pmc i ON i.id = v.pmc_id AND i.guid = v.guid
JOIN rocpd_info_kernel_symbol m ON m.id = x.kernel_id AND m.guid = x.guid
JOIN rocpd_info_agent a ON a.id = x.agent_id AND a.guid = x.guid
JOIN rocpd_info_process p ON p.id = x.pid AND p.guid = x.guid
LEFT JOIN rocpd_info_thread t ON t.id = x.tid AND t.guid = x.guid
LEFT JOIN rocpd_event e ON e.id = x.event_id AND e.guid = x.guid
LEFT JOIN rocpd_string c ON c.id = e.category_id AND c.guid = e.guid
LEFT JOIN rocpd_string g ON g.id = x.region_name_id AND g.guid = x.guid
WHERE v.sample_id IS NULL
GROUP BY x.guid, x.dispatch_id, i.name, x.agent_id;

-- VIEW top_kernels
SELECT m.display_name AS name, COUNT(*) AS total_calls, SUM(duration) / 1000.0 AS total_duration,
    (SUM(duration) / COUNT(*)) / 1000.0 AS average, SUM(duration) * 100.0 / (
    SELECT SUM(duration)
    FROM (SELECT "end" - start AS duration FROM rocpd_kernel_dispatch)
) AS percentage
FROM (SELECT *, "end" - start AS duration FROM rocpd_kernel_dispatch) x
JOIN rocpd_info_kernel_symbol m ON m.id = x.kernel_id AND m.guid = x.guid
GROUP BY m.display_name
ORDER BY total_duration DESC;

-- VIEW busy
SELECT x.agent_id, a.type, SUM(x.duration) AS GpuTime, w.span AS WallTime, SUM(x.duration) * 1.0 / w.span AS Busy
FROM (
    SELECT guid, agent_id, "end" - start AS duration
    FROM rocpd_kernel_dispatch x
    UNION ALL
    SELECT guid, dst_agent_id, "end" - start
    FROM rocpd_memory_copy x
) x
JOIN rocpd_info_agent a ON a.id = x.agent_id AND a.guid = x.guid
CROSS JOIN (
    SELECT MAX("end") - MIN(start) AS span
    FROM (
        SELECT start, "end"
        FROM rocpd_kernel_dispatch
        UNION ALL
        SELECT start, "end"
        FROM rocpd_memory_copy
    )
) w
GROUP BY x.agent_id, x.guid;

-- VIEW top
SELECT name, COUNT(*) AS total_calls, SUM(duration) / 1000.0 AS total_duration,
    (SUM(duration) / COUNT(*)) / 1000.0 AS average, SUM(duration) * 100.0 / (
    SELECT SUM(duration)
    FROM (
        SELECT m.display_name AS name, "end" - start AS duration
        FROM rocpd_kernel_dispatch x
        JOIN rocpd_info_kernel_symbol m ON m.id = x.kernel_id AND m.guid = x.guid
        UNION ALL
        SELECT w.string, "end" - start
        FROM rocpd_memory_copy x
        JOIN rocpd_string w ON w.id = x.name_id AND w.guid = x.guid
        UNION ALL
        SELECT w.string, x."end" - x.start
        FROM rocpd_region x
        JOIN rocpd_string w ON w.id = x.name_id AND w.guid = x.guid
    )
) AS percentage
FROM (
    SELECT m.display_name AS name, "end" - start AS duration
    FROM rocpd_kernel_dispatch x
    JOIN rocpd_info_kernel_symbol m ON m.id = x.kernel_id AND m.guid = x.guid
    UNION ALL
    SELECT w.string, "end" - start
    FROM rocpd_memory_copy x
    JOIN rocpd_string w ON w.id = x.name_id AND w.guid = x.guid
    UNION ALL
    SELECT w.string, x."end" - x.start
    FROM rocpd_region x
    JOIN rocpd_string w ON w.id = x.name_id AND w.guid = x.guid
)
GROUP BY name
ORDER BY total_duration DESC;

-- VIEW kernel_summary
SELECT name AS name, calls, total AS "DURATION (nsec)", squares AS "SQR (nsec)", mean AS "AVERAGE (nsec)",
    total * 100.0 / SUM(total) OVER () AS "PERCENT (INC)", shortest AS "MIN (nsec)", longest AS "MAX (nsec)",
    variance AS "VARIANCE", SQRT(variance) AS "STD_DEV"
FROM (
    SELECT name, COUNT(*) AS calls, SUM(duration) AS total, SUM(duration * 1.0 * duration) AS squares,
        MIN(mean) AS mean, MIN(duration) AS shortest, MAX(duration) AS longest,
        SUM((duration - mean) * (duration - mean)) / (COUNT(*) - 1) AS variance
    FROM (
        SELECT name AS name, duration, AVG(duration) OVER (PARTITION BY name) AS mean
        FROM kernels
    )
    GROUP BY name
)
ORDER BY total DESC, name;

-- VIEW kernel_summary_region
SELECT name AS name, calls, total AS "DURATION (nsec)", squares AS "SQR (nsec)", mean AS "AVERAGE (nsec)",
    total * 100.0 / SUM(total) OVER () AS "PERCENT (INC)", shortest AS "MIN (nsec)", longest AS "MAX (nsec)",
    variance AS "VARIANCE", SQRT(variance) AS "STD_DEV"
FROM (
    SELECT name, COUNT(*) AS calls, SUM(duration) AS total, SUM(duration * 1.0 * duration) AS squares,
        MIN(mean) AS mean, MIN(duration) AS shortest, MAX(duration) AS longest,
        SUM((duration - mean) * (duration - mean)) / (COUNT(*) - 1) AS variance
    FROM (
        SELECT region AS name, duration, AVG(duration) OVER (PARTITION BY region) AS mean
        FROM kernels
    )
    GROUP BY name
)
ORDER BY total DESC, name;

-- VIEW memory_copy_summary
SELECT name AS name, calls, total AS "DURATION (nsec)", squares AS "SQR (nsec)", mean AS "AVERAGE (nsec)",
    total * 100.0 / SUM(total) OVER () AS "PERCENT (INC)", shortest AS "MIN (nsec)", longest AS "MAX (nsec)",
    variance AS "VARIANCE", SQRT(variance) AS "STD_DEV"
FROM (
    SELECT name, COUNT(*) AS calls, SUM(duration) AS total, SUM(duration * 1.0 * duration) AS squares,
        MIN(mean) AS mean, MIN(duration) AS shortest, MAX(duration) AS longest,
        SUM((duration - mean) * (duration - mean)) / (COUNT(*) - 1) AS variance
    FROM (
        SELECT name AS name, duration, AVG(duration) OVER (PARTITION BY name) AS mean
        FROM memory_copies
    )
    GROUP BY name
)
ORDER BY total DESC, name;

-- VIEW memory_allocation_summary
SELECT 'MEMORY_ALLOCATION_' || name AS name, calls, total AS "DURATION (nsec)", squares AS "SQR (nsec)",
    mean AS "AVERAGE (nsec)", total * 100.0 / SUM(total) OVER () AS "PERCENT (INC)", shortest AS "MIN (nsec)",
    longest AS "MAX (nsec)", variance AS "VARIANCE", SQRT(variance) AS "STD_DEV"
FROM (
    SELECT name, COUNT(*) AS calls, SUM(duration) AS total, SUM(duration * 1.0 * duration) AS squares,
        MIN(mean) AS mean, MIN(duration) AS shortest, MAX(duration) AS longest,
        SUM((duration - mean) * (duration - mean)) / (COUNT(*) - 1) AS variance
    FROM (
        SELECT type AS name, duration, AVG(duration) OVER (PARTITION BY type) AS mean
        FROM memory_allocations
    )
    GROUP BY name
)
ORDER BY total DESC, name;
