"""From events with ids to tables of a run: row numbers, links, checked times, types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from wavewright.model.losses import Loss
from wavewright.model.run_tables import LONGEST_NS, RUN

RECORDING_PREFIX = "recording "  #: How the guid of one of several recordings in a file begins, before its number.


def numbered(frames: Iterable[pl.DataFrame], keys: Sequence[str], number: str) -> pl.DataFrame:
    """One row per different value of the columns `keys`, in the order of their values, numbered from 0.

    Frames without one of the columns and rows without a value of the last key add nothing.

    >>> import polars as pl
    >>> numbered([pl.DataFrame({"tid": [7, 3, 7]})], ["tid"], "thread").rows()
    [(0, 3), (1, 7)]
    """
    parts = [frame.select(keys).unique() for frame in frames if set(keys) <= set(frame.columns)]
    if not parts:
        return pl.DataFrame(schema={number: pl.UInt32, **dict.fromkeys(keys, pl.Int64)})
    key_rows = pl.concat(parts, how="vertical_relaxed").unique().drop_nulls(keys[-1]).sort(keys)
    return key_rows.with_row_index(number)


def link(frame: pl.DataFrame, table: pl.DataFrame, keys: Sequence[str], number: str) -> pl.DataFrame:
    """`frame` with the column `number` of the row of `table` that has the same `keys`; null where there is none."""
    if not set(keys) <= set(frame.columns):
        return frame.with_columns(pl.lit(None, pl.UInt32).alias(number))
    return frame.join(table.select(number, *keys), on=list(keys), how="left", maintain_order="left")


def with_numbers(events: Mapping[str, pl.DataFrame], tables: dict[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """The events with the row numbers of their threads, queues and streams, which are added to `tables`.

    The events name them by `process` and `tid`, `queue_id` or `stream_id`. Calls of the threads 9 and 7, for example,
    get the numbers 1 and 0, and `tables["threads"]` has the rows 7 and 9.
    """
    linked = dict(events)
    for name, key, number in _NUMBERED:
        tables[name] = numbered(linked.values(), ["process", key], number)
        linked = {kind: link(frame, tables[name], ["process", key], number) for kind, frame in linked.items()}
    return linked


_NUMBERED = (("threads", "tid", "thread"), ("queues", "queue_id", "queue"), ("streams", "stream_id", "stream"))


def shaped(frame: pl.DataFrame, table: str, columns: Sequence[str]) -> pl.DataFrame:
    """These columns of a table of a run, in its types; null where the format has nothing."""
    dtypes = RUN[table].dtypes
    return frame.with_columns(
        pl.col(name).cast(dtypes[name]) if name in frame.columns else pl.lit(None, dtypes[name]).alias(name)
        for name in columns
    ).select(columns)


def finished(tables: Mapping[str, pl.DataFrame], losses: list[Loss]) -> dict[str, pl.DataFrame]:
    """The tables with the columns that a run has, in its types; impossible ends of events become losses."""
    run_tables = {}
    for name, table in tables.items():
        frame, schema = table, RUN[name].dtypes
        if {"start_ns", "end_ns"} <= set(schema) & set(frame.columns) and name != "processes":
            ends, unsound = sound_ends(frame["start_ns"], frame["end_ns"])
            losses += [Loss(kind, count, detail=name) for kind, count in unsound.items()]
            frame = frame.with_columns(ends.alias("end_ns"))
        present = {column: dtype for column, dtype in schema.items() if column in frame.columns}
        run_tables[name] = frame.select(pl.col(column).cast(dtype) for column, dtype in present.items())
    return run_tables


# --- checked ends of events: never before the start, never missing, never beyond the range of a clock ---


def sound_ends(begins: pl.Series, ends: pl.Series) -> tuple[pl.Series, dict[str, int]]:
    """The ends, replaced by the starts where they are unsound; and the number of unsound ends by kind of loss.

    An end that is missing or 0 is an event that did not finish.
    """
    if _all_sound(begins, ends):
        return ends, {}
    frame = pl.select(begin=begins, end=ends)
    begin, end = pl.col("begin"), pl.col("end")
    is_open = end.is_null() | ((end == 0) & (begin != 0)).fill_null(value=False)
    is_backward = ~is_open & (end < begin).fill_null(value=False)
    # A difference beyond 64 bits comes out negative.
    is_long = ((end - begin) >= LONGEST_NS) | ((end - begin) < 0)
    is_beyond = ~is_open & ~is_backward & is_long.fill_null(value=False)
    rows = frame.select(
        pl.when(is_open | is_backward | is_beyond).then(begin).otherwise(end).alias("end"),
        backward_times=is_backward,
        unfinished_events=is_open,
        overflowing_times=is_beyond,
    )
    losses = {name: int(rows[name].sum()) for name in rows.columns[1:]}
    return rows["end"], {name: count for name, count in losses.items() if count}


def _all_sound(begins: pl.Series, ends: pl.Series) -> bool:
    """True if nothing is unsound, which is usual and quickly seen."""
    if begins.null_count() or ends.null_count() or not len(ends) or int(ends.min()) <= 0:  # type: ignore[arg-type]
        return False
    lengths = ends - begins  # of ends above 0 it only wraps around when it is far too long, and then is negative
    return int(lengths.min()) >= 0 and int(lengths.max()) < LONGEST_NS  # type: ignore[arg-type]


# --- from ids to rows: ids of a stored table ascend, and usually follow each other, so that no hash table is needed ---


@dataclass(frozen=True, eq=False, repr=False)
class Lookup:
    """Finds rows of a table by their ids; see `LookupBuilder`."""

    first: int
    count: int
    ids: pl.Series | None = None  #: The ids in ascending order; None = consecutive from `first`.
    order: pl.Series | None = None  #: The row of each of `ids`; None = the rows are in this order.

    @classmethod
    def of(cls, ids: pl.Series) -> Lookup:
        """A lookup by these ids, one per row; of equal ids the first row is found."""
        builder = LookupBuilder()
        builder.add(ids)
        return builder.done()

    def rows(self, keys: pl.Series) -> pl.Series:
        """The row of each key, as UInt32; null where the key is null or no row has it."""
        if self.ids is None:
            rows = (keys - self.first).cast(pl.UInt32, strict=False)  # negative numbers and overflows become null
            is_beyond = rows >= self.count
            return rows.set(is_beyond, None) if is_beyond.any() else rows
        places = self.ids.search_sorted(keys.fill_null(self.first), side="left").clip(upper_bound=self.count - 1)
        is_known = pl.lit(self.ids.gather(places) == keys)
        rows = pl.select(pl.when(is_known).then(pl.lit(places)).cast(pl.UInt32)).to_series()
        return rows if self.order is None else self.order.gather(rows)


@dataclass
class LookupBuilder:
    """Makes a `Lookup` from pieces of a column of ids; consecutive ids are not stored."""

    _first: int = 0
    _count: int = 0
    _parts: list[pl.Series] = field(default_factory=list)  #: All ids so far; empty = consecutive from `_first`.

    def add(self, ids: pl.Series) -> None:
        """The ids of the next rows."""
        if not len(ids):
            return
        if not self._count:
            self._first = ids[0] if ids[0] is not None else 0
        begin = self._first + self._count
        if not self._parts and not (ids == pl.int_range(begin, begin + len(ids), eager=True)).all(ignore_nulls=False):
            self._parts.append(pl.int_range(self._first, begin, eager=True))
        if self._parts:
            self._parts.append(ids)
        self._count += len(ids)

    def done(self) -> Lookup:
        """The lookup by all of these ids."""
        if not self._parts:
            return Lookup(self._first, self._count)
        ids = pl.concat(self._parts, rechunk=True)
        if ids.null_count() == 0 and ids.is_sorted():
            return Lookup(ids[0], self._count, ids)
        rows = pl.select(id=ids, row=pl.int_range(len(ids), dtype=pl.UInt32)).drop_nulls("id").sort("id", "row")
        return Lookup(rows["id"][0], rows.height, rows["id"], rows["row"]) if rows.height else Lookup(0, 0)
