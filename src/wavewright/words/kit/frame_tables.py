"""Tables of words from frames: each column is a function of a row, and the title says how many rows are not shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from wavewright.model import blocks
from wavewright.model.blocks import Cell, KernelName, Placed
from wavewright.words.kit.brief_names import brief_kernels, brief_paths
from wavewright.writers.terminal.fitted_table import told_apart

_NAME_WIDTH = 60  #: Characters of the name of a kernel in a cell of a document.


@dataclass(frozen=True)
class Column:
    """A column of a table: its heading, and how a row (as a dict) becomes its text."""

    heading: str
    cell: Callable[[dict[str, Any]], str]
    role: blocks.Role = "number"  #: The way it becomes narrower where the table is too wide.
    is_optional: bool = False  #: Left out where every cell is empty, as columns of short words always are.
    is_wide: bool = False  #: Left out where the terminal is narrow.
    is_name: bool = False  #: Recorded words; a column of the role "rest" always has such.
    is_drawn: bool = False  #: Curves of characters.
    handle: str = ""  #: Letter of the handles that its numbers are.
    name: str = ""  #: The heading in documents, where a terminal shows none.


def frame_table(
    frame: pl.DataFrame, columns: Sequence[Column], *, limit: int | None, what: str, title: str = ""
) -> blocks.Table:
    """The first `limit` rows of a frame, None = all; with `what` (a plural), the heading says how many rows there are.

    >>> import polars as pl
    >>> rows = pl.DataFrame({"row": [1, 2, 3]})
    >>> frame_table(rows, [Column("row", lambda row: str(row["row"]))], limit=2, what="rows").heading
    'showing 2 of 3 rows'
    """
    rows = (frame if limit is None else frame.head(limit)).to_dicts()
    table = table_of([(column, [column.cell(row) for row in rows]) for column in columns], title)
    return replace(table, row_count=frame.height, row_name=what) if what else table


def table_of(columns: Iterable[tuple[Column, list[str]]], title: str = "") -> blocks.Table:
    """A table of columns with their cells; kernels and paths are shortened such that they remain different."""
    filled = [(column, cells) for column, cells in columns if not _is_left_out(column, cells)]
    kernels = [cell.full for _, cells in filled for cell in cells if isinstance(cell, KernelName)]
    headed = [(_block_column(column, cells), _distinct(column, cells, kernels)) for column, cells in filled]
    rows = tuple(zip(*(cells for _, cells in headed), strict=True))
    return blocks.Table(title, tuple(column for column, _ in headed), rows)


def _is_left_out(column: Column, cells: Sequence[str]) -> bool:
    """True if no row has a word in an optional column; bars have no words."""
    is_optional = column.is_optional or column.role == "short"
    return is_optional and column.role != "bar" and bool(cells) and not any(cells)


def _block_column(column: Column, cells: Sequence[str]) -> blocks.Column:
    has_kernels = any(isinstance(cell, KernelName) for cell in cells)
    role = "rest" if has_kernels else column.role
    is_name = role == "rest" or any(isinstance(cell, Placed) for cell in cells) or column.is_name
    look = {"is_name": is_name, "is_wide": column.is_wide, "is_drawn": column.is_drawn}
    return blocks.Column(column.heading, role, **look, handle=column.handle, name=column.name)


def _distinct(column: Column, cells: Sequence[str], kernels: Sequence[str]) -> list[str]:
    """The cells as documents show them; a terminal cuts them to its own width."""
    paths = [cell.path for cell in cells if isinstance(cell, Placed)]
    if paths:
        short = brief_paths(paths)
        return [Placed(cell.path, cell.tail, short[cell.path]) if isinstance(cell, Placed) else cell for cell in cells]
    if any(isinstance(cell, KernelName) for cell in cells):
        names = dict(zip(kernels, brief_kernels(kernels, max(_NAME_WIDTH, len(column.heading))), strict=True))
        return [
            KernelName(cell.full, cell, names[cell.full]) if isinstance(cell, KernelName) else cell for cell in cells
        ]
    names = told_apart(cells, max(_NAME_WIDTH, len(column.heading))) if column.role == "rest" else {}
    return [_with_brief(cell, names[cell]) if cell in names else cell for cell in cells]


def _with_brief(cell: str, brief: str) -> str:
    """A long text with its form in documents; cells with marks keep theirs."""
    if isinstance(cell, Cell):
        if not cell.marks:
            cell.brief = brief
        return cell
    return Cell(cell, brief=brief)


def bar_cell(share: float | None, width: int = 10) -> Cell:
    """A bar for a share from 0 to 1, at most `width` characters wide."""
    return Cell("", share=share or 0.0, bar_width=width)


def dim(text: str) -> Cell:
    """Words that stand back, such as ids."""
    return Cell(text, "dim")


def hexadecimal(address: int | None) -> str:
    """An address as listings of code write it; empty when it is not recorded.

    >>> hexadecimal(0x1a40), hexadecimal(None)
    ('0x1a40', '')
    """
    return "" if address is None else f"{address:#x}"


def place(file: str | None, line: int | None) -> str:
    """Base name and line of a source location; empty when there is none.

    >>> place("/src/kernels/gemm.py", 12), place(None, None)
    ('gemm.py:12', '')
    """
    return f"{file.rsplit('/', 1)[-1]}:{line or '?'}" if file else ""


def lines_of(row: Mapping[str, Any]) -> str:
    """The source lines of a loop or function: `file`, `first_line` and, where that is another one, `last_line`."""
    name = place(row["file"], row["first_line"])
    return f"{name}-{row['last_line']}" if name and row["last_line"] != row["first_line"] else name


def brief_place(file: str | None, line: int | None, width: int = 22) -> str:
    """As `place`, in at most `width` characters: the front is cut, because the line number matters.

    >>> brief_place("/src/a_file_with_a_long_name.py", 1257, width=16)
    '…ng_name.py:1257'
    """
    full = place(file, line)
    return full if len(full) <= width else "…" + full[-(width - 1) :]
