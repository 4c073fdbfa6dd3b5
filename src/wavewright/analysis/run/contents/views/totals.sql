-- Views that add up: time per name and its spread, busy GPUs; in the order of AMD's schema.

-- VIEW top_kernels: all dispatches of the kernels of one name, longest first
SELECT
    -- VARCHAR -: name of the kernel to show
    g.name AS "name",
    -- BIGINT -: how often
    g.calls AS "total_calls",
    -- DOUBLE µs: how long in all
    g.total / 1000.0 AS "total_duration",
    -- DOUBLE µs: mean, whole nanoseconds
    (g.total - g.total % g.calls) / g.calls / 1000.0 AS "average",
    -- DOUBLE %: share of the time of all dispatches
    g.total * 100.0 / w.total AS "percentage"
FROM (
    SELECT name, COUNT(*) AS calls, CAST(SUM(duration) AS BIGINT) AS total
    FROM (
        SELECT CAST(name AS VARCHAR) AS name, end_ns - start_ns AS duration
        FROM run.dispatches
    ) r
    GROUP BY name
) g
CROSS JOIN (
    SELECT NULLIF(CAST(SUM(duration) AS BIGINT), 0) AS total
    FROM (
        SELECT CAST(name AS VARCHAR) AS name, end_ns - start_ns AS duration
        FROM run.dispatches
    ) r
) w
ORDER BY g.total DESC, g.name;

-- VIEW busy: one agent that one process used
SELECT
    -- BIGINT -: id of the agent
    a.agent_id AS "agent_id",
    -- VARCHAR -: CPU (as the target of copies), GPU or NIC
    a.kind AS "type",
    -- BIGINT ns: dispatches on it and copies to it (or from it, to no agent), added up
    g.summed AS "GpuTime",
    -- BIGINT ns: from the first begin to the last end of dispatches and copies on the node
    w.wall AS "WallTime",
    -- DOUBLE -: GpuTime / WallTime; above 1 where work overlaps
    g.summed * 1.0 / w.wall AS "Busy",
    -- BIGINT ns: time with at least one dispatch on it or copy to it
    g.merged AS "merged_time",
    -- DOUBLE -: merged_time / WallTime, from 0 to 1
    g.merged * 1.0 / w.wall AS "utilization"
FROM (
    SELECT agent, CAST(SUM(end_ns - start_ns) AS BIGINT) AS summed,
        CAST(SUM(CASE WHEN reach IS NULL OR start_ns >= reach THEN end_ns - start_ns WHEN end_ns > reach THEN end_ns
        - reach ELSE 0 END) AS BIGINT) AS merged
    FROM (
        SELECT agent, start_ns, end_ns,
            MAX(end_ns) OVER (PARTITION BY agent ORDER BY start_ns, end_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1
            PRECEDING) AS reach
        FROM (
            SELECT agent, process, start_ns, end_ns
            FROM run.dispatches
            UNION ALL
            SELECT COALESCE(dst_agent, src_agent) AS agent, process, start_ns, end_ns
            FROM run.copies
        ) e
    ) m
    GROUP BY agent
) g
JOIN run.agents a ON a.agent = g.agent
LEFT JOIN (
    SELECT p.process, COALESCE(n.machine_id, n.hostname, CAST(p.source AS VARCHAR)) AS machine
    FROM run.processes p
    LEFT JOIN run.nodes n ON n.node = p.node
) p ON p.process = a.process
LEFT JOIN (
    SELECT o.machine, NULLIF(MAX(e.end_ns) - MIN(e.start_ns), 0) AS wall
    FROM (
        SELECT agent, process, start_ns, end_ns
        FROM run.dispatches
        UNION ALL
        SELECT COALESCE(dst_agent, src_agent) AS agent, process, start_ns, end_ns
        FROM run.copies
    ) e
    JOIN (
        SELECT p.process, COALESCE(n.machine_id, n.hostname, CAST(p.source AS VARCHAR)) AS machine
        FROM run.processes p
        LEFT JOIN run.nodes n ON n.node = p.node
    ) o ON o.process = e.process
    GROUP BY o.machine
) w ON w.machine = p.machine;

-- VIEW top: all dispatches, copies and regions of one name, longest first
SELECT
    -- VARCHAR -: name of the kernel, copy or function
    g.name AS "name",
    -- BIGINT -: how often
    g.calls AS "total_calls",
    -- DOUBLE µs: how long in all
    g.total / 1000.0 AS "total_duration",
    -- DOUBLE µs: mean, whole nanoseconds
    (g.total - g.total % g.calls) / g.calls / 1000.0 AS "average",
    -- DOUBLE %: share of the time of all of them; a call inside a call counts twice
    g.total * 100.0 / w.total AS "percentage"
FROM (
    SELECT name, COUNT(*) AS calls, CAST(SUM(duration) AS BIGINT) AS total
    FROM (
        SELECT CAST(name AS VARCHAR) AS name, end_ns - start_ns AS duration
        FROM run.dispatches
        UNION ALL
        SELECT CAST(name AS VARCHAR) AS name, end_ns - start_ns AS duration
        FROM run.copies
        UNION ALL
        SELECT CAST(COALESCE(function, name) AS VARCHAR) AS name, end_ns - start_ns AS duration
        FROM run.regions
    ) r
    GROUP BY name
) g
CROSS JOIN (
    SELECT NULLIF(CAST(SUM(duration) AS BIGINT), 0) AS total
    FROM (
        SELECT CAST(name AS VARCHAR) AS name, end_ns - start_ns AS duration
        FROM run.dispatches
        UNION ALL
        SELECT CAST(name AS VARCHAR) AS name, end_ns - start_ns AS duration
        FROM run.copies
        UNION ALL
        SELECT CAST(COALESCE(function, name) AS VARCHAR) AS name, end_ns - start_ns AS duration
        FROM run.regions
    ) r
) w
ORDER BY g.total DESC, g.name;

-- VIEW kernel_summary: all dispatches of the kernels of one name, with the spread of their durations
SELECT
    -- VARCHAR -: name of the kernel to show
    g.name AS "name",
    -- BIGINT -: how often
    g.calls AS "calls",
    -- BIGINT ns: how long in all
    g.total AS "DURATION (nsec)",
    -- DOUBLE ns²: squares of the durations, added up
    g.squares AS "SQR (nsec)",
    -- DOUBLE ns: mean duration
    g.mean AS "AVERAGE (nsec)",
    -- DOUBLE %: share of the time of all rows
    g.total * 100.0 / NULLIF(w.total, 0) AS "PERCENT (INC)",
    -- BIGINT ns: shortest
    g.shortest AS "MIN (nsec)",
    -- BIGINT ns: longest
    g.longest AS "MAX (nsec)",
    -- DOUBLE ns²: variance of the durations (of a sample: n - 1); null for one call
    g.variance AS "VARIANCE",
    -- DOUBLE ns: standard deviation; null for one call
    square_root(g.variance) AS "STD_DEV"
FROM (
    SELECT name, COUNT(*) AS calls, CAST(SUM(duration) AS BIGINT) AS total, MIN(mean) AS mean,
        SUM(CAST(duration AS DOUBLE) * duration) AS squares, MIN(duration) AS shortest, MAX(duration) AS longest,
        SUM((duration - mean) * (duration - mean)) / NULLIF(COUNT(*) - 1, 0) AS variance
    FROM (
        SELECT name, duration, AVG(duration) OVER (PARTITION BY name) AS mean
        FROM (
            SELECT CAST(name AS VARCHAR) AS name, end_ns - start_ns AS duration
            FROM run.dispatches
        ) e
    ) r
    GROUP BY name
) g
CROSS JOIN (
    SELECT CAST(SUM(duration) AS BIGINT) AS total
    FROM (
        SELECT CAST(name AS VARCHAR) AS name, end_ns - start_ns AS duration
        FROM run.dispatches
    ) e
) w
ORDER BY g.total DESC, g.name;

-- VIEW kernel_summary_region: all dispatches that were renamed after one marker range
SELECT
    -- VARCHAR -: the marker range; empty = none
    g.name AS "name",
    -- BIGINT -: how often
    g.calls AS "calls",
    -- BIGINT ns: how long in all
    g.total AS "DURATION (nsec)",
    -- DOUBLE ns²: squares of the durations, added up
    g.squares AS "SQR (nsec)",
    -- DOUBLE ns: mean duration
    g.mean AS "AVERAGE (nsec)",
    -- DOUBLE %: share of the time of all rows
    g.total * 100.0 / NULLIF(w.total, 0) AS "PERCENT (INC)",
    -- BIGINT ns: shortest
    g.shortest AS "MIN (nsec)",
    -- BIGINT ns: longest
    g.longest AS "MAX (nsec)",
    -- DOUBLE ns²: variance of the durations (of a sample: n - 1); null for one call
    g.variance AS "VARIANCE",
    -- DOUBLE ns: standard deviation; null for one call
    square_root(g.variance) AS "STD_DEV"
FROM (
    SELECT name, COUNT(*) AS calls, CAST(SUM(duration) AS BIGINT) AS total, MIN(mean) AS mean,
        SUM(CAST(duration AS DOUBLE) * duration) AS squares, MIN(duration) AS shortest, MAX(duration) AS longest,
        SUM((duration - mean) * (duration - mean)) / NULLIF(COUNT(*) - 1, 0) AS variance
    FROM (
        SELECT name, duration, AVG(duration) OVER (PARTITION BY name) AS mean
        FROM (
            SELECT COALESCE(CAST(region_name AS VARCHAR), '') AS name, end_ns - start_ns AS duration
            FROM run.dispatches
        ) e
    ) r
    GROUP BY name
) g
CROSS JOIN (
    SELECT CAST(SUM(duration) AS BIGINT) AS total
    FROM (
        SELECT COALESCE(CAST(region_name AS VARCHAR), '') AS name, end_ns - start_ns AS duration
        FROM run.dispatches
    ) e
) w
ORDER BY g.total DESC, g.name;

-- VIEW memory_copy_summary: all copies of one direction, with the spread of their durations
SELECT
    -- VARCHAR -: MEMORY_COPY_HOST_TO_DEVICE, ...
    g.name AS "name",
    -- BIGINT -: how often
    g.calls AS "calls",
    -- BIGINT ns: how long in all
    g.total AS "DURATION (nsec)",
    -- DOUBLE ns²: squares of the durations, added up
    g.squares AS "SQR (nsec)",
    -- DOUBLE ns: mean duration
    g.mean AS "AVERAGE (nsec)",
    -- DOUBLE %: share of the time of all rows
    g.total * 100.0 / NULLIF(w.total, 0) AS "PERCENT (INC)",
    -- BIGINT ns: shortest
    g.shortest AS "MIN (nsec)",
    -- BIGINT ns: longest
    g.longest AS "MAX (nsec)",
    -- DOUBLE ns²: variance of the durations (of a sample: n - 1); null for one call
    g.variance AS "VARIANCE",
    -- DOUBLE ns: standard deviation; null for one call
    square_root(g.variance) AS "STD_DEV"
FROM (
    SELECT name, COUNT(*) AS calls, CAST(SUM(duration) AS BIGINT) AS total, MIN(mean) AS mean,
        SUM(CAST(duration AS DOUBLE) * duration) AS squares, MIN(duration) AS shortest, MAX(duration) AS longest,
        SUM((duration - mean) * (duration - mean)) / NULLIF(COUNT(*) - 1, 0) AS variance
    FROM (
        SELECT name, duration, AVG(duration) OVER (PARTITION BY name) AS mean
        FROM (
            SELECT CAST(name AS VARCHAR) AS name, end_ns - start_ns AS duration
            FROM run.copies
        ) e
    ) r
    GROUP BY name
) g
CROSS JOIN (
    SELECT CAST(SUM(duration) AS BIGINT) AS total
    FROM (
        SELECT CAST(name AS VARCHAR) AS name, end_ns - start_ns AS duration
        FROM run.copies
    ) e
) w
ORDER BY g.total DESC, g.name;

-- VIEW memory_allocation_summary: all calls that allocate or release memory in one way
SELECT
    -- VARCHAR -: MEMORY_ALLOCATION_ALLOC, MEMORY_ALLOCATION_FREE, ...
    g.name AS "name",
    -- BIGINT -: how often
    g.calls AS "calls",
    -- BIGINT ns: how long in all
    g.total AS "DURATION (nsec)",
    -- DOUBLE ns²: squares of the durations, added up
    g.squares AS "SQR (nsec)",
    -- DOUBLE ns: mean duration
    g.mean AS "AVERAGE (nsec)",
    -- DOUBLE %: share of the time of all rows
    g.total * 100.0 / NULLIF(w.total, 0) AS "PERCENT (INC)",
    -- BIGINT ns: shortest
    g.shortest AS "MIN (nsec)",
    -- BIGINT ns: longest
    g.longest AS "MAX (nsec)",
    -- DOUBLE ns²: variance of the durations (of a sample: n - 1); null for one call
    g.variance AS "VARIANCE",
    -- DOUBLE ns: standard deviation; null for one call
    square_root(g.variance) AS "STD_DEV"
FROM (
    SELECT name, COUNT(*) AS calls, CAST(SUM(duration) AS BIGINT) AS total, MIN(mean) AS mean,
        SUM(CAST(duration AS DOUBLE) * duration) AS squares, MIN(duration) AS shortest, MAX(duration) AS longest,
        SUM((duration - mean) * (duration - mean)) / NULLIF(COUNT(*) - 1, 0) AS variance
    FROM (
        SELECT name, duration, AVG(duration) OVER (PARTITION BY name) AS mean
        FROM (
            SELECT 'MEMORY_ALLOCATION_' || type AS name, end_ns - start_ns AS duration
            FROM run.allocations
        ) e
    ) r
    GROUP BY name
) g
CROSS JOIN (
    SELECT CAST(SUM(duration) AS BIGINT) AS total
    FROM (
        SELECT 'MEMORY_ALLOCATION_' || type AS name, end_ns - start_ns AS duration
        FROM run.allocations
    ) e
) w
ORDER BY g.total DESC, g.name;
