"""Two small languages of rocprofv3, read as its tool reads them: launches of kernels, and periods of collection."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from wavewright.errors import UsageError

#: More launches than this in one request are taken for a mistake; the tool would fill the memory with the numbers.
LAUNCHES_MAX = 1_000_000
_SHOWN = 40  #: Characters of a text that a message repeats.
_BLANKS = "[], "  #: Characters that separate pieces of a text of launches.
_RUN_MIN = 3  #: So many consecutive launches and more are written as A-B.
#: Nanoseconds of the units that --collection-period-unit takes.
UNITS_NS = {"hour": 3_600e9, "min": 60e9, "sec": 1e9, "msec": 1e6, "usec": 1e3, "nsec": 1.0}


@dataclass(frozen=True)
class Launches:
    """A range of launches as the tool reads it."""

    numbers: tuple[int, ...]  #: Ascending; per kernel symbol and process, from 1. Empty = as if none was given.
    notes: tuple[str, ...] = ()  #: What is likely to surprise its author.


def read_launches(text: str) -> Launches:
    """Launches as `--kernel-iteration-range` (and the key of input files) takes them.

    The text is cut at brackets, commas and spaces; each piece is a number, or A-B with both ends included; all of them
    form one set. So brackets do not nest, and no number means "skip".

    >>> read_launches("[6, [8-8]]").numbers, read_launches("1 2 5-8").numbers
    ((6, 8), (1, 2, 5, 6, 7, 8))
    """
    numbers: set[int] = set()
    notes: list[str] = []
    for piece in _pieces(text, _BLANKS):
        first, last = _span(piece)
        if first > last:
            notes.append(f"{piece} counts downwards and selects no launch")
        if last - first >= LAUNCHES_MAX or len(numbers) >= LAUNCHES_MAX:
            what = f"{piece[:_SHOWN]!r} asks for more than {LAUNCHES_MAX:,} launches"
            raise UsageError(what, advice="name the launches to record")
        numbers.update(range(first, last + 1))
    return Launches(tuple(sorted(numbers)), (*notes, *_surprises(text, numbers)))


def _surprises(text: str, numbers: set[int]) -> list[str]:
    """Sentences about what the author of a text may have meant otherwise."""
    notes = []
    if 0 in numbers:
        notes.append("launches count from 1, so that 0 never matches")
    if re.search(r"\[[^\[\]]*\[", text):
        listed = ", ".join(map(str, sorted(numbers)[:8])) + (", ..." if len(numbers) > 8 else "")
        notes.append(f"brackets do not mean skip and repeat: this is the set of launches {listed}")
    if 1 in numbers and len(numbers) > 1:
        notes.append("launch 1 is among them, which is the coldest of all")
    if not numbers:
        notes.append("no launch is named: counters take every launch, thread traces only launch 1")
    return notes


def _span(piece: str) -> tuple[int, int]:
    """The first and the last launch of a piece, which is a number or A-B."""
    if "-" not in piece:
        if not re.fullmatch(r"[0-9]+", piece):
            advice = "write numbers from 1, or A-B, divided by spaces: 7 8"
            raise UsageError(f"{piece[:_SHOWN]!r} is not a launch", advice=advice)
        return _bounded(piece), _bounded(piece)
    ends = _pieces(piece, "- ")
    if len(ends) != 2 or not all(re.match(r"[0-9]", end) for end in ends):
        raise UsageError(f"{piece[:_SHOWN]!r} is not a range of launches", advice="write A-B with two numbers, as 7-8")
    # The tool reads the digits at the start and ignores what follows them.
    first, last = (_bounded(re.match(r"[0-9]+", end)[0]) for end in ends)  # type: ignore[index]
    return first, last


def _bounded(digits: str) -> int:
    significant = digits.lstrip("0") or "0"
    if len(significant) > 18:  # more digits may not fit into 64 bits
        raise UsageError(f"{digits[:_SHOWN]} is too large for a launch", advice="launches count from 1 per kernel")
    return int(significant)


def _pieces(text: str, blanks: str) -> list[str]:
    return [piece for piece in re.split(f"[{re.escape(blanks)}]", text) if piece]


def launch_words(launches: Iterable[int]) -> tuple[str, ...]:
    """Launches as words that every release reads alike."""
    numbers = sorted(set(launches))
    if numbers and numbers[0] < 1:
        raise UsageError(f"there is no launch {numbers[0]}", advice="launches count from 1, separately for each kernel")
    words: list[str] = []
    # Consecutive numbers have the same distance from their places.
    for _, group in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0]):
        run = [number for _, number in group]
        words += [f"{run[0]}-{run[-1]}"] if len(run) >= _RUN_MIN else map(str, run)
    return tuple(words)


def check_periods(words: Sequence[str], unit: str = "sec") -> None:
    """Refuse periods that `--collection-period` does not take: `delay:time:repeat`, one after the other.

    The script fails on them with a traceback, or collects nothing.
    """
    if unit not in UNITS_NS:
        raise UsageError(f"not a unit of time: {unit[:_SHOWN]!r}", advice=f"one of {', '.join(UNITS_NS)}")
    advice = "write delay:time:repeat, as 5:10:1"
    for word in words:
        parts = word.split(":")
        if len(parts) != 3:
            raise UsageError(f"{word[:_SHOWN]!r} has {len(parts)} parts instead of three", advice=advice)
        try:
            delay, time = (int(float(part) * UNITS_NS[unit]) for part in parts[:2])
            repeat = int(parts[2])
        except (ValueError, OverflowError):
            raise UsageError(f"{word[:_SHOWN]!r} is not a period of collection", advice=advice) from None
        if delay < 0 or time <= 0 or repeat < 0:
            raise UsageError(f"{word[:_SHOWN]!r} collects nothing", advice="delay and repeat from 0, time above 0")
