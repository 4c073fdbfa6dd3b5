"""A question that the page may ask: its name, its parameters, who answers it, and what an exported page holds of it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from wavewright.base.bounds import CYCLES, ENGINE, ITEM, Bounds, check_range
from wavewright.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from wavewright.page.protocol.document import Document

#: Name of a parameter -> its parser, which raises UsageError.
Parameters: TypeAlias = "dict[str, Callable[[str], Any]]"
_LONGEST_TEXT = 4096
_LONGEST_NUMBER = 40


@dataclass(frozen=True)
class Question:
    """One question about a document.

    `answer` is called with the document and the parsed parameters by name. A frame that it returns goes to the page as
    Arrow, anything else as JSON (`to_builtins`). `exported` lists the parameters for which an exported page holds the
    answer; without it the answer without parameters is held.
    """

    name: str
    #: What it is about: a "trace", a "run", "counters", what has a "timed" axis (trace or run), or "any" document.
    kind: str
    answer: Callable[..., Any]
    #: Name -> parser, which raises UsageError; a parameter that was not given is left to the default of `answer`.
    parameters: Mapping[str, Callable[[str], Any]] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    exported: Callable[[Document], Iterable[Mapping[str, Any]]] | None = None
    #: Pairs of parameters that bound a range: one that ends before it begins is refused.
    ranges: tuple[tuple[str, str], ...] = ()
    #: Whether it can be asked about a part of the time, by `begin` and `end`: `answer` gets a document of that part.
    is_of_time: bool = False

    def is_about(self, kind: str) -> bool:
        """Whether it can be asked about a document of this kind.

        Examples
        --------
        >>> [Question("spans", "timed", print).is_about(kind) for kind in ("trace", "run", "counters")]
        [True, True, False]
        """
        return self.kind in (kind, "any") or (self.kind == "timed" and kind in ("trace", "run"))

    def parsed(self, given: Mapping[str, str]) -> dict[str, Any]:
        """The parameters as values.

        Examples
        --------
        >>> Question("wave", "trace", print, {"wave": whole_number}, ("wave",)).parsed({"wave": "7"})
        {'wave': 7}
        """
        parsers: Parameters = {**(_TIME if self.is_of_time else {}), **self.parameters}
        unknown = sorted(given.keys() - parsers.keys())
        missing = [name for name in self.required if name not in given]
        if unknown or missing:
            what = f"{self.name}: " + (f"no parameter {unknown[0]!r}" if unknown else f"{missing[0]!r} is missing")
            raise UsageError(what, advice=f"parameters: {', '.join(parsers) or 'none'}")
        values = {name: parsers[name](value) for name, value in given.items()}
        for begin, end in (*self.ranges, *([("begin", "end")] if self.is_of_time else ())):
            check_range(values.get(begin), values.get(end), f"{self.name}: the range ({begin}, {end})")
        return values

    def held(self, document: Document) -> Iterable[Mapping[str, Any]]:
        """The parameters for which an exported page holds the answer.

        Examples
        --------
        >>> list(Question("waves", "trace", print).held(None))
        [{}]
        """
        return self.exported(document) if self.exported else ({},)


@dataclass(frozen=True)
class Number:
    """A parser of numbers within bounds, whole ones unless said otherwise."""

    bounds: Bounds
    is_whole: bool = True

    def __call__(self, given: str) -> Any:
        """The number that a text says."""
        value: float | None = None
        if given.isascii() and "_" not in given and len(given) <= _LONGEST_NUMBER:
            with suppress(ValueError):
                value = int(given) if self.is_whole else float(given)
        if value is None or not self.bounds.holds(value):
            kind = "whole number" if self.is_whole else "number"
            what = f"{given[:_LONGEST_NUMBER]!r} is not a {kind} from {self.bounds.low:,} to {self.bounds.high:,}"
            raise UsageError(what)
        return value


whole_number = Number(CYCLES)  #: Any whole number that the page can name.
number = Number(CYCLES, is_whole=False)  #: A time, in the unit of the document.
place = Number(ITEM)  #: The place of something in a table or among tiles: a row, a wave, an item, a document.
engine = Number(ENGINE)  #: A shader engine.
_TIME: Parameters = {"begin": number, "end": number}  # of questions about a part of the time


def text(given: str) -> str:
    """A parser of texts of bounded length.

    Examples
    --------
    >>> text("softmax")
    'softmax'
    """
    if len(given) > _LONGEST_TEXT:
        raise UsageError(f"a parameter is longer than {_LONGEST_TEXT:,} characters")
    return given
