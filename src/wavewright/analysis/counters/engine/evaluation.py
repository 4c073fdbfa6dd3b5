"""Formulas over the chosen dispatches: values of single dispatches, and averages over groups of them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from wavewright.analysis.counters.engine.columns import Columns
from wavewright.analysis.counters.engine.quantities import CYCLES, LAUNCH, facts_of, launch_facts
from wavewright.analysis.counters.engine.reference import (
    CHANNELS_MAX,
    ReferenceSources,
    active_cus,
    reference_facts,
    reference_frames,
    spellings,
    spoiled_channels,
    without_channels,
)
from wavewright.analysis.counters.engine.sources import PER_ROW, Needed, Resolved, Sources
from wavewright.facts.metrics.expression import Expression, denominators, parse
from wavewright.facts.metrics.names import UNKNOWN_FACTS
from wavewright.model.counters import ACCUMULATED, CounterSet

_CACHED_VALUES_MAX = 1 << 17  #: Larger arrays are not cached but computed anew for each metric, to save memory.
_ACTIVE_CUS = re.compile(r"\bactive_cus\b")
_NEGATIVE_SHARE_MAX = 0.01  #: A difference below 0 by at most this share of what it is taken from is no caveat.
_NAMES_SHOWN = 4  #: Inputs that a reason names.


class _Total(NamedTuple):
    """Values added up per group."""

    total: Any
    count: Any
    is_whole: bool  #: Whether every dispatch has a value.


@dataclass(frozen=True)
class Outcome:
    """A formula over the chosen dispatches; the last axis of arrays is dispatches or groups, the first channels."""

    values: Any  #: Per dispatch; None = see `reason`.
    average: Any  #: Per group: ratio of sums, sum per dispatch, or mean of values; None = see `reason`.
    reason: str = ""  #: Why nothing, or no average, could be computed.
    spoiled: Any = None  #: Under the reference's rules: the channels that have no statistic but a median; None = none.


class Evaluation:
    """Evaluates formulas over selected dispatches; `groups`: number of the group of each, None = all are one group."""

    def __init__(
        self,
        counters: CounterSet,
        dispatches: pl.DataFrame,
        *,
        normalization: str = "kernel",
        is_reference: bool = False,
        groups: Any = None,
    ) -> None:
        self.is_reference = is_reference
        self.normalization = normalization
        self.count = dispatches.height
        frames = reference_frames(counters) if is_reference else None
        self.columns = Columns(counters, dispatches["dispatch"].to_numpy(), frames=frames)
        self.facts = reference_facts(counters.system) if is_reference else facts_of(counters.system)
        self._groups = groups
        self.group_count = 1 if groups is None else int(groups.max(initial=-1)) + 1
        declared_count = self.facts["l2_channel_count"]
        is_sound = 0 < declared_count <= CHANNELS_MAX
        self.channel_count = int(declared_count) if is_sound else self.columns.highest_channel + 1
        self.sources = Sources(self.columns, self.channel_count)
        if is_reference:
            self.sources = ReferenceSources(self.columns, self.channel_count, spellings(counters))
        durations = dispatches.select(pl.col("end_ns") - pl.col("start_ns")).to_series().cast(pl.Float64).to_numpy()
        self._known_inputs: dict[str, Any] = {"duration_ns": durations} | launch_facts(dispatches)
        if normalization in ("kernel", "second"):
            self._known_inputs["norm"] = np.ones(self.count) if normalization == "kernel" else durations / 1e9
        self.constants = frozenset(self.facts) | {"active_cus"}
        self._channel_vectors: dict[tuple[int, Needed], Any] = {}
        self._totals: dict[int, tuple[Any, _Total]] = {}  # id of an array -> the array, and its sums
        self._dispatch_counts = self.over_groups(np.ones(self.count))[1]
        # Difference of amounts that was negative by more than 1 % -> the largest share of what it is taken from.
        self.negative: dict[str, float] = {}
        self.spread: set[frozenset[int]] = set()  # Passes whose counters met in one formula.
        if is_reference:
            self.facts["active_cus"] = self._active_cus()

    def load(self, formulas: Iterable[str]) -> None:
        """Load the counters of these formulas together, which is faster than one by one."""
        plain: set[str] = set(CYCLES.values())
        for text in formulas:
            plain.update(leaf.text for leaf in parse(text).leaves if leaf.counter and leaf.first is None)
        for pass_columns in self.columns.passes.values():
            pass_columns.load(plain)

    def evaluate(self, formula: str, *, level: str = "", zero: str = "blank", prefix: str = "") -> Outcome:
        """A formula; `level`, `zero` and `prefix` as of `Metric`."""
        if not self.is_reference and "active_cus" in formula:
            formula = _ACTIVE_CUS.sub("min(SQ_BUSY_CU_CYCLES / busy_cycles, cu_count)", formula)
        expression = parse(formula)
        resolved = self.sources.resolve(expression, level, self.normalization, prefix)
        reason = missing_reason(expression, resolved.missing, level, self.facts, self._known_inputs)
        if reason:
            return Outcome(None, None, reason)
        inputs = {leaf.text: self._value(leaf.text, resolved) for leaf in expression.leaves}
        if not self.is_reference and len(self.columns.passes) > 1 and not level:
            self._fill(resolved, inputs)
        constants = None if self.is_reference else self.constants
        values = expression.evaluate(inputs, zero=zero, constants=constants)
        if self.is_reference and expression.is_per_channel:
            statistics = without_channels(expression, values, inputs)
            return Outcome(statistics, None, spoiled=spoiled_channels(expression, inputs))
        if len(resolved.passes) > 1:
            self.spread.add(resolved.passes)
        if self.is_reference:
            return Outcome(values, None)
        average = self._average(expression, inputs, values)
        is_blank = np.isnan(average).all()
        return Outcome(values, average, zero_reason(expression, inputs, self.count) if is_blank else "")

    def constant(self, formula: str) -> float:
        """A formula over facts of the GPU only, such as a peak; NaN = not known."""
        expression = parse(formula)
        zero = "infinity" if self.is_reference else "blank"
        inputs = {name: self.facts.get(name, math.nan) for name in expression.quantities}
        return float(expression.evaluate(inputs, zero=zero)) if not expression.counters else math.nan

    def channel_reason(self, formula: str, channel: int) -> str:
        """The reason that one channel has no value although the metric has some."""
        for leaf in parse(formula).leaves:
            channels_by_pass = [
                pass_columns.channels[leaf.counter]
                for pass_columns in self.columns.passes.values()
                if leaf.counter in pass_columns.channels
            ]
            if leaf.is_per_row and not any(channel in channels for channels in channels_by_pass):
                return f"needs {leaf.counter}[{channel}], which was not measured"
        return "0 in every dispatch of this channel"

    def over_groups(self, values: Any) -> tuple[Any, Any]:
        """Sum and count of known values per group; the last axis is dispatches."""
        has_value = ~np.isnan(values)
        clean = np.where(has_value, values, 0.0)
        if self._groups is None:
            return clean.sum(axis=-1, keepdims=True), has_value.sum(axis=-1, keepdims=True)
        if values.ndim == 1:
            count = self.group_count
            sums = np.bincount(self._groups, weights=clean, minlength=count)
            return sums, np.bincount(self._groups, weights=has_value, minlength=count)
        both = [self.over_groups(row) for row in values]
        return np.stack([total for total, _ in both]), np.stack([count for _, count in both])

    def means(self, values: Any) -> Any:
        """Mean of known values per group; NaN = there is none."""
        array = np.asarray(values, dtype=np.float64)
        total, count = self.over_groups(np.broadcast_to(array, (*array.shape[:-1], self.count)))
        return total / np.where(count, count, np.nan)

    def _value(self, key: str, resolved: Resolved) -> Any:
        if key in resolved.place:
            return self._read(key, *resolved.place[key])
        return self._known_inputs[key] if key in self._known_inputs else self.facts[key]

    def _read(self, key: str, number: int, needed: Needed) -> Any:
        value = self._counter(number, self.sources.reading(number, needed))
        if key not in CYCLES and not (key == "norm" and self.normalization == "cycle"):
            return value
        with np.errstate(all="ignore"):
            return value / self.facts["xcd_count"]  # counters of cycles are sums over the dies

    def _counter(self, number: int, needed: Needed) -> Any:
        columns = self.columns.passes[number]
        if needed.channels is None:
            return columns.vector(needed.counter)
        if (number, needed) in self._channel_vectors:
            return self._channel_vectors[number, needed]
        if needed.channels == (PER_ROW,):
            channels = [channel for channel in columns.channels[needed.counter] if channel < self.channel_count]
            vectors = columns.vectors([f"{needed.counter}[{channel}]" for channel in channels])
            if len(channels) < self.channel_count:
                padded = np.full((self.channel_count, self.count), np.nan)
                padded[channels] = vectors
                vectors = padded
        else:
            vectors = columns.vectors([f"{needed.counter}[{channel}]" for channel in needed.channels]).sum(axis=0)
        if vectors.size <= _CACHED_VALUES_MAX:
            self._channel_vectors[number, needed] = vectors
        return vectors

    def _fill(self, resolved: Resolved, inputs: dict[str, Any]) -> None:
        """Take dispatches that the chosen passes lack from others: a pass may be about some kernels only."""
        keys = [key for key in resolved.place if key in inputs]
        has_all = _all_known([inputs[key] for key in keys]) if keys else np.True_
        if has_all.all():
            return
        needed = {key: resolved.place[key][1] for key in keys}
        for number in self.sources.holding(list(needed.values())):
            other = {key: self._read(key, number, needed[key]) for key in keys}
            is_new = _all_known(list(other.values())) & ~has_all
            if np.any(is_new):
                has_all = has_all | is_new
                inputs |= {key: np.where(is_new, other[key], inputs[key]) for key in keys}
        for key in keys if not np.all(has_all) else ():  # at last, counters of a dispatch from different passes
            for number in self.sources.holding([needed[key]]):
                other_value = self._read(key, number, needed[key])
                inputs[key] = np.where(np.isnan(inputs[key]), other_value, inputs[key])

    def _average(self, expression: Expression, inputs: dict[str, Any], values: Any) -> Any:
        """Average per group: of sums over dispatches for ratios (degree 0) and amounts (1), else the mean of values."""
        degree = expression.degree(self.constants)
        varying = {key: value for key, value in inputs.items() if np.ndim(value)}
        if not varying:
            return np.broadcast_to(np.asarray(values, dtype=np.float64), (self.group_count,))
        if degree not in (0.0, 1.0):
            return self.means(values)
        totals = {key: self._total(value) for key, value in varying.items()}
        if all(total.is_whole for total in totals.values()):
            count = self._dispatch_counts
        else:
            has_all = np.isfinite(sum(varying.values()))
            totals = {key: self._reduced(np.where(has_all, value, np.nan)) for key, value in varying.items()}
            count = next(iter(totals.values())).count
        sums = inputs | {key: total.total for key, total in totals.items()}
        average = expression.evaluate(sums, constants=self.constants, negative=self._tell_negative)
        if degree == 1.0 or not count.all():
            count = np.where(count, count, np.nan)
            return average / count if degree == 1.0 else np.where(np.isnan(count), np.nan, average)
        return average

    def _total(self, value: Any) -> _Total:
        """Sum and count per group, cached by the id of the array; it is stored too, so that no other gets its id."""
        cached = self._totals.get(id(value))
        if cached is None or cached[0] is not value:
            cached = (value, self._reduced(value))
            if value.size <= _CACHED_VALUES_MAX:
                self._totals[id(value)] = cached
        return cached[1]

    def _reduced(self, values: Any) -> _Total:
        total, count = self.over_groups(values)
        return _Total(total, count, bool((count == self._dispatch_counts).all()))

    def _tell_negative(self, text: str, total: Any, above: Any) -> None:
        """Record a difference `total` below 0 as a share of `above`, what it is taken from."""
        share = np.where(above > 0, -total / np.where(above > 0, above, 1.0), np.where(total < 0, 1.0, 0.0))
        worst = float(np.nanmax(share, initial=0.0))
        if worst > _NEGATIVE_SHARE_MAX:
            self.negative[text] = max(worst, self.negative.get(text, 0.0))

    def _active_cus(self) -> float:
        expression = parse("SQ_BUSY_CU_CYCLES / busy_cycles")
        resolved = self.sources.resolve(expression, "", "kernel")
        if resolved.missing:
            return math.nan
        both = [self._value(leaf.text, resolved) for leaf in expression.leaves]
        return active_cus(both[0], both[1], self.facts)


def _all_known(values: Sequence[Any]) -> Any:
    """Dispatches of which every value is known; of channels, any."""
    has_all: Any = True
    for value in values:
        has_value = ~np.isnan(value)
        has_all = has_all & (has_value.any(axis=0) if has_value.ndim > 1 else has_value)
    return has_all


def missing_reason(
    expression: Expression, missing: Sequence[str], level: str, facts: Mapping[str, float], inputs: Mapping[str, Any]
) -> str:
    """The missing inputs of a formula as a sentence; empty = nothing is missing."""
    if missing:
        names = [f"the pass of {level}" if name == ACCUMULATED and level else name for name in missing]
        return f"needs {_listed(names)}, which {'was' if len(names) == 1 else 'were'} not measured"
    dies = ("xcd_count",) if set(expression.quantities) & set(CYCLES) else ()
    input_names = dict.fromkeys((*expression.quantities, *dies))
    unknown = [UNKNOWN_FACTS.get(name, name) for name in input_names if math.isnan(facts.get(name, 0.0))]
    if unknown:
        return f"needs {_listed(unknown)}: --target"
    for name in expression.quantities:
        if name == "duration_ns" or name in LAUNCH:
            if np.isnan(inputs[name]).all() and len(inputs[name]):
                return "no sound timestamps" if name == "duration_ns" else f"the capture does not say {name}"
        elif name not in facts and name not in inputs and name not in ("accumulated", "norm", *CYCLES):
            return f"nothing is known of {name}"
    return ""


def zero_reason(expression: Expression, inputs: Mapping[str, Any], count: int) -> str:
    """The reason that a formula whose counters are all there has no value in any dispatch."""
    if not count:
        return "no dispatch"
    zero = []
    for part in denominators(expression):
        value = part.evaluate(inputs)
        if not np.any(np.nan_to_num(value)) and np.any(np.isfinite(value)):
            zero.append(part.text)
    if zero:
        return f"0 in every dispatch: {_listed(zero)}"
    blank = [key for key, value in inputs.items() if np.ndim(value) and np.isnan(value).all()]
    if blank:
        return f"no value in any dispatch: {_listed(blank)}"
    return "no dispatch has all of its counters"


def _listed(names: Sequence[str]) -> str:
    words = list(names)
    if len(words) > _NAMES_SHOWN:
        words[_NAMES_SHOWN - 1 :] = [f"{len(names) - _NAMES_SHOWN + 1} more"]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
