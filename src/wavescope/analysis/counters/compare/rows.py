"""Kernels and metrics of one capture against those of another: differences, noise, and what cannot be compared."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any

from wavescope.analysis.common.noise import LEAST_CHANGE, MEAN_TAIL, difference_bound
from wavescope.analysis.counters.compare.sides import Durations

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from wavescope.analysis.counters.compare.sides import Side

Key = tuple[str, str, str, int | None, int]


def kernel_rows(number: int, base: Side, side: Side) -> list[dict[str, Any]]:
    """Every kernel of either side, the largest effect first."""
    nothing = Durations()
    rows = []
    for name in dict.fromkeys((*base.durations, *side.durations)):
        before, after = base.durations.get(name, nothing), side.durations.get(name, nothing)
        known = before.total_ns is not None and after.total_ns is not None
        rows.append(
            {
                "side": number,
                "kernel_name": name,
                "base_dispatch_count": before.dispatch_count,
                "dispatch_count": after.dispatch_count,
                "base_mean_ns": before.mean_ns,
                "mean_ns": after.mean_ns,
                "delta_ns": (after.total_ns or 0.0) - (before.total_ns or 0.0) if known else None,
                **_kernel_change(before, after),
            }
        )
    return sorted(rows, key=lambda row: -abs(row["delta_ns"] or 0.0))


def _kernel_change(before: Durations, after: Durations) -> dict[str, Any]:
    if not before.dispatch_count or not after.dispatch_count:
        return {"status": "gone" if before.dispatch_count else "new"}
    if before.mean_ns is None or after.mean_ns is None or not before.mean_ns:
        return {"status": "unknown"}
    noise = _noise(before.mean_ns, *((one.deviation_ns, one.known_count) for one in (before, after)))
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
        one, other = before.get(key), after.get(key)
        known = one or other
        assert known is not None  # noqa: S101 - the key is of one of them
        row = {what: known[what] for what in ("table_id", "metric_id", "name", "series", "channel", "unit")}
        rows.append({"side": number, "kernel_name": name, **row, **_change(one, other)})
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
    found = side.kernels.filter(side.kernels["kernel"] == rank)["kernel_name"]
    return str(found[0]) if found.len() else None


def _change(one: dict[str, Any] | None, other: dict[str, Any] | None) -> dict[str, Any]:
    """What differs; a side that did not measure the metric has no difference, which is not the same as 0."""
    base, value = (None if row is None else row["average"] for row in (one, other))
    found: dict[str, Any] = {
        "base": base,
        "value": value,
        "base_peak_share": None if one is None else one["peak_share"],
        "peak_share": None if other is None else other["peak_share"],
        "base_reason": "this GPU has no such metric" if one is None else one["reason"],
        "reason": "this GPU has no such metric" if other is None else other["reason"],
    }
    if one is None or other is None or base is None or value is None:
        status = "blank" if base is None and value is None else "not in base" if base is None else "not in side"
        return found | {"status": status}
    if one["unit"] != other["unit"]:
        return found | {"status": "other unit"}
    delta = value - base
    noise = _noise(base, *((row["deviation"], row["dispatch_count"] or 0) for row in (one, other)))
    if noise is None:
        status = "unknown" if delta else "same"
    else:
        status = ("higher" if delta > 0 else "lower") if abs(delta) > noise else "same"
    change = delta / abs(base) if base else None
    return found | {"status": status, "delta": delta, "change": change, "noise": noise}


def _noise(base: float, *spreads: tuple[float | None, int]) -> float | None:
    """What averages of equal captures may differ by; each spread: sample deviation and number of dispatches."""
    known = [(deviation, count) for deviation, count in spreads if deviation is not None and count > 1]
    if not known:
        return None
    usual = max(known, key=lambda one: one[1])
    errors = []
    for deviation, count in spreads:
        spread, degrees = (deviation, count - 1) if deviation is not None and count > 1 else (usual[0], usual[1] - 1)
        errors.append((spread / sqrt(max(count, 1)), degrees))
    return max(difference_bound(MEAN_TAIL, errors[0], errors[1]), LEAST_CHANGE * abs(base))
