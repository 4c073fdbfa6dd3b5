"""Counters sampled inside a trace: totals, values per CU and over time, and hardware utilization."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from wavewright.analysis.common.time_bins import TimeBins, step_means, time_bins
from wavewright.analysis.trace.clocks import aligned
from wavewright.base.bounds import BINS, ENGINE, ITEM, bounded
from wavewright.base.toml import packaged
from wavewright.errors import UsageError
from wavewright.model.answer import Answer, once_per_trace
from wavewright.model.schema import empty_frame
from wavewright.model.trace import ThreadTrace

PER_BANK = 4  #: Counters of a bank.
_SHORTEST_STEP_CYCLES, _LONGEST_STEP_CYCLES = 32, 4096  #: Gaps between samples outside of this are no sampling step.
_NEARLY_EQUAL = 8 / 7  #: Two steps are taken for equal up to this ratio.


def counter_names(trace: ThreadTrace, given: Sequence[str] = ()) -> list[str]:
    """Names of the counters in the order of banks and positions: given ones, the trace's own, or numbers.

    A raw trace does not say which counters were chosen. Raises `UsageError` when more names are given than there are
    counters, or one twice.
    """
    banks = max(trace.sampled_counters["bank"].to_list(), default=-1) + 1
    recorded = trace.counter_names.drop_nulls().select("bank", "position", "name").iter_rows()
    named = {bank * PER_BANK + position: name for bank, position, name in recorded}
    count = max(banks * PER_BANK, max(named, default=-1) + 1)
    names = [named.get(number) or f"counter{number}" for number in range(count)]
    if given:
        if len(given) > count:
            what = f"{len(given)} counter names, but the trace has {count} counters"
            raise UsageError(what, where=trace.source.path, advice="name the counters in the order of the capture")
        names[: len(given)] = given
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        what = f"two counters are called {twice[0]}"
        raise UsageError(what, where=trace.source.path, advice="name them with --counter-names A,B,...")
    return names


@once_per_trace
def sampling_step(trace: ThreadTrace) -> int:
    """Cycles between two samples of a CU, judged from the samples (rcv_features 2.13); 0 without counters."""
    if trace.sampled_counters.is_empty():
        return 0
    gap = pl.col("time_cycles").sort().diff()
    usable = gap.filter(gap >= _SHORTEST_STEP_CYCLES).min().fill_null(_LONGEST_STEP_CYCLES)
    per_cu = trace.sampled_counters.group_by("bank", "se", "cu").agg(step=usable.clip(upper_bound=_LONGEST_STEP_CYCLES))
    per_engine = per_cu.group_by("bank", "se").agg(pl.col("step").min())
    return _agreed([_agreed(part["step"].to_list()) for part in per_engine.partition_by("bank")])


def _agreed(steps: Sequence[int]) -> int:
    """The smallest step, or the second smallest when it is nearly equal: one early sample must not decide."""
    smallest, *others = sorted(steps)
    return others[0] if others and others[0] <= smallest * _NEARLY_EQUAL else smallest


def samples(trace: ThreadTrace, number: int) -> pl.DataFrame:
    """Samples of one counter on the aligned clock: `se`, `cu`, `time_cycles`, `value`, by engine, CU and time."""
    bank, position = divmod(number, PER_BANK)
    of_bank = aligned(trace, trace.sampled_counters.filter(pl.col("bank") == bank), "time_cycles")
    return of_bank.select("se", "cu", "time_cycles", value=pl.col(f"value{position}").cast(pl.Int64)).sort(
        "se", "cu", "time_cycles", maintain_order=True
    )


def filled(samples_of_counter: pl.DataFrame, step_cycles: int) -> pl.DataFrame:
    """Samples with the zeros that were not written: one step after a sample, unless the next one comes by then."""
    following = pl.col("time_cycles").shift(-1).over("se", "cu")
    zero_at = pl.col("time_cycles") + step_cycles
    is_last = (following > zero_at) | following.is_null()
    zeros = samples_of_counter.filter(is_last).with_columns(zero_at, value=pl.lit(0, pl.Int64))
    return pl.concat([samples_of_counter, zeros]).sort("se", "cu", "time_cycles", maintain_order=True)


BUSY = "BUSY_CU_CYCLES"  #: The counter that utilization is a share of.
#: Part of the hardware -> its counter (without SQ_), and what a count is in quad-cycles of the busy counter.
UNITS: dict[str, tuple[str, float]] = packaged("hardware.toml", __package__)["units"]
_CLOCK_CYCLES = 4  # gfx9 counts in steps of four cycles: points of one such step are one point of a curve


@dataclass(frozen=True)
class SampledCounters(Answer, package=__package__):
    """The counters streamed into the trace (gfx9)."""

    totals: pl.DataFrame
    by_cu: pl.DataFrame
    curves: pl.DataFrame
    hardware: pl.DataFrame
    hardware_by_cu: pl.DataFrame
    step_cycles: int  #: Cycles between two samples of a CU; 0 = no counters.
    start_cycles: int
    end_cycles: int
    bin_cycles: int
    bin_count: int
    names_are_known: bool  #: False when counters only have numbers, as in raw traces.


@bounded(bins=BINS)
def sampled_counters(trace: ThreadTrace, *, names: Sequence[str] = (), bins: int = 60) -> SampledCounters:
    """Totals, curves and hardware utilization from the counters in the trace.

    `names` are those of the first counters, in the order of the capture, where the trace does not hold them. Raises
    `UsageError` when more names are given than there are counters, or one twice.
    """
    all_names = counter_names(trace, names)
    step = sampling_step(trace)
    curves = {name: gpu_curve(trace, number) for number, name in enumerate(all_names)}
    times = pl.concat([curve["time_cycles"] for curve in curves.values()]).to_list() if curves else []
    grid = time_bins(min(times, default=0), max(times, default=0), bins)
    by_cu = _by_cu(trace, all_names)
    peaks = {name: max(curve["value"].to_list(), default=0) for name, curve in curves.items()}
    hardware, hardware_by_cu = _hardware(by_cu, peaks)
    return SampledCounters(
        totals=_summed(by_cu, all_names),
        by_cu=by_cu,
        curves=_binned(curves, grid),
        hardware=hardware,
        hardware_by_cu=hardware_by_cu,
        step_cycles=step,
        start_cycles=grid.start_cycles,
        end_cycles=grid.end_cycles,
        bin_cycles=grid.width_cycles,
        bin_count=grid.count,
        names_are_known=any(name != f"counter{number}" for number, name in enumerate(all_names)),
    )


@bounded(number=ITEM, se=ENGINE)
def gpu_curve(trace: ThreadTrace, number: int, *, se: int | None = None) -> pl.DataFrame:
    """One counter over time: from `time_cycles` on the latest samples of all CUs, or of one engine, are `value`."""
    before = pl.col("value").shift(1, fill_value=0).over("se", "cu")
    clock = pl.col("time_cycles") // _CLOCK_CYCLES * _CLOCK_CYCLES
    of_counter = samples(trace, number)
    return (
        filled(of_counter if se is None else of_counter.filter(pl.col("se") == se), sampling_step(trace))
        .select(time_cycles=clock, change=pl.col("value") - before)
        .group_by("time_cycles")
        .agg(pl.col("change").sum())
        .sort("time_cycles")
        .select("time_cycles", value=pl.col("change").cum_sum())
    )


def _by_cu(trace: ThreadTrace, names: Sequence[str]) -> pl.DataFrame:
    value = pl.col("value")
    parts = [
        samples(trace, number)
        .group_by("se", "cu")
        .agg(
            sample_count=pl.len().cast(pl.UInt32),
            value_total=value.sum(),
            value_mean=value.mean(),
            value_max=value.max(),
        )
        .sort("se", "cu")
        .select(pl.lit(name).alias("name"), pl.all())
        for number, name in enumerate(names)
    ]
    return pl.concat(parts) if parts else _empty("by_cu")


def _summed(by_cu: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    order = pl.DataFrame({"name": list(names)}, schema={"name": pl.String})
    sums = by_cu.group_by("name").agg(pl.col("sample_count", "value_total").sum(), pl.col("value_max").max())
    return order.join(sums, on="name", how="left", maintain_order="left").select(
        "name",
        pl.col("sample_count").fill_null(0).cast(pl.UInt32),
        pl.col("value_total").fill_null(0),
        (pl.col("value_total") / pl.col("sample_count")).alias("value_mean"),
        pl.col("value_max").fill_null(0),
    )


def _binned(curves: Mapping[str, pl.DataFrame], grid: TimeBins) -> pl.DataFrame:
    change = pl.col("value") - pl.col("value").shift(1, fill_value=0)
    changes = [curve.select(pl.lit(name).alias("name"), "time_cycles", change=change) for name, curve in curves.items()]
    if not changes:
        return _empty("curves")
    return step_means(pl.concat(changes), "name", grid).rename({"mean": "value_mean"})


def _hardware(by_cu: pl.DataFrame, peaks: Mapping[str, int]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Utilization of every unit whose counter is there, in all and per CU; empty without the busy counter."""
    short = by_cu.with_columns(pl.col("name").str.strip_prefix("SQ_"))
    peak = {name.removeprefix("SQ_"): value for name, value in peaks.items()}
    busy = short.filter(name=BUSY).select("se", "cu", busy="value_total")
    whole = int(busy["busy"].sum())
    rows, parts = [], [_empty("hardware_by_cu")]
    for unit, (counter, factor) in UNITS.items():
        if not whole or counter not in peak:
            continue
        of_unit = short.filter(name=counter)
        share = factor * int(of_unit["value_total"].sum()) / whole
        rows.append((unit, share, factor * peak[counter] / peak[BUSY]))
        of_cu = busy.filter(pl.col("busy") > 0).join(of_unit, on=["se", "cu"], how="inner", maintain_order="left")
        per_cu = (pl.col("value_total") * factor / pl.col("busy")).alias("share")
        parts.append(of_cu.select(pl.lit(unit).alias("unit"), "se", "cu", per_cu))
    schema = {"unit": pl.String, "share": pl.Float64, "peak_share": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row"), pl.concat(parts)


def _empty(table: str) -> pl.DataFrame:
    return empty_frame(SampledCounters.tables[table])
