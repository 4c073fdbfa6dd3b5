"""The tree of regions, for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
from rich.text import Text

from wavescope.base.words import counted, percent
from wavescope.report.kit.bars import bar
from wavescope.report.kit.tables import Column, frame_table
from wavescope.report.kit.words import brief, duration

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType
    from rich.table import Table

    from wavescope.analysis.run.regions import Regions

_OWN_LINES = 10


def regions_report(
    answer: Regions, *, width: int = 100, limit: int = 20, depth: int | None = None, min_share: float = 0.01
) -> Iterator[RenderableType]:
    """The report of `wavescope regions`, for a terminal of `width` columns: at most `limit` lines of the tree, down to
    `depth` levels, without nodes below `min_share` of the time.
    """
    yield Text(_verdict(answer), style="bold")
    if answer.crossing_count:
        yield Text(f"{answer.crossing_count:,} regions outlast their parent and are shown next to it", style="yellow")
    if answer.untimed_count:
        yield Text(f"{answer.untimed_count:,} regions without a possible length are left out", style="yellow")
    if not answer.tree.height:
        return
    yield Text()
    yield _tree_table(answer, width=width, limit=limit, depth=depth, min_share=min_share)
    yield Text()
    yield _self_time_table(answer, limit=min(limit, _OWN_LINES))


def _verdict(answer: Regions) -> str:
    if not answer.tree.height:
        return "no regions were recorded"
    counts = f"{counted(answer.region_count, 'regions')} of {counted(answer.thread_count, 'threads')}"
    roots = answer.tree.filter(pl.col("depth") == 0)
    heaviest = _by_self_time(answer).row(0, named=True)
    part = "most of it" if (heaviest["share"] or 0.0) >= 0.5 else "the largest part"
    headline = (
        f"{counts} take {duration(int(roots['total_ns'].sum()))}; {part} in {brief(heaviest['name'])} itself: "
        f"{percent(heaviest['share'])}"
    )
    gpu = int(roots["gpu_total_ns"].sum())
    if gpu or answer.unlinked_gpu_ns:
        headline += f"; {percent(gpu / (gpu + answer.unlinked_gpu_ns))} of the GPU time has a known launch"
    return headline


def _tree_table(answer: Regions, *, width: int, limit: int, depth: int | None, min_share: float) -> Table:
    rows = answer.tree
    if depth is not None:
        rows = rows.filter(pl.col("depth") < depth)
    rows = rows.filter((pl.col("total_share") >= min_share) | (pl.col("gpu_share") >= min_share))
    columns = [
        Column("region", lambda row: _indented(row, width), takes_rest=True),
        Column("calls", lambda row: f"{row['call_count']:,}"),
        Column("inclusive", lambda row: duration(row["total_ns"])),
        Column("", lambda row: percent(row["total_share"])),
        Column("", lambda row: bar(row["total_share"] or 0.0, 10), is_text=True),
        Column("exclusive", lambda row: duration(row["self_ns"])),
        Column("mean", lambda row: duration(row["mean_ns"]), is_wide=True),
        Column("GPU", lambda row: duration(row["gpu_total_ns"]) if row["gpu_total_ns"] else "-"),
        Column("", lambda row: percent(row["gpu_share"]) if row["gpu_total_ns"] else "", is_wide=True),
    ]
    left = answer.tree.height - rows.height
    title = f"{counted(left, 'nodes')} below {percent(min_share)} or too deep left out" if left else ""
    return frame_table(rows, columns, limit=limit, what="nodes", title=title, width=width)


def _indented(row: dict[str, Any], width: int) -> str:
    depth = min(row["depth"], width // 6)
    indent = "  " * int(depth)
    return indent + brief(row["name"], 200)


def _by_self_time(answer: Regions) -> pl.DataFrame:
    """Exclusive time per name, whatever the path."""
    sums = answer.tree.group_by("name").agg(
        pl.col("call_count", "self_ns", "gpu_ns").sum(), share=pl.col("self_share").sum()
    )
    return sums.sort("self_ns", "name", descending=[True, False], nulls_last=True)


def _self_time_table(answer: Regions, *, limit: int) -> Table:
    rows = _by_self_time(answer)
    columns = [
        Column("region", lambda row: brief(row["name"], 200), takes_rest=True),
        Column("calls", lambda row: f"{row['call_count']:,}"),
        Column("exclusive", lambda row: duration(row["self_ns"])),
        Column("", lambda row: percent(row["share"])),
        Column("", lambda row: bar(row["share"] or 0.0, 10), is_text=True),
        Column("GPU", lambda row: duration(row["gpu_ns"]) if row["gpu_ns"] else "-"),
    ]
    return frame_table(rows, columns, limit=limit, what="names", title="by exclusive time")
