"""Loops and what their iterations cost, in words."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import polars as pl

from wavewright.base.shown import printable
from wavewright.base.words import grouped, percent, short
from wavewright.model.blocks import GAP, AnyBlock, Named, Part, Sentence, sentence
from wavewright.words.kit.frame_tables import Column, bar_cell, frame_table, hexadecimal, place
from wavewright.words.trace.row_columns import ADDRESS
from wavewright.writers.terminal.bars import sparkline

if TYPE_CHECKING:
    from wavewright.analysis.trace.costs.loops import Loops

_SLOW_START = 1.5
_SLOW_ITERATION = 1.1  #: An iteration number is worth a sentence when its mean is so many times the median.
_FEW_ITERATIONS = 3  #: With fewer there is no usual one to compare with.
_SPARK_CELLS = 12


def loops_report(answer: Loops, *, by: str = "loop", limit: int) -> list[AnyBlock]:
    """A verdict and the loops, inner ones below the one around them; `by` iteration: the cycles of every iteration."""
    if not answer.loops.height:
        return [Sentence("no wave went round a loop")]
    parts: list[AnyBlock] = [_verdict(answer), GAP]
    if by == "iteration":
        parts += _iterations(answer, limit=limit)
    else:
        parts.append(frame_table(answer.loops, _columns(answer.iterations), limit=limit, what="loops"))
    if answer.left_out_count:
        parts.append(sentence((f"{answer.left_out_count:,} loops that ran less often are left out", "bold yellow")))
    return parts


def _verdict(answer: Loops) -> Sentence:
    top = answer.loops.sort("self_cycles_share", descending=True, maintain_order=True).row(0, named=True)
    parts: list[Part] = [f"{percent(1 - answer.outside_cycles_share)} of the cycles are in loops; hottest: "]
    parts += [(f"loop {top['loop']}", "bold"), " at ", Named(hexadecimal(top["address"]), "i")]
    where = _where(top)
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
        parts.append(f"; the slowest is {_slowest(top)}: {percent(top['slowest_ratio'] - 1, 0)} longer than the median")
    return sentence(*parts)


def _has_slow_iteration(loop: dict[str, Any]) -> bool:
    ratio, trips = loop["slowest_ratio"], loop["trips_median"]
    return ratio is not None and ratio >= _SLOW_ITERATION and trips >= _FEW_ITERATIONS


def _slowest(loop: dict[str, Any]) -> str:
    return f"iteration {loop['slowest_iteration']} (from 0) with {loop['slowest_cycles_mean']:,.0f} cycles"


def _iterations(answer: Loops, *, limit: int) -> list[AnyBlock]:
    """One table per loop: every iteration number with its cycles."""
    parts: list[AnyBlock] = [sentence((_ITERATION_LEGEND, "dim"))]
    for loop in answer.loops.iter_rows(named=True):
        means = answer.iterations.filter(pl.col("loop") == loop["loop"])
        if means.height:
            title = f"loop {loop['loop']} at {loop['address']:#x}"
            longest = means["cycles_mean"].max()
            columns = (*_ITERATION, _bar_of("cycles_mean", longest))
            parts += [GAP, frame_table(means, columns, limit=limit, what="iterations", title=title)]
    return parts


def _bar_of(name: str, longest: Any) -> Column:
    return Column("", lambda row: bar_cell(row[name] / longest if longest else 0), is_bar=True)


def _where(row: dict[str, Any]) -> str:
    name = place(row["file"], row["first_line"])
    return f"{name}-{row['last_line']}" if name and row["last_line"] != row["first_line"] else name


def _trips(row: dict[str, Any]) -> str:
    if row["trips_min"] is None:
        return "-"
    if row["trips_min"] == row["trips_max"]:
        return f"{row['trips_min']:,}"
    return f"{row['trips_min']:,}..{row['trips_max']:,}"


def _cycles(name: str) -> Any:
    return lambda row: short(row[name])


def _columns(iterations: pl.DataFrame) -> tuple[Column, ...]:
    """Columns of the table of loops; the curve is drawn from `iterations`."""
    means: dict[int, list[float]] = {}
    for loop, mean in iterations.select("loop", "cycles_mean").iter_rows():
        means.setdefault(loop, []).append(mean)
    cell = lambda row: _curve(means.get(row["loop"], []))  # noqa: E731
    return (*_FRONT, Column("by iteration", cell, is_text=True, is_fixed=True, is_drawn=True), *_BACK)


def _curve(means: list[float]) -> str:
    """Mean cycles by iteration number, from 0 to the largest; where there are many, means of equal parts."""
    cells = min(len(means), _SPARK_CELLS)
    edges = [len(means) * cell // cells for cell in range(cells + 1)] if cells else [0]
    return sparkline([sum(means[a:b]) / (b - a) for a, b in pairwise(edges)])


def _slowest_cell(row: dict[str, Any]) -> str:
    if not _has_slow_iteration(row):
        return "-"
    return f"{row['slowest_iteration']}: {short(row['slowest_cycles_mean'])}"


_ITERATION_LEGEND = (
    "iteration: number since the loop was entered, from 0; cycles: mean over all waves and entries; longer: share of"
    " its executions that took longer than the median iteration of the same wave"
)
_ITERATION = (
    Column("iteration", lambda row: f"{row['iteration']:,}"),
    Column("cycles", lambda row: f"{row['cycles_mean']:,.0f}"),
    Column("min", lambda row: f"{row['cycles_min']:,}"),
    Column("max", lambda row: f"{row['cycles_max']:,}"),
    Column("stall", lambda row: f"{row['stall_cycles_mean']:,.0f}"),
    Column("waves", lambda row: f"{row['wave_count']:,}"),
    Column("executions", lambda row: f"{row['execution_count']:,}", is_wide=True),
    Column("longer", lambda row: percent(row["longer_share"], 0)),
)
_FRONT = (
    Column("loop", lambda row: "  " * min(row["depth"], 8) + str(row["loop"]), is_text=True, is_fixed=True),
    ADDRESS,
    Column("share", lambda row: percent(row["cycles_share"])),
    Column("", lambda row: bar_cell(row["cycles_share"], 6), is_bar=True, is_wide=True),
    Column("waves", lambda row: grouped(row["wave_count"]), is_wide=True),
    Column("trips", _trips),
    Column("cycles", _cycles("iteration_cycles_median")),
    Column("min", _cycles("iteration_cycles_min"), is_wide=True),
    Column("max", _cycles("iteration_cycles_max"), is_wide=True),
    Column("first", _cycles("first_cycles_median"), is_wide=True),
    Column("steady", _cycles("steady_cycles_median"), is_wide=True),
    Column("last", _cycles("last_cycles_median"), is_wide=True),
    Column("slowest", _slowest_cell),
)
_BACK = (
    Column("stall", lambda row: percent(row["steady_stall_share"])),
    Column("source", lambda row: _where(row) or row["function"] or "", takes_rest=True),
)
