"""A question that the page may ask: its name, its parameters, who answers it, and what an exported page holds of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from wavescope.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from wavescope.page.document import Document

__all__ = ["Question", "number", "text", "whole_number"]

_LONGEST_TEXT = 4096


@dataclass(frozen=True)
class Question:
    """One question about a document.

    `answer` is called with the document and the parsed parameters by name. A frame that it returns goes to the page as
    Arrow, anything else as JSON (`to_builtins`). `exported` lists the parameters for which an exported page holds the
    answer; without it the answer without parameters is held.

    Examples
    --------
    >>> Question("waves", "trace", lambda document: [1, 2]).parsed({})
    {}
    """

    name: str
    kind: str
    """What it is about: a "trace", a "run", "counters", what has a "timed" axis (trace or run), or "any" document."""
    answer: Callable[..., Any]
    parameters: Mapping[str, Callable[[str], Any]] = field(default_factory=dict)
    """Name -> parser, which raises UsageError; a parameter that was not given is left to the default of `answer`."""
    required: tuple[str, ...] = ()
    exported: Callable[[Document], Iterable[Mapping[str, Any]]] | None = None

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

        Raises
        ------
        UsageError
            When one is unknown, missing or malformed.

        Examples
        --------
        >>> Question("wave", "trace", print, {"wave": whole_number}, ("wave",)).parsed({"wave": "7"})
        {'wave': 7}
        """
        unknown = sorted(given.keys() - self.parameters.keys())
        missing = [name for name in self.required if name not in given]
        if unknown or missing:
            what = f"{self.name}: " + (f"no parameter {unknown[0]!r}" if unknown else f"{missing[0]!r} is missing")
            raise UsageError(what, advice=f"parameters: {', '.join(self.parameters) or 'none'}")
        return {name: self.parameters[name](value) for name, value in given.items()}

    def held(self, document: Document) -> Iterable[Mapping[str, Any]]:
        """The parameters for which an exported page holds the answer.

        Examples
        --------
        >>> list(Question("waves", "trace", print).held(None))
        [{}]
        """
        return self.exported(document) if self.exported else ({},)


def whole_number(given: str) -> int:
    """A parser of whole numbers that fit 64 bits.

    Raises
    ------
    UsageError
        When it is none.

    Examples
    --------
    >>> whole_number("-12")
    -12
    """
    try:
        value = int(given)
    except ValueError:
        value = 1 << 64
    if abs(value) >= 1 << 63:
        what = f"{given[:40]!r} is not a whole number"
        raise UsageError(what)
    return value


def number(given: str) -> float:
    """A parser of finite numbers.

    Raises
    ------
    UsageError
        When it is none.

    Examples
    --------
    >>> number("1.5")
    1.5
    """
    try:
        value = float(given)
    except ValueError:
        value = float("nan")
    if value - value != 0:
        what = f"{given[:40]!r} is not a number"
        raise UsageError(what)
    return value


def text(given: str) -> str:
    """A parser of texts of bounded length.

    Raises
    ------
    UsageError
        When it is too long.

    Examples
    --------
    >>> text("softmax")
    'softmax'
    """
    if len(given) > _LONGEST_TEXT:
        what = f"a parameter is longer than {_LONGEST_TEXT:,} characters"
        raise UsageError(what)
    return given
