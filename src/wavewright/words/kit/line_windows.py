"""Windows of a long listing around its interesting lines; the rest is folded and counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

_SHORTEST_FOLD = 3  #: Fewer lines are not folded: the line that says so takes the room of one.


class LineRange(NamedTuple):
    """Lines from `begin` up to `end`, all shown or all folded into one."""

    begin: int
    end: int
    is_folded: bool


@dataclass(frozen=True)
class ListingLine:
    """A line of a listing of code: one row, or several that are folded, or a heading."""

    begin: int = 0  #: Index of the first row of the line.
    end: int = 0  #: Index behind its last row; a heading has no rows.
    heading: str = ""
    is_name: bool = False  #: Whether the heading names a function.

    @property
    def is_row(self) -> bool:
        """True if the line shows a row."""
        return self.end - self.begin == 1

    @property
    def is_fold(self) -> bool:
        """True if the line represents several rows."""
        return self.end - self.begin > 1


def line_ranges(count: int, contexts: Mapping[int, int]) -> list[LineRange]:
    """Split `count` lines into windows and folds; `contexts`: interesting line -> how many lines around it to show."""
    is_shown = bytearray(count)
    for line, around in contexts.items():
        if 0 <= line < count:
            begin, end = max(0, line - around), min(count, line + around + 1)
            is_shown[begin:end] = b"\1" * (end - begin)
    for begin, end, is_folded in _ranges(is_shown):
        if is_folded and end - begin < _SHORTEST_FOLD:
            is_shown[begin:end] = b"\1" * (end - begin)
    return _ranges(is_shown)


def _ranges(is_shown: bytearray) -> list[LineRange]:
    ranges, begin = [], 0
    for shown, lines in groupby(is_shown):
        end = begin + len(list(lines))
        ranges.append(LineRange(begin, end, is_folded=not shown))
        begin = end
    return ranges
