"""A plot: a picture of one answer about a document, by name; `wavewright plot` writes it, and reports contain it."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from wavewright.errors import UsageError

if TYPE_CHECKING:
    from wavewright.model.report import Picture
    from wavewright.page.protocol.document import Document


@dataclass(frozen=True)
class Plot:
    """A picture that documents of one kind can have."""

    name: str
    kind: str  #: trace, run or counters.
    title: str
    shows: str  #: What can be read from it, as a part of a sentence.
    drawer: str  #: module:function, imported when it draws: a list of plots costs nothing.

    def draw(self, document: Document, theme: str = "auto", top: int | None = None) -> Picture:
        """The picture of a document, with at most `top` rows; None = as many as suit it.

        Raises
        ------
        UsageError
            When the document cannot have it, with the reason; when there is no such theme.
        """
        from wavewright.report.kit.svg import THEMES

        if theme not in THEMES:
            raise UsageError(f"no theme {theme[:40]!r}", advice=f"there are {', '.join(THEMES)}")
        if top is not None and top < 1:
            raise UsageError(f"a plot of {top} rows shows nothing", advice="give 1 or more")
        module, function = self.drawer.split(":")
        picture: Picture = getattr(import_module(module), function)(document, theme, top)
        return picture
