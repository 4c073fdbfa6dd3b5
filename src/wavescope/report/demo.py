"""The story that `wavescope demo` tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavescope.report.bars import share_bar, sparkline
from wavescope.report.hotspots import hotspot_table
from wavescope.report.losses import loss_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl
    from rich.console import RenderableType

    from wavescope.analysis.hotspots import Hotspots
    from wavescope.analysis.overview import Overview
    from wavescope.analysis.residency import Residency

__all__ = ["story"]


def story(
    gpu: str,
    files: Sequence[tuple[str, int]],
    facts: Overview,
    hot: Hotspots,
    rows: pl.DataFrame,
    waits: pl.DataFrame,
    curves: Sequence[Residency],
    seconds: float,
    *,
    width: int,
) -> Iterator[RenderableType]:
    """The demo's text, part by part: what was captured, where time goes, which row waits and for what.

    Examples
    --------
    >>> parts = story("gfx942", [], facts, hot, rows, waits, curves, 0.1, width=120)  # doctest: +SKIP
    """
    from rich.rule import Rule
    from rich.text import Text

    yield Rule(f"1  A raw thread trace of {gpu}", align="left")
    for name, size in files:
        yield Text(f"  {name}  {size:,} bytes")
    yield Rule("2  Decoded", align="left")
    kernel = facts.kernels[0] if facts.kernels else "no kernel"
    yield Text(
        f"  {facts.waves:,} waves of {kernel}: {facts.instructions:,} instructions in {facts.span_cycles:,} cycles, "
        f"{facts.unresolved:,} without PC; {seconds:.2f} s"
    )
    yield from loss_lines(facts.losses)
    for curve in curves:
        peak = max(curve.waves_mean)
        yield Text(f"  SE {curve.se} waves resident (peak {peak:.0f})  {sparkline(curve.waves_mean)}")
    yield Rule("3  Where the waves' time goes", align="left")
    yield Text("  ").append_text(share_bar(facts.state_cycles))
    yield Rule("4  Which instruction waits", align="left")
    yield hotspot_table(hot, limit=8, width=width)
    yield Rule("5  For which producers", align="left")
    yield from _worst_wait(rows, waits)


def _worst_wait(rows: pl.DataFrame, waits: pl.DataFrame) -> Iterator[RenderableType]:
    """The wait with the largest stall, and the rows it waited for."""
    import polars as pl
    from rich.text import Text

    waiting = rows.filter(pl.col("row").is_in(waits["row"].unique().implode())).sort(
        "stall_cycles_total", descending=True
    )
    if not waiting.height:
        yield Text("  no wait had a producer")
        return
    worst = waiting.row(0, named=True)
    producers = (
        waits.filter(pl.col("row") == worst["row"])
        .group_by("producer_row", "counter")
        .agg(pl.len().alias("count"))
        .join(rows.select("row", "text", "file", "line"), left_on="producer_row", right_on="row", how="left")
        .sort("count", "producer_row", descending=[True, False])
    )
    yield Text(f"  {worst['text']} at {worst['address']:#x} held waves for {worst['stall_cycles_total']:,} cycles, by")
    for producer in producers.head(4).iter_rows(named=True):
        place = f"{producer['file'].rsplit('/', 1)[-1]}:{producer['line'] or '?'}" if producer["file"] else ""
        yield Text(f"    {producer['count']:>6,} x {producer['text']}  ({producer['counter']})  {place}")
    if producers.height > 4:
        yield Text(f"    showing 4 of {producers.height} producers")
