"""Contribution of one run to a diagnosis: its GPUs, their time by cause, the worst cases, kernels, copies, calls.

All that rules need is measured here and is small, so that the parts of many runs can be merged (`MergedDiagnosis`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import polars as pl

from wavewright.analysis.run.calls.launches import touching
from wavewright.analysis.run.collectives.meetings import collective_rows
from wavewright.analysis.run.collectives.records import collective_records
from wavewright.analysis.run.diagnose.host import CALL_KINDS, Host, host_of
from wavewright.analysis.run.diagnose.idle import covered_pieces, gaps_of, idle_cells, without_cover, worst_gaps
from wavewright.analysis.run.diagnose.kernel_patterns import KernelFacts, kernel_facts, repeated
from wavewright.analysis.run.diagnose.pace import Pace, marked_steps, pace_of, paces
from wavewright.analysis.run.diagnose.work import COMMUNICATE, COMPUTE, COPY, SMALL_BYTES, work_of
from wavewright.analysis.run.kernels.operators import PartialOperators, has_operators, partial_operators
from wavewright.analysis.run.measures.intervals import in_order, intervals, merged, time_within
from wavewright.analysis.run.select.chosen import without_window
from wavewright.analysis.run.select.gpus import GPU_KEY, GpuIndex, GpuKey, index_gpus, machines
from wavewright.analysis.run.select.recording_span import recorded, windows_of_gpus, with_recordings
from wavewright.analysis.run.select.step_ranges import alike_steps, lanes_of_grid
from wavewright.model.run import Run

_PIECE_KEYS = ["kind", "direction", "is_small", "is_edge", "follows", "blocker", "is_early", "is_host"]
_EXPOSED_KEYS = ["place", "segment", *_PIECE_KEYS]
_MOST_SEGMENTS = 20_000  #: A GPU with more collectives than this has a single segment.
_WORST_COUNT = 5  #: How many of the longest exposed intervals of each kind are kept.
_SETTINGS = r"(HIP_LAUNCH_BLOCKING|AMD_SERIALIZE_KERNEL|AMD_SERIALIZE_COPY|CUDA_LAUNCH_BLOCKING)=([1-9])"
_CLOCKS = r"(?i)^(sclk|gfx_?clk|gfx clock|gfxclk)"


class MeasuredStep(NamedTuple):
    """A step on one GPU."""

    name: str  #: Without its number.
    length_ns: int
    computed_ns: int  #: Of its length, with computation.
    gpu_ns: int  #: Durations of the kernels that were launched in it.
    number: int  #: In its process, from 0.
    is_usual: bool  #: It does the same work as most steps.


@dataclass(frozen=True, eq=False, repr=False)
class PartialDiagnosis:
    """The contribution of one run; numbers of GPUs (`place`) are its own."""

    gpus: pl.DataFrame  #: One row per GPU with work: who and where it is, its window, its time by kind of work.
    cells: pl.DataFrame  #: Idle time: see `idle_cells`.
    worst: pl.DataFrame  #: The longest gaps: see `worst_gaps`.
    exposed: pl.DataFrame  #: Exposed communication and copies by `place`, `segment`, `kind`, `direction`, `is_small`.
    exposed_worst: pl.DataFrame  #: The longest of them.
    copies: pl.DataFrame  #: Copies by `place` and `direction`: counts, bytes, time.
    calls: pl.DataFrame  #: Calls by `kind`: counts and time; allocations after the first step.
    kernels: KernelFacts
    collectives: pl.DataFrame  #: `meetings.collective_rows`, with `place`.
    clocks: pl.DataFrame  #: Clocks while busy: `place`, `sample_count`, `mean_mhz`, `max_mhz`.
    steps: tuple[MeasuredStep, ...]  #: Of all GPUs.
    facts: dict[str, Any]  #: Facts that caveats and notes are about: see `_facts`.
    operators: PartialOperators | None = None  #: None = no operators were recorded.

    @property
    def used_gpus(self) -> frozenset[GpuKey]:
        """The GPUs that did work."""
        return frozenset(self.gpus.select(GPU_KEY).rows())


def partial_diagnosis(run: Run) -> PartialDiagnosis:
    """The contribution of one run.

    A time window that was chosen is the window of all GPUs; work and gaps that it cuts count with their part inside.
    """
    gpu_windows, times = windows_of_gpus(run), recorded(run)
    windows = None if gpu_windows is None else {place: span for place, *span in gpu_windows.drop_nulls().iter_rows()}
    run = without_window(run)
    gpu_index = index_gpus(run)
    host = host_of(run)
    all_work = with_recordings(work_of(run, gpu_index, host), gpu_index.table, times)
    steps, step_name = _steps(run, all_work, host)
    if windows:
        steps = {place: _inside(spans, windows.get(place)) for place, spans in steps.items()}
        places = all_work["place"].unique().sort().to_list()
        pace = {place: Pace.of_window(place, *windows[place]) for place in places if place in windows}
    else:
        pace = {gpu.place: gpu for gpu in paces(all_work, steps)}
    # Gaps need whole work: with cut work, a gap would seem to begin at the border of the window.
    whole_work = _after_startup(all_work, pace)
    work = _cut(whole_work, pace) if windows else whole_work
    gaps = gaps_of(whole_work, host, pace)
    ends = _segment_ends(work)
    is_repeated = repeated(whole_work).gather(gaps["row"])
    gaps = gaps.with_columns(segment=_segments(gaps, ends, "gap_start_ns"), is_repeated=is_repeated)
    communication = merged(work.filter(pl.col("kind") == COMMUNICATE), ["place"])
    exposed = _exposed(work, gaps, communication, ends)
    gaps = without_cover(gaps, communication)
    return PartialDiagnosis(
        gpus=_gpus(run, gpu_index, all_work, host, _gpu_times(work, gaps, exposed, pace), work),
        cells=idle_cells(gaps),
        worst=worst_gaps(gaps, whole_work, host),
        exposed=exposed.group_by(_EXPOSED_KEYS)
        .agg(pl.col("exposed_ns").sum(), pl.col("length_ns").sum())
        .sort(_EXPOSED_KEYS),
        exposed_worst=_exposed_worst(exposed, work, host),
        copies=_copies(work),
        calls=_calls(host, pace),
        kernels=kernel_facts(work, _compute_unit_counts(run, gpu_index)),
        collectives=_collectives(run, gpu_index, pace, ends),
        clocks=_clocks(run, gpu_index, work),
        steps=tuple(_lengths(steps, step_name, all_work)),
        facts=_facts(run, all_work, host, gpu_index, is_window=windows is not None),
        operators=partial_operators(run) if host.has_operators or has_operators(run, "graph_calls") else None,
    )


def _inside(spans: list[tuple[int, int]], window: Sequence[int] | None) -> list[tuple[int, int]]:
    """The steps that are completely in the window."""
    return [span for span in spans if window and window[0] <= span[0] and span[1] <= window[1]]


def _after_startup(work: pl.DataFrame, pace: dict[int, Pace]) -> pl.DataFrame:
    """The work after the start-up of its GPU, numbered anew."""
    late = {place: gpu for place, gpu in pace.items() if gpu.why}
    if not late:
        return work
    is_after = (pl.col("start_ns") >= pace_of(late, "steady_ns")).fill_null(value=True)
    return work.filter(is_after).drop("row").with_row_index("row")


def _cut(work: pl.DataFrame, pace: dict[int, Pace]) -> pl.DataFrame:
    """The parts of the work that are in the windows of its GPUs, numbered anew."""
    cut = work.with_columns(
        start_ns=pl.max_horizontal("start_ns", pace_of(pace, "steady_ns")),
        end_ns=pl.min_horizontal("end_ns", pace_of(pace, "end_ns")),
    )
    return cut.filter(pl.col("end_ns") > pl.col("start_ns")).drop("row").with_row_index("row")


def _steps(run: Run, work: pl.DataFrame, host: Host) -> tuple[dict[int, list[tuple[int, int]]], str]:
    """The steps of the process with most work on each GPU, and what they are called."""
    threads = run.read("threads", ["thread", "process"])
    markers = host.others.filter("is_marker").join(threads, on="thread", how="left")
    spans = work.group_by("process").agg(pl.col("start_ns").min(), pl.col("end_ns").max())
    windows = {process: (start, end) for process, start, end in spans.sort("process").iter_rows()}
    marked = marked_steps(markers, windows)
    owners = dict(work.group_by("place").agg(pl.col("process").mode().min()).rows())
    steps = {place: marked[process][1] for place, process in owners.items() if process in marked}
    return steps, next((name for name, _ in marked.values()), "")


def _lengths(steps: dict[int, list[tuple[int, int]]], name: str, work: pl.DataFrame) -> Iterator[MeasuredStep]:
    """The steps of each GPU, in order."""
    compute = merged(work.filter(pl.col("kind") == COMPUTE), ["place"])
    for place, spans in steps.items():
        if not spans:  # a chosen window may hold no complete step
            continue
        windows = pl.DataFrame(spans, schema={"start_ns": pl.Int64, "end_ns": pl.Int64}, orient="row")
        computed = time_within(compute.filter(pl.col("place") == place), windows, [])
        kernels = _launched_in(work.filter(pl.col("place") == place, pl.col("kind") == COMPUTE), windows)
        alike = alike_steps(kernels, len(spans)).to_list()
        counts = Counter(alike)
        usual = max(counts, key=lambda first: (counts[first], -first), default=0)
        gpu_ns = dict(kernels.group_by("step").agg(pl.col("total_ns").sum()).rows())
        for number, ((begin, end), busy) in enumerate(zip(spans, computed, strict=True)):
            yield MeasuredStep(name, end - begin, busy, gpu_ns.get(number, 0), number, alike[number] == usual)


def _launched_in(kernels: pl.DataFrame, windows: pl.DataFrame) -> pl.DataFrame:
    """Times and lanes of the kernels that were launched in each window, for `alike_steps`."""
    at_ns = kernels.select(pl.coalesce("launch_start_ns", "start_ns")).to_series()
    step = windows["start_ns"].search_sorted(at_ns, side="right").cast(pl.Int64) - 1
    is_inside = (step >= 0) & (at_ns < windows["end_ns"].gather(step.clip(0)))
    rows = kernels.select(step.alias("step"), "name", "start_ns", "end_ns", lanes=lanes_of_grid()).filter(is_inside)
    total = (pl.col("end_ns") - pl.col("start_ns")).sum()
    sums = rows.group_by("step", "name").agg(pl.col("lanes").sum(), total_ns=total)
    return sums.with_columns(pl.col("name").cast(pl.String))


def _segment_ends(work: pl.DataFrame) -> dict[int, pl.Series]:
    """The ends of the collectives of each GPU: what is between two of them is one segment."""
    collectives = work.filter(pl.col("kind") == COMMUNICATE)
    groups = collectives.group_by("place", maintain_order=True)
    ends = {int(place): group["end_ns"].sort() for (place,), group in groups}
    return {place: series if len(series) <= _MOST_SEGMENTS else series.head(0) for place, series in ends.items()}


def _segments(
    frame: pl.DataFrame, ends: dict[int, pl.Series], time: str, side: Literal["left", "right"] = "right"
) -> pl.Series:
    """The segment that each row starts in; with `left`, that it ends."""
    numbers = pl.repeat(0, frame.height, dtype=pl.UInt32, eager=True)
    rows = frame.select("place", time).with_row_index("row")
    for (place,), group in rows.group_by("place", maintain_order=True):
        if place in ends:
            segments = ends[place].search_sorted(group[time], side=side).cast(pl.UInt32)
            numbers = numbers.scatter(group["row"], segments)
    return numbers


def _exposed(
    work: pl.DataFrame, gaps: pl.DataFrame, communication: pl.DataFrame, ends: dict[int, pl.Series]
) -> pl.DataFrame:
    """Merged communication and copies, with the part that nothing more important hides: `exposed_ns`.

    Communication is exposed in the gaps between other work, which have their causes: `is_host` where the next work was
    not launched yet. Copies before the first and after the last kernel of a GPU are at its edge.
    """
    kernels = merged(work.filter(pl.col("kind") != COPY), ["place"])
    copies = work.filter(pl.col("kind") == COPY)
    by = ["place", "direction", "is_small"]
    apart = merged(in_order(copies.with_columns(pl.col("direction").cast(pl.String)), by), by)
    length = pl.col("end_ns") - pl.col("start_ns")
    apart = apart.with_columns(exposed_ns=length - time_within(kernels, apart, ["place"]))
    spans = kernels.group_by("place").agg(first=pl.col("start_ns").min(), last=pl.col("end_ns").max())
    is_edge = (pl.col("start_ns") < pl.col("first")) | (pl.col("end_ns") > pl.col("last"))
    apart = apart.join(spans, on="place", how="left", maintain_order="left")
    apart = apart.with_columns(is_edge=is_edge.fill_null(value=True))
    apart = _without_overlap(apart.drop("first", "last"), merged(copies, ["place"]), kernels)
    pieces = covered_pieces(gaps, communication, merged(work.filter(pl.col("kind") == COMPUTE), ["place"]))
    no, empty, no_direction = pl.lit(value=False), pl.lit(""), pl.lit(None, pl.String)
    pieces = pieces.with_columns(kind=pl.lit(COMMUNICATE, pl.UInt8), direction=no_direction, is_small=no, is_edge=no)
    apart = apart.with_columns(kind=pl.lit(COPY, pl.UInt8), follows=empty, blocker=empty, is_early=no, is_host=no)
    both = pl.concat(
        frame.select("place", *_PIECE_KEYS, "start_ns", "end_ns", "exposed_ns").with_columns(length_ns=length)
        for frame in (pieces, apart)
    )
    return both.with_columns(segment=_segments(both, ends, "start_ns"))


def _without_overlap(pieces: pl.DataFrame, copies: pl.DataFrame, kernels: pl.DataFrame) -> pl.DataFrame:
    """Copies of two directions at the same time count once: their parts are scaled to the time of all copies."""
    hidden = time_within(kernels, copies, ["place"])
    alone = copies.with_columns(alone_ns=pl.col("end_ns") - pl.col("start_ns") - hidden)
    alone = alone.group_by("place").agg(pl.col("alone_ns").sum())
    total = pl.col("exposed_ns").sum().over("place")
    scale = pl.when(total > pl.col("alone_ns")).then(pl.col("alone_ns") / total).otherwise(1.0)
    joined = pieces.join(alone, on="place", how="left", maintain_order="left")
    until = (pl.col("exposed_ns").cum_sum().over("place") * scale).round().cast(pl.Int64)  # no nanosecond gets lost
    return joined.with_columns(exposed_ns=until - until.shift(1, fill_value=0).over("place")).drop("alone_ns")


def _exposed_worst(exposed: pl.DataFrame, work: pl.DataFrame, host: Host) -> pl.DataFrame:
    """The longest exposed intervals of each kind, with the work that takes most of them and where it was launched."""
    rows = [
        exposed.filter(pl.col("kind") == kind, pl.col("exposed_ns") > 0).top_k(_WORST_COUNT, by="exposed_ns")
        for kind in (COMMUNICATE, COPY)
    ]
    chosen = pl.concat(rows).sort("place", "start_ns")
    columns = ("place", "kind", "start_ns", "end_ns", "name", "size_bytes", "launch_thread", "launch_start_ns")
    others = work.filter(pl.col("kind") != COMPUTE).select(columns)
    near = touching(others, merged(intervals(chosen, []), []))
    near = near.rename({"start_ns": "work_start_ns", "end_ns": "work_end_ns"})
    near = near.join(chosen.with_row_index("piece"), on=["place", "kind"])
    common = pl.min_horizontal("end_ns", "work_end_ns") - pl.max_horizontal("start_ns", "work_start_ns")
    longest = near.with_columns(common=common).filter(pl.col("common") > 0).sort("common", descending=True)
    named = longest.unique("piece", keep="first", maintain_order=True)
    named = named.drop("piece", "common", "work_start_ns", "work_end_ns").sort("start_ns")
    moments = named.select(thread="launch_thread", time_ns="launch_start_ns")
    named = named.with_columns(pl.col("name").cast(pl.String), stack=host.stacks(moments))
    return named.drop("launch_thread", "launch_start_ns")


def _gpu_times(work: pl.DataFrame, gaps: pl.DataFrame, exposed: pl.DataFrame, pace: dict[int, Pace]) -> pl.DataFrame:
    """One row per GPU with work: its window, counts of its work, and its time by kind of work."""
    is_kernel = pl.col("kind") != COPY
    # Equal numbers alone are no call that launched several kernels.
    is_later_of_launch = ~pl.col("is_first") & pl.col("launch_start_ns").is_not_null()
    is_of_graph = (pl.col("graph_exec").fill_null(0) != 0) | is_later_of_launch
    counts = {
        "dispatch_count": is_kernel,
        "copy_count": ~is_kernel,
        "graph_count": is_of_graph,
        "unlaunched_count": pl.col("launch_start_ns").is_null(),
    }
    delay = (pl.col("start_ns") - pl.col("launch_end_ns")).filter(pl.col("is_first") & is_kernel).median()
    sums = {name: condition.sum().cast(pl.Int64) for name, condition in counts.items()}
    parts = [work.group_by("place").agg(**sums, delay_ns=delay)]
    length = (pl.col("end_ns") - pl.col("start_ns")).sum()
    for name, kind in (("computation_ns", COMPUTE), ("communication_ns", COMMUNICATE), ("copy_ns", COPY)):
        of_kind = merged(work.filter(pl.col("kind") == kind), ["place"])
        parts.append(of_kind.group_by("place").agg(length.alias(name)))
    for name, kind in (("exposed_communication_ns", COMMUNICATE), ("exposed_copy_ns", COPY)):
        of_kind = exposed.filter(pl.col("kind") == kind)
        parts.append(of_kind.group_by("place").agg(pl.col("exposed_ns").sum().alias(name)))
    parts.append(gaps.group_by("place").agg(idle_ns=pl.col("gap_ns").sum()))
    times = dict.fromkeys(("whole_start_ns", "start_ns", "end_ns"), pl.Int64)
    gpus = pl.DataFrame(
        [(gpu.place, gpu.start_ns, gpu.steady_ns, gpu.end_ns, gpu.why) for gpu in pace.values()],
        schema={"place": pl.UInt32, **times, "startup": pl.String},
        orient="row",
    )
    for part in parts:
        gpus = gpus.join(part, on="place", how="left")
    names = [name for name, dtype in gpus.schema.items() if dtype == pl.Int64 and name.endswith(("_ns", "_count"))]
    return gpus.with_columns(pl.col(names).fill_null(0))


def _gpus(
    run: Run, gpu_index: GpuIndex, all_work: pl.DataFrame, host: Host, times: pl.DataFrame, work: pl.DataFrame
) -> pl.DataFrame:
    """The GPUs with who and where they are, the start of the run on their node, and pauses between its recordings."""
    processes = run.read("processes", ["process", "pid", "rank"]).join(machines(run), on="process", how="left")
    owners = all_work.group_by("place").agg(pl.col("process").mode().min())
    where = gpu_index.table.select("place", *GPU_KEY, "gpu", "node", "target", "product")
    gpus = (
        times.join(owners, on="place", how="left")
        .join(processes.select("process", "pid", "rank"), on="process", how="left")
        .join(where, on="place", how="left")
        .join(_origins(run, all_work, host, processes), on="machine", how="left")
        .sort("place")
    )
    on_nodes = work.join(gpus.select("place", "machine"), on="place")
    spans = on_nodes.group_by("machine", "interval").agg(pl.col("start_ns").min(), pl.col("end_ns").max())
    inside = (pl.col("end_ns") - pl.col("start_ns")).sum()
    apart = (pl.col("end_ns").max() - pl.col("start_ns").min() - inside).alias("apart_ns")
    pauses = spans.group_by("machine").agg(apart, recording_count=pl.len().cast(pl.Int64))
    gpus = gpus.join(pauses, on="machine", how="left", maintain_order="left")
    return gpus.with_columns(pl.col("apart_ns").fill_null(0))


def _origins(run: Run, work: pl.DataFrame, host: Host, processes: pl.DataFrame) -> pl.DataFrame:
    """Start of the run on each node (`origin_ns`), which times of --time count from."""
    parts = [
        work.group_by("process").agg(pl.col("start_ns").min()),
        host.calls.group_by("process").agg(pl.col("start_ns").min()),
    ]
    threads = run.read("threads", ["thread", "process"])
    others = host.others.group_by("thread").agg(pl.col("start_ns").min()).join(threads, on="thread", how="left")
    parts.append(others.select("process", "start_ns"))
    for table, column in (("allocations", "start_ns"), ("samples", "time_ns")):
        parts += [
            piece.group_by("process").agg(start_ns=pl.col(column).min())
            for piece in run.chunks(table, ["process", column])
        ]
    firsts = pl.concat(parts).join(processes, on="process", how="left")
    return firsts.group_by("machine").agg(origin_ns=pl.col("start_ns").min())


def _copies(work: pl.DataFrame) -> pl.DataFrame:
    """Copies by GPU and direction."""
    copies = work.filter(pl.col("kind") == COPY)
    copies = copies.with_columns(pl.col("direction").cast(pl.String), length_ns=pl.col("end_ns") - pl.col("start_ns"))
    rate = pl.col("size_bytes") / pl.col("length_ns").clip(1)
    is_large = pl.col("size_bytes") >= 1 << 20  # only these show what rate is possible
    return (
        copies.group_by("place", "direction")
        .agg(
            count=pl.len().cast(pl.Int64),
            small_count=(pl.col("size_bytes") < SMALL_BYTES).sum().cast(pl.Int64),
            sized_count=pl.col("size_bytes").count().cast(pl.Int64),
            size_bytes=pl.col("size_bytes").sum(),
            median_bytes=pl.col("size_bytes").median(),
            median_small=pl.col("is_small").cast(pl.Float64).median(),
            length_ns=pl.col("length_ns").sum(),
            sized_ns=pl.col("length_ns").filter(pl.col("size_bytes").is_not_null()).sum(),
            best_rate=rate.filter(is_large).max(),
        )
        .sort("place", "direction")
    )


def _calls(host: Host, pace: dict[int, Pace]) -> pl.DataFrame:
    """Calls by kind: how many, how long at least one thread was in one; and how many after the first step."""
    early_ns = min((gpu.early_ns for gpu in pace.values()), default=0)
    start_ns = min((gpu.steady_ns for gpu in pace.values()), default=0)
    end_ns = max((gpu.end_ns for gpu in pace.values()), default=0)
    outer = host.outer.with_columns(pl.col("start_ns", "end_ns").clip(start_ns, end_ns))
    outer = outer.filter(pl.col("end_ns") > pl.col("start_ns"))
    rows = []
    for number, name in enumerate(CALL_KINDS):
        of_kind = outer.filter(pl.col("kind") == number)
        times = merged(intervals(of_kind, []), [])
        time_ns = int((times["end_ns"] - times["start_ns"]).sum() or 0)
        rows.append((name, of_kind.height, time_ns, int((of_kind["start_ns"] >= early_ns).sum())))
    schema = {"kind": pl.String, "count": pl.Int64, "time_ns": pl.Int64, "late_count": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _compute_unit_counts(run: Run, gpu_index: GpuIndex) -> dict[int, int]:
    """The compute units of each GPU, where recorded."""
    agents = run.read("agents", ["agent", "cu_count"]).with_columns(place=gpu_index.numbers)
    units = agents.drop_nulls().filter(pl.col("cu_count") > 0)
    return dict(units.select("place", "cu_count").unique("place", keep="first").rows())


def _collectives(run: Run, gpu_index: GpuIndex, pace: dict[int, Pace], ends: dict[int, pl.Series]) -> pl.DataFrame:
    """The collectives after the start-up, with the GPU they ran on and the segment that they end."""
    rows = collective_rows(run if ends else Run([]))
    placed = rows.with_columns(place=gpu_index.numbers.gather(rows["agent"]))
    unknown = gpu_index.of_process.rename({"place": "other"})
    placed = placed.join(unknown, on="process", how="left", maintain_order="left")
    placed = placed.with_columns(place=pl.coalesce("place", "other")).drop("other")
    is_inside = (pl.col("start_ns") >= pace_of(pace, "steady_ns")) & (pl.col("start_ns") < pace_of(pace, "end_ns"))
    placed = placed.filter(is_inside.fill_null(value=True))
    return placed.with_columns(segment=_segments(placed, ends, "end_ns", side="left"))


def _clocks(run: Run, gpu_index: GpuIndex, work: pl.DataFrame) -> pl.DataFrame:
    """Clocks of each GPU while it is busy, weighted by time."""
    rows = _clock_rows(run)
    rows = rows.with_columns(place=gpu_index.numbers.gather(rows["agent"])).drop_nulls(["place", "value"])
    rows = intervals(rows, ["place"])
    busy = merged(work, ["place"])
    rows = rows.with_columns(busy_ns=time_within(busy, rows, ["place"]))
    rows = rows.filter(pl.col("busy_ns") > 0, pl.col("value") > 0)
    weighted = (pl.col("value") * pl.col("busy_ns")).sum() / pl.col("busy_ns").sum()
    return (
        rows.group_by("place")
        .agg(sample_count=pl.len().cast(pl.Int64), mean_mhz=weighted, max_mhz=pl.col("value").max())
        .sort("place")
    )


def _clock_rows(run: Run) -> pl.DataFrame:
    """Intervals of the clocks of all GPUs."""
    monitors = run.read("monitors", ["agent", "name", "start_ns", "end_ns", "value"])
    return monitors.filter(pl.col("name").cast(pl.String).str.contains(_CLOCKS).fill_null(value=False))


def _facts(run: Run, work: pl.DataFrame, host: Host, gpu_index: GpuIndex, *, is_window: bool) -> dict[str, Any]:
    """Facts that caveats and notes are about."""
    first = work["start_ns"].min()
    before = host.outer.filter(pl.col("start_ns") < first) if first is not None else host.outer.clear()
    allocated = before.filter(pl.col("kind") == CALL_KINDS.index("allocation"))
    agents = run.read("agents", ["agent", "kind"]).with_columns(place=gpu_index.numbers)
    visible = set(agents.filter(pl.col("kind") == "GPU")["place"].drop_nulls().to_list())
    used = set(work["place"].unique().to_list())
    texts = [text for text in run.read("processes", ["properties"])["properties"] if text]
    settings = sorted({match for text in texts for match in pl.Series([text]).str.extract_all(_SETTINGS)[0]})
    sources = run.read("sources", ["path", "format"])
    times = [time for time in (host.start_ns, work["start_ns"].min()) if time is not None]
    return {
        "path": sources["path"][0] if sources.height else "",
        "formats": sources["format"].to_list(),
        "tool_ns": host.tool_ns,
        "host_ns": 0 if host.start_ns is None or host.end_ns is None else host.end_ns - host.start_ns,
        "call_count": host.calls.height,
        "counter_count": run.count("counters"),
        "settings": settings,
        "unused_gpu_count": len(visible - used),
        "before_ns": int(first) - int(min(times)) if first is not None and times and not is_window else 0,  # type: ignore[arg-type]
        "allocated_before_ns": int((allocated["end_ns"] - allocated["start_ns"]).sum() or 0),
        "has_memory": bool(run.count("allocations")),
        "has_collectives": bool(collective_records(run).height),
        "has_sizes": bool(work["size_bytes"].count()),
        "has_grids": bool(work["grid_x"].count()),
        "clock_count": _clock_rows(run).height,
    }
