"""The parts of a terminal's report as blocks of a report: the same sentences and tables for every writer."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any, cast, get_args

from rich.console import Console
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from wavescope.model.report import Block, Column, Labelled, Preformatted, Sentence, Table
from wavescope.report.kit.fitted_table import FittedTable
from wavescope.report.kit.labels import KernelName, Placed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import RenderableType

_NAME = 60  #: Characters of a name of a kernel in a cell.
_CHART_WIDTH = 100
_CHART = frozenset("▁▂▃▄▅▆▇█▏▎▍▌▋▊▉▓▒░╭╰│├")
_APART = re.compile(r"\S {3,}\S")  #: Words that are apart because their places mean something.
_LOSSES = ("loss:", "note:")


def blocks_of(parts: Iterable[RenderableType | Block]) -> tuple[Block, ...]:
    """The parts as blocks, which may be among them already; empty lines between them are left to the writers.

    Examples
    --------
    >>> from rich.text import Text
    >>> blocks_of([Text("a verdict", "bold"), Text(), Text("a sentence")])
    (Sentence(text='a verdict', style='headline'), Sentence(text='a sentence', style='plain'))
    """
    blocks: list[Block] = []
    for part in parts:
        last = blocks[-1] if blocks else None
        block = _axis(part, last) or _block(part, is_first=not blocks)
        if block is None:
            continue
        if isinstance(block, Preformatted) and isinstance(last, Preformatted) and block.is_chart == last.is_chart:
            blocks[-1] = Preformatted(f"{last.text}\n{block.text}", block.is_chart)  # lines of one chart
        else:
            blocks.append(block)
    return tuple(blocks)


def _axis(part: RenderableType | Block, last: Block | None) -> Preformatted | None:
    """The line below a chart whose words stand where they belong; None = it is not such a line."""
    text = part.plain if isinstance(part, Text) else part if isinstance(part, str) else ""
    is_below = isinstance(last, Preformatted) and last.is_chart and text.startswith("  ") and bool(_APART.search(text))
    return Preformatted(text.rstrip(), is_chart=True) if is_below else None


def _block(part: RenderableType | Block, *, is_first: bool) -> Block | None:
    if isinstance(part, get_args(Block)):
        return cast("Block", part)
    part = cast("RenderableType", part)
    if isinstance(part, FittedTable):
        return _table(part)
    if isinstance(part, Padding) and isinstance(part.renderable, RichTable):
        return _labelled(part.renderable)
    if isinstance(part, str | Text):
        return _sentence(part, is_first=is_first)
    return _preformatted(part)


def _sentence(part: str | Text, *, is_first: bool) -> Block | None:
    text = part.plain if isinstance(part, Text) else part
    if not text.strip():
        return None
    if not _CHART.isdisjoint(text):
        return Preformatted(text.rstrip(), is_chart=True)
    style = "headline" if is_first and isinstance(part, Text) and part.style == "bold" else "plain"
    for label in _LOSSES:
        if text.startswith(label):
            return Sentence(text.removeprefix(label).strip(), label.rstrip(":"))
    return Sentence(" ".join(text.split()), style)


def _labelled(grid: RichTable) -> Block | None:
    cells = [[_plain(cell) for cell in column.cells] for column in grid.columns]
    if len(cells) != 2 or len(cells[0]) != 1:
        return _preformatted(grid)
    return Labelled(cells[0][0].strip(), cells[1][0].strip())


def _table(table: FittedTable) -> Table:
    """The table with all columns but those of bars."""
    parts = [column for column in table.parts if column.role != "bar"]
    kernels = [cell.full for column in parts for cell in column.cells if isinstance(cell, KernelName)]
    columns, cells = [], []
    for column in parts:
        texts = [_plain(cell) for cell in column.fitting(max(_NAME, len(column.heading)), kernels)]
        is_name = column.role == "rest" or any(isinstance(cell, KernelName | Placed) for cell in column.cells)
        heading = column.heading.strip()
        if not heading and texts and all(text.strip().endswith("%") for text in texts):
            heading = "share"
        columns.append(Column(heading, column.role == "number", is_name))
        cells.append(_indented(texts) if column.role == "rest" else [text.strip() for text in texts])
    return Table(str(table.title or "").strip(), tuple(columns), tuple(zip(*cells, strict=True)))


def _indented(texts: list[str]) -> list[str]:
    """The cells of a tree: two spaces before a name are a level, which a table of a document shows as a dot.

    Examples
    --------
    >>> _indented(["forward", "  conv", "    gemm"])
    ['forward', '· conv', '· · gemm']
    """
    levels = [(len(text) - len(text.lstrip())) // 2 for text in texts]
    least = min(levels, default=0)
    return [f"{'· ' * (level - least)}{text.strip()}" for level, text in zip(levels, texts, strict=True)]


def _preformatted(part: RenderableType) -> Preformatted | None:
    """Whatever else rich can draw, as it draws it without colours."""
    out = io.StringIO()
    plain: dict[str, Any] = {"color_system": None, "markup": False, "highlight": False, "emoji": False}
    console = Console(file=out, width=_CHART_WIDTH, height=25, **plain)
    console.print(part)
    lines = [line.rstrip() for line in out.getvalue().splitlines()]
    text = "\n".join(lines).strip("\n")
    return Preformatted(text, is_chart=not _CHART.isdisjoint(text)) if text.strip() else None


def _plain(cell: Any) -> str:
    return cell.plain if isinstance(cell, Text) else str(cell)
