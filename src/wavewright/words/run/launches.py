"""Launches of GPU work in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import polars as pl

from wavewright.analysis.run.calls.launches import without_launch
from wavewright.analysis.run.contents.launch_statistics import LaunchStatistics
from wavewright.base.shown import printable
from wavewright.base.words import counted, duration, percent
from wavewright.model.blocks import GAP, AnyBlock, headline, sentence
from wavewright.words.kit.declared_tables import declared_table, table_below
from wavewright.words.run.place_names import rank_limit
from wavewright.words.run.ranks import who_of
from wavewright.writers.terminal.bars import sparkline


def launches_report(answer: LaunchStatistics, *, limit: int | None = 20) -> Iterator[AnyBlock]:
    """The report of `wavewright launches`."""
    yield headline(_verdict(answer))
    if not answer.processes.height:
        return
    unknown = int(answer.processes["unknown_count"].sum())
    total = int(answer.processes["work_count"].sum())
    if unknown:
        what = without_launch(has_calls=answer.call_count > 0)
        text = f"the launch of {unknown:,} of {total:,} kernels and copies ({percent(unknown / total)}) is {what}"
        advice = "" if unknown < total else "; record calls, for example with rocprofv3 --runtime-trace"
        yield sentence((text + advice, "bold yellow"))
    yield from table_below("run/launches/function", answer.functions, limit=limit)
    yield GAP
    shown = rank_limit(limit)
    curve = _queue_curve(answer.depths)
    yield declared_table("run/launches/process", answer.processes, limit=shown, process=who_of, curve=curve)


def _verdict(answer: LaunchStatistics) -> str:
    if not answer.processes.height:
        return "no GPU work was recorded"
    launches = int(answer.processes["launch_count"].sum())
    if not launches:
        return "no kernel or copy is linked to a call" if answer.call_count else "no launch was recorded"
    works = int(answer.functions["work_count"].sum())
    graphs = int(answer.functions["graph_count"].sum())
    text = f"{counted(launches, 'launches')} of {works:,} kernels and copies"
    if graphs:
        text += f", {graphs:,} of them of several at once (graphs)"
    main = answer.functions.row(0, named=True)
    text += f"; {printable(main['function'])} to start: median {duration(main['delay_median_ns'])}"
    empty = answer.processes["empty_share"].mean()
    return text if empty is None else f"{text}; nothing is queued for {percent(float(empty))} of the time"  # type: ignore[arg-type]


def _queue_curve(depths: pl.DataFrame) -> Callable[[dict[str, Any]], str]:
    """The cell that draws the queue depth of a process over time."""
    curves = {
        key: group["depth_mean"].to_list()
        for key, group in depths.group_by("host", "pid", "rank", "run", maintain_order=True)
    }

    def curve(row: dict[str, Any]) -> str:
        values = curves.get((row["host"], row["pid"], row["rank"], row["run"]), [])
        return sparkline([max(values[at : at + 2]) for at in range(0, len(values), 2)])

    return curve
