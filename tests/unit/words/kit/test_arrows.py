"""Arrows in text: what is drawn connects its lines, and nothing else does."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wavewright.words.kit.arrows import ASCII, UNICODE, Arrow, Drawing, Glyphs, draw_arrows

UP, DOWN, LEFT = "╰┴├┼", "╭┬├┼", "┬┴┼↻"
LINES = 12


def picture(drawing: Drawing, lines: int) -> list[str]:
    return [drawing.line(number).text for number in range(lines)]


def joined_lanes(text: str) -> set[int]:
    """Lanes that the text of a line is connected with: walk left from it, under the lanes that are drawn through."""
    lanes: set[int] = set()
    position = len(text) - 1
    while position >= 0 and text[position] != " ":
        if text[position] in UP + DOWN + "↻":
            lanes.add((len(text) - position) // 2 - 1)
            if text[position] not in LEFT:
                break
        position -= 1
    return lanes


def lines_of_lane(drawn: list[str], lane: int, line: int) -> set[int]:
    """Lines that are connected with `line` through a lane: walk up and down in it."""
    column = len(drawn[line]) - 2 * (lane + 1)
    found = {line}
    for step, leaves, enters in ((-1, UP, DOWN), (1, DOWN, UP)):
        at = line
        while drawn[at][column] in leaves + "│┆":
            at += step
            if not (0 <= at < len(drawn) and drawn[at][column] in enters + "│┆"):
                break
            if lane in joined_lanes(drawn[at]):
                found.add(at)
    return found


def test_one_lane() -> None:
    drawing = draw_arrows([Arrow(head=4, tails=(0, 2))])
    assert picture(drawing, 6) == ["╭─", "│ ", "├─", "│ ", "╰▶", "  "]


def test_short_arrows_stand_next_to_the_text() -> None:
    drawing = draw_arrows([Arrow(head=5, tails=(0,)), Arrow(head=3, tails=(2,))])
    assert picture(drawing, 6) == ["╭───", "│   ", "│ ╭─", "│ ╰▶", "│   ", "╰──▶"]


def test_a_loop_points_back() -> None:
    drawing = draw_arrows([Arrow(head=1, tails=(3,))])
    assert picture(drawing, 4) == ["  ", "╭▶", "│ ", "╰─"]


def test_a_wait_between_its_producers() -> None:
    assert picture(draw_arrows([Arrow(head=1, tails=(0, 2))]), 3) == ["╭─", "├▶", "╰─"]


def test_two_arrows_at_one_line_meet() -> None:
    """Line 2 is awaited by 4 and by 5: one way to the text serves both."""
    drawing = draw_arrows([Arrow(head=4, tails=(2,)), Arrow(head=5, tails=(2,))])
    assert picture(drawing, 6) == ["    ", "    ", "╭─┬─", "│ │ ", "│ ╰▶", "╰──▶"]


def test_a_way_under_a_lane_does_not_join_it() -> None:
    drawing = draw_arrows([Arrow(head=3, tails=(1,)), Arrow(head=5, tails=(0, 2))])
    assert picture(drawing, 4)[2] == "├─│─"


def test_arrows_that_touch_take_two_lanes() -> None:
    drawing = draw_arrows([Arrow(head=2, tails=(0,)), Arrow(head=4, tails=(2,))])
    assert picture(drawing, 5) == ["  ╭─", "  │ ", "╭─┴▶", "│   ", "╰──▶"]


def test_a_branch_to_itself() -> None:
    assert picture(draw_arrows([Arrow(head=1, tails=(1,))]), 3) == ["  ", "↻▶", "  "]


def test_folded_lines_are_entered_but_not_joined() -> None:
    drawing = draw_arrows([Arrow(head=3, tails=(1, 2))], folded={1})
    assert picture(drawing, 4) == ["  ", "┆ ", "├─", "╰▶"]
    assert draw_arrows([Arrow(head=3, tails=(1,))], folded={1, 3}).lane_count == 0


def test_what_does_not_fit_is_counted_where_it_would_have_joined() -> None:
    light, heavy = Arrow(5, (0, 1), weight=1.0), Arrow(6, (1,), weight=9.0)
    drawing = draw_arrows([light, heavy], max_lanes=1)
    assert list(drawing.lanes) == [heavy]
    assert dict(drawing.left_out) == {5: 2}
    assert draw_arrows([light], folded={5}, max_lanes=0).left_out == {0: 2}


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII])
def test_lines_are_as_wide_as_said(glyphs: Glyphs) -> None:
    drawing = draw_arrows([Arrow(4, (0, 2)), Arrow(3, (1,)), Arrow(2, (2,))], glyphs=glyphs)
    assert {len(line) for line in picture(drawing, 6)} == {drawing.width}
    if glyphs is ASCII:
        assert all(line.isascii() for line in picture(drawing, 6))


def test_each_arrow_has_one_colour() -> None:
    drawing = draw_arrows([Arrow(3, (0,)), Arrow(2, (1,))])
    tones = {mark.tone for number in range(4) for mark in drawing.line(number).marks}
    assert tones == set(drawing.colours.values())
    assert len(tones) == 2


arrows = st.builds(
    Arrow,
    st.integers(0, LINES - 1),
    st.lists(st.integers(0, LINES - 1), min_size=1, max_size=4, unique=True).map(tuple),
    st.floats(0, 10),
)


def ends(arrow: Arrow, folded: set[int]) -> set[int]:
    return {arrow.head, *arrow.tails} - folded


@given(
    st.lists(arrows, max_size=8, unique_by=lambda arrow: arrow.head),
    st.sets(st.integers(0, LINES // 2 - 1).map(lambda half: 2 * half), max_size=3),  # folds have rows between them
    st.integers(0, 5),
)
def test_what_is_drawn_connects_its_lines_and_only_them(given: list[Arrow], folded: set[int], max_lanes: int) -> None:
    drawing = draw_arrows(given, folded=folded, max_lanes=max_lanes)
    drawn = picture(drawing, LINES)
    assert drawing.lane_count <= max_lanes
    for arrow, lane in drawing.lanes.items():
        for line in ends(arrow, folded):
            assert lane in joined_lanes(drawn[line])
            if arrow.span[0] != arrow.span[1]:
                assert lines_of_lane(drawn, lane, line) == ends(arrow, folded)
        if arrow.head not in folded:
            assert drawn[arrow.head].endswith("▶")
    joints = sum(len(joined_lanes(line)) for line in drawn)
    assert joints == sum(len(ends(arrow, folded)) for arrow in drawing.lanes)
    shown = [arrow for arrow in given if ends(arrow, folded)]
    missing = [arrow for arrow in shown if arrow not in drawing.lanes]
    assert sum(drawing.left_out.values()) == sum(len(arrow.tails) for arrow in missing)


@given(st.lists(arrows, max_size=8))
def test_lanes_never_collide(given: list[Arrow]) -> None:
    drawing = draw_arrows(given, max_lanes=4)
    for lane in range(drawing.lane_count):
        spans = sorted(arrow.span for arrow, its in drawing.lanes.items() if its == lane)
        assert all(before[1] < after[0] for before, after in itertools.pairwise(spans))
