"""Cycles that LDS and the L1 cache of each traced CU need for the addresses of lanes, as far as these are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import polars as pl

from wavewright.analysis.trace.floors.executions import LANE_PIPES, UNIT, Rate, lds_units, weakest
from wavewright.analysis.trace.lanes import lane_accesses
from wavewright.analysis.trace.lanes.evaluated import LaneOptions
from wavewright.analysis.trace.selection import Selection, select, traced_waves
from wavewright.errors import UnsupportedError, WavewrightError
from wavewright.facts.lanes import Refusal
from wavewright.model.schema import packaged_spec
from wavewright.model.trace import ThreadTrace

_MOST_UNITS: Final = 16  #: CUs whose lanes are evaluated, those with the longest span; the floors of others are lower.
_NOT_KNOWN = Rate(per_step=1, confidence="hypothesis", evidence="not known")
_LDS_EVIDENCE: Final = "LDS serves one phase of lanes in a cycle; docs/reference/lane-rules.md has the phases"
_ROWS: Final = packaged_spec(__package__, "lane_cycles").dtypes
_UNIT: Final = {"kernel": pl.UInt32, "se": pl.UInt16, "cu": pl.UInt8}


@dataclass(frozen=True)
class LaneCycles:
    """LDS and L1 cycles, of CUs and of code rows."""

    by_unit: pl.DataFrame  #: `kernel`, `se`, `cu`, `pipe`, `execution_count`, `counted_count`, `floor_cycles`.
    rows: pl.DataFrame  #: Executed memory instructions over all CUs, with what a change of theirs saves at most.
    rates: dict[str, Rate]
    notes: tuple[str, ...]


def lane_cycles(trace: ThreadTrace, options: LaneOptions | None, units: pl.DataFrame) -> LaneCycles:
    """Evaluate the waves of each unit (`executed.Executed.units`)."""
    try:
        evaluated = _evaluated(trace, options, units)
    except WavewrightError as error:
        if options is not None and not isinstance(error, UnsupportedError):
            raise  # what the user gave is wrong
        return no_lane_cycles(error.what)
    lane_options = options or LaneOptions()
    coalescing = lane_options.rules.coalescing_rule(trace.source.target or "")
    per_cycle = None if isinstance(coalescing, Refusal) else coalescing.accesses_per_cycle
    frames = [_costs(rows, per_cycle, lds_units(trace.gfxip)) for _, rows in evaluated]
    by_unit = [
        costs.group_by("pipe")
        .agg(pl.col("execution_count", "counted_count", "cycles_total").sum())
        .with_columns(
            pl.lit(value, dtype).alias(name) for (name, dtype), value in zip(_UNIT.items(), unit, strict=True)
        )
        for (unit, _), costs in zip(evaluated, frames, strict=True)
    ]
    stacked = pl.concat([pl.DataFrame(schema=_ROWS), *frames])
    keys = ["row", "text", "file", "line", "pipe", "change", "confidence"]
    counts = ["execution_count", "counted_count", "cycles_total", "saved_cycles_total"]
    rows = stacked.group_by(keys, maintain_order=True).agg(pl.col(counts).sum()).select(list(_ROWS))
    rates = dict.fromkeys(LANE_PIPES, _NOT_KNOWN)
    is_counted_lds = (pl.col("pipe") == "LDS") & (pl.col("counted_count") > 0)
    if lds_confidences := rows.filter(is_counted_lds)["confidence"].drop_nulls().to_list():
        rates["LDS"] = Rate(1, weakest(lds_confidences), _LDS_EVIDENCE)
    notes = []
    if not isinstance(coalescing, Refusal) and per_cycle is not None:
        confidences = [*rows.filter(pipe="L1")["confidence"].drop_nulls(), coalescing.rate_confidence]
        rates["L1"] = Rate(1, weakest(confidences), coalescing.rate_evidence)
    elif rows.filter(pipe="L1").height:
        reason = coalescing.reason if isinstance(coalescing, Refusal) else "the rate of the L1 cache is not known"
        notes.append(f"no floor of the L1 cache: {reason}")
    if units.height > _MOST_UNITS:
        notes.append(f"lanes of {_MOST_UNITS} of {units.height} CUs are evaluated: the floors of LDS and L1 are lower")
    schema = {"pipe": pl.String} | dict.fromkeys(("execution_count", "counted_count", "cycles_total"), pl.Int64) | _UNIT
    of_units = pl.concat([pl.DataFrame(schema=schema), *by_unit]).rename({"cycles_total": "floor_cycles"})
    return LaneCycles(of_units, rows, rates, tuple(notes))


def _evaluated(
    trace: ThreadTrace, options: LaneOptions | None, units: pl.DataFrame
) -> list[tuple[tuple[int | None, int, int], pl.DataFrame]]:
    """The longest units with the rows of their lane accesses."""
    chosen = units.sort("span_cycles", descending=True, maintain_order=True).head(_MOST_UNITS)
    wave_count = traced_waves(trace).height
    answers = []
    for kernel, se, cu, waves in chosen.select(*UNIT, "waves").iter_rows():
        part = trace if len(waves) == wave_count else select(trace, Selection(waves=tuple(waves)))
        answers.append(((kernel, se, cu), lane_accesses(part, options).rows))
    return answers


def _costs(rows: pl.DataFrame, per_cycle: float | None, lds_pipes: int) -> pl.DataFrame:
    """Cycles of each row; of the L1 cache only where its rate is known."""
    is_lds, is_counted = pl.col("space") == "lds", per_cycle is not None
    ideal, extra, segments = (pl.col(f"{name}_total") for name in ("ideal_cycles", "extra_cycles", "segment_count"))
    rate = per_cycle or 1.0

    def either(of_lds: pl.Expr, of_memory: pl.Expr) -> pl.Expr:
        return pl.when(is_lds).then(of_lds).otherwise((of_memory / rate * is_counted).floor())

    both = pl.concat([rows.filter(is_lds), rows.filter(~is_lds)]).with_columns(
        pipe=pl.when(is_lds).then(pl.lit("LDS")).otherwise(pl.lit("L1")),
        change=pl.when(is_lds).then(pl.lit("conflict-free")).otherwise(pl.lit("coalesced")),
        counted_count=pl.col("cost_known_count") * (is_lds | is_counted),
        cycles_total=either((ideal + extra) // lds_pipes, segments),
        saved_cycles_total=either(extra // lds_pipes, segments - pl.col("least_segment_count_total")),
    )
    return both.select(pl.col(name).cast(dtype) for name, dtype in _ROWS.items()).with_columns(
        pl.col("cycles_total", "saved_cycles_total").fill_null(0)
    )


def no_lane_cycles(reason: str) -> LaneCycles:
    """Nothing about lanes, and why."""
    schema = _UNIT | {"pipe": pl.String} | dict.fromkeys(("execution_count", "counted_count", "floor_cycles"), pl.Int64)
    rates = dict.fromkeys(LANE_PIPES, _NOT_KNOWN)
    notes = (f"no floors of LDS and L1: {reason}",)
    return LaneCycles(pl.DataFrame(schema=schema), pl.DataFrame(schema=_ROWS), rates, notes)
