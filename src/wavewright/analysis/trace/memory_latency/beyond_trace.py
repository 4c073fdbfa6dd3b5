"""Facts about memory that a thread trace cannot tell, and the counters that would."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from wavewright.facts.metrics.panels import panels_of

#: Question -> names of metrics that answer it, in these tables; the first that a GPU has counts.
_ANSWERS: Final = (
    ("how accesses coalesce", ("Coalescing",), "l1"),
    ("L1 hits", ("Hit rate", "Cache Hit Rate"), "l1"),
    ("L2 hits", ("Hit Rate",), "l2"),
    ("LDS bank conflicts", ("Bank Conflict Rate",), "lds"),
)


@dataclass(frozen=True)
class CounterCommand:
    """Questions about memory that counters of a GPU answer, and the command that plans their capture."""

    questions: tuple[str, ...]
    command: str


def counter_command(target: str | None) -> CounterCommand | None:
    """The command for what a trace cannot tell; None where the GPU is not known, or has no metrics."""
    panels = {panel.word: panel for panel in panels_of(target)} if target else {}
    chosen: dict[str, str] = {}
    for question, names, word in _ANSWERS:
        tables = panels[word].tables if word in panels else ()
        metrics = [metric.id for table in tables for metric in table.metrics if metric.name in names]
        if metrics:
            chosen[question] = metrics[0]
    if not chosen:
        return None
    words = " ".join(f"--metric {metric}" for metric in chosen.values())
    return CounterCommand(tuple(chosen), f"wavewright counters --plan {words} --target {target}")
