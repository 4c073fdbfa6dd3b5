"""Steps of the processes of a run: ranges of a marker, steps of serving, calls of JAX, or repetitions of kernels.

`step_ranges` returns when each step begins and ends, and how it was found; `alike_steps` which steps do the same work.
Each way to find steps is a function of frames (`steps_by_marker`, `_calls_of_jitted`, `_repetition`); `_StepFinder`
reads what they need and tries them in their order.
"""

from __future__ import annotations

import re
from functools import cache, partial
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from wavewright.analysis.common.name_patterns import no_pattern, pattern_of
from wavewright.analysis.run.calls.markers import MARKER
from wavewright.analysis.run.measures.event_rows import rows_where
from wavewright.analysis.run.measures.intervals import covered, intervals
from wavewright.analysis.run.select.serving_steps import SERVING

if TYPE_CHECKING:
    from wavewright.model.run import Run

_COVERAGE_MIN = 0.8  #: Part of the time between first and last GPU work that steps must cover.
_OCCURRENCES_MIN = 3  #: A kernel repeats only if it runs at least so often.
#: A kernel is regular if its distances (kernels between two runs of it) deviate from their median by at most this part
#: of the median, taken as the median deviation.
_DEVIATION_MAX = 0.25
_COMPLETE_MIN = 0.9  #: The last repetition counts if it has at least this part of the usual number of kernels.
#: A number of occurrences can be that of the steps if it has at least this part of the support of the best supported.
_SUPPORT_MIN = 0.2
#: Two steps do the same work if kernels that both have take at least this part of the kernel time of each.
_COMMON_MIN = 0.9
#: A kernel does the same in two steps if the larger grid has at most so many times the lanes of the smaller: grids of
#: decoding grow with the text.
_LANE_RATIO_MAX = 2
_MOST_GROUPS = (
    64  #: Groups of alike steps that are searched, which bounds the time; each later step is a group of its own.
)
_PROFILER_STEP = r"^ProfilerStep"  #: How PyTorch's profiler begins the names of its steps.
_NUMBER = r"[#_ :.]*\d+$"  #: At the end of the name of a range that is a step.
SOURCES = ("marker given", "serving", "marker", "ProfilerStep", "jit", "repetition", "none")
#: A call of a function that JAX compiled; its kernels are of the module `jit_NAME`.
_JIT_NAME = r"^PjitFunction\((.+)\)$"
_MODULE = "hlo_module"
_RANGES = {"process": pl.UInt32, "name": pl.String, "start_ns": pl.Int64, "end_ns": pl.Int64}


class StepRanges(NamedTuple):
    """Steps of the processes of a run."""

    steps: pl.DataFrame  #: `process`, `name`, `start_ns`, `end_ns`, in the order of time.
    #: `process`, `source` (of `SOURCES`), `name`: the marker, or the kernel each step begins with.
    sources: pl.DataFrame


def step_ranges(run: Run, spans: pl.DataFrame, marker: str | None) -> StepRanges:
    """The steps of each process of `spans` (`process`, `start_ns`, `end_ns` of its GPU work).

    Steps are the ranges of `marker` (a name or /regular expression/) where it is given. Else the first of these that
    there is: markers that vLLM, SGLang and ATOM write around a step of serving, however few; the marker with most
    ranges that cover 80 % of the GPU work; ProfilerStep; the calls of the function of JAX that has 80 % of the work,
    each until the next; the repetition of kernels.
    """
    finder = _StepFinder(run)
    steps, sources = [pl.DataFrame(schema=_RANGES)], []
    for process, start_ns, end_ns in spans.select("process", "start_ns", "end_ns").sort("process").iter_rows():
        source, process_steps = finder.steps_of(process, start_ns, end_ns, marker)
        name = str(process_steps["name"][0]) if process_steps.height else None
        if source == "serving":
            name = "serving"
        elif source == "marker given":
            name = marker
        elif name is not None and source != "repetition":
            name = step_name(name)
        sources.append({"process": process, "source": source, "name": name})
        steps.append(process_steps.with_columns(process=pl.lit(process)).select(*_RANGES).cast(pl.Schema(_RANGES)))
    schema = {"process": pl.UInt32, "source": pl.String, "name": pl.String}
    return StepRanges(pl.concat(steps), pl.DataFrame(sources, schema=schema))


class _StepFinder:
    """The steps of each process of a run; what a way to find them needs is read when it is first tried."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._markers = _markers(run)
        self._markers_of = {key[0]: rows for key, rows in self._markers.partition_by("process", as_dict=True).items()}
        self._compiled_calls = cache(partial(_jitted, run))
        self._kernels = cache(partial(_kernels, run))

    def steps_of(self, process: int, start_ns: int, end_ns: int, marker: str | None) -> tuple[str, pl.DataFrame]:
        """The source (of `SOURCES`) and the steps of a process whose GPU work has these times."""
        markers = self._markers_of.get(process, self._markers.clear())
        serving = _outermost(markers.filter(pl.col("name").str.contains(SERVING)))
        if serving.height and marker is None:
            return "serving", serving
        source, steps = steps_by_marker(markers, start_ns, end_ns, marker)
        if source != "none" or marker is not None:
            return source, steps
        calls = _calls_of_jitted(self._compiled_calls().filter(pl.col("process") == process), end_ns)
        if calls.height:
            return "jit", calls
        kernels = self._kernels().get(process)
        repetitions = calls if kernels is None else _repetition(kernels)
        return ("repetition" if repetitions.height else "none"), repetitions


def in_steps(events: pl.DataFrame, steps: pl.DataFrame) -> pl.DataFrame:
    """The events (`process`, `at_ns`) whose time is in one of the steps (`process`, `step` and times), with `step`."""
    timed = events.filter(pl.col("at_ns").is_not_null() & pl.col("process").is_not_null()).sort("at_ns")
    ranges = steps.select("process", "step", at_ns="start_ns", until_ns="end_ns").sort("at_ns")
    placed = timed.join_asof(ranges, on="at_ns", by="process", check_sortedness=False)
    return placed.filter(pl.col("at_ns") < pl.col("until_ns"))


def step_name(name: str) -> str:
    """The name of a step without its number."""
    return re.sub(_NUMBER, "", name) or name


def marker_pattern(marker: str) -> str:
    """The regular expression of a marker: its name, or what stands between slashes.

    Raises `UsageError` when that is not a regular expression.
    """
    plain = "name a marker"
    pattern = pattern_of(marker, plain)
    if pattern is None:
        return f"^{re.escape(marker)}$"
    try:
        pl.select(pl.lit("").str.contains(pattern.pattern))
    except pl.exceptions.ComputeError as error:
        raise no_pattern(marker, error, plain) from error
    return pattern.pattern


def _markers(run: Run) -> pl.DataFrame:
    """Marker ranges with possible times."""
    columns = ["process", "thread", "domain", "name", "start_ns", "end_ns"]
    is_range = (pl.col("domain") == MARKER) & (pl.col("end_ns") > pl.col("start_ns"))
    ranges = rows_where(run, "regions", columns, is_range).drop("domain").drop_nulls(["process", "name"])
    return intervals(ranges.with_columns(pl.col("name").cast(pl.String)), ["process"])


def steps_by_marker(
    ranges: pl.DataFrame, start_ns: int, end_ns: int, marker: str | None = None
) -> tuple[str, pl.DataFrame]:
    """The source (of `SOURCES`) and the steps among the marker ranges of one process whose GPU work has these times.

    `ranges` have `thread`, `name`, `start_ns` and `end_ns`.
    """
    if marker is not None:
        steps = _outermost(ranges.filter(pl.col("name").str.contains(marker_pattern(marker))))
        return ("marker given" if steps.height else "none"), steps
    named = ranges.with_columns(base=pl.col("name").str.replace(_NUMBER, ""))
    inside = named.filter((pl.col("end_ns") > start_ns) & (pl.col("start_ns") < end_ns))
    inside = inside.with_columns(pl.col("start_ns", "end_ns").clip(start_ns, end_ns))
    repeated = inside.filter(pl.len().over("base") > 1)
    sums = covered(intervals(repeated, ["base"]), ["base"]).join(repeated.group_by("base").len(), on="base")
    covering = sums.filter(pl.col("covered_ns") >= _COVERAGE_MIN * (end_ns - start_ns))
    covering = covering.sort("len", "covered_ns", "base", descending=[True, True, False])
    for base in covering["base"]:
        steps = _outermost(named.filter(pl.col("base") == base))
        if steps.height > 1:
            return "marker", steps
    steps = _outermost(named.filter(pl.col("name").str.contains(_PROFILER_STEP)))
    return ("ProfilerStep" if steps.height > 1 else "none"), steps if steps.height > 1 else steps.clear()


def _outermost(ranges: pl.DataFrame) -> pl.DataFrame:
    """Ranges of the thread with most of them that do not start inside an earlier one."""
    if not ranges.height:
        return ranges
    thread = ranges.group_by("thread").len().sort(-pl.col("len").cast(pl.Int64), "thread")["thread"][0]
    of_thread = ranges.filter(pl.col("thread").eq_missing(thread)).sort("start_ns", -pl.col("end_ns"))
    reached = pl.col("end_ns").cum_max().shift(1)
    return of_thread.filter((pl.col("start_ns") >= reached).fill_null(value=True))


def _jitted(run: Run) -> pl.DataFrame:
    """Calls of functions that JAX compiled and whose kernels have most of the GPU time of their process."""
    columns = ["process", "thread", "name", "start_ns", "end_ns"]
    pieces = [pl.DataFrame(schema=_RANGES | {"thread": pl.UInt32}).select(columns)]
    for piece in run.chunks("regions", columns):
        if piece["name"].unique().cast(pl.String).str.contains(_JIT_NAME).any():
            names = piece.with_columns(pl.col("name").cast(pl.String).str.extract(_JIT_NAME)).drop_nulls("name")
            pieces.append(names.select(columns))
    calls = pl.concat(pieces)
    if not calls.height:
        return calls
    module = pl.col("properties").str.json_path_match(f"$.{_MODULE}")
    length = (pl.col("end_ns") - pl.col("start_ns")).clip(lower_bound=0)
    times = [
        piece.select("process", name=module, ns=length).drop_nulls().group_by("process", "name").agg(pl.col("ns").sum())
        for piece in run.chunks("dispatches", ["process", "start_ns", "end_ns", "properties"])
    ]
    if not times:  # nothing but copies
        return calls.clear()
    sums = pl.concat(times).group_by("process", "name").agg(pl.col("ns").sum())
    most = sums.filter(pl.col("ns") >= _COVERAGE_MIN * pl.col("ns").sum().over("process"))
    return calls.join(most.with_columns(pl.col("name").str.strip_prefix("jit_")), on=["process", "name"], how="semi")


def _calls_of_jitted(calls: pl.DataFrame, end_ns: int) -> pl.DataFrame:
    """Each call until the next one, which it may run beside; the last until the GPU is done."""
    steps = _outermost(calls).sort("start_ns")
    if steps.height < 2:
        return steps.clear()
    return steps.with_columns(end_ns=pl.col("start_ns").shift(-1, fill_value=max(end_ns, steps["end_ns"][-1])))


def _kernels(run: Run) -> dict[int, pl.DataFrame]:
    """Per process its kernels in the order of time: `name`, `start_ns`, `end_ns`."""
    columns = ["process", "name", "start_ns", "end_ns"]
    pieces = list(run.chunks("dispatches", columns))
    if not pieces:
        return {}
    timed = intervals(pl.concat(pieces).filter(pl.col("process").is_not_null()), ["process"])
    return {key[0]: frame for key, frame in timed.partition_by("process", as_dict=True).items()}


def _repetition(kernels: pl.DataFrame) -> pl.DataFrame:
    """Steps from kernels that come once in each: the fewest regular occurrences that several kernels have in common.

    A kernel is regular if the kernels between its occurrences are about as many each time, in most of the recording.
    The *support* of a number of occurrences are the regular kernels with as many, or one more: a recording may cut a
    step. The first of them begins each step.
    """
    empty = pl.DataFrame(schema={"name": pl.String, "start_ns": pl.Int64, "end_ns": pl.Int64})
    rows = kernels.select("name", "start_ns").with_row_index("place")
    distance = pl.col("place").cast(pl.Int64).diff()
    names = (
        rows.group_by("name")
        .agg(count=pl.len(), first=pl.col("place").first(), last=pl.col("place").last(), distances=distance)
        .filter((pl.col("count") >= _OCCURRENCES_MIN) & pl.col("name").is_not_null())
        .with_columns(median=pl.col("distances").list.median())
        .with_columns(
            deviation=(pl.col("distances") - pl.col("median")).list.eval(pl.element().abs()).list.median(),
            reach=pl.col("last") - pl.col("first") + pl.col("median"),  # kernels from its first to its last step
        )
    )
    is_regular = (pl.col("deviation") <= _DEVIATION_MAX * pl.col("median")) & (pl.col("median") > 1)
    regular = names.filter(is_regular, pl.col("reach") >= _COVERAGE_MIN * rows.height)
    if not regular.height:
        return empty
    counts = regular.group_by("count").agg(exact=pl.len()).sort("count")
    has_one_more = pl.col("count").shift(-1) == pl.col("count") + 1
    one_more = pl.when(has_one_more).then(pl.col("exact").shift(-1)).otherwise(0)
    support = counts.with_columns(support=pl.col("exact") + one_more)
    needed = max(1.0, _SUPPORT_MIN * float(support["support"].max()))  # type: ignore[arg-type]
    count = support.filter(pl.col("support") >= needed)["count"][0]
    anchor = regular.filter(pl.col("count").is_in([count, count + 1])).sort("first").row(0, named=True)
    places = rows.filter(pl.col("name") == anchor["name"])
    starts = places["start_ns"].to_list()
    ends = [*starts[1:], int(kernels["end_ns"].max())]  # type: ignore[arg-type]
    in_last = rows.height - int(places["place"][-1])
    if in_last < _COMPLETE_MIN * anchor["median"]:  # cut off by the end of the recording
        starts, ends = starts[:-1], ends[:-1]
    name = str(anchor["name"])
    return pl.DataFrame({"name": [name] * len(starts), "start_ns": starts, "end_ns": ends}, schema=empty.schema)


def lanes_of_grid() -> pl.Expr:
    """The lanes of the grid of a kernel; 1 where it is not recorded."""
    x, y, z = (pl.col(f"grid_{axis}").fill_null(1).cast(pl.Float64) for axis in "xyz")
    return x * y * z


def alike_steps(kernels: pl.DataFrame, count: int) -> pl.Series:
    """For each of `count` steps the number of the first one that does the same work.

    `kernels` have `step`, `name`, `total_ns` and `lanes` (of all grids together). Two steps do the same where kernels
    of both take most of the time of each, in grids of about the same size: prefill and decode are two kinds of steps.

    >>> kernels = pl.DataFrame({"step": [0, 1, 2], "name": ["k"] * 3, "total_ns": [9, 1, 1], "lanes": [800, 64, 64]})
    >>> alike_steps(kernels, 3).to_list()
    [0, 1, 1]
    """
    rows = kernels.select("step", "name", "total_ns", pl.col("lanes").clip(1)).sort("step", "name")
    work = rows.group_by("step").agg("name", "lanes", pl.col("total_ns").sum())
    all_steps = pl.DataFrame({"step": pl.int_range(count, eager=True)})
    steps = all_steps.join(work, on="step", how="left", maintain_order="left")
    # A candidate stands for all steps with exactly its names and lanes. Each round takes the first candidate that is
    # left, and all candidates that are alike to it into its group.
    firsts = steps.select("step", pl.col("total_ns").fill_null(0), first=pl.col("step").first().over("name", "lanes"))
    group_of_first: dict[int, int] = {}
    candidates = firsts.filter(pl.col("step") == pl.col("first"))
    for _ in range(_MOST_GROUPS):
        if not candidates.height:
            break
        first, length_ns, _ = candidates.row(0)
        rows = rows.join(candidates, on="step", how="semi")
        of_first = rows.filter(pl.col("step") == first).select("name", first_ns="total_ns", first_lanes="lanes")
        fewer_lanes, more_lanes = pl.min_horizontal("lanes", "first_lanes"), pl.max_horizontal("lanes", "first_lanes")
        common = rows.join(of_first, on="name", nulls_equal=True).filter(more_lanes <= _LANE_RATIO_MAX * fewer_lanes)
        sums = common.group_by("step").agg(common_ns=pl.col("total_ns").sum(), first_common_ns=pl.col("first_ns").sum())
        alike = candidates.join(sums, on="step", how="left").filter(
            pl.col("common_ns").fill_null(0) >= _COMMON_MIN * pl.col("total_ns"),
            pl.col("first_common_ns").fill_null(0) >= _COMMON_MIN * length_ns,
        )
        group_of_first |= dict.fromkeys(alike["step"], first)
        candidates = candidates.join(alike, on="step", how="anti", maintain_order="left")
    return firsts["first"].replace(list(group_of_first), list(group_of_first.values()))
