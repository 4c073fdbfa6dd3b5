"""Idle time between GPU work in words: how much of which cause, the advice about it, and the longest gaps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import polars as pl

from wavewright.analysis.run.calls.launches import without_launch
from wavewright.analysis.run.gpu_time.gaps import Gaps
from wavewright.base.shown import printable
from wavewright.base.words import counted, duration, percent
from wavewright.facts.loader import packaged
from wavewright.model.blocks import GAP, AnyBlock, Sentence, Table, headline, sentence
from wavewright.words.kit.brief_names import brief_kernel
from wavewright.words.kit.declared_tables import declared_table, table_below
from wavewright.words.kit.frame_tables import bar_cell
from wavewright.words.run.place_names import gpu_cell, process_cell
from wavewright.writers.terminal.fitted_table import WIDE

_MAIN_SHARE = 0.5  #: A cause with at least this share of all gap time is called most of it.
_LEAST_IDLE_SHARE = 0.02  #: If gaps take less of the span, there is nothing to advise.
_LEAST_EDGE_SHARE = 0.01  #: Idle edges are told if they take more than this share of the wall time.
#: Causes that are no call: the function of a gap only says where the thread was meanwhile.
_WITHOUT_FUNCTION = ("launch", "stream wait", "queued", "unknown", "host code")
#: Characters of columns of the largest gaps: of all numbers together, and of `queued`, which is not always there.
_NUMBER_COLUMNS, _QUEUED_COLUMN = 42, 8
#: Cause -> what it is called, and what to do about it.
_ADVICE: dict[str, list[str]] = packaged("texts.toml", __package__)["gaps_advice"]
_RECORD = "record calls with `rocprofv3 --hip-trace` or `--runtime-trace`, or PyTorch's CPU activity"
_OUTER_FOLDERS = re.compile(r"^.*/(?=[^/]+/[^/]+\.py\()")  #: Before the last folder of a source file of Python.


def gaps_report(answer: Gaps, *, width: int = 100, limit: int = 20, is_window: bool = False) -> Iterator[AnyBlock]:
    """The report of `wavewright gaps`."""
    causes = _cause_sums(answer)
    yield headline(_verdict(answer, causes, is_window=is_window))
    main = _main_cause(causes, _idle_share(answer), has_calls=answer.call_count > 0)
    if main:
        yield Sentence(main)
    if not answer.gpus.height:
        return
    yield GAP
    where = _where(answer)
    yield declared_table(
        "run/gaps/gpu", answer.gpus, limit=limit, rows="streams" if where["of_stream"] else "GPUs", **where
    )
    if not answer.gap_count:
        return
    yield from table_below("run/gaps/cause", causes)
    if answer.causes["function"].count():
        yield GAP
        yield _function_table(answer, limit=min(limit, 10))
    yield GAP
    yield _histogram(answer, width=width)
    yield GAP
    yield _largest_table(answer, width=width, limit=limit)
    yield GAP
    yield from _longest(answer)


def _idle_share(answer: Gaps) -> float:
    """The share of the span that all gaps take."""
    return int(answer.gpus["gap_ns"].sum()) / (int(answer.gpus["span_ns"].sum()) or 1)


def _main_cause(causes: pl.DataFrame, idle_share: float = 1.0, *, has_calls: bool = True) -> str:
    """The main cause of gap time and the advice about it; empty = little is idle, or there is nothing to say."""
    if idle_share < _LEAST_IDLE_SHARE:
        return ""
    shares = {row["cause"]: row["share"] or 0.0 for row in causes.iter_rows(named=True)}
    unknown = shares.pop("unknown", 0.0)
    largest = max(shares, key=lambda cause: shares[cause], default="")
    if unknown >= _MAIN_SHARE:
        if not has_calls:
            return f"No API calls were recorded, and so no cause is known: {_RECORD}."
        launches = without_launch(has_calls=True)
        return f"The cause of {percent(unknown)} of the gaps is not known: the launches are {launches}; {_RECORD}."
    if not largest or not shares[largest]:
        return ""
    name, advice = _ADVICE.get(largest, (f"{largest}s", ""))
    if shares[largest] >= _MAIN_SHARE:
        return f"Mostly {name}. {advice}".rstrip()
    return f"The largest part is {name}, {percent(shares[largest])} of the gaps. {advice}".rstrip()


def _cause_sums(answer: Gaps) -> pl.DataFrame:
    """Causes over all GPUs, the largest first."""
    sums = answer.causes.group_by("cause").agg(pl.col("call_count", "wait_ns").sum())
    total = pl.col("wait_ns").sum()
    return sums.with_columns(share=pl.when(total > 0).then(pl.col("wait_ns") / total)).sort(
        "wait_ns", "cause", descending=[True, False]
    )


def _verdict(answer: Gaps, causes: pl.DataFrame, *, is_window: bool) -> str:
    gpus = answer.gpus
    if not gpus.height:
        return "no GPU work in this window" if is_window else "no GPU work was recorded"
    streams = gpus["stream_id"].count() > 0
    who = counted(gpus.height, "streams" if streams else "GPUs")
    edge, wall = int(gpus["edge_ns"].sum()), int(gpus["wall_ns"].sum())
    edges = f"; idle at the edges: {percent(edge / wall)} of the wall time" if edge > wall * _LEAST_EDGE_SHARE else ""
    if not answer.gap_count:
        return f"no gaps between the work of {who}{edges}"
    gap, span = int(gpus["gap_ns"].sum()), int(gpus["span_ns"].sum())
    span_name = "the window" if is_window else "the time between the first and the last GPU work"
    headline = f"{who}: {counted(answer.gap_count, 'gaps')}, {duration(gap)}, {percent(gap / span)} of {span_name}"
    parts = [
        f"{row['cause']} {percent(row['share'])}" for row in causes.head(3).iter_rows(named=True) if row["wait_ns"]
    ]
    return f"{headline}; of the gaps {', '.join(parts)}{edges}" if parts else headline + edges


def _where(answer: Gaps) -> dict[str, Any]:
    """The cells that name the GPU of a row, or its stream."""
    several = answer.gpus["node"].n_unique() > 1
    return {"gpu": gpu_cell(several=several), "process": process_cell, "of_stream": answer.gpus["pid"].count() > 0}


def _function_table(answer: Gaps, *, limit: int) -> Table:
    sums = answer.causes.filter(pl.col("function").is_not_null()).group_by("function", "cause")
    rows = sums.agg(pl.col("call_count", "wait_ns").sum()).sort("wait_ns", "function", descending=[True, False])
    return declared_table(
        "run/gaps/function", rows, limit=limit, function=lambda row: brief_kernel(row["function"], 60)
    )


def _histogram(answer: Gaps, *, width: int) -> Table:
    rows = answer.histogram.group_by("from_ns").agg(pl.col("gap_count", "gap_ns").sum()).sort("from_ns")
    longest_ns = max(int(rows["gap_ns"].max() or 0), 1)  # type: ignore[arg-type]  # integers
    return declared_table(
        "run/gaps/histogram", rows, bar=lambda row: bar_cell(row["gap_ns"] / longest_ns, max(8, min(50, width - 40)))
    )


def _largest_table(answer: Gaps, *, width: int, limit: int) -> Table:
    name_width, stack_width = _widths(answer.largest.head(limit), width)
    table = declared_table(
        "run/gaps/largest",
        answer.largest,
        limit=limit,
        **_where(answer),
        cause=_cause,
        previous=lambda row: brief_kernel(row["previous"], name_width) if row["previous"] else "-",
        next=lambda row: brief_kernel(row["next"], name_width),
        inside=lambda row: _innermost(row["stack"], stack_width),
    )
    return replace(table, row_count=answer.gap_count)


def _widths(rows: pl.DataFrame, width: int) -> tuple[int, int]:
    """Characters of the names of work, and of stacks: what the other columns leave, and stacks do not need."""
    causes = max(map(len, (_cause(row) for row in rows.to_dicts())), default=0)
    node_names = rows["node"].drop_nulls().unique().to_list()
    nodes = max(map(len, node_names)) if len(node_names) > 1 else 0
    free = width - _NUMBER_COLUMNS - causes - nodes - (_QUEUED_COLUMN if width >= WIDE else 0)
    stacks = max(map(len, (_innermost(stack, width) for stack in rows["stack"])), default=0)
    stack_width = min(stacks, max(16, free // 2))  # at most half: names need the other
    name_width = (free - stack_width) // 2  # of the work before a gap, and of that after it
    return max(12, min(60, name_width)), max(16, stack_width)


def _cause(row: dict[str, Any]) -> str:
    """The cause of a gap; a call by its name, with its time in the gap."""
    if row["cause"] in _WITHOUT_FUNCTION or not row["function"]:
        return printable(row["cause"])
    return f"{printable(row['function'])} {duration(row['function_ns'])}"


def _frames(stack: str | None) -> list[str]:
    """Frames from the outermost, with one folder of their paths."""
    return [_OUTER_FOLDERS.sub("", printable(frame)) for frame in (stack or "").split(" > ") if frame]


def _innermost(stack: str | None, room: int) -> str:
    """As many of the innermost frames as there is room for; "… > " stands for those further out."""
    frames = _frames(stack)
    if not frames:
        return "-"
    text = frames[-1]
    for number, frame in enumerate(reversed(frames[:-1]), 2):
        longer = f"{frame} > {text}"
        if len(longer) + (0 if number == len(frames) else 4) > room:
            return f"… > {text}"
        text = longer
    return text


def _longest(answer: Gaps) -> Iterator[AnyBlock]:
    """The longest gap in words."""
    row = answer.largest.row(0, named=True)
    place = ""
    if row["at_ns"] is not None:  # a damaged database may lack the process, and with it the start of the recording
        place = f" at +{duration(row['at_ns'])} (--time {row['at_ns']}ns:{row['at_ns'] + row['gap_ns']}ns)"
    yield sentence((f"the longest gap, {duration(row['gap_ns'])}{place}", "bold"))
    yield Sentence(f"  {_story(row, has_calls=answer.call_count > 0)}")
    if row["function"] and row["function_ns"]:
        yield Sentence(f"  the thread was {duration(row['function_ns'])} of it in {row['function']}")
    for depth, frame in enumerate(_frames(row["stack"])):
        yield Sentence(f"  {'in' if not depth else '  '} {'  ' * depth}{frame}")


def _story(row: dict[str, Any], *, has_calls: bool) -> str:
    """The launch of the next work: its time, and what it waited for."""
    if row["launch_at_ns"] is None:
        return f"the next work is {brief_kernel(row['next'], 60)}; its launch is {without_launch(has_calls=has_calls)}"
    at, delay = row["launch_at_ns"], row["launch_ns"]
    when = f"{duration(at)} into the gap" if at >= 0 else f"{duration(-at)} before the gap"
    reasons = {
        "stream wait": ", and waited in its stream for an event",
        "queued": ", and waited for other work or for the GPU",
    }
    reason = reasons.get(row["cause"], "")
    return f"{brief_kernel(row['next'], 60)} was launched {when}{reason}; it started {duration(delay)} after its launch"
