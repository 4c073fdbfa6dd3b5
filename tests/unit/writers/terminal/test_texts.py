"""Words in a terminal: cut to its width, with tones where they belong."""

from __future__ import annotations

import io

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from wavewright.model.blocks import Cell, Column, Table, sentence
from wavewright.writers.terminal.blocks import renderable
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


def test_tones_of_a_table_stay_on_their_words_behind_escapes_and_levels() -> None:
    cell = Cell.of("a\x1b[31mb ", ("hot", "bold"))
    cell.level = 3
    table = Table("", (Column("name", "rest"),), ((cell,),))
    out = Console(width=80, color_system="standard", force_terminal=True, highlight=False, file=io.StringIO())
    segments = [segment for segment in out.render(renderable(table)) if segment.text.strip()]
    assert "".join(segment.text for segment in segments if segment.style and segment.style.bold).split() == [
        "name",
        "hot",
    ]
    assert not any("\x1b" in segment.text for segment in segments)
