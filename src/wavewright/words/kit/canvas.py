"""A canvas of characters: texts at places, boxes with titles."""

from __future__ import annotations

from itertools import groupby

from wavewright.model.blocks import Sentence, sentence


class Canvas:
    """Lines of styled characters."""

    def __init__(self, width: int) -> None:
        self.width = width
        self._rows: list[list[tuple[str, str]]] = []

    def put(self, x: int, y: int, text: str, style: str = "") -> None:
        """Write a text; what lies outside is cut."""
        while len(self._rows) <= y:
            self._rows.append([(" ", "")] * self.width)
        row = self._rows[y]
        for at, character in enumerate(text[: max(0, self.width - x)], start=x):
            row[at] = (character, style)

    def box(
        self, x: int, y: int, width: int, height: int, title: str, style: str = "", title_style: str = "bold"
    ) -> None:
        """A frame with its title in the upper edge."""
        self.put(x, y, f"╭{'─' * (width - 2)}╮", style)
        for row in range(y + 1, y + height - 1):
            self.put(x, row, "│", style)
            self.put(x + width - 1, row, "│", style)
        self.put(x, y + height - 1, f"╰{'─' * (width - 2)}╯", style)
        self.put(x + 1, y, f" {title} "[: width - 2], title_style)

    def divider(self, x: int, y: int, width: int, title: str, style: str = "") -> None:
        """A line across a box, with a title."""
        self.put(x, y, f"├{'─' * (width - 2)}┤", style)
        self.put(x + 1, y, f" {title} "[: width - 2], "bold")

    def lines(self) -> list[Sentence]:
        """The lines from the top, without trailing blanks."""
        lines = []
        for row in self._rows:
            end = next((at for at in range(len(row), 0, -1) if row[at - 1][0] != " "), 0)
            groups = groupby(row[:end], key=lambda each: each[1])
            lines.append(sentence(*(("".join(letter for letter, _ in group), tone) for tone, group in groups)))
        return lines
