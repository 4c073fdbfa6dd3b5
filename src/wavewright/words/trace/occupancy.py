"""Occupancy in words: the verdict, what each resource allows, and how full the SIMDs were over time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from wavewright.analysis.trace.occupancy import Occupancy
from wavewright.analysis.trace.waves.resident import Residency
from wavewright.base.shown import printable
from wavewright.base.words import counted, percent, shortened
from wavewright.model.blocks import AnyBlock, Sentence, Table, headline, sentence
from wavewright.words.kit.declared_tables import declared_table, legend
from wavewright.words.kit.frame_tables import bar_cell
from wavewright.writers.terminal.bars import sparkline


def occupancy_report(answer: Occupancy, curves: Sequence[Residency], *, limit: int) -> Iterator[AnyBlock]:
    """The parts of the answer in order."""
    if not answer.kernels.height:
        yield headline("no wave was seen on any SIMD, and no kernel is known")
    rows = answer.kernels.head(limit).to_dicts()
    for row in rows[:1]:
        limiters = answer.limiters.filter(answer.limiters["kernel"].eq_missing(row["kernel"]))
        yield headline(_verdict(row, limiters))
        title = f"{shortened(printable(row['name']))} on {answer.target} ({answer.target_origin})".removeprefix(" ")
        yield Sentence(title)
        if limiters.height:
            yield _limiter_table(limiters, answer.lds_shared_by)
            yield sentence(("next: ", "bold"), _next(limiters, row), style="advice")
            yield from _amount_lines(answer.amounts.filter(answer.amounts["kernel"].eq_missing(row["kernel"])))
    if answer.kernels.height > 1:
        yield _kernel_table(answer.kernels, limit)
    if answer.engines.height:
        waves = {curve.se: sparkline(curve.waves_mean) for curve in curves}
        curve = lambda row: waves.get(row["se"], "")  # noqa: E731
        yield declared_table("trace/occupancy/engine", answer.engines, limit=limit, curve=curve)
        yield legend("trace/occupancy/engine")
    for note in answer.notes:
        yield sentence((note, "bold red")) if note.startswith("WRONG") else Sentence(note, "note")


def _amount_lines(amounts: pl.DataFrame) -> Iterator[Sentence]:
    """For each resource: how many waves fit up to which amount of it."""
    for (limiter,), rows in amounts.partition_by("limiter", as_dict=True, maintain_order=True).items():
        if rows.height > 1:
            unit = "registers" if limiter == "VGPR" else "bytes"
            steps = [f"{waves} up to {at_most:,}" for at_most, waves in rows["at_most", "waves_per_simd"].iter_rows()]
            yield sentence((f"waves per SIMD by {limiter}, all else as it is: {', '.join(steps)} {unit}", "dim"))


def _verdict(row: dict[str, Any], limiters: pl.DataFrame) -> str:
    waves = row["waves_per_simd_limit"]
    if waves is None:
        fits = "what fits is not known"
    elif waves == 0:
        fits = f"no workgroup fits, bound by {row['bound_by']}"
    else:
        binding = limiters.filter(limiters["is_binding"])["limiter"].to_list()
        bound = "the hardware" if row["bound_by"] == "hardware" else " and ".join(binding)
        fits = f"{counted(waves, 'waves')} per SIMD {'fits' if waves == 1 else 'fit'}, bound by {bound}"
    if row["waves_per_simd_max"] is None:
        return fits
    share = f" ({percent(row['limit_share'], 0)} of the limit)" if row["limit_share"] is not None else ""
    return f"{fits}; reached {row['waves_per_simd_max']}, {row['waves_per_simd_mean']:.2f} on average{share}"


def _next(limiters: pl.DataFrame, row: dict[str, Any]) -> str:
    fit, reached = row["waves_per_simd_limit"] or 0, row["waves_per_simd_max"]
    if reached is not None and reached < fit:
        seen = f"{reached} of {fit}"
        if not row["all_at_once"]:
            return f"nothing to free: no SIMD held as many waves as fit ({seen}); they end before others arrive"
        text = f"all waves were there at once: {fit - reached} more per SIMD fit, if the grid had them{_not_known(row)}"
        return text if row["next_waves_per_simd"] is None else f"{text}; beyond that, {_step(limiters, row)}"
    if row["next_waves_per_simd"] is None:
        return "nothing: no more waves fit on this hardware"
    return _step(limiters, row)


def _not_known(row: dict[str, Any]) -> str:
    """Resources that may allow less than is known here."""
    names = {"LDS": "lds_bytes", "workgroup size": "workgroup_size", "SGPR": "sgprs"}
    missing = [name for name, column in names.items() if row[column] is None]
    return f" and what is not known ({', '.join(missing)}) allows them" if missing else ""


def _step(limiters: pl.DataFrame, row: dict[str, Any]) -> str:
    """Resources that have to shrink for the next number of waves."""
    freed = limiters.with_columns(free=limiters["allocated"] - limiters["next_at_most"])
    steps = [
        f"{step['limiter']} ≤ {step['next_at_most']:,} {step['unit']} (free {step['free']:,})"
        for step in freed.drop_nulls("free").iter_rows(named=True)
    ]
    change = " and ".join(steps) or "another workgroup size"
    return f"{counted(row['next_waves_per_simd'], 'waves')} per SIMD need {change}"


def _limiter_table(limiters: pl.DataFrame, shared_by: str) -> Table:
    slots = limiters.filter(limiters["limiter"] == "hardware")["waves_per_simd"][0]
    return declared_table(
        "trace/occupancy/limiter",
        limiters,
        limiter=lambda row: row["limiter"] + (" ◀" if row["is_binding"] else ""),
        bar=lambda row: bar_cell(row["waves_per_simd"] / slots, 8),
        because=lambda row: _because(row, shared_by),
    )


def _because(row: dict[str, Any], shared_by: str) -> str:
    if row["limiter"] == "hardware":
        return "wave slots of a SIMD"
    if row["limiter"] == "workgroup":
        return f"whole workgroups of {counted(row['used'], 'waves')}, {row['available']:,} at most"
    per, place = ("workgroup", shared_by) if row["limiter"] == "LDS" else ("wave", "SIMD")
    asked = f" ({row['used']:,} asked)" if row["allocated"] != row["used"] else ""
    return f"{row['allocated']:,} of the {place}'s {row['available']:,} {row['unit']} per {per}{asked}"


def _kernel_table(kernels: pl.DataFrame, limit: int) -> Table:
    return declared_table(
        "trace/occupancy/kernel",
        kernels,
        limit=limit,
        kernel=lambda row: shortened(printable(row["name"])),
        has_waves=kernels["wave_count"].count() > 0,
        vgpr=_registers,
    )


def _registers(row: dict[str, Any]) -> str:
    if row["vgprs"] is None:
        return "?"
    return f"{row['vgprs']}+{row['agprs']}" if row["agprs"] else str(row["vgprs"])
