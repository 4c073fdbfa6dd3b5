"""Formulas of a chart, where the family of the GPU has no panels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavescope.analysis.metrics import measure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wavescope.analysis.counter_choice import CounterChoice
    from wavescope.model.counter_set import CounterSet

__all__ = ["measured_formulas"]

_NORMS = {"kernel": "1", "wave": "SQ_WAVES", "cycle": "busy_cycles", "second": "(duration_ns / 1000000000)"}


def measured_formulas(
    counters: CounterSet, names: Sequence[str], choice: CounterChoice, normalization: str
) -> dict[str, dict[str, Any]]:
    """Name (`= formula`) -> a row like those of panels.

    Examples
    --------
    >>> from wavescope.analysis.counter_choice import ALL_DISPATCHES
    >>> from wavescope.model.counter_set import CounterSet
    >>> rows = measured_formulas(CounterSet({}), ["= SQ_WAVES"], ALL_DISPATCHES, "kernel")
    >>> rows["= SQ_WAVES"]["reason"]
    'needs SQ_WAVES, which was not measured'
    """
    if not names:
        return {}
    written = {name: name[2:].replace("norm", _NORMS[normalization]) for name in names}
    measured = measure(counters, written, by="all", choice=choice)
    row = measured.frame.row(0, named=True) if measured.frame.height else {}
    return {
        name: {
            "average": row.get(name),
            "unit": f"Req/{normalization}",
            "metric_id": name,
            "peak": None,
            "reason": measured.reasons.get(name, "") if row.get(name) is None else "",
        }
        for name in names
    }
