"""A question that the page may ask: its name, its parameters, who answers it, and what an exported page holds of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from wavewright.model.document import Document
from wavewright.questions.kit.parameters import TIME, Parameters, parsed, place, text

TILE: Parameters = {"level": place, "tile": place}
TILE_OF_LAYER: Parameters = {"layer": text, **TILE}


@dataclass(frozen=True)
class PageQuestion:
    """One question about a document.

    `answer` is called with the document and the parsed parameters by name. A frame that it returns goes to the page as
    Arrow, anything else as JSON (`to_builtins`). `exported` lists the parameters for which an exported page holds the
    answer; without it the answer without parameters is held.
    """

    name: str
    answer: Callable[..., Any]
    #: Name -> parser, which raises UsageError; a parameter that was not given is left to the default of `answer`.
    parameters: Parameters = field(default_factory=dict)
    required: tuple[str, ...] = ()
    exported: Callable[[Document], Iterable[Mapping[str, Any]]] | None = None
    #: Pairs of parameters that bound a range: one that ends before it begins is refused.
    ranges: tuple[tuple[str, str], ...] = ()
    #: Whether it can be asked about a part of the time, by `begin` and `end`: `answer` gets a document of that part.
    is_of_time: bool = False

    def parsed(self, texts: Mapping[str, str]) -> dict[str, Any]:
        """The parameters as values."""
        of_time = TIME if self.is_of_time else {}
        ranges = (*self.ranges, *([("begin", "end")] if self.is_of_time else ()))
        return parsed(self.name, {**of_time, **self.parameters}, texts, required=self.required, ranges=ranges)

    def held(self, document: Document) -> Iterable[Mapping[str, Any]]:
        """The parameters for which an exported page holds the answer.

        >>> list(PageQuestion("waves", print).held(None))
        [{}]
        """
        return self.exported(document) if self.exported else ({},)


#: The answer of kinds of documents without timelines.
NO_LAYERS = PageQuestion("layers", lambda _: {"layers": []})


def every_other(document: Document) -> list[dict[str, int]]:
    """The other documents of the same kind, as bases of a comparison."""
    others = document.library.documents if document.library else []
    return [{"base": each.number} for each in others if each.number != document.number and each.kind == document.kind]
