"""Lines of listings in the width and the characters that a terminal has."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING
from unicodedata import combining, east_asian_width

if TYPE_CHECKING:
    from wavewright.model.blocks import Sentence


def fitted(line: Sentence, width: int, *, ascii_only: bool = False) -> Sentence:
    """The line cut to a width, without its empty end; an ellipsis is a tilde where ASCII must do.

    Examples
    --------
    >>> from wavewright.model.blocks import Sentence
    >>> fitted(Sentence("v_add_u32 v1, v2   "), 10).text
    'v_add_u32…'
    """
    text = line.text.rstrip()
    ends = list(accumulate(map(_width, text)))
    end = len(text)
    if ends and ends[-1] > width:
        end = sum(reached < width for reached in ends)
        text = f"{text[:end]}…"
    marks = (mark if mark.end <= end else mark._replace(end=end) for mark in line.marks if mark.begin < end)
    return replace(line, text=text.replace("…", "~") if ascii_only else text, marks=tuple(marks))


@cache
def _width(character: str) -> int:
    """Places of a terminal that a character takes."""
    return 0 if combining(character) else 2 if east_asian_width(character) in "WF" else 1
