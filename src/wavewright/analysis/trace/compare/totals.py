"""Traces as wholes side by side: wave durations, work and speed and idle time, stalls and occupancy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import polars as pl

from wavewright.analysis.common.noise import LEAST_CHANGE, MEAN_TAIL, t_bound
from wavewright.analysis.trace.about.overview import launch_sentence
from wavewright.analysis.trace.code.wave_paths import wave_paths
from wavewright.analysis.trace.compare.spread import batches, bound, traced_waves, units_of_rows
from wavewright.analysis.trace.costs.row_costs import entered_rows, row_totals
from wavewright.analysis.trace.occupancy.resident_waves import achieved
from wavewright.analysis.trace.trust.caveats import cold_share
from wavewright.analysis.trace.waves.resident import resident_waves
from wavewright.base.shown import shown
from wavewright.base.words import side_label
from wavewright.model.launch import Launch
from wavewright.model.schema import packaged_spec
from wavewright.model.trace import ThreadTrace

TRACES = packaged_spec(__package__, "traces")

_TOTALS = ("latency", "stall", "idle")  #: Sums of `row_totals` that are given per wave.
Noisy = tuple[float, float | None]  #: A value and the bound of its noise; None = not known.


def compared_totals(
    families: Sequence[Sequence[ThreadTrace]],
    labels: Sequence[str],
    costs: Sequence[Sequence[pl.DataFrame]],
    same_as_first: Sequence[bool],
    parts: Sequence[Shares],
    lines: Sequence[tuple[int, int | None]],
) -> pl.DataFrame:
    """The table TRACES; a family is a trace with its repeats, `costs` their `batch_costs`.

    `parts` are those of `work_and_speed`, `lines` of `lines_of`.
    """
    rows = [_totals(family[0]) for family in families]
    is_repeated = any(len(family) > 1 for family in families)
    durations = [_noisy([_duration(trace) for trace in family]) for family in families]
    cost = pl.col("latency_cycles_total").sum() + pl.col("idle_cycles_total").sum()
    rates = costs[0][0].group_by("unit", maintain_order=True).agg(base_rate=cost / pl.col("hit_count").sum())
    speeds = [_noisy([_speed(run, rates) for run in runs]) for runs in costs]
    # Where only the first trace was repeated, all take its noise.
    if len(families) > 1 and len(families[0]) > 1 == max(len(family) for family in families[1:]):
        durations, speeds = ([(value, noisy[0][1]) for value, _ in noisy] for noisy in (durations, speeds))
    for number, row in enumerate(rows):
        row["trace"] = number
        row["label"] = labels[number] if number < len(labels) else side_label(number)
        row["duration_delta_share"], row["duration_noise_share"] = _change(durations[0], durations[number])
        row["speed_delta_share"], row["speed_noise_share"] = _change(speeds[0], speeds[number])
        row["work_share"], row["speed_share"], row["speed_idle_share"] = parts[number]
        row["cold_share"] = cold_share(families[number][0])
        row |= _kernel_times(families[0][0].launch, families[number][0].launch)
        row["is_same_code"] = same_as_first[number]
        row["line_count"], row["moved_row_count"] = lines[number]
        row["outcome"] = _outcome(row, is_repeated=is_repeated) if number else "base"
    return pl.DataFrame(rows, schema=TRACES.dtypes)


def _outcome(row: dict[str, Any], *, is_repeated: bool) -> str:
    """The outcome: the durations of calls decide, else repeated traces; one trace on each side shows no noise."""
    if row["is_same_code"]:
        return "same code"
    delta, noise = row.get("kernel_ns_delta_share", 0.0), row.get("kernel_ns_noise_share")
    if noise is None:
        delta, noise = row["duration_delta_share"], row["duration_noise_share"] if is_repeated else None
    if noise is None:
        return "not known"
    if abs(delta) <= noise:
        return "within noise"
    return "slower" if delta > 0 else "faster"


def _totals(trace: ThreadTrace) -> dict[str, Any]:
    paths = wave_paths(trace).filter(pl.col("instruction_count") > 0)
    durations = paths["duration_cycles"]
    waves = max(paths.height, 1)
    totals = row_totals(trace)
    residents = resident_waves(trace)
    return {
        "path": shown(trace.source.path),
        "wave_count": paths.height,
        "untraced_wave_count": trace.waves.height - paths.height,
        "early_exit_wave_count": int(paths["early_exit"].sum()),
        "instructions_per_wave": trace.instructions.height / waves,
        **{f"{name}_cycles_per_wave": int(totals[f"{name}_cycles_total"].sum()) / waves for name in _TOTALS},
        "duration_cycles_mean": durations.mean(),
        "duration_cycles_min": durations.min(),
        "duration_cycles_median": durations.median(),
        "duration_cycles_max": durations.max(),
        "waves_per_simd_mean": achieved(residents).waves_per_simd_mean if residents.height else None,
    }


def _duration(trace: ThreadTrace) -> Noisy:
    """Mean wave duration, with the bound over batches of waves."""
    durations = batches(trace).join(wave_paths(trace).select("wave", "duration_cycles"), on="wave")
    batch_means = durations.group_by("batch", maintain_order=True).agg(pl.col("duration_cycles").mean())
    means = batch_means["duration_cycles"].to_list()
    mean = sum(means) / max(len(means), 1)
    noise = bound(sum((value - mean) ** 2 for value in means), len(means))
    return float(durations["duration_cycles"].mean() or 0.0), noise  # type: ignore[arg-type]


def _speed(costs: pl.DataFrame, rates: pl.DataFrame) -> Noisy:
    """Cost of the executions of units that the first trace ran too, over what they would have cost there."""
    per_batch = (
        costs.join(rates, on="unit")
        .group_by("batch", maintain_order=True)
        .agg(
            cost=(pl.col("latency_cycles_total") + pl.col("idle_cycles_total")).sum().cast(pl.Float64),
            expected=(pl.col("hit_count") * pl.col("base_rate")).sum(),
        )
    )
    cost, expected = float(per_batch["cost"].sum()), float(per_batch["expected"].sum())
    if not expected:
        return 1.0, None
    ratio = cost / expected
    deviations = (per_batch["cost"] - ratio * per_batch["expected"]).to_list()
    noise = bound(sum(value * value for value in deviations), len(deviations))
    return ratio, None if noise is None else noise * len(deviations) / expected


def _noisy(runs: Sequence[Noisy]) -> Noisy:
    """The first run; with repeats, the noise is at least Student's t times their standard deviation."""
    if len(runs) < 2:
        return runs[0]
    values = [value for value, _ in runs]
    mean = sum(values) / len(values)
    deviation = (sum((value - mean) ** 2 for value in values) / (len(values) - 1)) ** 0.5
    return values[0], max(t_bound(MEAN_TAIL, len(values) - 1) * deviation, runs[0][1] or 0.0)


def _change(base: Noisy, other: Noisy) -> tuple[float, float | None]:
    """Increase of the other, and the noise of that; both as shares of the base."""
    scale = base[0] or 1.0
    if base[1] is None and other[1] is None:
        return other[0] / scale - 1, None
    return other[0] / scale - 1, ((base[1] or 0.0) ** 2 + (other[1] or 0.0) ** 2) ** 0.5 / scale


def _kernel_times(base: Launch | None, launch: Launch | None) -> dict[str, Any]:
    """The columns of TRACES about the calls of the kernel of a trace, as far as they are known.

    The noise is that of the difference of two medians, and at least `LEAST_CHANGE`.
    """
    if launch is None:
        return {}
    columns: dict[str, Any] = {
        "call": launch_sentence(launch),
        "call_number": launch.call_number,
        "call_count": launch.call_count,
        "kernel_ns": launch.duration_ns,
        "kernel_ns_median": launch.duration_ns_median,
    }
    if base is None or not base.duration_ns_median:
        return columns
    columns["kernel_ns_delta_share"] = launch.duration_ns_median / base.duration_ns_median - 1
    if base.median_noise_ns is not None and launch.median_noise_ns is not None:
        noise_ns = (base.median_noise_ns**2 + launch.median_noise_ns**2) ** 0.5
        columns["kernel_ns_noise_share"] = max(noise_ns / base.duration_ns_median, LEAST_CHANGE)
    return columns


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
        (count, move_count if is_same else None)
        for count, move_count, is_same in zip(counts, moves, same_as_first, strict=True)
    ]


def _places(trace: ThreadTrace, unit_of_row: Sequence[int]) -> pl.DataFrame:
    """The source line of every unit that ran: `row`, `unit`, `file`, `line` (both null = no line)."""
    code = trace.code.select("row", "line", file=pl.when(pl.col("line").is_not_null()).then("file"))
    return units_of_rows(unit_of_row).join(code, on="row").join(entered_rows(trace).select("row"), on="row", how="semi")


def _costs(trace: ThreadTrace, unit_of_row: Sequence[int]) -> pl.DataFrame:
    """Executions, cost and idle cycles per wave of every unit that ran."""
    waves = max(traced_waves(trace).height, 1)
    idle = pl.col("idle_cycles_total")
    cost = pl.col("latency_cycles_total") + idle
    return (
        row_totals(trace)
        .join(units_of_rows(unit_of_row), on="row")
        .group_by("unit", maintain_order=True)
        .agg(hits=pl.col("hit_count").sum() / waves, cost=cost.sum() / waves, idle=idle.sum() / waves)
        .filter(pl.col("hits") > 0)
    )


def _against(base: pl.DataFrame, other: pl.DataFrame, total: float) -> Shares:
    both = base.join(other, on="unit", suffix="_other")
    speed, idle = (
        float((both[f"{name}_other"] - both["hits_other"] * both[name] / both["hits"]).sum())
        for name in ("cost", "idle")
    )
    delta = float(other["cost"].sum()) - float(base["cost"].sum())
    return Shares((delta - speed) / total, speed / total, idle / total)
