"""Statistics of durations per group, made of parts that merge exactly.

Counts, sums and sums of squares are integers, so the result depends on the values only, not on how they were spread
over files. For quantiles every group counts its distinct values while there are at most `EXACT_VALUES`, and else values
in buckets (`bucket_width`); a group has at least as many distinct values as its parts, so this does not depend on them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import BytesIO
from math import sqrt

import polars as pl

from wavewright import _core
from wavewright.model.run_tables import LONGEST_NS
from wavewright.model.schema import empty_frame, packaged_spec

EXACT_VALUES = 4096  #: Distinct values up to which quantiles are exact: `ValueCounts::most_exact` of the native core.
_SUMS = packaged_spec(__package__, "sums")
_VALUES = packaged_spec(__package__, "values")
_AT_ONCE = 16  #: At most so many packed parts are unpacked at a time.
_PERMILLE = {"median_ns": 500, "p95_ns": 950, "p99_ns": 990}  #: Quantile -> its rank in thousandths.


@dataclass(frozen=True, eq=False, repr=False)
class Statistics:
    """Durations per group."""

    keys: tuple[str, ...]
    sums: pl.DataFrame  #: One row per group: its keys and the columns of `_SUMS`.
    values: pl.DataFrame  #: The columns of `_VALUES`, sorted by group and value.

    def packed(self) -> PackedDurations:
        """The statistics in little memory: parts of thousands of files wait for each other."""
        streams = [BytesIO(), BytesIO()]
        for frame, stream in zip((self.sums, self.values), streams, strict=True):
            frame.write_ipc(stream, compression="zstd")
        return PackedDurations(self.keys, *(stream.getvalue() for stream in streams))


@dataclass(frozen=True)
class PackedDurations:
    """`Statistics`, compressed."""

    keys: tuple[str, ...]
    sums: bytes
    values: bytes

    def unpacked(self) -> Statistics:
        """The statistics."""
        return Statistics(self.keys, pl.read_ipc(BytesIO(self.sums)), pl.read_ipc(BytesIO(self.values)))


def statistics_of(pieces: Iterable[pl.DataFrame], keys: Sequence[str]) -> Statistics:
    """Statistics of events in chunks with the columns `keys`, `start_ns`, `end_ns` and perhaps `size_bytes`.

    >>> events = pl.DataFrame({"name": ["a", "a", "b"], "start_ns": [0, 5, 9], "end_ns": [4, 7, 10]})
    >>> statistics_of([events], ["name"]).sums.sort("name").select("name", "calls", "total").rows()
    [('a', 2, 6), ('b', 1, 1)]
    """
    native = _core.DurationStatistics(len(keys), LONGEST_NS)
    firsts = []
    moved = []
    for piece in pieces:
        size = piece["size_bytes"].cast(pl.Int64) if "size_bytes" in piece.columns else None
        begin, end = (piece[name].cast(pl.Int64) for name in ("start_ns", "end_ns"))
        rows = native.add([_code(piece[key]) for key in keys], begin, end, size)
        if size is not None:
            moved.append(_moved(piece, keys))
        if len(rows):
            firsts.append(piece.select(keys)[pl.DataFrame(rows)["row"]])
    if not firsts:
        return merged([], keys)
    groups = pl.concat(firsts, how="vertical_relaxed")
    sums = _with_moved(_with_sums(groups, pl.DataFrame(native.sums())), moved, keys)
    return Statistics(tuple(keys), sums, pl.DataFrame(native.values()))


_MOVED = ("sized", "moved", "moving")


def _moved(piece: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Per group: sizes and durations of the events that have both, so that a rate divides what belongs together."""
    sized = piece.filter(pl.col("size_bytes") > 0)
    return sized.group_by(keys).agg(
        sized=pl.len().cast(pl.Int64),
        moved=pl.col("size_bytes").filter(is_timed()).cast(pl.Int128).sum(),
        moving=(pl.col("end_ns") - pl.col("start_ns")).filter(is_timed()).cast(pl.Int128).sum(),
    )


def _with_moved(sums: pl.DataFrame, moved: Sequence[pl.DataFrame], keys: Sequence[str]) -> pl.DataFrame:
    """The sums with those of `_moved`; 0 where no event has a size."""
    if not moved:
        nothing = (pl.lit(0, _SUMS.dtypes[name]).alias(name) for name in _MOVED)
        return sums.with_columns(nothing).select(*keys, *_SUMS.names)
    totals = pl.concat(moved, how="vertical_relaxed").group_by(keys).agg(pl.col(_MOVED).sum())
    joined = sums.join(totals, on=keys, how="left", nulls_equal=True, maintain_order="left")
    return joined.with_columns(pl.col(_MOVED).fill_null(0)).select(*keys, *_SUMS.names)


def _code(key: pl.Series) -> pl.Series:
    """A number for each value of a key, the same in all chunks."""
    if key.dtype == pl.UInt32:
        return key
    named = key if key.dtype == pl.Categorical else key.cast(pl.String).cast(pl.Categorical)
    return named.to_physical().cast(pl.UInt32)


def _with_sums(keys: pl.DataFrame, sums: pl.DataFrame) -> pl.DataFrame:
    """The keys with the columns of `_SUMS`, from the columns of the native core."""

    def wide(name: str) -> pl.Expr:
        return pl.col(f"{name}_high").cast(pl.Int128) * (1 << 64) + pl.col(f"{name}_low").cast(pl.Int128)

    is_timed = pl.col("timed") > 0
    columns = sums.select(
        pl.int_range(pl.len(), dtype=pl.UInt32).alias("group"),
        "calls",
        "timed",
        total=wide("total"),
        squares=wide("squares"),
        min=pl.when(is_timed).then("min"),
        max=pl.when(is_timed).then("max"),
        bytes=pl.when(pl.col("sized") > 0).then(wide("bytes")),
        is_exact=pl.col("is_exact") > 0,
    )
    return keys.hstack(columns)


def is_timed() -> pl.Expr:
    """True if an event has a start, an end after it, and a plausible length."""
    length = pl.col("end_ns") - pl.col("start_ns")  # of impossible times it may wrap around, and then is negative
    return (pl.col("end_ns") >= pl.col("start_ns")) & length.is_between(0, LONGEST_NS, closed="left")


def merged_packed(parts: Sequence[PackedDurations], keys: Sequence[str]) -> Statistics:
    """The statistics of all parts together, as `merged`; few of them are unpacked at a time."""
    statistics = merged([], keys)
    for first in range(0, len(parts), _AT_ONCE):
        statistics = merged([statistics, *(part.unpacked() for part in parts[first : first + _AT_ONCE])], keys)
    return statistics


def merged(parts: Sequence[Statistics], keys: Sequence[str]) -> Statistics:
    """The statistics of the groups of all parts together, by `keys`, which all parts have."""
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
    `stddev_ns` (of a sample; null for one call), `bytes_total`, `sized_calls`, `bytes_per_second` (over calls that
    have a size), `is_exact` (the quantiles).

    >>> events = pl.DataFrame({"name": ["a", "a"], "start_ns": [0, 5], "end_ns": [4, 7]})
    >>> described(statistics_of([events], ["name"])).select("mean_ns", "median_ns", "stddev_ns").row(0)
    (3.0, 3.0, 1.4142135623730951)
    """
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
        sized_calls="sized",
        bytes_per_second=pl.when(pl.col("moving") > 0).then(
            pl.col("moved").cast(pl.Float64) / pl.col("moving").cast(pl.Float64) * 1e9
        ),
        is_exact="is_exact",
    )


def _regrouped(sums: pl.DataFrame, values: pl.DataFrame, keys: Sequence[str]) -> Statistics:
    """Groups with equal keys become one; too many distinct values become buckets."""
    together = (
        (sums.group_by(*keys, maintain_order=True) if keys else sums.group_by(pl.lit(0).alias("all")))
        .agg(
            pl.col("group").alias("old"),
            *(pl.col(name).sum() for name in ("calls", "timed", "total", "squares", *_MOVED)),
            pl.col("min").min(),
            pl.col("max").max(),
            pl.when(pl.col("bytes").count() > 0).then(pl.col("bytes").sum()).alias("bytes"),
            pl.col("is_exact").all(),
        )
        .with_row_index("group")
    )
    new_groups = together.select("group", "old").explode("old").sort("old")["group"]
    in_buckets = together.select((~pl.col("is_exact")).cast(pl.UInt8)).to_series()
    group = new_groups.gather(values["group"])
    fewer, is_exact = _core.regrouped_values(group, values["value"], values["count"], in_buckets)
    together = together.with_columns(pl.DataFrame(is_exact)["is_exact"] > 0)
    return Statistics(tuple(keys), together.select(*keys, *_SUMS.names), pl.DataFrame(fewer))


def _deviation_and_mean(sums: pl.DataFrame) -> Iterable[pl.Series]:
    """Mean and sample deviation, from integers of any size: one row per group, so that Python does it."""
    rows = sums.select("timed", "total", "squares").rows()
    yield pl.Series("mean", [total / n if n else None for n, total, _ in rows], dtype=pl.Float64)
    deviations = [sqrt((n * squares - total * total) / (n * (n - 1))) if n > 1 else None for n, total, squares in rows]
    yield pl.Series("stddev", deviations, dtype=pl.Float64)


def _quantiles(statistics: Statistics) -> pl.DataFrame:
    """The quantiles of every group, between the two nearest values where one falls between them."""
    half = pl.when("is_exact").then(0.0).otherwise(bucket_width("value") / 2 - 0.5)
    is_exact = statistics.sums.select("group", "is_exact")
    placed = statistics.values.join(is_exact, on="group", maintain_order="left")
    placed = placed.select("group", "count", middle=pl.col("value") + half)
    groups = placed.group_by("group", maintain_order=True).agg(total=pl.col("count").sum())
    counts, after, middle = groups["total"], placed["count"].cum_sum(), placed["middle"]
    first = counts.cum_sum() - counts  # values of the groups before

    def at(thousandths: pl.Series) -> pl.Series:
        """The value of a rank (counted from 0, in thousandths, rounded down) in each group."""
        return middle.gather(after.search_sorted(first + thousandths // 1000, side="right"))

    quantiles = []
    for column, permille in _PERMILLE.items():
        rank = (counts - 1) * permille
        low, high = at(rank), at(rank + 999)
        quantiles.append((low + (high - low) * (rank % 1000 / 1000)).alias(column))
    return groups.select("group").with_columns(quantiles)


_KEPT_BITS = 9  #: Leading bits of a value that tell its bucket.
#: Largest error of a value that is read as the middle of its bucket, as a share of it.
QUANTILE_ERROR = 2.0**-_KEPT_BITS


def bucket_width(value: str) -> pl.Expr:
    """Number of values in the bucket of a value."""
    dropped_bits = (64 - _KEPT_BITS - pl.col(value).bitwise_leading_zeros().cast(pl.Int64)).clip(0, None)
    return pl.lit(pl.Series([1 << n for n in range(63)], dtype=pl.Int64)).gather(dropped_bits)
