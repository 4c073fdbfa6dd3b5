"""Busy time of the GPUs in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from wavewright.analysis.run.gpu_time.busy import Busy
from wavewright.base.shown import printable
from wavewright.base.words import duration, percent, truncation
from wavewright.model.blocks import GAP, AnyBlock, Sentence, chart, headline, sentence
from wavewright.words.kit.charts import dense, resampled
from wavewright.words.kit.declared_tables import declared_table, table_below
from wavewright.words.run.place_names import gpu_cell, gpu_name, gpu_names, place_words

_VISIBLE = 0.01  #: Idle edges are told if they take more than this share of the wall time.
_CHARTS = 16  #: GPUs that have a curve even if fewer rows are asked for.
_STEPS = " ▁▂▃▄▅▆▇█"


def busy_report(answer: Busy, *, width: int = 100, limit: int = 20, is_window: bool = False) -> Iterator[AnyBlock]:
    """The report of `wavewright busy`."""
    yield headline(_verdict(answer, is_window=is_window))
    if not answer.gpus.height:
        return
    unused = int(answer.nodes["unused_gpu_count"].sum())
    if unused:
        yield Sentence(f"{unused:,} more GPU{'s were' if unused > 1 else ' was'} visible and did nothing")
    yield GAP
    several = answer.nodes.height > 1
    yield declared_table("run/busy/gpu", answer.gpus, limit=limit, gpu=gpu_cell(several=several))
    times = "busy: merged intervals; summed: durations added up as in RPD and rocpd, overlaps counted again"
    yield sentence((times, "dim"))
    yield GAP
    yield from _curves(answer, width=width, limit=limit)
    if answer.streams.height > answer.gpus.height:
        yield from table_below(
            "run/busy/stream", answer.streams, limit=limit, gpu=gpu_cell(several=several), process=_process
        )


def _verdict(answer: Busy, *, is_window: bool) -> str:
    gpus = answer.gpus
    if not gpus.height:
        return "no GPU work in this window" if is_window else "no GPU work was recorded"
    total, wall = int(gpus["span_ns"].sum()), int(gpus["wall_ns"].sum())
    edges = ""
    if wall - total > wall * _VISIBLE:
        share = percent(int(gpus["busy_ns"].sum()) / wall)
        edges = f"; {share} of the wall time, {percent((wall - total) / wall)} of which is idle at the edges"
    if gpus.height == 1:
        row = gpus.row(0, named=True)
        busy = f"{gpu_name(row['node'], row['gpu'], with_node=False)} is busy {percent(row['busy_share'])}"
        of = f"the window of {duration(total)}" if is_window else f"{duration(total)} from its first to its last work"
        parts = f"kernels {percent(row['kernel_busy_share'])}, copies {percent(row['copy_busy_share'])}"
        return f"{busy} of {of}: {parts}{edges}"
    nodes = answer.nodes.height
    where = place_words(answer.nodes["node"], nodes) if nodes > 1 else ""
    mean = int(gpus["busy_ns"].sum()) / total if total else None
    ordered = gpus.filter(pl.col("busy_share").is_not_null()).sort("busy_share", maintain_order=True)
    whole = "the window" if is_window else "the time from the first to the last GPU work"
    headline = f"{gpus.height:,} GPUs{where} are busy {percent(mean)} of {whole}"
    if ordered.height > 1:
        labels = gpu_names(ordered.select("node", "gpu").rows(), with_node=nodes > 1)
        least, most = (f"{percent(ordered['busy_share'][at])} ({labels[at]})" for at in (0, -1))
        headline += f": from {least} to {most}"
    return headline + edges


def _curves(answer: Busy, *, width: int, limit: int) -> Iterator[AnyBlock]:
    """Busy share over time, one line per GPU; full height is 100 %."""
    several = answer.nodes.height > 1
    names = gpu_names(answer.gpus.select("node", "gpu").rows(), with_node=several)
    label_width = max(map(len, names[:limit]))
    room = max(8, width - label_width - 2)
    nodes = {row["node"]: row for row in answer.nodes.iter_rows(named=True)}
    bins = answer.over_time.partition_by("node", "gpu", as_dict=True, maintain_order=True)
    shown = min(len(names), max(limit, _CHARTS))
    title = f"busy share over time, full height is 100 %, {truncation(shown, len(names), 'GPUs')}"
    lines: list[Sentence] = []
    for name, (node, gpu) in zip(names[:shown], answer.gpus.select("node", "gpu").iter_rows(), strict=False):
        shares = dense(bins.get((node, gpu)), "busy_share", nodes[node]["bin_count"])
        line = "".join(_STEPS[min(8, max(0, round(8 * share)))] for share in resampled(shares, room))
        lines.append(sentence(f"{name.rjust(label_width)} │", (line, "#009E73")))
    if not several:
        only = answer.nodes.row(0, named=True)
        left, right = (f"+{duration(only[name] - only['begin_ns'])}" for name in ("start_ns", "end_ns"))
        axis = left + right.rjust(max(min(room, only["bin_count"]) - len(left), len(right) + 1))
        lines.append(Sentence(" " * (label_width + 2) + axis))
    yield chart(lines, title)


def _process(row: dict[str, Any]) -> str:
    pid = "?" if row["pid"] is None else row["pid"]
    return printable(f"rank {row['rank']} ({pid})" if row["rank"] is not None else str(pid))
