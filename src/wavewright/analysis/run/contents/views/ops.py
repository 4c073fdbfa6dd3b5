# ruff: noqa: S608 - every name in these statements is our own
"""Views by the names and columns of RPD: calls, GPU work, and what the launches of each kernel cost the CPU."""

from __future__ import annotations

from wavewright.analysis.run.contents.views.spec import view_spec

_RANK = "rank BIGINT - | CAST(p.rank AS BIGINT) | rank of its process; null = unknown"
_GPU = "COALESCE(a.type_index, a.agent_id)"
_STREAM = "CASE WHEN s.name LIKE '0x%' THEN s.name ELSE hexadecimal(s.stream_id) END"
_OP_TYPE = "json_string({}.properties, '$.opType')"
_KIND = """CASE
    WHEN {0}.name LIKE '%HOST_TO_DEVICE%' OR {0}.name LIKE '%HostToDevice%' THEN {1}
    WHEN {0}.name LIKE '%DEVICE_TO_HOST%' OR {0}.name LIKE '%DeviceToHost%' THEN {2}
    WHEN {0}.name LIKE '%DEVICE_TO_DEVICE%' OR {0}.name LIKE '%DeviceToDevice%' THEN {3} ELSE {4} END"""
_COPY_TYPE = " ".join(
    _KIND.format("x", "'CopyHostToDevice'", "'CopyDeviceToHost'", "'CopyDeviceToDevice'", "'Copy'").split()
)
_COPY_KIND = " ".join(_KIND.format("x", 1, 2, 3, 4).split())
_PLACE = """
    LEFT JOIN run.processes p ON p.process = x.process
    LEFT JOIN run.streams s ON s.stream = x.stream
    LEFT JOIN run.queues q ON q.queue = x.queue
"""
_CALL_PLACE = """
    LEFT JOIN run.processes p ON p.process = x.process
    LEFT JOIN run.threads t ON t.thread = x.thread
"""
_WORK = f"""(
    SELECT dispatch_id AS id, process, agent, queue, start_ns, end_ns, CAST(name AS VARCHAR) AS name, properties,
        COALESCE({_OP_TYPE.format("x")}, 'KernelExecution') AS type FROM run.dispatches x
    UNION ALL
    SELECT event AS id, process, COALESCE(dst_agent, src_agent) AS agent, queue, start_ns, end_ns,
        CAST(name AS VARCHAR) AS name, properties, COALESCE({_OP_TYPE.format("x")}, {_COPY_TYPE}) AS type
    FROM run.copies x
)"""
_CALLS = """(
    SELECT process, thread, event, correlation, start_ns, end_ns, domain, category, name, function, properties
    FROM run.regions
    UNION ALL
    SELECT process, thread, event, correlation, time_ns AS start_ns, time_ns AS end_ns, domain, category, name,
        function, properties FROM run.samples
)"""
_IS_TEXT = "x.domain = 'MARKER' AND (x.function IS NULL OR x.name <> x.function)"
#: The call that issued work: the first one of its correlation.
_LAUNCHING = """(
    SELECT * FROM (
        SELECT process, thread, event, correlation, start_ns, end_ns, COALESCE(function, name) AS name,
            ROW_NUMBER() OVER (PARTITION BY process, correlation ORDER BY start_ns) AS place
        FROM run.regions WHERE correlation IS NOT NULL
    ) e WHERE place = 1
)"""
#: In RPD files, only work whose parameters were recorded.
_IS_RECORDED = _OP_TYPE.format("x") + " IS NULL OR x.{} IS NOT NULL"
_OP = f"""
    id          BIGINT   -   | {{id}}
    gpuId       BIGINT   -   | {_GPU} | number of the GPU
    queueId     BIGINT   -   | q.queue_id | id of the queue
    sequenceId  BIGINT   -   | json_number(x.properties, '$.sequenceId') | number in the queue; only RPD files have it
    start       BIGINT   ns  | x.start_ns | when it began on the GPU
    end         BIGINT   ns  | x.end_ns | when it ended on the GPU
"""
_DURATION = "duration BIGINT ns | x.end_ns - x.start_ns | how long it took"
_COPY = f"""
    stream     VARCHAR  -      | {_STREAM} | the stream, hexadecimal
    size       BIGINT   bytes  | x.size_bytes | how much was copied
    width      BIGINT   bytes  | json_number(x.properties, '$.width') | of a copy in two dimensions
    height     BIGINT   -      | json_number(x.properties, '$.height') | rows of a copy in two dimensions
    kind       BIGINT   -      | COALESCE(json_number(x.properties, '$.kind'), {_COPY_KIND}) | {{kinds}}
    dst        VARCHAR  -      | hexadecimal(x.dst_address) | to, an address
    src        VARCHAR  -      | hexadecimal(x.src_address) | from, an address
    dstDevice  BIGINT   -      | COALESCE(json_number(x.properties, '$.dstDevice'), d.type_index, d.agent_id) | to
    srcDevice  BIGINT   -      | COALESCE(json_number(x.properties, '$.srcDevice'), f.type_index, f.agent_id) | from
    sync       BIGINT   -      | json_number(x.properties, '$.sync') | 1 = the call waited; only RPD files have it
    pinned     BIGINT   -      | json_number(x.properties, '$.pinned') | 1 = pinned memory; only RPD files have it
""".replace("{kinds}", "1 = host to device, 2 = device to host, 3 = device to device, 4 = other")
_ENDS = """
    LEFT JOIN run.agents d ON d.agent = x.dst_agent LEFT JOIN run.agents f ON f.agent = x.src_agent
    LEFT JOIN run.agents a ON a.agent = COALESCE(x.dst_agent, x.src_agent)
"""
#: API time of the launches of each kernel; a call that launched several has no time of each.
_LAUNCHES = f"""
    SELECT x.name, r.end_ns - r.start_ns AS duration
    FROM (
        SELECT process, correlation, CAST(name AS VARCHAR) AS name, workgroup_x, properties,
            COUNT(*) OVER (PARTITION BY process, correlation) AS together
        FROM run.dispatches WHERE correlation IS NOT NULL
    ) x
    JOIN {_LAUNCHING} r ON r.process = x.process AND r.correlation = x.correlation
    WHERE x.together = 1 AND ({_IS_RECORDED.format("workgroup_x")})
"""

#: Views of RPD, in the order of its schema. Its `top` and `busy` have the names of ROCpd's and are those.
OPS = (
    view_spec(
        "api",
        "one call, marker or mark on a CPU thread",
        f"""
        id        BIGINT   -   | COALESCE(x.event, x.correlation) | id of the call in its process
        pid       BIGINT   -   | p.pid | process id
        tid       BIGINT   -   | t.tid | thread id
        start     BIGINT   ns  | x.start_ns | when it began
        end       BIGINT   ns  | x.end_ns | when it ended
        domain    VARCHAR  -   | x.domain | HIP, HSA, MARKER, ...
        category  VARCHAR  -   | x.category | as stored
        apiName   VARCHAR  -   | CASE WHEN {_IS_TEXT} THEN 'UserMarker' ELSE COALESCE(x.function, x.name) END | function
        args      VARCHAR  -   | CASE WHEN {_IS_TEXT} THEN x.name ELSE COALESCE({{args}}, '') END | {{meaning}}
        {_RANK}
        """.replace("{args}", "json_string(x.properties, '$.args')").replace(
            "{meaning}", "text of a marker; arguments as RPD stores them, those of other formats are in region_args"
        ),
        f"FROM {_CALLS} x {_CALL_PLACE}",
    ),
    view_spec(
        "op",
        "one piece of GPU work: a dispatch or a copy",
        _OP.format(id="x.id | dispatch_id of a dispatch; event of a copy")
        + f"""
        description  VARCHAR  -  | CASE WHEN x.name = x.type THEN '' ELSE x.name END | name of the kernel; empty = none
        opType       VARCHAR  -  | x.type | KernelExecution, CopyHostToDevice, ...
        {_RANK}
        """,
        f"""FROM {_WORK} x
        LEFT JOIN run.processes p ON p.process = x.process LEFT JOIN run.agents a ON a.agent = x.agent
        LEFT JOIN run.queues q ON q.queue = x.queue""",
    ),
    view_spec(
        "kernel",
        "one dispatch of a kernel with the parameters of its launch",
        _OP.format(id="x.dispatch_id | number of the dispatch in its process")
        + f"""
        {_DURATION}
        stream               VARCHAR  -      | {_STREAM} | the stream, hexadecimal
        gridX                BIGINT   lanes  | x.grid_x | size of the grid, in lanes for every call
        gridY                BIGINT   lanes  | x.grid_y | size of the grid
        gridZ                BIGINT   lanes  | x.grid_z | size of the grid
        workgroupX           BIGINT   lanes  | x.workgroup_x | size of a workgroup
        workgroupY           BIGINT   lanes  | x.workgroup_y | size of a workgroup
        workgroupZ           BIGINT   lanes  | x.workgroup_z | size of a workgroup
        groupSegmentSize     BIGINT   bytes  | x.lds_bytes | LDS per workgroup
        privateSegmentSize   BIGINT   bytes  | x.scratch_bytes | scratch memory per lane
        kernelName           VARCHAR  -      | x.name | name of the kernel
        {_RANK}
        """,
        f"""FROM run.dispatches x {_PLACE} LEFT JOIN run.agents a ON a.agent = x.agent
        WHERE {_IS_RECORDED.format("workgroup_x")}""",
    ),
    view_spec(
        "copy",
        "one call that copied memory, with its times on the CPU",
        f"""
        id         BIGINT   -   | COALESCE(r.event, r.correlation) | id of the call in its process
        pid        BIGINT   -   | p.pid | process id
        tid        BIGINT   -   | t.tid | thread id
        start      BIGINT   ns  | r.start_ns | when the call began
        end        BIGINT   ns  | r.end_ns | when the call ended
        apiName    VARCHAR  -   | r.name | the function that was called
        {_COPY}
        {_RANK}
        """,
        f"""FROM (
            SELECT *, ROW_NUMBER() OVER (PARTITION BY process, correlation ORDER BY start_ns) AS place FROM run.copies
        ) x
        JOIN {_LAUNCHING} r ON r.process = x.process AND r.correlation = x.correlation
        {_PLACE} {_ENDS} LEFT JOIN run.threads t ON t.thread = r.thread
        WHERE x.place = 1 AND ({_IS_RECORDED.format("size_bytes")})""",
    ),
    view_spec(
        "copyop",
        "one copy of memory on the GPU, with the call that asked for it",
        _OP.format(id="x.event | id of the event in its process")
        + f"""
        {_DURATION}
        {_COPY}
        apiName    VARCHAR  -   | r.name | the function that was called
        {_RANK}
        """,
        f"""FROM run.copies x
        JOIN {_LAUNCHING} r ON r.process = x.process AND r.correlation = x.correlation
        {_PLACE} {_ENDS} WHERE {_IS_RECORDED.format("size_bytes")}""",
    ),
    view_spec(
        "ktop",
        "all launches of the kernels of one name: time that the CPU spent in them, not GPU time",
        """
        Name           VARCHAR  -   | g.name | name of the kernel
        TotalCalls     BIGINT   -   | g.calls | launches; those of calls that launch several kernels do not count
        TotalDuration  BIGINT   µs  | CAST((g.total - g.total % 1000) / 1000 AS BIGINT) | in the launching calls
        Ave            BIGINT   µs  | {ave} | mean, whole microseconds
        Percentage     DOUBLE   %   | g.total * 100.0 / w.total | share of the time of all these launches
        """.replace("{ave}", "CAST((g.total / g.calls - g.total / g.calls % 1000) / 1000 AS BIGINT)"),
        f"""FROM (
            SELECT name, COUNT(*) AS calls, CAST(SUM(duration) AS BIGINT) AS total FROM ({_LAUNCHES}) e GROUP BY name
        ) g
        CROSS JOIN (SELECT NULLIF(CAST(SUM(duration) AS BIGINT), 0) AS total FROM ({_LAUNCHES}) e) w
        ORDER BY g.total DESC, g.name""",
    ),
)
