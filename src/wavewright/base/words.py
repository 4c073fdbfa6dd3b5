"""Numbers in sentences, written the same way everywhere."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

_NOUN = re.compile(r"(\w+)s(?=$| and\b)")
_VERBS = {"are": "is", "were": "was", "have": "has", "differ": "differs", "stall": "stalls"}  #: Of several -> of one.
_THAT = re.compile(rf"\bthat ({'|'.join(_VERBS)})\b")
_DESCRIBED = re.compile(r" (?:of|in|with|that|on)\b")


def counted(count: int, what: str) -> str:
    """A count with its noun; `what` is the plural, put into the singular for a count of one.

    >>> counted(1, "HIP calls"), counted(1, "copies of memory"), counted(1, "processes"), counted(3112, "rows")
    ('1 HIP call', '1 copy of memory', '1 process', '3,112 rows')
    >>> counted(1, "rows that stall")
    '1 row that stalls'
    """
    if count == 1:
        head = _DESCRIBED.split(what, maxsplit=1)[0]
        description = _THAT.sub(lambda match: f"that {_VERBS[match[1]]}", what[len(head) :])
        what = _NOUN.sub(lambda match: _singular(match[1]), head) + description
    return f"{count:,} {what}"


def side_label(number: int) -> str:
    """The label of one side of a comparison: A, B, ... Z, #27, ...

    >>> side_label(0), side_label(25), side_label(26)
    ('A', 'Z', '#27')
    """
    return chr(ord("A") + number) if number < 26 else f"#{number + 1}"


def _singular(stem: str) -> str:
    """The singular of a plural without its s."""
    if stem.endswith("ie"):
        return f"{stem[:-2]}y"
    return stem[:-1] if stem.endswith(("sse", "she", "che")) else stem


def some_of(items: Collection[Any], most: int, words: Callable[[Any], str] = str) -> str:
    """The first `most` items in a line, and how many more there are.

    >>> some_of(["a", "b"], 3), some_of([1, 2, 3, 4], 2), some_of({"a": 1, "b": 2}.items(), 1, lambda pair: pair[0])
    ('a, b', '1, 2 and 2 more', 'a and 1 more')
    """
    more = f" and {len(items) - most:,} more" if len(items) > most else ""
    return ", ".join(map(words, islice(items, most))) + more


def truncation(shown: int, total: int, what: str) -> str:
    """A list's count, with the number of items shown if that is less.

    >>> truncation(20, 3112, "instructions"), truncation(3, 3, "loops")
    ('showing 20 of 3,112 instructions', '3 loops')
    """
    return f"showing {shown:,} of {counted(total, what)}" if shown < total else counted(total, what)


def percent(share: float | None, digits: int = 1, *, none: str = "-", sign: bool = False) -> str:
    """A share from 0 to 1 in percent; `none` stands for an unknown share.

    >>> percent(0.257), percent(0.5, 0), percent(None), percent(0.014, sign=True)
    ('25.7 %', '50 %', '-', '+1.4 %')
    """
    return none if share is None else f"{100 * share:{'+' if sign else ''}.{digits}f} %"


def percents(least: float | None, most: float | None) -> str:
    """A share between two bounds; one number where both round to the same.

    >>> percents(0.255, 0.26), percents(0.5, None)
    ('25.5 % to 26.0 %', '50.0 %')
    """
    ends = [percent(least), percent(least if most is None else most)]
    return " to ".join(dict.fromkeys(ends))


def amount(byte_count: float | None, *, none: str = "-") -> str:
    """Bytes with two decimals, in powers of 1000; `none` stands for an unknown amount."""
    return size(byte_count, 2, none=none)


def size(byte_count: float | None, digits: int = 1, *, none: str = "-") -> str:
    """Bytes in the largest unit below them, in powers of 1000.

    >>> size(512), size(61_440), size(1_533_337_600), size(None)
    ('512 B', '61.4 kB', '1.5 GB', '-')
    """
    if byte_count is None:
        return none
    for unit, factor in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if abs(byte_count) >= factor:
            return f"{byte_count / factor:,.{digits}f} {unit}"
    return f"{byte_count:.0f} B"


def grouped(value: float | None, digits: int = 0, *, unit: float = 1, none: str = "-") -> str:
    """A number in multiples of `unit`, with thousands separators.

    >>> grouped(3112), grouped(1_234_567.0, 1, unit=1e3), grouped(None, none="?")
    ('3,112', '1,234.6', '?')
    """
    return none if value is None else f"{value / unit:,.{digits}f}"


def short(number: float | None, *, none: str = "-") -> str:
    """A large number with a suffix K, M, G or T.

    >>> short(1_677_652), short(142_900), short(12), short(12_506_944_760_000), short(None)
    ('1.68M', '142.9K', '12', '12.51T', '-')
    """
    if number is None:
        return none
    for unit, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M")):
        if abs(number) >= unit:
            return f"{number / unit:.2f}{letter}"
    return f"{number / 1e3:.1f}K" if abs(number) >= 1e3 else f"{number:.0f}"


def duration(nanoseconds: float | None) -> str:
    """A duration in ns, us, ms or s.

    >>> duration(950), duration(12_345), duration(2_964_070_817), duration(7_500_000_000_000), duration(None)
    ('950 ns', '12.3 us', '2.964 s', '7,500 s', '-')
    """
    if nanoseconds is None:
        return "-"
    magnitude = abs(nanoseconds)
    if magnitude < 1_000:
        return f"{nanoseconds:.0f} ns"
    for unit, factor in (("us", 1e3), ("ms", 1e6)):
        if magnitude < factor * 999.95:  # more would be written as 1000.0
            return f"{nanoseconds / factor:.1f} {unit}"
    seconds = nanoseconds / 1e9
    return f"{seconds:,.0f} s" if abs(seconds) >= 1_000 else f"{seconds:.3f} s"


def shortened(name: str, width: int = 60) -> str:
    """Return a name in at most `width` characters.

    >>> shortened("gemm", 4), shortened("gemm_kernel", 5)
    ('gemm', 'gemm…')
    """
    return name if len(name) <= width else f"{name[: width - 1]}…"
