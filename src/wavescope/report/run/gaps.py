"""Idle time between GPU work and who causes it, for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
from rich.text import Text

from wavescope.base.words import counted, percent
from wavescope.report.kit.bars import bar
from wavescope.report.kit.tables import Column, frame_table, printable, truncation
from wavescope.report.kit.words import brief, brief_kernel, duration
from wavescope.report.run.words import gpu_name, process_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType
    from rich.table import Table

    from wavescope.analysis.run.gaps import Gaps

_HALF = 0.5  #: Share from which a cause is most of the gaps.
_ADVICE = {
    "synchronisation": "wait less often for the GPU, or launch the next work before waiting",
    "allocation": "allocate once and reuse, or use a pool (hipMallocAsync)",
    "copy call": "copy asynchronously on a stream of its own, from pinned memory",
    "loading code": "load and warm up before the part that is measured",
    "launch call": "launch fewer and larger kernels, or use graphs",
    "launch": "the GPU is idle when work is launched: launch ahead, or use graphs",
    "queued": "work waits for other work or for the GPU: fuse small kernels, use graphs, check dependencies",
    "host code": "the host is slower than the GPU: overlap its work with that of the GPU",
}


def gaps_report(answer: Gaps, *, width: int = 100, limit: int = 20) -> Iterator[RenderableType]:
    """The report of `wavescope gaps`, for a terminal of `width` columns."""
    causes = _kinds(answer)
    yield Text(_verdict(answer, causes), style="bold")
    main = _main_cause(causes)
    if main:
        yield Text(main)
    if not answer.gpus.height:
        return
    yield Text()
    yield _gpu_table(answer, width=width, limit=limit)
    if not answer.gap_count:
        return
    yield Text()
    yield _cause_table(causes)
    yield Text()
    yield _function_table(answer, limit=min(limit, 10))
    yield Text()
    yield _histogram(answer, width=width)
    yield Text()
    yield _largest_table(answer, width=width, limit=limit)


def _main_cause(causes: pl.DataFrame) -> str:
    """The largest cause that something can be done about, with its share; empty = there is none."""
    shares = {row["cause"]: row["share"] or 0.0 for row in causes.iter_rows(named=True)}
    named = max((cause for cause in shares if cause in _ADVICE), key=lambda cause: shares[cause], default="")
    unknown = shares.get("unknown", 0.0)
    silent = f"of {percent(unknown)} of it the launch is not recorded, and so the cause is not known"
    if not named or not shares[named]:
        return silent if unknown else ""
    if shares[named] >= _HALF:
        return f"most of it is {named}: {_ADVICE[named]}"
    part = f"the largest known part, {percent(shares[named])}, is {named}: {_ADVICE[named]}"
    return f"{silent}; {part}" if unknown >= shares[named] else part


def _kinds(answer: Gaps) -> pl.DataFrame:
    """Causes over all GPUs, the largest first."""
    sums = answer.causes.group_by("cause").agg(pl.col("call_count", "wait_ns").sum())
    total = pl.col("wait_ns").sum()
    return sums.with_columns(share=pl.when(total > 0).then(pl.col("wait_ns") / total)).sort(
        "wait_ns", "cause", descending=[True, False]
    )


def _verdict(answer: Gaps, causes: pl.DataFrame) -> str:
    gpus = answer.gpus
    if not gpus.height:
        return "no GPU work was recorded"
    streams = gpus["stream_id"].count() > 0
    who = counted(gpus.height, "streams" if streams else "GPUs")
    if not answer.gap_count:
        return f"no gaps between the work of {who}"
    gap, span = int(gpus["gap_ns"].sum()), int(gpus["span_ns"].sum())
    headline = f"{who}: {counted(answer.gap_count, 'gaps')}, {duration(gap)}, {percent(gap / span)} of the time"
    parts = [
        f"{row['cause']} {percent(row['share'])}" for row in causes.head(3).iter_rows(named=True) if row["wait_ns"]
    ]
    return f"{headline}; {', '.join(parts)}" if parts else headline


def _where(answer: Gaps) -> list[Column]:
    several = answer.gpus["node"].n_unique() > 1
    columns = [
        Column("GPU", lambda row: gpu_name(row["node"], row["gpu"], with_node=several), is_text=True, is_fixed=True)
    ]
    if answer.gpus["pid"].count():
        columns.append(Column("process", _process, is_text=True, is_fixed=True))
        columns.append(Column("stream", lambda row: "-" if row["stream_id"] is None else str(row["stream_id"])))
    return columns


def _process(row: dict[str, Any]) -> str:
    return process_name(row["rank"], row["pid"])


def _gpu_table(answer: Gaps, *, width: int, limit: int) -> Table:
    columns = [
        *_where(answer),
        Column("gaps", lambda row: f"{row['gap_count']:,}"),
        Column("total", lambda row: duration(row["gap_ns"])),
        Column("of span", lambda row: percent(row["gap_share"])),
        Column("", lambda row: bar(row["gap_share"] or 0.0, 8), is_text=True, is_wide=True),
        Column("mean", lambda row: duration(row["gap_mean_ns"]), is_wide=True),
        Column("longest", lambda row: duration(row["gap_max_ns"])),
        Column("busy", lambda row: duration(row["busy_ns"])),
        Column("before and after", lambda row: duration(row["edge_ns"]), is_wide=True),
        Column("span", lambda row: duration(row["span_ns"])),
    ]
    what = "streams" if len(columns) > 10 else "GPUs"
    return frame_table(answer.gpus, columns, limit=limit, what=what, width=width)


def _cause_table(causes: pl.DataFrame) -> Table:
    columns = [
        Column("cause", lambda row: row["cause"], is_text=True, is_fixed=True),
        Column("total", lambda row: duration(row["wait_ns"])),
        Column("of gaps", lambda row: percent(row["share"])),
        Column("", lambda row: bar(row["share"] or 0.0, 20), is_text=True),
        Column("calls or gaps", lambda row: f"{row['call_count']:,}"),
    ]
    return frame_table(causes, columns, limit=causes.height, what="causes", title="what the launching threads did")


def _function_table(answer: Gaps, *, limit: int) -> Table:
    sums = answer.causes.filter(pl.col("function").is_not_null()).group_by("function", "cause")
    rows = sums.agg(pl.col("call_count", "wait_ns").sum()).sort("wait_ns", "function", descending=[True, False])
    columns = [
        Column("function", lambda row: brief_kernel(row["function"], 60), is_text=True),
        Column("cause", lambda row: row["cause"], is_text=True, is_fixed=True),
        Column("calls", lambda row: f"{row['call_count']:,}"),
        Column("in gaps", lambda row: duration(row["wait_ns"])),
    ]
    return frame_table(rows, columns, limit=limit, what="functions")


def _histogram(answer: Gaps, *, width: int) -> Table:
    rows = answer.histogram.group_by("from_ns").agg(pl.col("gap_count", "gap_ns").sum()).sort("from_ns")
    most = max(int(rows["gap_ns"].max() or 0), 1)  # type: ignore[arg-type]  # integers
    columns = [
        Column("gaps from", lambda row: duration(row["from_ns"])),
        Column("count", lambda row: f"{row['gap_count']:,}"),
        Column("total", lambda row: duration(row["gap_ns"])),
        Column("", lambda row: bar(row["gap_ns"] / most, max(8, min(50, width - 40))), is_text=True),
    ]
    return frame_table(rows, columns, limit=rows.height, what="ranges", title="lengths of gaps")


def _largest_table(answer: Gaps, *, width: int, limit: int) -> Table:
    first = answer.largest["start_ns"].min()
    names = max(16, min(60, (width - 50) // 2))
    rows = answer.largest.with_columns(at=pl.col("start_ns") - first)
    columns = [
        *_where(answer),
        Column("length", lambda row: duration(row["gap_ns"])),
        Column("at", lambda row: f"+{duration(row['at'])}", is_wide=True),
        Column("cause", _cause, is_text=True),
        Column("in", lambda row: brief(row["context"], 24) if row["context"] else "-", is_text=True),
        Column("queued", lambda row: "-" if row["queue_depth"] is None else str(row["queue_depth"]), is_wide=True),
        Column("after", lambda row: brief_kernel(row["before"], names) if row["before"] else "-", is_text=True),
        Column("before", lambda row: brief_kernel(row["after"], names), is_text=True),
    ]
    title = f"the longest gaps, {truncation(min(limit, rows.height), answer.gap_count, 'gaps')}"
    table = frame_table(rows, columns, limit=limit, what="gaps", width=width)
    table.title = title
    return table


def _cause(row: dict[str, Any]) -> str:
    if row["cause"] in ("launch", "queued", "unknown", "host code") or not row["function"]:
        return printable(row["cause"])
    return f"{printable(row['function'])} {duration(row['function_ns'])}"
