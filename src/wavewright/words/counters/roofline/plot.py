"""A roofline drawn with characters: roofs as fine dots, kernels as letters, both axes logarithmic."""

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
#: Bits of a braille character by row and column of its dot.
_DOT_ROWS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
_LEAST_HEIGHT, _MOST_HEIGHT = 14, 30


class _Cells:
    """A field of characters with dots below and words above."""

    def __init__(self, width: int, height: int, *, is_ascii: bool) -> None:
        self.width, self.height, self.is_ascii = width, height, is_ascii
        self._dots: dict[tuple[int, int], tuple[int, str]] = {}
        self._words: dict[tuple[int, int], tuple[str, str]] = {}

    def dot(self, x: float, y: float, style: str) -> None:
        """A dot at a position from 0 to 1, from the left and from the bottom."""
        column, row = round(x * (2 * self.width - 1)), round((1 - y) * (4 * self.height - 1))
        place = (row // 4, column // 2)
        bits, _ = self._dots.get(place, (0, ""))
        self._dots[place] = (bits | _DOT_ROWS[row % 4][column % 2], style)

    def cell(self, x: float, y: float) -> tuple[int, int]:
        """Row and column of a position."""
        return round((1 - y) * (4 * self.height - 1)) // 4, round(x * (2 * self.width - 1)) // 2

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
        return "." if bits and self.is_ascii else chr(0x2800 + bits) if bits else " ", style


def roofline_chart(picture: RooflinePicture, width: int, *, ascii_only: bool = False) -> Preformatted:
    """The plot in `width` characters."""
    return chart(_Plot(picture).lines(width, is_ascii=ascii_only))


@dataclass(frozen=True)
class _Plot:
    picture: RooflinePicture

    def lines(self, max_width: int, *, is_ascii: bool) -> Iterator[Sentence]:
        """The plot from the top, with its axes."""
        width = max(20, max_width - _MARGIN - 2)
        height = min(_MOST_HEIGHT, max(_LEAST_HEIGHT, round(width * 0.26)))
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
            free = [place for place in nearby if cells.is_free(*place, len(words), gap=0)]
            if free:
                cells.write(*free[0], words, f"bold {LEVEL_COLOURS[mark.level]} reverse")
            hidden += not free
        return hidden

    def _label(self, cells: _Cells, roof: Roof) -> None:
        words = f"{roof.name} {rate(roof.value, roof.unit[1:])}{'*' if roof.used_from == 'theoretical' else ''}"
        (x0, y0), (x1, y1) = ((self._x(x), self._y(y)) for x, y in roof.points)
        is_slope = roof.kind == "bandwidth"
        lines = {cells.cell(0, self._y(other.value))[0] for other in self.picture.roofs if other.kind == "compute"}
        for part in (0.12, 0.25, 0.4, 0.55, 0.7, 0.05, 0.85) if is_slope else (1.0, 0.7, 0.4, 0.1):
            row, column = cells.cell(x0 + part * (x1 - x0), y0 + part * (y1 - y0))
            column = column - len(words) // 2 if is_slope else column - len(words)
            column = min(max(column, 1), cells.width - len(words) - 1)
            for at in (row,) if is_slope else (row - 1, row, row + 1):
                if (at == row or at not in lines) and cells.is_free(at, column, len(words)):
                    cells.write(at, column, words, LEVEL_COLOURS.get(roof.name, _COMPUTE))
                    return

    def _x_axis(self, width: int, *, is_ascii: bool) -> Iterator[Sentence]:
        places = {round(self._x(value) * (width - 1)): value for value in decades(self.picture.x_range)}
        corner, flat, tick = ("+", "-", "+") if is_ascii else ("└", "─", "┴")
        line = "".join(tick if at in places else flat for at in range(width))
        yield Sentence(" " * _MARGIN + corner + line)
        values = [" "] * (_MARGIN + 1 + width)
        end = 0
        for at, value in places.items():
            words = f"{value:g}"
            begin = min(max(_MARGIN + 1 + at - len(words) // 2, end), len(values) - len(words))
            if begin >= end:
                values[begin : begin + len(words)] = words
                end = begin + len(words) + 1
        yield Sentence("".join(values).rstrip())
        yield sentence((f"{self.picture.unit[1:].split('/')[0]} per byte".center(width + 2 * _MARGIN).rstrip(), "bold"))
