"""Parts of the difference between traces: executing more or less, another speed, and gaps between instructions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

from wavewright.analysis.trace.compare.spread import traced_waves
from wavewright.analysis.trace.costs.row_totals import entered_rows, row_totals
from wavewright.model.trace import ThreadTrace


class Shares(NamedTuple):
    """Parts of a difference, as shares of the cost of the first trace."""

    work: float
    speed: float
    idle: float  #: The part of `speed` that is time between instructions.


def work_and_speed(traces: Sequence[ThreadTrace], unit_of_row: Sequence[Sequence[int]]) -> list[Shares]:
    """The parts for every trace; `unit_of_row` are instructions that correspond.

    Instructions, not lines or blocks: a line whose cheap instructions went elsewhere did not become slower.
    """
    costs = [_costs(*trace) for trace in zip(traces, unit_of_row, strict=True)]
    total = float(costs[0]["cost"].sum()) or 1.0
    return [_against(costs[0], other, total) for other in costs]


def lines_of(
    traces: Sequence[ThreadTrace], unit_of_row: Sequence[Sequence[int]], same_as_first: Sequence[bool]
) -> list[tuple[int, int | None]]:
    """For each trace: source lines of its executed code; executed instructions of another line than in the first."""
    places = [_places(*trace) for trace in zip(traces, unit_of_row, strict=True)]
    counts = [frame.drop_nulls().select("file", "line").n_unique() for frame in places]
    is_moved = pl.any_horizontal(pl.col(name).ne_missing(pl.col(f"{name}_other")) for name in ("file", "line"))
    moves = [places[0].join(other, on="unit", suffix="_other").filter(is_moved).height for other in places]
    return [
        (count, each if is_same else None) for count, each, is_same in zip(counts, moves, same_as_first, strict=True)
    ]


def _places(trace: ThreadTrace, unit_of_row: Sequence[int]) -> pl.DataFrame:
    """The source line of every unit that ran; nothing is a line of its own."""
    code = trace.code.select("row", "line", file=pl.when(pl.col("line").is_not_null()).then("file"))
    units = pl.DataFrame({"row": range(len(unit_of_row)), "unit": unit_of_row}, schema=dict.fromkeys(_KEYS, pl.Int32))
    return (
        units.filter(pl.col("unit") >= 0)
        .join(code, on="row")
        .join(entered_rows(trace).select("row"), on="row", how="semi")
    )


def _costs(trace: ThreadTrace, unit_of_row: Sequence[int]) -> pl.DataFrame:
    """Executions and cost per wave of every unit that ran."""
    waves = max(traced_waves(trace).height, 1)
    units = pl.DataFrame({"row": range(len(unit_of_row)), "unit": unit_of_row}, schema=dict.fromkeys(_KEYS, pl.Int32))
    idle = pl.col("idle_cycles_total")
    cost = pl.col("latency_cycles_total") + idle
    return (
        row_totals(trace)
        .join(units.filter(pl.col("unit") >= 0), on="row")
        .group_by("unit", maintain_order=True)
        .agg(hits=pl.col("hit_count").sum() / waves, cost=cost.sum() / waves, idle=idle.sum() / waves)
        .filter(pl.col("hits") > 0)
    )


_KEYS = ("row", "unit")


def _against(base: pl.DataFrame, other: pl.DataFrame, total: float) -> Shares:
    both = base.join(other, on="unit", suffix="_other")
    speed, idle = (
        float((both[f"{name}_other"] - both["hits_other"] * both[name] / both["hits"]).sum())
        for name in ("cost", "idle")
    )
    delta = float(other["cost"].sum()) - float(base["cost"].sum())
    return Shares((delta - speed) / total, speed / total, idle / total)
