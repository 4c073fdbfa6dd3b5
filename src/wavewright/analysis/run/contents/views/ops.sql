-- Views by the names and columns of RPD, in the order of its schema: calls, GPU work, and what the launches of each kernel
-- cost the CPU. Its `top` and `busy` have the names of ROCpd's and are those. In RPD files, only work whose parameters were
-- recorded; the call that issued work is the first one of its correlation; API time of the launches of each kernel: a call
-- that launched several has no time of each.

-- VIEW api: one call, marker or mark on a CPU thread
SELECT
    -- BIGINT -: id of the call in its process
    COALESCE(x.event, x.correlation) AS "id",
    -- BIGINT -: process id
    p.pid AS "pid",
    -- BIGINT -: thread id
    t.tid AS "tid",
    -- BIGINT ns: when it began
    x.start_ns AS "start",
    -- BIGINT ns: when it ended
    x.end_ns AS "end",
    -- VARCHAR -: HIP, HSA, MARKER, ...
    x.domain AS "domain",
    -- VARCHAR -: as stored
    x.category AS "category",
    -- VARCHAR -: function
    CASE WHEN x.domain = 'MARKER' AND (x.function IS NULL OR x.name <> x.function) THEN 'UserMarker' ELSE
        COALESCE(x.function, x.name) END AS "apiName",
    -- VARCHAR -: text of a marker; arguments as RPD stores them, those of other formats are in region_args
    CASE WHEN x.domain = 'MARKER' AND (x.function IS NULL OR x.name <> x.function) THEN x.name ELSE
        COALESCE(json_string(x.properties, '$.args'), '') END AS "args",
    -- BIGINT -: rank of its process; null = unknown
    CAST(p.rank AS BIGINT) AS "rank"
FROM (
    SELECT process, thread, event, correlation, start_ns, end_ns, domain, category, name, function, properties
    FROM run.regions
    UNION ALL
    SELECT process, thread, event, correlation, time_ns AS start_ns, time_ns AS end_ns, domain, category, name,
        function, properties
    FROM run.samples
) x
LEFT JOIN run.processes p ON p.process = x.process
LEFT JOIN run.threads t ON t.thread = x.thread;

-- VIEW op: one piece of GPU work: a dispatch or a copy
SELECT
    -- BIGINT -: dispatch_id of a dispatch; event of a copy
    x.id AS "id",
    -- BIGINT -: number of the GPU
    COALESCE(a.type_index, a.agent_id) AS "gpuId",
    -- BIGINT -: id of the queue
    q.queue_id AS "queueId",
    -- BIGINT -: number in the queue; only RPD files have it
    json_number(x.properties, '$.sequenceId') AS "sequenceId",
    -- BIGINT ns: when it began on the GPU
    x.start_ns AS "start",
    -- BIGINT ns: when it ended on the GPU
    x.end_ns AS "end",
    -- VARCHAR -: name of the kernel; empty = none
    CASE WHEN x.name = x.type THEN '' ELSE x.name END AS "description",
    -- VARCHAR -: KernelExecution, CopyHostToDevice, ...
    x.type AS "opType",
    -- BIGINT -: rank of its process; null = unknown
    CAST(p.rank AS BIGINT) AS "rank"
FROM (
    SELECT dispatch_id AS id, process, agent, queue, start_ns, end_ns, CAST(name AS VARCHAR) AS name, properties,
        COALESCE(json_string(x.properties, '$.opType'), 'KernelExecution') AS type
    FROM run.dispatches x
    UNION ALL
    SELECT event AS id, process, COALESCE(dst_agent, src_agent) AS agent, queue, start_ns, end_ns,
        CAST(name AS VARCHAR) AS name, properties,
        COALESCE(json_string(x.properties, '$.opType'), CASE WHEN x.name LIKE '%HOST_TO_DEVICE%' OR x.name LIKE
        '%HostToDevice%' THEN 'CopyHostToDevice' WHEN x.name LIKE '%DEVICE_TO_HOST%' OR x.name LIKE '%DeviceToHost%'
        THEN 'CopyDeviceToHost' WHEN x.name LIKE '%DEVICE_TO_DEVICE%' OR x.name LIKE '%DeviceToDevice%' THEN
        'CopyDeviceToDevice' ELSE 'Copy' END) AS type
    FROM run.copies x
) x
LEFT JOIN run.processes p ON p.process = x.process
LEFT JOIN run.agents a ON a.agent = x.agent
LEFT JOIN run.queues q ON q.queue = x.queue;

-- VIEW kernel: one dispatch of a kernel with the parameters of its launch
SELECT
    -- BIGINT -: number of the dispatch in its process
    x.dispatch_id AS "id",
    -- BIGINT -: number of the GPU
    COALESCE(a.type_index, a.agent_id) AS "gpuId",
    -- BIGINT -: id of the queue
    q.queue_id AS "queueId",
    -- BIGINT -: number in the queue; only RPD files have it
    json_number(x.properties, '$.sequenceId') AS "sequenceId",
    -- BIGINT ns: when it began on the GPU
    x.start_ns AS "start",
    -- BIGINT ns: when it ended on the GPU
    x.end_ns AS "end",
    -- BIGINT ns: how long it took
    x.end_ns - x.start_ns AS "duration",
    -- VARCHAR -: the stream, hexadecimal
    CASE WHEN s.name LIKE '0x%' THEN s.name ELSE hexadecimal(s.stream_id) END AS "stream",
    -- BIGINT lanes: size of the grid, in lanes for every call
    x.grid_x AS "gridX",
    -- BIGINT lanes: size of the grid
    x.grid_y AS "gridY",
    -- BIGINT lanes: size of the grid
    x.grid_z AS "gridZ",
    -- BIGINT lanes: size of a workgroup
    x.workgroup_x AS "workgroupX",
    -- BIGINT lanes: size of a workgroup
    x.workgroup_y AS "workgroupY",
    -- BIGINT lanes: size of a workgroup
    x.workgroup_z AS "workgroupZ",
    -- BIGINT bytes: LDS per workgroup
    x.lds_bytes AS "groupSegmentSize",
    -- BIGINT bytes: scratch memory per lane
    x.scratch_bytes AS "privateSegmentSize",
    -- VARCHAR -: name of the kernel
    x.name AS "kernelName",
    -- BIGINT -: rank of its process; null = unknown
    CAST(p.rank AS BIGINT) AS "rank"
FROM run.dispatches x
LEFT JOIN run.processes p ON p.process = x.process
LEFT JOIN run.streams s ON s.stream = x.stream
LEFT JOIN run.queues q ON q.queue = x.queue
LEFT JOIN run.agents a ON a.agent = x.agent
WHERE json_string(x.properties, '$.opType') IS NULL OR x.workgroup_x IS NOT NULL;

-- VIEW copy: one call that copied memory, with its times on the CPU
SELECT
    -- BIGINT -: id of the call in its process
    COALESCE(r.event, r.correlation) AS "id",
    -- BIGINT -: process id
    p.pid AS "pid",
    -- BIGINT -: thread id
    t.tid AS "tid",
    -- BIGINT ns: when the call began
    r.start_ns AS "start",
    -- BIGINT ns: when the call ended
    r.end_ns AS "end",
    -- VARCHAR -: the function that was called
    r.name AS "apiName",
    -- VARCHAR -: the stream, hexadecimal
    CASE WHEN s.name LIKE '0x%' THEN s.name ELSE hexadecimal(s.stream_id) END AS "stream",
    -- BIGINT bytes: how much was copied
    x.size_bytes AS "size",
    -- BIGINT bytes: of a copy in two dimensions
    json_number(x.properties, '$.width') AS "width",
    -- BIGINT -: rows of a copy in two dimensions
    json_number(x.properties, '$.height') AS "height",
    -- BIGINT -: 1 = host to device, 2 = device to host, 3 = device to device, 4 = other
    COALESCE(json_number(x.properties, '$.kind'), CASE WHEN x.name LIKE '%HOST_TO_DEVICE%' OR x.name LIKE
        '%HostToDevice%' THEN 1 WHEN x.name LIKE '%DEVICE_TO_HOST%' OR x.name LIKE '%DeviceToHost%' THEN 2 WHEN
        x.name LIKE '%DEVICE_TO_DEVICE%' OR x.name LIKE '%DeviceToDevice%' THEN 3 ELSE 4 END) AS "kind",
    -- VARCHAR -: to, an address
    hexadecimal(x.dst_address) AS "dst",
    -- VARCHAR -: from, an address
    hexadecimal(x.src_address) AS "src",
    -- BIGINT -: to
    COALESCE(json_number(x.properties, '$.dstDevice'), d.type_index, d.agent_id) AS "dstDevice",
    -- BIGINT -: from
    COALESCE(json_number(x.properties, '$.srcDevice'), f.type_index, f.agent_id) AS "srcDevice",
    -- BIGINT -: 1 = the call waited; only RPD files have it
    json_number(x.properties, '$.sync') AS "sync",
    -- BIGINT -: 1 = pinned memory; only RPD files have it
    json_number(x.properties, '$.pinned') AS "pinned",
    -- BIGINT -: rank of its process; null = unknown
    CAST(p.rank AS BIGINT) AS "rank"
FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY process, correlation ORDER BY start_ns) AS place
    FROM run.copies
) x
JOIN (
    SELECT *
    FROM (
        SELECT process, thread, event, correlation, start_ns, end_ns, COALESCE(function, name) AS name,
            ROW_NUMBER() OVER (PARTITION BY process, correlation ORDER BY start_ns) AS place
        FROM run.regions
        WHERE correlation IS NOT NULL
    ) e
    WHERE place = 1
) r ON r.process = x.process AND r.correlation = x.correlation
LEFT JOIN run.processes p ON p.process = x.process
LEFT JOIN run.streams s ON s.stream = x.stream
LEFT JOIN run.queues q ON q.queue = x.queue
LEFT JOIN run.agents d ON d.agent = x.dst_agent
LEFT JOIN run.agents f ON f.agent = x.src_agent
LEFT JOIN run.agents a ON a.agent = COALESCE(x.dst_agent, x.src_agent)
LEFT JOIN run.threads t ON t.thread = r.thread
WHERE x.place = 1 AND (json_string(x.properties, '$.opType') IS NULL OR x.size_bytes IS NOT NULL);

-- VIEW copyop: one copy of memory on the GPU, with the call that asked for it
SELECT
    -- BIGINT -: id of the event in its process
    x.event AS "id",
    -- BIGINT -: number of the GPU
    COALESCE(a.type_index, a.agent_id) AS "gpuId",
    -- BIGINT -: id of the queue
    q.queue_id AS "queueId",
    -- BIGINT -: number in the queue; only RPD files have it
    json_number(x.properties, '$.sequenceId') AS "sequenceId",
    -- BIGINT ns: when it began on the GPU
    x.start_ns AS "start",
    -- BIGINT ns: when it ended on the GPU
    x.end_ns AS "end",
    -- BIGINT ns: how long it took
    x.end_ns - x.start_ns AS "duration",
    -- VARCHAR -: the stream, hexadecimal
    CASE WHEN s.name LIKE '0x%' THEN s.name ELSE hexadecimal(s.stream_id) END AS "stream",
    -- BIGINT bytes: how much was copied
    x.size_bytes AS "size",
    -- BIGINT bytes: of a copy in two dimensions
    json_number(x.properties, '$.width') AS "width",
    -- BIGINT -: rows of a copy in two dimensions
    json_number(x.properties, '$.height') AS "height",
    -- BIGINT -: 1 = host to device, 2 = device to host, 3 = device to device, 4 = other
    COALESCE(json_number(x.properties, '$.kind'), CASE WHEN x.name LIKE '%HOST_TO_DEVICE%' OR x.name LIKE
        '%HostToDevice%' THEN 1 WHEN x.name LIKE '%DEVICE_TO_HOST%' OR x.name LIKE '%DeviceToHost%' THEN 2 WHEN
        x.name LIKE '%DEVICE_TO_DEVICE%' OR x.name LIKE '%DeviceToDevice%' THEN 3 ELSE 4 END) AS "kind",
    -- VARCHAR -: to, an address
    hexadecimal(x.dst_address) AS "dst",
    -- VARCHAR -: from, an address
    hexadecimal(x.src_address) AS "src",
    -- BIGINT -: to
    COALESCE(json_number(x.properties, '$.dstDevice'), d.type_index, d.agent_id) AS "dstDevice",
    -- BIGINT -: from
    COALESCE(json_number(x.properties, '$.srcDevice'), f.type_index, f.agent_id) AS "srcDevice",
    -- BIGINT -: 1 = the call waited; only RPD files have it
    json_number(x.properties, '$.sync') AS "sync",
    -- BIGINT -: 1 = pinned memory; only RPD files have it
    json_number(x.properties, '$.pinned') AS "pinned",
    -- VARCHAR -: the function that was called
    r.name AS "apiName",
    -- BIGINT -: rank of its process; null = unknown
    CAST(p.rank AS BIGINT) AS "rank"
FROM run.copies x
JOIN (
    SELECT *
    FROM (
        SELECT process, thread, event, correlation, start_ns, end_ns, COALESCE(function, name) AS name,
            ROW_NUMBER() OVER (PARTITION BY process, correlation ORDER BY start_ns) AS place
        FROM run.regions
        WHERE correlation IS NOT NULL
    ) e
    WHERE place = 1
) r ON r.process = x.process AND r.correlation = x.correlation
LEFT JOIN run.processes p ON p.process = x.process
LEFT JOIN run.streams s ON s.stream = x.stream
LEFT JOIN run.queues q ON q.queue = x.queue
LEFT JOIN run.agents d ON d.agent = x.dst_agent
LEFT JOIN run.agents f ON f.agent = x.src_agent
LEFT JOIN run.agents a ON a.agent = COALESCE(x.dst_agent, x.src_agent)
WHERE json_string(x.properties, '$.opType') IS NULL OR x.size_bytes IS NOT NULL;

-- VIEW ktop: all launches of the kernels of one name: time that the CPU spent in them, not GPU time
SELECT
    -- VARCHAR -: name of the kernel
    g.name AS "Name",
    -- BIGINT -: launches; those of calls that launch several kernels do not count
    g.calls AS "TotalCalls",
    -- BIGINT µs: in the launching calls
    CAST((g.total - g.total % 1000) / 1000 AS BIGINT) AS "TotalDuration",
    -- BIGINT µs: mean, whole microseconds
    CAST((g.total / g.calls - g.total / g.calls % 1000) / 1000 AS BIGINT) AS "Ave",
    -- DOUBLE %: share of the time of all these launches
    g.total * 100.0 / w.total AS "Percentage"
FROM (
    SELECT name, COUNT(*) AS calls, CAST(SUM(duration) AS BIGINT) AS total
    FROM (
        SELECT x.name, r.end_ns - r.start_ns AS duration
        FROM (
            SELECT process, correlation, CAST(name AS VARCHAR) AS name, workgroup_x, properties,
                COUNT(*) OVER (PARTITION BY process, correlation) AS together
            FROM run.dispatches
            WHERE correlation IS NOT NULL
        ) x
        JOIN (
            SELECT *
            FROM (
                SELECT process, thread, event, correlation, start_ns, end_ns, COALESCE(function, name) AS name,
                    ROW_NUMBER() OVER (PARTITION BY process, correlation ORDER BY start_ns) AS place
                FROM run.regions
                WHERE correlation IS NOT NULL
            ) e
            WHERE place = 1
        ) r ON r.process = x.process AND r.correlation = x.correlation
        WHERE x.together = 1 AND (json_string(x.properties, '$.opType') IS NULL OR x.workgroup_x IS NOT NULL)
    ) e
    GROUP BY name
) g
CROSS JOIN (
    SELECT NULLIF(CAST(SUM(duration) AS BIGINT), 0) AS total
    FROM (
        SELECT x.name, r.end_ns - r.start_ns AS duration
        FROM (
            SELECT process, correlation, CAST(name AS VARCHAR) AS name, workgroup_x, properties,
                COUNT(*) OVER (PARTITION BY process, correlation) AS together
            FROM run.dispatches
            WHERE correlation IS NOT NULL
        ) x
        JOIN (
            SELECT *
            FROM (
                SELECT process, thread, event, correlation, start_ns, end_ns, COALESCE(function, name) AS name,
                    ROW_NUMBER() OVER (PARTITION BY process, correlation ORDER BY start_ns) AS place
                FROM run.regions
                WHERE correlation IS NOT NULL
            ) e
            WHERE place = 1
        ) r ON r.process = x.process AND r.correlation = x.correlation
        WHERE x.together = 1 AND (json_string(x.properties, '$.opType') IS NULL OR x.workgroup_x IS NOT NULL)
    ) e
) w
ORDER BY g.total DESC, g.name;
