"""A plot: a picture of one answer about a document, by name; `wavewright plot` writes it, and reports contain it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from wavewright.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from wavewright.model.blocks import Picture
    from wavewright.model.document import Document


class Plot(NamedTuple):
    """A picture of the answer to a question."""

    name: str
    title: str
    shows: str  #: What can be read from it, as a part of a sentence.
    #: Takes the document, the theme and the largest number of rows (None = as many as suit it); imports when it draws.
    drawer: Callable[[Document, str, int | None], Picture]
    #: The picture of an answer that is there already, and the theme; None = it is drawn of documents only.
    of_answer: Callable[[Any, str], Picture] | None = None

    def draw(self, document: Document, theme: str = "auto", top: int | None = None) -> Picture:
        """The picture of a document, with at most `top` rows; None = as many as suit it.

        Raises `UsageError` when the document cannot have it, with the reason; when there is no such theme.
        """
        from wavewright.writers.svg.markup import THEMES

        if theme not in THEMES:
            raise UsageError(f"no theme {theme[:40]!r}", advice=f"there are {', '.join(THEMES)}")
        if top is not None and top < 1:
            raise UsageError(f"a plot of {top} rows shows nothing", advice="give 1 or more")
        return self.drawer(document, theme, top)
