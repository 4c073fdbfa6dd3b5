"""A roofline as a picture: roofs with their values, a mark per kernel and level, and the numbers below."""

from __future__ import annotations

import math
from collections.abc import Sequence

from wavewright.analysis.counters.roofline import Roofline
from wavewright.analysis.counters.roofline.geometry import Mark, Roof, RooflinePicture, decades, log_place, picture_of
from wavewright.analysis.counters.roofline.kinds import LEVELS
from wavewright.base.words import percent, truncation
from wavewright.facts.loader import packaged
from wavewright.words.counters.roofline.roof_labels import intensity, letter, power, rate, source, subject
from wavewright.words.counters.roofline.svg_table import draw_table, table_height
from wavewright.writers.svg.label_places import Box, Taken, spread_apart
from wavewright.writers.svg.markup import Svg, text_width

_WIDTH, _LEAST_HEIGHT = 1200, 800
_LEFT, _RIGHT, _TOP = 84, 960, 84
_LEAST_PLOT = 440
_MOST_ROWS = 50  #: More marks would hide each other, and a PNG has its limits.
_BELOW = 50  #: Space for the values and the name of the axis below the plot.
_MARK = 6.0
#: Level -> size and corners of its mark; HBM is a circle.
_SHAPES: dict[str, tuple[float, tuple[tuple[float, float], ...]]] = {
    "MALL": (1.1, ((-0.6, -1), (0.6, -1), (1, 0), (0.6, 1), (-0.6, 1), (-1, 0))),
    "L2": (0.9, ((-1, -1), (1, -1), (1, 1), (-1, 1))),
    "L1": (1.25, ((0, -1), (1, 0), (0, 1), (-1, 0))),
    "LDS": (1.2, ((0, -1), (1, 0.8), (-1, 0.8))),
}


def roofline_svg(
    answer: Roofline,
    *,
    levels: Sequence[str] = (),
    precisions: Sequence[str] = (),
    limit: int | None = None,
    theme: str = "auto",
) -> str:
    """The picture of the first `limit` kernels or dispatches (50 at most), 1200 wide and at least 800 high.

    Raises
    ------
    UsageError
        When there is no such theme.
    """
    shown = min(limit or _MOST_ROWS, _MOST_ROWS)
    return _Drawing(answer, levels, precisions, shown, theme).text()


class _Drawing:
    def __init__(
        self, answer: Roofline, levels: Sequence[str], precisions: Sequence[str], limit: int, theme: str
    ) -> None:
        self.answer = answer
        self.picture: RooflinePicture = picture_of(answer, levels=levels, precisions=precisions, limit=limit)
        self.rows = list(answer.kernels.head(limit).iter_rows(named=True))
        table = table_height(len(self.rows))
        self.bottom = max(_TOP + _LEAST_PLOT, _LEAST_HEIGHT - table - _BELOW)
        about = "; ".join(answer.caveats)
        height = self.bottom + _BELOW + table
        light, dark = _style("light"), _style("dark")
        title = f"Roofline of {subject(answer)}"
        self.svg = Svg(_WIDTH, height, title=title, about=about, light=light, dark=dark, theme=theme)
        self.svg.add("rect", "paper", x=0, y=0, width=_WIDTH, height=height)
        self.taken = Taken()
        for mark in self.picture.marks:
            x, y = self._x(mark.x), self._y(mark.y)
            self.taken.take([Box(x - _MARK, y - _MARK, x + _MARK, y + _MARK)])

    def text(self) -> str:
        self._head()
        self._axes()
        self._roofs()
        self._slope_labels()
        self._marks()
        draw_table(self.svg, self.answer, self.picture, self.rows, self.bottom + _BELOW)
        return self.svg.text()

    def _x(self, value: float) -> float:
        return _LEFT + log_place(value, self.picture.x_range) * (_RIGHT - _LEFT)

    def _y(self, value: float) -> float:
        return self.bottom - log_place(value, self.picture.y_range) * (self.bottom - _TOP)

    def _head(self) -> None:
        what = "kernels" if self.answer.by == "kernel" else "dispatches"
        shown = truncation(len(self.rows), self.answer.total_count, what)
        shown += ", the longest first" if self.answer.total_count > 1 else ""
        self.svg.label("ink strong", 40, 36, f"Roofline: {subject(self.answer)}", size=20)
        self.svg.label("soft", 40, 58, f"{shown} · {source(self.picture.roofs)}", size=13)
        x = float(_WIDTH - 40)
        for level in reversed([name for name in LEVELS if any(mark.level == name for mark in self.picture.marks)]):
            x -= text_width(level, 13)
            self.svg.label("ink", x, 58, level, size=13)
            x -= 12
            _shape(self.svg, level, x, 53.5, title="")
            x -= 22

    def _axes(self) -> None:
        for value in decades(self.picture.x_range):
            x = self._x(value)
            self.svg.line("grid", [(x, _TOP), (x, self.bottom)])
            self.svg.label("soft", x, self.bottom + 18, f"{value:g}", anchor="middle")
        for value in decades(self.picture.y_range):
            y = self._y(value)
            self.svg.line("grid", [(_LEFT, y), (_RIGHT, y)])
            self.svg.label("soft", _LEFT - 8, y + 4, power(value), anchor="end")
        for value in _between(self.picture.x_range):
            self.svg.line("rule", [(self._x(value), self.bottom), (self._x(value), self.bottom - 4)])
        for value in _between(self.picture.y_range):
            self.svg.line("rule", [(_LEFT, self._y(value)), (_LEFT + 4, self._y(value))])
        self.svg.line("rule", [(_LEFT, _TOP), (_LEFT, self.bottom), (_RIGHT, self.bottom)])
        unit = self.picture.unit[1:]
        middle = (_LEFT + _RIGHT) / 2
        operation = "operation" if unit.startswith("OP") else unit.split("/")[0]
        words = f"Arithmetic intensity ({operation} per byte)"
        self.svg.label("ink", middle, self.bottom + 40, words, size=14, anchor="middle")
        x, y = 24.0, (_TOP + self.bottom) / 2
        turned = f"rotate(-90 {x:g} {y:g})"
        self.svg.label("ink", x, y, f"Performance ({unit})", size=14, anchor="middle", transform=turned)

    def _roofs(self) -> None:
        computes = sorted((roof for roof in self.picture.roofs if roof.kind == "compute"), key=lambda roof: -roof.value)
        for roof in self.picture.roofs:
            ends = [(self._x(x), self._y(y)) for x, y in roof.points]
            dashes = {"stroke_dasharray": "7 4"} if roof.used_from == "theoretical" else {}
            self.svg.line(f"roof line-{_colour(roof)}", ends, **dashes)
        heights = [self._y(roof.value) for roof in computes]
        for roof, height, y in zip(computes, heights, spread_apart(heights, 17, _TOP + 4, self.bottom), strict=True):
            self.svg.line("leader", [(_RIGHT + 2, height), (_RIGHT + 14, y)])
            words = f"{roof.name}  {rate(roof.value, roof.unit[1:])}{_star(roof)}"
            self.svg.label("fill-compute", _RIGHT + 18, y + 4, words, size=13, title=_told(roof))

    def _marks(self) -> None:
        groups: dict[tuple[int, str], list[Mark]] = {}
        for mark in self.picture.marks:
            groups.setdefault((mark.row, mark.work), []).append(mark)
        for group in groups.values():
            if len(group) > 1:
                y = self._y(group[0].y)
                self.svg.line("thread", [(min(self._x(m.x) for m in group), y), (max(self._x(m.x) for m in group), y)])
        for mark in self.picture.marks:
            name = self.rows[mark.row]["kernel_name"] or ""
            where = f"{mark.level}: {intensity(mark.x)} per byte, {_mark_rate(mark)}, {percent(mark.share)} of the roof"
            tooltip = f"{letter(mark.row)} {name}: {where}"
            _shape(self.svg, mark.level, self._x(mark.x), self._y(mark.y), title=tooltip, is_hollow=mark.work == "iop")
        for (row, _), group in groups.items():
            self._letter(letter(row), group)

    def _letter(self, words: str, group: list[Mark]) -> None:
        """A letter beside the marks of a kernel, where it is free."""
        left, right = min(self._x(mark.x) for mark in group), max(self._x(mark.x) for mark in group)
        y, width = self._y(group[0].y), text_width(words, 14)
        places = [(right + 9, y + 5), (left - 9 - width, y + 5)]
        for mark in group:
            places += [(self._x(mark.x) - width / 2, y - 9), (self._x(mark.x) - width / 2, y + 19)]
        places += [(right + 12 + 14 * step, y + 5 + side * 16) for step in range(4) for side in (-1, 1)]
        boxes = [[Box(x - 1, base - 11, x + width + 1, base + 1)] for x, base in places]
        x, base = places[self.taken.first_free(boxes)]
        self.svg.label("ink strong halo", x, base, words, size=14)

    def _slope_labels(self) -> None:
        for roof in (roof for roof in self.picture.roofs if roof.kind == "bandwidth"):
            (x0, y0), (x1, y1) = ((self._x(x), self._y(y)) for x, y in roof.points)
            length = math.hypot(x1 - x0, y1 - y0)
            words = f"{roof.name}  {rate(roof.value, roof.unit[1:])}{_star(roof)}"
            width = text_width(words, 13)
            if length < width + 20:
                continue
            ways = [part / 20 for part in (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14)]
            fitting_ways = [way for way in ways if width / 2 + 6 <= way * length <= length - width / 2 - 6] or [0.5]
            along = ((x1 - x0) / length, (y1 - y0) / length)
            boxes = []
            for way in fitting_ways:
                x, y = x0 + way * (x1 - x0), y0 + way * (y1 - y0)
                steps = [step * 10 - width / 2 for step in range(int(width / 10) + 2)]
                centres = [(x + along[0] * step, y + along[1] * step) for step in steps]
                boxes.append([Box(cx - 9, cy - 9, cx + 9, cy + 9) for cx, cy in centres])
            way = fitting_ways[self.taken.first_free(boxes)]
            x, y = x0 + way * (x1 - x0), y0 + way * (y1 - y0)
            angle = math.degrees(math.atan2(y1 - y0, x1 - x0))
            turned = f"translate({x:.1f} {y:.1f}) rotate({angle:.1f})"
            self.svg.add("rect", "paper", x=-width / 2 - 3, y=-8, width=width + 6, height=16, transform=turned)
            style = f"fill-{_colour(roof)}"
            self.svg.label(style, 0, 4.5, words, size=13, anchor="middle", title=_told(roof), transform=turned)


def _style(theme: str) -> dict[str, str]:
    """The styles of a theme: those that are declared, and of each level."""
    declared = packaged("texts.toml", "wavewright.words.counters")
    style: dict[str, str] = dict(declared[f"roofline_{theme}"])
    paper = style["paper"].removeprefix("fill:")
    for name, colour in declared[f"roofline_{theme}_levels"].items():
        style |= {
            f"line-{name}": f"stroke:{colour}",
            f"fill-{name}": f"fill:{colour}",
            f"mark-{name}": f"fill:{colour};stroke:{paper};stroke-width:1.5",
            f"hollow-{name}": f"fill:{paper};stroke:{colour};stroke-width:2",
        }
    return style


def _shape(svg: Svg, level: str, x: float, y: float, *, title: str, is_hollow: bool = False) -> None:
    """Each level has a shape of its own, for those who do not see colours."""
    classes = f"{'hollow' if is_hollow else 'mark'}-{level}"
    if level == "HBM":
        svg.add("circle", classes, title=title, cx=x, cy=y, r=_MARK)
        return
    size, corners = _SHAPES[level]
    points = " ".join(f"{x + _MARK * size * a:.1f},{y + _MARK * size * b:.1f}" for a, b in corners)
    svg.add("polygon", classes, title=title, points=points)


def _colour(roof: Roof) -> str:
    return roof.name if roof.kind == "bandwidth" else "compute"


def _star(roof: Roof) -> str:
    return "*" if roof.used_from == "theoretical" else ""


def _told(roof: Roof) -> str:
    return f"{roof.name}: {roof.value:,.1f} {roof.unit}, {roof.used_from}"


def _mark_rate(mark: Mark) -> str:
    return rate(mark.y, "FLOP/s" if mark.work == "flop" else "IOP/s")


def _between(span: tuple[float, float]) -> list[float]:
    """2 to 9 times the powers of ten."""
    return [factor * decade for decade in decades(span)[:-1] for factor in range(2, 10)]
