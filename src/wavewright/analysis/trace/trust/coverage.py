"""Coverage of the kernel, of its waves and of the GPU by a trace."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from wavewright.analysis.trace.code.wave_paths import wave_paths
from wavewright.analysis.trace.costs.row_costs import entered_rows
from wavewright.analysis.trace.selection import at_rows
from wavewright.analysis.trace.waves.resident import resident_waves
from wavewright.model.answer import Answer
from wavewright.model.trace import ThreadTrace

_OUTLIER_RATIO = 1.5  #: The cycles per instruction of an outlier differ from the median of its path by this factor,
_OUTLIER_DEVIATIONS = 5.0  #: and is more than so many standard deviations from the median of its path.
FEW_ROWS_SHARE = 0.05  #: With a smaller share of its rows executed, the work of a kernel did not run.
_DEVIATION_OF_NORMAL = 1.4826  # median absolute deviation -> standard deviation, for a normal distribution


@dataclass(frozen=True)
class Coverage(Answer, package=__package__):
    """The traced part, and how even it is."""

    wave_count: int
    incomplete_wave_count: int
    instruction_count: int
    unresolved_count: int  #: Instructions whose PC is not known.
    row_count: int
    entered_row_count: int  #: Rows of the functions in which something was executed.
    executed_row_count: int
    early_exit_wave_count: int
    untraced_wave_count: int  #: Waves without traced instructions: their shader engine or SIMD recorded none.
    all_wave_count: int  #: Waves that started on any CU of the traced shader engines; 0 = no occupancy events.
    target_duration_cycles_mean: float | None  #: Mean stay of a wave on the traced CUs, from the occupancy events.
    other_duration_cycles_mean: float | None
    functions: pl.DataFrame
    paths: pl.DataFrame
    engines: pl.DataFrame
    outliers: pl.DataFrame

    @property
    def executed_share(self) -> float:
        """Executed rows of those that could have been: the rows of the functions that were entered."""
        return self.executed_row_count / self.entered_row_count if self.entered_row_count else 0.0

    @property
    def is_same_short_path(self) -> bool:
        """True if several waves took one and the same path through a small part of the code: none left earlier than
        another, and yet none did the work."""
        is_short = 0 < self.executed_share < FEW_ROWS_SHARE
        return is_short and self.wave_count > 1 and self.paths.height == 1

    @property
    def traced_wave_count(self) -> int:
        """Waves with traced instructions."""
        return self.wave_count - self.untraced_wave_count

    @property
    def traced_share(self) -> float | None:
        """Traced waves of all waves of the traced shader engines; None = no occupancy events."""
        return self.traced_wave_count / self.all_wave_count if self.all_wave_count else None


def coverage(trace: ThreadTrace, *, rows: pl.Series | None = None) -> Coverage:
    """Coverage of a trace; with `rows`, functions and row counts are about these code rows only."""
    code, entered = (at_rows(frame, rows) for frame in (trace.code, entered_rows(trace)))
    functions = _functions(entered)
    paths = wave_paths(trace)
    engines = _engines(trace, paths)
    stays = _stays(trace)
    means = [stays.filter(on_target)["lived"].mean() for on_target in (pl.col("on_target"), ~pl.col("on_target"))]
    return Coverage(
        wave_count=trace.waves.height,
        incomplete_wave_count=int((~trace.waves["complete"].fill_null(value=True)).sum()),
        instruction_count=trace.instruction_count,
        unresolved_count=int(paths["unresolved_count"].cast(pl.Int64).sum()),
        row_count=code.height,
        entered_row_count=int(functions["row_count"].sum()),
        executed_row_count=int(functions["executed_row_count"].sum()),
        early_exit_wave_count=int(paths["early_exit"].sum()),
        untraced_wave_count=int((paths["instruction_count"] == 0).sum()),
        all_wave_count=int(engines["all_wave_count"].sum()),
        target_duration_cycles_mean=_number(means[0]),
        other_duration_cycles_mean=_number(means[1]),
        functions=functions,
        paths=_paths(trace, paths),
        engines=engines,
        outliers=_outliers(trace, paths),
    )


def _number(mean: object) -> float | None:
    return float(mean) if isinstance(mean, int | float) else None


def _stays(trace: ThreadTrace) -> pl.DataFrame:
    """Every wave of the traced shader engines: `se`, `cu`, `on_target` (the CU was traced), `lived` (cycles; null =
    its start or end was not seen)."""
    targets = trace.waves.lazy().select("se", "cu", on_target=pl.lit(value=True)).unique()
    was_seen = pl.col("has_begin") & pl.col("has_end")
    return (
        resident_waves(trace)
        .lazy()
        .join(targets, on=["se", "cu"], how="left", maintain_order="left")
        .select(
            "se",
            "cu",
            pl.col("on_target").fill_null(value=False),
            lived=pl.when(was_seen).then(pl.col("end_cycles") - pl.col("start_cycles")),
        )
        .collect()
    )


def _functions(rows: pl.DataFrame) -> pl.DataFrame:
    ran = pl.col("hit_count") > 0
    return (
        rows.group_by("code_object", "function")
        .agg(
            row_count=pl.len().cast(pl.Int64),
            executed_row_count=ran.sum().cast(pl.Int64),
            executed_share=ran.mean(),
            hit_count=pl.col("hit_count").sum(),
        )
        .sort("hit_count", "function", descending=[True, False])
        .drop("code_object")
    )


def _paths(trace: ThreadTrace, waves: pl.DataFrame) -> pl.DataFrame:
    all_waves, all_cycles = max(waves.height, 1), max(int(waves["duration_cycles"].sum()), 1)
    spreads = [
        getattr(pl.col(name), how)().cast(pl.Float64 if how == "median" else pl.Int64).alias(f"{name}_{how}")
        for name in ("instruction_count", "duration_cycles")
        for how in ("min", "median", "max")
    ]
    names = trace.kernels.select("kernel", name="demangled")
    return (
        waves.group_by("path")
        .agg(
            pl.col("kernel").first(),
            *spreads,
            wave_count=pl.len().cast(pl.Int64),
            wave_share=pl.len() / all_waves,
            cycles_share=pl.col("duration_cycles").sum() / all_cycles,
            distinct_row_count=pl.col("distinct_row_count").first().cast(pl.Int64),
            first_wave=pl.col("wave").min(),
            early_exit=pl.col("early_exit").any(),
        )
        .join(names, on="kernel", how="left")
        .with_columns(kernel=pl.col("name"))
        .sort("path")
        .select(Coverage.tables["paths"].names)
    )


def _engines(trace: ThreadTrace, paths: pl.DataFrame) -> pl.DataFrame:
    traced = (
        trace.waves.select("wave", "se", "cu")
        .join(paths.select("wave", "instruction_count"), on="wave")
        .group_by("se")
        .agg(
            cu=pl.col("cu").unique().sort().cast(pl.String).implode().list.join(", ").first(),
            wave_count=pl.len().cast(pl.Int64),
            untraced_wave_count=(pl.col("instruction_count") == 0).sum().cast(pl.Int64),
            instruction_count=pl.col("instruction_count").cast(pl.Int64).sum(),
        )
    )
    lived = pl.col("lived")
    everywhere = (
        _stays(trace)
        .group_by("se")
        .agg(
            all_wave_count=pl.len().cast(pl.Int64),
            other_cu_count=pl.col("cu").filter(~pl.col("on_target")).n_unique().cast(pl.Int64),
            target_duration_cycles_mean=lived.filter(pl.col("on_target")).mean(),
            other_duration_cycles_mean=lived.filter(~pl.col("on_target")).mean(),
        )
    )
    engines = traced.join(everywhere, on="se", how="full", coalesce=True).sort("se")
    counts = ("wave_count", "untraced_wave_count", "instruction_count", "all_wave_count", "other_cu_count")
    engines = engines.with_columns(pl.col(name).fill_null(0) for name in counts)
    traced_count = pl.col("wave_count") - pl.col("untraced_wave_count")
    share = pl.when(pl.col("all_wave_count") > 0).then(traced_count / pl.col("all_wave_count"))
    return engines.with_columns(traced_share=share).select(Coverage.tables["engines"].names)


def _outliers(trace: ThreadTrace, paths: pl.DataFrame) -> pl.DataFrame:
    pace = pl.col("duration_cycles") / pl.col("instruction_count")
    middle = pl.col("pace").median().over("path")
    deviation = (pl.col("pace") - pl.col("middle")).abs()
    ratio = pl.col("pace") / pl.col("middle")
    return (
        paths.lazy()
        .filter(pl.col("instruction_count") > 0)
        .with_columns(pace=pace)
        .with_columns(middle=middle)
        .with_columns(spread=deviation.median().over("path") * _DEVIATION_OF_NORMAL)
        .filter(deviation > _OUTLIER_DEVIATIONS * pl.col("spread"))
        .filter((ratio > _OUTLIER_RATIO) | (ratio < 1 / _OUTLIER_RATIO))
        .with_columns(cycles_per_instruction_ratio=ratio)
        .join(trace.waves.lazy().select("wave", "se", "simd", "slot"), on="wave")
        .sort("cycles_per_instruction_ratio", descending=True)
        .select(Coverage.tables["outliers"].names)
        .collect()
    )
