"""Names and numbers of rooflines, the same in text and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wavewright.analysis.counters.roofline import Roofline
from wavewright.analysis.counters.roofline.geometry import Roof
from wavewright.analysis.counters.roofline.kinds import LEVELS
from wavewright.analysis.counters.roofline.points import NEAR

_PREFIXES = ((1e6, "P"), (1e3, "T"), (1.0, "G"), (1e-3, "M"), (1e-6, "k"))  #: (Multiple of 10^9, its prefix).
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def letter(row: int) -> str:
    """The mark of a kernel: A to Z, then AA, AB, ...

    >>> letter(0), letter(27)
    ('A', 'AB')
    """
    turn, at = divmod(row, len(_LETTERS))
    return (letter(turn - 1) if turn else "") + _LETTERS[at]


def rate(value: float | None, unit: str) -> str:
    """A rate in 10^9 per second with three digits; `unit` without the G.

    >>> rate(1388.9, "B/s"), rate(20942.0, "FLOP/s"), rate(0.0, "B/s"), rate(0.0123, "FLOP/s"), rate(None, "B/s")
    ('1.39 TB/s', '20.9 TFLOP/s', '0 B/s', '12.3 MFLOP/s', '-')
    """
    if value is None:
        return "-"
    for size, prefix in _PREFIXES:
        if value >= size * 0.9995:
            return f"{_digits(value / size)} {prefix}{unit}"
    return f"{_digits(value * 1e9)} {unit}"


def power(value: float) -> str:
    """A power of ten of 10^9 per second, for an axis.

    >>> power(1e5), power(1e3), power(0.01)
    ('100 T', '1 T', '10 M')
    """
    return rate(value, "").replace(".00", "").replace(".0", "")


def intensity(value: float | None) -> str:
    """Operations per byte with three digits.

    >>> intensity(0.12345), intensity(1234.5), intensity(0.000123), intensity(None)
    ('0.123', '1,234', '1.2e-04', '-')
    """
    if value is None:
        return "-"
    return f"{value:.1e}" if value < 0.001 else _digits(value) if value >= 1 else f"{value:.3f}"


def _digits(value: float) -> str:
    if not value:
        return "0"
    return f"{value:,.0f}" if value >= 99.95 else f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"


def subject(answer: Roofline) -> str:
    """The GPU."""
    if answer.product and answer.target:
        return f"{answer.product} ({answer.target})"
    return answer.product or answer.target or "unknown GPU"


def source(roofs: Sequence[Roof]) -> str:
    """The origin of the roofs, in words."""
    words = {
        ("empirical",): "roofs measured by a benchmark",
        ("theoretical",): "theoretical roofs (*), at the highest clock",
        ("empirical", "theoretical"): "roofs measured by a benchmark; those with * are theoretical",
    }
    return words.get(tuple(sorted({roof.used_from for roof in roofs})), "no roofs are known")


def points_at(answer: Roofline, work: str) -> dict[tuple[Any, Any, str], dict[str, Any]]:
    """Kernel, dispatch and level -> the point there, of floating-point (flop) or integer work (iop)."""
    rows = answer.points.filter(answer.points["work"] == work).iter_rows(named=True)
    return {(row["kernel"], row["dispatch"], row["level"]): row for row in rows}


def work_done(answer: Roofline) -> dict[tuple[Any, Any], str]:
    """Kernel and dispatch -> its operations by kind, the most frequent first: `MFMA FP16 98 %, VALU FP32 2 %`.

    Integer operations are named only where there are no others.
    """
    counts: dict[tuple[Any, Any], dict[str, dict[str, float]]] = {}
    for row in answer.operations.iter_rows(named=True):
        totals = counts.setdefault((row["kernel"], row["dispatch"]), {"flop": {}, "iop": {}})
        if row["operations"]:
            totals[row["work"]][row["kind"]] = row["operations"]
    return {key: _shares(totals["flop"] or totals["iop"]) for key, totals in counts.items()}


def _shares(counts: dict[str, float]) -> str:
    total = sum(counts.values())
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    return ", ".join(f"{kind} {100 * count / total:.0f} %" for kind, count in ordered if count >= total / 200)


def bound_words(row: dict[str, Any]) -> str:
    """The bound of the kernel; in brackets = the nearest roof, but it is far below every roof; ? = above it.

    >>> [bound_words({"bound": "HBM", "share": share, "duration_ns_mean": 5.0}) for share in (0.8, 0.1, None)]
    ['HBM', '(HBM)', 'HBM?']
    """
    if not row["bound"]:
        return "-"
    if row["share"] is None and row["duration_ns_mean"]:
        return f"{row['bound']}?"
    return str(row["bound"]) if row["share"] is None or row["share"] >= NEAR else f"({row['bound']})"


def level_marks(levels: Sequence[str]) -> str:
    """The meaning of the second character of a mark."""
    return ", ".join(f"{level.mark} = {name}" for name, level in LEVELS.items() if name in levels)
