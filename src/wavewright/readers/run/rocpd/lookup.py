"""From ids to rows: ids of a stored table ascend, and usually follow each other, so that no hash table is needed."""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl


@dataclass(frozen=True)
class Lookup:
    """Finds rows of a table by their ids; see `LookupBuilder`."""

    first: int
    count: int
    ids: pl.Series | None = None  #: The ids in ascending order; None = they follow each other from `first`.
    order: pl.Series | None = None  #: The row of each of them; None = the same order.

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
    """Makes a `Lookup` from pieces of a column of ids; ids that follow each other need no memory."""

    _first: int = 0
    _count: int = 0
    _parts: list[pl.Series] = field(default_factory=list)  #: The ids so far; empty = they follow each other.

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
