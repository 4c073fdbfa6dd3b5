"""The two verdicts about a trace for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavewright.base.shown import printable
from wavewright.model.blocks import AnyBlock, Sentence, Table, sentence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wavewright.analysis.common.caveats import Caveat
    from wavewright.analysis.trace.trust.verdicts import Trust

_SEVERITY_STYLES = {"fatal": "bold red", "care": "bold yellow", "note": "bold cyan"}
_CYCLES_STYLES = {"good": "bold green", "use with caution": "bold yellow", "do not use": "bold red"}
_LINES_STYLES = {"good": "bold green", "coarse": "bold yellow", "few": "bold yellow", "none": "bold yellow"}


def trust_lines(trust: Trust) -> Iterator[AnyBlock]:
    """One line for each verdict."""
    yield sentence(("Trace quality: ", "bold"), (trust.cycles, _CYCLES_STYLES[trust.cycles]))
    yield sentence(("Source lines: ", "bold"), (trust.lines, _LINES_STYLES[trust.lines]))


def caveat_lines(caveats: Sequence[Caveat]) -> list[AnyBlock]:
    """One entry per caveat: how grave, what, what to do."""
    if not caveats:
        return []
    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True)
    table.add_column()
    for caveat in caveats:
        text = Sentence(printable(caveat.sentence))
        text.append(printable(f"; {caveat.advice}") if caveat.advice else "", "dim")
        table.add_row(sentence((f"  {caveat.severity}", _SEVERITY_STYLES[caveat.severity])), text)
    return [table]
