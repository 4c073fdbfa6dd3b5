"""Levels of one quantity over captures of a store, and the captures on both sides of a change."""

from __future__ import annotations

import polars as pl

from wavewright.analysis.common.store.trend import captures_around, change_text, trend_of, with_grids
from wavewright.model.baseline import STORE_ROWS

MEANS = [100.0, 101.0, 100.0, 101.0, 100.0, 120.0, 121.0, 120.0, 121.0, 120.0]


def stored(means: list[float], captures_of_commit: int) -> pl.DataFrame:
    """Rows of a store: so many captures of each commit one after the other, each with the mean of its commit."""
    empty = {name: 0 if dtype.is_numeric() else "" for name, dtype in STORE_ROWS.dtypes.items()}
    rows = [
        empty
        | {"commit_id": f"c{commit}", "capture": f"{commit}-{number}", "taken_ns": commit * captures_of_commit + number}
        | {"subject": "gpu-time", "unit": "ns", "target": "gfx942", "mean": mean, "lanes": None}
        for commit, mean in enumerate(means)
        for number in range(captures_of_commit)
    ]
    return with_grids(pl.DataFrame(rows, schema=STORE_ROWS.dtypes))


def test_all_captures_of_the_last_commit_of_a_level_are_around_its_change() -> None:
    rows = stored(MEANS, captures_of_commit=3)
    answer = trend_of(rows)
    (change,) = answer.changes.rows(named=True)
    assert (change["commit_before"], change["commit_id"]) == ("c4", "c5")
    before, after = captures_around(rows, answer, change["place"], 4)
    assert before["capture"].to_list() == ["3-2", "4-0", "4-1", "4-2"], "the nearest to the change"
    assert after["capture"].to_list() == ["5-0", "5-1", "5-2", "6-0"]


def test_no_share_is_said_of_a_level_of_zero() -> None:
    answer = trend_of(stored([0.0] * 5 + [50.0, 51.0, 50.0, 51.0, 50.0], captures_of_commit=1))
    (change,) = answer.changes.rows(named=True)
    assert (change["change"], change["change_low"], change["change_high"]) == (0, 0, 0)
    assert change_text(change) == "from 0"
