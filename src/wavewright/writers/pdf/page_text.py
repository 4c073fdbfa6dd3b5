"""Texts of a document on paper: cut to what a line holds, with the whole name in an appendix."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from wavewright.base.shown import printable
from wavewright.writers.pdf.fonts import mono_width, sans_width

Runs = str | list[tuple[str, bool]]  #: Plain words, or (text, whether it is code) of each part.

_SPAN = re.compile("`([^`\n]+)`")
LONGEST_WORD = 38.0  #: Of a line of prose, in sizes of the font: no line is narrower.
_LONGEST_NAME = 4_000  #: Characters of a name in the appendix.
_SHORTEST = 3  #: Characters that stay of a text that is cut.


@dataclass
class Names:
    """Names that were cut, and the numbers that they have in the appendix."""

    numbers: dict[str, int] = field(default_factory=dict)

    def cut(self, text: str, width: float, measure: Callable[[str], float]) -> str:
        """The text in at most `width`; if it is longer, it ends in the number that it has in the appendix.

        >>> names = Names()
        >>> names.cut("a_long_name", 20, len), names.cut("a_very_long_name_of_a_kernel", 20, len)
        ('a_long_name', 'a_very_long_nam… [1]')
        """
        if measure(text) <= width:
            return text
        ending = f"… [{self.number(text)}]"
        return cut_to(text, width - measure(ending), measure).rstrip("… ") + ending

    def number(self, text: str) -> int:
        """The number of a name in the appendix."""
        return self.numbers.setdefault(text, len(self.numbers) + 1)

    def appendix(self) -> list[tuple[str, str]]:
        """The number and the whole of each name; of the longest, their start."""
        return [
            (
                f"[{number}]",
                name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}… ({len(name):,} characters)",
            )
            for name, number in self.numbers.items()
        ]

    def prose(self, text: str, width: float = LONGEST_WORD) -> Runs:
        """A sentence: words between backticks are code, words wider than `width` sizes of the font are cut."""
        runs: list[tuple[str, bool]] = []
        for number, part in enumerate(_SPAN.split(text)):
            if part:
                measure = mono_width if number % 2 else sans_width
                runs.append((self._words(part, width, measure), bool(number % 2)))
        return runs[0][0] if len(runs) == 1 and not runs[0][1] else runs

    def _words(self, text: str, width: float, measure: Callable[[str], float]) -> str:
        lines = (printable(line) for line in text.split("\n"))
        return "\n".join(" ".join(self.cut(word, width, measure) for word in line.split(" ")) for line in lines)


def cut_to(text: str, width: float, measure: Callable[[str], float]) -> str:
    """The start of a text that is at most `width` wide, but never fewer than 3 characters.

    >>> cut_to("abcdef", 4, len)
    'abcd'
    """
    low, high = min(_SHORTEST, len(text)), len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if measure(text[:middle]) <= width else (low, middle - 1)
    return text[:low]


def chunks(text: str, length: int) -> list[str]:
    """A text on lines of at most that many characters, broken at spaces where there are any near the end.

    >>> chunks("abcdefg", 3), chunks("wavewright report a.db", 12)
    (['abc', 'def', 'g'], ['wavewright', 'report a.db'])
    """
    lines = []
    while len(text) > length:
        space = text.rfind(" ", length // 2, length + 1)
        end = space if space > 0 else length
        lines.append(text[:end].rstrip())
        text = text[end:].lstrip() if space > 0 else text[end:]
    return [*lines, text]
