"""A roofline as a picture: roofs with their values, and a mark per kernel and level."""

from __future__ import annotations

import math
from collections.abc import Sequence

from wavewright.analysis.counters.roofline import Roofline
from wavewright.analysis.counters.roofline.geometry import Mark, Roof, decades, picture_of
from wavewright.base.words import percent
from wavewright.errors import UsageError
from wavewright.model.blocks import Picture
from wavewright.model.document import Document
from wavewright.words.counters.roofline.roof_labels import intensity, letter, power, rate, source, subject
from wavewright.words.kit.brief_names import brief_kernel
from wavewright.writers.svg.label_places import Box, Taken, spread_apart
from wavewright.writers.svg.plot_axes import Scale, Ticks, bottom_axis, left_axis
from wavewright.writers.svg.plot_frame import TEXT, Frame, Key, hint, width_of
from wavewright.writers.svg.plot_words import headline, rows_shown, sentences

_USUAL_ROWS, _MOST_ROWS = 20, 50  #: More marks would hide each other.
_HEIGHT = 440.0  #: Between the two axes, in pixels like all lengths here.
_LEFT, _RIGHT = 56.0, 250.0  #: Room for values at the left, and for the names of compute roofs at the right.
_ABOVE, _BELOW = 22.0, 40.0  #: Room for the names of the axes.
_MARK = 6.0  #: Radius of a mark.
_NAME_LENGTH = 40  #: Characters of a kernel's name in the note.
_COMPUTE = "blue"
_COLOURS = {"HBM": "red", "MALL": "pink", "L2": "orange", "L1": "green", "LDS": "sky"}
#: Level -> size and corners of its mark, for those who do not see colours; HBM is a circle.
_SHAPES: dict[str, tuple[float, tuple[tuple[float, float], ...]]] = {
    "MALL": (1.1, ((-0.6, -1), (0.6, -1), (1, 0), (0.6, 1), (-0.6, 1), (-1, 0))),
    "L2": (0.9, ((-1, -1), (1, -1), (1, 1), (-1, 1))),
    "L1": (1.25, ((0, -1), (1, 0), (0, 1), (-1, 0))),
    "LDS": (1.2, ((0, -1), (1, 0.8), (-1, 0.8))),
}


def draw(document: Document, theme: str, top: int | None) -> Picture:
    """Kernels under their roofs, those with most time first."""
    from wavewright.analysis.counters.roofline import roofline
    from wavewright.words.counters.roofline import roofline_report

    answer: Roofline = document.kept(("topic", "roofline"), lambda: roofline(document.counters))
    if not answer.kernels.height or not answer.points["gops_per_second"].count():
        raise UsageError("operations and bytes of no kernel are known", where=document.label)
    limit = top or _USUAL_ROWS
    verdict = headline(roofline_report(answer, limit=limit, width=140), starts_with_name=True)
    return Picture("roofline", roofline_svg(answer, limit=limit, theme=theme), verdict)


def roofline_svg(
    answer: Roofline,
    *,
    levels: Sequence[str] = (),
    precisions: Sequence[str] = (),
    limit: int | None = None,
    theme: str = "auto",
) -> str:
    """The picture of the first `limit` kernels or dispatches (50 at most).

    Raises `UsageError` when there is no such theme.
    """
    return _Drawing(answer, levels, precisions, min(limit or _MOST_ROWS, _MOST_ROWS), theme).text()


class _Drawing:
    def __init__(
        self, answer: Roofline, levels: Sequence[str], precisions: Sequence[str], limit: int, theme: str
    ) -> None:
        self.picture = picture_of(answer, levels=levels, precisions=precisions, limit=limit)
        self.names = [name or "?" for name in answer.kernels["kernel_name"].head(limit)]
        marked = {mark.level for mark in self.picture.marks}
        rows = sorted({mark.row for mark in self.picture.marks})
        letters = ", ".join(f"{letter(row)} = {brief_kernel(self.names[row], _NAME_LENGTH)}" for row in rows)
        what = "kernels" if answer.by == "kernel" else "dispatches"
        shown = rows_shown(len(self.names), answer.total_count, what, "the longest")
        self.frame = Frame(
            "roofline",
            f"Roofline: {subject(answer)}",
            source(self.picture.roofs),
            height=_ABOVE + _HEIGHT + _BELOW,
            theme=theme,
            legend=[Key(colour, level) for level, colour in _COLOURS.items() if level in marked],
            note=sentences(letters, shown, *answer.caveats),
        )
        self.svg = self.frame.svg
        self.left, self.right = self.frame.left + _LEFT, self.frame.right - _RIGHT
        self.top, self.bottom = self.frame.top + _ABOVE, self.frame.bottom - _BELOW
        self.across = Scale(*self.picture.x_range, self.left, self.right, is_log=True)
        self.up = Scale(*self.picture.y_range, self.bottom, self.top, is_log=True)
        self.taken = Taken()
        for mark in self.picture.marks:
            x, y = self.across.at(mark.x), self.up.at(mark.y)
            self.taken.take([Box(x - _MARK, y - _MARK, x + _MARK, y + _MARK)])

    def text(self) -> str:
        self._axes()
        self._roofs()
        self._slope_labels()
        self._marks()
        return self.svg.text()

    def _axes(self) -> None:
        unit = self.picture.unit[1:]
        operation = "operation" if unit.startswith("OP") else unit.split("/")[0]
        name = f"Arithmetic intensity ({operation} per byte)"
        ticks = Ticks(decades(self.picture.x_range), lambda value: f"{value:g}")
        bottom_axis(self.svg, self.across, ticks, top=self.top, bottom=self.bottom, name=name)
        ticks = Ticks(decades(self.picture.y_range), power)
        left_axis(self.svg, self.up, ticks, left=self.left, right=self.right, name=f"Performance ({unit})")

    def _roofs(self) -> None:
        for roof in self.picture.roofs:
            ends = [(self.across.at(x), self.up.at(y)) for x, y in roof.points]
            dashes = {"stroke_dasharray": "7 4"} if roof.used_from == "theoretical" else {}
            self.svg.line(f"p-line-{_COLOURS.get(roof.name, _COMPUTE)}", ends, **dashes)
        computes = sorted((roof for roof in self.picture.roofs if roof.kind == "compute"), key=lambda roof: -roof.value)
        heights = [self.up.at(roof.value) for roof in computes]
        for roof, height, y in zip(computes, heights, spread_apart(heights, 17, self.top, self.bottom), strict=True):
            self.svg.line("p-rule", [(self.right + 2, height), (self.right + 14, y)])
            self.svg.label("p-ink", self.right + 18, y + 4, _label(roof), size=TEXT, title=_told(roof))

    def _marks(self) -> None:
        groups: dict[tuple[int, str], list[Mark]] = {}
        for mark in self.picture.marks:
            groups.setdefault((mark.row, mark.work), []).append(mark)
        for group in groups.values():
            if len(group) > 1:
                places = [self.across.at(mark.x) for mark in group]
                y = self.up.at(group[0].y)
                self.svg.line("p-rule", [(min(places), y), (max(places), y)], stroke_dasharray="2 3")
        for mark in self.picture.marks:
            self._mark(mark)
        for (row, _), group in groups.items():
            self._letter(letter(row), group)

    def _mark(self, mark: Mark) -> None:
        x, y, colour = self.across.at(mark.x), self.up.at(mark.y), _COLOURS[mark.level]
        speed = rate(mark.y, "FLOP/s" if mark.work == "flop" else "IOP/s")
        where = f"{mark.level}: {intensity(mark.x)} per byte, {speed}, {percent(mark.share)} of the roof"
        title = hint(f"{letter(mark.row)} {where}; {self.names[mark.row]}")
        is_hollow = mark.work != "flop"
        classes = f"p-paper p-line-{colour}" if is_hollow else f"p-{colour} p-edge"
        if mark.level not in _SHAPES:
            self.svg.add("circle", classes, title=title, cx=x, cy=y, r=_MARK)
            return
        size, corners = _SHAPES[mark.level]
        points = " ".join(f"{x + _MARK * size * a:.1f},{y + _MARK * size * b:.1f}" for a, b in corners)
        self.svg.add("polygon", classes, title=title, points=points)

    def _letter(self, words: str, group: list[Mark]) -> None:
        """A letter beside the marks of a kernel, where it is free."""
        places_of_marks = [self.across.at(mark.x) for mark in group]
        left, right = min(places_of_marks), max(places_of_marks)
        y, width = self.up.at(group[0].y), width_of(words, TEXT)
        places = [(right + 9, y + 5), (left - 9 - width, y + 5)]
        for x in places_of_marks:
            places += [(x - width / 2, y - 9), (x - width / 2, y + 19)]
        places += [(right + 12 + 14 * step, y + 5 + side * 16) for step in range(4) for side in (-1, 1)]
        boxes = [[Box(x - 1, base - 11, x + width + 1, base + 1)] for x, base in places]
        x, base = places[self.taken.first_free(boxes)]
        self.svg.label("p-ink p-strong p-halo", x, base, words, size=TEXT)

    def _slope_labels(self) -> None:
        """The names of bandwidths along their lines, where no mark is."""
        for roof in (roof for roof in self.picture.roofs if roof.kind == "bandwidth"):
            (x0, y0), (x1, y1) = ((self.across.at(x), self.up.at(y)) for x, y in roof.points)
            length, width = math.hypot(x1 - x0, y1 - y0), width_of(_label(roof), TEXT)
            if length < width + 20:
                continue
            ways = [part / 20 for part in range(2, 15)]
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
            turned = f"translate({x:.1f} {y:.1f}) rotate({math.degrees(math.atan2(y1 - y0, x1 - x0)):.1f})"
            self.svg.add("rect", "p-paper", x=-width / 2 - 3, y=-8, width=width + 6, height=16, transform=turned)
            words, title = _label(roof), _told(roof)
            self.svg.label("p-ink", 0, 4.5, words, size=TEXT, anchor="middle", title=title, transform=turned)


def _label(roof: Roof) -> str:
    return f"{roof.name}  {rate(roof.value, roof.unit[1:])}{'*' if roof.used_from == 'theoretical' else ''}"


def _told(roof: Roof) -> str:
    return f"{roof.name}: {roof.value:,.1f} {roof.unit}, {roof.used_from}"
