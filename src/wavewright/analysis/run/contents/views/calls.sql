-- Views of calls, in the order of AMD's schema.

-- VIEW regions: one call or range on a CPU thread
SELECT
    -- BIGINT -: id of the call in its process
    x.correlation AS "id",
    -- VARCHAR -: unique id of the recording
    p.guid AS "guid",
    -- VARCHAR -: HIP_RUNTIME_API, MARKER_CORE_RANGE_API, ...
    x.category AS "category",
    -- VARCHAR -: the function that was called
    COALESCE(x.function, x.name) AS "name",
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
    -- BIGINT -: id of its event in its process
    x.event AS "event_id",
    -- BIGINT -: id shared with the GPU work it issued
    x.correlation AS "stack_id",
    -- BIGINT -: stack_id of the enclosing call
    x.parent_correlation AS "parent_stack_id",
    -- BIGINT -: id that the application gave; 0 = none
    x.external_correlation AS "corr_id",
    -- VARCHAR -: what else is stored about its event, as JSON
    x.event_properties AS "extdata",
    -- VARCHAR -: call stack, as JSON
    x.call_stack AS "call_stack",
    -- VARCHAR -: source lines, as JSON
    x.line_info AS "line_info",
    -- BIGINT -: rank of its process; null = unknown
    CAST(p.rank AS BIGINT) AS "rank"
FROM run.regions x
LEFT JOIN run.processes p ON p.process = x.process
LEFT JOIN run.nodes n ON n.node = p.node
LEFT JOIN run.threads t ON t.thread = x.thread;

-- VIEW region_args: one argument of a region
SELECT
    -- BIGINT -: id of the region
    x.correlation AS "id",
    -- VARCHAR -: unique id of the recording
    p.guid AS "guid",
    -- BIGINT -: id of the node
    n.node_id AS "nid",
    -- BIGINT -: process id
    p.pid AS "pid",
    -- VARCHAR -: C++ type
    g.type AS "type",
    -- VARCHAR -: name of the argument
    g.name AS "name",
    -- VARCHAR -: value as text
    g.value AS "value"
FROM run.arguments g
JOIN run.regions x ON x.process = g.process AND x.event = g.event
LEFT JOIN run.processes p ON p.process = x.process
LEFT JOIN run.nodes n ON n.node = p.node
LEFT JOIN run.threads t ON t.thread = x.thread;

-- VIEW samples: one moment on a thread or track
SELECT
    -- BIGINT -: id of the call in its process
    x.correlation AS "id",
    -- VARCHAR -: unique id of the recording
    p.guid AS "guid",
    -- VARCHAR -: HIP_RUNTIME_API, MARKER_CORE_RANGE_API, ...
    x.category AS "category",
    -- VARCHAR -: the track
    COALESCE(x.function, x.name) AS "name",
    -- BIGINT -: id of the node
    n.node_id AS "nid",
    -- BIGINT -: process id
    p.pid AS "pid",
    -- BIGINT -: thread id
    t.tid AS "tid",
    -- BIGINT ns: when
    x.time_ns AS "timestamp",
    -- BIGINT -: id of its event in its process
    x.event AS "event_id",
    -- BIGINT -: id shared with the GPU work it issued
    x.correlation AS "stack_id",
    -- BIGINT -: stack_id of the enclosing call
    x.parent_correlation AS "parent_stack_id",
    -- BIGINT -: id that the application gave; 0 = none
    x.external_correlation AS "corr_id",
    -- VARCHAR -: what else is stored about its event, as JSON
    x.event_properties AS "extdata",
    -- VARCHAR -: call stack, as JSON
    x.call_stack AS "call_stack",
    -- VARCHAR -: source lines, as JSON
    x.line_info AS "line_info",
    -- BIGINT -: rank of its process; null = unknown
    CAST(p.rank AS BIGINT) AS "rank"
FROM run.samples x
LEFT JOIN run.processes p ON p.process = x.process
LEFT JOIN run.nodes n ON n.node = p.node
LEFT JOIN run.threads t ON t.thread = x.thread;

-- VIEW sample_regions: one sample in the form of a region
SELECT
    -- BIGINT -: id of the call in its process
    x.correlation AS "id",
    -- VARCHAR -: unique id of the recording
    p.guid AS "guid",
    -- VARCHAR -: HIP_RUNTIME_API, MARKER_CORE_RANGE_API, ...
    x.category AS "category",
    -- VARCHAR -: the track
    COALESCE(x.function, x.name) AS "name",
    -- BIGINT -: id of the node
    n.node_id AS "nid",
    -- BIGINT -: process id
    p.pid AS "pid",
    -- BIGINT -: thread id
    t.tid AS "tid",
    -- BIGINT ns: when
    x.time_ns AS "start",
    -- BIGINT ns: when
    x.time_ns AS "end",
    -- BIGINT ns: always 0
    0 AS "duration",
    -- BIGINT -: id of its event in its process
    x.event AS "event_id",
    -- BIGINT -: id shared with the GPU work it issued
    x.correlation AS "stack_id",
    -- BIGINT -: stack_id of the enclosing call
    x.parent_correlation AS "parent_stack_id",
    -- BIGINT -: id that the application gave; 0 = none
    x.external_correlation AS "corr_id",
    -- VARCHAR -: what else is stored about its event, as JSON
    x.event_properties AS "extdata",
    -- VARCHAR -: call stack, as JSON
    x.call_stack AS "call_stack",
    -- VARCHAR -: source lines, as JSON
    x.line_info AS "line_info",
    -- BIGINT -: rank of its process; null = unknown
    CAST(p.rank AS BIGINT) AS "rank"
FROM run.samples x
LEFT JOIN run.processes p ON p.process = x.process
LEFT JOIN run.nodes n ON n.node = p.node
LEFT JOIN run.threads t ON t.thread = x.thread;

-- VIEW regions_and_samples: one region or sample
SELECT
    -- BIGINT -: id of the call in its process
    u.id AS "id",
    -- VARCHAR -: unique id of the recording
    u.guid AS "guid",
    -- VARCHAR -: HIP_RUNTIME_API, MARKER_CORE_RANGE_API, ...
    u.category AS "category",
    -- VARCHAR -: the function that was called, or the track
    u.name AS "name",
    -- BIGINT -: id of the node
    u.nid AS "nid",
    -- BIGINT -: process id
    u.pid AS "pid",
    -- BIGINT -: thread id
    u.tid AS "tid",
    -- BIGINT ns: when it began
    u.start AS "start",
    -- BIGINT ns: when it ended
    u."end" AS "end",
    -- BIGINT ns: how long it took; 0 for samples
    u.duration AS "duration",
    -- BIGINT -: id of its event in its process
    u.event_id AS "event_id",
    -- BIGINT -: id shared with the GPU work it issued
    u.stack_id AS "stack_id",
    -- BIGINT -: stack_id of the enclosing call
    u.parent_stack_id AS "parent_stack_id",
    -- BIGINT -: id that the application gave; 0 = none
    u.corr_id AS "corr_id",
    -- VARCHAR -: what else is stored about its event, as JSON
    u.extdata AS "extdata",
    -- VARCHAR -: call stack, as JSON
    u.call_stack AS "call_stack",
    -- VARCHAR -: source lines, as JSON
    u.line_info AS "line_info",
    -- BIGINT -: rank of its process; null = unknown
    u.rank AS "rank"
FROM (SELECT * FROM regions UNION ALL SELECT * FROM sample_regions) u;

-- VIEW markers: one marker of the application: a range, or a mark without duration
SELECT
    -- BIGINT -: id of the call in its process
    u.id AS "id",
    -- VARCHAR -: unique id of the recording
    u.guid AS "guid",
    -- VARCHAR -: HIP_RUNTIME_API, MARKER_CORE_RANGE_API, ...
    u.category AS "category",
    -- VARCHAR -: text of the marker
    u.name AS "name",
    -- BIGINT -: id of the node
    u.nid AS "nid",
    -- BIGINT -: process id
    u.pid AS "pid",
    -- BIGINT -: thread id
    u.tid AS "tid",
    -- BIGINT ns: when it began
    u.start AS "start",
    -- BIGINT ns: when it ended
    u."end" AS "end",
    -- BIGINT ns: how long it took; 0 for samples
    u.duration AS "duration",
    -- BIGINT -: id of its event in its process
    u.event_id AS "event_id",
    -- BIGINT -: id shared with the GPU work it issued
    u.stack_id AS "stack_id",
    -- BIGINT -: stack_id of the enclosing call
    u.parent_stack_id AS "parent_stack_id",
    -- BIGINT -: id that the application gave; 0 = none
    u.corr_id AS "corr_id",
    -- VARCHAR -: what else is stored about its event, as JSON
    u.extdata AS "extdata",
    -- VARCHAR -: call stack, as JSON
    u.call_stack AS "call_stack",
    -- VARCHAR -: source lines, as JSON
    u.line_info AS "line_info",
    -- BIGINT -: rank of its process; null = unknown
    u.rank AS "rank"
FROM (
    SELECT x.correlation AS "id", p.guid AS "guid", x.category AS "category", x.name AS "name", n.node_id AS "nid",
        p.pid AS "pid", t.tid AS "tid", x.start_ns AS "start", x.end_ns AS "end", x.end_ns - x.start_ns AS "duration",
        x.event AS "event_id", x.correlation AS "stack_id", x.parent_correlation AS "parent_stack_id",
        x.external_correlation AS "corr_id", x.event_properties AS "extdata", x.call_stack AS "call_stack",
        x.line_info AS "line_info", CAST(p.rank AS BIGINT) AS "rank"
    FROM run.regions x
    LEFT JOIN run.processes p ON p.process = x.process
    LEFT JOIN run.nodes n ON n.node = p.node
    LEFT JOIN run.threads t ON t.thread = x.thread
    WHERE x.domain = 'MARKER'
    UNION ALL
    SELECT x.correlation AS "id", p.guid AS "guid", x.category AS "category", x.name AS "name", n.node_id AS "nid",
        p.pid AS "pid", t.tid AS "tid", x.time_ns AS "start", x.time_ns AS "end", 0 AS "duration",
        x.event AS "event_id", x.correlation AS "stack_id", x.parent_correlation AS "parent_stack_id",
        x.external_correlation AS "corr_id", x.event_properties AS "extdata", x.call_stack AS "call_stack",
        x.line_info AS "line_info", CAST(p.rank AS BIGINT) AS "rank"
    FROM run.samples x
    LEFT JOIN run.processes p ON p.process = x.process
    LEFT JOIN run.nodes n ON n.node = p.node
    LEFT JOIN run.threads t ON t.thread = x.thread
    WHERE x.domain = 'MARKER'
) u;

-- VIEW events_args: one argument of a call
SELECT
    -- BIGINT -: id of the event of the call in its process
    g.event AS "event_id",
    -- VARCHAR -: HIP_RUNTIME_API, ...
    x.category AS "category",
    -- BIGINT -: id shared with the GPU work it issued
    x.correlation AS "stack_id",
    -- BIGINT -: stack_id of the enclosing call
    x.parent_correlation AS "parent_stack_id",
    -- BIGINT -: id that the application gave; 0 = none
    x.external_correlation AS "correlation_id",
    -- BIGINT -: which argument
    g.position AS "arg_position",
    -- VARCHAR -: C++ type
    g.type AS "arg_type",
    -- VARCHAR -: name of the argument
    g.name AS "arg_name",
    -- VARCHAR -: value as text
    g.value AS "arg_value",
    -- VARCHAR -: call stack, as JSON
    x.call_stack AS "call_stack",
    -- VARCHAR -: source lines, as JSON
    x.line_info AS "line_info",
    -- VARCHAR -: what else is stored about the argument, as JSON
    g.properties AS "extdata"
FROM run.arguments g
JOIN (
    SELECT process, event, category, correlation, parent_correlation, external_correlation, event_properties,
        call_stack, line_info, 1 AS is_region
    FROM run.regions
    UNION ALL
    SELECT process, event, category, correlation, parent_correlation, external_correlation, event_properties,
        call_stack, line_info, 0 AS is_region
    FROM run.samples
) x ON x.process = g.process AND x.event = g.event;

-- VIEW stream_args: one argument `stream` that names a known stream
SELECT
    -- BIGINT -: number of the argument in its process
    g.row_in_process AS "argument_id",
    -- BIGINT -: id of the event of the call in its process
    g.event AS "event_id",
    -- BIGINT -: which argument
    g.position AS "arg_position",
    -- VARCHAR -: C++ type
    g.type AS "arg_type",
    -- VARCHAR -: value as text
    g.value AS "arg_value",
    -- BIGINT -: id of the stream
    s.stream_id AS "stream_id",
    -- BIGINT -: id of the node
    n.node_id AS "nid",
    -- BIGINT -: process id
    p.pid AS "pid",
    -- VARCHAR -: name of the stream
    s.name AS "stream_name",
    -- VARCHAR -: what else is stored about the stream, as JSON
    s.properties AS "extdata"
FROM run.numbered_arguments g
JOIN run.streams s ON s.process = g.process AND s.stream_id = json_number(g.properties, '$.stream_id')
LEFT JOIN run.processes p ON p.process = g.process
LEFT JOIN run.nodes n ON n.node = p.node
WHERE g.name = 'stream';
