"""Kernels and copies of a run by the GPU time that they take, and their categories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import polars as pl

from wavewright.analysis.run.contents.timed_events import EVENT_TABLES, GROUP_COLUMNS, Events
from wavewright.analysis.run.kernels.categories import time_by_category
from wavewright.analysis.run.measures.statistics import PackedDurations, described, merged_packed
from wavewright.model.answer import Answer
from wavewright.model.run import Run

TopGrouping = Literal["all", "file"]


@dataclass(frozen=True)
class Top(Answer, package=__package__):
    """The kernels, copies and calls of a run with most time."""

    things: pl.DataFrame
    categories: pl.DataFrame
    total_ns: int  #: Sum of all durations.
    with_calls: bool


def partial_top(run: Run, *, with_calls: bool = False, by: TopGrouping = "all") -> PackedDurations:
    """The contribution of one run."""
    return Events(run, by).statistics(EVENT_TABLES if with_calls else ("dispatches", "copies")).packed()


def combine_top(partials: Sequence[PackedDurations], *, with_calls: bool = False, by: TopGrouping = "all") -> Top:
    """The combined result of all runs; by file, the files with most time come first."""
    group = GROUP_COLUMNS[by]
    rows = described(merged_packed(partials, (*group, "domain", "name")))
    if not group:
        rows = rows.with_columns(path=pl.lit(None, pl.String))
    total = pl.col("total_ns").sum().over("path")
    things = rows.with_columns(share=pl.col("total_ns") / total.replace(0, None))
    things = things.sort(-total, "path", -pl.col("total_ns"), "domain", "name", nulls_last=True)
    spec = Top.tables["things"]
    categories = time_by_category(things).select(Top.tables["categories"].names)
    return Top(things.select(spec.names), categories, int(rows["total_ns"].sum()), with_calls)


def top(run: Run, *, with_calls: bool = False, by: TopGrouping = "all") -> Top:
    """Kernels and copies, and with `with_calls` all calls, by the time they take."""
    partials = [partial_top(part, with_calls=with_calls, by=by) for part in run.parts]
    return combine_top(partials, with_calls=with_calls, by=by)
