"""Briefs: within their budget whatever is in them, cut in the declared order, and loud about it."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tests.kit.together import together
from wavewright.base.shown import quoted
from wavewright.model.blocks import (
    Block,
    Code,
    CodeLine,
    Column,
    Finding,
    Labelled,
    Named,
    Picture,
    Preformatted,
    Sentence,
    Table,
    labelled,
    sentence,
)
from wavewright.model.report import Section
from wavewright.writers.markdown.brief import brief_markdown, token_count

COLUMNS = (
    Column("kernel", is_name=True),
    *(Column(f"number {number}", role="number") for number in range(9)),
    Column("file"),
)


def table(name: str, count: int) -> Table:
    rows = tuple((f"{name}{row}", *(f"{row * 1000 + number:,}" for number in range(9)), "a.py") for row in range(count))
    return Table(name, COLUMNS, rows, 3_112)


def brief(*blocks: Block, budget: int = 2000, losses: tuple[str, ...] = ()) -> str:
    section = Section("hotspots", "Hot", "What is hot?", blocks)
    text = brief_markdown(
        [section], subject="gemm", losses=losses, commands=["wavewright info x"], budget_tokens=budget
    )
    assert token_count(text) <= budget
    return text


def rows_of(text: str, name: str) -> int:
    return text.count(f"| `{name}")


def test_rows_of_the_first_table_are_cut_last() -> None:
    text = brief(table("first", 40), table("second", 40), table("third", 40))
    counts = [rows_of(text, name) for name in ("first", "second", "third")]
    assert counts[0] == 40
    assert counts[1] == counts[2] > 3
    assert f"second, showing {counts[1]} of 3,112 rows" in text
    assert "first, showing 40 of 3,112 rows" in text
    assert "*left out:* rows; --top 50 --json has more" in text
    assert "number 8" in text


def test_then_columns_from_the_right_then_tables() -> None:
    narrow = brief(table("first", 40), table("second", 40), table("third", 40), budget=350)
    assert rows_of(narrow, "first") >= 5
    assert re.search(r"left out:.* \d+ columns?;", narrow)
    assert "number 0" in narrow
    assert narrow.count("number 8") <= 1
    assert "| file |" in narrow
    tiny = brief(table("first", 40), table("second", 40), table("third", 40), budget=150)
    assert re.search(r"left out:.* \d tables?;", tiny)
    assert rows_of(tiny, "first") >= 5
    assert rows_of(tiny, "second") == 0


def test_charts_pictures_and_empty_columns_go_without_a_word() -> None:
    columns = (Column("name", is_name=True), Column("nothing"), Column("curve", is_drawn=True))
    empty = Table("1 row", columns, (("a", "-", "████"),))
    chart = Preformatted("busy over time\n█▉ 90 %", is_chart=True)
    text = brief(Sentence("busy 92 %"), chart, Picture("x", "<svg/>", "alt"), empty)
    assert text.startswith("**busy 92 %**\n\n`gemm`\n\n1 row\n\n| name |\n|---|\n| `a` |\n")
    assert "█" not in text
    assert "left out" not in text


def test_what_words_name_becomes_a_handle() -> None:
    columns = (Column("address", handle="i"), Column("instruction", is_name=True), Column("wave", "number", handle="w"))
    rows = Table("", columns, (("0x1814", "s_load_dword s10, s[0:1], 0x18", "12"), ("0x1820", "s_barrier", "-")))
    at = Named("0x1814", "i")
    text = brief(sentence("loop 0 at ", at), labelled("see", at, " s_barrier"), Sentence("argument at 0x18"), rows)
    assert "at i0x1814" in text
    assert "*see:* i0x1814 s_barrier" in text
    assert "| i0x1814 | `s_load_dword s10, s[0:1], 0x18` | w12 |" in text
    assert "| i0x1820 | `s_barrier` | - |" in text
    assert "argument at 0x18" in text


def test_the_verdict_comes_first() -> None:
    text = brief(Sentence("4 GPUs"), Sentence("busy 98 %", "headline"), Sentence("more"))
    assert text.startswith("**busy 98 %**\n\n`gemm`\n\n4 GPUs\n\nmore")


def test_losses_are_counted() -> None:
    text = brief(Sentence("x"), losses=tuple(f"loss {number}" for number in range(9)))
    assert text.count("*loss:*") == 5
    assert "showing 5 of 9 losses; --json has all" in text


def test_several_sections_have_headings() -> None:
    sections = [Section(name, f"Title {name}", "?", (table(name, 30),)) for name in "abc"]
    text = brief_markdown(sections, subject="x", losses=(), commands=(), budget_tokens=300)
    assert token_count(text) <= 300
    assert text.count("## ") == text.count("Title ")
    assert text.index("## Title a") < text.index("| `a0`")
    skipped = Section("d", "D", "?", skipped="no counters")
    assert "*note:* no counters" in brief_markdown([sections[0], skipped], subject="", losses=(), commands=())


@together("name", ["# x", "- x", "+ x", "=== x", "~~~ x", "> x", "<b>", "[a](b)", "|", "`", "``` x"])
def test_no_sentence_becomes_markdown(name: str) -> None:
    text = brief(Sentence("first"), Sentence(name), Labelled(name, name), Finding(1, name, name))
    parsed = MarkdownIt("commonmark").enable("table").parse(text)
    fences = [token for token in parsed if token.type in ("heading_open", "fence", "blockquote_open", "html_block")]
    assert [token.info for token in fences] == ["sh"]
    inner = [child.type for token in parsed for child in token.children or ()]
    assert not {"link_open", "image", "html_inline"} & set(inner)


_TEXTS = st.text(max_size=120)
_CELLS = st.lists(st.tuples(_TEXTS, _TEXTS, _TEXTS), max_size=12)
_BLOCKS: st.SearchStrategy[Block] = st.one_of(
    st.builds(Sentence, _TEXTS, st.sampled_from(["plain", "headline", "note", "loss"])),
    st.builds(Labelled, _TEXTS, _TEXTS),
    st.builds(
        Finding, st.integers(1, 9), _TEXTS, _TEXTS, st.builds(lambda part: (part,), st.builds(Labelled, _TEXTS, _TEXTS))
    ),
    st.builds(Preformatted, _TEXTS, st.booleans()),
    st.builds(lambda cells, title: Table(title, COLUMNS[:3], tuple(cells)), _CELLS, _TEXTS),
    st.builds(
        lambda lines, file: Code(file, tuple(CodeLine(1, line) for line in lines)),
        st.lists(_TEXTS, max_size=12),
        _TEXTS,
    ),
)


@given(st.lists(_BLOCKS, max_size=8), st.sampled_from([300, 600, 2000]), _TEXTS)
def test_anything_fits(blocks: list[Block], budget: int, subject: str) -> None:
    section = Section("a", "A", "?", tuple(blocks))
    text = brief_markdown([section], subject=subject, losses=(), commands=("wavewright info x",), budget_tokens=budget)
    assert token_count(text) <= budget
    assert all(letter.isprintable() or letter == "\n" for letter in text)
    assert text.endswith("next:\n\n```sh\nwavewright info x\n```")


def test_words_of_a_shell_are_printable() -> None:
    assert quoted("a\udcff\x1b'") == "$'a\\xff\\x1b\\x27'"
