"""Blocks as Markdown."""

from __future__ import annotations

from tests.kit.together import together
from wavewright.model.blocks import Code, CodeLine, Finding, Labelled, Sentence
from wavewright.writers.markdown.blocks import block_markdown, code_span, fenced, markdown_of, prose


@together(
    "text, expected",
    [
        ("a_b_c __d_", "a_b_c \\_\\_d\\_"),
        ("5 < 6 > 4", "5 \\< 6 > 4"),
        ("> quote", "\\> quote"),
        ("12. month", "12\\. month"),
        ("12.5 ms", "12.5 ms"),
        ("- item", "\\- item"),
        ("end #", "end \\#"),
        ("# head", "\\# head"),
        ("ask @root", "ask `@root`"),
        ("issue #12", "issue `#12`"),
        ("see https://a.example/b_c.", "see `https://a.example/b_c.`"),
        ("commit deadbeef1", "commit `deadbeef1`"),
        ("1234567 cycles, 0xdeadbeef", "1234567 cycles, 0xdeadbeef"),
        ("at 12:30:45", "at 12:30:45"),
        ("use :memo:", "use `:memo:`"),
        ("`wavewright gaps --top 5` tells", "`wavewright gaps --top 5` tells"),
        ("a ` b", "a \\` b"),
        ("two\nlines", "two lines"),
        ("cost $5 & more", "cost \\$5 \\& more"),
    ],
)
def test_sentences(text, expected):
    assert prose(text) == expected


@together(
    "text, expected",
    [("a|b", "`a\\|b`"), ("a\\|b", "a\\\\\\|b"), ("`", "`` ` ``"), ("a``b", "```a``b```"), ("", ""), ("  x ", "`x`")],
)
def test_code_in_tables(text, expected):
    assert code_span(text, in_table=True) == expected


def test_fences_are_longer_than_those_inside():
    assert fenced("```\nx  ") == "````text\n```\nx\n````"


def test_findings_that_follow_each_other_are_one_list():
    first = Finding(1, "a", "at most 5 %", (Labelled("do", "x"), Labelled("", "y"), Labelled("why", "")), "f1")
    assert markdown_of([first, Finding(2, "b", ""), Sentence("c"), Finding(3, "d", "")]) == (
        "1. **a** (at most 5 %) `f1`\n   - *do:* x\n   - y\n2. **b**\n\nc\n\n- **3: d**"
    )
    assert block_markdown(first).startswith("1. **a**")


def test_lines_of_code_line_up():
    lines = (CodeLine(9, "\tx", 0.5, "50 %"), CodeLine(None, "v_add", None, "", "i0x1"), CodeLine(None, ""))
    assert block_markdown(Code("a`.py", lines)) == (
        "``a`.py``\n\n```text\n50 %     9      x\n      i0x1  v_add\n...\n```"
    )
