"""The memory chart for the terminal: a block diagram where there is room, boxes below each other where there is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavescope.report._canvas import Canvas
from wavescope.report.memory_chart_words import NOT_MEASURED, Line, block_lines, headline, subject, wire_lines
from wavescope.report.tables import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl
    from rich.console import RenderableType

    from wavescope.analysis.memory_chart import MemoryChart

__all__ = ["chart_canvas", "memory_chart_report", "one_table"]

HEAT = {"hot": "bold #D55E00", "warm": "#E69F00", "good": "#009E73", "": ""}
"""Heat -> style (Okabe-Ito)."""
_WIDE, _NARROWEST, _WIDEST = 120, 60, 172
_FRAME, _IDLE = "dim", "dim"
_MOST_REASONS = 6
_BAR_FULL, _BAR_EMPTY = "▰", "▱"


def memory_chart_report(answer: MemoryChart, *, width: int) -> Iterator[RenderableType]:
    """What is nearest to its peak, the chart, and why values are missing.

    Examples
    --------
    >>> for part in memory_chart_report(chart, width=120):  # doctest: +SKIP
    ...     print(part)
    """
    from rich.text import Text

    yield Text(headline(answer), style="bold")
    yield Text(subject(answer, width=width))
    yield Text()
    yield from chart_canvas(answer, width).lines()
    yield Text.assemble(
        "rd, wr, at: requests to read, write, update; ▰ share of the peak; life and latencies in cycles; ",
        ("good", HEAT["good"]),
        " ",
        ("worth a look", HEAT["warm"]),
        " ",
        ("much", HEAT["hot"]),
    )
    yield from _missing(answer)
    if len(answer.kernel_names) > 1:
        text = f"means over {len(answer.kernel_names):,} different kernels: --kernel 0 shows the longest one alone"
        yield Text.assemble(("note: ", "bold cyan"), text)
    for doubt in answer.doubts:
        yield Text.assemble(("note: ", "bold cyan"), printable(doubt))


def one_table(answer: MemoryChart) -> pl.DataFrame:
    """Values and wires below each other, for CSV: a wire has its two blocks as `block` and its kind as `label`.

    Examples
    --------
    >>> one_table(chart)["block"][0]  # doctest: +SKIP
    'waves'
    """
    import polars as pl

    ends = pl.concat_str("source", pl.lit(" to "), "target").alias("block")
    wires = answer.wires.with_columns(ends, pl.col("kind").alias("label")).drop("source", "target", "kind")
    table = pl.concat([answer.values.drop("about", "is_rate"), wires], how="diagonal")
    return table.select("block", "label", pl.exclude("block", "label"))


def _missing(answer: MemoryChart) -> Iterator[RenderableType]:
    """Why values are missing, the same reason once."""
    from rich.text import Text

    reasons: dict[str, list[str]] = {}
    for row in answer.values.iter_rows(named=True):
        if row["reason"]:
            reasons.setdefault(row["reason"], []).append(f"{row['block']} {row['label']}".replace("_", " "))
    for row in answer.wires.iter_rows(named=True):
        if row["reason"]:
            reasons.setdefault(row["reason"], []).append(f"{row['source']} to {row['target']}".replace("_", " "))
    for reason, places in list(reasons.items())[:_MOST_REASONS]:
        shown = ", ".join(dict.fromkeys(places))
        yield Text.assemble((f"{NOT_MEASURED} ", "bold yellow"), printable(f"{shown}: {reason}"))
    if len(reasons) > _MOST_REASONS:
        yield Text(
            f"showing {_MOST_REASONS} of {len(reasons):,} reasons for missing values; --json has all", style="yellow"
        )


def chart_canvas(answer: MemoryChart, width: int) -> Canvas:
    """The chart, at most `width` characters wide.

    Examples
    --------
    >>> chart_canvas(chart, 80).width  # doctest: +SKIP
    80
    """
    present = set(answer.blocks["block"])
    if width >= _WIDE and {"l2", "fabric", "memory"} <= present:
        return _diagram(answer, min(width, _WIDEST))
    return _stack(answer, max(_NARROWEST, min(width, _WIDE)))


def _stack(answer: MemoryChart, width: int) -> Canvas:
    """Two boxes beside each other, the next two below; each begins with what flows into it."""
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
    """What flows into a box: (place, text, style) per row, as many rows as it takes."""
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


def _diagram(answer: MemoryChart, width: int) -> Canvas:
    """Columns from the CUs over their caches and L2 to the fabric, with HBM below and the links above it."""
    canvas = Canvas(width)
    titles = dict(answer.blocks.select("block", "title").iter_rows())
    stages = dict(answer.blocks.select("block", "stage").iter_rows())
    gap = 13 + min(4, (width - _WIDE) // 10)
    boxes = _shares(width - 3 * gap, (22, 20, 19, 20))
    lefts = [sum(boxes[:at]) + at * gap for at in range(4)]

    near = [block for block, stage in stages.items() if stage == 1]
    tops = {}
    y = 0
    for block in near:
        tops[block] = y
        y += 2 + max(_height(block_lines(answer, block)), len(wire_lines(answer, block, "l2")), 2)
    cu_height = _cu_height(answer)
    total = max(y, cu_height)
    _compute(canvas, answer, boxes[0], total)
    for block in near:
        height = 2 + max(_height(block_lines(answer, block)), len(wire_lines(answer, block, "l2")), 2)
        x = lefts[1]
        _box(canvas, answer, x, tops[block], boxes[1], height, block, titles[block])
        _put_lines(canvas, x + 2, tops[block] + 1, boxes[1] - 4, block_lines(answer, block))
        source = "waves" if block == "instruction_l1" else "exec"
        _wire(canvas, lefts[1] - gap, tops[block], height, gap, wire_lines(answer, source, block))
        _wire(canvas, lefts[2] - gap, tops[block], height, gap, wire_lines(answer, block, "l2"))
    reached = [tops[block] for block in near if wire_lines(answer, block, "l2")]
    top = min(reached, default=0)
    _box(canvas, answer, lefts[2], top, boxes[2], total - top, "l2", titles["l2"])
    lines = block_lines(answer, "l2")
    first = top + max(1, (total - top - _height(lines)) // 2)
    _put_lines(canvas, lefts[2] + 2, first, boxes[2] - 4, lines)
    _beyond(canvas, answer, titles, (lefts[3], boxes[3], gap), total)
    return canvas


def _beyond(
    canvas: Canvas, answer: MemoryChart, titles: dict[str, str], place: tuple[int, int, int], total: int
) -> None:
    """Links above the fabric, memory below it."""
    x, width, gap = place
    heights = {
        block: 2 + _height(block_lines(answer, block)) for block in ("remote", "fabric", "memory") if block in titles
    }
    up, down = wire_lines(answer, "fabric", "remote"), wire_lines(answer, "fabric", "memory")
    spare = max(0, total - sum(heights.values()) - len(up) - len(down))
    y = 0
    if "remote" in titles:
        _box(canvas, answer, x, y, width, heights["remote"], "remote", titles["remote"])
        _put_lines(canvas, x + 2, y + 1, width - 4, block_lines(answer, "remote"))
        y += heights["remote"]
        _drop(canvas, x, y, width, up, len(up) + spare // 2)
        y += len(up) + spare // 2
    _box(canvas, answer, x, y, width, heights["fabric"], "fabric", titles["fabric"])
    _put_lines(canvas, x + 2, y + 1, width - 4, block_lines(answer, "fabric"))
    _wire(canvas, x - gap, y, heights["fabric"], gap, wire_lines(answer, "l2", "fabric"))
    y += heights["fabric"]
    _drop(canvas, x, y, width, down, len(down) + spare - spare // 2)
    y += len(down) + spare - spare // 2
    _box(canvas, answer, x, y, width, heights["memory"], "memory", titles["memory"])
    _put_lines(canvas, x + 2, y + 1, width - 4, block_lines(answer, "memory"))


def _drop(canvas: Canvas, x: int, y: int, width: int, lines: Sequence[Line], height: int) -> None:
    """A wire from a box to the one below it."""
    middle = x + width // 2 - 4
    for row in range(height):
        canvas.put(middle, y + row, "│", _FRAME)
    first = y + (height - len(lines)) // 2
    for row, line in enumerate(lines):
        canvas.put(middle + 2, first + row, f"{line.label} {line.value}", _style(line))


_SECTIONS = ("waves", "instructions", "exec")


def _cu_height(answer: MemoryChart) -> int:
    sections = [lines for block in _SECTIONS if (lines := block_lines(answer, block))]
    return 1 + sum(1 + _height(lines) for lines in sections)


def _compute(canvas: Canvas, answer: MemoryChart, width: int, height: int) -> None:
    titles = dict(answer.blocks.select("block", "title").iter_rows())
    sections = [(block, block_lines(answer, block)) for block in _SECTIONS if block in titles]
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


_BRIEF = {"latency": "lat", "active ": "", "stalled by L2": "stalled", "utilization": "used", "coalescing": "coalesce"}


def _label(label: str, room: int) -> str:
    """The label, or a brief one where there is not enough room; nothing where that is too long as well."""
    for word, brief in _BRIEF.items():
        label = label if len(label) <= room else label.replace(word, brief)
    return label if len(label) <= room else ""


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
