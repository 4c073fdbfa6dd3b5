"""One row per wave, slowest first, and where the slow ones spent more than the usual wave on the same path."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from wavewright import _core
from wavewright.analysis.trace.code.attribution import located
from wavewright.analysis.trace.code.wave_paths import wave_paths
from wavewright.analysis.trace.selection import at_rows
from wavewright.analysis.trace.trust.coverage import coverage
from wavewright.analysis.trace.waits.stall_rows import stall_rows
from wavewright.model.answer import Answer
from wavewright.model.trace import ThreadTrace

_SLOW_RATIO = 1.1  #: A wave has causes if it takes at least so many times the median of its path, or is an outlier.
_MOST_EXPLAINED = 16  #: Causes are given of at most so many waves, the slowest.
_MOST_CAUSES = 8  #: Code rows that are given as causes of one wave, at most.
_REFERENCE_WAVES = 8  #: A slow wave is compared with so many of its path, those nearest to the median.
_NOTICEABLE_CYCLES = 1.0  #: A row is a cause if the wave spent at least so much more there than the reference waves.


@dataclass(frozen=True)
class SlowWaves(Answer, package=__package__):
    """The waves of a trace, slowest first, and why the slow ones are slow."""

    untraced_wave_count: int  #: Waves without traced instructions.
    outlier_count: int
    cycles_median: float | None  #: Of the waves with instructions; None = there are none.
    waves: pl.DataFrame
    causes: pl.DataFrame


def slow_waves(trace: ThreadTrace, *, rows: pl.Series | None = None) -> SlowWaves:
    """Every wave with place and times; `rows` = only waves that executed one of these, and what they spent there."""
    waves = _waves(trace)
    if rows is not None:
        executed = trace.instructions.filter(pl.col("row").is_in(rows.implode()))["wave"].unique()
        waves = waves.filter(pl.col("wave").is_in(executed.implode()))
    traced = waves.filter(pl.col("instruction_count") > 0)
    median = traced["cycles"].median()
    return SlowWaves(
        untraced_wave_count=waves.height - traced.height,
        outlier_count=int(waves["is_outlier"].sum()),
        cycles_median=median if isinstance(median, float) else None,
        waves=waves.select(SlowWaves.tables["waves"].names),
        causes=_causes(trace, traced, rows),
    )


def _waves(trace: ThreadTrace) -> pl.DataFrame:
    stall = trace.instructions.group_by("wave").agg(stall_cycles=pl.col("stall_cycles").cast(pl.Int64).sum())
    paths = wave_paths(trace).select("wave", "path", "early_exit", pl.col("instruction_count").cast(pl.Int64))
    outliers = coverage(trace).outliers.select("wave", is_outlier=pl.lit(value=True))
    names = trace.kernels.select("kernel", name="demangled")
    is_traced = pl.col("instruction_count") > 0
    cycles = pl.col("cycles")
    return (
        trace.waves.drop("instruction_count")
        .join(paths, on="wave", how="left", maintain_order="left")
        .join(stall, on="wave", how="left", maintain_order="left")
        .join(outliers, on="wave", how="left", maintain_order="left")
        .join(names, on="kernel", how="left", maintain_order="left")
        .with_columns(pl.col("instruction_count", "stall_cycles").fill_null(0), kernel="name")
        .with_columns(
            path=pl.when(is_traced).then("path"),
            cycles=pl.col("end_cycles") - pl.col("start_cycles"),
            offset_cycles=pl.col("start_cycles") - pl.col("start_cycles").min().over("se"),
            is_outlier=pl.col("is_outlier").fill_null(value=False),
            is_early_exit=(pl.col("early_exit") & is_traced).fill_null(value=False),
            is_complete="complete",
        )
        .with_columns(cycles_ratio=pl.when(is_traced).then((cycles / cycles.median().over("path")).fill_nan(None)))
        .sort(is_traced, "cycles", "wave", descending=[True, True, False])
    )


def _causes(trace: ThreadTrace, traced: pl.DataFrame, rows: pl.Series | None) -> pl.DataFrame:
    ratio = pl.col("cycles_ratio")
    is_slow = (ratio >= _SLOW_RATIO) | (pl.col("is_outlier") & (ratio > 1))
    slow = traced.filter(is_slow & ~pl.col("is_early_exit")).head(_MOST_EXPLAINED)
    frames = [_excess(trace, wave, traced.filter(pl.col("path") == wave["path"])) for wave in slow.to_dicts()]
    if not frames:
        return pl.DataFrame(schema=SlowWaves.tables["causes"].dtypes)
    causes = at_rows(pl.concat(frames), rows)
    stalled = stall_rows(trace).filter(pl.col("stall_cycles_total") > 0)
    classes = stalled.unique("row", keep="first", maintain_order=True).select("row", "class")
    causes = causes.join(classes, on="row", how="left", maintain_order="left")
    return located(causes, trace).select(SlowWaves.tables["causes"].casts)


def _excess(trace: ThreadTrace, wave: dict[str, int], path: pl.DataFrame) -> pl.DataFrame:
    """Rows at which a wave spent more than the reference waves of its path; empty where it is alone on it."""
    others = path.filter(pl.col("wave") != wave["wave"])
    distance = (pl.col("cycles") - path["cycles"].median()).abs()
    reference = others.sort(distance, "wave").head(_REFERENCE_WAVES)["wave"].to_list()
    count = max(1, len(reference))
    sums = {"reference_cycles_mean": pl.col("cycles").sum(), "reference_hit_count": pl.col("hit_count").sum()}
    usual = pl.concat([_row_cycles(trace, number) for number in reference or [wave["wave"]]])
    usual = usual.group_by("row").agg((total / count).alias(name) for name, total in sums.items())
    return (
        _row_cycles(trace, wave["wave"])
        .join(usual, on="row", how="left")
        .with_columns(pl.col("reference_cycles_mean", "reference_hit_count").fill_null(0.0))
        .with_columns(
            excess_cycles=pl.col("cycles") - pl.col("reference_cycles_mean"), wave=pl.lit(wave["wave"], pl.UInt32)
        )
        .filter(pl.col("excess_cycles") >= _NOTICEABLE_CYCLES)
        .sort("excess_cycles", "row", descending=[True, False])
        .head(_MOST_CAUSES)
    )


def _row_cycles(trace: ThreadTrace, wave: int) -> pl.DataFrame:
    """Executions and cycles (duration and the gap before) of one wave by code row."""
    waves = trace.waves.filter(pl.col("wave") == wave)
    first, count = waves.select("first_instruction", "instruction_count").row(0)
    if first is None or count is None:  # the trace does not say where its instructions are
        executed = trace.instructions.filter(pl.col("wave") == wave)
    else:
        executed = trace.instructions.slice(first, count)
    totals = pl.DataFrame(_core.row_totals(executed, waves, trace.code.height))
    return totals.select("row", "hit_count", cycles=pl.col("latency_cycles_total") + pl.col("idle_cycles_total"))
