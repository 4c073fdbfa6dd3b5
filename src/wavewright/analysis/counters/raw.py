"""The measured counters, their passes, and their amounts over the chosen dispatches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from wavewright.analysis.counters.choice import ALL_DISPATCHES, CounterChoice, chosen_dispatches
from wavewright.facts.metrics.names import is_ratio, unit_of
from wavewright.model.answer import Answer
from wavewright.model.counters import CounterSet
from wavewright.model.schema import frame_of


@dataclass(frozen=True)
class RawCounters(Answer, package=__package__):
    """Counters as they were measured, before any formula."""

    dispatch_count: int  #: Chosen dispatches.
    counters: pl.DataFrame  #: One row per counter and pass, see `tables.toml`.


def raw_counters(counters: CounterSet, *, choice: CounterChoice = ALL_DISPATCHES) -> RawCounters:
    """All counters of the capture, in the order of their names and passes.

    Raises `UsageError` when the choice does not exist.
    """
    chosen = chosen_dispatches(counters, choice)
    names = dict(counters.passes.select("pass", "name").iter_rows())
    rows: list[dict[str, Any]] = []
    for number, frame in counters.measured.items():
        selected_rows = frame.join(chosen.select("dispatch"), on="dispatch", how="semi")
        pass_counters = counters.counters.filter(pl.col("pass") == number)
        for (counter,), columns in pass_counters.group_by("counter", maintain_order=True):
            totals = columns.filter(pl.col("channel").is_null())["column"].to_list()
            channels = columns.filter(pl.col("channel").is_not_null())["column"].to_list()
            amount = pl.col(totals[0]) if totals else pl.sum_horizontal(channels, ignore_nulls=False)
            values = selected_rows.select(amount).to_series()
            rows.append(
                {
                    "counter": counter,
                    "pass": number,
                    "pass_name": names.get(number, ""),
                    "unit": unit_of(counter),
                    "channel_count": len(channels),
                    "dispatch_count": values.count(),
                    "total": values.sum() if values.count() and not is_ratio(counter) else None,
                    "mean": values.mean(),
                    "minimum": values.min(),
                    "maximum": values.max(),
                }
            )
    rows.sort(key=lambda row: (row["counter"], row["pass"]))
    return RawCounters(chosen.height, frame_of(RawCounters.tables["counters"], rows))
