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


HEAT = {"hot": "bold #D55E00", "warm": "#E69F00", "good": "#009E73", "": ""}  #: Heat -> style (Okabe-Ito).
_WIDE, _NARROWEST, _WIDEST = 120, 60, 172
_FRAME, _IDLE = "dim", "dim"
_BAR_FULL, _BAR_EMPTY = "▰", "▱"


def chart_canvas(answer: MemoryChart, width: int) -> Canvas:
    """The chart, at most `width` characters wide."""
    columns = columns_of(answer)
    if width >= _WIDE and columns.near and columns.hub:
        return _diagram(answer, columns, min(width, _WIDEST))
    return _stack(answer, max(_NARROWEST, min(width, _WIDE)))


def _stack(answer: MemoryChart, width: int) -> Canvas:
    """Boxes in two columns; each starts with the traffic into it."""
    canvas = Canvas(width)
    half = (width - 2) // 2
    bottoms = [0, 0]
    titles = dict(answer.blocks.select("block", "title").iter_rows())
    pairs = answer.wires.select("source", "target").unique(maintain_order=True).rows()
    for block, title in titles.items():
        side = 0 if bottoms[0] <= bottoms[1] else 1
        sources = [source for source, target in pairs if target == block]
        flows = [
            row
            for source in sources
            for row in _flow_rows(
                titles[source] if len(sources) > 1 else "", wire_lines(answer, source, block), half - 4
            )
        ]
        lines = block_lines(answer, block)
        x, y = side * (half + 2), bottoms[side]
        bottoms[side] += 2 + len(flows) + _height(lines)
        _box(canvas, answer, x, y, half, bottoms[side] - y, block, title)
        for at, row in enumerate(flows, start=1):
            for start, text, style in row:
                canvas.put(x + 2 + start, y + at, text, style)
        _put_lines(canvas, x + 2, y + 1 + len(flows), half - 4, lines)
    return canvas


def _flow_rows(source: str, wires: Sequence[Line], width: int) -> list[list[tuple[int, str, str]]]:
    """The traffic into a box: (position, label, style) per row."""
    lead = f"{source} ▶ " if source else "▶ "
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


def _diagram(answer: MemoryChart, columns: Columns, width: int) -> Canvas:
    """Columns from the CUs over their caches to what these ask, and what that asks; the rest above and below it."""
    canvas = Canvas(width)
    titles = dict(answer.blocks.select("block", "title").iter_rows())
    gap = 13 + min(4, (width - _WIDE) // 10)
    boxes = _shares(width - 3 * gap, (22, 20, 19, 20))
    lefts = [sum(boxes[:at]) + at * gap for at in range(4)]
    hub = columns.hub or ""
    heights = {
        block: 2 + max(_height(block_lines(answer, block)), len(wire_lines(answer, block, hub)), 2)
        for block in columns.near
    }
    total = max(sum(heights.values()), _cu_height(answer))
    _compute(canvas, answer, boxes[0], total)
    top = None
    y = 0
    for block, height in heights.items():
        _filled(canvas, answer, (lefts[1], y, boxes[1], height), block, titles[block])
        source = "waves" if block == "instruction_l1" else "exec"
        _wire(canvas, lefts[1] - gap, y, height, gap, wire_lines(answer, source, block))
        onward = wire_lines(answer, block, hub)
        _wire(canvas, lefts[2] - gap, y, height, gap, onward)
        top = y if top is None and onward else top
        y += height
    top = top or 0
    _filled(canvas, answer, (lefts[2], top, boxes[2], total - top), hub, titles[hub])
    if columns.onward:
        _beyond(canvas, answer, columns, (lefts[3], boxes[3], gap), (top if len(columns.far) < 2 else 0, total))
    return canvas


def _filled(canvas: Canvas, answer: MemoryChart, place: tuple[int, int, int, int], block: str, title: str) -> None:
    """A box with its lines in the middle."""
    x, y, width, height = place
    lines = block_lines(answer, block)
    _box(canvas, answer, x, y, width, height, block, title)
    _put_lines(canvas, x + 2, y + max(1, (height - _height(lines)) // 2), width - 4, lines)


def _beyond(
    canvas: Canvas, answer: MemoryChart, columns: Columns, place: tuple[int, int, int], rows: tuple[int, int]
) -> None:
    """The levels beyond the hub below it, and its other connections above it."""
    x, width, gap = place
    top, total = rows[0], rows[1] - rows[0]
    titles = dict(answer.blocks.select("block", "title").iter_rows())
    middle = columns.onward or ""
    stack = [*columns.far[:-1], middle, *columns.far[-1:]]
    wires = {block: wire_lines(answer, middle, block) for block in columns.far}
    into = wire_lines(answer, columns.hub or "", middle)
    heights = {block: 2 + _height(block_lines(answer, block)) for block in stack}
    heights[middle] = max(heights[middle], len(into) + 2)
    between = sum(len(lines) for lines in wires.values())
    spare, odd = divmod(max(0, total - sum(heights.values()) - between), max(1, len(wires)))
    y = top + (0 if wires else max(0, total - heights[middle]) // 2)
    for at, block in enumerate(stack):
        _filled(canvas, answer, (x, y, width, heights[block]), block, titles[block])
        if block == middle:
            _wire(canvas, x - gap, y, heights[block], gap, into)
        y += heights[block]
        if at + 1 < len(stack):
            lines = wires[block if block in wires else stack[at + 1]]
            room = len(lines) + spare + (odd if at + 2 == len(stack) else 0)
            _drop(canvas, x, y, width, lines, room)
            y += room


def _drop(canvas: Canvas, x: int, y: int, width: int, lines: Sequence[Line], height: int) -> None:
    """A wire from a box to the one below it."""
    middle = x + width // 2 - 4
    for row in range(height):
        canvas.put(middle, y + row, "│", _FRAME)
    first = y + (height - len(lines)) // 2
    for row, line in enumerate(lines):
        canvas.put(middle + 2, first + row, f"{line.label} {line.value}", _style(line))


def _cu_height(answer: MemoryChart) -> int:
    sections = [lines for block in CU_SECTIONS if (lines := block_lines(answer, block))]
    return 1 + sum(1 + _height(lines) for lines in sections)


def _compute(canvas: Canvas, answer: MemoryChart, width: int, height: int) -> None:
    titles = dict(answer.blocks.select("block", "title").iter_rows())
    sections = [(block, block_lines(answer, block)) for block in CU_SECTIONS if block in titles]
    spare = max(0, height - _cu_height(answer))
    canvas.box(0, 0, width, height, titles[sections[0][0]] if sections else "CUs", _FRAME)
    y = 0
    for at, (block, lines) in enumerate(sections):
        if at:
            canvas.divider(0, y, width, titles[block], _FRAME)
        _put_lines(canvas, 2, y + 1, width - 4, lines)
        y += 1 + _height(lines) + spare // len(sections)


def _box(canvas: Canvas, answer: MemoryChart, x: int, y: int, width: int, height: int, block: str, title: str) -> None:
    heat = next((line.heat for line in block_lines(answer, block) if line.share is not None), "")
    frame = HEAT[heat] or "#56B4E9" if block == answer.busiest else _FRAME
    canvas.box(x, y, width, height, title, frame)


def _height(lines: Sequence[Line]) -> int:
    return sum(1 + (line.share is not None) for line in lines)


def _put_lines(canvas: Canvas, x: int, y: int, width: int, lines: Sequence[Line]) -> None:
    for line in lines:
        canvas.put(x, y, _label(line.label, width - len(line.value) - 1), _IDLE if line.is_idle else "")
        canvas.put(x + width - len(line.value), y, line.value, _style(line))
        y += 1
        if line.share is not None:
            text = f" {line.share:.0f} %"
            length = max(4, width - len(text))
            full = min(length, round(length * line.share / 100))
            canvas.put(x, y, _BAR_FULL * full, HEAT[line.heat] or "#56B4E9")
            canvas.put(x + full, y, _BAR_EMPTY * (length - full), _FRAME)
            canvas.put(x + width - len(text), y, text, HEAT[line.heat])
            y += 1


_BRIEF: dict[str, str] = packaged("texts.toml", "wavewright.words.counters")["brief_labels"]


def _label(label: str, room: int) -> str:
    """The label, or a brief one where there is not enough room."""
    for word, brief in _BRIEF.items():
        label = label if len(label) <= room else label.replace(word, brief)
    return label if len(label) <= room else label[: max(0, room - 1)] + "…"[:room]


def _wire(canvas: Canvas, x: int, y: int, height: int, width: int, lines: Sequence[Line]) -> None:
    """Lines of text with arrows in the gap between two boxes; data of reads comes back."""
    first = y + max(1, (height - len(lines)) // 2)
    for row, line in enumerate(lines):
        style = _style(line)
        text = f"{line.label} {line.value}".strip()
        if not line.label:
            canvas.put(x + max(1, (width - len(text)) // 2), first + row, text, style)
            continue
        begin, end = ("◀", "─") if line.label == "rd" else ("─", "▶") if line.label == "wr" else ("◀", "▶")
        room = width - 2 - len(text) - 2
        canvas.put(x, first + row, begin + "─" * (room // 2), style or _FRAME)
        canvas.put(x + 1 + room // 2, first + row, f" {text} ", style)
        canvas.put(x + 3 + room // 2 + len(text), first + row, "─" * (room - room // 2) + end, style or _FRAME)


def _style(line: Line) -> str:
    return HEAT[line.heat] or (_IDLE if line.is_idle else "")


def _shares(total: int, least: Sequence[int]) -> list[int]:
    """`total` cut into parts that have at least the given sizes; what is left is spread evenly."""
    spare = max(0, total - sum(least))
    return [size + spare // len(least) + (at < spare % len(least)) for at, size in enumerate(least)]
