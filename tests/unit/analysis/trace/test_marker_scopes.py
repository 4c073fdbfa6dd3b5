"""Scopes from markers."""

from __future__ import annotations

import pytest

from tests.kit.made_markers import ENTER, FIRST, LEAVE, POINT, markers
from tests.kit.made_traces import made
from wavewright.analysis.trace.code.marker_scopes import MOST_DEPTH, MarkerScopes, marker_scopes


def scopes(steps: list[tuple[int, int, str]], end: int = 100) -> MarkerScopes:
    return marker_scopes(made([{"begin": 0, "end": end}], markers=markers(steps)))


def spans(found: MarkerScopes) -> list[tuple[object, ...]]:
    return found.scopes.select("name", "start_cycles", "end_cycles", "depth", "is_open").rows()


def test_scopes_nest() -> None:
    found = scopes([(10, ENTER | FIRST, "a"), (20, ENTER, "b"), (30, LEAVE, ""), (50, LEAVE, "")])
    assert spans(found) == [("a", 10, 50, 0, False), ("b", 20, 30, 1, False)]
    assert found.stacks.select("parent", "name").rows() == [(None, None), (0, "a"), (1, "b")]
    assert found.changes.select("time_cycles", "stack").rows() == [(10, 1), (20, 2), (30, 1), (50, 0)]


def test_a_transition_closes_and_opens() -> None:
    found = scopes([(10, ENTER, "a"), (20, LEAVE | ENTER, "b"), (30, LEAVE, "")])
    assert spans(found) == [("a", 10, 20, 0, False), ("b", 20, 30, 0, False)]


def test_what_is_never_left_ends_with_its_wave_and_what_was_never_entered_is_counted() -> None:
    found = scopes([(5, LEAVE, ""), (10, ENTER, "a"), (40, ENTER | FIRST, "b")], end=90)
    assert spans(found) == [("a", 10, 10, 0, True), ("b", 40, 90, 0, True)]
    assert found.orphan_count == 1
    assert found.changes["time_cycles", "stack"].rows()[-1] == (90, 0)


def test_points_have_no_length() -> None:
    found = scopes([(10, ENTER, "a"), (20, POINT, "p"), (30, LEAVE, "")])
    assert ("p", 20, 20, 1, False) in spans(found)


@pytest.mark.parametrize("depth", [MOST_DEPTH, MOST_DEPTH + 50])
def test_scopes_without_end_stay_bounded(depth: int) -> None:
    deep = [(time, ENTER, "r") for time in range(depth)] + [(1000 + time, LEAVE, "") for time in range(depth)]
    found = scopes(deep, end=5000)
    assert found.scopes.height == MOST_DEPTH
    assert found.orphan_count == 0
