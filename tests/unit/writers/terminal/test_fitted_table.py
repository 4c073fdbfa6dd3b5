"""Tables in narrow consoles: numbers stay whole, words give way, columns without words are left out."""

from __future__ import annotations

from typing import Any

import polars as pl

from tests.kit.together import together
from wavewright.model import blocks
from wavewright.model.blocks import Cell
from wavewright.words.kit.frame_tables import Column, frame_table
from wavewright.writers.terminal.blocks import plain_text

ROWS = pl.DataFrame(
    {
        "share": ["11.7 %", "7.6 %"],
        "address": ["0x2a94", "0x200001007728"],
        "text": ["s_waitcnt vmcnt(6)", "global_load_ushort v45, v[24:25], off offset:2048"],
        "place": ["/src/a_file_with_a_rather_long_name.hip:1257", "b.hip:3"],
    }
)


def column(name: str, **how: Any) -> Column:
    return Column(name, lambda row: row[name], **how)


COLUMNS = (
    column("share"),
    column("address"),
    column("text", role="rest"),
    column("place", role="short"),
)


def printed(rows: pl.DataFrame, width: int) -> list[str]:
    return plain_text([frame_table(rows, COLUMNS, limit=None, what="stalled instructions")], width).splitlines()


@together("width", [200, 80, 60, 45, 30])
def test_numbers_are_whole_at_any_width(width: int) -> None:
    lines = printed(ROWS, width)
    assert max(map(len, lines[1:])) <= width
    for line, share, address in zip(lines[2:], ROWS["share"], ROWS["address"], strict=True):
        assert line.split()[0] == share.split()[0]
        assert f" {address}" in line


def test_a_place_keeps_its_line_number() -> None:
    assert any(line.endswith(":1257") and "…" in line for line in printed(ROWS, 60))


def test_a_column_of_places_without_places_is_left_out() -> None:
    heading = printed(ROWS.with_columns(place=pl.lit("")), 80)[1]
    assert heading.split() == ["share", "address", "text"]
    assert "place" in printed(ROWS, 80)[1]


def test_the_title_is_not_cut_to_a_narrow_table() -> None:
    rows = ROWS.head(1).with_columns(text=pl.lit("x"), place=pl.lit(""))
    assert printed(rows, 80)[0] == "1 stalled instruction"


def test_words_are_not_stretched() -> None:
    assert len(printed(ROWS.head(1), 200)[2]) < 100


def test_paragraphs_are_wrapped_not_cut() -> None:
    formula = "= 100 * TCC_HIT / (TCC_HIT + TCC_MISS)"
    columns = (Column("metric", lambda _: Cell(f"Hit Rate\n{formula}"), role="rest"), column("share"))
    lines = plain_text([frame_table(ROWS.head(1), columns, limit=None, what="metrics")], 30).splitlines()
    assert "".join("".join(lines).replace("11.7 %", "").split()).endswith("".join(formula.split()))


def test_sentences_are_wrapped_and_headings_have_lines() -> None:
    why = "needs SQ_INST_CYCLES_VALU and GRBM_GUI_ACTIVE, which were not measured"
    columns = (blocks.Column("Read BW\n(GB/s)", "number"), blocks.Column("why", "prose"))
    lines = plain_text([blocks.Table("", columns, (("12.5", why),))], 40).splitlines()
    assert lines[0].split() == ["Read", "BW"]
    assert lines[1].split() == ["(GB/s)", "why"]
    assert " ".join(" ".join(lines[2:]).split()) == f"12.5 {why}"
