"""How evenly the work is spread over ranks, for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
from rich.text import Text

from wavescope.base.words import percent
from wavescope.report.kit.bars import bar
from wavescope.report.kit.tables import WIDE, Column, frame_table, printable
from wavescope.report.kit.words import brief_kernel, duration
from wavescope.report.run.words import process_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from wavescope.analysis.run.ranks import Ranks

_EVEN = 0.02  #: Cost as a share of the mean below which the work counts as evenly spread.


def ranks_report(answer: Ranks, *, width: int = WIDE, limit: int = 20) -> Iterator[RenderableType]:
    """The report of `wavescope ranks`, for a terminal of `width` columns."""
    yield Text(_verdict(answer), style="bold")
    if not answer.processes.height:
        return
    waiting = _waiting(answer)
    if waiting:
        yield Text(waiting)
    yield Text()
    yield frame_table(answer.processes, _process_columns(answer), limit=limit, what="processes", width=width)
    if answer.kernels.height:
        yield Text()
        yield frame_table(
            answer.kernels,
            _KERNEL_COLUMNS,
            limit=limit,
            what="kernels of several ranks",
            title="by what the slowest rank costs",
            width=width,
        )
    if answer.collectives.height:
        yield Text()
        yield frame_table(
            answer.collectives,
            _COLLECTIVE_COLUMNS,
            limit=limit,
            what="collectives",
            title="waiting for the last rank to arrive, call by call",
            width=width,
        )
        if "duration" in answer.collectives["rule"]:
            yield Text(
                "clocks of different nodes are not compared: the rank with the shortest call counts as last", "dim"
            )
        if not answer.collectives["is_complete"].all():
            yield Text("* ranks called it differently often: the n-th calls may not belong together", "bold yellow")


def _verdict(answer: Ranks) -> str:
    count = answer.processes.height
    if not count:
        return "no process was recorded"
    if count == 1:
        return "one process: there is nothing to compare; give the files of all ranks"
    if answer.imbalance is None:
        return f"none of {count:,} processes ran a kernel"
    slowest = answer.processes.sort("compute_ns", descending=True, maintain_order=True).row(0, named=True)
    headline = f"{_name(slowest)} computes longest, {duration(slowest['compute_ns'])}"
    share = answer.imbalance - 1
    if share < _EVEN:
        return f"the work is even over {count:,} processes: {headline}, {percent(share)} more than the mean"
    cost = duration(answer.cost_ns)
    return f"{headline}: {percent(share)} more than the mean of {count:,} processes, which costs {cost}"


def _waiting(answer: Ranks) -> str:
    if not answer.waited_ns:
        return ""
    late = answer.processes.sort("last_count", descending=True, maintain_order=True).row(0, named=True)
    mean = answer.waited_ns / answer.processes.height
    calls = int(answer.processes["last_count"].sum())
    return (
        f"in collectives a process waits {duration(mean)} on average for those that arrive later; "
        f"{_name(late)} arrives last in {late['last_count']:,} of {calls:,} calls{_by_name(answer, late)}"
    )


def _by_name(answer: Ranks, late: dict[str, Any]) -> str:
    """Where the names of collectives were recorded: of which it is the last most often."""
    latest = answer.collectives.filter(pl.col("collective").is_not_null() & pl.col("is_complete")).filter(
        *(pl.col(name).eq_missing(late[name]) for name in ("host", "pid", "rank", "run") if name in late)
    )
    named = latest.group_by("collective", maintain_order=True).agg(pl.col("last_count", "calls").sum())
    parts = [f"{printable(name)} {last:,} of {calls:,}" for name, last, calls in named.head(3).iter_rows()]
    return f" ({', '.join(parts)})" if parts else ""


def _name(row: dict[str, Any]) -> str:
    who = process_name(row["rank"], row["pid"])
    who = who if row["rank"] is not None else f"pid {who}"
    return f"{who} on {printable(row['host'])}" if row["host"] else who


def _process_columns(answer: Ranks) -> list[Column]:
    largest = max(answer.processes["compute_ns"].max() or 0, 1)
    has_ranks = answer.processes["rank"].null_count() < answer.processes.height
    return [
        *([Column("rank", lambda row: "-" if row["rank"] is None else str(row["rank"]))] if has_ranks else []),
        Column("host", lambda row: printable(row["host"]) or "-", is_text=True),
        Column("pid", lambda row: process_name(None, row["pid"])),
        Column("GPUs", lambda row: f"{row['gpu_count']:,}", is_wide=True),
        Column("compute", lambda row: duration(row["compute_ns"])),
        Column("", lambda row: bar(row["compute_ns"] / largest, 10), is_text=True, is_fixed=True, is_wide=True),
        Column("to mean", lambda row: percent(row["deviation"], sign=True)),
        Column("collectives", lambda row: duration(row["collective_ns"])),
        Column("waited", lambda row: duration(row["waited_ns"])),
        Column("last", lambda row: f"{row['last_count']:,}"),
        Column("copies", lambda row: duration(row["copy_ns"]), is_wide=True),
        Column("wall", lambda row: duration(row["wall_ns"])),
        Column("busy", lambda row: percent(row["busy_share"])),
    ]


def _last(row: dict[str, Any]) -> str:
    return "not known" if row["rule"] == "unknown" else f"{_name(row)} ({row['last_count']:,}x)"


def _collective(row: dict[str, Any]) -> str:
    kernel = brief_kernel(row["name"], 200)
    return f"{printable(row['collective'])} ({kernel})" if row["collective"] else kernel


_KERNEL_COLUMNS = [
    Column("cost", lambda row: duration(row["cost_ns"])),
    Column("max/mean", lambda row: "-" if row["imbalance"] is None else f"{row['imbalance']:.2f}"),
    Column("per call", lambda row: "-" if row["per_call"] is None else f"{row['per_call']:.2f}"),
    Column("calls", lambda row: f"{row['calls']:,}"),
    Column("mean of ranks", lambda row: duration(row["mean_ns"]), is_wide=True),
    Column("slowest", lambda row: _name(row), is_text=True, is_fixed=True),
    Column("kernel", lambda row: brief_kernel(row["name"], 200), takes_rest=True),
]
_COLLECTIVE_COLUMNS = [
    Column("waiting", lambda row: duration(row["spread_ns"])),
    Column("share", lambda row: percent(row["spread_share"])),
    Column("calls", lambda row: f"{row['calls']:,}{'' if row['is_complete'] else '*'}"),
    Column("ranks", lambda row: f"{row['process_count']:,}"),
    Column("most often last", lambda row: _last(row), is_text=True, is_fixed=True),
    Column("collective", lambda row: _collective(row), takes_rest=True),
]
