"""Statistics of durations per group that can be taken of parts and put together, exactly.

Counts, sums and sums of squares are integers, so the result depends only on the values, never on how they were spread
over files or in which order they came. For quantiles every group keeps how often each value occurred: each distinct
value as it is while there are at most `EXACT_VALUES` of them, and else in buckets (see `_buckets`). A group has more
distinct values than any of its parts, so that which of the two it is does not depend on the parts either.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

from wavescope.analysis.profile._buckets import BUCKETS, bucket_number, bucket_value, bucket_width
from wavescope.model.schema import empty_frame, table_spec

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import polars as pl

__all__ = [
    "EXACT_VALUES",
    "LONGEST_NS",
    "Packed",
    "Statistics",
    "described",
    "is_timed",
    "merged",
    "merged_packed",
    "statistics_of",
]

EXACT_VALUES = 4096
"""Distinct values up to which quantiles are exact."""
LONGEST_NS = 1 << 52
"""Durations from here on (52 days) are damage: such calls count without time, as those that end before they begin."""

_SUMS = table_spec(
    "sums",
    "one group",
    """
    group     UInt32   -      | number of the group
    calls     Int64    -      | events
    timed     Int64    -      | events with a duration
    total     Int128   ns     | sum of the durations
    squares   Int128   ns2    | sum of their squares
    min       Int64    ns     | shortest
    max       Int64    ns     | longest
    bytes     Int128   bytes  | sum of the sizes; null = none is known
    is_exact  Boolean  -      | whether every distinct value is kept
    """,
)
_VALUES = table_spec(
    "values",
    "one value, or bucket of values, of a group",
    """
    group  UInt32  -   | number of the group
    value  Int64   ns  | the value, or the smallest of the bucket
    count  Int64   -   | how often it occurred
    """,
)
_MOST_PACKED = 1 << 48
_AT_ONCE = 16
_FIRST_ROWS, _MOST_ROWS = 1 << 16, 1 << 20
_PERMILLE = {"median_ns": 500, "p95_ns": 950, "p99_ns": 990}


@dataclass(frozen=True)
class Statistics:
    """Durations per group.

    Examples
    --------
    >>> merged([], ["name"]).sums.height
    0
    """

    keys: tuple[str, ...]
    sums: pl.DataFrame
    """One row per group: its keys and the columns of `_SUMS`."""
    values: pl.DataFrame
    """The columns of `_VALUES`."""

    def packed(self) -> Packed:
        """The same in little memory: parts of thousands of files wait for each other."""
        from io import BytesIO

        streams = [BytesIO(), BytesIO()]
        ordered = self.values.sort("group", "value")
        for frame, stream in zip((self.sums, ordered), streams, strict=True):
            frame.write_ipc(stream, compression="zstd")
        return Packed(self.keys, *(stream.getvalue() for stream in streams))


@dataclass(frozen=True)
class Packed:
    """`Statistics`, compressed."""

    keys: tuple[str, ...]
    sums: bytes
    values: bytes

    def unpacked(self) -> Statistics:
        """The statistics."""
        from io import BytesIO

        import polars as pl

        return Statistics(self.keys, pl.read_ipc(BytesIO(self.sums)), pl.read_ipc(BytesIO(self.values)))


def statistics_of(pieces: Iterable[pl.DataFrame], keys: Sequence[str]) -> Statistics:
    """Statistics of events in pieces with the columns `keys`, `begin_ns`, `end_ns` and perhaps `size_bytes`.

    Examples
    --------
    >>> import polars as pl
    >>> events = pl.DataFrame({"name": ["a", "a", "b"], "begin_ns": [0, 5, 9], "end_ns": [4, 7, 10]})
    >>> statistics_of([events], ["name"]).sums.sort("name").select("name", "calls", "total").rows()
    [('a', 2, 6), ('b', 1, 1)]
    """
    parts: list[Statistics] = []
    coarse: pl.DataFrame | None = None
    rows = _FIRST_ROWS
    for piece in pieces:
        begin = 0
        while begin < piece.height:
            # Small parts first: they tell which groups have so many values that the rest goes into buckets at once.
            part = _of_piece(piece.slice(begin, rows), keys, coarse)
            parts.append(part)
            begin, rows = begin + rows, min(2 * rows, _MOST_ROWS)
            if sum(each.values.height for each in parts) > _MOST_ROWS:
                parts = [merged(parts, keys)]
            coarse = _with_coarse(coarse, parts[-1])
    return merged(parts, keys)


def _with_coarse(coarse: pl.DataFrame | None, part: Statistics) -> pl.DataFrame | None:
    """The keys of groups with too many values, with those of one more part."""
    import polars as pl

    found = part.sums.filter(~pl.col("is_exact")).select(part.keys)
    if coarse is None or not found.height:
        return found if found.height else coarse
    return pl.concat([coarse, found]).unique()


def is_timed() -> pl.Expr:
    """Whether an event has a begin, an end after it, and a length that can be true.

    Examples
    --------
    >>> import polars as pl
    >>> pl.DataFrame({"begin_ns": [0, 5], "end_ns": [4, 2]}).select(is_timed()).to_series().to_list()
    [True, False]
    """
    import polars as pl

    length = pl.col("end_ns") - pl.col("begin_ns")  # of impossible times it may wrap around, and then is negative
    return (pl.col("end_ns") >= pl.col("begin_ns")) & length.is_between(0, LONGEST_NS, closed="left")


def merged_packed(parts: Sequence[Packed], keys: Sequence[str]) -> Statistics:
    """As `merged`, a few at a time.

    Examples
    --------
    >>> merged_packed([], ["name"]).sums.height
    0
    """
    whole = merged([], keys)
    for first in range(0, len(parts), _AT_ONCE):
        whole = merged([whole, *(part.unpacked() for part in parts[first : first + _AT_ONCE])], keys)
    return whole


def merged(parts: Sequence[Statistics], keys: Sequence[str]) -> Statistics:
    """The statistics of the groups of all parts together, by `keys`, which all parts have.

    Examples
    --------
    >>> merged([], ["name"]).keys
    ('name',)
    """
    import polars as pl

    if not parts:
        schema = dict.fromkeys(keys, pl.String) | _SUMS.dtypes
        return Statistics(tuple(keys), pl.DataFrame(schema=schema), empty_frame(_VALUES))
    first = 0
    sums, values = [], []
    for part in parts:
        if part.sums.height:
            sums.append(part.sums.select(*keys, *_SUMS.names).with_columns(pl.col("group") + pl.lit(first, pl.UInt32)))
            values.append(part.values.with_columns(pl.col("group") + pl.lit(first, pl.UInt32)))
            first += part.sums.height
    if not sums:
        return parts[0] if parts[0].keys == tuple(keys) else merged([], keys)
    all_sums, all_values = pl.concat(sums, how="vertical_relaxed"), pl.concat(values)
    if keys and not all_sums.select(pl.struct(keys).is_duplicated().any()).item():
        return Statistics(tuple(keys), all_sums, all_values)
    return _regrouped(all_sums, all_values, keys)


def described(statistics: Statistics) -> pl.DataFrame:
    """One row per group: its keys, calls, times and quantiles, unsorted.

    Columns: `calls`, `untimed_calls`, `total_ns`, `mean_ns`, `median_ns`, `p95_ns`, `p99_ns`, `min_ns`, `max_ns`,
    `stddev_ns` (of a sample; null for one call), `bytes_total`, `is_exact` (the quantiles).

    Examples
    --------
    >>> import polars as pl
    >>> events = pl.DataFrame({"name": ["a", "a"], "begin_ns": [0, 5], "end_ns": [4, 7]})
    >>> described(statistics_of([events], ["name"])).select("mean_ns", "median_ns", "stddev_ns").row(0)
    (3.0, 3.0, 1.4142135623730951)
    """
    import polars as pl

    sums = statistics.sums.with_columns(_deviation_and_mean(statistics.sums))
    sums = sums.join(_quantiles(statistics), on="group", how="left", maintain_order="left")
    return sums.select(
        *statistics.keys,
        "calls",
        untimed_calls=pl.col("calls") - pl.col("timed"),
        total_ns=pl.col("total").cast(pl.Int64, strict=False),
        mean_ns="mean",
        **{column: pl.col(column).clip(pl.col("min"), pl.col("max")) for column in _PERMILLE},
        min_ns="min",
        max_ns="max",
        stddev_ns="stddev",
        bytes_total=pl.col("bytes").cast(pl.Int64, strict=False),
        is_exact="is_exact",
    )


def _of_piece(piece: pl.DataFrame, keys: Sequence[str], coarse: pl.DataFrame | None) -> Statistics:
    """The statistics of one piece; groups with the keys `coarse` go into buckets at once."""
    import polars as pl

    duration = pl.col("end_ns") - pl.col("begin_ns")
    size = pl.col("size_bytes") if "size_bytes" in piece.columns else pl.lit(None, pl.Int64)
    coded = piece.select(*keys, pack=_packed(piece, keys), value=pl.when(is_timed()).then(duration), size=size)
    wide = pl.col("value").cast(pl.Int128)
    sums = coded.group_by("pack", maintain_order=True).agg(
        *(pl.col(key).first() for key in keys),
        calls=pl.len().cast(pl.Int64),
        timed=pl.col("value").count().cast(pl.Int64),
        total=wide.sum(),
        squares=(wide * wide).sum(),
        min=pl.col("value").min(),
        max=pl.col("value").max(),
        bytes=pl.when(pl.col("size").count() > 0).then(pl.col("size").cast(pl.Int128).sum()),
    )
    sums = sums.with_row_index("group")
    in_buckets = pl.Series([], dtype=pl.UInt64)
    if coarse is not None:
        in_buckets = sums.join(coarse, on=list(keys), how="semi", nulls_equal=True)["pack"]
    values = _counted(coded.select("pack", "value").drop_nulls("value"), in_buckets)
    values = values.join(sums.select("pack", "group"), on="pack").select(_VALUES.names)
    sums = sums.with_columns(is_exact=~pl.col("pack").is_in(in_buckets.implode()))
    return _limited(Statistics(tuple(keys), sums.select(*keys, *_SUMS.names), values), sums["group"].clear())


def _packed(piece: pl.DataFrame, keys: Sequence[str]) -> pl.Expr:
    """The keys of a row as one integer, for this piece only: grouping by one column is twice as fast."""
    import polars as pl

    packed, size = pl.lit(0, pl.UInt64), 1
    for key in keys:
        is_words = piece.schema[key] in (pl.String, pl.Boolean)
        number = pl.col(key).rank("dense") if is_words else pl.col(key).to_physical()
        low, high = piece.select(low=number.min(), high=number.max()).row(0)
        if low is None:
            continue
        span = int(high) - int(low) + 2
        if size * span >= _MOST_PACKED:  # not of numbers of rows: those are dense
            packed, size = packed.rank("dense").cast(pl.UInt64), piece.height + 1
            number, low, span = number.rank("dense"), 1, piece.height + 1
        code = (number.cast(pl.Int64) - int(low) + 1).fill_null(0).cast(pl.UInt64)
        packed, size = packed + code * pl.lit(size, pl.UInt64), size * span
    return packed


def _counted(coded: pl.DataFrame, coarse: pl.Series) -> pl.DataFrame:
    """How often each value (in the groups `coarse`: each bucket) occurs in each group."""
    import polars as pl

    if not coarse.len():
        return coded.group_by("pack", "value").agg(count=pl.len().cast(pl.Int64))
    in_buckets = coded.select(pl.col("pack").is_in(coarse.implode())).to_series()
    fine = coded.filter(~in_buckets).group_by("pack", "value").agg(count=pl.len().cast(pl.Int64))
    code = pl.col("pack") * BUCKETS + bucket_number("value").cast(pl.UInt64)
    runs = coded.filter(in_buckets).select(code=code)["code"].sort().rle()  # faster than a hash of so many groups
    buckets = runs.struct.unnest().select(code="value", count=pl.col("len").cast(pl.Int64))
    number = (pl.col("code") % BUCKETS).cast(pl.Int64)
    coarse_values = buckets.select(pack=pl.col("code") // BUCKETS, value=bucket_value(number), count="count")
    return pl.concat([fine, coarse_values])


def _regrouped(sums: pl.DataFrame, values: pl.DataFrame, keys: Sequence[str]) -> Statistics:
    """Groups with equal keys become one; too many distinct values become buckets."""
    import polars as pl

    together = (
        sums.group_by(*keys, maintain_order=True)
        .agg(
            pl.col("group").alias("old"),
            *(pl.col(name).sum() for name in ("calls", "timed", "total", "squares")),
            pl.col("min").min(),
            pl.col("max").max(),
            pl.when(pl.col("bytes").count() > 0).then(pl.col("bytes").sum()).alias("bytes"),
            pl.col("is_exact").all(),
            pl.col("is_exact").any().alias("has_exact"),
        )
        .with_row_index("group")
        if keys
        else _one_group(sums)
    )
    numbers = together.select(pl.col("group"), group_before="old").explode("group_before")
    moved = (
        values.rename({"group": "group_before"})
        .join(numbers, on="group_before")
        .group_by("group", "value")
        .agg(pl.col("count").sum())
    )
    mixed = together.filter(~pl.col("is_exact") & pl.col("has_exact"))["group"]
    whole = Statistics(tuple(keys), together.select(*keys, *_SUMS.names), moved.select(_VALUES.names))
    return _limited(whole, mixed)


def _limited(statistics: Statistics, mixed: pl.Series) -> Statistics:
    """Groups with too many distinct values get buckets, and so do those in `mixed`, which are in buckets partly."""
    import polars as pl

    sums, values = statistics.sums, statistics.values
    if values.height <= EXACT_VALUES and not mixed.len():
        return statistics
    counts = values.group_by("group").len()
    exact = sums.filter("is_exact")["group"].implode()
    many = counts.filter((pl.col("len") > EXACT_VALUES) & pl.col("group").is_in(exact))["group"]
    if not many.len() and not mixed.len():
        return statistics
    to_bucket = pl.col("group").is_in(pl.concat([many, mixed]).implode())
    bucket = pl.when(to_bucket).then(bucket_value(bucket_number("value"))).otherwise("value")
    fewer = values.group_by("group", bucket.alias("value")).agg(pl.col("count").sum())
    return Statistics(statistics.keys, sums.with_columns(pl.col("is_exact") & ~to_bucket), fewer)


def _one_group(sums: pl.DataFrame) -> pl.DataFrame:
    """All groups as one."""
    import polars as pl

    return sums.select(
        pl.lit(0, pl.UInt32).alias("group"),
        pl.col("group").implode().alias("old"),
        *(pl.col(name).sum() for name in ("calls", "timed", "total", "squares")),
        pl.col("min").min(),
        pl.col("max").max(),
        pl.when(pl.col("bytes").count() > 0).then(pl.col("bytes").sum()).alias("bytes"),
        pl.col("is_exact").all(),
        pl.col("is_exact").any().alias("has_exact"),
    )


def _deviation_and_mean(sums: pl.DataFrame) -> Iterable[pl.Series]:
    """Mean and sample deviation, from integers of any size: one row per group, so that Python does it."""
    import polars as pl

    rows = sums.select("timed", "total", "squares").rows()
    yield pl.Series("mean", [total / n if n else None for n, total, _ in rows], dtype=pl.Float64)
    deviations = [sqrt((n * squares - total * total) / (n * (n - 1))) if n > 1 else None for n, total, squares in rows]
    yield pl.Series("stddev", deviations, dtype=pl.Float64)


def _quantiles(statistics: Statistics) -> pl.DataFrame:
    """The quantiles of every group, between the two nearest values where one falls between them."""
    import polars as pl

    half = pl.when("is_exact").then(0.0).otherwise(bucket_width("value") / 2 - 0.5)
    placed = (
        statistics.values.join(statistics.sums.select("group", "is_exact"), on="group")
        .select("group", "count", "value", middle=pl.col("value") + half)
        .sort("group", "value")
    )
    groups = placed.group_by("group", maintain_order=True).agg(n=pl.col("count").sum())
    groups = groups.with_columns(first=pl.col("n").cum_sum() - pl.col("n"))
    after, middle = placed["count"].cum_sum(), placed["middle"]

    def at(thousandths: pl.Expr) -> pl.Series:
        places = groups.select(pl.col("first") + thousandths // 1000).to_series()
        return middle.gather(after.search_sorted(places, side="right"))

    found = []
    for column, permille in _PERMILLE.items():
        rank = (pl.col("n") - 1) * permille
        low, high = at(rank), at(rank + 999)
        found.append((low + (high - low) * groups.select(rank % 1000 / 1000).to_series()).alias(column))
    return groups.select("group").with_columns(found)
