"""Percentages in words: each names its whole, in the same clause or before the list that it belongs to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from wavewright.model.blocks import Finding, Labelled, Sentence

if TYPE_CHECKING:
    from wavewright.model.report import Section

_PERCENTAGE = re.compile(r"\d %")
#: A whole: a share *of* or *in* something, a comparison *than* something; a *rate* of hits is one of accesses.
_WHOLE = re.compile(r"\b(of|than|against|within|from|in|per|rate|threshold|full height)\b|\bover 100 %", re.IGNORECASE)
_BARE = re.compile(r"[\d.]+ %")  #: A number in a column of its own, before the words that tell its whole.


def texts_of(section: Section) -> Iterator[str]:
    """The sentences of a section, those of its findings included."""
    for block in section.blocks:
        if isinstance(block, Sentence | Labelled):
            yield block.text
        elif isinstance(block, Finding):
            yield block.verdict
            yield block.gain
            yield from (paragraph.text for paragraph in block.paragraphs)


def without_whole(text: str) -> list[str]:
    """The parts of a text whose percentage is of nothing.

    A part ends with a semicolon or a sentence; what follows a colon belongs to what is before it.

    Examples
    --------
    >>> without_whole("GPU busy 92.0 % of 12 ms; idle 8.0 %")
    ['idle 8.0 %']
    >>> without_whole("of the cycles of waves: stall 75 %, issue 16 %")
    []
    """
    parts = re.split(r";\s|\.\s", text)
    told = (part for part in parts if not _BARE.fullmatch(part.strip()))
    return [part for part in told if _PERCENTAGE.search(part) and not _WHOLE.search(part)]
