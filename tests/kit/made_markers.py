"""Markers made by hand."""

from __future__ import annotations

import polars as pl

from tests.kit.ui_directories import frame

LEAVE, ENTER, FIRST = 1, 2, 4
POINT = 0
"""No flags: made a point below."""


def markers(
    steps: list[tuple[int, int, str]], *, se: int = 0, cu: int = 1, simd: int = 0, slot: int = 0
) -> pl.DataFrame:
    """The `markers` table of one wave slot; a step is (time, flags, name)."""
    count = len(steps)
    return frame(
        "markers",
        {
            "se": [se] * count,
            "cu": [cu] * count,
            "simd": [simd] * count,
            "slot": [slot] * count,
            "time_cycles": [step[0] for step in steps],
            "flags": [step[1] for step in steps],
            "name": [step[2] or None for step in steps],
            "record_kind": [0] * count,
            "marker_kind": [2 if step[1] else 3 for step in steps],
            "marker_id": list(range(count)),
        },
    )
