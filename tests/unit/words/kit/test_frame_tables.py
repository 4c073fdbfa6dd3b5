"""Tables for the terminal: nothing from a trace commands it."""

from __future__ import annotations

import polars as pl

from wavewright.base.shown import printable
from wavewright.words.kit.frame_tables import Column, frame_table
from wavewright.writers.terminal.blocks import plain_text


def test_names_cannot_command_the_terminal() -> None:
    hostile = "\x1b]0;owned\x07\x1b[2J\x9b31m\x7f\u202ename\ud800"
    shown = printable(hostile)
    assert shown.isprintable()
    assert shown == r"\x1b]0;owned\x07\x1b[2J\x9b31m\x7f\u202ename\ud800"
    assert printable("Größe → 4 µs") == "Größe → 4 µs"


def test_every_text_cell_is_made_printable() -> None:
    rows = pl.DataFrame({"name": ["a\x1b[31mb\nc"]})
    table = frame_table(rows, [Column("name", lambda row: row["name"], role="words")], limit=1, what="rows")
    assert r"a\x1b[31mb\nc" in plain_text([table], 60)
