"""Kernels and metrics of one capture against those of another: differences, noise, and what cannot be compared."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt
from typing import Any

import polars as pl

from wavewright.analysis.common.noise import LEAST_CHANGE, MEAN_TAIL, difference_bound
from wavewright.analysis.counters.compare.sides import Durations, Side

Key = tuple[str, str, str, int | None, int]


def kernel_rows(number: int, base: Side, side: Side) -> list[dict[str, Any]]:
    """Every kernel of either side, the largest effect first."""
    nothing = Durations()
    rows = []
    for name in dict.fromkeys((*base.durations, *side.durations)):
        before, after = base.durations.get(name, nothing), side.durations.get(name, nothing)
        has_times = before.total_ns is not None and after.total_ns is not None
        rows.append(
            {
                "side": number,
                "kernel_name": name,
                "base_dispatch_count": before.dispatch_count,
                "dispatch_count": after.dispatch_count,
                "base_mean_ns": before.mean_ns,
                "mean_ns": after.mean_ns,
                "delta_ns": (after.total_ns or 0.0) - (before.total_ns or 0.0) if has_times else None,
                **_kernel_change(before, after),
            }
        )
    return sorted(rows, key=lambda row: -abs(row["delta_ns"] or 0.0))


def _kernel_change(before: Durations, after: Durations) -> dict[str, Any]:
    if not before.dispatch_count or not after.dispatch_count:
        return {"status": "gone" if before.dispatch_count else "new"}
    if before.mean_ns is None or after.mean_ns is None or not before.mean_ns:
        return {"status": "unknown"}
    noise = _noise(before.mean_ns, *((durations.deviation_ns, durations.known_count) for durations in (before, after)))
    delta = after.mean_ns - before.mean_ns
    change = delta / before.mean_ns
    if noise is None:
        return {"status": "unknown" if change else "same", "change": change}
    status = ("slower" if change > 0 else "faster") if abs(delta) > noise else "same"
    return {"status": status, "change": change, "noise": noise / before.mean_ns}


def metric_rows(number: int, base: Side, side: Side, base_rank: int | None, rank: int | None) -> list[dict[str, Any]]:
    """Metrics of a pair of kernels, in the order of the base, then those that only the side has."""
    before, after = dict(_keyed(base.panels(base_rank).rows)), dict(_keyed(side.panels(rank).rows))
    name = _kernel_name(base, base_rank)
    rows = []
    for key in dict.fromkeys((*before, *after)):
        base_row, side_row = before.get(key), after.get(key)
        described = base_row or side_row
        assert described is not None  # noqa: S101 - the key is of one of them
        row = {what: described[what] for what in ("table_id", "metric_id", "name", "series", "channel", "unit")}
        rows.append({"side": number, "kernel_name": name, **row, **_change(base_row, side_row)})
    return rows


def _keyed(rows: pl.DataFrame) -> Iterator[tuple[Key, dict[str, Any]]]:
    """Rows by what they are about; the last part of the key tells rows apart that a table has twice."""
    seen: dict[tuple[str, str, str, int | None], int] = {}
    for row in rows.iter_rows(named=True):
        key = (row["table_id"], row["name"], row["series"] or "", row["channel"])
        seen[key] = seen.get(key, -1) + 1
        yield (*key, seen[key]), row


def _kernel_name(side: Side, rank: int | None) -> str | None:
    if rank is None:
        return None
    names = side.kernels.filter(side.kernels["kernel"] == rank)["kernel_name"]
    return str(names[0]) if names.len() else None


def _change(base_row: dict[str, Any] | None, side_row: dict[str, Any] | None) -> dict[str, Any]:
    """The difference; a side that did not measure the metric has no difference, which is not the same as 0."""
    base, value = (None if row is None else row["average"] for row in (base_row, side_row))
    fields: dict[str, Any] = {
        "base": base,
        "value": value,
        "base_peak_share": None if base_row is None else base_row["peak_share"],
        "peak_share": None if side_row is None else side_row["peak_share"],
        "base_reason": "this GPU has no such metric" if base_row is None else base_row["reason"],
        "reason": "this GPU has no such metric" if side_row is None else side_row["reason"],
    }
    if base_row is None or side_row is None or base is None or value is None:
        status = "blank" if base is None and value is None else "not in base" if base is None else "not in side"
        return fields | {"status": status}
    if base_row["unit"] != side_row["unit"]:
        return fields | {"status": "other unit"}
    delta = value - base
    noise = _noise(base, *((row["deviation"], row["dispatch_count"] or 0) for row in (base_row, side_row)))
    if noise is None:
        status = "unknown" if delta else "same"
    else:
        status = ("higher" if delta > 0 else "lower") if abs(delta) > noise else "same"
    change = delta / abs(base) if base else None
    return fields | {"status": status, "delta": delta, "change": change, "noise": noise}


def _noise(base: float, *spreads: tuple[float | None, int]) -> float | None:
    """Difference that averages of equal captures may have; each spread: sample deviation and number of dispatches."""
    samples = [(deviation, count) for deviation, count in spreads if deviation is not None and count > 1]
    if not samples:
        return None
    usual = max(samples, key=lambda sample: sample[1])
    errors = []
    for deviation, count in spreads:
        spread, degrees = (deviation, count - 1) if deviation is not None and count > 1 else (usual[0], usual[1] - 1)
        errors.append((spread / sqrt(max(count, 1)), degrees))
    return max(difference_bound(MEAN_TAIL, errors[0], errors[1]), LEAST_CHANGE * abs(base))
