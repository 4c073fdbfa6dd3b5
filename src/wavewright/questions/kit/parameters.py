"""Parameters of questions: parsers of text within bounds, which raise one clear error."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias

from wavewright.base.bounds import CYCLES, ENGINE, ITEM, Bounds, check_range, integer_of
from wavewright.errors import UsageError
from wavewright.words.kit.handles import is_handle, parse_handle

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

#: Name of a parameter -> its parser, which raises UsageError.
Parameters: TypeAlias = "Mapping[str, Callable[[str], Any]]"
_LONGEST_TEXT = 4096  #: Characters of a parameter.
_LONGEST_NUMBER = 40  #: Characters of a number; longer ones are refused unread.
_DIMENSIONS = 3  #: Of a grid or workgroup.


def parsed(
    name: str,
    parsers: Parameters,
    given: Mapping[str, str],
    *,
    required: Sequence[str] = (),
    ranges: Sequence[tuple[str, str]] = (),
) -> dict[str, Any]:
    """The parameters of the question `name` as values.

    Raises `UsageError` when there is no such parameter, one is missing, or one is not what its parser takes.

    Parameters
    ----------
    ranges
        Names of parameters, start and end of a range: one that ends before it starts is refused.
    """
    unknown = sorted(given.keys() - parsers.keys())
    missing = [parameter for parameter in required if parameter not in given]
    if unknown or missing:
        problem = f"{name}: " + (f"no parameter {unknown[0]!r}" if unknown else f"{missing[0]!r} is missing")
        raise UsageError(problem, advice=f"parameters: {', '.join(parsers) or 'none'}")
    values = {parameter: parsers[parameter](value) for parameter, value in given.items()}
    for start, end in ranges:
        check_range(values.get(start), values.get(end), f"{name}: the range ({start}, {end})")
    return values


class Number:
    """A parser of numbers within bounds, whole ones unless said otherwise."""

    def __init__(self, bounds: Bounds, *, is_whole: bool = True) -> None:
        self.bounds, self.is_whole = bounds, is_whole

    def __call__(self, given: str) -> Any:
        """The number that a text says."""
        value: float | None = None
        if given.isascii() and "_" not in given and len(given) <= _LONGEST_NUMBER:
            with suppress(ValueError):
                value = int(given) if self.is_whole else float(given)
        if value is None or not self.bounds.holds(value):
            kind = "whole number" if self.is_whole else "number"
            problem = f"{given[:_LONGEST_NUMBER]!r} is not a {kind} from {self.bounds.low:,} to {self.bounds.high:,}"
            raise UsageError(problem)
        return value


class OneOf:
    """A parser of one of some words; `problem` is the start of the message about any other."""

    def __init__(self, problem: str, choices: tuple[str, ...]) -> None:
        self.problem, self.choices = problem, choices

    def __call__(self, given: str) -> str:
        """The word, if it is one of them."""
        if given not in self.choices:
            raise UsageError(f"{self.problem} {given[:40]!r}", advice=f"one of {', '.join(self.choices)}")
        return given


def kernel_of_handle(given: str, names: Callable[[], Sequence[str]], *, without: str) -> str | None:
    """The kernel that a handle such as k3 names, by its place among `names`; None = the text is not such a handle.

    Raises `UsageError` when there is no such kernel; `without` is the advice where there is none at all.
    """
    if not (is_handle(given) and given.startswith("k")):
        return None
    kernels, number = names(), parse_handle(given, "k")
    if number >= len(kernels):
        raise UsageError(f"there is no kernel {given}", advice=f"k0 to k{len(kernels) - 1}" if kernels else without)
    return kernels[number]


whole_number = Number(CYCLES)  #: Any whole number that the page can name.
number = Number(CYCLES, is_whole=False)  #: A time, in the unit of the document.
place = Number(ITEM)  #: The place of something in a table or among tiles: a row, a wave, an item, a document.
engine = Number(ENGINE)  #: A shader engine.
TIME: Parameters = {"begin": number, "end": number}  #: Of questions about a part of the time.


def text(given: str) -> str:
    """A parser of texts of bounded length."""
    if len(given) > _LONGEST_TEXT:
        raise UsageError(f"a parameter is longer than {_LONGEST_TEXT:,} characters")
    return given


def size(text: str) -> tuple[int, ...]:
    """A parser of one to three dimensions; those that are not given are 1.

    >>> size("256"), size("16x16x4")
    ((256, 1, 1), (16, 16, 4))
    """
    sizes = [integer_of(word.strip()) for word in text.lower().replace("x", ",").split(",")]
    known_sizes = [size for size in sizes if size is not None]
    if len(known_sizes) < len(sizes) or len(sizes) > _DIMENSIONS:
        raise UsageError(f"{text[:_LONGEST_NUMBER]!r} is not a size such as 256 or 16,16")
    return tuple([*known_sizes, 1, 1][:_DIMENSIONS])
