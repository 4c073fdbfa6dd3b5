"""The memory chart in characters: a block diagram where there is room, boxes below each other where there is not."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

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
_WIDE, _NARROWEST, _WIDEST = 120, 60, 172  #: Characters: of a diagram at least, of a stack at least, of both at most.
_FRAME, _IDLE = "dim", "dim"
_BAR_FULL, _BAR_EMPTY = "▰", "▱"
_LEAST_WIDTHS = (22, 20, 19, 20)  #: Of the columns of a diagram.
_BRIEF: dict[str, str] = packaged("texts.toml", "wavewright.words.counters")["brief_labels"]


def chart_canvas(answer: MemoryChart, width: int) -> Canvas:
    """The chart, at most `width` characters wide."""
    columns = columns_of(answer)
    if width >= _WIDE and columns.near and columns.hub:
        return _Diagram(answer, columns, min(width, _WIDEST))
    return _Stack(answer, max(_NARROWEST, min(width, _WIDE)))


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

    def box(self, x: int, y: int, width: int, height: int, title: str, style: str) -> None:
        """Draw a frame with its title in the upper edge."""
        self.put(x, y, f"╭{'─' * (width - 2)}╮", style)
        for row in range(y + 1, y + height - 1):
            self.put(x, row, "│", style)
            self.put(x + width - 1, row, "│", style)
        self.put(x, y + height - 1, f"╰{'─' * (width - 2)}╯", style)
        self.put(x + 1, y, f" {title} "[: width - 2], "bold")

    def divider(self, x: int, y: int, width: int, title: str, style: str) -> None:
        """Draw a line across a box, with a title."""
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


class _ChartCanvas(Canvas):
    """A canvas that draws the blocks and wires of a memory chart."""

    def __init__(self, answer: MemoryChart, width: int) -> None:
        super().__init__(width)
        self.answer = answer
        self.titles = dict(answer.blocks.select("block", "title").iter_rows())
        self.block_lines = {block: block_lines(answer, block) for block in (*self.titles, *CU_SECTIONS)}

    def block_box(self, x: int, y: int, width: int, height: int, block: str) -> None:
        """Draw the frame of a block; that of the busiest one is coloured."""
        heat = next((line.heat for line in self.block_lines[block] if line.share is not None), "")
        style = HEAT[heat] or "#56B4E9" if block == self.answer.busiest else _FRAME
        self.box(x, y, width, height, self.titles[block], style)

    def filled_box(self, x: int, y: int, width: int, height: int, block: str) -> None:
        """Draw the frame of a block with its lines in the middle."""
        lines = self.block_lines[block]
        self.block_box(x, y, width, height, block)
        self.put_lines(x + 2, y + max(1, (height - _height(lines)) // 2), width - 4, lines)

    def put_lines(self, x: int, y: int, width: int, lines: Sequence[Line]) -> None:
        """Write lines below each other, each with its bar below it."""
        for line in lines:
            self.put(x, y, _label(line.label, width - len(line.value) - 1), _IDLE if line.is_idle else "")
            self.put(x + width - len(line.value), y, line.value, _style(line))
            y += 1
            if line.share is not None:
                text = f" {line.share:.0f} %"
                length = max(4, width - len(text))
                full = min(length, round(length * line.share / 100))
                self.put(x, y, _BAR_FULL * full, HEAT[line.heat] or "#56B4E9")
                self.put(x + full, y, _BAR_EMPTY * (length - full), _FRAME)
                self.put(x + width - len(text), y, text, HEAT[line.heat])
                y += 1


class _Stack(_ChartCanvas):
    """Boxes in two columns; each starts with the traffic into it."""

    def __init__(self, answer: MemoryChart, width: int) -> None:
        super().__init__(answer, width)
        half = (width - 2) // 2
        bottoms = [0, 0]
        pairs = answer.wires.select("source", "target").unique(maintain_order=True).rows()
        for block in self.titles:
            side = 0 if bottoms[0] <= bottoms[1] else 1
            sources = [source for source, target in pairs if target == block]
            flows = [row for source in sources for row in self._flow_rows(source, block, half - 4, len(sources))]
            x, y = side * (half + 2), bottoms[side]
            bottoms[side] += 2 + len(flows) + _height(self.block_lines[block])
            self.block_box(x, y, half, bottoms[side] - y, block)
            for at, row in enumerate(flows, start=1):
                for start, text, style in row:
                    self.put(x + 2 + start, y + at, text, style)
            self.put_lines(x + 2, y + 1 + len(flows), half - 4, self.block_lines[block])

    def _flow_rows(self, source: str, block: str, width: int, source_count: int) -> list[list[tuple[int, str, str]]]:
        """The traffic from a block into another: (position, label, style) per row; one of several sources is named."""
        wires = wire_lines(self.answer, source, block)
        lead = f"{self.titles[source]} ▶ " if source_count > 1 and self.titles[source] else "▶ "
        rows = [[(0, lead, _FRAME)]]
        at = len(lead)
        for line in wires:
            text = f"{line.label} {line.value}".strip()
            if at + len(text) > width and len(rows[-1]) > 1:
                rows.append([(0, "▶".rjust(len(lead) - 1), _FRAME)])
                at = len(lead)
            rows[-1].append((at, text, _style(line)))
            at += len(text) + 2
        return rows if wires else []


class _Diagram(_ChartCanvas):
    """Columns from the CUs over their caches to what these ask, and what that asks; the rest above and below it."""

    def __init__(self, answer: MemoryChart, columns: Columns, width: int) -> None:
        super().__init__(answer, width)
        self.gap = gap = 13 + min(4, (width - _WIDE) // 10)
        boxes = _shares(width - 3 * gap, _LEAST_WIDTHS)
        lefts = [sum(boxes[:at]) + at * gap for at in range(4)]
        hub = columns.hub or ""
        onward = {block: wire_lines(answer, block, hub) for block in columns.near}
        heights = {block: 2 + max(_height(self.block_lines[block]), len(onward[block]), 2) for block in columns.near}
        sections = [self.block_lines[block] for block in CU_SECTIONS if self.block_lines[block]]
        cu_height = 1 + sum(1 + _height(lines) for lines in sections)
        total = max(sum(heights.values()), cu_height)
        self._compute(boxes[0], total, spare=max(0, total - cu_height))
        top = None
        y = 0
        for block, height in heights.items():
            self.filled_box(lefts[1], y, boxes[1], height, block)
            source = "waves" if block == "instruction_l1" else "exec"
            self._wire(lefts[1] - gap, y, height, wire_lines(answer, source, block))
            self._wire(lefts[2] - gap, y, height, onward[block])
            top = y if top is None and onward[block] else top
            y += height
        top = top or 0
        self.filled_box(lefts[2], top, boxes[2], total - top, hub)
        if columns.onward:
            self._beyond(columns, lefts[3], boxes[3], top if len(columns.far) < 2 else 0, total)

    def _compute(self, width: int, height: int, *, spare: int) -> None:
        """Draw the sections of the CUs in one box; `spare` lines are spread among them."""
        sections = [block for block in CU_SECTIONS if block in self.titles]
        self.box(0, 0, width, height, self.titles[sections[0]] if sections else "CUs", _FRAME)
        y = 0
        for at, block in enumerate(sections):
            if at:
                self.divider(0, y, width, self.titles[block], _FRAME)
            self.put_lines(2, y + 1, width - 4, self.block_lines[block])
            y += 1 + _height(self.block_lines[block]) + spare // len(sections)

    def _beyond(self, columns: Columns, x: int, width: int, top: int, bottom: int) -> None:
        """Draw the levels beyond the hub below it, and its other connections above it."""
        total = bottom - top
        middle = columns.onward or ""
        stack = [*columns.far[:-1], middle, *columns.far[-1:]]
        wires = {block: wire_lines(self.answer, middle, block) for block in columns.far}
        into = wire_lines(self.answer, columns.hub or "", middle)
        heights = {block: 2 + _height(self.block_lines[block]) for block in stack}
        heights[middle] = max(heights[middle], len(into) + 2)
        between = sum(len(lines) for lines in wires.values())
        spare, odd = divmod(max(0, total - sum(heights.values()) - between), max(1, len(wires)))
        y = top + (0 if wires else max(0, total - heights[middle]) // 2)
        for at, block in enumerate(stack):
            self.filled_box(x, y, width, heights[block], block)
            if block == middle:
                self._wire(x - self.gap, y, heights[block], into)
            y += heights[block]
            if at + 1 < len(stack):
                lines = wires[block if block in wires else stack[at + 1]]
                room = len(lines) + spare + (odd if at + 2 == len(stack) else 0)
                self._drop(x + width // 2 - 4, y, lines, room)
                y += room

    def _drop(self, x: int, y: int, lines: Sequence[Line], height: int) -> None:
        """Draw a wire from a box to the one below it."""
        for row in range(height):
            self.put(x, y + row, "│", _FRAME)
        first = y + (height - len(lines)) // 2
        for row, line in enumerate(lines):
            self.put(x + 2, first + row, f"{line.label} {line.value}", _style(line))

    def _wire(self, x: int, y: int, height: int, lines: Sequence[Line]) -> None:
        """Draw lines of text with arrows in the gap between two boxes; data of reads comes back."""
        first = y + max(1, (height - len(lines)) // 2)
        for row, line in enumerate(lines, start=first):
            style = _style(line)
            text = f"{line.label} {line.value}".strip()
            if not line.label:
                self.put(x + max(1, (self.gap - len(text)) // 2), row, text, style)
                continue
            begin, end = {"rd": ("◀", "─"), "wr": ("─", "▶")}.get(line.label, ("◀", "▶"))
            room = self.gap - 2 - len(text) - 2
            self.put(x, row, begin + "─" * (room // 2), style or _FRAME)
            self.put(x + 1 + room // 2, row, f" {text} ", style)
            self.put(x + 3 + room // 2 + len(text), row, "─" * (room - room // 2) + end, style or _FRAME)


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
    spare = max(0, total - sum(least))
    return [size + spare // len(least) + (at < spare % len(least)) for at, size in enumerate(least)]
