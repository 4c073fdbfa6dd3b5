"""The rules of ROCm Compute Profiler 3.3, for numbers that can be compared with its own."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from wavewright.analysis.counters.choice import CounterChoice, chosen_dispatches
from wavewright.analysis.counters.engine.columns import Columns
from wavewright.analysis.counters.engine.quantities import CYCLES, facts_of
from wavewright.analysis.counters.engine.sources import PER_ROW, Needed, Resolved, Sources, needed_by
from wavewright.facts.metrics.expression import Expression
from wavewright.facts.metrics.names import SYSINFO
from wavewright.model.counters import ACCUMULATED, BYTES_PER_MEMORY_CLOCK, CounterSet, System

_FACT_MAX = 1e6  #: Larger numbers in sysinfo.csv are mistakes.
CHANNELS_MAX = 4096  #: L2 channels; facts beyond are mistakes of the file.


def reference_facts(system: System) -> dict[str, float]:
    """Facts of the GPU as sysinfo.csv writes them: a clock of 0 is taken for a clock."""
    facts = facts_of(system)
    described = system.described
    facts |= {name: _number(described[column]) for name, column in SYSINFO.items() if column in described}
    if not facts["l2_channel_count"] <= CHANNELS_MAX:
        facts["l2_channel_count"] = math.nan
    if "max_mclk" in described and "num_hbm_channels" in described:
        clock_mhz, channel_count = (_number(described[column]) for column in ("max_mclk", "num_hbm_channels"))
        facts["memory_gb_per_second"] = clock_mhz / 1000 * BYTES_PER_MEMORY_CLOCK * channel_count
    return facts


def _number(word: str) -> float:
    try:
        value = float(word)
    except ValueError:
        return math.nan
    return value if 0 <= value <= _FACT_MAX else math.nan


def active_cus(busy_cu_cycles: Any, busy_cycles: Any, facts: Mapping[str, float]) -> float:
    """CUs that the reference takes for active, by its own formula: one for all chosen dispatches; NaN = not known."""
    with np.errstate(all="ignore"):
        ratios = 4 * np.asarray(busy_cu_cycles, float) / np.asarray(busy_cycles, float)
    measured_ratios = ratios[~np.isnan(ratios)]
    waves, cus = facts["waves_per_cu_max"], facts["cu_count"]
    if not measured_ratios.size or math.isnan(waves + cus) or not waves or not math.isfinite(measured_ratios.mean()):
        return math.nan
    level = round(float(measured_ratios.mean()))
    return float(int(min(8 * level / waves + min(level % waves, 8), cus)))


def chosen_with_rules(counters: CounterSet, choice: CounterChoice, *, amd: bool) -> pl.DataFrame:
    """The chosen dispatches; under the reference's rules those that it reads, with the times that it reads.

    Raises `UsageError` when a kernel, dispatch or GPU is chosen that the capture does not have.
    """
    chosen = chosen_dispatches(counters, choice)
    rows = reference_dispatches(counters) if amd else chosen
    return rows.join(chosen.select("dispatch"), on="dispatch", how="semi", maintain_order="left")


def reference_dispatches(counters: CounterSet) -> pl.DataFrame:
    """The dispatches of the joined table with its times, also where they make no sense; else all dispatches."""
    main = _joined_pass(counters)
    if main is None:
        return counters.dispatches
    main_dispatches = reference_frames(counters)[main].select("dispatch")
    main_times = counters.executions.filter(pl.col("pass") == main).select("dispatch", "start_ns", "end_ns")
    times = main_dispatches.join(main_times, on="dispatch", how="left", maintain_order="left")
    return counters.dispatches.drop("start_ns", "end_ns").join(times, on="dispatch", maintain_order="left")


def reference_frames(counters: CounterSet) -> dict[int, pl.DataFrame]:
    """`measured` as the reference joins it: row n of a level file is row n of the joined table, whatever it is about.

    The shortest of these files decides how many dispatches there are (T13).
    """
    main = _joined_pass(counters)
    if main is None:
        return counters.measured
    names = dict(counters.passes.select("pass", "name").iter_rows())
    levels = [number for number in counters.measured if number != main and (names[number] or "").startswith("SQ")]
    frames = dict(counters.measured)
    count = min(frames[number].height for number in (main, *levels))
    frames[main] = frames[main].head(count)
    for number in levels:
        frames[number] = frames[number].head(count).with_columns(frames[main]["dispatch"])
    if "counter_silent" in counters.losses["kind"].to_list():
        for number in (main, *levels):  # counters that stood still are 0 again: the reference takes them for measured
            silent = [column.name for column in frames[number] if column.null_count() == column.len()]
            frames[number] = frames[number].with_columns(pl.lit(0.0).alias(name) for name in silent)
    return frames


def _joined_pass(counters: CounterSet) -> int | None:
    joined = counters.passes.filter("is_joined")["pass"].to_list()
    return joined[0] if joined and joined[0] in counters.measured else None


def without_channels(expression: Expression, values: Any, inputs: Mapping[str, Any]) -> Any:
    """Values per channel less those that the reference leaves out: channels that were not measured, although it takes
    what is divided by 0 for 0, and requests that are no whole numbers.
    """
    for leaf in expression.leaves:
        if leaf.is_per_row:
            channel_values = inputs[leaf.text]
            left_out = np.isnan(channel_values).all(axis=-1, keepdims=True)
            if _counts_requests(expression):
                left_out = left_out | (np.nan_to_num(channel_values) % 1 != 0).any(axis=-1, keepdims=True)
            values = np.where(left_out, np.nan, values)
    return values


def spoiled_channels(expression: Expression, inputs: Mapping[str, Any]) -> Any:
    """Channels that have no statistic but a median, because 0 requests were divided by 0; None = there are none.

    The reference counts requests in a type of integers whose divisions give numbers that are unknown, but not missing.
    """
    if not _counts_requests(expression):
        return None
    requests = next(inputs[leaf.text] for leaf in expression.leaves if leaf.is_per_row)
    is_spoiled = ((requests == 0) & (np.asarray(inputs["norm"]) == 0)).any(axis=-1)
    return is_spoiled if is_spoiled.any() else None


def _counts_requests(expression: Expression) -> bool:
    return len(expression.leaves) == 2 and expression.quantities == ("norm",)


def spellings(counters: CounterSet) -> dict[int, dict[str, str]]:
    """Pass -> spelling of fabric counters without _sum -> column; `NAME[` stands for channels of it."""
    by_pass: dict[int, dict[str, str]] = {}
    fabric = counters.counters.filter(pl.col("spelled").str.starts_with("TCC_EA"))
    for number, column, spelled in fabric.select("pass", "column", "spelled").iter_rows():
        name = f"{spelled.split('[', 1)[0]}[" if spelled.endswith("]") else spelled.removesuffix("_sum")
        by_pass.setdefault(number, {}).setdefault(name, column)
    return by_pass


class ReferenceSources(Sources):
    """As the reference reads: one joined table, level counters from files of their own, and its spelling of names."""

    def __init__(self, columns: Columns, channel_count: int, spelled: Mapping[int, Mapping[str, str]]) -> None:
        super().__init__(columns, channel_count)
        self._spelled = spelled  # Pass -> spelling of a counter without _sum -> column.

    def spelled(self, number: int, needed: Needed, prefix: str) -> Needed | None:
        """Counters to read in a pass when fabric counters must be spelled with this prefix; None = it has none."""
        if not prefix or not needed.counter.startswith("TCC_EA0_"):
            return needed if self._plainly_has(number, needed) else None
        name = prefix + needed.counter.removeprefix("TCC_EA0_")
        by_name = self._spelled.get(number, {})
        if needed.channels is None:
            return Needed(needed.key, by_name[name]) if name in by_name else None
        return needed if f"{name}[" in by_name and self._plainly_has(number, needed) else None

    def _plainly_has(self, number: int, needed: Needed) -> bool:
        columns = self.columns.passes[number]
        if needed.channels is None:
            return needed.counter in columns.names
        channels = columns.channels.get(needed.counter, ())
        return bool(channels) if needed.channels == (PER_ROW,) else set(needed.channels) <= set(channels)

    def resolve(self, expression: Expression, level: str, normalization: str, prefix: str = "") -> Resolved:
        """The pass of each counter; no other pass stands in for one that lacks it."""
        needed = needed_by(expression, normalization, self.channel_count)
        place: dict[str, tuple[int, Needed]] = {}
        main = [self.main] if self.main in self.columns.joined else sorted(self.columns.passes, reverse=True)
        for item in needed:
            if item.counter == ACCUMULATED:
                where = [self.level_pass(level)] if level else [self.main]
            elif level and item.key not in CYCLES and self.main in self.columns.joined:
                where = [self.level_pass(level)]
            else:
                where = list(main)
            for number in where:
                respelled = None if number is None else self.spelled(number, item, prefix)
                if number is not None and respelled is not None:
                    place[item.key] = (number, respelled)
                    break
        return Resolved(place, tuple(dict.fromkeys(item.column for item in needed if item.key not in place)))
