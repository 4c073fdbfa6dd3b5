"""Tables for the terminal: columns declared once, truncation said aloud, numbers that line up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from wavewright.base.shown import shown
from wavewright.base.words import counted
from wavewright.report.kit.fitted_table import FittedTable
from wavewright.report.kit.labels import KernelName, Placed
from wavewright.report.kit.line import Line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import polars as pl
WIDE = 110  #: Characters from which on a terminal shows all columns.


@dataclass(frozen=True)
class Column:
    """A column of a printed table: its heading, and how a row (as a dict) becomes its text."""

    heading: str
    cell: Callable[[dict[str, Any]], Any]
    is_text: bool = False  #: Left-aligned words instead of right-aligned numbers.
    takes_rest: bool = False  #: Long texts, which are cut first, to what the other columns leave.
    is_fixed: bool = False  #: Short words, which are cut later than others.
    is_wide: bool = False  #: Left out where the terminal is narrow.

    @property
    def role(self) -> str:
        """How it gives way where the table is too wide: see `FittedTable`."""
        if self.takes_rest:
            return "rest"
        return ("short" if self.is_fixed else "words") if self.is_text else "number"


def frame_table(
    frame: pl.DataFrame,
    columns: Sequence[Column],
    *,
    limit: int | None,
    what: str,
    title: str = "",
    width: int = WIDE,
) -> Table:
    """The first `limit` rows of a frame, None = all; the title says what is shown and how much of it.

    Left out are short words (`is_fixed`) that are empty in every row, such as source lines where there are none, and
    where `width` characters are few, columns that are `is_wide`.

    Examples
    --------
    >>> import polars as pl
    >>> rows = pl.DataFrame({"row": [1, 2, 3]})
    >>> frame_table(rows, [Column("row", lambda row: str(row["row"]))], limit=2, what="rows").title
    'showing 2 of 3 rows'
    """
    columns = [column for column in columns if width >= WIDE or not column.is_wide]
    shown = frame if limit is None else frame.head(limit)
    note = truncation(shown.height, frame.height, what)
    table = FittedTable(", ".join(part for part in (title, note) if part))
    rows = shown.to_dicts()
    for column in columns:
        cells = [one_line(column.cell(row)) for row in rows]
        is_empty = column.is_fixed and bool(cells) and not any(map(_is_filled, cells))
        if not is_empty:
            table.add(column.heading, cells, column.role)
    return table


def _is_filled(cell: Any) -> bool:
    return bool(cell.plain if isinstance(cell, Text) else cell)


def plain_table(title: str) -> Table:
    """A table without lines and columns yet, its title at the left.

    Examples
    --------
    >>> plain_table("waits").title
    'waits'
    """
    return Table(title=title, title_justify="left", title_style="bold", box=None, header_style="bold", pad_edge=False)


def dim(text: str) -> Text:
    """Words that stand back, such as ids.

    Examples
    --------
    >>> dim("17.1.2").plain
    '17.1.2'
    """
    return Text(text, "dim")


def one_line(cell: Any) -> Any:
    """Words that are cut rather than wrapped, whatever their column allows; other cells as they are."""
    if isinstance(cell, KernelName | Placed):
        return cell
    return Line(printable(cell)) if isinstance(cell, str) else cell


def printable(text: str) -> str:
    """A text from a trace without what could command a terminal or turn its lines around: that is shown as an escape.

    Examples
    --------
    >>> print(printable("v_add" + chr(27) + "[2J"))
    v_add\\x1b[2J
    """
    if text.isprintable():
        return text
    text = shown(text)
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def truncation(shown: int, total: int, what: str) -> str:
    """How much of something is shown.

    Examples
    --------
    >>> truncation(20, 3112, "instructions"), truncation(3, 3, "loops")
    ('showing 20 of 3,112 instructions', '3 loops')
    """
    return f"showing {shown:,} of {counted(total, what)}" if shown < total else counted(total, what)


def hexadecimal(address: int | None) -> str:
    """An address as listings of code write it; empty when it is not recorded.

    Examples
    --------
    >>> hexadecimal(0x1a40), hexadecimal(None)
    ('0x1a40', '')
    """
    return "" if address is None else f"{address:#x}"


def place(file: str | None, line: int | None) -> str:
    """Base name and line of a source location; empty when there is none.

    Examples
    --------
    >>> place("/src/kernels/gemm.py", 12), place(None, None)
    ('gemm.py:12', '')
    """
    return f"{file.rsplit('/', 1)[-1]}:{line or '?'}" if file else ""


def brief_place(file: str | None, line: int | None, width: int = 22) -> str:
    """As `place`, in at most `width` characters: the front is cut, because the line number matters.

    Examples
    --------
    >>> brief_place("/src/a_file_with_a_long_name.py", 1257, width=16)
    '…ng_name.py:1257'
    """
    full = place(file, line)
    return full if len(full) <= width else "…" + full[-(width - 1) :]


def short(number: float) -> str:
    """A large number in few characters.

    Examples
    --------
    >>> short(1_677_652), short(142_900), short(12), short(12_506_944_760_000)
    ('1.68M', '142.9K', '12', '12.51T')
    """
    for size, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M")):
        if abs(number) >= size:
            return f"{number / size:.2f}{letter}"
    return f"{number / 1e3:.1f}K" if abs(number) >= 1e3 else f"{number:.0f}"
