"""The measures of listings: cycles of a thread trace, or samples of the program counter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import polars as pl

from wavewright.base.words import short
from wavewright.model.schema import SAMPLE_COUNTS
from wavewright.words.kit.declared_tables import declared_columns

ListingRow = dict[str, Any]
Cell = Callable[[ListingRow], str]

WIDE = 110  #: Characters of a console from which on there is room for idle cycles and the source.
_VERY_WIDE, _MIDDLE = 140, 76  #: Those from which on other columns have room (conditions of `tables/listing.toml`).
_NO_DECIMALS_FROM = 1000  #: Mean cycles from here on are written in few characters, without decimals.


@dataclass(frozen=True)
class Measure:
    """A measure of the cost of a row, with its columns."""

    unit: str
    total: Callable[[ListingRow], int]
    hot: Callable[[ListingRow], int]  #: What rows are ranked by.
    parts: Callable[[ListingRow], dict[str, int]]  #: Parts of the heat bar, which add up to `total`.
    part_names: tuple[str, ...]
    cells: Callable[[str, int], dict[str, Cell]]  #: Columns for a cost (sum, mean, max) and a width of the console.
    line_cells: dict[str, Cell]  #: Columns of a source line: three numbers, then words where there is room.
    is_seen: Callable[[ListingRow], bool]  #: Whether a row was executed, or sampled.


def _cycles(row: ListingRow) -> int:
    total: int = row["latency_cycles_total"] + row["idle_cycles_total"]
    return total


def _exposed(row: ListingRow) -> int:
    exposed: int = row["exposed_cycles_total"]
    return exposed


def _parts(row: ListingRow) -> dict[str, int]:
    shown = {name: row[f"exposed_{name}_cycles_total"] for name in ("stall", "issue", "idle")}
    return {**shown, "hidden": _cycles(row) - sum(shown.values())}


def _parts_of_one(row: ListingRow) -> dict[str, int]:
    latency, stall, idle = (row[f"{name}_cycles_total"] for name in ("latency", "stall", "idle"))
    return {"stall": stall, "issue": latency - stall, "idle": idle}


def _cells(table: str, **cells: Any) -> dict[str, Cell]:
    """Heading -> cell of the columns that a table of listings declares."""
    return {column.heading: column.cell for column in declared_columns(f"trace/listing/{table}", **cells)}


def _cycle_cells(cost: str, width: int, *, has_lanes: bool = False) -> dict[str, Cell]:
    return _cells(
        "cycles",
        is_middle=width >= _MIDDLE,
        is_very_wide=width >= _VERY_WIDE,
        has_idle=width >= WIDE and cost != "max",
        has_lanes=has_lanes,
        **{name: _cost(name, cost) for name in ("latency", "stall", "idle")},
    )


def _cost(name: str, cost: str) -> Cell:
    def cell(row: ListingRow) -> str:
        if not row["hit_count"]:
            return ""
        if cost == "max":
            return short(row[f"{name}_cycles_max"])
        total = row[f"{name}_cycles_total"]
        return short(total) if cost == "sum" else _short_mean(total / row["hit_count"])

    return cell


def _short_mean(mean: float) -> str:
    return short(mean) if mean >= _NO_DECIMALS_FROM else f"{mean:.1f}"


def _samples(row: ListingRow) -> int:
    return sum(row[name] for name in SAMPLE_COUNTS)


def _sample_cells(cost: str, width: int, *, has_reasons: bool = True) -> dict[str, Cell]:
    def of(name: str) -> Cell:
        return lambda row: f"{row[name]:,}" if _samples(row) else ""

    return _cells(
        "samples",
        is_middle=width >= _MIDDLE,
        has_reasons=has_reasons and width >= _MIDDLE,
        samples=lambda row: f"{_samples(row):,}" if _samples(row) else "",
        issued=of("issued_count"),
        stalled=of("stalled_count"),
    )


#: All executions, with exposed cycles.
CYCLES = Measure(
    unit="cycles",
    total=_cycles,
    hot=_exposed,
    parts=_parts,
    part_names=("stall", "issue", "idle", "hidden"),
    cells=_cycle_cells,
    line_cells=_cells("cycle_lines"),
    is_seen=lambda row: row["hit_count"] > 0,
)


#: All executions, with extra LDS cycles and cache segments.
CYCLES_WITH_LANES = replace(
    CYCLES, cells=partial(_cycle_cells, has_lanes=True), line_cells=_cells("cycle_lines_with_lanes")
)


def cycle_measure(costs: pl.DataFrame) -> Measure:
    """The measure of cycles of all executions: with what lanes do, where that was asked for."""
    has_lanes = costs.height and costs["extra_lds_cycles_total"].null_count() == 0
    return CYCLES_WITH_LANES if has_lanes else CYCLES


#: One execution of each row.
CYCLES_OF_ONE = replace(CYCLES, hot=_cycles, parts=_parts_of_one, part_names=("stall", "issue", "idle"))


def sample_measure(counts: pl.DataFrame) -> Measure:
    """The measure of samples with these counts: with issue and stall, or, where no sample tells them, without."""
    informative = int(counts["issued_count"].sum()) + int(counts["stalled_count"].sum())
    return SAMPLES if informative else BARE_SAMPLES


#: Samples of the program counter.
SAMPLES = Measure(
    unit="samples",
    total=_samples,
    hot=_samples,
    parts=lambda row: {"stall": row["stalled_count"], "issue": row["issued_count"]},
    part_names=("stall", "issue"),
    cells=_sample_cells,
    line_cells=_cells("sample_lines", samples=lambda row: short(_samples(row))),
    is_seen=lambda row: _samples(row) > 0,
)

#: Samples of a method that does not tell whether the instruction was issued.
BARE_SAMPLES = replace(
    SAMPLES,
    parts=lambda row: {"sampled": row["unknown_count"]},
    part_names=("sampled",),
    cells=partial(_sample_cells, has_reasons=False),
    line_cells=_cells("bare_sample_lines", samples=lambda row: short(_samples(row)), blank=lambda row: ""),
)
