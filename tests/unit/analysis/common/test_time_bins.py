"""Means of step functions over equal intervals of time."""

from __future__ import annotations

import polars as pl

from wavewright.analysis.common.time_bins import lengths_of, step_means, time_bins


def test_bins_are_of_whole_cycles() -> None:
    assert time_bins(0, 10, 60).count == 10
    assert lengths_of(time_bins(0, 10, 2)).rows() == [(0, 5, 0), (1, 5, 5)]


def test_a_change_counts_from_its_time_on() -> None:
    changes = pl.DataFrame({"se": [0, 0], "time_cycles": [2, 6], "change": [1, 2]})
    assert step_means(changes, "se", time_bins(0, 8, 2))["mean"].to_list() == [0.5, 2.0]
