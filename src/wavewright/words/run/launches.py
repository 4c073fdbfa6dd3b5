"""Launches of GPU work in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavewright.base.shown import printable
from wavewright.base.words import counted, duration, percent
from wavewright.model.blocks import GAP, AnyBlock, headline, sentence
from wavewright.words.kit.frame_tables import Column, frame_table
from wavewright.words.run.ranks import who_of
from wavewright.writers.terminal.bars import sparkline

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from wavewright.analysis.run.contents.launch_statistics import LaunchStatistics

_FEWEST_RANKS = 64


def launches_report(answer: LaunchStatistics, *, limit: int | None = 20) -> Iterator[AnyBlock]:
    """The report of `wavewright launches`."""
    yield headline(_verdict(answer))
    if not answer.processes.height:
        return
    unknown = int(answer.processes["unknown_count"].sum())
    total = int(answer.processes["work_count"].sum())
    if unknown:
        text = f"the launch of {unknown:,} of {total:,} kernels and copies ({percent(unknown / total)}) is not recorded"
        advice = "" if unknown < total else "; record calls, for example with rocprofv3 --runtime-trace"
        yield sentence((text + advice, "bold yellow"))
    if answer.functions.height:
        yield GAP
        yield frame_table(answer.functions, _FUNCTION_COLUMNS, limit=limit, what="functions that launch")
    yield GAP
    shown = None if limit is None else max(limit, _FEWEST_RANKS)
    yield frame_table(answer.processes, _process_columns(answer.depths), limit=shown, what="processes")


def _verdict(answer: LaunchStatistics) -> str:
    if not answer.processes.height:
        return "no GPU work was recorded"
    launches = int(answer.processes["launch_count"].sum())
    if not launches:
        return "no launch was recorded"
    works = int(answer.functions["work_count"].sum())
    graphs = int(answer.functions["graph_count"].sum())
    text = f"{counted(launches, 'launches')} of {works:,} kernels and copies"
    if graphs:
        text += f", {graphs:,} of them of several at once (graphs)"
    main = answer.functions.row(0, named=True)
    text += f"; {printable(main['function'])} to start: median {duration(main['delay_median_ns'])}"
    empty = answer.processes["empty_share"].mean()
    return text if empty is None else f"{text}; nothing is queued for {percent(float(empty))} of the time"  # type: ignore[arg-type]


_FUNCTION_COLUMNS = [
    Column("function", lambda row: row["function"], is_text=True, is_name=True),
    Column("launches", lambda row: f"{row['launch_count']:,}"),
    Column("graphs", lambda row: f"{row['graph_count']:,}"),
    Column("work", lambda row: f"{row['work_count']:,}"),
    Column("call", lambda row: duration(row["call_median_ns"])),
    Column("delay", lambda row: duration(row["delay_median_ns"])),
    Column("mean", lambda row: duration(row["delay_mean_ns"]), is_wide=True),
    Column("p95", lambda row: duration(row["delay_p95_ns"])),
    Column("longest", lambda row: duration(row["delay_max_ns"]), is_wide=True),
]


def _process_columns(depths: pl.DataFrame) -> list[Column]:
    curves = {
        key: group["depth_mean"].to_list()
        for key, group in depths.group_by("host", "pid", "rank", "run", maintain_order=True)
    }

    def curve(row: dict[str, Any]) -> str:
        values = curves.get((row["host"], row["pid"], row["rank"], row["run"]), [])
        return sparkline([max(values[at : at + 2]) for at in range(0, len(values), 2)])

    def number(value: float | None, digits: int = 0) -> str:
        return "-" if value is None else f"{value:,.{digits}f}"

    return [
        Column("process", who_of, is_text=True, is_fixed=True),
        Column("launches", lambda row: f"{row['launch_count']:,}"),
        Column("per step", lambda row: number(row["launches_per_step"])),
        Column("calls", lambda row: number(row["calls_per_step"]), is_wide=True),
        Column("queued", lambda row: number(row["depth_mean"], 1)),
        Column("most", lambda row: number(row["depth_max"])),
        Column("empty", lambda row: percent(row["empty_share"])),
        Column("queue depth over time", curve, is_text=True, takes_rest=True, is_wide=True, is_drawn=True),
    ]
