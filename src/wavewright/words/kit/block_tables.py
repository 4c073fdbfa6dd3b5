"""Tables of a terminal as blocks of a report: with headings as tables, without them as labelled lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavewright.model.blocks import Block, Column, KernelName, Labelled, Placed, Sentence, Table
from wavewright.writers.terminal.bars import is_bar
from wavewright.writers.terminal.fitted_table import plain_text

if TYPE_CHECKING:
    from rich.table import Table as RichTable

    from wavewright.writers.terminal.fitted_table import FittedTable

_DRAWN = frozenset("▁▂▃▄▅▆▇█▏▎▍▌▋▊▉▓▒░ ")
_NAME = 60  #: Characters of a name of a kernel in a cell.


def fitted_block(table: FittedTable) -> Table:
    """A table with all columns but those of bars."""
    parts = [column for column in table.parts if column.role != "bar"]
    kernels = [cell.full for column in parts for cell in column.cells if isinstance(cell, KernelName)]
    columns, cells = [], []
    for column in parts:
        if not column.heading.strip() and _are_drawn(column.cells):
            continue
        drawn = [plain_text(cell) for cell in column.fitting(max(_NAME, len(column.heading)), kernels)]
        texts = [_without_bar(text) for text in drawn]
        is_name = column.role == "rest" or any(isinstance(cell, KernelName | Placed) for cell in column.cells)
        heading = column.heading.strip()
        if not heading and texts and all(text.strip().endswith("%") for text in texts):
            heading = "share"
        columns.append(Column(heading, column.role == "number" or texts != drawn, is_name))
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


def table_blocks(table: RichTable) -> list[Block]:
    """A table as rich has it: with headings a table, without them a line for each row; bars are left out."""
    texts = [[plain_text(cell) for cell in column.cells] for column in table.columns]
    headings = [plain_text(column.header).strip() for column in table.columns]
    shown = [number for number, cells in enumerate(texts) if not _are_bars(cells)]
    if not any(headings):
        return [block for row in zip(*(texts[number] for number in shown), strict=True) if (block := _line(row))]
    columns, cells = [], []
    for place, number in enumerate(shown):
        column, values = table.columns[number], [_without_bar(text) for text in texts[number]]
        is_number = column.justify == "right" or values != texts[number]
        columns.append(Column(headings[number], is_number, is_name=column.ratio is not None))
        is_tree = not is_number and (place == 0 or column.ratio is not None)
        cells.append(_indented(values) if is_tree else [value.strip() for value in values])
    rows = tuple(zip(*cells, strict=True))
    return [Table(plain_text(table.title or "").strip(), tuple(columns), rows)]


def _without_bar(text: str) -> str:
    """A cell without the bar that follows its number.

    Examples
    --------
    >>> _without_bar("60.7 % ████▏"), _without_bar("▂▄▆")
    ('60.7 %', '▂▄▆')
    """
    number, gap, drawn = text.rstrip().rpartition(" ")
    return number.rstrip() if gap and drawn and number.strip() and is_bar(drawn) else text


def _are_drawn(cells: list[Any]) -> bool:
    """Whether cells are pictures made of characters, which a column without a heading need not repeat."""
    return all(_DRAWN.issuperset(plain_text(cell)) for cell in cells)


def _are_bars(cells: list[str]) -> bool:
    drawn = [cell.strip() for cell in cells if cell.strip()]
    return bool(drawn) and all(is_bar(cell) for cell in drawn)


def _line(row: tuple[str, ...]) -> Block | None:
    """A row without headings: its first cell is a label where others follow; a bullet is none."""
    cells = [" ".join(cell.split()) for cell in row if cell.strip()]
    if not cells:
        return None
    if cells[0] == "-" and len(cells) > 1:
        return Sentence(" ".join(cells[1:]))
    return Labelled(cells[0].rstrip(":"), "; ".join(cells[1:])) if len(cells) > 1 else Sentence(cells[0])
