"""Time that each two members of a group are there at the same time, and the number that are there at once."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from wavewright.analysis.common.shares import share_of
from wavewright.analysis.run.measures.intervals import combinations

MOST_MEMBERS = 16  #: Members of a group that are compared, the busiest first: up to 2^16 combinations.


def with_bits(frame: pl.DataFrame, by: Sequence[str], member: str) -> tuple[pl.DataFrame, bool]:
    """Merged intervals with the `bit` of their member in its group; and whether members beyond the busiest are left
    out.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"gpu": [0, 0], "stream": [7, 9], "start_ns": [0, 0], "end_ns": [5, 6]})
    >>> with_bits(frame, ["gpu"], "stream")[0]["bit"].to_list()
    [2, 1]
    """
    busy = frame.group_by(*by, member).agg(busy=(pl.col("end_ns") - pl.col("start_ns")).sum())
    order = busy.sort(*by, "busy", member, descending=[False] * len(by) + [True, False], nulls_last=True)
    numbered = order.with_columns(at=pl.int_range(pl.len()).over(by)).drop("busy")
    busiest = numbered.filter(pl.col("at") < MOST_MEMBERS).with_columns(
        bit=pl.lit(2, pl.Int64).pow("at").cast(pl.Int64)
    )
    joined = frame.join(busiest.drop("at"), on=[*by, member], nulls_equal=True, maintain_order="left")
    return joined, busiest.height < numbered.height


def pairs(together: pl.DataFrame, marked: pl.DataFrame, by: Sequence[str], member: str) -> pl.DataFrame:
    """Time that each two members of a group are there at once, from the result of `with_bits` and its `combinations`.

    Columns: `by`, `first_<member>`, `second_<member>`, `first_busy_ns`, `second_busy_ns`, `both_ns`, `both_share`.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"gpu": [0, 0], "stream": [7, 9], "start_ns": [0, 3], "end_ns": [8, 5]})
    >>> marked, _ = with_bits(frame, ["gpu"], "stream")
    >>> pairs(combinations(marked, ["gpu"], "bit"), marked, ["gpu"], "stream").rows()
    [(0, 7, 9, 8, 2, 2, 1.0)]
    """
    members = marked.select(*by, member, "bit").unique()
    bits = members.select("bit").unique().sort("bit")
    longer = together.join(bits, how="cross").filter(pl.col("members") & pl.col("bit") != 0)
    busy = longer.group_by(*by, "bit").agg(busy_ns=pl.col("length_ns").sum())
    twice = longer.join(bits.rename({"bit": "other"}), how="cross").filter(
        (pl.col("members") & pl.col("other") != 0) & (pl.col("bit") < pl.col("other"))
    )
    both = twice.group_by(*by, "bit", "other").agg(both_ns=pl.col("length_ns").sum())
    with_busy = members.join(busy, on=[*by, "bit"], nulls_equal=True)
    first = with_busy.rename({member: f"first_{member}", "busy_ns": "first_busy_ns"})
    second = with_busy.rename({member: f"second_{member}", "busy_ns": "second_busy_ns", "bit": "other"})
    shorter = pl.min_horizontal("first_busy_ns", "second_busy_ns")
    return (
        first.join(second, on=list(by), nulls_equal=True)
        .filter(pl.col(f"first_{member}") < pl.col(f"second_{member}"))
        .with_columns(low=pl.min_horizontal("bit", "other"), high=pl.max_horizontal("bit", "other"))
        .join(both.rename({"bit": "low", "other": "high"}), on=[*by, "low", "high"], how="left", nulls_equal=True)
        .with_columns(pl.col("both_ns").fill_null(0))
        .with_columns(both_share=share_of(pl.col("both_ns"), shorter))
        .select(*by, f"first_{member}", f"second_{member}", "first_busy_ns", "second_busy_ns", "both_ns", "both_share")
    )


def levels(merged_intervals: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """Time at each number of members at once, of merged intervals per member: `by`, `level`, `length_ns`.

    Examples
    --------
    >>> import polars as pl
    >>> levels(pl.DataFrame({"stream": [7, 9], "start_ns": [0, 3], "end_ns": [8, 5]}), []).rows()
    [(1, 6), (2, 2)]
    """
    return combinations(merged_intervals.with_columns(one=pl.lit(1, pl.Int64)), by, "one").rename({"members": "level"})


def levels_of(together: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """The same as `levels`, from `combinations` that are at hand.

    Examples
    --------
    >>> import polars as pl
    >>> levels_of(pl.DataFrame({"members": [1, 2, 3], "length_ns": [6, 1, 2]}), []).rows()
    [(1, 7), (2, 2)]
    """
    counted = together.with_columns(level=pl.col("members").bitwise_count_ones().cast(pl.Int64))
    return counted.group_by(*by, "level").agg(pl.col("length_ns").sum()).sort(*by, "level", nulls_last=True)


def bridged(merged_intervals: pl.DataFrame, by: Sequence[str], most: int) -> tuple[pl.DataFrame, int]:
    """At most `most` merged intervals, where need be by taking short gaps for busy; and how much time that adds.

    Examples
    --------
    >>> import polars as pl
    >>> bridged(pl.DataFrame({"start_ns": [0, 5, 900], "end_ns": [4, 9, 950]}), [], 2)[0].rows()
    [(0, 9), (900, 950)]
    """
    shortest, intervals = 1, merged_intervals
    while intervals.height > most:
        before = pl.col("end_ns").shift(1)
        gap = pl.col("start_ns") - (before.over(by) if by else before)
        block = (gap > shortest).fill_null(value=True).cum_sum()
        groups = intervals.with_columns(block=block).group_by("block", maintain_order=True)
        intervals = groups.agg(pl.col(*by, "start_ns").first(), pl.col("end_ns").last()).drop("block")
        shortest *= 2
        if shortest > 1 << 62:
            break
    length = pl.col("end_ns") - pl.col("start_ns")
    return intervals, int(intervals.select(length.sum()).item()) - int(merged_intervals.select(length.sum()).item())
