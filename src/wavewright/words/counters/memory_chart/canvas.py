"""The memory chart in characters: a block diagram where there is room, boxes below each other where there is not.

What a block and a wire say comes from `chart_lines`; here lines are placed on a canvas, whose y axis points down. A
line takes one row, and one more for its bar if it is a share of a peak.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, groupby
from typing import NamedTuple

from wavewright.analysis.counters.memory_chart import MemoryChart
from wavewright.facts.loader import packaged
from wavewright.model.blocks import Sentence, sentence
from wavewright.words.counters.memory_chart.chart_lines import (
    CU_SECTIONS,
    Columns,
    Line,
    block_lines,
    columns_of,
    wire_lines,
)

HEAT = {"hot": "bold #D55E00", "warm": "#E69F00", "good": "#009E73", "": ""}  #: Heat -> style (Okabe-Ito).
_PLAIN_COLOUR = "#56B4E9"  #: Of bars and of the busiest block where they have no heat.
_WIDE, _NARROWEST, _WIDEST = 120, 60, 172  #: Characters: of a diagram at least, of a stack at least, of both at most.
_FRAME, _IDLE = "dim", "dim"
_BAR_FULL, _BAR_EMPTY = "▰", "▱"
_LEAST_WIDTHS = (22, 20, 19, 20)  #: Of the columns of a diagram: CUs, their caches, the hub, what is beyond it.
_LEAST_GAP, _MOST_GAP = 13, 17  #: Characters between two columns, for the wires.
_BRIEF: dict[str, str] = packaged("texts.toml", "wavewright.words.counters")["brief_labels"]


def chart_canvas(answer: MemoryChart, width: int) -> Canvas:
    """The chart, at most `width` characters wide."""
    columns = columns_of(answer)
    if width >= _WIDE and columns.near and columns.hub:
        return _Diagram(answer, columns, min(width, _WIDEST))
    return _Stack(answer, max(_NARROWEST, min(width, _WIDE)))


class Rectangle(NamedTuple):
    """A rectangle of a canvas, in characters from its upper left corner."""

    x: int
    y: int
    width: int
    height: int


class Canvas:
    """Lines of styled characters."""

    def __init__(self, width: int) -> None:
        self.width = width
        self._rows: list[list[tuple[str, str]]] = []  #: Of each row: (character, style).

    def put(self, x: int, y: int, text: str, style: str = "") -> None:
        """Write a text; what lies outside is cut."""
        while len(self._rows) <= y:
            self._rows.append([(" ", "")] * self.width)
        row = self._rows[y]
        for column, character in enumerate(text[: max(0, self.width - x)], start=x):
            row[column] = (character, style)

    def box(self, area: Rectangle, title: str, style: str) -> None:
        """Draw a frame with its title in the upper edge."""
        x, y, width, height = area
        self.put(x, y, f"╭{'─' * (width - 2)}╮", style)
        for row in range(y + 1, y + height - 1):
            self.put(x, row, "│", style)
            self.put(x + width - 1, row, "│", style)
        self.put(x, y + height - 1, f"╰{'─' * (width - 2)}╯", style)
        self._title(area, title)

    def divider(self, area: Rectangle, title: str, style: str) -> None:
        """Draw a line with a title across a box, at the top of `area`."""
        self.put(area.x, area.y, f"├{'─' * (area.width - 2)}┤", style)
        self._title(area, title)

    def _title(self, area: Rectangle, title: str) -> None:
        self.put(area.x + 1, area.y, f" {title} "[: area.width - 2], "bold")

    def lines(self) -> Iterator[Sentence]:
        """The lines from the top, without trailing blanks."""
        for row in self._rows:
            length = max((column for column, (character, _) in enumerate(row, 1) if character != " "), default=0)
            groups = groupby(row[:length], key=lambda cell: cell[1])
            yield sentence(*(("".join(character for character, _ in cells), style) for style, cells in groups))


class _ChartCanvas(Canvas):
    """A canvas that draws the blocks and wires of a memory chart."""

    def __init__(self, answer: MemoryChart, width: int) -> None:
        super().__init__(width)
        self.answer = answer
        self.titles = dict(answer.blocks.select("block", "title").iter_rows())
        self.block_lines = {block: block_lines(answer, block) for block in (*self.titles, *CU_SECTIONS)}

    def block_box(self, area: Rectangle, block: str) -> None:
        """Draw the frame of a block; that of the busiest one is coloured."""
        heat = next((line.heat for line in self.block_lines[block] if line.share is not None), "")
        style = HEAT[heat] or _PLAIN_COLOUR if block == self.answer.busiest else _FRAME
        self.box(area, self.titles[block], style)

    def filled_box(self, area: Rectangle, block: str) -> None:
        """Draw the frame of a block with its lines in the middle."""
        lines = self.block_lines[block]
        self.block_box(area, block)
        self.put_lines(area.x + 2, area.y + max(1, (area.height - _height(lines)) // 2), area.width - 4, lines)

    def put_lines(self, x: int, y: int, width: int, lines: Sequence[Line]) -> None:
        """Write lines below each other, each with its bar below it."""
        for line in lines:
            self.put(x, y, _label(line.label, width - len(line.value) - 1), _IDLE if line.is_idle else "")
            self.put(x + width - len(line.value), y, line.value, _style(line))
            y += 1
            if line.share is not None:
                self._bar(x, y, width, line.share, line.heat)
                y += 1

    def _bar(self, x: int, y: int, width: int, share: float, heat: str) -> None:
        """Draw a share in percent as a bar, and its number at the right."""
        text = f" {share:.0f} %"
        length = max(4, width - len(text))
        full = min(length, round(length * share / 100))
        self.put(x, y, _BAR_FULL * full, HEAT[heat] or _PLAIN_COLOUR)
        self.put(x + full, y, _BAR_EMPTY * (length - full), _FRAME)
        self.put(x + width - len(text), y, text, HEAT[heat])


class _FlowWord(NamedTuple):
    """A word in a row of traffic; `x` counts from the start of the row."""

    x: int
    text: str
    style: str


class _Stack(_ChartCanvas):
    """Boxes in two columns, the next always in the shorter one; each starts with the traffic into it."""

    def __init__(self, answer: MemoryChart, width: int) -> None:
        super().__init__(answer, width)
        half = (width - 2) // 2
        bottoms = [0, 0]
        pairs = answer.wires.select("source", "target").unique(maintain_order=True).rows()
        for block in self.titles:
            side = 0 if bottoms[0] <= bottoms[1] else 1
            sources = [source for source, target in pairs if target == block]
            flows = [row for source in sources for row in self._flow_rows(source, block, half - 4, len(sources))]
            area = Rectangle(side * (half + 2), bottoms[side], half, 2 + len(flows) + _height(self.block_lines[block]))
            bottoms[side] += area.height
            self.block_box(area, block)
            for y, row in enumerate(flows, start=area.y + 1):
                for word in row:
                    self.put(area.x + 2 + word.x, y, word.text, word.style)
            self.put_lines(area.x + 2, area.y + 1 + len(flows), half - 4, self.block_lines[block])

    def _flow_rows(self, source: str, block: str, width: int, source_count: int) -> list[list[_FlowWord]]:
        """The traffic from a block into another, in rows of `width` characters; one of several sources is named."""
        wires = wire_lines(self.answer, source, block)
        lead = f"{self.titles[source]} ▶ " if source_count > 1 and self.titles[source] else "▶ "
        rows = [[_FlowWord(0, lead, _FRAME)]]
        x = len(lead)
        for line in wires:
            text = f"{line.label} {line.value}".strip()
            if x + len(text) > width and len(rows[-1]) > 1:
                rows.append([_FlowWord(0, "▶".rjust(len(lead) - 1), _FRAME)])
                x = len(lead)
            rows[-1].append(_FlowWord(x, text, _style(line)))
            x += len(text) + 2
        return rows if wires else []


class _Diagram(_ChartCanvas):
    """Four columns: the CUs, their caches (near), what these all ask (the hub), what that asks (onward) and beyond.

    The last level beyond stands below the onward block, the others above it.
    """

    def __init__(self, answer: MemoryChart, columns: Columns, width: int) -> None:
        super().__init__(answer, width)
        self.gap = min(_MOST_GAP, _LEAST_GAP + (width - _WIDE) // 10)
        widths = _shares(width - 3 * self.gap, _LEAST_WIDTHS)
        lefts = list(accumulate((column + self.gap for column in widths[:-1]), initial=0))
        hub = columns.hub or ""
        to_hub = {block: wire_lines(answer, block, hub) for block in columns.near}
        heights = {block: 2 + max(_height(self.block_lines[block]), len(to_hub[block]), 2) for block in columns.near}
        sections = [self.block_lines[block] for block in CU_SECTIONS if self.block_lines[block]]
        cu_height = 1 + sum(1 + _height(lines) for lines in sections)
        total = max(sum(heights.values()), cu_height)
        self._compute(widths[0], total, spare=max(0, total - cu_height))
        hub_top = None  # that of the first cache which asks the hub
        y = 0
        for block, height in heights.items():
            self.filled_box(Rectangle(lefts[1], y, widths[1], height), block)
            source = "waves" if block == "instruction_l1" else "exec"
            self._wire(lefts[1] - self.gap, y, height, wire_lines(answer, source, block))
            self._wire(lefts[2] - self.gap, y, height, to_hub[block])
            hub_top = y if hub_top is None and to_hub[block] else hub_top
            y += height
        hub_top = hub_top or 0
        self.filled_box(Rectangle(lefts[2], hub_top, widths[2], total - hub_top), hub)
        if columns.onward:
            top = hub_top if len(columns.far) < 2 else 0
            self._beyond(columns, columns.onward, Rectangle(lefts[3], top, widths[3], total - top))

    def _compute(self, width: int, height: int, *, spare: int) -> None:
        """Draw the sections of the CUs in one box; `spare` lines are spread among them."""
        sections = [block for block in CU_SECTIONS if block in self.titles]
        area = Rectangle(0, 0, width, height)
        self.box(area, self.titles[sections[0]] if sections else "CUs", _FRAME)
        for block in sections:
            if area.y:
                self.divider(area, self.titles[block], _FRAME)
            self.put_lines(2, area.y + 1, width - 4, self.block_lines[block])
            area = area._replace(y=area.y + 1 + _height(self.block_lines[block]) + spare // len(sections))

    def _beyond(self, columns: Columns, onward: str, area: Rectangle) -> None:
        """Draw the onward block, the levels beyond it, and the wires between them."""
        stack = [*columns.far[:-1], onward, *columns.far[-1:]]
        wires = {block: wire_lines(self.answer, onward, block) for block in columns.far}
        from_hub = wire_lines(self.answer, columns.hub or "", onward)
        heights = {block: 2 + _height(self.block_lines[block]) for block in stack}
        heights[onward] = max(heights[onward], len(from_hub) + 2)
        wire_height = sum(len(lines) for lines in wires.values())
        free_height = max(0, area.height - sum(heights.values()) - wire_height)
        spare, odd = divmod(free_height, max(1, len(wires)))
        y = area.y + (0 if wires else max(0, area.height - heights[onward]) // 2)
        for number, block in enumerate(stack, 1):
            self.filled_box(Rectangle(area.x, y, area.width, heights[block]), block)
            if block == onward:
                self._wire(area.x - self.gap, y, heights[block], from_hub)
            y += heights[block]
            if number < len(stack):
                lines = wires[block if block in wires else stack[number]]
                room = len(lines) + spare + (odd if number + 1 == len(stack) else 0)
                self._drop(area.x + area.width // 2 - 4, y, lines, room)
                y += room

    def _drop(self, x: int, y: int, lines: Sequence[Line], height: int) -> None:
        """Draw a wire from a box to the one below it."""
        for row in range(height):
            self.put(x, y + row, "│", _FRAME)
        first = y + (height - len(lines)) // 2
        for row, line in enumerate(lines, first):
            self.put(x + 2, row, f"{line.label} {line.value}", _style(line))

    def _wire(self, x: int, y: int, height: int, lines: Sequence[Line]) -> None:
        """Draw lines of text with arrows in the gap between two boxes; data of reads comes back."""
        first = y + max(1, (height - len(lines)) // 2)
        for row, line in enumerate(lines, start=first):
            style = _style(line)
            text = f"{line.label} {line.value}".strip()
            if not line.label:  # a rate: no kind of request, and so no direction
                self.put(x + max(1, (self.gap - len(text)) // 2), row, text, style)
                continue
            left_end, right_end = {"rd": ("◀", "─"), "wr": ("─", "▶")}.get(line.label, ("◀", "▶"))
            room = self.gap - 2 - len(text) - 2
            self.put(x, row, left_end + "─" * (room // 2), style or _FRAME)
            self.put(x + 1 + room // 2, row, f" {text} ", style)
            self.put(x + 3 + room // 2 + len(text), row, "─" * (room - room // 2) + right_end, style or _FRAME)


def _height(lines: Sequence[Line]) -> int:
    """Rows that lines take; a bar takes one of its own."""
    return sum(1 + (line.share is not None) for line in lines)


def _label(label: str, room: int) -> str:
    """The label, or a brief one where there is not enough room."""
    for word, brief in _BRIEF.items():
        label = label if len(label) <= room else label.replace(word, brief)
    return label if len(label) <= room else label[: max(0, room - 1)] + "…"[:room]


def _style(line: Line) -> str:
    return HEAT[line.heat] or (_IDLE if line.is_idle else "")


def _shares(total: int, least: Sequence[int]) -> list[int]:
    """`total` cut into parts that have at least the given sizes; what remains is spread evenly."""
    spare, odd = divmod(max(0, total - sum(least)), len(least))
    return [size + spare + (number < odd) for number, size in enumerate(least)]
