"""Windows around what is interesting; the rest is folded, and every line is either shown or folded."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from wavewright.words.kit.line_windows import line_ranges


def spans(count: int, contexts: dict[int, int]) -> list[tuple[int, int, bool]]:
    return [(part.begin, part.end, part.is_folded) for part in line_ranges(count, contexts)]


def test_windows_and_folds() -> None:
    assert spans(20, {10: 2}) == [(0, 8, True), (8, 13, False), (13, 20, True)]
    assert spans(20, {}) == [(0, 20, True)]
    assert spans(0, {3: 1}) == []


def test_a_fold_of_two_lines_is_no_gain() -> None:
    assert spans(9, {2: 0, 5: 0, 8: 0}) == [(0, 9, False)]


@given(st.integers(0, 60), st.dictionaries(st.integers(0, 70), st.integers(0, 8), max_size=5))
def test_every_line_stands_once_and_interesting_ones_are_shown(count: int, contexts: dict[int, int]) -> None:
    parts = line_ranges(count, contexts)
    assert [line for part in parts for line in range(part.begin, part.end)] == list(range(count))
    shown = {line for part in parts if not part.is_folded for line in range(part.begin, part.end)}
    for line, context in contexts.items():
        if line < count:
            assert set(range(max(0, line - context), min(count, line + context + 1))) <= shown
    assert all(part.end - part.begin >= 3 for part in parts if part.is_folded)
    assert all(a.is_folded != b.is_folded for a, b in pairwise(parts))
