"""Lines of listings are as wide as a terminal shows them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from wavewright.model.blocks import sentence
from wavewright.writers.terminal.texts import fitted

words = st.text(st.sampled_from("ab 漢字é…"), max_size=12)


@given(words, words, st.integers(1, 20))
def test_no_line_is_wider_than_asked_and_marks_stay_on_their_words(first: str, second: str, width: int) -> None:
    line = fitted(sentence(first, (second, "bold")), width)
    assert cell_len(line.text) <= width
    assert line.text == (first + second).rstrip() or line.text.endswith("…")
    for mark in line.marks:
        assert second.startswith(line.text[mark.begin : mark.end])


def test_an_ellipsis_is_a_tilde_where_ascii_must_do() -> None:
    assert fitted(sentence("v_add_u32 v1"), 5, ascii_only=True).text == "v_ad~"
