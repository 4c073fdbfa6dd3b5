"""Concurrency of the members of a group, such as the streams of a GPU: times of pairs, and of numbers of members.

Every member of a group has a bit (`with_bits`). `intervals.combinations` adds the bits of those that work at the same
time to `members`: `members & bit` says whether one is among them, and the number of bits how many they are.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from wavewright.analysis.common.shares import share_of
from wavewright.analysis.run.measures.intervals import FARTHEST_NS, combinations

MOST_MEMBERS = 16  #: Members of a group that are compared, the busiest first: up to 2^16 combinations.


def with_bits(merged_intervals: pl.DataFrame, by: Sequence[str], member: str) -> tuple[pl.DataFrame, bool]:
    """The intervals with the `bit` of their member in its group, the busiest first; True if some members have none."""
    busy = merged_intervals.group_by(*by, member).agg(busy_ns=(pl.col("end_ns") - pl.col("start_ns")).sum())
    order = busy.sort(*by, "busy_ns", member, descending=[False] * len(by) + [True, False], nulls_last=True)
    ranks = order.with_columns(rank=pl.int_range(pl.len()).over(by))
    bit = pl.lit(2, pl.Int64).pow("rank").cast(pl.Int64)
    busiest = ranks.filter(pl.col("rank") < MOST_MEMBERS).select(*by, member, bit=bit)
    rows = merged_intervals.join(busiest, on=[*by, member], nulls_equal=True, maintain_order="left")
    return rows, busiest.height < ranks.height


def pairs(together: pl.DataFrame, with_bit: pl.DataFrame, by: Sequence[str], member: str) -> pl.DataFrame:
    """Time that two members of a group work at the same time, from the result of `with_bits` and its `combinations`.

    Columns: `by`, `first_<member>`, `second_<member>`, `first_busy_ns`, `second_busy_ns`, `both_ns`, `both_share`: of
    the time of the less busy one.

    >>> frame = pl.DataFrame({"gpu": [0, 0], "stream": [7, 9], "start_ns": [0, 3], "end_ns": [8, 5]})
    >>> marked, _ = with_bits(frame, ["gpu"], "stream")
    >>> pairs(combinations(marked, ["gpu"], "bit"), marked, ["gpu"], "stream").rows()
    [(0, 7, 9, 8, 2, 2, 1.0)]
    """
    members = with_bit.select(*by, member, "bit").unique()
    bits = members.select("bit").unique().sort("bit")
    with_member = together.join(bits, how="cross").filter(pl.col("members") & pl.col("bit") != 0)
    busy = with_member.group_by(*by, "bit").agg(busy_ns=pl.col("length_ns").sum())
    with_both = with_member.join(bits.rename({"bit": "higher_bit"}), how="cross")
    with_both = with_both.filter(pl.col("members") & pl.col("higher_bit") != 0, pl.col("bit") < pl.col("higher_bit"))
    both = with_both.group_by(*by, "bit", "higher_bit").agg(both_ns=pl.col("length_ns").sum())
    with_busy = members.join(busy, on=[*by, "bit"], nulls_equal=True)
    first, second = (
        with_busy.rename({name: f"{side}_{name}" for name in (member, "bit", "busy_ns")})
        for side in ("first", "second")
    )
    side_bits, least_busy = ("first_bit", "second_bit"), pl.min_horizontal("first_busy_ns", "second_busy_ns")
    return (
        first.join(second, on=list(by), nulls_equal=True)
        .filter(pl.col(f"first_{member}") < pl.col(f"second_{member}"))
        .with_columns(bit=pl.min_horizontal(side_bits), higher_bit=pl.max_horizontal(side_bits))
        .join(both, on=[*by, "bit", "higher_bit"], how="left", nulls_equal=True)
        .with_columns(pl.col("both_ns").fill_null(0))
        .with_columns(both_share=share_of(pl.col("both_ns"), least_busy))
        .select(*by, f"first_{member}", f"second_{member}", "first_busy_ns", "second_busy_ns", "both_ns", "both_share")
    )


def levels(merged_intervals: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """Time at each number of members at once, of merged intervals per member: `by`, `level`, `length_ns`.

    >>> levels(pl.DataFrame({"stream": [7, 9], "start_ns": [0, 3], "end_ns": [8, 5]}), []).rows()
    [(1, 6), (2, 2)]
    """
    # With 1 as the bit of every member, the sum of the bits is their number.
    return combinations(merged_intervals.with_columns(one=pl.lit(1, pl.Int64)), by, "one").rename({"members": "level"})


def combination_levels(together: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """Time at each number of members at once, as `levels`, from the `combinations` of members with bits."""
    rows = together.with_columns(level=pl.col("members").bitwise_count_ones().cast(pl.Int64))
    return rows.group_by(*by, "level").agg(pl.col("length_ns").sum()).sort(*by, "level", nulls_last=True)


def fill_gaps(merged_intervals: pl.DataFrame, by: Sequence[str], most: int) -> tuple[pl.DataFrame, int]:
    """At most `most` merged intervals, for which short gaps are filled; and the idle time in ns that counts as busy so.

    Gaps of up to 1 ns are filled first, then of up to 2, 4, 8, ... until few enough intervals are left.

    >>> fill_gaps(pl.DataFrame({"start_ns": [0, 5, 900], "end_ns": [4, 9, 950]}), [], 2)[0].rows()
    [(0, 9), (900, 950)]
    """
    filled_ns, intervals = 1, merged_intervals
    while intervals.height > most and filled_ns <= 2 * FARTHEST_NS:  # longer gaps are those between groups
        before = pl.col("end_ns").shift(1)
        gap = pl.col("start_ns") - (before.over(by) if by else before)
        block = (gap > filled_ns).fill_null(value=True).cum_sum()
        groups = intervals.with_columns(block=block).group_by("block", maintain_order=True)
        intervals = groups.agg(pl.col(*by, "start_ns").first(), pl.col("end_ns").last()).drop("block")
        filled_ns *= 2
    length = pl.col("end_ns") - pl.col("start_ns")
    return intervals, int(intervals.select(length.sum()).item()) - int(merged_intervals.select(length.sum()).item())
