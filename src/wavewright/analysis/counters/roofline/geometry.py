"""The picture of a roofline in numbers: which roofs and marks it has, and the window that shows them all."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from wavewright.analysis.counters.roofline import Roofline
from wavewright.analysis.counters.roofline.kinds import KINDS, SHOWN_LEVELS

_LEAST_SHARE = 0.01  #: Kinds with a smaller share of a kernel's operations get no roof unless they are asked for.
_DEFAULT_X, _DEFAULT_Y = (0.01, 1000.0), (1.0, 1e6)  #: Ranges of the axes where there are no values.
_ROOM = 1.4  #: Factor between the outermost value and the edge of the window, at least.


@dataclass(frozen=True)
class Roof:
    """A line of the picture: a slope for bandwidth up to the highest compute roof, or a level line for compute."""

    name: str
    kind: str
    value: float
    unit: str
    used_from: str
    #: (operations per byte, 10^9 operations per second) at both ends.
    points: tuple[tuple[float, float], tuple[float, float]]


@dataclass(frozen=True)
class Mark:
    """One kernel or dispatch at one level of memory."""

    row: int  #: Row of `Roofline.kernels`.
    level: str
    work: str
    x: float  #: Operations per byte.
    y: float  #: 10^9 operations per second.
    share: float | None


@dataclass(frozen=True)
class RooflinePicture:
    """Roofs, marks and window, for any drawing."""

    x_range: tuple[float, float]  #: Operations per byte, powers of ten.
    y_range: tuple[float, float]
    unit: str
    roofs: tuple[Roof, ...]
    marks: tuple[Mark, ...]


def picture_of(
    answer: Roofline, *, levels: Sequence[str] = (), precisions: Sequence[str] = (), limit: int | None = None
) -> RooflinePicture:
    """The picture of the first `limit` kernels or dispatches.

    `precisions` chooses the compute roofs and whether floating-point or integer work is marked; none = those that the
    kernels use, and integer work only where there is no other.
    """
    works = _works(answer, precisions)
    marks = _marks(answer, works, levels, limit)
    kind_names = _kinds(answer, works, precisions)
    rows = [row for row in answer.ceilings.iter_rows(named=True) if row["used"]]
    bandwidths = [row for row in rows if row["kind"] == "bandwidth" and (not levels or row["name"] in levels)]
    computes = [row for row in rows if row["name"] in kind_names]
    compute_max = max((row["used"] for row in computes), default=None)
    bandwidth_max = max((row["used"] for row in bandwidths), default=None)
    ridges = [compute["used"] / row["used"] for row in bandwidths for compute in computes]  # where two roofs meet
    x_values = [mark.x for mark in marks] + [ridge * around for ridge in ridges for around in (0.2, 3.0)]
    y_values = [mark.y for mark in marks] + [row["used"] * below for row in computes for below in (1.0, 0.1)]
    x_range, y_range = _window(x_values, _DEFAULT_X), _window(y_values, _DEFAULT_Y)
    roofs = []
    for row in bandwidths:
        start = max(x_range[0], y_range[0] / row["used"])
        end = min(compute_max / row["used"] if compute_max else x_range[1], y_range[1] / row["used"], x_range[1])
        roofs.append(_roof(row, (start, start * row["used"]), (end, end * row["used"])))
    for row in sorted(computes, key=lambda row: -row["used"]):
        start = max(x_range[0], row["used"] / bandwidth_max) if bandwidth_max else x_range[0]
        roofs.append(_roof(row, (start, row["used"]), (x_range[1], row["used"])))
    unit = {"flop": "GFLOP/s", "iop": "GIOP/s"}.get("+".join(works), "GOP/s")
    return RooflinePicture(x_range, y_range, unit, tuple(roofs), marks)


def log_place(value: float, span: tuple[float, float]) -> float:
    """The place of a value on a logarithmic axis, from 0 to 1."""
    low, high = math.log10(span[0]), math.log10(span[1])
    return (math.log10(value) - low) / (high - low)


def decades(span: tuple[float, float]) -> list[float]:
    """The powers of ten of an axis, both ends included."""
    return [10.0**power for power in range(round(math.log10(span[0])), round(math.log10(span[1])) + 1)]


def _works(answer: Roofline, precisions: Sequence[str]) -> tuple[str, ...]:
    if precisions:
        return tuple(sorted({kind.work for kind in KINDS.values() if kind.precision in precisions}))
    has_floats = any(answer.kernels["flops"].fill_null(0) > 0)
    has_integers = any(answer.kernels["iops"].fill_null(0) > 0)
    return ("iop",) if has_integers and not has_floats else ("flop",)


def _marks(answer: Roofline, works: Sequence[str], levels: Sequence[str], limit: int | None) -> tuple[Mark, ...]:
    kernels = answer.kernels.head(limit) if limit else answer.kernels
    rows = {_key(row): number for number, row in enumerate(kernels.iter_rows(named=True))}
    is_shown = pl.col("work").is_in(works) & pl.col("level").is_in(levels or SHOWN_LEVELS)
    points = answer.points.filter(is_shown & (pl.col("intensity") != 0) & (pl.col("gops_per_second") != 0))
    return tuple(
        Mark(rows[_key(row)], row["level"], row["work"], row["intensity"], row["gops_per_second"], row["share"])
        for row in points.iter_rows(named=True)
        if _key(row) in rows
    )


def _key(row: dict[str, object]) -> tuple[object, object]:
    return row["kernel"], row["dispatch"]


def _kinds(answer: Roofline, works: Sequence[str], precisions: Sequence[str]) -> set[str]:
    """Names of the kinds whose roofs are drawn."""
    if precisions:
        return {kind.name for kind in KINDS.values() if kind.precision in precisions}
    rows = [row for row in answer.operations.iter_rows(named=True) if row["work"] in works and row["operations"]]
    totals: dict[object, float] = {}
    for row in rows:
        totals[_key(row)] = totals.get(_key(row), 0.0) + row["operations"]
    used = {row["kind"] for row in rows if row["operations"] >= _LEAST_SHARE * totals[_key(row)]}
    plain = {kind.name for kind in KINDS.values() if kind.work in works and kind.precision in ("fp32", "i32")}
    return used or plain | {kind.name for kind in KINDS.values() if kind.work in works and kind.pipe == "WMMA"}


def _roof(row: dict[str, Any], start: tuple[float, float], end: tuple[float, float]) -> Roof:
    return Roof(row["name"], row["kind"], row["used"], row["unit"], row["used_from"], (start, end))


def _window(values: Sequence[float], otherwise: tuple[float, float]) -> tuple[float, float]:
    """Powers of ten around positive values, with room at both sides."""
    positive = [value for value in values if value > 0]
    if not positive:
        return otherwise
    low = math.floor(math.log10(min(positive) / _ROOM))
    high = math.ceil(math.log10(max(positive) * _ROOM))
    return 10.0**low, 10.0 ** max(high, low + 1)
