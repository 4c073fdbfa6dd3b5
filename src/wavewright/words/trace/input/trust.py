"""The two verdicts about a trace in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wavewright.analysis.common.caveats import Caveat
from wavewright.analysis.trace.trust.verdicts import Trust
from wavewright.model.blocks import AnyBlock, Cell, Grid, GridColumn, sentence

SEVERITY_TONES = {"fatal": "bold red", "care": "bold yellow", "note": "bold cyan"}
_CYCLES_TONES = {"good": "bold green", "use with caution": "bold yellow", "do not use": "bold red"}
_LINES_TONES = {"good": "bold green", "coarse": "bold yellow", "few": "bold yellow", "none": "bold yellow"}


def trust_lines(trust: Trust) -> Iterator[AnyBlock]:
    """One line for each verdict."""
    yield sentence(("Trace quality: ", "bold"), (trust.cycles, _CYCLES_TONES[trust.cycles]))
    yield sentence(("Source lines: ", "bold"), (trust.lines, _LINES_TONES[trust.lines]))


def caveat_lines(caveats: Sequence[Caveat]) -> list[AnyBlock]:
    """One entry per caveat: how grave, what, what to do."""
    rows = tuple(
        (
            Cell(f"  {caveat.severity}", SEVERITY_TONES[caveat.severity]),
            Cell.of(caveat.sentence, (f"; {caveat.advice}" if caveat.advice else "", "dim")),
        )
        for caveat in caveats
    )
    return [Grid(rows, (GridColumn(), GridColumn()))] if rows else []
