"""A question that the page may ask: its name, its parameters, who answers it, and what an exported page holds of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from wavewright.errors import UsageError
from wavewright.model.document import Document
from wavewright.questions.kit.parameters import TIME, Parameters, parsed, place, text

P = ParamSpec("P")
Result = TypeVar("Result")

TILE: Parameters = {"level": place, "tile": place}  #: Of questions about one tile.
TILE_OF_LAYER: Parameters = {"layer": text, **TILE}  #: Of questions about one tile of a timeline.


@dataclass(frozen=True)
class PageQuestion:
    """One question about a document.

    `answer` is called with the document and the parsed parameters by name. A frame that it returns goes to the page as
    Arrow, anything else as JSON (`to_builtins`).
    """

    name: str
    answer: Callable[..., Any]
    #: Name -> parser, which raises UsageError; a parameter that was not given is left to the default of `answer`.
    parameters: Parameters = field(default_factory=dict)
    required: tuple[str, ...] = ()
    #: The parameters for which an exported page stores the answer; None = once, without parameters.
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
        """The parameters for which an exported page stores the answer."""
        return self.exported(document) if self.exported else ({},)


#: The answer about documents of a kind that has no timelines.
NO_LAYERS = PageQuestion("layers", lambda _: {"layers": []})


def no_answers(_: Document) -> Iterable[Mapping[str, Any]]:
    """The `exported` of questions whose answers no exported page stores: there would be too many of them."""
    return ()


def once_per_document(answer: Callable[Concatenate[Document, P], Result]) -> Callable[Concatenate[Document, P], Result]:
    """Decorate a function of a document: the document caches the result for each set of arguments.

    For functions with few possible arguments: nothing is dropped before the document is closed.
    """

    @wraps(answer)
    def cached(document: Document, /, *args: P.args, **kwargs: P.kwargs) -> Result:
        key = (answer.__module__, answer.__qualname__, *args, *kwargs.items())
        return document.kept(key, lambda: answer(document, *args, **kwargs))

    return cached


def one_of(problem: str, choices: Collection[str], advice: str) -> Callable[[str], Any]:
    """A parser of one of some words; `problem` and `advice` open the two sentences of its error.

    >>> one_of("no theme", ["dark", "light"], "there are")("blue")
    Traceback (most recent call last):
    wavewright.errors.UsageError: no theme 'blue'; there are dark, light
    """

    def parse(word: str) -> str:
        if word not in choices:
            raise UsageError(f"{problem} {word[:40]!r}", advice=f"{advice} {', '.join(choices)}")
        return word

    return parse


def every_other(document: Document) -> list[dict[str, int]]:
    """The other documents of the same kind, as bases of a comparison."""
    documents = document.library.documents if document.library else []
    others = (other for other in documents if other.number != document.number)
    return [{"base": other.number} for other in others if other.kind == document.kind]
