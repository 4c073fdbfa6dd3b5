"""What changed between runs: which kernels, copies and calls got slower or faster, came or went, beyond noise?"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from wavescope.analysis.common.noise import LEAST_CHANGE, MEAN_TAIL, RUN_FALSE_ALARMS, difference_bound, t_bound
from wavescope.analysis.run.batches import Batches, batches_of, means
from wavescope.analysis.run.events import EXTENTS
from wavescope.analysis.run.summary import GPU_DOMAINS, wall_of
from wavescope.base.words import percent, side_label
from wavescope.errors import UsageError
from wavescope.model.answer import Answer
from wavescope.model.schema import empty_frame, frame_of, table_spec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from wavescope.model.run import Run
    from wavescope.model.schema import TableSpec

#: What counts as a change; other things are `same`, or `unknown` where too few calls tell nothing about noise.
CHANGES = ("slower", "faster", "new", "gone", "more calls", "fewer calls")

#: Changes of a mean below this share are not reported without repeated runs: runs differ so much by themselves.


@dataclass(frozen=True)
class Renamed:
    """A kernel of a side that was compared with one of the base under another name."""

    side: int
    base_name: str
    name: str


@dataclass(frozen=True)
class RunComparison(Answer):
    """Runs against the first of them."""

    definition: ClassVar[str] = (
        "Things are matched by domain and name: kernels, kinds of copies and allocations, functions, marker ranges. "
        "Amounts are per run, or per step where a marker range says what a step is (of all processes: total over "
        "number of steps). delta = work + speed: work = (calls - base calls) x base mean, speed = calls x (mean - base "
        "mean). noise is what the means of equal runs would differ by: Student's t (1 % for all things of the "
        "comparison together) times the standard error of both means, each the larger of that of single calls and "
        "that of 8 to 64 time bins; with repeated runs at least Student's t (95 %) times the deviation of "
        "their means; without them at least 1 % of the mean, because runs differ so much by themselves. Numbers of "
        "calls are taken as random, with processes that do the same: a variance of calls times processes."
    )
    tables: ClassVar[Mapping[str, TableSpec]] = {
        "sides": table_spec(
            "sides",
            "one side of the comparison; the first is the base",
            """
            side           Int64    -   | number of the side
            label          String   -   | its name: A, B, ...
            process_count  Int64    -   | processes
            step_count     Int64    -   | steps of all processes; 1 = the whole run is the unit
            gpu_ns         Float64  ns  | time of kernels and copies per unit
            wall_ns        Int64    ns  | from the first event to the last, on the node where that took longest
            change         Float64  -   | of the GPU time against the base
            """,
        ),
        "things": table_spec(
            "things",
            "one thing on one side against the base, the largest effect first",
            """
            side          Int64    -   | sides.side
            domain        String   -   | KERNEL, COPY, ... or the kind of call
            name          String   -   | its name
            status        String   -   | slower, faster, new, gone, more calls, fewer calls, same or unknown
            base_calls    Float64  -   | calls per unit of the base
            calls         Float64  -   | calls per unit
            base_mean_ns  Float64  ns  | mean duration of the base
            mean_ns       Float64  ns  | mean duration
            change        Float64  -   | change of the mean duration
            noise         Float64  -   | what the change must exceed, up or down; null = not known
            base_ns       Float64  ns  | time per unit of the base
            time_ns       Float64  ns  | time per unit
            delta_ns      Float64  ns  | difference of the time per unit
            work_ns       Float64  ns  | of this, by more or fewer calls
            speed_ns      Float64  ns  | of this, by longer or shorter calls
            delta_share   Float64  -   | delta of the base's GPU time; null for what is not GPU time
            """,
        ),
    }

    sides: pl.DataFrame
    things: pl.DataFrame
    step: str | None  #: Marker range that is a step; None = the unit is the run.
    repeat_count: int  #: Repeated runs of the base that the noise was measured with.
    renamed: tuple[Renamed, ...] = ()  #: Kernels that were compared although their names differ.

    def changes(self, side: int) -> pl.DataFrame:
        """The things that changed on a side."""
        return self.things.filter((pl.col("side") == side) & pl.col("status").is_in(CHANGES))

    def may_be_renamed(self, side: int) -> bool:
        """Whether one kernel is new on a side and one is gone, which may be the same under another name."""
        kernels = self.things.filter((pl.col("side") == side) & (pl.col("domain") == "KERNEL"))
        return all((kernels["status"] == status).sum() == 1 for status in ("new", "gone"))

    def verdict(self, side: int) -> str:
        """What changed on a side, in one sentence."""
        row = self.sides.row(side, named=True)
        on_gpu = self.changes(side).filter(pl.col("domain").is_in(GPU_DOMAINS))
        base = self.sides.row(0, named=True)
        unit = "step" if self.step else "run"
        change = "" if row["change"] is None else f", {percent(row['change'], sign=True)}"
        times = f"{_ms(base['gpu_ns'])} -> {_ms(row['gpu_ns'])} per {unit}{change}"
        headline = f"{row['label']} against {base['label']}: GPU time {times}"
        if not on_gpu.height:
            return f"{headline}; no kernel and no copy changed beyond noise"
        parts = [
            f"{rows.height:,} {name} ({_signed(float(rows['delta_ns'].sum()))})"
            for name in CHANGES
            if (rows := on_gpu.filter(pl.col("status") == name)).height
        ]
        return f"{headline}; " + ", ".join(parts)


def partial_compare(run: Run) -> Batches:
    """What one run contributes to its side."""
    return batches_of(run)


def combine_compare(
    sides: Sequence[Sequence[Batches]],
    *,
    labels: Sequence[str] | None = None,
    repeats: Sequence[Sequence[Batches]] = (),
    step: str | None = None,
    force: bool = False,
) -> RunComparison:
    """Sides against the first.

    Parameters
    ----------
    sides
        The partial results of every side: of the files of its ranks.
    labels
        Names of the sides; None = A, B, ...
    repeats
        Repeated runs of the first side, to measure noise.
    step
        The marker range that is a step: its name, or a /regular expression/ for it; None = the unit is the run.
    force
        Whether a kernel that only the base has is compared with one that only a side has, if it is one each.

    Raises
    ------
    UsageError
        When there are fewer than two sides, or a side has no such step.
    """
    if len(sides) < 2:
        raise UsageError("a comparison needs two runs", advice="give a second PATH")
    names = list(labels or (side_label(number) for number in range(len(sides))))
    means_of_sides = [means(side) for side in sides]
    renamed = _renamed(means_of_sides) if force else ()
    for pair in renamed:
        means_of_sides[pair.side] = _with_name(means_of_sides[pair.side], pair.name, pair.base_name)
    counts = [_steps(rows, name, step) for rows, name in zip(means_of_sides, names, strict=True)]
    spread = _run_noise([means_of_sides[0], *(means(run) for run in repeats)]) if repeats else None
    base = _per_unit(means_of_sides[0], counts[0])
    base_gpu = _gpu(base)
    alike = [sum(part.process_count for part in side) for side in sides]
    things = [
        _compared(number, base, _per_unit(rows, counts[number]), base_gpu, spread, (alike[0], alike[number]))
        for number, rows in enumerate(means_of_sides)
        if number
    ]
    gpu_times = [_gpu(_per_unit(rows, count)) for rows, count in zip(means_of_sides, counts, strict=True)]
    rows = [
        {
            "side": number,
            "label": names[number],
            "process_count": alike[number],
            "step_count": counts[number],
            "gpu_ns": gpu_times[number],
            "change": gpu_times[number] / base_gpu - 1 if base_gpu else None,
            "wall_ns": wall_of(pl.concat([empty_frame(EXTENTS), *(part.extents for part in side)])),
        }
        for number, side in enumerate(sides)
    ]
    return RunComparison(
        sides=frame_of(RunComparison.tables["sides"], rows),
        things=pl.concat(things),
        step=step,
        repeat_count=len(repeats),
        renamed=renamed,
    )


def _renamed(sides: Sequence[pl.DataFrame]) -> tuple[Renamed, ...]:
    """Sides that lack one kernel of the base and have one that the base lacks."""
    names = [set(side.filter(pl.col("domain") == "KERNEL")["name"].to_list()) for side in sides]
    pairs = []
    for number, others in enumerate(names):
        gone, new = names[0] - others, others - names[0]
        if len(gone) == len(new) == 1:
            pairs.append(Renamed(number, *gone, *new))
    return tuple(pairs)


def _with_name(rows: pl.DataFrame, name: str, other: str) -> pl.DataFrame:
    """The kernel `name` under another name."""
    is_it = (pl.col("domain") == "KERNEL") & (pl.col("name") == name)
    return rows.with_columns(name=pl.when(is_it).then(pl.lit(other)).otherwise(pl.col("name")))


def compare_runs(runs: Sequence[Run], **options: Any) -> RunComparison:
    """Runs against the first of them; `options` as for `combine_compare`."""
    return combine_compare([[partial_compare(part) for part in run.parts] for run in runs], **options)


def _steps(rows: pl.DataFrame, label: str, step: str | None) -> int:
    """How many steps a side has."""
    if step is None:
        return 1
    pattern = _pattern(step)
    ranges = rows.filter(pl.col("domain") == "MARKER").select("name", "calls").rows()
    count = sum(calls for name, calls in ranges if (pattern.search(name) if pattern else name == step))
    if not count:
        what = f"{label} has no marker range {step!r}"
        named = ", ".join(repr(name) for name, _ in sorted(ranges, key=lambda row: (-row[1], row[0]))[:5])
        raise UsageError(what, advice=f"its marker ranges: {named}" if named else "it has no marker ranges at all")
    return int(count)


def _pattern(step: str) -> re.Pattern[str] | None:
    if len(step) <= 2 or not (step.startswith("/") and step.endswith("/")):
        return None
    try:
        return re.compile(step[1:-1])
    except (re.error, OverflowError, RecursionError) as error:
        what = f"{step!r} is not a regular expression ({error})"
        raise UsageError(what, advice="leave out the slashes to name a marker range") from error


def _per_unit(rows: pl.DataFrame, units: int) -> pl.DataFrame:
    return rows.with_columns(
        raw_calls="calls", per_unit=pl.col("calls") / units, time=pl.col("total_ns").fill_null(0) / units
    )


def _gpu(rows: pl.DataFrame) -> float:
    return float(rows.filter(pl.col("domain").is_in(GPU_DOMAINS)).sort("domain", "name")["time"].sum())


def _run_noise(runs: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """How far the mean of a thing in one more run may be from that of the base, by the spread between repeated runs."""
    together = pl.concat(run.select("domain", "name", "mean_ns") for run in runs)
    bounds = {count: t_bound(MEAN_TAIL, count - 1) for count in range(2, len(runs) + 1)}
    statistics = together.group_by(_THING).agg(count=pl.col("mean_ns").count(), deviation=pl.col("mean_ns").std())
    bound = pl.col("count").replace_strict(bounds, default=None, return_dtype=pl.Float64)
    return statistics.select(*_THING, run_noise_ns=bound * pl.col("deviation"))


def _compared(
    number: int,
    base: pl.DataFrame,
    side: pl.DataFrame,
    base_gpu: float,
    run_noise: pl.DataFrame | None,
    process_counts: tuple[int, int],
) -> pl.DataFrame:
    """The things of one side against those of the base."""
    both = base.rename(lambda name: name if name in _THING else f"base_{name}").join(
        side, on=_THING, how="full", coalesce=True, maintain_order="left_right"
    )
    amounts = [name for column in ("raw_calls", "per_unit", "time") for name in (column, f"base_{column}")]
    rows = both.with_columns(pl.col(amounts).fill_null(0))
    rows = _with_noise(rows, run_noise)
    difference = pl.col("mean_ns") - pl.col("base_mean_ns")
    delta = pl.col("time") - pl.col("base_time")
    speed = (pl.col("per_unit") * difference).fill_null(0.0)
    is_both = (pl.col("raw_calls") > 0) & (pl.col("base_raw_calls") > 0)
    with_status = rows.with_columns(status=_status(rows.height, *process_counts), delta_ns=delta).with_columns(
        speed_ns=pl.when(is_both).then(speed).otherwise(0.0)
    )
    on_gpu = pl.col("domain").is_in(GPU_DOMAINS)
    return (
        with_status.sort(~on_gpu, -pl.col("delta_ns").abs(), *_THING)
        .select(
            *_THING,
            "status",
            "mean_ns",
            "base_mean_ns",
            "delta_ns",
            "speed_ns",
            side=pl.lit(number, pl.Int64),
            base_calls="base_per_unit",
            calls="per_unit",
            change=pl.when(pl.col("base_mean_ns") > 0).then(difference / pl.col("base_mean_ns")),
            noise=pl.when(pl.col("base_mean_ns") > 0).then(pl.col("noise_ns") / pl.col("base_mean_ns")),
            base_ns="base_time",
            time_ns="time",
            work_ns=pl.col("delta_ns") - pl.col("speed_ns"),
            delta_share=pl.when(on_gpu & (base_gpu > 0)).then(pl.col("delta_ns") / (base_gpu or 1.0)),
        )
        .select(RunComparison.tables["things"].names)
    )


_THING = ("domain", "name")


def _with_noise(rows: pl.DataFrame, run_noise: pl.DataFrame | None) -> pl.DataFrame:
    """The rows with `noise_ns`: of their calls, and of repeated runs or, where there are none, a share of the mean."""
    rows = rows.with_columns(_noise(rows))
    if run_noise is not None:
        return rows.join(run_noise, on=_THING, how="left", maintain_order="left").with_columns(
            noise_ns=pl.max_horizontal("noise_ns", "run_noise_ns")
        )
    floor = LEAST_CHANGE * pl.col("base_mean_ns")
    is_known = pl.col("noise_ns").is_not_null()
    return rows.with_columns(noise_ns=pl.when(is_known).then(pl.max_horizontal("noise_ns", floor)))


def _noise(rows: pl.DataFrame) -> pl.Series:
    """What the means of equal runs may differ by; null where a side has too few calls to tell."""
    tail = RUN_FALSE_ALARMS / max(rows.height, 1)
    bounds: list[float | None] = []
    for base, base_degrees, other, degrees in rows.select(
        "base_error_ns", "base_degrees", "error_ns", "degrees"
    ).rows():
        is_known = base is not None and other is not None
        bounds.append(difference_bound(tail, (base, base_degrees), (other, degrees)) if is_known else None)
    return pl.Series("noise_ns", bounds, dtype=pl.Float64)


def _status(height: int, base_processes: int, processes: int) -> pl.Expr:
    calls, base = pl.col("raw_calls"), pl.col("base_raw_calls")
    difference = pl.col("mean_ns") - pl.col("base_mean_ns")
    scale = pl.when(pl.col("base_per_unit") > 0).then(base / pl.col("base_per_unit")).otherwise(1.0)
    side_scale = pl.when(pl.col("per_unit") > 0).then(calls / pl.col("per_unit")).otherwise(1.0)
    more = pl.col("per_unit") - pl.col("base_per_unit")
    noise = t_bound(RUN_FALSE_ALARMS / max(height, 1), 10**6) * (
        (base_processes * base / scale**2 + processes * calls / side_scale**2).sqrt()
    )
    return (
        pl.when(base == 0)
        .then(pl.lit("new"))
        .when(calls == 0)
        .then(pl.lit("gone"))
        .when(difference > pl.col("noise_ns"))
        .then(pl.lit("slower"))
        .when(-difference > pl.col("noise_ns"))
        .then(pl.lit("faster"))
        .when(more > noise)
        .then(pl.lit("more calls"))
        .when(-more > noise)
        .then(pl.lit("fewer calls"))
        .when(pl.col("noise_ns").is_null())
        .then(pl.lit("unknown"))
        .otherwise(pl.lit("same"))
    )


def _ms(nanoseconds: float) -> str:
    return f"{nanoseconds / 1e6:,.3f} ms"


def _signed(nanoseconds: float) -> str:
    return f"{nanoseconds / 1e6:+,.3f} ms"
