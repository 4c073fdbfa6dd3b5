"""States of the traced waves, in total and over time."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from wavewright import _core
from wavewright.analysis.common.time_bins import TimeBins, lengths_of, time_bins
from wavewright.analysis.trace.clocks import ClockAlignment, aligned, alignment, bins_of_trace
from wavewright.analysis.trace.parts import Question, added, answers, ask
from wavewright.base.bounds import BINS, bounded
from wavewright.model.answer import Answer
from wavewright.model.schema import STATES
from wavewright.model.trace import ThreadTrace

_ALL_BINS = (1 << 32) - 1  #: Bin of the sum over all time (kAllBins of timeline.hpp).
_OTHER_STATE = 5  #: The native core's number for any value that is no state.
_MAX_CELLS = 1 << 20  #: Values of all curves together at most: with many groups there are fewer bins.


@dataclass(frozen=True)
class States(Answer, package=__package__):
    """Time of the traced waves by state."""

    total: pl.DataFrame
    by_engine: pl.DataFrame
    by_kernel: pl.DataFrame
    over_time: pl.DataFrame
    start_cycles: int  #: Start of the first bin, on the aligned clock.
    end_cycles: int
    bin_cycles: int  #: Length of a bin; the last one may be shorter.
    bin_count: int
    clocks: ClockAlignment


@bounded(bins=BINS)
def states(trace: ThreadTrace, *, bins: int = 60) -> States:
    """Shares of the states over all waves, per shader engine and per kernel, and curves in at most `bins` time bins."""
    ask(trace, state_questions(bins))
    grid = _time_grid(trace, bins)
    curves = added(answers(trace, _curves_of_part, bins), ["se", "kind", "bin"])
    curves = curves.join(lengths_of(grid), on="bin", maintain_order="left")
    mean = pl.col("cycles") / pl.col("length")
    totals = added(answers(trace, _totals_of_part), ["se", "kernel", "kind", "bin"])
    totals = totals.filter(pl.col("bin") == _ALL_BINS)
    names = trace.kernels.select("kernel", name="demangled")
    by_kernel = _shares(totals, ["kernel"])
    by_kernel = by_kernel.join(names, on="kernel", how="left", maintain_order="left", nulls_equal=True)
    return States(
        total=_shares(totals, []),
        by_engine=_shares(totals, ["se"]),
        by_kernel=by_kernel.select("kernel", "name", "state", "cycles_total", "share"),
        over_time=curves.select("se", _named(), "bin", "start_cycles", cycles_total="cycles", wave_count_mean=mean),
        start_cycles=grid.start_cycles,
        end_cycles=grid.end_cycles,
        bin_cycles=grid.width_cycles,
        bin_count=grid.count,
        clocks=alignment(trace),
    )


def state_questions(bins: int) -> list[Question]:
    """Per-part questions of `states` (`parts`)."""
    return [(_curves_of_part, bins), (_totals_of_part,)]


def _time_grid(trace: ThreadTrace, bins: int) -> TimeBins:
    cells = max(1, trace.waves["se"].n_unique()) * len(STATES)
    return bins_of_trace(trace, min(bins, max(1, _MAX_CELLS // cells)))


def _curves_of_part(part: ThreadTrace, whole: ThreadTrace, bins: int) -> pl.DataFrame:
    """Cycles per shader engine, state and bin."""
    return _sums(part, whole, ["se"], _time_grid(whole, bins))


def _totals_of_part(part: ThreadTrace, whole: ThreadTrace) -> pl.DataFrame:
    """Cycles per shader engine, kernel and state."""
    return _sums(part, whole, ["se", "kernel"], time_bins(0, 0, 1))


def _sums(part: ThreadTrace, whole: ThreadTrace, keys: list[str], grid: TimeBins) -> pl.DataFrame:
    """Totals over the waves of a part from the native core, by `keys`, on the clock of the whole trace."""
    waves = aligned(whole, part.waves, "start_cycles", "end_cycles")
    groups = waves.select(keys).unique(maintain_order=True).sort(keys, nulls_last=True).with_row_index("group")
    numbered = waves.join(groups, on=keys, how="left", maintain_order="left", nulls_equal=True)
    spans = (numbered["first_state"].fill_null(0), numbered["state_count"].fill_null(0))
    places = (numbered["group"].cast(pl.UInt32), numbered["start_cycles"], *spans)
    lengths = (part.states["state"], part.states["duration_cycles"])
    sums = pl.DataFrame(_core.state_cycles(*places, *lengths, grid.numbers))
    return groups.join(sums, on="group", maintain_order="left_right").drop("group")


def _named() -> pl.Expr:
    names = STATES | {_OTHER_STATE: "OTHER"}
    return pl.col("kind").replace_strict(names, return_dtype=pl.String).alias("state")


def _shares(totals: pl.DataFrame, group: list[str]) -> pl.DataFrame:
    sums = totals.group_by(*group, "kind").agg(cycles_total=pl.col("cycles").sum())
    all_states = pl.col("cycles_total").sum().over(group) if group else pl.col("cycles_total").sum()
    return (
        sums.filter(pl.col("cycles_total") > 0)
        .with_columns(share=pl.col("cycles_total") / all_states)
        .sort(*group, "kind", nulls_last=True)
        .select(*group, _named(), "cycles_total", "share")
    )


def state_curves(trace: ThreadTrace, *, per_se: bool = True) -> pl.DataFrame:
    """Step functions: from `time_cycles` until the next row of the same curve, `wave_count` waves are in `state`.

    Columns: `se` (only with `per_se`), `state`, `time_cycles`, `wave_count`; sorted in that order. There is a row for
    every time at which an interval of the state starts or ends, even where the count stays the same.

    With `per_se=False` the shader engines are added up on their own clocks, which do not have the same zero: that is
    how AMD's tools write the curves, and only of use for comparing with them.
    """
    duration = pl.col("duration_cycles").cast(pl.Int64)
    # a running sum over all waves; less what it was before the wave, it is the time since the start of the wave
    state_ends = trace.states.lazy().with_columns(end=duration.cum_sum())
    firsts = state_ends.group_by("wave").agg(before=pl.col("end").first() - duration.first())
    waves = trace.waves.lazy().join(firsts, on="wave")
    starts_of_waves = waves.select("wave", "se", moved=pl.col("start_cycles") - pl.col("before"))
    intervals = state_ends.join(starts_of_waves, on="wave", maintain_order="left")
    intervals = intervals.with_columns(end=pl.col("end") + pl.col("moved"))
    curve = ["se", "state"] if per_se else ["state"]
    starts = intervals.select(*curve, time_cycles=pl.col("end") - duration, change=pl.lit(1, pl.Int64))
    ends = intervals.select(*curve, time_cycles=pl.col("end"), change=pl.lit(-1, pl.Int64))
    return (
        pl.concat([starts, ends])
        .group_by(*curve, "time_cycles")
        .agg(pl.col("change").sum())
        .sort(*curve, "time_cycles")
        .select(*curve, "time_cycles", wave_count=pl.col("change").cum_sum().over(curve))
        .collect()
    )
