"""Where each quantity of `facts/metrics/quantities.toml` is read: a line per quantity and question.

A question that states a quantity gets a line here. The page's answer of the same view is read by the same line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from tests.consistency.reader import Document, Key, Reader, at, only_if, rows, table, times, total, value

GPU = ("node", "gpu")
RANK = ("pid", "rank")


def has_all_time(document: Document) -> bool:
    """True if a diagnosis sets no start-up aside, or a part of the time that it names."""
    return not any(caveat["rule"] == "D1" for caveat in document.get("caveats", ()))


def _of_gpu(row: Any) -> bool:
    return row.get("stream_id") is None


def _of_kernel(row: Any) -> bool:
    return bool(row["domain"] == "KERNEL")


def _mean_busy(column: str, whole: str) -> Reader:
    """Busy time of all GPUs over that of their windows; a GPU has a row per process, or one of its own."""

    def read(document: Document) -> Iterator[tuple[Key, Any]]:
        gpus = {(row["node"], row["gpu"]): row for row in table(document, "gpus")}.values()
        time = sum(row[whole] for row in gpus)
        if time and all(row[column] is not None for row in gpus):
            yield (), sum(row[column] for row in gpus) / time

    return read


def _replays_all(document: Document) -> bool:
    """True if a diagnosis is about all traced waves: some end at once, others are not part of a replay."""
    return document["replayed_share"] == 1 and not document["early_wave_count"]


def _sum_of(*names: str) -> Reader:
    return lambda document: [((), sum(document[name] for name in names))] if names[0] in document else []


def _evidence(column: str) -> Reader:
    """A number of the rows that findings of a thread trace name; a row stands in several findings."""

    def read(document: Document) -> Iterator[tuple[Key, Any]]:
        found = {
            (row["row"],): row[column]
            for finding in document.get("findings", ())
            for row in finding["evidence"]
            if row.get("row") is not None and row.get(column) is not None
        }
        yield from found.items()

    return read


def _limiter_evidence(document: Document) -> Iterator[tuple[str, Any]]:
    """Kernel and evidence of every limiter; the same number is evidence of several."""
    for kernel in document.get("kernels", ()):
        seen = {}
        for limiter in kernel["limiters"]:
            for evidence in limiter["evidence"]:
                seen[evidence["quantity"]] = evidence
        yield from ((kernel["kernel_name"], evidence) for evidence in seen.values())


def _quantity(name: str, field: str = "value", factor: float = 1.0) -> Reader:
    """A quantity by which limiters are judged."""

    def read(document: Document) -> Iterator[tuple[Key, Any]]:
        for kernel, evidence in _limiter_evidence(document):
            if evidence["quantity"] == name and evidence[field] is not None:
                yield (kernel,), factor * evidence[field]

    return read


def _only_kernel(document: Document) -> str | None:
    """The kernel that an answer about all dispatches is about, where there is only one."""
    names = document.get("kernel_names") or [row["kernel_name"] for row in table(document, "kernels")]
    return names[0] if len(names) == 1 else None


def _metrics_of_limiters(document: Document) -> Iterator[tuple[Key, Any]]:
    for kernel, evidence in _limiter_evidence(document):
        if evidence["metric_id"] and evidence["amount"] is None and evidence["value"] is not None:
            if evidence["unit"] == "%" and "of peak" in evidence["label"]:
                continue  # of a metric that is no percentage itself
            yield (kernel, evidence["metric_id"]), evidence["value"]


def _metrics_of_panels(column: str) -> Reader:
    def read(document: Document) -> Iterator[tuple[Key, Any]]:
        kernel = _only_kernel(document)
        for row in table(document, "rows"):
            if kernel and row["channel"] is None and not row["series"] and row[column] is not None:
                yield (kernel, row["metric_id"]), row[column]

    return read


def _metrics_of_kernels(document: Document) -> Iterator[tuple[Key, Any]]:
    for row in table(document, "values"):
        for metric in table(document, "metrics"):
            number = row.get(metric["column"])
            if metric["channel"] is None and not metric["series"] and number is not None:
                yield (row["kernel_name"], metric["metric_id"]), number


def _metrics_of_chart(document: Document) -> Iterator[tuple[Key, Any]]:
    kernel = _only_kernel(document)
    seen = {row["metric_id"]: row["value"] for row in table(document, "values") if row["metric_id"]}
    for metric, number in seen.items():
        if kernel and number is not None:
            yield (kernel, metric), number


def _peak_of_memory(document: Document) -> Iterator[tuple[Key, Any]]:
    peaks = {item["peak"] for _, item in _limiter_evidence(document) if item["quantity"] == "memory_bandwidth"}
    if peaks - {None}:
        yield (), 1e9 * max(peaks - {None})


def _bytes_of_memory(document: Document) -> Iterator[tuple[Key, Any]]:
    for row in table(document, "kernels"):
        if row["read_bytes_mean"] is not None and row["write_bytes_mean"] is not None:
            yield (row["kernel_name"],), row["read_bytes_mean"] + row["write_bytes_mean"]


def _bytes_of_roofline(document: Document) -> Iterator[tuple[Key, Any]]:
    found = {
        (row["kernel_name"],): row["bytes"]
        for row in table(document, "points")
        if row["level"] == "HBM" and row["bytes"] is not None and row["dispatch"] is None
    }
    yield from found.items()


def _conflict_cycles(document: Document) -> Iterator[tuple[Key, Any]]:
    """Cycles of the LDS that a finding says bank conflicts add."""
    for finding in document.get("findings", ()):
        for cause in finding["lane_causes"]:
            if cause["pipe"] == "LDS":
                yield (finding["name"],), cause["saved_cycles_total"]


def _late_rank_bound(document: Document) -> Iterator[tuple[Key, Any]]:
    """Of the finding about one late rank."""
    for finding in document.get("findings", ()):
        late = re.fullmatch(r"Rank (\d+) is late", finding["verdict"])
        if finding["rule"] == "X2" and late:
            yield (int(late[1]),), finding["bound_alone_ns"]


def _rank_scenarios(document: Document) -> Iterator[tuple[Key, Any]]:
    for scenario in document["what_if"]:
        if scenario["text"].startswith("rank="):
            yield (int(scenario["text"][len("rank=") :]),), scenario


def _late_rank_scenario(document: Document) -> Iterator[tuple[Key, Any]]:
    """At most so much by a rank that is never late."""
    for key, scenario in _rank_scenarios(document):
        if scenario["gain_ns_max"] is not None:
            yield key, scenario["gain_ns_max"]


def _late_rank_prediction(document: Document) -> Iterator[tuple[Key, Any]]:
    for key, scenario in _rank_scenarios(document):
        yield key, max((each["span_ns"] - each["span_ns_min"] for each in scenario["predictions"]), default=0)


def _group_idle(document: Document) -> Iterator[tuple[Key, Any]]:
    idle = [row["wall_ns"] - row["busy_ns"] for row in table(document, "gpus")]
    if idle:
        yield (), max(idle)


def _path_idle(document: Document) -> Iterator[tuple[Key, Any]]:
    if len(table(document, "groups")) == 1:
        yield (), sum(row["path_ns"] for row in table(document, "classes") if row["class"] == "idle")


def _lds(*columns: str) -> Reader:
    """Cycles of the LDS, where the cost of every access is known."""

    def read(document: Document) -> Iterator[tuple[Key, Any]]:
        of_lds = [row for row in table(document, "rows") if row["space"] == "lds"]
        if of_lds and all(row["cost_known_count"] == row["execution_count"] for row in of_lds):
            yield (), sum(row[column] for row in of_lds for column in columns)

    return read


def _pipe(name: str, path: str) -> Reader:
    def read(document: Document) -> Iterator[tuple[Key, Any]]:
        if at(document, path) is not None:
            yield (name,), at(document, path)

    return read


def _pipes_of_diagnosis(document: Document) -> Iterator[tuple[Key, Any]]:
    yield from _pipe("VALU", "pipes.valu_share")(document)
    yield from _pipe("MATRIX", "pipes.matrix_share")(document)


def _memory_bytes_of_waves(document: Document) -> Iterator[tuple[Key, Any]]:
    of_memory = [row for row in table(document, "traffic") if row["space"] == "memory"]
    if of_memory and all(row["requested_bytes_per_wave"] is not None for row in of_memory):
        yield (), sum(row["requested_bytes_per_wave"] for row in of_memory)


def _registers(document: Document) -> Iterator[tuple[Key, Any]]:
    for row in table(document, "kernels"):
        if row["vgprs"] is not None:
            yield (row["kernel"],), row["vgprs"] + (row["agprs"] or 0)


def _most_live(document: Document) -> Iterator[tuple[Key, Any]]:
    live = [row["live_vectors"] for row in table(document, "") if row["live_vectors"] is not None]
    if live:
        yield (), max(live)


def _registers_of_occupancy(document: Document) -> Iterator[tuple[Key, Any]]:
    for row in table(document, "occupancy.kernels" if "occupancy" in document else "kernels"):
        if row["vgprs"] is not None and row["registers_from"] == "metadata":
            yield (row["kernel"],), row["vgprs"] + (row["agprs"] or 0)


_DIAGNOSED = {
    "gpu_window": rows("gpus", "window_ns", *GPU),
    "gpu_busy": only_if(has_all_time, rows("gpus", "window_ns", *GPU, minus="idle_ns")),
    "computation": only_if(has_all_time, rows("gpus", "computation_ns", *GPU)),
    "exposed_communication": only_if(has_all_time, rows("gpus", "exposed_communication_ns", *GPU)),
    "exposed_copies": only_if(has_all_time, rows("gpus", "exposed_copy_ns", *GPU)),
}

#: Kind of document -> quantity -> question -> reader.
READINGS: dict[str, dict[str, dict[str, Reader]]] = {
    "run": {
        "recorded_time": {
            "summary": value("wall_ns"),
            "overview": value("duration_ns"),
        },
        "gpu_span": {
            "busy": rows("gpus", "span_ns", *GPU),
            "gaps": rows("gpus", "span_ns", *GPU, where=_of_gpu),
            "overlap": rows("gpus", "span_ns", *GPU),
        },
        "gpu_window": {
            "diagnose": _DIAGNOSED["gpu_window"],
            "budget": rows("gpus", "window_ns", *GPU),
        },
        "gpu_busy": {
            "busy": rows("gpus", "busy_ns", *GPU),
            "gaps": rows("gpus", "busy_ns", *GPU, where=_of_gpu),
            "overlap": rows("gpus", "gpu_busy_ns", *GPU),
            "diagnose": _DIAGNOSED["gpu_busy"],
        },
        "gpu_idle": {
            "gaps": rows("gpus", "span_ns", *GPU, where=_of_gpu, minus="busy_ns"),
            "overlap": rows("gpus", "idle_ns", *GPU),
        },
        "gpu_busy_share": {
            "busy": _mean_busy("busy_ns", "span_ns"),
            "overlap": _mean_busy("gpu_busy_ns", "span_ns"),
        },
        "computation": {
            "overlap": rows("gpus", "computation_ns", *GPU),
            "diagnose": _DIAGNOSED["computation"],
        },
        "communication": {"overlap": rows("gpus", "communication_ns", *GPU)},
        "exposed_communication": {
            "overlap": rows("gpus", "exposed_communication_ns", *GPU),
            "diagnose": _DIAGNOSED["exposed_communication"],
        },
        "exposed_copies": {
            "overlap": rows("gpus", "exposed_copy_ns", *GPU),
            "diagnose": _DIAGNOSED["exposed_copies"],
        },
        "rank_computation": {
            "ranks": rows("processes", "compute_ns", *RANK),
        },
        "rank_communication": {
            "ranks": rows("processes", "collective_ns", *RANK, where=lambda row: row["gpu_count"] == 1),
            "overlap": rows("gpus", "communication_ns", *RANK),
        },
        "rank_wait": {
            "ranks": rows("processes", "waited_ns", *RANK),
            "collectives": rows("processes", "waited_ns", *RANK),
        },
        "late_rank_gain": {
            "diagnose": _late_rank_bound,
            "what-if": _late_rank_scenario,
        },
        "late_rank_prediction": {"what-if": _late_rank_prediction},
        "path_idle": {"path": _path_idle},
        "group_idle": {"busy": _group_idle},
        "group_span": {"path": rows("groups", "span_ns", "group")},
        "kernel_calls": {
            "kernels": rows("kernels", "calls", "name"),
            "summary": rows("things", "calls", "name", where=_of_kernel),
            "top": rows("things", "calls", "name", where=_of_kernel),
        },
        "kernel_time": {
            "kernels": rows("kernels", "total_ns", "name"),
            "summary": rows("things", "total_ns", "name", where=_of_kernel),
            "top": rows("things", "total_ns", "name", where=_of_kernel),
            "diagnose": only_if(has_all_time, rows("kernels", "total_ns", "name")),
        },
        "dispatch_time": {
            "kernels": value("all_ns"),
            "summary": total("domains", "total_ns", where=_of_kernel),
        },
        "kernel_share": {
            "kernels": rows("kernels", "share", "name"),
            "summary": rows("things", "share", "name", where=_of_kernel),
        },
        "longest_dispatch": {
            "kernels": rows("kernels", "max_ns", "name"),
            "summary": rows("things", "max_ns", "name", where=_of_kernel),
        },
        "work_time": {
            "summary": value("gpu_ns"),
            "top": value("total_ns"),
        },
        "work_count": {
            "launches": total("processes", "work_count"),
            "summary": total("domains", "calls", where=lambda row: row["domain"] in ("KERNEL", "COPY")),
        },
        "step_length": {
            "steps": rows("steps", "length_ns", *RANK, "step"),
        },
    },
    "trace": {
        "trace_span": {
            "about": value("overview.span_cycles"),
            "overview": value("span_cycles"),
        },
        "cu_span": {
            "diagnose": only_if(_replays_all, value("time_cycles")),
            "latency": value("cu_cycles"),
        },
        "dispatch_duration": {
            "about": value("overview.launch.duration_ns"),
            "diagnose": value("launch.duration_ns"),
        },
        "traced_waves": {
            "about": value("overview.waves"),
            "overview": value("wave_count"),
            "coverage": value("coverage.wave_count"),
        },
        "executions": {
            "about": value("overview.instructions"),
            "overview": value("instruction_count"),
            "hotspots": value("hit_count"),
            "coverage": value("coverage.instruction_count"),
        },
        "row_executions": {
            "hotspots": rows("units", "hit_count", "first_row"),
            "waits": rows("waits", "execution_count", "row"),
            "barriers": rows("rows", "execution_count", "row"),
            "lanes": rows("rows", "execution_count", "row"),
        },
        "finding_row_executions": {"diagnose": _evidence("execution_count")},
        "finding_row_stall": {"diagnose": _evidence("stall_cycles_total")},
        "finding_row_exposed": {"diagnose": _evidence("exposed_cycles_total")},
        "row_stall": {
            "hotspots": rows("units", "stall_cycles_total", "first_row"),
            "stalls": total("by_row", "stall_cycles_total", "row"),
            "waits": rows("waits", "stall_cycles_total", "row"),
            "barriers": rows("rows", "stall_cycles_total", "row"),
        },
        "row_exposed": {"hotspots": rows("units", "exposed_cycles_total", "first_row")},
        "wave_lifetime": {
            "barriers": value("wave_cycles_total"),
            "waves": total("waves", "cycles"),
        },
        "wave_cycles": {
            "diagnose": value("wave_cycles_total"),
            "hotspots": _sum_of("latency_cycles_total", "idle_cycles_total"),
            "stalls": _sum_of("latency_cycles_total", "idle_cycles_total"),
            "summary": value("activity.cycles_total"),
        },
        "stall": {
            "hotspots": value("stall_cycles_total"),
            "stalls": value("stall_cycles_total"),
            "diagnose": value("stall_cycles_total"),
            "latency": rows("exposure", "cycles_total", where=lambda row: row["part"] == "stall"),
        },
        "gap_cycles": {
            "hotspots": value("idle_cycles_total"),
            "stalls": value("idle_cycles_total"),
            "latency": rows("exposure", "cycles_total", where=lambda row: row["part"] == "idle"),
        },
        "exposed": {
            "hotspots": value("exposed_cycles_total"),
            "latency": total("exposure", "exposed_cycles_total"),
        },
        "wait_stall": {
            "waits": value("stall_cycles_total"),
            "stalls": total("classes", "stall_cycles_total", where=lambda row: row["kind"] == "wait"),
        },
        "pipe_busy_share": {
            "states": rows("pipes.pipes", "busy_share", "pipe"),
            "diagnose": _pipes_of_diagnosis,
        },
        "lds_cycles": {
            "lanes": _lds("ideal_cycles_total", "extra_cycles_total"),
            "diagnose": rows("floors.pipes", "floor_cycles_total", where=lambda row: row["pipe"] == "LDS"),
        },
        "lds_conflict_cycles": {"lanes": _lds("extra_cycles_total")},
        "finding_conflict_cycles": {"diagnose": _conflict_cycles},
        "requested_bytes": {
            "latency": _memory_bytes_of_waves,
            "diagnose": only_if(_replays_all, value("traffic.bytes_per_wave")),
        },
        "live_registers": {"live registers": _most_live},
        "vector_registers": {
            "about": _registers,
            "overview": _registers,
            "occupancy": _registers_of_occupancy,
        },
    },
    "counters": {
        "counted_product": {
            "about": value("product"),
            "overview": value("product"),
            "diagnose": value("product"),
            "roofline": value("product"),
            "memory-chart": value("product"),
            "panels": value("product"),
        },
        "memory_peak": {
            "l2": value("memory_bytes_per_second_peak"),
            "diagnose": _peak_of_memory,
            "roofline": times(1e9, rows("ceilings", "theoretical", where=lambda row: row["name"] == "HBM")),
        },
        "counted_dispatches": {
            "diagnose": rows("kernels", "dispatch_count", "kernel_name"),
            "roofline": rows("kernels", "dispatch_count", "kernel_name"),
            "panels": rows("kernels", "dispatch_count", "kernel_name"),
            "l2": rows("kernels", "dispatch_count", "kernel_name"),
            "kernels": rows("values", "dispatch_count", "kernel_name"),
            "overview": rows("kernels", "dispatch_count", "kernel_name"),
        },
        "counted_duration": {
            "diagnose": rows("kernels", "duration_ns_mean", "kernel_name"),
            "roofline": rows("kernels", "duration_ns_mean", "kernel_name"),
            "panels": rows("kernels", "duration_ns_mean", "kernel_name"),
            "l2": rows("kernels", "duration_ns_mean", "kernel_name"),
            "kernels": rows("values", "duration_ns_mean", "kernel_name"),
            "overview": rows("kernels", "duration_ns_mean", "kernel_name"),
        },
        "counted_share": {
            "diagnose": rows("kernels", "duration_share", "kernel_name"),
            "roofline": rows("kernels", "duration_share", "kernel_name"),
            "panels": rows("kernels", "duration_share", "kernel_name"),
            "overview": rows("kernels", "duration_share", "kernel_name"),
        },
        "memory_bytes": {
            "l2": _bytes_of_memory,
            "roofline": _bytes_of_roofline,
        },
        "memory_peak_share": {
            "l2": rows("kernels", "peak_share", "kernel_name"),
            "diagnose": _quantity("memory_bandwidth", factor=0.01),
        },
        "l2_hit_share": {
            "l2": rows("kernels", "hit_rate", "kernel_name"),
            "diagnose": _quantity("l2_hit_rate", factor=0.01),
        },
        "wave_slots_share": {
            "diagnose": _quantity("occupancy", factor=0.01),
            "panels": lambda document: (
                ((kernel,), row["peak_share"] / 100)
                for row in table(document, "rows")
                if (kernel := _only_kernel(document))
                and row["name"] == "Wavefront Occupancy"
                and row["table_id"] == "2.1"
                and row["peak_share"] is not None
            ),
        },
        "metric": {
            "diagnose": _metrics_of_limiters,
            "panels": _metrics_of_panels("average"),
            "kernels": _metrics_of_kernels,
            "memory-chart": _metrics_of_chart,
        },
    },
}


class Partition(NamedTuple):
    """Shares of one whole that exclude each other: together at most 1."""

    kind: str
    question: str
    path: str
    column: str
    keys: tuple[str, ...] = ()

    @property
    def reader(self) -> Reader:
        """The sums by key."""
        return total(self.path, self.column, *self.keys)


PARTITIONS = (
    Partition("run", "budget", "parts", "share"),
    Partition("run", "kernels", "kernels", "share"),
    Partition("run", "top", "things", "share"),
    Partition("run", "top", "categories", "share"),
    Partition("run", "path", "classes", "path_share", ("group",)),
    Partition("run", "path", "contributors", "path_share", ("group",)),
    Partition("run", "gaps", "causes", "gap_share", GPU),
    Partition("run", "regions", "launchers", "gpu_share"),
    Partition("trace", "hotspots", "units", "cycles_share"),
    Partition("trace", "hotspots", "units", "exposed_share"),
    Partition("trace", "stalls", "classes", "stall_share"),
    Partition("trace", "stalls", "idle", "idle_share"),
    Partition("trace", "waits", "waits", "stall_share"),
    Partition("trace", "loops", "loops", "self_cycles_share"),
    Partition("trace", "states", "states.total", "share"),
    Partition("trace", "coverage", "coverage.paths", "wave_share"),
    Partition("counters", "panels", "kernels", "duration_share"),
    Partition("counters", "roofline", "kernels", "duration_share"),
)
