"""The rows that cost most, for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavescope.report.bars import bar

if TYPE_CHECKING:
    import polars as pl
    from rich.table import Table

__all__ = ["hotspot_table"]


def hotspot_table(rows: pl.DataFrame, *, limit: int = 10) -> Table:
    """Rows with totals and texts, largest stall first; the title says how many are not shown.

    `rows` needs the columns of `row_totals` and `address`, `text`, `file`, `line` of the code table.

    Examples
    --------
    >>> import polars as pl
    >>> columns = {"row": [0], "hit_count": [1], "latency_cycles_total": [8], "stall_cycles_total": [4]}
    >>> code = {"address": [256], "text": ["s_nop 0"], "file": [None], "line": [None]}
    >>> hotspot_table(pl.DataFrame(columns | code)).row_count
    1
    """
    from rich.table import Table

    total = int(rows["stall_cycles_total"].sum()) or 1
    ordered = rows.sort("stall_cycles_total", descending=True)
    shown = ordered.head(limit)
    title = f"largest stalls, showing {shown.height:,} of {rows.height:,} executed rows"
    table = Table(title=title, title_justify="left", box=None, header_style="bold", pad_edge=False)
    for name in ("stall cycles", "share", "", "hits", "cycles/hit", "address"):
        table.add_column(name, justify="left" if name == "" else "right", no_wrap=True)
    table.add_column("instruction", overflow="ellipsis", no_wrap=True, ratio=1)
    table.add_column("source", no_wrap=True)
    for row in shown.iter_rows(named=True):
        share = row["stall_cycles_total"] / total
        name = row["file"].rsplit("/", 1)[-1] if row["file"] else ""
        table.add_row(
            f"{row['stall_cycles_total']:,}",
            f"{share:.1%}",
            bar(share),
            f"{row['hit_count']:,}",
            f"{row['latency_cycles_total'] / row['hit_count']:,.1f}",
            f"{row['address']:#x}",
            row["text"],
            f"{name}:{row['line'] or '?'}" if name else "",
        )
    return table
