"""Reasons why a metric has no value, and what to collect."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from wavewright.analysis.counters.engine.quantities import CYCLES, LAUNCH, UNKNOWN
from wavewright.facts.metrics.expression import Expression, denominators
from wavewright.model.counters import ACCUMULATED

_SHOWN = 4


def missing_reason(
    expression: Expression,
    missing: Sequence[str],
    level: str,
    facts: Mapping[str, float],
    inputs: Mapping[str, Any],
) -> str:
    """The missing inputs of a formula as a sentence; empty = nothing is missing."""
    if missing:
        names = [f"the pass of {level}" if name == ACCUMULATED and level else name for name in missing]
        return f"needs {_listed(names)}, which {'was' if len(names) == 1 else 'were'} not measured"
    dies = ("xcd_count",) if set(expression.quantities) & set(CYCLES) else ()
    named = dict.fromkeys((*expression.quantities, *dies))
    unknown = [UNKNOWN.get(name, name) for name in named if math.isnan(facts.get(name, 0.0))]
    if unknown:
        return f"needs {_listed(unknown)}: --target"
    for name in expression.quantities:
        if name == "duration_ns" or (name == "norm" and name in inputs):
            if name == "duration_ns" and np.isnan(inputs[name]).all() and len(inputs[name]):
                return "no sound timestamps"
        elif name in LAUNCH:
            if np.isnan(inputs[name]).all() and len(inputs[name]):
                return f"the capture does not say {name}"
        elif name not in facts and name not in inputs and name not in ("accumulated", "norm", *CYCLES):
            return f"nothing is known of {name}"
    return ""


def zero_reason(expression: Expression, inputs: Mapping[str, Any], count: int) -> str:
    """Why a formula whose counters are all there has no value in any dispatch."""
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
    words = list(names) if len(names) <= _SHOWN else [*names[: _SHOWN - 1], f"{len(names) - _SHOWN + 1} more"]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
