"""Do grid, passes and traced instructions account for the counters? A balance sheet, counter by counter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import ClassVar

import polars as pl

from wavewright.analysis.counters.choice import ALL_DISPATCHES, CounterChoice, chosen_dispatches, ranked_kernels
from wavewright.analysis.counters.l2.traffic import measure
from wavewright.base.words import percent
from wavewright.errors import UsageError
from wavewright.facts.counters.closure import PREDICTED_COUNTERS, counter_parts, known_defects
from wavewright.model.answer import Answer
from wavewright.model.counters import CounterSet
from wavewright.model.schema import frame_of

EXACT, WITHIN, IMPOSSIBLE, OTHER_RUN = "closes exactly", "closes within", "impossible", "not the same run"
UNKNOWN = "cannot tell"
_WAVES, _GROUPS = ("SQ_WAVES", "SPI_CSN_WAVE"), ("SPI_CSN_NUM_THREADGROUPS",)
_FACTORS = {0.0: "0", 0.5: "half", 2.0: "double"}  #: Measured over expected value that points to a defect -> its name.
_FACTOR_DIFFERS = 0.01  #: A ratio counts as one of `_FACTORS` if it is off by at most this share of the factor.
#: Where code branches, waves that were not traced explain a deviation by at most this share: the border of a grid of
#: 20 x 20 workgroups is a fifth of it, and takes half of the work or more.
_PATHS_DIFFER_MAX = 0.1
_AGREEING_MIN = 3  #: Counters that must agree before another can be the one that is wrong.
_KERNELS_MAX = 50  #: Only this many kernels are checked, those with the longest total duration.
_REUSE = "lines that L2 lost are read again, as far as orders of waves explain it"
_STORE_BYTES = "store_bytes"  #: Key of the bytes that a wave stores in `TracedWork.lane_costs`.
_PASSES_DIFFER_MAX = 0.05  #: Two passes agree about the work of a dispatch up to this share; so do runs in `l2`.
#: Counters of work, which neither time nor caches influence: all passes must agree about them.
_WORK = (*_WAVES, *_GROUPS, *PREDICTED_COUNTERS)


@dataclass(frozen=True)
class TracedWork:
    """Work of the whole waves that a thread trace shows of a kernel."""

    target: str | None
    wave_count: int
    wave_size: int | None
    grid_size: int | None  #: Work-items; None = not recorded.
    #: `wave`, `class` and `execution_count`; a barrier that was recorded twice counts once.
    executions: pl.DataFrame
    #: `PredictedCounter.lanes` -> mean of a wave, and whether counters proved the rule; absent if an access is unknown.
    lane_costs: Mapping[str, tuple[float, bool]]
    has_several_paths: bool  #: Whether the waves did not all execute the same number of instructions.
    has_branches: bool  #: Whether waves that were not traced may take another path.
    #: Counter of L2 -> what it counts, and its least and most value, from the lane addresses of all workgroups.
    fabric: Mapping[str, tuple[str, float, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Closure(Answer, package=__package__):
    """A balance sheet of counters: grid, passes and traced instructions against what was counted."""

    definition: ClassVar[str] = (
        "Expected: waves and workgroups from the grid; the same counter of another pass; and, with a thread trace, "
        "executions (LDS cycles, lookups of L1) of the traced waves x waves of the grid / traced waves. "
        f"{EXACT}: equal in every dispatch. {WITHIN}: between the traced wave with the least and that with the most, "
        f"or off by at most {100 * _PATHS_DIFFER_MAX:.0f} % where the code branches. {IMPOSSIBLE}: 0, half or double "
        f"while others close, or a part that exceeds its whole. {OTHER_RUN}: anything else, another grid or another "
        f"GPU. {UNKNOWN}: off by a rule that no counter has proven, or by partial workgroups. "
        "Counters that time decides (cycles, stalls, cache hits) are not predicted."
    )

    target: str | None
    kernel_count: int  #: With at least one counter that something accounts for.
    traced_wave_count: int | None  #: None = no thread trace was given.
    grid_wave_count: float | None  #: Waves of a dispatch of the traced kernel; None = no trace, or no grid.
    difference: str  #: Grid or GPU that trace and counters do not share; empty = none is known.
    counters: pl.DataFrame
    notes: tuple[str, ...]

    def of(self, verdict: str) -> list[str]:
        """Counters with a verdict, each once."""
        return self.counters.filter(pl.col("verdict") == verdict)["counter"].unique(maintain_order=True).to_list()

    @property
    def unusable(self) -> frozenset[str]:
        """Counters that do not close."""
        return frozenset((*self.of(IMPOSSIBLE), *self.of(OTHER_RUN)))


@dataclass(frozen=True)
class _Expected:
    """The value that a counter must have in each dispatch, and the one that it has."""

    counter: str
    label: str
    against: str
    values: pl.DataFrame  #: dispatch, measured, expected, least, most.
    may_branch: bool = False  #: Whether waves or passes may differ a little.
    is_proven: bool = True  #: Whether the rule behind the expectation was proven by counters.
    other_factors: tuple[float, ...] = ()  #: Multiples of the expected value at which the counter closes as well.
    wave_mean: float | None = None  #: Expected of one wave; None = it is not about waves.
    cause: str = "paths depend on data, the traced waves differ"  #: Of values between the least and the most.

    @property
    def means(self) -> dict[str, float]:
        """Mean of every column over the dispatches."""
        columns = ("measured", "expected", "least", "most")
        return dict(zip(columns, self.values.select(pl.col(columns).mean()).row(0), strict=True))

    @property
    def ratio(self) -> float | None:
        """Measured over expected."""
        means = self.means
        return means["measured"] / means["expected"] if means["expected"] else None

    @property
    def closes(self) -> bool:
        """True if every dispatch has the value that is expected; counters are integers."""
        return any(
            bool((self.values["measured"] - factor * self.values["expected"]).abs().max() < 0.5)  # type: ignore[operator]
            for factor in (1.0, *self.other_factors)
        )

    @property
    def fits(self) -> bool:
        """True if it closes, or lies between what the least and the most busy wave would make."""
        means = self.means
        return self.closes or means["least"] - 0.5 <= means["measured"] <= means["most"] + 0.5

    @property
    def is_near(self) -> bool:
        """True if it is off by no more than waves that were not traced, or another pass, explain."""
        limit = _PASSES_DIFFER_MAX if self.against == "pass" else _PATHS_DIFFER_MAX
        return self.may_branch and self.ratio is not None and abs(self.ratio - 1) <= limit

    @property
    def place(self) -> float | None:
        """Place between the traced waves with the least (0) and the most (1); None = they do not differ."""
        means = self.means
        width = means["most"] - means["least"]
        return (means["measured"] - means["least"]) / width if width > 0 else None


def _factor_of(ratio: float | None) -> float | None:
    """0, half or double; None = some other ratio."""
    if ratio is None:
        return None
    return next((factor for factor in _FACTORS if abs(ratio - factor) <= _FACTOR_DIFFERS * factor), None)


def closure(counters: CounterSet, *, choice: CounterChoice = ALL_DISPATCHES, work: TracedWork | None = None) -> Closure:
    """The balance sheet of the chosen kernels; with `work`, the choice must leave the kernel of the trace.

    Raises `UsageError` when a kernel, dispatch or GPU is asked for that the capture does not have, or several fit a
    trace.
    """
    choice_rows = chosen_dispatches(counters, choice)
    ranks = dict(ranked_kernels(counters.dispatches).select("kernel_name", "kernel").iter_rows())
    if work is not None and choice_rows["kernel_name"].n_unique() != 1:
        raise UsageError("counters of one kernel are compared with a thread trace", advice="choose it with --kernel")
    notes = _notes(counters, work)
    rows: list[dict[str, object]] = []
    grid_waves, difference = None, ""
    kernels = ranked_kernels(choice_rows)["kernel_name"]
    if kernels.len() > _KERNELS_MAX:
        notes = (*notes, f"the longest {_KERNELS_MAX} of {kernels.len():,} kernels; --kernel chooses others")
    fabric = work.fabric if work is not None else {}
    frames = {
        number: frame.select("dispatch", *(name for name in frame.columns if name in _WORK or name in fabric))
        for number, frame in sorted(counters.measured.items())
    }
    for name in kernels.head(_KERNELS_MAX):
        dispatches, difference = _same_launches(counters, choice_rows.filter(pl.col("kernel_name") == name), work)
        sheet = [entry for entry in _sheet(counters, frames, dispatches, work) if entry.values.height]
        difference = difference or _other_grid(sheet)
        rows += [{"kernel": ranks[name], "kernel_name": name} | row for row in _judged(sheet, difference, counters)]
        if work is not None and dispatches["waves"].count():
            grid_waves = dispatches["waves"].mean()
    return Closure(
        target=counters.system.target,
        kernel_count=len({row["kernel"] for row in rows}),
        traced_wave_count=work.wave_count if work else None,
        grid_wave_count=grid_waves if isinstance(grid_waves, float) else None,
        difference=difference,
        counters=frame_of(Closure.tables["counters"], rows),
        notes=notes,
    )


def _same_launches(counters: CounterSet, dispatches: pl.DataFrame, work: TracedWork | None) -> tuple[pl.DataFrame, str]:
    """The dispatches with the grid of the trace and their `waves` and `groups`, and why they are of another run."""
    counted_target = counters.system.target or ""
    usual_size = 64 if counted_target.startswith("gfx9") else 32 if counted_target else None
    wave_size = (work.wave_size if work else None) or counters.system.wave_size or usual_size
    difference = ""
    if work is not None:
        target = (work.target or "").split(":")[0]
        if target and counted_target and target != counted_target:
            difference = f"the trace is from {target}, the counters are from {counted_target}"
        same = dispatches.filter(pl.col("grid_size") == (work.grid_size or 0))
        sizes = dispatches["grid_size"].drop_nulls().unique().sort().to_list()
        if work.grid_size and sizes and not same.height:
            grids = " or ".join(f"{size:,}" for size in sizes[:3])
            difference = f"the traced grid has {work.grid_size:,} work-items, the counted one {grids}"
        dispatches = same if same.height else dispatches
    groups = (pl.col("grid_size") / pl.col("workgroup_size")).ceil()
    waves = groups * (pl.col("workgroup_size") / wave_size).ceil() if wave_size else pl.lit(None, pl.Float64)
    # Where workgroups may be partial, the number of work-items alone does not tell how many workgroups there are.
    is_sized = (pl.col("grid_size") > 0) & (pl.col("workgroup_size") > 0)
    is_sized &= pl.col("grid_size") % pl.col("workgroup_size") == 0
    columns = {"groups": pl.when(is_sized).then(groups), "waves": pl.when(is_sized).then(waves).cast(pl.Float64)}
    return dispatches.with_columns(**columns), difference


def _sheet(
    counters: CounterSet, passes: Mapping[int, pl.DataFrame], dispatches: pl.DataFrame, work: TracedWork | None
) -> Iterator[_Expected]:
    """Every counter that something accounts for."""
    launches = dispatches.select("dispatch", "waves", "groups")
    frames = {number: frame.join(launches, on="dispatch") for number, frame in passes.items()}
    is_cdna = (counters.system.target or "gfx9").startswith("gfx9")
    for counter, frame in _first(frames, _WAVES):
        values = _values(frame.drop_nulls("waves"), counter, pl.col("waves"))
        halves = (0.5,) if work is None and not is_cdna else ()  # RDNA may run waves of 64, half as many
        yield _Expected(counter, "waves of the grid", "grid", values, other_factors=halves)
    for counter, frame in _first(frames, _GROUPS):
        values = _values(frame.drop_nulls("groups"), counter, pl.col("groups"))
        yield _Expected(counter, "workgroups of the grid", "grid", values)
    if work is not None and work.wave_count and is_cdna:
        yield from _predicted(frames, work)
        yield from _bytes_written(counters, dispatches, work)
        for counter, frame in _first(frames, tuple(work.fabric)):
            label, least, most = work.fabric[counter]
            values = _values(frame, counter, *map(pl.lit, (least, least, most)))
            yield _Expected(counter, label, "trace", values, may_branch=True, is_proven=False, cause=_REUSE)
    for pair in counter_parts():
        for frame in (frame for frame in frames.values() if {pair.part, pair.total} <= set(frame.columns)):
            values = _values(frame.filter(pl.col(pair.part) > pl.col(pair.total)), pair.part, pl.col(pair.total))
            yield _Expected(pair.part, f"a part of {pair.total}", "counter", values)
    yield from _repeated(counters, frames)


def _first(frames: Mapping[int, pl.DataFrame], names: Sequence[str]) -> Iterator[tuple[str, pl.DataFrame]]:
    """Counters that some pass has, with the rows of the first such pass."""
    for name in names:
        for frame in frames.values():
            if name in frame.columns and (rows := frame.drop_nulls(name)).height:
                yield name, rows
                break


def _values(
    frame: pl.DataFrame, counter: str, value: pl.Expr, least: pl.Expr | None = None, most: pl.Expr | None = None
) -> pl.DataFrame:
    """The measured and the expected value of each dispatch; without bounds only the expected one is possible."""
    bounds = {"least": value if least is None else least, "most": value if most is None else most}
    return frame.select("dispatch", measured=pl.col(counter), expected=value, **bounds)


def _predicted(frames: Mapping[int, pl.DataFrame], work: TracedWork) -> Iterator[_Expected]:
    class_names = set(work.executions["class"].unique())
    may_branch = work.has_branches or work.has_several_paths
    for counter, frame in _first(frames, tuple(PREDICTED_COUNTERS)):
        fact = PREDICTED_COUNTERS[counter]
        is_proven = True
        if fact.lanes:
            if fact.lanes not in work.lane_costs:
                continue
            mean, is_proven = work.lane_costs[fact.lanes]
            least = most = mean
        elif fact.unless and any(name.startswith(fact.unless) for name in class_names.difference(fact.classes)):
            continue
        else:
            least, mean, most = _per_wave(work, fact.classes)
        values = _values(frame.drop_nulls("waves"), counter, *(n * pl.col("waves") for n in (mean, least, most)))
        yield _Expected(counter, fact.label, "trace", values, may_branch, is_proven, wave_mean=mean)


def _bytes_written(counters: CounterSet, dispatches: pl.DataFrame, work: TracedWork) -> Iterator[_Expected]:
    """Bytes written to memory, where `l2` measures them, against those that active lanes store."""
    waves = dispatches["waves"].mean()
    if not isinstance(waves, float) or _STORE_BYTES not in work.lane_costs:
        return
    part = replace(counters, tables={**counters.tables, "dispatches": dispatches.drop("waves", "groups")})
    for measurement in measure([part]):
        if measurement.metric == "write_bytes":
            lane_bytes = work.lane_costs[_STORE_BYTES][0] * waves
            mean_bytes = pl.DataFrame({"dispatch": [0], "bytes": [measurement.value]})  # of all dispatches
            values = _values(mean_bytes, "bytes", pl.lit(lane_bytes))
            label = "bytes that active lanes store"
            yield _Expected(measurement.formula, label, "trace", values, may_branch=True, is_proven=False)
            return


def _per_wave(work: TracedWork, classes: Sequence[str]) -> tuple[float, float, float]:
    """Least, mean and most executions of these classes by a traced wave."""
    rows = work.executions if "*" in classes else work.executions.filter(pl.col("class").is_in(classes))
    counts = rows.group_by("wave").agg(pl.col("execution_count").sum())["execution_count"].to_list()
    counts += [0] * (work.wave_count - len(counts))  # waves that execute none of them
    return float(min(counts)), sum(counts) / len(counts), float(max(counts))


def _repeated(counters: CounterSet, frames: Mapping[int, pl.DataFrame]) -> Iterator[_Expected]:
    """Counters of work that several passes have, against the first of them."""
    totals = counters.counters.filter(pl.col("channel").is_null())
    for counter, numbers in totals.group_by("counter", maintain_order=True).agg(pl.col("pass").sort()).iter_rows():
        if len(numbers) < 2 or counter not in _WORK:
            continue
        columns = [frames[number].select("dispatch", counter).drop_nulls() for number in numbers if number in frames]
        for column in columns[1:]:
            both = column.join(columns[0].rename({counter: "first"}), on="dispatch")
            values = _values(both, counter, pl.col("first"))
            yield _Expected(counter, f"the same in pass {numbers[0]}", "pass", values, may_branch=True)


def _other_grid(sheet: Sequence[_Expected]) -> str:
    """The difference, where waves and instructions are the same multiple of those of the recorded grid."""
    waves = next((entry.ratio for entry in sheet if entry.counter == "SQ_WAVES" and not entry.closes), None)
    ratios = [entry.ratio for entry in sheet if entry.wave_mean and entry.is_proven]
    if waves and ratios and all(ratio is not None and abs(ratio / waves - 1) <= _FACTOR_DIFFERS for ratio in ratios):
        return f"another grid: waves and instructions are {waves:.3g} times those of the recorded one"
    return ""


def _judged(sheet: Sequence[_Expected], difference: str, counters: CounterSet) -> Iterator[dict[str, object]]:
    """Verdicts: what neither closes nor lies between its bounds is a defect while others close, else another run."""
    predictions = [entry for entry in sheet if entry.against == "trace" and entry.is_proven]
    faults = {
        entry.counter: _factor_of(entry.ratio) if entry.place is None else _factor_beside(entry, predictions)
        for entry in predictions
        if not entry.closes
    }
    closing_count = sum(entry.fits and entry.means["expected"] > 0 for entry in predictions)
    # Of a defect there are fewer than of counters that close: where most are half, the run is another.
    defects = {factor for factor in _FACTORS if list(faults.values()).count(factor) < closing_count}
    unfit = [entry for entry in predictions if not (entry.fits or entry.is_near)]
    is_other = bool(difference) or any(faults[entry.counter] not in defects for entry in unfit)
    for entry in sheet:
        means = entry.means
        fault = faults.get(entry.counter) if entry in predictions else _factor_of(entry.ratio)
        verdict, reason = _verdict(entry, fault, counters, is_other=is_other, difference=difference)
        bounds = {"expected_min": means["least"], "expected_max": means["most"]}
        yield {
            **{name: getattr(entry, name) for name in ("counter", "label", "against", "ratio")},
            **{name: means[name] for name in ("expected", "measured")},
            **(bounds | {"verdict": verdict, "reason": reason}),
        }


def _factor_beside(entry: _Expected, predictions: Sequence[_Expected]) -> float | None:
    """The factor (0, half, double) by which a counter is off the mixture of paths that all others agree about."""
    places = [other.place for other in predictions if other is not entry and other.place is not None]
    if entry not in predictions or entry.place is None or len(places) < _AGREEING_MIN:
        return None
    middle, means = median(places), entry.means
    if any(abs(place - middle) > _PATHS_DIFFER_MAX for place in places):
        return None
    mixture = means["least"] + middle * (means["most"] - means["least"])
    return _factor_of(means["measured"] / mixture if mixture else None)


def _verdict(
    entry: _Expected, fault: float | None, counters: CounterSet, *, is_other: bool, difference: str
) -> tuple[str, str]:
    means, ratio = entry.means, entry.ratio
    if difference and (entry.against == "trace" or (entry.against == "grid" and not entry.closes)):
        return OTHER_RUN, difference
    if entry.closes:
        return EXACT, ""
    off = "" if ratio is None else percent(abs(ratio - 1))
    numbers = f"{means['measured']:,.0f} counted, {means['expected']:,.0f} expected"
    if entry.wave_mean and ratio is not None:
        numbers = f"{ratio * entry.wave_mean:,.4g} of a wave counted, {entry.wave_mean:,.4g} traced"
    if entry.against == "counter":
        total = entry.label.removeprefix("a part of ")
        return IMPOSSIBLE, f"more than {total}: {numbers}{_known(entry, fault, counters)}"
    is_told = entry.is_proven or fault == 0  # half or double may be the fault of a rule that nobody has proven
    if fault is not None and is_told and (entry.against != "trace" or not is_other):
        return IMPOSSIBLE, f"{_FACTORS[fault]}: {numbers}{_known(entry, fault, counters)}"
    if entry.fits:
        return WITHIN, f"{off}: {entry.cause}"
    if entry.against == "grid":
        return UNKNOWN, f"{numbers}: partial workgroups, or a defect"
    if entry.is_near and (not is_other or entry.wave_mean is None):
        reason = "waves that were not traced may take other paths, or the build is another"
        if entry.against == "pass":
            reason = "passes differ"
        elif entry.wave_mean is None and entry.against == "trace":
            reason = "partial lines, or bytes that are stored twice"
        return WITHIN, f"{off}: {reason}"
    if not entry.is_proven and not is_other:
        return UNKNOWN, f"{numbers}, by a rule that no counter has proven yet"
    return OTHER_RUN, numbers


def _known(entry: _Expected, factor: float | None, counters: CounterSet) -> str:
    """The known defect that explains it, for the end of a reason."""
    for defect in known_defects(entry.counter, counters.system.target):
        if factor in defect.factors:
            return f"; known: it {defect.words} ({defect.source})"
    return "; no such defect is on record"


def _notes(counters: CounterSet, work: TracedWork | None) -> tuple[str, ...]:
    """Known defects of counters that nothing here checks, and what is not checked for lack of facts."""
    counter_names = set(counters.counters["counter"].to_list())
    others = sorted(counter_names - set(_WAVES) - (set(PREDICTED_COUNTERS) if work else set()))
    notes = [
        f"{counter} is not checked here; known on this GPU: it {defect.words} ({defect.source})"
        for counter in others
        for defect in known_defects(counter, counters.system.target)
        if defect.targets
    ]
    if work is not None and not (counters.system.target or "gfx9").startswith("gfx9"):
        notes.append("what instructions count here nobody has published: only waves and passes are checked")
    if not counters.system.target:
        notes.append("the GPU is not known (--target): no wave size, no known defects")
    return tuple(notes)
