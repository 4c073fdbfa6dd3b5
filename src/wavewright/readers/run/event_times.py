"""Checked ends of events: never before the start, never missing, never beyond the range of a clock."""

from __future__ import annotations

import polars as pl

from wavewright.model.run_tables import LONGEST_NS


def sound_ends(begins: pl.Series, ends: pl.Series) -> tuple[pl.Series, dict[str, int]]:
    """The ends, replaced by the starts where they are unsound; and the number of unsound ends by kind of loss.

    An end that is missing or 0 is an event that did not finish.

    Examples
    --------
    >>> import polars as pl
    >>> ends, losses = sound_ends(pl.Series([5, 5, 5]), pl.Series([9, 3, None]))
    >>> ends.to_list(), losses
    ([9, 5, 5], {'backward_times': 1, 'unfinished_events': 1})
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
    checked = frame.select(
        pl.when(is_open | is_backward | is_beyond).then(begin).otherwise(end).alias("end"),
        backward_times=is_backward,
        unfinished_events=is_open,
        overflowing_times=is_beyond,
    )
    losses = {name: int(checked[name].sum()) for name in checked.columns[1:]}
    return checked["end"], {name: count for name, count in losses.items() if count}


def _all_sound(begins: pl.Series, ends: pl.Series) -> bool:
    """True if nothing is unsound, which is usual and quickly seen."""
    if begins.null_count() or ends.null_count() or not len(ends) or int(ends.min()) <= 0:  # type: ignore[arg-type]
        return False
    lengths = ends - begins  # of ends above 0 it only wraps around when it is far too long, and then is negative
    return int(lengths.min()) >= 0 and int(lengths.max()) < LONGEST_NS  # type: ignore[arg-type]
