"""Limits of the trust in a diagnosis from counters, besides losses: times, passes that disagree, an unknown GPU."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from wavewright.analysis.common.caveats import SEVERITIES, Caveat
from wavewright.analysis.counters.limiters.counter_values import DILUTED_FROM
from wavewright.base.words import counted, percent, shortened
from wavewright.model.counters import ACCUMULATED, CounterSet

_DURATIONS_DIFFER_FROM = 1.1  #: Longest over shortest mean duration of a kernel in passes: from here on a caveat.
_VALUES_DIFFER_FROM = 1.05  #: Likewise: largest over smallest mean of a counter that several passes measured.


def caveats_of(
    counters: CounterSet, dispatches: pl.DataFrame, notes: tuple[str, ...], diluted: float = 1.0
) -> tuple[Caveat, ...]:
    """Every caveat about these dispatches, worst first.

    `notes` are those of `l2`; `diluted`: the GPU was busy up to so many times as long as the kernels ran.
    """
    caveats = list(_of_capture(counters, dispatches))
    caveats += _of_durations(counters, dispatches) if dispatches.height else []
    if diluted >= DILUTED_FROM:
        what = (
            f"the GPU was busy up to {diluted:,.1f} times as long as the kernels ran: shares of cycles are lower bounds"
        )
        advice = "the cycles of collecting counters are in them; shares of bandwidths and durations are not concerned"
        caveats.append(Caveat("diluted_cycles", "care", what, advice, {"times": diluted}))
    caveats += [Caveat("memory_traffic", "note", note, "see `wavewright l2`") for note in notes]
    return tuple(sorted(caveats, key=lambda caveat: SEVERITIES.index(caveat.severity)))


def kernels_with_caveats(counters: CounterSet, dispatches: pl.DataFrame) -> dict[str, str]:
    """Kernel name -> why its numbers are less certain."""
    reasons = {}
    for name, low, high in _repeated_values(counters, dispatches):
        reasons[name] = f"passes disagree about the same counter by {percent(high / low - 1, 0)}"
    for name, low, high in _pass_durations(counters, dispatches):
        reasons[name] = f"its mean duration is {low / 1000:,.1f} to {high / 1000:,.1f} µs, depending on the pass"
    return reasons


def _of_capture(counters: CounterSet, dispatches: pl.DataFrame) -> Iterator[Caveat]:
    if not dispatches.height:
        advice = "collect counters of a kernel that runs"
        yield Caveat("no_dispatches", "fatal", "the capture has no dispatches", advice)
    if not counters.system.target:
        advice = "say it with --target (gfx942 or MI300X)"
        yield Caveat("no_target", "care", "nothing here names the GPU: no formula and no peak fits", advice)
    elif counters.system.clock_mhz_max is None:
        advice = "say the product with --target, or capture on a machine that tells it"
        yield Caveat("no_clock", "care", "the clock of the GPU is not known: no shares of peaks", advice)


def _of_durations(counters: CounterSet, dispatches: pl.DataFrame) -> Iterator[Caveat]:
    lengths = dispatches["end_ns"] - dispatches["start_ns"]
    unsound = dispatches.height - int((lengths > 0).sum())
    if unsound:
        share = f"{counted(unsound, 'dispatches')} of {dispatches.height:,}"
        what = f"{share} {'has' if unsound == 1 else 'have'} no sound timestamps: no rates from them"
        severity = "care" if unsound == dispatches.height else "note"
        advice = "collect again; a spreadsheet rounds timestamps"
        yield Caveat("no_durations", severity, what, advice, {"dispatch_count": unsound})
    differing = _pass_durations(counters, dispatches)
    if differing:
        name, low, high = differing[0]
        kernels = counted(len(differing), "kernels")
        times = f"{shortened(name)} takes {low / 1000:,.1f} to {high / 1000:,.1f} µs"
        what = f"mean durations differ between passes by more than 10 % for {kernels}: {times}"
        advice = "passes are different executions: fix clocks, warm up, or give one kernel more dispatches"
        yield Caveat("durations_differ", "care", what, advice, {"kernel_count": len(differing)})
    repeated = _repeated_values(counters, dispatches)
    if repeated:
        name, low, high = repeated[0]
        kernels, values = counted(len(repeated), "kernels"), f"{name[:60]}, {low:,.0f} to {high:,.0f}"
        what = f"passes disagree about a counter that several of them measured, for {kernels}: {values}"
        advice = "ratios of counters from different passes are that uncertain: collect them in one pass"
        yield Caveat("passes_disagree", "care", what, advice, {"kernel_count": len(repeated)})


def _pass_durations(counters: CounterSet, dispatches: pl.DataFrame) -> list[tuple[str, float, float]]:
    """Kernels whose mean duration differs between passes: name, shortest and longest mean; the worst first.

    Where dispatches of a pass start at the nanosecond at which the one before ended, nobody measured their starts.
    """
    before = pl.col("end_ns").shift(1).over("pass", "process_id", order_by="start_ns")
    is_measured = (pl.col("start_ns") != before).mean().fill_null(1.0) >= 0.5
    means = (
        counters.executions.join(dispatches.select("dispatch", "kernel_name"), on="dispatch")
        .filter(is_measured.over("pass"))
        .with_columns(length=pl.col("end_ns") - pl.col("start_ns"))
        .filter(pl.col("length") > 0)
        .group_by("kernel_name", "pass")
        .agg(pl.col("length").mean())
    )
    return _spread(means.rename({"length": "value"}), ["kernel_name"], _DURATIONS_DIFFER_FROM)


def _repeated_values(counters: CounterSet, dispatches: pl.DataFrame) -> list[tuple[str, float, float]]:
    """Kernels for which passes disagree about the same counter: name, least and largest mean; the worst first."""
    totals = counters.counters.filter(pl.col("channel").is_null() & (pl.col("counter") != ACCUMULATED))
    several = totals.filter(pl.col("pass").n_unique().over("counter") > 1)
    # Cycles differ as much as durations do, which is said already; counts of work should not.
    several = several.filter(~pl.col("counter").str.contains("BUSY|CYCLES|LEVEL|STALL|WAIT|ACTIVE|COUNT$"))
    parts = []
    for (number,), part in several.partition_by("pass", as_dict=True).items():
        frame = counters.measured[number].select("dispatch", *part["column"].to_list())
        long = frame.unpivot(index="dispatch", variable_name="counter").drop_nulls()
        parts.append(long.join(dispatches.select("dispatch", "kernel_name"), on="dispatch").with_columns(pass_=number))
    if not parts:
        return []
    means = pl.concat(parts).group_by("kernel_name", "counter", "pass_").agg(pl.col("value").mean())
    return _spread(means, ["kernel_name", "counter"], _VALUES_DIFFER_FROM)


def _spread(means: pl.DataFrame, keys: list[str], limit: float) -> list[tuple[str, float, float]]:
    spread = means.group_by(keys).agg(low=pl.col("value").min(), high=pl.col("value").max())
    wide = spread.filter((pl.col("low") > 0) & (pl.col("high") >= limit * pl.col("low")))
    ordered = wide.sort(pl.col("high") / pl.col("low"), descending=True).unique("kernel_name", maintain_order=True)
    return [(name or "", low, high) for name, low, high in ordered.select("kernel_name", "low", "high").iter_rows()]
