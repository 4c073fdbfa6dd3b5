"""Loops and what their iterations cost, in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import polars as pl

from wavewright.analysis.trace.costs.loops import Loops
from wavewright.base.shown import printable
from wavewright.base.words import percent, short
from wavewright.model.blocks import GAP, AnyBlock, Named, Part, Sentence, sentence
from wavewright.words.kit.declared_tables import legend, table_below
from wavewright.words.kit.frame_tables import hexadecimal, lines_of
from wavewright.writers.terminal.bars import sparkline

_SLOW_START = 1.5  #: The first iteration is worth a sentence if it takes more than this many times the steady ones.
_SLOW_ITERATION = 1.1  #: A later one is, if its mean is at least this many times the median.
_FEW_ITERATIONS = 3  #: With fewer trips there is no usual iteration to compare with.
_SPARK_CELLS = 12  #: Characters of the curve of a loop.


def loops_report(answer: Loops, *, by: str = "loop", limit: int) -> Iterator[AnyBlock]:
    """A verdict and the loops, inner ones below the one around them; `by` iteration: the cycles of every iteration."""
    if not answer.loops.height:
        yield Sentence("no wave went round a loop")
        return
    yield _verdict(answer)
    if by == "iteration":
        yield GAP
        yield from _iterations(answer, limit=limit)
    else:
        yield from table_below(
            "trace/loops/loops",
            answer.loops,
            limit=limit,
            loop=lambda row: "  " * min(row["depth"], 8) + str(row["loop"]),
            trips=_trips,
            slowest=_slowest_cell,
            curve=_curve_cell(answer.iterations),
            source=lambda row: lines_of(row) or row["function"] or "",
        )
    if answer.left_out_count:
        yield sentence((f"{answer.left_out_count:,} loops that ran less often are left out", "bold yellow"))


def _verdict(answer: Loops) -> Sentence:
    top = answer.loops.sort("self_cycles_share", descending=True, maintain_order=True).row(0, named=True)
    parts: list[Part] = [f"{percent(1 - answer.outside_cycles_share)} of the cycles are in loops; hottest: "]
    parts += [(f"loop {top['loop']}", "bold"), " at ", Named(hexadecimal(top["address"]), "i")]
    where = lines_of(top)
    parts.append(f"{f' ({printable(where)})' if where else ''}, {percent(top['self_cycles_share'])}")
    if top["iteration_count"] is None:
        return sentence(*parts)
    parts.append(f": {top['trips_median']:.0f} trips of {short(top['iteration_cycles_median'])} cycles")
    if top["steady_stall_share"] is not None:
        parts.append(f", {percent(top['steady_stall_share'])} of them stall")
    steady = top["steady_cycles_median"]
    if steady and top["first_cycles_median"] > _SLOW_START * steady:
        parts.append(f"; the first takes {top['first_cycles_median'] / steady:.1f} times as long")
    elif _has_slow_iteration(top):
        slowest = f"iteration {top['slowest_iteration']} (from 0) with {top['slowest_cycles_mean']:,.0f} cycles"
        parts.append(f"; the slowest is {slowest}: {percent(top['slowest_ratio'] - 1, 0)} longer than the median")
    return sentence(*parts)


def _has_slow_iteration(loop: dict[str, Any]) -> bool:
    ratio, trips = loop["slowest_ratio"], loop["trips_median"]
    return ratio is not None and ratio >= _SLOW_ITERATION and trips >= _FEW_ITERATIONS


def _iterations(answer: Loops, *, limit: int) -> Iterator[AnyBlock]:
    """One table per loop: every iteration number with its cycles."""
    yield legend("trace/loops/iterations")
    share = pl.col("cycles_mean") / pl.max_horizontal(pl.col("cycles_mean").max(), 1)
    for loop, address in answer.loops.select("loop", "address").iter_rows():
        means = answer.iterations.filter(pl.col("loop") == loop).with_columns(longest_share=share)
        yield from table_below("trace/loops/iterations", means, limit=limit, title=f"loop {loop} at {address:#x}")


def _trips(row: dict[str, Any]) -> str:
    if row["trips_min"] is None:
        return "-"
    if row["trips_min"] == row["trips_max"]:
        return f"{row['trips_min']:,}"
    return f"{row['trips_min']:,}..{row['trips_max']:,}"


def _curve_cell(iterations: pl.DataFrame) -> Callable[[dict[str, Any]], str]:
    """The cell that draws the cycles of a loop by iteration."""
    means: dict[int, list[float]] = {}
    for loop, mean in iterations.select("loop", "cycles_mean").iter_rows():
        means.setdefault(loop, []).append(mean)
    return lambda row: _curve(means.get(row["loop"], []))


def _curve(means: list[float]) -> str:
    """Mean cycles by iteration number, from 0 to the largest; where there are many, means of equal parts."""
    cells = min(len(means), _SPARK_CELLS)
    edges = [len(means) * cell // cells for cell in range(cells + 1)] if cells else [0]
    return sparkline([sum(means[a:b]) / (b - a) for a, b in pairwise(edges)])


def _slowest_cell(row: dict[str, Any]) -> str:
    if not _has_slow_iteration(row):
        return "-"
    return f"{row['slowest_iteration']}: {short(row['slowest_cycles_mean'])}"
