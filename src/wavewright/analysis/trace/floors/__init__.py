"""Floors of code: the cycles that each pipe of the traced CUs needs at least."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import polars as pl

from wavewright.analysis.common.occupancy.architecture import possible_targets
from wavewright.analysis.common.shares import share_of
from wavewright.analysis.trace.floors.executions import LANE_PIPES, PIPES, UNIT, Executed, executed, rate_of
from wavewright.analysis.trace.floors.lane_pipes import LaneCycles, lane_cycles, no_lane_cycles
from wavewright.analysis.trace.lanes.evaluated import LaneOptions
from wavewright.model.answer import Answer
from wavewright.model.trace import ThreadTrace


@dataclass(frozen=True)
class Floor:
    """Least time of one pipe."""

    pipe: str
    cycles: int
    share: float  #: Of the span.
    is_whole: bool  #: Whether all executions are counted; if not, the true floor may be higher.
    confidence: str  #: Of its rate: counter-proven, published or hypothesis.

    @property
    def speedup_max(self) -> float:
        """Largest speedup of the code before it meets this floor."""
        return 1 / self.share


@dataclass(frozen=True)
class Floors(Answer, package=__package__):
    """Floors of the traced CUs for one kernel."""

    pipes: pl.DataFrame
    by_cu: pl.DataFrame
    changes: pl.DataFrame
    kernel: int | None  #: The kernel with the longest span.
    cu_count: int
    wave_count: int
    span_cycles_total: int
    largest: Floor | None  #: None = nothing is known.
    next: Floor | None  #: The largest of the other pipes.
    best: Floor | None  #: The largest floor if no access had conflicts and all were coalesced.
    speedup_max: float | None  #: No order of the same instructions gains more than this many times.
    notes: tuple[str, ...]


def floors(
    trace: ThreadTrace, options: LaneOptions | None = None, *, left_out: tuple[int, ...] = (), with_lanes: bool = True
) -> Floors:
    """Floors of the kernel that took longest; without the waves in `left_out`, LDS and L1 only `with_lanes`.

    Raises `UsageError`: an argument or size does not fit the kernel.
    """
    done = executed(trace, left_out)
    spans = done.units.group_by("kernel", maintain_order=True).agg(pl.col("span_cycles").sum())
    kernel = spans.sort("span_cycles", descending=True, maintain_order=True)["kernel"][0] if spans.height else None
    units = done.units.filter(pl.col("kernel").eq_missing(pl.lit(kernel, pl.UInt32)))
    lanes = lane_cycles(trace, options, units) if with_lanes else no_lane_cycles("lanes are not evaluated")
    notes = [*lanes.notes]
    if spans.height > 1:
        notes.append(f"of {spans.height} kernels, the one with the longest span; --kernel selects another")
    by_cu = _by_cu(done, units, lanes)
    span = int(units["span_cycles"].sum())
    pipes = _pipes(trace, by_cu, span, lanes)
    contradicted = pipes.filter(pl.col("floor_cycles_total").is_null() & (pl.col("counted_count") > 0))["pipe"]
    notes += [f"the trace is faster than the floor of {pipe} allows: its rate is wrong here" for pipe in contradicted]
    ordered = _ordered(pipes)
    saved = dict(lanes.rows.group_by("pipe").agg(pl.col("saved_cycles_total").sum()).iter_rows())
    return Floors(
        pipes=pipes,
        by_cu=by_cu,
        changes=_changes(lanes, ordered, span),
        kernel=kernel,
        cu_count=units.height,
        wave_count=int(units["wave_count"].sum()),
        span_cycles_total=span,
        largest=ordered[0] if ordered else None,
        next=ordered[1] if len(ordered) > 1 else None,
        best=_largest_without(ordered, saved, span),
        speedup_max=ordered[0].speedup_max if ordered else None,
        notes=tuple(notes),
    )


def floors_without(answer: Floors, saved: Mapping[str, int]) -> Floor | None:
    """The largest floor when pipes need fewer cycles (pipe -> cycles that are saved)."""
    return _largest_without(_ordered(answer.pipes), saved, answer.span_cycles_total)


def _largest_without(ordered: list[Floor], saved: Mapping[str, int], span: int) -> Floor | None:
    remaining = [(floor, max(0, floor.cycles - saved.get(floor.pipe, 0))) for floor in ordered]
    changed = [replace(floor, cycles=cycles, share=cycles / span) for floor, cycles in remaining if cycles]
    return max(changed, key=lambda floor: floor.cycles, default=None)


def _ordered(pipes: pl.DataFrame) -> list[Floor]:
    """Known floors, the largest first."""
    known = pipes.drop_nulls(["floor_cycles_total", "span_share"]).filter(pl.col("floor_cycles_total") > 0)
    is_whole = pl.col("counted_count") == pl.col("execution_count")
    rows = known.select("pipe", "floor_cycles_total", "span_share", is_whole, "confidence").iter_rows()
    return sorted((Floor(*row) for row in rows), key=lambda floor: floor.cycles, reverse=True)


def _by_cu(done: Executed, units: pl.DataFrame, lanes: LaneCycles) -> pl.DataFrame:
    issues = done.issues.with_columns(counted_count=pl.col("execution_count"))
    names = [*UNIT, "pipe", "execution_count", "counted_count", "floor_cycles"]
    frames = (issues, lanes.by_unit, _not_evaluated(issues, lanes.by_unit))
    needs = pl.concat([frame.select(names) for frame in frames])
    joined = units.join(needs, on=UNIT, nulls_equal=True, maintain_order="left")
    is_possible = pl.col("floor_cycles") <= pl.col("span_cycles")  # if not, the rate is wrong here
    floor = pl.when(is_possible & (pl.col("counted_count") > 0)).then("floor_cycles")
    joined = joined.with_columns(floor_cycles_total=floor, span_share=share_of(floor, pl.col("span_cycles")))
    return joined.sort("se", "cu", _order_of_pipes()).select(Floors.tables["by_cu"].casts)


def _not_evaluated(issues: pl.DataFrame, by_unit: pl.DataFrame) -> pl.DataFrame:
    """Accesses of CUs whose lanes were left out, beside others whose lanes were not."""
    pipes = {"LDS issue": "LDS", "VMEM issue": "L1"}
    of_lanes = issues.filter(pl.col("pipe").is_in(list(pipes))).with_columns(
        pl.col("pipe").replace_strict(pipes, return_dtype=pl.String),
        counted_count=pl.lit(0, pl.Int64),
        floor_cycles=pl.lit(0, pl.Int64),
    )
    of_lanes = of_lanes.filter(pl.col("pipe").is_in(by_unit["pipe"].unique().implode()))
    return of_lanes.join(by_unit, on=UNIT, how="anti", nulls_equal=True)


def _pipes(trace: ThreadTrace, by_cu: pl.DataFrame, span: int, lanes: LaneCycles) -> pl.DataFrame:
    # A rate that one CU contradicts is wrong on the others as well.
    is_contradicted = (pl.col("floor_cycles_total").is_null() & (pl.col("counted_count") > 0)).any()
    is_counted = (pl.col("counted_count") > 0).any() & ~is_contradicted
    added = by_cu.group_by("pipe", maintain_order=True).agg(
        pl.col("execution_count", "counted_count").sum(),
        pl.when(is_counted).then(pl.col("floor_cycles_total").sum()).alias("floor_cycles_total"),
    )
    targets = tuple(arch.target for arch in possible_targets(trace))
    rates = [lanes.rates[pipe] if pipe in LANE_PIPES else rate_of(pipe, trace.gfxip, targets) for pipe in added["pipe"]]
    added = added.with_columns(
        span_share=share_of(pl.col("floor_cycles_total"), pl.lit(span)),
        confidence=pl.Series([rate.confidence for rate in rates], dtype=pl.String),
        evidence=pl.Series([rate.evidence for rate in rates], dtype=pl.String),
    )
    return added.sort(_order_of_pipes()).select(Floors.tables["pipes"].casts)


def _order_of_pipes() -> pl.Expr:
    return pl.col("pipe").replace_strict({pipe: place for place, pipe in enumerate(PIPES)}, return_dtype=pl.Int64)


def _changes(lanes: LaneCycles, ordered: list[Floor], span: int) -> pl.DataFrame:
    # Of a pipe whose rate the trace contradicts, nothing is saved for sure.
    is_counted = pl.col("pipe").is_in([floor.pipe for floor in ordered])
    rows = lanes.rows.filter(is_counted & (pl.col("saved_cycles_total") > 0))
    rows = rows.sort("saved_cycles_total", "row", descending=[True, False])
    after = []
    for pipe, saved in rows.select("pipe", "saved_cycles_total").iter_rows():
        largest = _largest_without(ordered, {pipe: saved}, span)
        after.append((largest.pipe, largest.cycles, largest.speedup_max) if largest else (pipe, 0, None))
    schema = {"next_pipe": pl.String, "next_floor_cycles_total": pl.Int64, "speedup_max": pl.Float64}
    both = pl.concat([rows, pl.DataFrame(after, schema=schema, orient="row")], how="horizontal")
    return both.select(Floors.tables["changes"].casts)
