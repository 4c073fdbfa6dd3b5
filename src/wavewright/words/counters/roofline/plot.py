"""A roofline drawn with characters: roofs as fine dots, kernels as letters, both axes logarithmic.

A character of the Braille block (U+2800) holds 2 x 4 dots, so that lines are finer than letters; words stand over dots.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from wavewright.analysis.counters.roofline.geometry import Roof, RooflinePicture, decades, log_place
from wavewright.analysis.counters.roofline.kinds import LEVELS
from wavewright.model.blocks import Preformatted, Sentence, chart, sentence
from wavewright.words.counters.roofline.roof_labels import letter, power, rate

LEVEL_COLOURS = {"HBM": "red", "MALL": "magenta", "L2": "yellow", "L1": "green", "LDS": "cyan"}
_COMPUTE = "blue"
_MARGIN = 7  #: Characters for the values at the left.
_BRAILLE = 0x2800  #: The character without dots.
#: Bits of a braille character by row and column of its dot: an order of Unicode.
_DOT_ROWS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
_LEAST_HEIGHT, _MOST_HEIGHT = 14, 30  #: Lines of a plot.
_ASPECT = 0.26  #: Lines of a plot per character of its width.
#: Where the label of a roof is tried along its line, in parts of its length: the first free place is taken.
_SLOPE_PLACES, _FLAT_PLACES = (0.12, 0.25, 0.4, 0.55, 0.7, 0.05, 0.85), (1.0, 0.7, 0.4, 0.1)


class _Cells:
    """A field of characters with dots below and words above."""

    def __init__(self, width: int, height: int, *, is_ascii: bool) -> None:
        self.width, self.height, self.is_ascii = width, height, is_ascii
        self._dots: dict[tuple[int, int], tuple[int, str]] = {}  #: (row, column) -> (bits of braille, style).
        self._words: dict[tuple[int, int], tuple[str, str]] = {}  #: (row, column) -> (character, style).

    def dot(self, x: float, y: float, style: str) -> None:
        """A dot at a position from 0 to 1, from the left and from the bottom."""
        dot_row, dot_column = self._dot_place(x, y)
        bits, _ = self._dots.get(self.cell(x, y), (0, ""))
        self._dots[self.cell(x, y)] = (bits | _DOT_ROWS[dot_row % 4][dot_column % 2], style)

    def cell(self, x: float, y: float) -> tuple[int, int]:
        """Row and column of a position."""
        dot_row, dot_column = self._dot_place(x, y)
        return dot_row // 4, dot_column // 2

    def _dot_place(self, x: float, y: float) -> tuple[int, int]:
        """Row and column of the dot at a position."""
        return round((1 - y) * (4 * self.height - 1)), round(x * (2 * self.width - 1))

    def is_free(self, row: int, column: int, length: int, *, gap: int = 1) -> bool:
        """True if words fit there and nothing else stands there or nearer than `gap`."""
        inside = 0 <= row < self.height and column >= 0 and column + length <= self.width
        return inside and not any((row, at) in self._words for at in range(column - gap, column + length + gap))

    def write(self, row: int, column: int, words: str, style: str) -> None:
        """Words, over the dots."""
        for at, character in enumerate(words):
            self._words[row, column + at] = (character, style)

    def line(self, row: int) -> Sentence:
        """One line of characters."""
        return sentence(*(self._words.get((row, column)) or self._dot(row, column) for column in range(self.width)))

    def _dot(self, row: int, column: int) -> tuple[str, str]:
        bits, style = self._dots.get((row, column), (0, ""))
        if not bits:
            return " ", style
        return "." if self.is_ascii else chr(_BRAILLE + bits), style


def roofline_chart(picture: RooflinePicture, width: int, *, ascii_only: bool = False) -> Preformatted:
    """The plot in `width` characters; `ascii_only` for terminals without braille."""
    return chart(_Plot(picture).lines(width, is_ascii=ascii_only))


@dataclass(frozen=True)
class _Plot:
    """Draws a roofline into cells; positions are from 0 to 1 on logarithmic axes."""

    picture: RooflinePicture

    def lines(self, max_width: int, *, is_ascii: bool) -> Iterator[Sentence]:
        """The plot from the top, with its axes."""
        width = max(20, max_width - _MARGIN - 2)
        height = min(_MOST_HEIGHT, max(_LEAST_HEIGHT, round(width * _ASPECT)))
        cells = _Cells(width, height, is_ascii=is_ascii)
        for roof in self.picture.roofs:
            self._draw(cells, roof)
        hidden = self._write_marks(cells)
        for roof in self.picture.roofs:
            self._label(cells, roof)
        ticks = {cells.cell(0, self._y(value))[0]: value for value in decades(self.picture.y_range)}
        yield sentence((f"{self.picture.unit[1:]:>{_MARGIN}}", "bold"))
        edge = "|" if is_ascii else "│"
        for row in range(height):
            label = power(ticks[row]).replace(" ", "") if row in ticks else ""
            yield sentence(f"{label:>{_MARGIN}}{edge}", cells.line(row))
        yield from self._x_axis(width, is_ascii=is_ascii)
        if hidden:
            yield sentence((f"{hidden} marks lie under others: the table has their numbers", "dim"))

    def _x(self, value: float) -> float:
        return log_place(value, self.picture.x_range)

    def _y(self, value: float) -> float:
        return log_place(value, self.picture.y_range)

    def _draw(self, cells: _Cells, roof: Roof) -> None:
        (x0, y0), (x1, y1) = ((self._x(x), self._y(y)) for x, y in roof.points)
        steps = max(1, round(abs(x1 - x0) * 2 * cells.width), round(abs(y1 - y0) * 4 * cells.height))
        for step in range(steps + 1):
            part = step / steps
            x, y = x0 + part * (x1 - x0), y0 + part * (y1 - y0)
            if 0 <= x <= 1 and 0 <= y <= 1:
                cells.dot(x, y, LEVEL_COLOURS.get(roof.name, _COMPUTE))

    def _write_marks(self, cells: _Cells) -> int:
        """Letters at their places, or beside them; how many found none."""
        hidden = 0
        for mark in self.picture.marks:
            row, column = cells.cell(self._x(mark.x), self._y(mark.y))
            words = letter(mark.row) + LEVELS[mark.level].mark
            column = min(column, cells.width - len(words))
            nearby = [(row, column + step) for step in (0, 1, -1, 2, -2)] + [(row - 1, column), (row + 1, column)]
            free_places = [place for place in nearby if cells.is_free(*place, len(words), gap=0)]
            if free_places:
                cells.write(*free_places[0], words, f"bold {LEVEL_COLOURS[mark.level]} reverse")
            hidden += not free_places
        return hidden

    def _label(self, cells: _Cells, roof: Roof) -> None:
        """Name and value of a roof: on a slope in the middle of a place, on a flat roof at its right end.

        A flat roof may have it a row above or below, where no other one runs. Without a free place there is no label.
        """
        words = f"{roof.name} {rate(roof.value, roof.unit[1:])}{'*' if roof.used_from == 'theoretical' else ''}"
        (x0, y0), (x1, y1) = ((self._x(x), self._y(y)) for x, y in roof.points)
        is_slope = roof.kind == "bandwidth"
        flat_rows = {cells.cell(0, self._y(other.value))[0] for other in self.picture.roofs if other.kind == "compute"}
        for part in _SLOPE_PLACES if is_slope else _FLAT_PLACES:
            row, column = cells.cell(x0 + part * (x1 - x0), y0 + part * (y1 - y0))
            column = column - len(words) // 2 if is_slope else column - len(words)
            column = min(max(column, 1), cells.width - len(words) - 1)
            for label_row in (row,) if is_slope else (row - 1, row, row + 1):
                is_own = label_row == row or label_row not in flat_rows
                if is_own and cells.is_free(label_row, column, len(words)):
                    cells.write(label_row, column, words, LEVEL_COLOURS.get(roof.name, _COMPUTE))
                    return

    def _x_axis(self, width: int, *, is_ascii: bool) -> Iterator[Sentence]:
        """The axis with ticks at powers of ten, their values where these do not touch, and the unit."""
        places = {round(self._x(value) * (width - 1)): value for value in decades(self.picture.x_range)}
        corner, flat, tick = ("+", "-", "+") if is_ascii else ("└", "─", "┴")
        line = "".join(tick if column in places else flat for column in range(width))
        yield Sentence(" " * _MARGIN + corner + line)
        values = [" "] * (_MARGIN + 1 + width)
        free_from = 0
        for column, value in places.items():
            words = f"{value:g}"
            start = min(max(_MARGIN + 1 + column - len(words) // 2, free_from), len(values) - len(words))
            if start >= free_from:
                values[start : start + len(words)] = words
                free_from = start + len(words) + 1
        yield Sentence("".join(values).rstrip())
        yield sentence((f"{self.picture.unit[1:].split('/')[0]} per byte".center(width + 2 * _MARGIN).rstrip(), "bold"))
