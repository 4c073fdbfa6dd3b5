"""Views that add up: time per name and its spread, busy GPUs."""

from __future__ import annotations

from wavewright.analysis.run.contents.views.spec import view_spec

_TOP = """
    name            VARCHAR  -   | g.name | {name}
    total_calls     BIGINT   -   | g.calls | how often
    total_duration  DOUBLE   µs  | g.total / 1000.0 | how long in all
    average         DOUBLE   µs  | (g.total - g.total % g.calls) / g.calls / 1000.0 | mean, whole nanoseconds
    percentage      DOUBLE   %   | g.total * 100.0 / w.total | share of {whole}
"""
_NAMED = "SELECT CAST(name AS VARCHAR) AS name, end_ns - start_ns AS duration FROM run"
_EVERYTHING = f"""
    {_NAMED}.dispatches UNION ALL {_NAMED}.copies UNION ALL
    SELECT CAST(COALESCE(function, name) AS VARCHAR) AS name, end_ns - start_ns AS duration FROM run.regions
"""  # noqa: S608 - ours
_GROUPED = """
    FROM (
        SELECT name, COUNT(*) AS calls, CAST(SUM(duration) AS BIGINT) AS total FROM ({rows}) r GROUP BY name
    ) g
    CROSS JOIN (SELECT NULLIF(CAST(SUM(duration) AS BIGINT), 0) AS total FROM ({rows}) r) w
    ORDER BY g.total DESC, g.name
"""
_STATISTICS = """
    name             VARCHAR  -    | g.name | {name}
    calls            BIGINT   -    | g.calls | how often
    DURATION (nsec)  BIGINT   ns   | g.total | how long in all
    SQR (nsec)       DOUBLE   ns²  | g.squares | squares of the durations, added up
    AVERAGE (nsec)   DOUBLE   ns   | g.mean | mean duration
    PERCENT (INC)    DOUBLE   %    | g.total * 100.0 / NULLIF(w.total, 0) | share of the time of all rows
    MIN (nsec)       BIGINT   ns   | g.shortest | shortest
    MAX (nsec)       BIGINT   ns   | g.longest | longest
    VARIANCE         DOUBLE   ns²  | g.variance | variance of the durations (of a sample: n - 1); null for one call
    STD_DEV          DOUBLE   ns   | square_root(g.variance) | standard deviation; null for one call
"""
_MEASURED = """
    FROM (
        SELECT name, COUNT(*) AS calls, CAST(SUM(duration) AS BIGINT) AS total, MIN(mean) AS mean,
            SUM(CAST(duration AS DOUBLE) * duration) AS squares, MIN(duration) AS shortest, MAX(duration) AS longest,
            SUM((duration - mean) * (duration - mean)) / NULLIF(COUNT(*) - 1, 0) AS variance
        FROM (SELECT name, duration, AVG(duration) OVER (PARTITION BY name) AS mean FROM ({rows}) e) r GROUP BY name
    ) g
    CROSS JOIN (SELECT CAST(SUM(duration) AS BIGINT) AS total FROM ({rows}) e) w
    ORDER BY g.total DESC, g.name
"""
_OF_REGION = _NAMED.replace("CAST(name AS VARCHAR)", "COALESCE(CAST(region_name AS VARCHAR), '')") + ".dispatches"
_ALLOCATIONS = "SELECT 'MEMORY_ALLOCATION_' || type AS name, end_ns - start_ns AS duration FROM run.allocations"
_WORK = """
    SELECT agent, process, start_ns, end_ns FROM run.dispatches
    UNION ALL SELECT COALESCE(dst_agent, src_agent) AS agent, process, start_ns, end_ns FROM run.copies
"""
_MACHINES = """
    SELECT p.process, COALESCE(n.machine_id, n.hostname, CAST(p.source AS VARCHAR)) AS machine
    FROM run.processes p LEFT JOIN run.nodes n ON n.node = p.node
"""
_BUSY = f"""
    FROM (
        SELECT agent, CAST(SUM(end_ns - start_ns) AS BIGINT) AS summed,
            CAST(SUM(CASE WHEN reach IS NULL OR start_ns >= reach THEN end_ns - start_ns
                WHEN end_ns > reach THEN end_ns - reach ELSE 0 END) AS BIGINT) AS merged
        FROM (
            SELECT agent, start_ns, end_ns, MAX(end_ns) OVER (
                PARTITION BY agent ORDER BY start_ns, end_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) AS reach
            FROM ({_WORK}) e
        ) m GROUP BY agent
    ) g
    JOIN run.agents a ON a.agent = g.agent
    LEFT JOIN ({_MACHINES}) p ON p.process = a.process
    LEFT JOIN (
        SELECT o.machine, NULLIF(MAX(e.end_ns) - MIN(e.start_ns), 0) AS wall
        FROM ({_WORK}) e JOIN ({_MACHINES}) o ON o.process = e.process GROUP BY o.machine
    ) w ON w.machine = p.machine
"""  # noqa: S608 - ours

#: Views of totals, in the order of AMD's schema.
TOTALS = (
    view_spec(
        "top_kernels",
        "all dispatches of the kernels of one name, longest first",
        _TOP.format(name="name of the kernel to show", whole="the time of all dispatches"),
        _GROUPED.format(rows=f"{_NAMED}.dispatches"),
    ),
    view_spec(
        "busy",
        "one agent that one process used",
        """
        agent_id  BIGINT   -   | a.agent_id | id of the agent
        type      VARCHAR  -   | a.kind | CPU (as the target of copies), GPU or NIC
        GpuTime   BIGINT   ns  | g.summed | dispatches on it and copies to it (or from it, to no agent), added up
        WallTime  BIGINT   ns  | w.wall | from the first begin to the last end of dispatches and copies on the node
        Busy      DOUBLE   -   | g.summed * 1.0 / w.wall | GpuTime / WallTime; above 1 where work overlaps
        merged_time  BIGINT  ns | g.merged | time with at least one dispatch on it or copy to it
        utilization  DOUBLE  -  | g.merged * 1.0 / w.wall | merged_time / WallTime, from 0 to 1
        """,
        _BUSY,
    ),
    view_spec(
        "top",
        "all dispatches, copies and regions of one name, longest first",
        _TOP.format(
            name="name of the kernel, copy or function",
            whole="the time of all of them; a call inside a call counts twice",
        ),
        _GROUPED.format(rows=_EVERYTHING),
    ),
    *(
        view_spec(name, row, _STATISTICS.format(name=what), _MEASURED.format(rows=rows))
        for name, row, what, rows in (
            (
                "kernel_summary",
                "all dispatches of the kernels of one name, with the spread of their durations",
                "name of the kernel to show",
                f"{_NAMED}.dispatches",
            ),
            (
                "kernel_summary_region",
                "all dispatches that were renamed after one marker range",
                "the marker range; empty = none",
                _OF_REGION,
            ),
            (
                "memory_copy_summary",
                "all copies of one direction, with the spread of their durations",
                "MEMORY_COPY_HOST_TO_DEVICE, ...",
                f"{_NAMED}.copies",
            ),
            (
                "memory_allocation_summary",
                "all calls that allocate or release memory in one way",
                "MEMORY_ALLOCATION_ALLOC, MEMORY_ALLOCATION_FREE, ...",
                _ALLOCATIONS,
            ),
        )
    ),
)
