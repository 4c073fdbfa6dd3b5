"""Recorded text in Markdown: it cannot become markup."""

from __future__ import annotations

from wavewright.base.shown import printable


def escaped(text: str) -> str:
    """Text from a file, so that it cannot become Markdown or HTML.

    >>> escaped("<b>*x*")
    '\\\\<b\\\\>\\\\*x\\\\*'
    """
    for character in "\\`*_[]<>|":
        text = text.replace(character, "\\" + character)
    return printable(text).replace("\n", " ")
