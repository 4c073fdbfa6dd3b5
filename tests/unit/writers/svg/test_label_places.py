from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from wavewright.writers.svg.label_places import Box, Taken, spread_apart


@given(st.lists(st.floats(0, 500), max_size=25).map(sorted))
def test_spread_labels_keep_their_order_and_distance(wanted: list[float]) -> None:
    placed = spread_apart(wanted, 17, 0, 500)
    assert all(later - earlier >= 17 - 1e-9 for earlier, later in pairwise(placed))
    assert all(0 <= place <= 500 for place in placed)
    if all(later - earlier >= 17 for earlier, later in pairwise(wanted)):
        assert placed == wanted


def test_the_first_free_place_is_taken_and_then_is_not_free() -> None:
    taken = Taken()
    here, there = [Box(0, 0, 10, 10)], [Box(20, 0, 30, 10)]
    assert taken.first_free([here, there]) == 0
    assert taken.first_free([here, there]) == 1
    assert taken.first_free([here, there]) == 0, "where nothing is free, the first of those that hide least"
