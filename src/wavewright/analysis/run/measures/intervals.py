"""Interval arithmetic per group: union length, gaps, covered time before a point.

Frames of intervals have `start_ns` and `end_ns` beside the columns `by` of their group. All functions sort once and are
linear after that. Intervals without a begin or an end do not count; those that end before they begin, or last longer
than can be true, have no length.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from wavewright.analysis.run.measures.statistics import is_timed

#: Times beyond this (73 years) are damage: they are moved here and have no length, so that no sum overflows.
FARTHEST_NS = 1 << 61


def intervals(frame: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """The frame sorted by group and time, without rows that have no start or end, and without impossible lengths.

    >>> intervals(pl.DataFrame({"start_ns": [5, 1, None], "end_ns": [4, 2, 9]}), [])["end_ns"].to_list()
    [2, 5]
    """
    rows = frame
    if frame["start_ns"].null_count() or frame["end_ns"].null_count():
        rows = frame.filter(pl.col("start_ns").is_not_null() & pl.col("end_ns").is_not_null())
    begin = pl.col("start_ns").clip(-FARTHEST_NS, FARTHEST_NS)
    end = pl.when(is_timed(), pl.col("start_ns") == begin).then("end_ns").otherwise(begin)
    return in_order(rows.with_columns(begin, end.alias("end_ns")), by)


def in_order(frame: pl.DataFrame, by: Sequence[str], time: str = "start_ns") -> pl.DataFrame:
    """The frame sorted by group and time; rows of equal time stay in their order.

    One sort by one column and a division into groups: a sort by several columns takes several times as long.
    """
    ordered = frame if frame[time].is_sorted() else frame.sort(time, maintain_order=True)
    if not by or not frame.height:
        return ordered
    groups = ordered.partition_by(by, maintain_order=True, as_dict=True)
    keys = sorted(groups, key=lambda key: [(value is None, value) for value in key])
    return pl.concat([groups[key] for key in keys]) if len(keys) > 1 else ordered


def merged(frame: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """The union of sorted `intervals`: intervals that neither overlap nor touch; empty ones are left out.

    >>> merged(pl.DataFrame({"start_ns": [0, 2, 9], "end_ns": [3, 5, 12]}), []).rows()
    [(0, 5), (9, 12)]
    """
    lengthy = frame.select(*by, "start_ns", "end_ns").filter(pl.col("end_ns") > pl.col("start_ns"))
    if not lengthy.height:
        return lengthy
    groups = _groups(lengthy, by)
    latest = pl.col("end_ns").cum_max()
    is_first = (pl.col("start_ns") > _reached(groups)).fill_null(value=True)
    marked = lengthy.with_columns(is_first=is_first, end_ns=latest.over(groups) if groups else latest)
    is_last = pl.col("is_first").shift(-1, fill_value=True)
    return marked.select(pl.col(*by, "start_ns").filter("is_first"), pl.col("end_ns").filter(is_last))


def covered(frame: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """Time with at least one of the sorted `intervals` of each group, as `covered_ns`, in the order of the groups.

    >>> covered(pl.DataFrame({"gpu": [0, 0], "start_ns": [0, 2], "end_ns": [3, 5]}), ["gpu"]).rows()
    [(0, 5)]
    """
    new = (pl.col("end_ns") - pl.max_horizontal("start_ns", _reached(()))).clip(lower_bound=0)
    if not by:
        return frame.select(covered_ns=new.sum())
    return frame.group_by(by, maintain_order=True).agg(covered_ns=new.sum())


def gaps_between(frame: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """The gaps between sorted `intervals` of a group, as `gap_start_ns` and `gap_ns`, each on the row that ends it;
    all other columns are kept.

    >>> gaps_between(pl.DataFrame({"start_ns": [0, 2, 9], "end_ns": [3, 5, 12]}), []).rows()
    [(9, 12, 5, 4)]
    """
    reached = frame.with_columns(gap_start_ns=_reached(_groups(frame, by)))
    gaps = reached.filter(pl.col("start_ns") > pl.col("gap_start_ns"))
    return gaps.with_columns(gap_ns=pl.col("start_ns") - pl.col("gap_start_ns"))


def covered_before(merged_intervals: pl.DataFrame, points: pl.DataFrame, by: Sequence[str]) -> pl.Series:
    """Covered time of the `merged` intervals of its group before each point of `time_ns`, in the order of `points`.

    >>> whole = pl.DataFrame({"start_ns": [0, 9], "end_ns": [5, 12]})
    >>> covered_before(whole, pl.DataFrame({"time_ns": [-1, 3, 8, 10, 99]}), []).to_list()
    [0, 3, 5, 6, 8]
    """
    length = pl.col("end_ns") - pl.col("start_ns")
    sums = length.cum_sum().over(by) if by else length.cum_sum()
    steps = merged_intervals.with_columns(before_ns=sums - length).sort("start_ns")
    matches = (
        points.with_row_index("point")
        .sort("time_ns")
        .join_asof(
            steps,
            left_on="time_ns",
            right_on="start_ns",
            by=list(by) or None,
            strategy="backward",
            check_sortedness=False,
        )
    )
    begun = pl.min_horizontal("time_ns", "end_ns") - pl.col("start_ns")
    return matches.select("point", ns=(pl.col("before_ns") + begun).fill_null(0)).sort("point")["ns"]


def time_within(merged_intervals: pl.DataFrame, windows: pl.DataFrame, by: Sequence[str]) -> pl.Series:
    """Time of each window (`start_ns`, `end_ns`) that the `merged` intervals of its group cover."""
    if not merged_intervals.height or not windows.height:
        return pl.repeat(0, windows.height, dtype=pl.Int64, eager=True)
    edges = (windows.select(*by, time_ns=name) for name in ("start_ns", "end_ns"))
    begins, ends = (covered_before(merged_intervals, times, by) for times in edges)
    return ends - begins


def bin_width(start_ns: int, end_ns: int, count: int) -> int:
    """The smallest power of two so that at most `count` bins of this width, at multiples of it, contain [start, end).

    Bins of two files on one clock are then the same, or those of one divide those of the other. Time 0 always ends a
    bin, so times on both sides of it take two, whatever `count` says.

    >>> bin_width(1_000, 2_000, 10)
    128
    >>> bin_width(-1_000, 2_000, 1)
    2048
    """
    last_ns = max(start_ns, end_ns - 1)
    most = max(count, 2 if start_ns < 0 <= last_ns else 1)
    width = 1
    while last_ns // width - start_ns // width + 1 > most:
        width *= 2
    return width


def covered_per_bin(
    merged_intervals: pl.DataFrame, by: Sequence[str], start_ns: int, end_ns: int, width: int
) -> pl.DataFrame:
    """Covered time of each bin of `width` by the `merged` intervals of every group; bins at 0 are left out.

    `bin` counts the multiples of `width` from time 0 of the clock.

    >>> covered_per_bin(pl.DataFrame({"start_ns": [3], "end_ns": [9]}), [], 3, 9, 4).rows()
    [(0, 1), (1, 4), (2, 1)]
    """
    first, last = start_ns // width, max(start_ns, end_ns - 1) // width
    edges = pl.DataFrame({"bin": pl.int_range(first, last + 2, eager=True)}).with_columns(time_ns=pl.col("bin") * width)
    points = merged_intervals.select(by).unique().sort(by).join(edges, how="cross") if by else edges
    sums = points.with_columns(before=covered_before(merged_intervals, points, by))
    after = pl.col("before").shift(-1)
    in_bin = (after.over(by) if by else after) - pl.col("before")
    return sums.select(*by, "bin", covered_ns=in_bin).filter(pl.col("covered_ns") > 0)


def combinations(frame: pl.DataFrame, by: Sequence[str], member: str) -> pl.DataFrame:
    """Time that each combination of members is there at once: `by`, `members` (sum of their bits), `length_ns`.

    `member` holds the bit (of at most 30) of the member that an interval belongs to; the intervals of one member are
    `merged`.

    >>> frame = pl.DataFrame({"bit": [1, 2], "start_ns": [0, 4], "end_ns": [6, 9]})
    >>> combinations(frame, [], "bit").rows()
    [(1, 4), (2, 3), (3, 2)]
    """
    groups = frame.partition_by(by, as_dict=True) if by else {(): frame}
    empty = frame.select(by).clear().with_columns(members=pl.lit(0, pl.Int64), length_ns=pl.lit(0, pl.Int64))
    lengths = [empty]
    for key in sorted(groups, key=lambda key: [(value is None, value) for value in key]):
        sums = _combinations(groups.pop(key), member)
        names = [pl.lit(value, frame.schema[name]).alias(name) for name, value in zip(by, key, strict=True)]
        lengths.append(sums.select(*names, "members", "length_ns"))
    return pl.concat(lengths)


def _combinations(frame: pl.DataFrame, member: str) -> pl.DataFrame:
    """`combinations` of one group."""
    edges = pl.concat(
        frame.select(time=pl.col(column), bit=pl.col(member).cast(pl.Int32) * sign)
        for column, sign in (("start_ns", 1), ("end_ns", -1))
    ).sort("time")
    steps = edges.select(members=pl.col("bit").cum_sum(), length_ns=pl.col("time").shift(-1) - pl.col("time"))
    sums = steps.filter(pl.col("length_ns") > 0, pl.col("members") != 0).group_by("members")
    return sums.agg(pl.col("length_ns").sum()).sort("members").with_columns(pl.col("members").cast(pl.Int64))


def _groups(frame: pl.DataFrame, by: Sequence[str]) -> Sequence[str]:
    """The columns to go by; none if the sorted frame has one group, as that of a run on one GPU: it takes a third."""
    is_one = bool(frame.height) and all(frame[0, name] == frame[-1, name] for name in by)
    return () if is_one else by


def _reached(by: Sequence[str]) -> pl.Expr:
    """The latest end of all earlier rows of the group."""
    latest = pl.col("end_ns").cum_max().shift(1)
    return latest.over(by) if by else latest
