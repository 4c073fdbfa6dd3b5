"""The memory chart as a picture: cards from the waves to the memory, and wires as thick as their traffic."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from wavewright.analysis.counters.memory_chart import MemoryChart
from wavewright.errors import UsageError
from wavewright.facts.loader import packaged
from wavewright.model.blocks import Picture
from wavewright.model.document import Document
from wavewright.words.counters.memory_chart.chart_lines import (
    CU_SECTIONS,
    Line,
    block_lines,
    columns_of,
    headline,
    subject,
    wire_lines,
)
from wavewright.writers.svg import plot_words
from wavewright.writers.svg.markup import Svg, fitting, text_width

#: Lengths in units of the picture: its edges; widths of the cards of each stage, from the CUs to the memory; the gap
#: between stages, for wires; between cards below each other; heights of a card's title, line, bar and padding.
_MARGIN, _TOP, _FOOT = 32, 104, 52
_WIDTHS = (224, 238, 212, 204, 196)
_GAP, _BETWEEN = 134, 16
_HEAD, _ROW, _BAR, _PAD = 36, 23, 21, 12
_ARROW, _RATE = 35, 24  #: Heights that an arrow with its text takes in a gap, and a rate without one.
_LIGHT: dict[str, str] = packaged("texts.toml", "wavewright.words.counters")["memory_chart_light"]
_DARK: dict[str, str] = packaged("texts.toml", "wavewright.words.counters")["memory_chart_dark"]
_THINNEST, _THICKEST = 1.4, 7.0  #: Of wires: the most requests, and those 10,000 times fewer or none.
_KINDS = {"rd": "read", "wr": "write", "at": "atomic", "rq": "requests"}


@dataclass(frozen=True)
class _Card:
    x: float
    y: float
    width: float
    height: float


def draw(document: Document, theme: str, _top: int | None) -> Picture:
    """Blocks and wires, means over all dispatches; there are no rows that could be left out."""
    from wavewright.analysis.counters.memory_chart import memory_chart
    from wavewright.words.counters.memory_chart import memory_chart_report

    answer: MemoryChart = document.kept(("topic", "memory-chart"), lambda: memory_chart(document.counters))
    if not answer.values["value"].count() and not answer.wires["value"].count():
        raise UsageError("nothing of the memory chart was measured", where=document.label)
    verdict = plot_words.headline(memory_chart_report(answer, width=140, has_colours=False))
    return Picture("memory-chart", memory_chart_svg(answer, theme=theme), verdict)


def memory_chart_svg(answer: MemoryChart, *, theme: str = "auto") -> str:
    """The picture, in the proportions of a slide. Raises `UsageError` when there is no such theme."""
    return _Drawing(answer, theme).text()


class _Drawing:
    """The picture while it is drawn: cards are placed first, then wires and cards are drawn."""

    def __init__(self, answer: MemoryChart, theme: str) -> None:
        self.answer = answer
        self.lines = {block: block_lines(answer, block) for block in answer.blocks["block"]}
        self.titles = dict(answer.blocks.select("block", "title").iter_rows())
        self.cards = self._placed()
        self.width = max(card.x + card.width for card in self.cards.values()) + _MARGIN
        bottom = max(card.y + card.height for card in self.cards.values())
        height = bottom + _FOOT
        title = f"Memory chart of {subject(answer)}"
        about = "; ".join(answer.caveats)
        self.svg = Svg(self.width, height, title=title, about=about, light=_LIGHT, dark=_DARK, theme=theme)
        self.svg.add("rect", "paper", x=0, y=0, width=self.width, height=height)
        self.bottom = bottom

    def text(self) -> str:
        room = self.width - 2 * _MARGIN
        self.svg.label("text", _MARGIN, 48, fitting(headline(self.answer), 25, room), size=25, font_weight="700")
        heading = subject(self.answer, width=int(room / text_width("e", 15)))
        self.svg.label("soft", _MARGIN, 77, fitting(heading, 15, room), size=15, title=subject(self.answer))
        pairs = self.answer.wires.select("source", "target").unique(maintain_order=True).iter_rows()
        for source, target in pairs:
            self._wire(source, target)
        for block in self.cards:
            self._card(block)
        self._foot()
        return self.svg.text()

    def _placed(self) -> dict[str, _Card]:
        """Cards by block; those of stage 0 share one, under the name of the first."""
        columns = columns_of(self.answer)
        hub, onward = columns.hub or "", columns.onward or ""
        lefts = [_MARGIN + sum(_WIDTHS[:stage]) + stage * _GAP for stage in range(len(_WIDTHS))]
        heights = {block: self._height(block) for block in self.lines}
        asked_by = {**dict.fromkeys(columns.near, "exec"), onward: hub, **dict.fromkeys(columns.far, onward)}
        for block, source in asked_by.items():
            for lines in (wire_lines(self.answer, source, block), wire_lines(self.answer, block, hub)):
                heights[block] = max(heights.get(block, 0.0), _wires_height(lines) + 2 * _PAD)
        inner = [block for block in CU_SECTIONS if block in self.lines]
        gaps = _BETWEEN * max(0, len(columns.near) - 1)
        near = sum(heights[block] for block in columns.near) + gaps
        total = max(sum(heights[block] for block in inner), near)
        spare = (total - near) / max(1, len(columns.near))
        cards = {inner[0]: _Card(lefts[0], _TOP, _WIDTHS[0], total)} if inner else {}
        y: float = _TOP
        for block in columns.near:
            cards[block] = _Card(lefts[1], y, _WIDTHS[1], heights[block] + spare)
            y += heights[block] + spare + _BETWEEN
        reaching = [block for block in columns.near if wire_lines(self.answer, block, hub)]
        top = cards[reaching[0]].y if reaching else _TOP
        tall = _TOP + total - top
        if hub:
            cards[hub] = _Card(lefts[2], top, _WIDTHS[2], tall)
        far = sum(heights[block] + 2 * _BETWEEN for block in columns.far) - _BETWEEN * bool(columns.far)
        right_height = max(far, heights[onward]) if onward else far
        y = top + max(0.0, (tall - right_height) / 2)
        if onward:
            cards[onward] = _Card(lefts[3], y, _WIDTHS[3], right_height)
        for block in columns.far:
            cards[block] = _Card(lefts[4], y, _WIDTHS[4], heights[block] + _BETWEEN)
            y += heights[block] + 2 * _BETWEEN
        return cards

    def _height(self, block: str) -> float:
        return _HEAD + _PAD + sum(_ROW + (_BAR if line.share is not None else 0) for line in self.lines[block])

    def _card(self, block: str) -> None:
        card = self.cards[block]
        sections = [name for name in CU_SECTIONS if name in self.lines] if block in CU_SECTIONS else [block]
        heat = next((line.heat for line in self.lines[block] if line.share is not None), "")
        busy = f" busy{'-' * bool(heat)}{heat}" if block == self.answer.busiest else ""
        self.svg.add("rect", f"card{busy}", x=card.x, y=card.y, width=card.width, height=card.height, rx=10)
        spare = max(0.0, card.height - sum(self._height(name) for name in sections)) / len(sections)
        y = card.y if len(sections) > 1 else card.y + spare / 2
        for number, name in enumerate(sections):
            if number:
                self.svg.line("rule", [(card.x, y), (card.x + card.width, y)])
            self.svg.label("text", card.x + 14, y + 25, self.titles[name], size=17, font_weight="700")
            self._lines(card, y + _HEAD, self.lines[name])
            y += self._height(name) + spare

    def _lines(self, card: _Card, y: float, lines: Sequence[Line]) -> None:
        left, right = card.x + 14, card.x + card.width - 14
        for line in lines:
            label = "idle" if line.is_idle else "soft"
            value = line.heat or ("idle" if line.is_idle else "text")
            self.svg.label(label, left, y + 15, line.label, size=14)
            self.svg.label(
                value, right, y + 15, line.value, size=14.5, anchor="end", font_weight="600", title=line.hint
            )
            y += _ROW
            if line.share is not None:
                room = right - left - 46
                filled = room * min(1.0, line.share / 100)
                self.svg.add("rect", "track", x=left, y=y + 2, width=room, height=9, rx=4.5)
                colour = f"bar-{line.heat}" if line.heat else "bar"
                if filled >= 1:
                    self.svg.add(
                        "rect", colour, x=left, y=y + 2, width=max(filled, 4), height=9, rx=min(4.5, filled / 2)
                    )
                self.svg.label(value, right, y + 11, f"{line.share:.0f} %", size=13, anchor="end", font_weight="600")
                y += _BAR

    def _wire(self, source: str, target: str) -> None:
        """Arrows in the gap before the target; data of reads comes back, so that their heads are on the left."""
        right = self.cards[target].x - 3
        left = right - _GAP + 6
        card = min((self.cards[name] for name in (source, target) if name in self.cards), key=lambda card: card.height)
        lines = wire_lines(self.answer, source, target)
        y = card.y + max(_PAD, (card.height - _wires_height(lines)) / 2) + 15
        for line in lines:
            middle = (left + right) / 2
            style = line.heat or ("idle" if line.is_idle else "text")
            if not line.label:
                self.svg.label(style, middle, y + 6, line.value, size=14.5, anchor="middle", font_weight="700")
                y += _RATE
                continue
            text = f"{_KINDS[line.label]} {line.value}"
            if text_width(text, 13.5) >= _GAP - 16:
                text = f"{line.label} {line.value}"
            self.svg.label(style, middle, y, text, size=13.5, anchor="middle", title=line.hint)
            colour = f"wire-{line.heat}" if line.heat else "wire-idle" if line.is_idle else "wire"
            self._arrow(colour, left, right, y + 10, line)
            y += _ARROW

    def _arrow(self, colour: str, left: float, right: float, y: float, line: Line) -> None:
        """An arrow: to the left for data of reads, to the right for that of writes, else with two heads."""
        is_left, is_right = line.label != "wr", line.label != "rd"
        thick = self._thickness(line)
        head = 6 + thick
        self.svg.line(colour, [(left + head * is_left, y), (right - head * is_right, y)], stroke_width=thick)
        for is_drawn, tip, back in ((is_left, left, left + head), (is_right, right, right - head)):
            if is_drawn:
                half = 3.5 + thick / 2
                points = f"{tip:.1f},{y:.1f} {back:.1f},{y - half:.1f} {back:.1f},{y + half:.1f}"
                self.svg.add("polygon", colour, points=points, stroke_width=0)

    def _thickness(self, line: Line) -> float:
        """Thicker where more requests flow, by their logarithm within the chart."""
        requests = self.answer.wires.filter(self.answer.wires["kind"] != "traffic")["value"].drop_nulls().to_list()
        if line.is_idle or line.amount is None or line.amount <= 0:
            return _THINNEST
        decades = math.log10(line.amount / max(requests))  # 0 = the most, -4 = the thinnest
        return max(_THINNEST, _THICKEST + decades * (_THICKEST - _THINNEST) / 4)

    def _foot(self) -> None:
        y = self.bottom + 32
        x: float = _MARGIN
        legend = "wires: thicker = more requests · bars: share of the peak · life, latencies: cycles · ? = not measured"
        for classes, text in (
            ("good", "good"),
            ("warm", "worth a look"),
            ("hot", "much, or near the peak"),
            ("soft", legend),
        ):
            self.svg.label(classes, x, y, text, size=13)
            x += text_width(text, 13) + 12
        self.svg.label("idle", self.width - _MARGIN, y, "wavewright memory-chart", size=13, anchor="end")


def _wires_height(lines: Sequence[Line]) -> float:
    return sum(_ARROW if line.label else _RATE for line in lines)
