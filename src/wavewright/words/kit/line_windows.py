"""Windows of a long listing around its interesting lines; the rest is folded and counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_SHORTEST_FOLD = 3  #: Fewer lines are shown: the line that says they are folded takes one as well.


@dataclass(frozen=True)
class Stretch:
    """A half-open range of lines, all shown or all folded into one."""

    begin: int
    end: int
    is_folded: bool

    def __len__(self) -> int:
        return self.end - self.begin


def stretches(count: int, contexts: Mapping[int, int]) -> list[Stretch]:
    """Split `count` lines into windows and folds; `contexts`: interesting line -> how many lines around it to show.

    >>> [(s.begin, s.end, s.is_folded) for s in stretches(10, {1: 1, 8: 1})]
    [(0, 3, False), (3, 7, True), (7, 10, False)]
    """
    if 0 < count < _SHORTEST_FOLD:
        return [Stretch(0, count, is_folded=False)]
    wanted = [(max(0, line - n), min(count, line + n + 1)) for line, n in contexts.items() if 0 <= line < count]
    windows: list[list[int]] = []
    for begin, end in sorted(wanted):
        if windows and begin - windows[-1][1] < _SHORTEST_FOLD:
            windows[-1][1] = max(end, windows[-1][1])
        else:
            windows.append([begin, end])
    if windows and windows[0][0] < _SHORTEST_FOLD:
        windows[0][0] = 0
    if windows and count - windows[-1][1] < _SHORTEST_FOLD:
        windows[-1][1] = count
    parts: list[Stretch] = []
    at = 0
    for begin, end in windows:
        if begin > at:
            parts.append(Stretch(at, begin, is_folded=True))
        parts.append(Stretch(begin, end, is_folded=False))
        at = end
    if at < count:
        parts.append(Stretch(at, count, is_folded=True))
    return parts
