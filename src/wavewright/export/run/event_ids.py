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
        all_ids = pl.concat([pl.Series([], dtype=pl.Int64), *recorded.values()])
        are_usable = all_ids.n_unique() == len(all_ids) and int(_least(all_ids)) > 0  # unique and positive
        self._shifts: dict[
            str, int
        ] = {}  # table -> what is added to its ids; not 0 only if the recorded ids are not usable
        self._firsts: dict[str, pl.Series] = {}  # table with repeated ids -> is a row the first with its id?
        self._row_counts = dict.fromkeys(events, 0)  # table -> rows whose ids were asked for so far
        highest = 0 if not are_usable else int(_most(all_ids))
        for table, series in recorded.items():
            self._shifts[table] = 0
            if not are_usable and len(series):
                self._shifts[table] = highest + 1 - int(_least(series))
                highest += 1 + int(_most(series)) - int(_least(series))
                if series.n_unique() < len(series):
                    self._firsts[table] = events[table].is_first_distinct()
        self._next = highest + 1

    def of(self, table: str, events: pl.Series) -> pl.Series:
        """The ids of the next rows of a table; call it in the order of the rows."""
        ids = events + self._shifts.get(table, 0)
        first = self._firsts.get(table)
        if first is not None:
            begin = self._row_counts[table]
            self._row_counts[table] = begin + len(events)
            ids = ids.set(~first.slice(begin, len(events)), None)  # repeated ids are missing: they get new ones
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
