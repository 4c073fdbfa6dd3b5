"""From where to where a number may reach that somebody gives: declared once for analyses, the page and the program."""

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
    """The least and the greatest number that makes sense; both are allowed."""

    low: float
    high: float

    def holds(self, value: float) -> bool:
        """True if a number lies within; what is not a number does not."""
        return self.low <= value <= self.high

    @property
    def numbers(self) -> range:
        """The integers within."""
        return range(int(self.low), int(self.high) + 1)

    def check(self, value: float, name: str) -> None:
        """Refuse a number that lies outside. Raises `UsageError` when it does."""
        if not self.holds(value):
            raise UsageError(f"{name} is {str(value)[:40]}", advice=f"it may be from {self.low:,} to {self.high:,}")


#: A time of a trace, and of the page in any unit: JavaScript's whole numbers end there.
CYCLES = Bounds(1 - (1 << 53), (1 << 53) - 1)
BINS = Bounds(1, 10_000)  #: Stretches of time.
ROWS = Bounds(0, (1 << 63) - 1)  #: Rows to keep or to show.
ITEM = Bounds(0, (1 << 31) - 1)  #: The place of something in a table: a row, a wave, an event.
ENGINE = Bounds(0, (1 << 16) - 1)  #: A shader engine, or a part of one.
ID = Bounds(-(1 << 63), (1 << 63) - 1)  #: What a recording calls something: a process, a stream, a dispatch.
AMOUNT = Bounds(0, (1 << 31) - 1)  #: Of registers, bytes of LDS, work-items, lines.
SOME = Bounds(1, AMOUNT.high)  #: The same, but not none.
TOP = Bounds(0, 10**9)  #: Rows that are printed; 0 = all.
RANK = Bounds(-(1 << 31), (1 << 31) - 1)  #: A rank of a job.
JOBS = Bounds(1, 4096)  #: Processes or threads at work.
PORT = Bounds(0, 65535)  #: A port; 0 = any.
EA_CHANNELS = Bounds(1, 64)
DECIMALS = Bounds(0, 12)
PERCENT = Bounds(0, 1e9)
SHARE = Bounds(0, 100)  #: Percent of a whole.
SECONDS = Bounds(0, 1e7)  #: How long something may take or be waited for.
BYTES_GB = Bounds(1e-9, 1e9)  #: From one byte on, in units of 10^9 bytes.


def bounded(**bounds: Bounds) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Decorate a function so that numbers outside of the bounds of its parameters are refused; None is not checked."""

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
    """Refuse a range that ends before it starts; None is open, and one that ends where it starts is empty.

    Raises `UsageError` when it does.
    """
    if begin is not None and end is not None and end < begin:
        raise UsageError(f"{name} from {begin:,} to {end:,} ends before it starts", advice="give the earlier one first")
