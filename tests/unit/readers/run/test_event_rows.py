"""Ends of events: sound ones stay as they are, and no unsound one slips through where most are sound."""

from __future__ import annotations

import polars as pl

from tests.kit.together import together
from wavewright.model.run_tables import LONGEST_NS
from wavewright.readers.run.event_rows import sound_ends

FAR = (1 << 63) - 1


@together(
    "begin, end, made, loss",
    [
        (5, 9, 9, None),
        (5, 5, 5, None),
        (0, 0, 0, None),
        (5, 4, 5, "backward_times"),
        (FAR, -FAR, FAR, "backward_times"),
        (5, None, 5, "unfinished_events"),
        (5, 0, 5, "unfinished_events"),
        (5, 5 + LONGEST_NS, 5, "overflowing_times"),
        (-FAR, FAR, -FAR, "overflowing_times"),
    ],
)
def test_one_among_sound_ones(begin: int, end: int | None, made: int, loss: str | None) -> None:
    begins, ends = pl.Series([1, begin, 3], dtype=pl.Int64), pl.Series([2, end, 4], dtype=pl.Int64)
    found, losses = sound_ends(begins, ends)
    assert found.to_list() == [2, made, 4]
    assert losses == ({loss: 1} if loss else {})
