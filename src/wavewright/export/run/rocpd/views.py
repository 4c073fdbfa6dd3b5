# ruff: noqa: S608 - every name in these statements is our own
"""The views that AMD's tools expect in a ROCpd file, by their names and columns; every join is by run and id."""

from __future__ import annotations


def _join(table: str, alias: str, column: str, *, is_optional: bool = False) -> str:
    """The row of `table` whose id the column holds, in the same run."""
    kind = "LEFT JOIN" if is_optional else "JOIN"
    owner = column.split(".")[0]
    return f"{kind} rocpd_{table} {alias} ON {alias}.id = {column} AND {alias}.guid = {owner}.guid"


def _json(column: str, *keys: str) -> str:
    """Values of keys of stored JSON, named like the last word of the key; null where the text is not valid JSON."""
    return ", ".join(
        f"CASE WHEN json_valid({column}) THEN json_extract({column}, '$.{key}') END AS {name}"
        for key, name in ((key.partition(" ")[0], key.partition(" ")[2] or key) for key in keys)
    )


def _agent(alias: str, prefix: str = "agent") -> str:
    return (
        f"{alias}.absolute_index AS {prefix}_abs_index, {alias}.logical_index AS {prefix}_log_index, "
        f"{alias}.type_index AS {prefix}_type_index, {alias}.type AS {prefix}_type"
    )


_EVENT = " ".join(
    (_join("event", "e", "x.event_id", is_optional=True), _join("string", "c", "e.category_id", is_optional=True))
)
_PLACE = " ".join((_join("info_process", "p", "x.pid"), _join("info_thread", "t", "x.tid", is_optional=True)))
_QUEUE = " ".join(
    (
        _join("info_queue", "q", "x.queue_id", is_optional=True),
        _join("info_stream", "s", "x.stream_id", is_optional=True),
    )
)
_LINKS = "e.stack_id, e.parent_stack_id, e.correlation_id AS corr_id"
_TIMES = 'x.start, x."end", x."end" - x.start AS duration'
_NODE = (
    "x.nid, n.machine_id, n.system_name, n.hostname, n.release AS system_release, n.version AS system_version, "
    "x.guid, x.ppid, p.pid"
)
_TEXTS = "e.extdata, e.call_stack, e.line_info"
_SAMPLE_JOINS = (
    f"FROM rocpd_sample x {_join('track', 'k', 'x.track_id')} {_join('info_process', 'p', 'k.pid', is_optional=True)} "
    f"{_join('info_thread', 't', 'k.tid', is_optional=True)} "
    f"{_join('string', 'w', 'k.name_id', is_optional=True)} {_EVENT}"
)
_SUMMARY = """
    name, COUNT(*) AS total_calls, SUM(duration) / 1000.0 AS total_duration,
    (SUM(duration) / COUNT(*)) / 1000.0 AS average,
    SUM(duration) * 100.0 / (SELECT SUM(duration) FROM {whole}) AS percentage
"""
_WORK = """
    SELECT {columns}, "end" - start AS duration FROM rocpd_kernel_dispatch x {kernel}
    UNION ALL SELECT {others}, "end" - start FROM rocpd_memory_copy x {copy}
"""
_NAMED = (
    _WORK.format(
        columns="m.display_name AS name",
        kernel=_join("info_kernel_symbol", "m", "x.kernel_id"),
        others="w.string",
        copy=_join("string", "w", "x.name_id"),
    )
    + f'UNION ALL SELECT w.string, x."end" - x.start FROM rocpd_region x {_join("string", "w", "x.name_id")}'
)


def _statistics(view: str, column: str, name: str = "name") -> str:
    """Number and durations of the rows of a view by the values of a column, with their spread."""
    return f"""
        SELECT {name} AS name, calls, total AS "DURATION (nsec)", squares AS "SQR (nsec)", mean AS "AVERAGE (nsec)",
            total * 100.0 / SUM(total) OVER () AS "PERCENT (INC)", shortest AS "MIN (nsec)", longest AS "MAX (nsec)",
            variance AS "VARIANCE", SQRT(variance) AS "STD_DEV"
        FROM (
            SELECT name, COUNT(*) AS calls, SUM(duration) AS total, SUM(duration * 1.0 * duration) AS squares,
                MIN(mean) AS mean, MIN(duration) AS shortest, MAX(duration) AS longest,
                SUM((duration - mean) * (duration - mean)) / (COUNT(*) - 1) AS variance
            FROM (SELECT {column} AS name, duration, AVG(duration) OVER (PARTITION BY {column}) AS mean FROM {view})
            GROUP BY name
        )
        ORDER BY total DESC, name
    """


#: View -> its SELECT.
VIEWS: dict[str, str] = {
    "code_objects": f"""
        SELECT x.id, x.guid, x.nid, p.pid, a.absolute_index AS agent_abs_index, x.uri, x.load_base, x.load_size,
            x.load_delta, x.storage_type AS storage_type_str,
            {_json("x.extdata", "size code_object_size", "storage_type", "memory_base", "memory_size")}
        FROM rocpd_info_code_object x {_join("info_agent", "a", "x.agent_id", is_optional=True)}
            {_join("info_process", "p", "x.pid")}
    """,
    "kernel_symbols": f"""
        SELECT x.id, x.guid, x.nid, p.pid, x.code_object_id, x.kernel_name, x.display_name, x.kernel_object,
            x.kernarg_segment_size, x.kernarg_segment_alignment, x.group_segment_size, x.private_segment_size,
            x.sgpr_count, x.arch_vgpr_count, x.accum_vgpr_count,
            {
        _json(
            "x.extdata",
            "size kernel_symbol_size",
            "kernel_id",
            "kernel_code_entry_byte_offset",
            "formatted_kernel_name",
            "demangled_kernel_name",
            "truncated_kernel_name",
            "kernel_address.handle kernel_address",
        )
    }
        FROM rocpd_info_kernel_symbol x {_join("info_process", "p", "x.pid")}
    """,
    "processes": f"""
        SELECT {_NODE.replace("p.pid", "x.pid")}, x.init, x.start, x."end", x.fini, x.command
        FROM rocpd_info_process x {_join("info_node", "n", "x.nid")}
    """,
    "threads": f"""
        SELECT {_NODE}, x.tid, x.start, x."end", x.name
        FROM rocpd_info_thread x {_join("info_process", "p", "x.pid")} {_join("info_node", "n", "x.nid")}
    """,
    "regions": f"""
        SELECT x.id, x.guid, c.string AS category, w.string AS name, x.nid, p.pid, t.tid, {_TIMES}, x.event_id,
            {_LINKS}, {_TEXTS}
        FROM rocpd_region x {_EVENT} {_join("string", "w", "x.name_id")} {_PLACE}
    """,
    "region_args": f"""
        SELECT x.id, x.guid, x.nid, p.pid, r.type, r.name, r.value
        FROM rocpd_region x {_join("info_process", "p", "x.pid")}
            JOIN rocpd_arg r ON r.event_id = x.event_id AND r.guid = x.guid
    """,
    "samples": f"""
        SELECT x.id, x.guid, c.string AS category, w.string AS name, k.nid, p.pid, t.tid, x.timestamp, x.event_id,
            {_LINKS}, {_TEXTS} {_SAMPLE_JOINS}
    """,
    "sample_regions": f"""
        SELECT x.id, x.guid, c.string AS category, w.string AS name, k.nid, p.pid, t.tid, x.timestamp AS start,
            x.timestamp AS "end", 0 AS duration, x.event_id, {_LINKS}, {_TEXTS} {_SAMPLE_JOINS}
    """,
    "regions_and_samples": "SELECT * FROM regions UNION ALL SELECT * FROM sample_regions",
    "kernels": f"""
        SELECT x.id, x.guid, t.tid, c.string AS category, g.string AS region, m.display_name AS name, x.nid, p.pid,
            {_agent("a")}, m.code_object_id, x.kernel_id, x.dispatch_id, x.stream_id, x.queue_id, q.name AS queue,
            s.name AS stream, {_TIMES}, x.grid_size_x AS grid_x, x.grid_size_y AS grid_y, x.grid_size_z AS grid_z,
            x.workgroup_size_x AS workgroup_x, x.workgroup_size_y AS workgroup_y, x.workgroup_size_z AS workgroup_z,
            x.group_segment_size AS lds_size, x.private_segment_size AS scratch_size,
            m.arch_vgpr_count AS vgpr_count, m.accum_vgpr_count, m.sgpr_count,
            m.group_segment_size AS static_lds_size, m.private_segment_size AS static_scratch_size, {_LINKS}
        FROM rocpd_kernel_dispatch x {_join("info_kernel_symbol", "m", "x.kernel_id")}
            {_join("info_agent", "a", "x.agent_id")} {_PLACE} {_QUEUE} {_EVENT}
            {_join("string", "g", "x.region_name_id", is_optional=True)}
    """,
    "pmc_info": f"""
        SELECT x.id, x.guid, x.nid, p.pid, a.absolute_index AS agent_abs_index, x.is_constant, x.is_derived, x.name,
            x.description, x.block, x.expression
        FROM rocpd_info_pmc x {_join("info_process", "p", "x.pid")}
            {_join("info_agent", "a", "x.agent_id", is_optional=True)}
    """,
    "pmc_events": f"""
        SELECT x.id, x.guid, x.pmc_id, x.event_id, c.string AS category, m.display_name AS name, d.nid, p.pid,
            d.dispatch_id, d.start, d."end", d."end" - d.start AS duration, i.name AS counter_name,
            x.value AS counter_value
        FROM rocpd_pmc_event x JOIN rocpd_kernel_dispatch d ON d.event_id = x.event_id AND d.guid = x.guid
            {_join("info_pmc", "i", "x.pmc_id")} {_join("info_kernel_symbol", "m", "d.kernel_id")}
            {_join("info_process", "p", "d.pid")} {_EVENT}
    """,
    "events_args": f"""
        SELECT e.id AS event_id, c.string AS category, e.stack_id, e.parent_stack_id, e.correlation_id,
            x.position AS arg_position, x.type AS arg_type, x.name AS arg_name, x.value AS arg_value, e.call_stack,
            e.line_info, e.extdata
        FROM rocpd_arg x {_EVENT}
    """,
    "stream_args": f"""
        SELECT x.id AS argument_id, x.event_id, x.position AS arg_position, x.type AS arg_type, x.value AS arg_value,
            x.stream_id, s.nid, p.pid, s.name AS stream_name, x.extdata
        FROM (SELECT *, {_json("extdata", "stream_id")} FROM rocpd_arg WHERE name = 'stream') x
            {_join("info_stream", "s", "x.stream_id")} {_join("info_process", "p", "s.pid")}
    """,
    "memory_copies": f"""
        SELECT x.id, x.guid, c.string AS category, x.nid, p.pid, t.tid, {_TIMES}, w.string AS name,
            g.string AS region_name, x.stream_id, x.queue_id, s.name AS stream_name, q.name AS queue_name, x.size,
            d.name AS dst_device, {_agent("d", "dst_agent")}, x.dst_address,
            o.name AS src_device, {_agent("o", "src_agent")}, x.src_address, {_LINKS}
        FROM rocpd_memory_copy x {_join("string", "w", "x.name_id")} {_PLACE} {_QUEUE} {_EVENT}
            {_join("info_agent", "d", "x.dst_agent_id", is_optional=True)}
            {_join("info_agent", "o", "x.src_agent_id", is_optional=True)}
            {_join("string", "g", "x.region_name_id", is_optional=True)}
    """,
    "memory_allocations": f"""
        SELECT x.id, x.guid, c.string AS category, x.nid, p.pid, t.tid, {_TIMES}, x.type, x.level,
            a.name AS agent_name, {_agent("a")}, x.address, x.size, x.queue_id, q.name AS queue_name, x.stream_id,
            s.name AS stream_name, {_LINKS}
        FROM rocpd_memory_allocate x {_join("info_agent", "a", "x.agent_id", is_optional=True)}
            {_PLACE} {_QUEUE} {_EVENT}
    """,
    "scratch_memory": f"""
        SELECT x.id, x.guid, x.nid, p.pid, x.type AS operation, a.name AS agent_name, {_agent("a")}, x.queue_id,
            t.tid, {_json("x.extdata", "flags alloc_flags")}, {_TIMES}, x.size, x.address, e.correlation_id,
            {_LINKS}, c.string AS category, e.extdata AS event_extdata
        FROM rocpd_memory_allocate x {_join("info_agent", "a", "x.agent_id", is_optional=True)} {_PLACE} {_EVENT}
        WHERE x.level = 'SCRATCH' ORDER BY x.start
    """,
    "counters_collection": f"""
        SELECT MIN(v.id) AS id, x.guid, x.dispatch_id, x.kernel_id, e.id AS event_id, e.correlation_id, e.stack_id,
            e.parent_stack_id, p.pid, t.tid, x.agent_id, {_agent("a")}, x.queue_id, x.grid_size_x, x.grid_size_y,
            x.grid_size_z, x.grid_size_x * x.grid_size_y * x.grid_size_z AS grid_size,
            m.display_name AS kernel_name, g.string AS kernel_region, x.workgroup_size_x, x.workgroup_size_y,
            x.workgroup_size_z, x.workgroup_size_x * x.workgroup_size_y * x.workgroup_size_z AS workgroup_size,
            x.group_segment_size AS lds_block_size, x.private_segment_size AS scratch_size,
            m.arch_vgpr_count AS vgpr_count, m.accum_vgpr_count, m.sgpr_count, i.name AS counter_name,
            i.symbol AS counter_symbol, i.component, i.description, i.block, i.expression, i.value_type,
            i.id AS counter_id, SUM(v.value) AS value, x.start, x."end", i.is_constant, i.is_derived,
            x."end" - x.start AS duration, c.string AS category, x.nid, e.extdata, m.code_object_id
        FROM rocpd_pmc_event v JOIN rocpd_kernel_dispatch x ON x.event_id = v.event_id AND x.guid = v.guid
            {_join("info_pmc", "i", "v.pmc_id")} {_join("info_kernel_symbol", "m", "x.kernel_id")}
            {_join("info_agent", "a", "x.agent_id")} {_PLACE} {_EVENT}
            {_join("string", "g", "x.region_name_id", is_optional=True)}
        WHERE v.sample_id IS NULL GROUP BY x.guid, x.dispatch_id, i.name, x.agent_id
    """,
    "top_kernels": f"""
        SELECT m.display_name AS {
        _SUMMARY.format(whole='(SELECT "end" - start AS duration FROM rocpd_kernel_dispatch)').strip()
    }
        FROM (SELECT *, "end" - start AS duration FROM rocpd_kernel_dispatch) x
            {_join("info_kernel_symbol", "m", "x.kernel_id")}
        GROUP BY m.display_name ORDER BY total_duration DESC
    """,
    "busy": f"""
        SELECT x.agent_id, a.type, SUM(x.duration) AS GpuTime, w.span AS WallTime,
            SUM(x.duration) * 1.0 / w.span AS Busy
        FROM ({_WORK.format(columns="guid, agent_id", kernel="", others="guid, dst_agent_id", copy="")}) x
            {_join("info_agent", "a", "x.agent_id")}
            CROSS JOIN (
                SELECT MAX("end") - MIN(start) AS span FROM (
                    SELECT start, "end" FROM rocpd_kernel_dispatch UNION ALL SELECT start, "end" FROM rocpd_memory_copy
                )
            ) w
        GROUP BY x.agent_id, x.guid
    """,
    "top": f"SELECT {_SUMMARY.format(whole=f'({_NAMED})')} FROM ({_NAMED}) GROUP BY name ORDER BY total_duration DESC",
    "kernel_summary": _statistics("kernels", "name"),
    "kernel_summary_region": _statistics("kernels", "region"),
    "memory_copy_summary": _statistics("memory_copies", "name"),
    "memory_allocation_summary": _statistics("memory_allocations", "type", "'MEMORY_ALLOCATION_' || name"),
}
