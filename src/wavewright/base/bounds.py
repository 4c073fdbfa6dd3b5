"""Bounds of the numbers that users, agents and the page pass: declared once, checked by `bounded` functions."""

from __future__ import annotations

from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING, NamedTuple, ParamSpec, TypeVar

from wavewright.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
T = TypeVar("T")


class Bounds(NamedTuple):
    """The least and the greatest number that is accepted; both are inclusive."""

    low: float
    high: float

    def holds(self, value: float) -> bool:
        """True if the number lies within the bounds; NaN does not."""
        return self.low <= value <= self.high

    @property
    def numbers(self) -> range:
        """The integers within the bounds."""
        return range(int(self.low), int(self.high) + 1)

    def check(self, value: float, name: str) -> None:
        """Raise `UsageError` for a number outside of the bounds."""
        if not self.holds(value):
            raise UsageError(f"{name} is {str(value)[:40]}", advice=f"it may be from {self.low:,} to {self.high:,}")


#: A time of a trace in cycles, or of the page in any unit; JavaScript represents integers exactly up to here.
CYCLES = Bounds(1 - (1 << 53), (1 << 53) - 1)
BINS = Bounds(1, 10_000)  #: Intervals that a time range is divided into.
ROWS = Bounds(0, (1 << 63) - 1)  #: Rows to keep or to show.
ITEM = Bounds(0, (1 << 31) - 1)  #: The place of something in a table: a row, a wave, an event.
ENGINE = Bounds(0, (1 << 16) - 1)  #: A shader engine, or a part of one.
ID = Bounds(-(1 << 63), (1 << 63) - 1)  #: A recorded id: of a process, a stream, a dispatch.
AMOUNT = Bounds(0, (1 << 31) - 1)  #: A count of registers, bytes of LDS, work-items, lines.
SOME = Bounds(1, AMOUNT.high)  #: A count of at least one.
TOP = Bounds(0, 10**9)  #: Rows that are printed; 0 = all.
RANK = Bounds(-(1 << 31), (1 << 31) - 1)  #: A rank of a job.
JOBS = Bounds(1, 4096)  #: Worker processes or threads.
PORT = Bounds(0, 65535)  #: A port; 0 = any.
EA_CHANNELS = Bounds(1, 64)
DECIMALS = Bounds(0, 12)
PERCENT = Bounds(0, 1e9)
SHARE = Bounds(0, 100)  #: Percent of a whole.
SECONDS = Bounds(0, 1e7)  #: A timeout.
BYTES_GB = Bounds(1e-9, 1e9)  #: Bytes in units of 10^9; one byte at least.


def integer_of(text: str | None, *, below: int = 1 << 63) -> int | None:
    """The integer that decimal digits spell; None = another text, or an integer that is not `below`.

    A long text is never converted: Python refuses more than 4,300 digits with an error of its own.

    >>> integer_of("42"), integer_of("-1"), integer_of("300", below=256), integer_of("9" * 5_000)
    (42, None, None, None)
    """
    number = int(text) if text and text.isascii() and text.isdigit() and len(text) <= 20 else below
    return number if number < below else None


def bounded(**bounds: Bounds) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Decorate a function so that it refuses arguments outside of the bounds of its parameters; None is not checked."""

    def decorated(function: Callable[P, T]) -> Callable[P, T]:
        parameters = signature(function)

        @wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> T:
            arguments = parameters.bind(*args, **kwargs).arguments
            for name, limits in bounds.items():
                if arguments.get(name) is not None:
                    limits.check(arguments[name], name)
            return function(*args, **kwargs)

        checked.bounds = bounds  # type: ignore[attr-defined]
        return checked

    return decorated


def check_range(begin: float | None, end: float | None, name: str) -> None:
    """Raise `UsageError` for a range that ends before it starts; None leaves an end open."""
    if begin is not None and end is not None and end < begin:
        raise UsageError(f"{name} from {begin:,} to {end:,} ends before it starts", advice="give the earlier one first")
