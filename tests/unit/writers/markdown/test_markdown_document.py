"""Reports as Markdown: recorded words stay words, whatever they are; limits hold, and the document says what it cut."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.kit.together import together
from tests.unit.export.report.made_reports import ALL_REPORTS, HOSTILE, REPORTS, SPEC, report_named, small_report
from wavewright.base.shown import printable
from wavewright.export.report import MOST_BYTES
from wavewright.model.blocks import Column, Sentence, Table
from wavewright.model.report import DataTable, Report, Section
from wavewright.writers.markdown import report_text as markdown

#: What GitHub makes links of in text that is not code.
LIVE = re.compile(r"(?<![\w/])@\w|#\d|://|www\.|\bGH-\d|:[a-z_]+:")
ALLOWED_HTML = re.compile(r"<details><summary>[^<>]*</summary>|</details>|<!-- markdownlint-disable-file MD033 -->")


def _tokens(text: str) -> list[Token]:
    return MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)


def _inline(text: str) -> list[Token]:
    return [child for token in _tokens(text) for child in token.children or ()]


def _plain(token: Token) -> str:
    return "".join(child.content for child in token.children or () if child.type in ("text", "code_inline"))


@pytest.mark.first_case
@pytest.mark.parametrize("name", ALL_REPORTS)
@together("most_bytes", [None, *MOST_BYTES.values()])
def test_nothing_recorded_becomes_markup(name, most_bytes):
    text = markdown.render(report_named(name), most_bytes).decode()
    inline = _inline(text)
    kinds = {token.type for token in inline}
    assert kinds <= {"text", "code_inline", "strong_open", "strong_close", "em_open", "em_close"}
    assert not [token.content for token in inline if token.type == "text" and LIVE.search(token.content)]
    html = [token.content.strip() for token in _tokens(text) if token.type == "html_block"]
    assert not [block for block in html if ALLOWED_HTML.sub("", block.replace("<code>", "").replace("</code>", ""))]


@pytest.mark.first_case
@pytest.mark.parametrize("name", ALL_REPORTS)
def test_outline(name):
    report = report_named(name)
    tokens = _tokens(markdown.render(report).decode())
    headings = [
        (token.tag, _plain(tokens[number + 1])) for number, token in enumerate(tokens) if token.type == "heading_open"
    ]
    assert [tag for tag, _ in headings].count("h1") == 1
    assert headings[0][0] == "h1"
    assert {tag for tag, _ in headings[1:]} == {"h2"}
    assert len(headings) >= len(report.sections) + 2
    assert headings[-1][1] == "Provenance"
    titles = [title for _, title in headings]
    assert len(set(titles)) == len(titles)


@together("word", HOSTILE)
def test_words_round_trip(word):
    """A reader of Markdown gets the words back from every place."""
    columns = (Column("name", is_name=True), Column("text"))
    blocks = (Sentence(f"x {word}"), Table("", columns, ((word, word), ("a", "b"))))
    report = Report("t", "run", (Section("s", "s", "", blocks),), small_report().provenance)
    tokens = _tokens(markdown.render(report).decode())
    texts = [_plain(token) for token in tokens if token.type == "inline"]
    prose, code = printable(" ".join(word.split())), printable(word).strip()
    if len(word) > 80:
        prose, code = prose[:50], code[:50]
    assert any(text.startswith(f"x {prose}".strip()) for text in texts)
    at = texts.index("name")
    assert texts[at + 2].startswith(code)
    assert texts[at + 3].startswith(prose)
    assert texts[at + 4 : at + 6] == ["a", "b"]


@pytest.mark.first_case
@pytest.mark.parametrize("name", ALL_REPORTS)
@pytest.mark.parametrize("purpose", MOST_BYTES)
def test_limits_hold(name, purpose):
    whole, cut = markdown.render(report_named(name)), markdown.render(report_named(name), MOST_BYTES[purpose])
    assert len(cut) <= MOST_BYTES[purpose]
    assert (cut == whole) == (len(whole) <= MOST_BYTES[purpose])
    if cut != whole:
        assert "*cut to fit:*" in cut.decode()
    assert cut.decode().rstrip().count("\n## Provenance\n") == 1
    assert cut == markdown.render(report_named(name), MOST_BYTES[purpose])


def test_left_out_sections_are_named():
    many = tuple(Section(f"s{n}", f"Section {n}", "", (Sentence("word " * 100),)) for n in range(60))
    text = markdown.render(Report("t", "run", many, small_report().provenance), 8000).decode()
    count = int(re.search(r"left out: (\d+) sections", text)[1])
    assert count == 60 - len(re.findall(r"^## Section", text, re.MULTILINE))
    assert f"Section {60 - count}," in text


def test_tables_have_twelve_columns_at_most():
    columns = tuple(Column(f"c{number}", role="number") for number in range(14))
    table = Table("rows", (*columns, Column("name", is_name=True)), ((*map(str, range(14)), "gemm"),))
    report = Report("t", "run", (Section("s", "s", "", (table,)),), small_report().provenance)
    text = markdown.render(report).decode()
    assert "rows; showing 12 of 15 columns, without c11, c12, c13" in text
    row = next(line for line in text.splitlines() if "gemm" in line)
    assert row.count("|") == 13


def test_long_tables_are_folded():
    rows = tuple((str(number),) for number in range(13))
    table = Table("13 rows & more", (Column("n", role="number"),), rows)
    report = Report("t", "run", (Section("s", "s", "", (table,)),), small_report().provenance)
    text = markdown.render(report).decode()
    assert "<details><summary>13 rows &amp; more</summary>\n\n| n |" in text
    assert "| 12 |\n\n</details>" in text


def test_cut_names_are_in_the_appendix():
    """Those that the table has cut already, those that this writer cuts, and none that could be several names."""
    names = ["void at::native::reduce<double, MinFunctor>(int)", "x" * 90, "both_of_them_1a", "both_of_them_2a"]
    frame = pl.DataFrame({"name": names, "time_ns": 1.0})
    rows = (("reduce<double…Functor>",), ("x" * 90,), ("both…a",))
    table = Table("", (Column("name", is_name=True),), rows)
    section = Section("s", "s", "", (table,), (DataTable("names", SPEC, frame),))
    text = markdown.render(Report("t", "run", (section,), small_report().provenance)).decode()
    appendix = text.split("\n## Full names\n")[1].split("\n## ")[0].strip()
    assert appendix.splitlines() == [
        f"- `reduce<double…Functor>`: `{names[0]}`",
        f"- `{'x' * 53}…{'x' * 26}`: `{'x' * 90}`",
    ]


def test_blocks_of_each_kind():
    text = markdown.render(small_report()).decode()
    for part in (
        "> **busy 92.0 %**", "GPUs idle; `wavewright gaps` tells why", "*note:* a short sample", "*loss:* 12 packets",
        "1. **Small copies** (at most 6.9 %) `f1`\n   - *do:* copy once\n   - *see:* a b\n2. **Idle** `f2`",
        "| 75.0 % | `gemm` |", "50 %      1  x = 1\n  9K  i0x10  v_add\n...", "▁▂▃", "*picture:* half of it",
        "- `wavewright gaps my.db --time 0:5`: the longest", "*not answered:* one rank", "| Time | Sums. |",
    ):  # fmt: skip
        assert part in text


def _linter() -> str | None:
    return shutil.which("markdownlint-cli2")


@pytest.mark.slow
@pytest.mark.skipif(_linter() is None, reason="no markdownlint-cli2 on this machine")
def test_markdownlint_finds_nothing(tmp_path: Path):
    (tmp_path / ".markdownlint-cli2.jsonc").write_text(json.dumps({"config": {"MD013": False, "MD060": False}}))
    for name in REPORTS:
        for limit in (None, *MOST_BYTES.values()):
            (tmp_path / f"{name.replace(' ', '-')}-{limit}.md").write_bytes(markdown.render(report_named(name), limit))
    done = subprocess.run([_linter(), "*.md"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:5000]
