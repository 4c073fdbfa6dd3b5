"""The measures of listings: cycles of a thread trace, or samples of the program counter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from wavewright.base.words import short
from wavewright.model.schema import SAMPLE_COUNTS
from wavewright.words.kit.frame_tables import hexadecimal

if TYPE_CHECKING:
    import polars as pl

ListingRow = dict[str, Any]
Cell = Callable[[ListingRow], str]

WIDE = 110  #: Characters of a console from which on there is room for idle cycles and the source.
_VERY_WIDE, _MIDDLE = 140, 76
_NO_DECIMALS_FROM = 1000


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


def _cycle_cells(cost: str, width: int) -> dict[str, Cell]:
    chosen: dict[str, tuple[int, Cell]] = {
        "hits": (_MIDDLE, lambda row: f"{row['hit_count']:,}" if row["hit_count"] else ""),
        "latency": (0, _cost("latency", cost)),
        "stall": (_MIDDLE, _cost("stall", cost)),
        "idle": (WIDE if cost != "max" else 1 << 30, _cost("idle", cost)),
        "stalls on": (_VERY_WIDE, lambda row: row["stall_class"] or ""),
        "address": (_MIDDLE, _address),
    }
    return {name: cell for name, (from_width, cell) in chosen.items() if width >= from_width}


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


def _address(row: ListingRow) -> str:
    return hexadecimal(row["address"])


def _samples(row: ListingRow) -> int:
    return sum(row[name] for name in SAMPLE_COUNTS)


def _sample_cells(cost: str, width: int) -> dict[str, Cell]:
    chosen: dict[str, tuple[int, Cell]] = {
        "samples": (0, lambda row: f"{_samples(row):,}" if _samples(row) else ""),
        "issued": (_MIDDLE, lambda row: f"{row['issued_count']:,}" if _samples(row) else ""),
        "stalled": (_MIDDLE, lambda row: f"{row['stalled_count']:,}" if _samples(row) else ""),
        "stalled by": (_MIDDLE, lambda row: row["reason"] or ""),
        "address": (_MIDDLE, _address),
    }
    return {name: cell for name, (from_width, cell) in chosen.items() if width >= from_width}


#: All executions, with exposed cycles.
CYCLES = Measure(
    unit="cycles",
    total=_cycles,
    hot=_exposed,
    parts=_parts,
    part_names=("stall", "issue", "idle", "hidden"),
    cells=_cycle_cells,
    line_cells={
        "hits": lambda row: short(row["hit_count"]),
        "stall": lambda row: short(row["stall_cycles_total"]),
        "exposed": lambda row: short(row["exposed_cycles_total"]),
        "stalls on": lambda row: row["stall_class"] or "",
    },
    is_seen=lambda row: row["hit_count"] > 0,
)


def _lane_cells(cost: str, width: int) -> dict[str, Cell]:
    cells = _cycle_cells(cost, width)
    address = {"address": cells.pop("address")} if "address" in cells else {}
    return cells | _LANE_CELLS | address


_LANE_CELLS: dict[str, Cell] = {
    "extra": lambda row: short(row["extra_lds_cycles_total"]) if row["extra_lds_cycles_total"] else "",
    "segments": lambda row: short(row["segment_count_total"]) if row["segment_count_total"] else "",
}

#: All executions, with extra LDS cycles and cache segments.
CYCLES_WITH_LANES = replace(
    CYCLES,
    cells=_lane_cells,
    line_cells={
        "exposed": CYCLES.line_cells["exposed"],
        "extra": _LANE_CELLS["extra"],
        "segm.": _LANE_CELLS["segments"],
        "stalls on": CYCLES.line_cells["stalls on"],
    },
)


def cycle_measure(costs: pl.DataFrame) -> Measure:
    """The measure of cycles of all executions: with what lanes do, where that was asked for."""
    has_lanes = costs.height and costs["extra_lds_cycles_total"].null_count() == 0
    return CYCLES_WITH_LANES if has_lanes else CYCLES


#: One execution of each row.
CYCLES_OF_ONE = Measure(
    unit="cycles",
    total=_cycles,
    hot=_cycles,
    parts=_parts_of_one,
    part_names=("stall", "issue", "idle"),
    cells=_cycle_cells,
    line_cells=CYCLES.line_cells,
    is_seen=CYCLES.is_seen,
)


def _bare_sample_cells(cost: str, width: int) -> dict[str, Cell]:
    cells = _sample_cells(cost, width)
    return {name: cell for name, cell in cells.items() if name in ("samples", "address")}


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
    line_cells={
        "samples": lambda row: short(_samples(row)),
        "issued": lambda row: short(row["issued_count"]),
        "stalled": lambda row: short(row["stalled_count"]),
        "stalled by": lambda row: row["reason"] or "",
    },
    is_seen=lambda row: _samples(row) > 0,
)

#: Samples of a method that does not tell whether the instruction was issued.
BARE_SAMPLES = Measure(
    unit="samples",
    total=_samples,
    hot=_samples,
    parts=lambda row: {"sampled": row["unknown_count"]},
    part_names=("sampled",),
    cells=_bare_sample_cells,
    line_cells={
        "samples": SAMPLES.line_cells["samples"],
        "rows": lambda row: short(row["row_count"]),
        **dict.fromkeys(("", " "), lambda _: ""),
    },
    is_seen=SAMPLES.is_seen,
)
