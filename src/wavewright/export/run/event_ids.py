"""Ids of events in a written file: the recorded ones if they are unique in their run, else new ones."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

#: Tables whose rows are events, in the order in which they are written.
EVENT_TABLES = ("regions", "samples", "dispatches", "copies", "allocations")
#: Tables whose rows refer to an event -> the table that owns it, where ids alone are ambiguous.
_OWNERS = {"arguments": "regions", "frames": "regions", "counters": "dispatches"}


class EventIds:
    """The ids of one run; `events` are the recorded ids of each table, in the order in which they will be written."""

    def __init__(self, events: Mapping[str, pl.Series]) -> None:
        recorded = {table: series.drop_nulls() for table, series in events.items()}
        together = pl.concat([pl.Series([], dtype=pl.Int64), *recorded.values()])
        is_sound = together.n_unique() == len(together) and int(_least(together)) > 0
        self._shifts: dict[str, int] = {}
        self._firsts: dict[str, pl.Series] = {}
        self._places = dict.fromkeys(events, 0)
        highest = 0 if not is_sound else int(_most(together))
        for table, series in recorded.items():
            self._shifts[table] = 0
            if not is_sound and len(series):
                self._shifts[table] = highest + 1 - int(_least(series))
                highest += 1 + int(_most(series)) - int(_least(series))
                if series.n_unique() < len(series):
                    self._firsts[table] = events[table].is_first_distinct()
        self._next = highest + 1

    def of(self, table: str, events: pl.Series) -> pl.Series:
        """The ids of the next rows of a table."""
        ids = events + self._shifts.get(table, 0)
        first = self._firsts.get(table)
        if first is not None:
            begin = self._places[table]
            self._places[table] = begin + len(events)
            ids = ids.set(~first.slice(begin, len(events)), None)
        missing = ids.is_null()
        count = int(missing.sum())
        if not count:
            return ids
        new = missing.cast(pl.Int64).cum_sum() + (self._next - 1)
        self._next += count
        return pl.select(pl.when(missing).then(new).otherwise(ids)).to_series()

    def referred(self, table: str, events: pl.Series) -> pl.Series:
        """The ids of the events that rows of another table refer to."""
        return events + self._shifts.get(_OWNERS[table], 0)


def _least(series: pl.Series) -> int:
    least = series.min()
    return least if isinstance(least, int) else 1


def _most(series: pl.Series) -> int:
    most = series.max()
    return most if isinstance(most, int) else 0
