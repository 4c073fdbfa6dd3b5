"""Issues of each pipe of a SIMD, its busy time, and the share of cycles without any issue."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from wavewright.analysis.common.shares import share_of
from wavewright.analysis.common.time_bins import TimeBins, lengths_of, time_bins
from wavewright.analysis.trace.clocks import aligned, bins_of_trace
from wavewright.analysis.trace.parts import Question, added, answers
from wavewright.analysis.trace.pipes import (
    ANY_PIPE,
    BUBBLE,
    BUSY,
    PIPES,
    RESIDENT,
    base_clock,
    pipe_cycles,
    pipe_cycles_of_rows,
    pipes_of_rows,
)
from wavewright.base.bounds import BINS, bounded
from wavewright.model.answer import Answer
from wavewright.model.trace import ThreadTrace

_MAX_CELLS = 1 << 20  #: Values of all curves together at most: with many engines there are fewer bins.


@dataclass(frozen=True)
class Utilization(Answer, package=__package__):
    """Busy pipes and issue bubbles."""

    pipes: pl.DataFrame
    by_engine: pl.DataFrame
    bubbles: pl.DataFrame
    over_time: pl.DataFrame
    neighbours: pl.DataFrame
    bubble_share: float | None  #: Over all shader engines; None = no waves.
    valu_per_matrix: float | None  #: VALU instructions for each matrix instruction; None = no matrix instructions.
    start_cycles: int  #: Start of the first bin, on the aligned clock.
    end_cycles: int
    bin_cycles: int
    bin_count: int


@bounded(bins=BINS)
def utilization(trace: ThreadTrace, *, rows: pl.Series | None = None, bins: int = 60) -> Utilization:
    """Issues and busy time per pipe, per shader engine and over time; with `rows` only these code rows issue."""
    ((question, *arguments),) = pipe_questions(rows, bins)
    parts = answers(trace, question, *arguments)
    per_unit, per_bin = (added([part[place] for part in parts], ["group", "kind", "bin"]) for place in (0, 1))
    issues = added([part[2] for part in parts], ["unit", "pipe"])
    engines, units = _units(trace)
    grid = _time_grid(trace, bins)
    simds = trace.waves.filter(pl.col("instruction_count") > 0).select("se", "simd").unique()
    waves = trace.waves  # of traced SIMDs: the others would look idle; all of them where none was traced
    waves = waves.join(simds, on=["se", "simd"], how="semi", nulls_equal=True) if simds.height else waves
    moved = aligned(trace, waves, "start_cycles", "end_cycles")
    spans = moved.group_by("se", "simd").agg(span=pl.col("end_cycles").max() - pl.col("start_cycles").min())
    units = units.join(spans, on=["se", "simd"], how="semi", maintain_order="left", nulls_equal=True)
    per_unit, issues = units.join(per_unit, left_on="unit", right_on="group"), units.join(issues, on="unit")
    spans_of_engines = spans.group_by("se").agg(pl.col("span").sum(), simd_count=pl.len().cast(pl.UInt32)).sort("se")
    bubbles = _bubbles(per_unit, spans_of_engines)
    resident = int(bubbles["resident_cycles_total"].sum())
    pipes = _pipes(per_unit, issues, spans_of_engines, [])
    counts = dict(pipes.select("pipe", "issue_count").iter_rows())
    return Utilization(
        pipes=pipes,
        by_engine=_pipes(per_unit, issues, spans_of_engines, ["se"]),
        bubbles=bubbles,
        over_time=_over_time(per_bin, engines.join(spans_of_engines, on="se"), grid),
        neighbours=_neighbours(trace, spans_of_engines),
        bubble_share=int(bubbles["bubble_cycles_total"].sum()) / resident if resident else None,
        valu_per_matrix=counts.get("VALU", 0) / counts["MATRIX"] if counts.get("MATRIX") else None,
        start_cycles=grid.start_cycles,
        end_cycles=grid.end_cycles,
        bin_cycles=grid.width_cycles,
        bin_count=grid.count,
    )


def pipe_questions(rows: pl.Series | None = None, bins: int = 60) -> list[Question]:
    """Per-part questions of `utilization` (`parts`)."""
    return [(_pipes_of_part, None if rows is None else tuple(rows), bins)]


def _pipes_of_part(
    part: ThreadTrace, whole: ThreadTrace, rows: tuple[int, ...] | None, bins: int
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Run `pipe_cycles` on the waves of a part, with the units and groups of the whole trace."""
    _, units = _units(whole)
    chosen = None if rows is None else pl.Series(rows, dtype=pl.Int32)
    return pipe_cycles(
        aligned(whole, part.waves).join(units, on=["se", "simd"], maintain_order="left", nulls_equal=True),
        part.instructions,
        pipes_of_rows(whole.code, chosen),
        pipe_cycles_of_rows(whole),
        _time_grid(whole, bins),
        base_clock=base_clock(whole.gfxip),
        counts_unknown_rows=rows is None,
    )


def _units(trace: ThreadTrace) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The shader engines with waves (`se`, `group`) and their SIMDs (`se`, `simd`, `unit`, `group`), numbered."""
    units = trace.waves.select("se", "simd").unique().sort("se", "simd").with_row_index("unit")
    engines = units.select(pl.col("se").unique().sort()).with_row_index("group")
    numbered = units.join(engines, on="se", maintain_order="left")
    return engines, numbered.with_columns(pl.col("unit", "group").cast(pl.UInt32))


def _time_grid(trace: ThreadTrace, bins: int) -> TimeBins:
    cells = max(1, trace.waves["se"].n_unique()) * (BUSY + len(PIPES))
    return bins_of_trace(trace, min(bins, max(1, _MAX_CELLS // cells)))


def _neighbours(trace: ThreadTrace, spans: pl.DataFrame) -> pl.DataFrame:
    """Busy cycles of the memory pipes of neighbour SIMDs, of which only these instructions are traced."""
    records = trace.other_simd.sort("se", "time_cycles").select(
        "se",
        "time_cycles",
        "category",
        stall_cycles=pl.lit(0, pl.Int32),
        duration_cycles=pl.col("duration_cycles").cast(pl.Int32),
        row=pl.lit(-1, pl.Int32),
    )
    lists = (
        records.with_row_index("place")
        .group_by("se")
        .agg(first_instruction=pl.col("place").min().cast(pl.UInt64), instruction_count=pl.len().cast(pl.UInt32))
    )
    zero, number = pl.lit(0, pl.Int64), pl.int_range(pl.len(), dtype=pl.UInt32)
    listed = lists.sort("se").with_columns(unit=number, group=number, offset=zero, start_cycles=zero, end_cycles=zero)
    per_engine, _, _ = pipe_cycles(
        listed, records, pipes_of_rows(trace.code), pl.Series([], dtype=pl.Int32), time_bins(0, 1, 1), base_clock=1
    )
    named = listed.select("se", group="unit").join(per_engine, on="group").join(spans, on="se", how="left")
    share = share_of(pl.col("cycles") * pl.col("simd_count"), pl.col("span"))
    pipes = named.filter(pl.col("kind") < len(PIPES)).sort("se", "kind")
    return pipes.select("se", _named("kind"), issue_cycles_total="cycles", issue_share=share)


def _pipes(per_unit: pl.DataFrame, issues: pl.DataFrame, spans: pl.DataFrame, group: list[str]) -> pl.DataFrame:
    # A kind below BUSY is the number of a pipe that issues, BUSY and above one that is busy for longer.
    is_busy, cycles = pl.col("kind") >= BUSY, pl.col("cycles")
    is_pipe = (pl.col("kind") < len(PIPES)) | is_busy
    pipe = (pl.col("kind") % BUSY).alias("pipe")
    issued, longer = cycles.filter(~is_busy).sum(), cycles.filter(is_busy).sum()
    sums = per_unit.filter(is_pipe).group_by(*group, pipe).agg(issued=issued, busy=longer)
    counts = issues.group_by(*group, "pipe").agg(pl.col("issue_count", "phase_cycles").sum())
    whole = spans.select(*group, "span") if group else spans.select(pl.col("span").sum())
    joined = sums.join(counts, on=[*group, "pipe"])
    joined = joined.join(whole, on=group) if group else joined.join(whole, how="cross")
    busy = pl.max_horizontal("busy", "issued")
    return joined.sort(*group, "pipe").select(
        *group,
        _named("pipe"),
        "issue_count",
        issue_cycles_total="issued",
        issue_share=share_of(pl.col("issued"), pl.col("span")),
        busy_cycles_total=busy,
        busy_share=share_of(busy, pl.col("span")),
        phase_cycles_total="phase_cycles",
        phase_busy_share=share_of(busy, pl.col("phase_cycles")),
    )


def _bubbles(per_unit: pl.DataFrame, spans: pl.DataFrame) -> pl.DataFrame:
    def cycles(kind: int) -> pl.Expr:
        return pl.col("cycles").filter(pl.col("kind") == kind).sum()

    sums = per_unit.group_by("se").agg(
        resident_cycles_total=cycles(RESIDENT), issue_cycles_total=cycles(ANY_PIPE), bubble_cycles_total=cycles(BUBBLE)
    )
    joined = spans.join(sums, on="se", how="left", maintain_order="left").fill_null(0)
    share = share_of(pl.col("bubble_cycles_total"), pl.col("resident_cycles_total"))
    joined = joined.with_columns(span_cycles_total="span", bubble_share=share)
    return joined.select(Utilization.tables["bubbles"].names)


def _over_time(per_bin: pl.DataFrame, engines: pl.DataFrame, grid: TimeBins) -> pl.DataFrame:
    keys = ["group", "pipe", "bin"]
    kinds = per_bin.filter((pl.col("kind") <= ANY_PIPE) | (pl.col("kind") >= BUSY)).with_columns(
        pipe=pl.when(pl.col("kind") == ANY_PIPE).then(pl.lit(ANY_PIPE)).otherwise(pl.col("kind") % BUSY).cast(pl.UInt8)
    )
    issued = kinds.filter(pl.col("kind") <= ANY_PIPE).select(*keys, issued="cycles")
    busy = kinds.filter(pl.col("kind") >= BUSY).select(*keys, busy="cycles")
    both = issued.join(busy, on=keys, how="full", coalesce=True)
    of_pipe = pl.col("pipe") != ANY_PIPE
    both = both.with_columns(
        pl.col("issued").fill_null(0), busy=pl.when(of_pipe).then(pl.max_horizontal("busy", "issued"))
    )
    length = pl.col("length") * pl.col("simd_count").cast(pl.Int64)
    return (
        both.join(lengths_of(grid), on="bin", maintain_order="left")
        .join(engines, on="group", maintain_order="left")
        .sort("se", "pipe", "bin")
        .with_columns(_named("pipe"), issue_share=pl.col("issued") / length, busy_share=pl.col("busy") / length)
        .select(Utilization.tables["over_time"].names)
    )


def _named(column: str) -> pl.Expr:
    names = dict(enumerate(PIPES)) | {ANY_PIPE: "ANY"}
    return pl.col(column).replace_strict(names, return_dtype=pl.String).alias("pipe")
