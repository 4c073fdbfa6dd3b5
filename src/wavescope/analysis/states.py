"""What do the traced waves do, in all and over time?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from wavescope.analysis._time_bins import aligned, bins_of_trace, lengths_of, time_bins
from wavescope.analysis.clocks import alignment
from wavescope.model.answer import Answer
from wavescope.model.bounds import BINS, bounded
from wavescope.model.schema import STATES, table_spec

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from wavescope.analysis._time_bins import TimeBins
    from wavescope.analysis.clocks import ClockAlignment
    from wavescope.model import ThreadTrace
    from wavescope.model.schema import TableSpec

__all__ = ["States", "states"]

_ALL_BINS = (1 << 32) - 1
_OTHER_STATE = 5  # what the native core calls any other value
_MAX_CELLS = 1 << 20
_SHARES = """\
state          String   -       | IDLE, EXEC, WAIT, STALL (EMPTY: not yet or no longer there)
cycles_total   Int64    cycles  | wave-cycles in the state
share          Float64  -       | of the wave-cycles of the group
"""


@dataclass(frozen=True)
class States(Answer):
    """How the traced waves spend their time.

    Examples
    --------
    >>> from wavescope.model import ThreadTrace, TraceSource
    >>> states(ThreadTrace({}, TraceSource(path="nothing"))).total.height
    0
    """

    definition: ClassVar[str] = (
        "Every wave of a traced CU is in one state at any cycle: idle (nothing to issue), exec (issuing), wait (at a "
        "wait instruction), stall (wants to issue, cannot). Cycles are added up over waves; shares are of all "
        "wave-cycles of the group. Curves are means over equal stretches of time, with the clocks of the shader "
        "engines aligned."
    )
    tables: ClassVar[Mapping[str, TableSpec]] = {
        "total": table_spec("total", "one state", _SHARES),
        "by_engine": table_spec(
            "by_engine", "one state on one shader engine", "se UInt16 - | shader engine\n" + _SHARES
        ),
        "by_kernel": table_spec(
            "by_kernel",
            "one state of the waves of one kernel",
            "kernel UInt32 - | kernels.kernel; null = entry not known\nname String - | kernels.demangled\n" + _SHARES,
        ),
        "over_time": table_spec(
            "over_time",
            "one state on one shader engine in one stretch of time in which it occurs",
            """
            se               UInt16   -       | shader engine
            state            String   -       | state
            bin              UInt32   -       | number of the stretch
            begin_cycles     Int64    cycles  | its begin, aligned
            cycles_total     Int64    cycles  | wave-cycles in the state
            wave_count_mean  Float64  waves   | mean number of waves in the state
            """,
        ),
    }

    total: pl.DataFrame
    by_engine: pl.DataFrame
    by_kernel: pl.DataFrame
    over_time: pl.DataFrame
    begin_cycles: int
    """Begin of the first stretch, on the aligned clock."""
    end_cycles: int
    bin_cycles: int
    """Length of a stretch; the last one may be shorter."""
    bin_count: int
    clocks: ClockAlignment


@bounded(bins=BINS)
def states(trace: ThreadTrace, *, bins: int = 60) -> States:
    """Shares of the states over all waves, per shader engine and per kernel, and curves in at most `bins` stretches.

    Examples
    --------
    >>> from wavescope.model import ThreadTrace, TraceSource
    >>> states(ThreadTrace({}, TraceSource(path="nothing"))).over_time.columns[:3]
    ['se', 'state', 'bin']
    """
    import polars as pl

    waves = aligned(trace, trace.waves, "begin_cycles", "end_cycles")
    engines = waves.select(pl.col("se").unique().sort()).with_row_index("group")
    cells = max(1, engines.height) * len(STATES)
    stretches = bins_of_trace(trace, min(bins, max(1, _MAX_CELLS // cells)))
    curves = _sums(trace, waves, engines, stretches)
    totals = _totals(trace, waves)
    names = trace.kernels.select("kernel", name="demangled")
    by_kernel = _shares(totals, ["kernel"]).join(
        names, on="kernel", how="left", maintain_order="left", nulls_equal=True
    )
    return States(
        total=_shares(totals, []),
        by_engine=_shares(totals, ["se"]),
        by_kernel=by_kernel.select("kernel", "name", "state", "cycles_total", "share"),
        over_time=_over_time(curves, stretches),
        begin_cycles=stretches.begin_cycles,
        end_cycles=stretches.end_cycles,
        bin_cycles=stretches.width_cycles,
        bin_count=stretches.count,
        clocks=alignment(trace),
    )


def _totals(trace: ThreadTrace, waves: pl.DataFrame) -> pl.DataFrame:
    """Cycles per shader engine, kernel and state."""
    import polars as pl

    groups = waves.select("se", "kernel").unique(maintain_order=True).sort("se", "kernel", nulls_last=True)
    sums = _sums(trace, waves, groups.with_row_index("group"), time_bins(0, 0, 1))
    return sums.filter(pl.col("bin") == _ALL_BINS)


def _sums(trace: ThreadTrace, waves: pl.DataFrame, groups: pl.DataFrame, stretches: TimeBins) -> pl.DataFrame:
    """What the native core adds up, with the columns of `groups` instead of the number of the group."""
    import polars as pl

    from wavescope import _core

    keys = [name for name in groups.columns if name != "group"]
    numbered = waves.join(groups, on=keys, how="left", maintain_order="left", nulls_equal=True)
    sums = pl.DataFrame(
        _core.state_cycles(
            numbered["group"].cast(pl.UInt32),
            numbered["begin_cycles"],
            numbered["first_state"].fill_null(0),
            numbered["state_count"].fill_null(0),
            trace.states["state"],
            trace.states["duration_cycles"],
            stretches.numbers,
        )
    )
    return groups.join(sums, on="group", maintain_order="left_right").drop("group")


def _named() -> pl.Expr:
    import polars as pl

    names = STATES | {_OTHER_STATE: "OTHER"}
    return pl.col("kind").replace_strict(names, return_dtype=pl.String).alias("state")


def _shares(totals: pl.DataFrame, group: list[str]) -> pl.DataFrame:
    import polars as pl

    sums = totals.group_by(*group, "kind").agg(cycles_total=pl.col("cycles").sum())
    all_states = pl.col("cycles_total").sum().over(group) if group else pl.col("cycles_total").sum()
    return (
        sums.filter(pl.col("cycles_total") > 0)
        .with_columns(share=pl.col("cycles_total") / all_states)
        .sort(*group, "kind", nulls_last=True)
        .select(*group, _named(), "cycles_total", "share")
    )


def _over_time(curves: pl.DataFrame, stretches: TimeBins) -> pl.DataFrame:
    import polars as pl

    return curves.join(lengths_of(stretches), on="bin", maintain_order="left").select(
        "se",
        _named(),
        "bin",
        "begin_cycles",
        cycles_total="cycles",
        wave_count_mean=pl.col("cycles") / pl.col("length"),
    )
