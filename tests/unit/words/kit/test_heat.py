"""Heat bars."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.kit.together import together
from wavewright.words.kit.heat import PARTS, heat_bar, legend

cycles = st.dictionaries(st.sampled_from(sorted(PARTS)), st.integers(0, 10**9))


@given(cycles, st.integers(0, 10**9), st.integers(1, 20), st.booleans())
def test_a_bar_is_as_wide_as_asked(parts: dict[str, int], scale: int, width: int, ascii_only: bool) -> None:
    bar = heat_bar(parts, scale, width=width, ascii_only=ascii_only)
    assert len(bar.text) == width
    assert bar.text.isascii() or not ascii_only


def test_parts_can_be_told_apart_without_colours() -> None:
    assert heat_bar({"stall": 2, "issue": 3, "idle": 4, "hidden": 1}, 10).text == "██▓▓▓░░░░·"
    assert heat_bar({"stall": 2, "issue": 3, "idle": 4, "hidden": 1}, 10, ascii_only=True).text == "##===....~"


@together("amount, mark", [(0, " "), (5, " "), (30, "▎"), (60, "█")])
def test_little_is_drawn_thin(amount: int, mark: str) -> None:
    assert heat_bar({"stall": amount}, 1000).text == mark.ljust(10)


def test_the_legend_names_what_can_be_seen() -> None:
    assert legend(parts=("stall", "idle"), ascii_only=True).text == "# stall  . idle"
