"""The measured counters, their passes, and their amounts over the chosen dispatches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl

from wavewright.analysis.counters.choice import ALL_DISPATCHES, CounterChoice, chosen_dispatches
from wavewright.facts.metrics.profiler_units import is_ratio, unit_of
from wavewright.model.answer import Answer
from wavewright.model.schema import frame_of, table_spec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wavewright.model.counters import CounterSet
    from wavewright.model.schema import TableSpec


@dataclass(frozen=True)
class RawCounters(Answer):
    """Counters as they were measured, before any formula."""

    definition: ClassVar[str] = (
        "Amounts per dispatch as the files give them. A counter that several passes measured has a row for each of "
        "them: passes are different executions and are not added up. Channels without a sum in the file are added up; "
        "ratios that the profiler derived have no total."
    )
    tables: ClassVar[Mapping[str, TableSpec]] = {
        "counters": table_spec(
            "counters",
            "one counter of one pass",
            """
            counter         String   -  | name, without _sum and channel
            pass            UInt32   -  | passes.pass
            pass_name       String   -  | name of the pass
            unit            String   -  | of counters that the profiler derives: KiB, %, cycles; empty = events
            channel_count   UInt32   -  | channels that were measured one by one
            dispatch_count  UInt32   -  | chosen dispatches that have a value
            total           Float64  -  | sum over them; null = no dispatch has a value, or a ratio
            mean            Float64? -  | mean over the dispatches
            minimum         Float64? -  | smallest value of a dispatch
            maximum         Float64? -  | largest value of a dispatch
            """,
        ),
    }

    dispatch_count: int  #: Chosen dispatches.
    counters: pl.DataFrame


def raw_counters(counters: CounterSet, *, choice: CounterChoice = ALL_DISPATCHES) -> RawCounters:
    """All counters of the capture, in the order of their names and passes.

    Raises
    ------
    UsageError
        When the choice does not exist.
    """
    chosen = chosen_dispatches(counters, choice)
    names = dict(counters.passes.select("pass", "name").iter_rows())
    rows: list[dict[str, Any]] = []
    for number, frame in counters.measured.items():
        selected_rows = frame.join(chosen.select("dispatch"), on="dispatch", how="semi")
        listed = counters.counters.filter(pl.col("pass") == number)
        for (counter,), columns in listed.group_by("counter", maintain_order=True):
            totals = columns.filter(pl.col("channel").is_null())["column"].to_list()
            channels = columns.filter(pl.col("channel").is_not_null())["column"].to_list()
            values = (
                selected_rows[totals[0]]
                if totals
                else selected_rows.select(pl.sum_horizontal(channels, ignore_nulls=False)).to_series()
            )
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
