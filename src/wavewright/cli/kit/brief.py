"""A brief while it is made: the parts that a verb shows are collected, and written when it ends."""

from __future__ import annotations

import io
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import click
    import polars as pl
    from rich.console import RenderableType

    from wavewright.model.document import Document
    from wavewright.model.report import Block


@dataclass(eq=False, repr=False)
class Brief:
    """Parts of a verb whose answer is to be a brief: they are collected, and written when it ends."""

    context: click.Context  #: Of the verb.
    kind: str = ""  #: Of the document: trace, run or counters.
    subject: str = ""
    parts: list[RenderableType | Block] = field(default_factory=list)
    losses: list[str] = field(default_factory=list)
    answer: Any = None
    document: Document | None = None  #: What the answer is about, for what to ask next.
    limit: int = 20  #: Rows of a table, before the budget cuts them.
    table: pl.DataFrame | None = None  #: The numbers behind the answer, for answers that are a chart otherwise.
    _stdout: Any = field(default_factory=lambda: sys.stdout, repr=False)

    def start(self) -> None:
        """From now on, lines for standard output are parts, too."""
        sys.stdout = _Collecting(self)

    def end(self) -> None:
        """Standard output is itself again."""
        sys.stdout = self._stdout

    def add(self, part: RenderableType | Block) -> None:
        """Show something."""
        self.parts.append(part)

    def add_lines(self, text: str) -> None:
        """Show lines whose spaces matter; those that follow each other are one part."""
        from wavewright.model.report import Preformatted

        last = self.parts[-1] if self.parts else None
        if isinstance(last, Preformatted):
            self.parts[-1] = Preformatted(last.text + text)
        else:
            self.parts.append(Preformatted(text))


class _Collecting(io.StringIO):
    """Standard output of a verb whose answer is collected."""

    def __init__(self, brief: Brief) -> None:
        super().__init__()
        self._brief = brief

    def write(self, text: str) -> int:
        count = super().write(text)  # refuses bytes
        if text:
            self._brief.add_lines(text)
        return count
