"""Dispatches of some kernels in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from wavewright.analysis.run.kernels import Kernels
from wavewright.base.shown import printable
from wavewright.base.words import counted, duration, percent, truncation
from wavewright.model.blocks import GAP, AnyBlock, Sentence, chart, headline, sentence
from wavewright.words.kit.brief_names import brief_kernel
from wavewright.words.kit.charts import resampled
from wavewright.words.kit.declared_tables import declared_table, table_below
from wavewright.words.run.place_names import gpu_cell
from wavewright.writers.terminal.bars import bar

_DETAILED = 3  #: Kernels with separate charts and tables.
_STEPS = "▁▂▃▄▅▆▇█"


def kernels_report(answer: Kernels, name: str, *, width: int = 100, limit: int = 20) -> Iterator[AnyBlock]:
    """The report of `wavewright kernels NAME`."""
    yield headline(_verdict(answer, name))
    if not answer.kernels.height:
        return
    yield from table_below("run/kernels/kernel", answer.kernels, limit=limit)
    names = answer.kernels["name"].head(_DETAILED).to_list()
    for kernel in names:
        yield GAP
        yield sentence((brief_kernel(kernel, 2 * width), "bold"))
        is_kernel = pl.col("name") == kernel
        yield from _histogram(answer.histogram.filter(is_kernel), width=width)
        yield from _trend(answer.over_time.filter(is_kernel), width=width)
        yield declared_table(
            "run/kernels/shape",
            answer.shapes.filter(is_kernel),
            limit=min(limit, 10),
            grid=lambda row: "  " + _triple(row, "grid"),
            workgroup=lambda row: _triple(row, "workgroup"),
            vgpr_agpr=lambda row: f"{_number(row['vgpr_count'])}+{_number(row['accum_vgpr_count'])}",
            waves_simd=_occupancy,
        )
        longest = answer.longest.filter(is_kernel)
        yield declared_table("run/kernels/longest", longest, limit=min(limit, 5), gpu=gpu_cell(several=False))
        counters = answer.counters.filter(is_kernel)
        if counters.height:
            yield declared_table("run/kernels/counter", counters, limit=limit)
        yield from _evidence(answer.traces.filter(is_kernel), answer.limits.filter(is_kernel), limit=limit)
    if answer.unread_trace_count:
        count = counted(answer.unread_trace_count, "more traced dispatches")
        yield sentence((f"{count} in the folder: `wavewright info` tells their kernels", "dim"))
    if answer.kernels.height > len(names):
        more = truncation(len(names), answer.kernels.height, "kernels in detail")
        yield sentence((f"\n{more}; --json has all", "bold"))


def _evidence(traces: pl.DataFrame, limits: pl.DataFrame, *, limit: int) -> Iterator[AnyBlock]:
    """Sentences of what thread traces and counters of the same folder say about a kernel, and how to ask them."""
    for row in limits.iter_rows(named=True):
        dispatches = counted(row["dispatch_count"], "dispatches")
        words = f"{row['limit']} (confidence {row['confidence']}; {dispatches} counted)"
        yield sentence(("  counters: ", "dim"), printable(words))
        yield sentence(("    ", "dim"), (printable(row["command"]), "advice"))
    for row in traces.head(limit).iter_rows(named=True):
        dispatch = f" of dispatch {row['dispatch']}" if row["dispatch"] else ""
        yield sentence((f"  thread trace{dispatch}: ", "dim"), (printable(row["command"]), "advice"))
    if traces.height > limit:
        yield sentence((f"  {truncation(limit, traces.height, 'thread traces')}; --json has all", "dim"))


def _verdict(answer: Kernels, name: str) -> str:
    if not answer.kernels.height:
        return f"no kernel matches {name!r}"
    kernels = answer.kernels
    calls, total = int(kernels["calls"].sum()), int(kernels["total_ns"].sum())
    share = percent(total / answer.all_ns) if answer.all_ns else "-"
    count = f"{counted(kernels.height, 'kernels')}, {counted(calls, 'dispatches')}"
    headline = f"{count}, {duration(total)}, {share} of all kernel time"
    first = kernels.row(0, named=True)
    if first["median_ns"]:
        headline += f"; the heaviest varies from {duration(first['min_ns'])} to {duration(first['max_ns'])}"
    return headline


def _histogram(rows: pl.DataFrame, *, width: int) -> Iterator[AnyBlock]:
    """A line per range of durations."""
    most_calls = max(rows["calls"].to_list(), default=1)
    cells = max(8, min(50, width - 30))
    lines = [sentence(("  durations, from" + "dispatches".rjust(14), "dim"))]
    for row in rows.iter_rows(named=True):
        label = duration(row["from_ns"]).rjust(11)
        lines.append(Sentence(f"  {label} {row['calls']:>17,}  {bar(row['calls'] / most_calls, cells)}".rstrip()))
    yield chart(lines)


def _trend(rows: pl.DataFrame, *, width: int) -> Iterator[AnyBlock]:
    """Mean duration over time of the node with most calls; full height is the longest mean."""
    if rows.height < 2:
        return
    sums = rows.group_by("machine").agg(pl.col("calls").sum()).sort("calls", "machine", descending=[True, False])
    chosen = rows.filter(pl.col("machine").eq_missing(sums["machine"][0])).sort("bin")
    means: list[float] = [0.0] * (int(chosen["bin"].max()) + 1)  # type: ignore[arg-type]
    for at, mean in chosen.select("bin", "mean_ns").iter_rows():
        means[at] = mean
    shown = resampled(means, max(8, width - 30))
    top = max(shown)
    line = "".join(" " if value <= 0 else _STEPS[min(7, int(8 * value / top))] for value in shown)
    first, last = chosen["mean_ns"][0], chosen["mean_ns"][-1]
    length = chosen["start_ns"][-1] + chosen["length_ns"][-1] - chosen["start_ns"][0]
    yield sentence((f"  mean over {duration(length)}: {duration(first)} at first, {duration(last)} at last", "dim"))
    yield chart([f"  {duration(top).rjust(11)} │{line}"])


def _triple(row: dict[str, Any], what: str) -> str:
    sides = [row[f"{what}_{axis}"] for axis in "xyz"]
    return "-" if sides[0] is None else "x".join(str(side) for side in sides)


def _number(value: int | None) -> str:
    return "-" if value is None else str(value)


def _occupancy(row: dict[str, Any]) -> str:
    if row["waves_per_simd"] is None:
        return "-"
    return f"{row['waves_per_simd']} of {row['waves_per_simd_max']} ({row['bound_by']})"
