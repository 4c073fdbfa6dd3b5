"""Samples of the counters in a trace: their names, their sampling step, and the zeros that were not written."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from wavewright.analysis.trace.clocks.common_clock import aligned
from wavewright.errors import UsageError
from wavewright.model.answer import once_per_trace
from wavewright.model.trace import ThreadTrace

PER_BANK = 4
_SHORTEST_STEP_CYCLES, _LONGEST_STEP_CYCLES = 32, 4096
_NEARLY_EQUAL = 8 / 7


def counter_names(trace: ThreadTrace, given: Sequence[str] = ()) -> list[str]:
    """Names of the counters in the order of banks and positions: given ones, the trace's own, or numbers.

    A raw trace does not say which counters were chosen. Raises `UsageError` when more names are given than there are
    counters, or one twice.
    """
    banks = max(trace.sampled_counters["bank"].to_list(), default=-1) + 1
    named = {
        row["bank"] * PER_BANK + row["position"]: row["name"]
        for row in trace.counter_names.drop_nulls().iter_rows(named=True)
    }
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
    banks = [_agreed(part["step"].to_list()) for part in per_engine.partition_by("bank")]
    return _agreed(banks)


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


def filled(of_counter: pl.DataFrame, step_cycles: int) -> pl.DataFrame:
    """Samples with the zeros that were not written: one step after a sample, unless the next one comes by then.

    >>> import polars as pl
    >>> rows = pl.DataFrame({"se": [0, 0], "cu": [1, 1], "time_cycles": [0, 100], "value": [7, 9]})
    >>> filled(rows, 40)["time_cycles"].to_list()
    [0, 40, 100, 140]
    """
    following = pl.col("time_cycles").shift(-1).over("se", "cu")
    zero_at = pl.col("time_cycles") + step_cycles
    zeros = of_counter.filter((following > zero_at) | following.is_null()).with_columns(
        zero_at, value=pl.lit(0, pl.Int64)
    )
    return pl.concat([of_counter, zeros]).sort("se", "cu", "time_cycles", maintain_order=True)
