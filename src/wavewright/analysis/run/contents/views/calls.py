"""Views of CPU threads: calls, markers, samples, arguments."""

from __future__ import annotations

from wavewright.analysis.run.contents.views.spec import view_spec

_HEAD = """
    id        BIGINT   -   | x.correlation | id of the call in its process
    guid      VARCHAR  -   | p.guid | unique id of the recording
    category  VARCHAR  -   | x.category | HIP_RUNTIME_API, MARKER_CORE_RANGE_API, ...
    name      VARCHAR  -   | {name} | {meaning}
    nid       BIGINT   -   | n.node_id | id of the node
    pid       BIGINT   -   | p.pid | process id
    tid       BIGINT   -   | t.tid | thread id
"""
_SPAN = """
    start     BIGINT   ns  | x.start_ns | when it began
    end       BIGINT   ns  | x.end_ns | when it ended
    duration  BIGINT   ns  | x.end_ns - x.start_ns | how long it took
"""
_MOMENT = """
    start     BIGINT   ns  | x.time_ns | when
    end       BIGINT   ns  | x.time_ns | when
    duration  BIGINT   ns  | 0 | always 0
"""
_TAIL = """
    event_id         BIGINT   -  | x.event | id of its event in its process
    stack_id         BIGINT   -  | x.correlation | id shared with the GPU work it issued
    parent_stack_id  BIGINT   -  | x.parent_correlation | stack_id of the enclosing call
    corr_id          BIGINT   -  | x.external_correlation | id that the application gave; 0 = none
    extdata          VARCHAR  -  | x.event_properties | what else is stored about its event, as JSON
    call_stack       VARCHAR  -  | x.call_stack | call stack, as JSON
    line_info        VARCHAR  -  | x.line_info | source lines, as JSON
    rank             BIGINT   -  | CAST(p.rank AS BIGINT) | rank of its process; null = unknown
"""
_FUNCTION = {"name": "COALESCE(x.function, x.name)", "meaning": "the function that was called"}
_TRACK = {"name": "COALESCE(x.function, x.name)", "meaning": "the track"}
_TEXT = {"name": "x.name", "meaning": "text of the marker"}
_PLACE = """
    LEFT JOIN run.processes p ON p.process = x.process
    LEFT JOIN run.nodes n ON n.node = p.node
    LEFT JOIN run.threads t ON t.thread = x.thread
"""
_EVERY = """
    id               BIGINT   -   | u.id | id of the call in its process
    guid             VARCHAR  -   | u.guid | unique id of the recording
    category         VARCHAR  -   | u.category | HIP_RUNTIME_API, MARKER_CORE_RANGE_API, ...
    name             VARCHAR  -   | u.name | {meaning}
    nid              BIGINT   -   | u.nid | id of the node
    pid              BIGINT   -   | u.pid | process id
    tid              BIGINT   -   | u.tid | thread id
    start            BIGINT   ns  | u.start | when it began
    end              BIGINT   ns  | u."end" | when it ended
    duration         BIGINT   ns  | u.duration | how long it took; 0 for samples
    event_id         BIGINT   -   | u.event_id | id of its event in its process
    stack_id         BIGINT   -   | u.stack_id | id shared with the GPU work it issued
    parent_stack_id  BIGINT   -   | u.parent_stack_id | stack_id of the enclosing call
    corr_id          BIGINT   -   | u.corr_id | id that the application gave; 0 = none
    extdata          VARCHAR  -   | u.extdata | what else is stored about its event, as JSON
    call_stack       VARCHAR  -   | u.call_stack | call stack, as JSON
    line_info        VARCHAR  -   | u.line_info | source lines, as JSON
    rank             BIGINT   -   | u.rank | rank of its process; null = unknown
"""
_MARKERS = tuple(
    view_spec("", "", _HEAD.format(**_TEXT) + span + _TAIL, f"FROM run.{table} x {_PLACE}").sql
    + " WHERE x.domain = 'MARKER'"
    for table, span in (("regions", _SPAN), ("samples", _MOMENT))
)
_ARGUED = """(
    SELECT process, event, category, correlation, parent_correlation, external_correlation,
        event_properties, call_stack, line_info, 1 AS is_region FROM run.regions
    UNION ALL
    SELECT process, event, category, correlation, parent_correlation, external_correlation,
        event_properties, call_stack, line_info, 0 AS is_region FROM run.samples
)"""

#: Views of calls, in the order of AMD's schema.
CALLS = (
    view_spec(
        "regions",
        "one call or range on a CPU thread",
        _HEAD.format(**_FUNCTION) + _SPAN + _TAIL,
        f"FROM run.regions x {_PLACE}",
    ),
    view_spec(
        "region_args",
        "one argument of a region",
        """
        id     BIGINT   -  | x.correlation | id of the region
        guid   VARCHAR  -  | p.guid | unique id of the recording
        nid    BIGINT   -  | n.node_id | id of the node
        pid    BIGINT   -  | p.pid | process id
        type   VARCHAR  -  | g.type | C++ type
        name   VARCHAR  -  | g.name | name of the argument
        value  VARCHAR  -  | g.value | value as text
        """,
        f"FROM run.arguments g JOIN run.regions x ON x.process = g.process AND x.event = g.event {_PLACE}",
    ),
    view_spec(
        "samples",
        "one moment on a thread or track",
        _HEAD.format(**_TRACK) + "timestamp BIGINT ns | x.time_ns | when" + _TAIL,
        f"FROM run.samples x {_PLACE}",
    ),
    view_spec(
        "sample_regions",
        "one sample in the form of a region",
        _HEAD.format(**_TRACK) + _MOMENT + _TAIL,
        f"FROM run.samples x {_PLACE}",
    ),
    view_spec(
        "regions_and_samples",
        "one region or sample",
        _EVERY.format(meaning="the function that was called, or the track"),
        "FROM (SELECT * FROM regions UNION ALL SELECT * FROM sample_regions) u",
    ),
    view_spec(
        "markers",
        "one marker of the application: a range, or a mark without duration",
        _EVERY.format(meaning="text of the marker"),
        f"FROM ({' UNION ALL '.join(_MARKERS)}) u",
    ),
    view_spec(
        "events_args",
        "one argument of a call",
        """
        event_id         BIGINT   -  | g.event | id of the event of the call in its process
        category         VARCHAR  -  | x.category | HIP_RUNTIME_API, ...
        stack_id         BIGINT   -  | x.correlation | id shared with the GPU work it issued
        parent_stack_id  BIGINT   -  | x.parent_correlation | stack_id of the enclosing call
        correlation_id   BIGINT   -  | x.external_correlation | id that the application gave; 0 = none
        arg_position     BIGINT   -  | g.position | which argument
        arg_type         VARCHAR  -  | g.type | C++ type
        arg_name         VARCHAR  -  | g.name | name of the argument
        arg_value        VARCHAR  -  | g.value | value as text
        call_stack       VARCHAR  -  | x.call_stack | call stack, as JSON
        line_info        VARCHAR  -  | x.line_info | source lines, as JSON
        extdata          VARCHAR  -  | g.properties | what else is stored about the argument, as JSON
        """,
        f"FROM run.arguments g JOIN {_ARGUED} x ON x.process = g.process AND x.event = g.event",
    ),
    view_spec(
        "stream_args",
        "one argument `stream` that names a known stream",
        """
        argument_id   BIGINT   -  | g.row_in_process | number of the argument in its process
        event_id      BIGINT   -  | g.event | id of the event of the call in its process
        arg_position  BIGINT   -  | g.position | which argument
        arg_type      VARCHAR  -  | g.type | C++ type
        arg_value     VARCHAR  -  | g.value | value as text
        stream_id     BIGINT   -  | s.stream_id | id of the stream
        nid           BIGINT   -  | n.node_id | id of the node
        pid           BIGINT   -  | p.pid | process id
        stream_name   VARCHAR  -  | s.name | name of the stream
        extdata       VARCHAR  -  | s.properties | what else is stored about the stream, as JSON
        """,
        """FROM run.numbered_arguments g
        JOIN run.streams s ON s.process = g.process AND s.stream_id = json_number(g.properties, '$.stream_id')
        LEFT JOIN run.processes p ON p.process = g.process
        LEFT JOIN run.nodes n ON n.node = p.node
        WHERE g.name = 'stream'""",
    ),
)
