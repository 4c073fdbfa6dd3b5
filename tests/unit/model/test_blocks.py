"""Blocks: typed from the start, so that recorded names with any characters stay words in every writer."""

from __future__ import annotations

import html
import io
import json
import re
import zipfile
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cli.in_process import call
from wavewright.base.shown import printable
from wavewright.model.blocks import (
    GAP,
    Cell,
    Column,
    Drawn,
    Grid,
    GridColumn,
    Labelled,
    Preformatted,
    Rule,
    Sentence,
    Table,
    chart,
    headline,
    readable,
    sentence,
)
from wavewright.model.report import Provenance, Report, Section
from wavewright.writers.html.report_page import render as html_document
from wavewright.writers.json.report_json import render as json_document
from wavewright.writers.markdown.brief import brief_markdown
from wavewright.writers.markdown.report_text import render as markdown_document
from wavewright.writers.terminal.blocks import plain_text

NAMES = (
    "epoch 1 │ step 3",
    "█▓▒░",
    "├─ loss ─┤",
    "▁▂▃▄▅▆▇",
    "╭ box ╰",
    "note: nothing",
    "**bold** | a",
    "showing 3 of 9",
)
#: Signs that writers of terminals, Markdown and HTML give a meaning to, and those that pictures are made of.
SIGNS = "│█▓▒░▁▏├╭─·…|*_`~#<>&[]()!\\\"'$%+-=.:/ \t\n\r\x1b\x07\x9b\u202eaZ09é漢"
HOSTILE = st.text(st.sampled_from(SIGNS), min_size=1, max_size=24).map(lambda name: f"<{name}>")


def blocks_with(name: str) -> tuple[Sentence | Labelled | Table, ...]:
    """Every block that holds recorded words."""
    columns = (Column("share", "number"), Column("kernel", is_name=True))
    return (
        Sentence(f"the heaviest is {name}", "headline"),
        Sentence(f"a note about {name}", "note"),
        Labelled("why", f"waits for {name}"),
        Table(f"about {name}", columns, (("71.5 %", name),), 3, "kernels"),
    )


def report_with(name: str) -> Report:
    """A report whose only section is about the name."""
    section = Section("hot", "Hot", "What is hot?", blocks_with(name))
    return Report("A run", "run", (section,), Provenance("1", "wavewright report run"))


def words_of(text: str) -> str:
    """Letters without spaces, however a writer shows them: sentences join them, cells escape them."""
    return re.sub(r"\s|\\[trn]", "", text)


@settings(max_examples=60, deadline=None)
@given(HOSTILE)
def test_names_survive_in_a_terminal(name: str) -> None:
    text = plain_text(blocks_with(name), 200)
    assert words_of(text).count(words_of(printable(name))) == 5
    assert not set(text) & set("\x1b\x07\x9b\u202e\r")


@settings(max_examples=60, deadline=None)
@given(HOSTILE)
def test_names_survive_in_html(name: str) -> None:
    page = html_document(report_with(name)).decode()
    assert words_of(html.unescape(page.replace("<br>", " "))).count(words_of(printable(name))) >= 5


@settings(max_examples=60, deadline=None)
@given(HOSTILE)
def test_names_survive_in_json(name: str) -> None:
    verdict, note, why, table = json.loads(json_document(report_with(name)))["sections"][0]["blocks"]
    assert all(name in text for text in (verdict["text"], note["text"], why["text"], table["title"]))
    assert table["rows"] == [["71.5 %", name]]


@settings(max_examples=60, deadline=None)
@given(HOSTILE)
def test_names_survive_in_markdown(name: str) -> None:
    for text in (
        markdown_document(report_with(name)).decode(),
        brief_markdown(report_with(name).sections, subject="run", losses=(), commands=()),
    ):
        assert letters(text).count(letters(printable(name))) >= 5
        assert not set(text) & set("\x1b\x07\x9b\u202e\r")


def letters(text: str) -> str:
    """Without signs that Markdown escapes or that stand around code: readers are left with the others."""
    return re.sub(r"[\\`'*_|]+", "", words_of(html.unescape(text.replace("<br>", " "))))


@pytest.mark.parametrize("name", NAMES)
def test_names_survive_in_workbooks(name: str) -> None:
    pytest.importorskip("xlsxwriter")
    from wavewright.writers.xlsx.workbook import render

    with zipfile.ZipFile(io.BytesIO(render(report_with(name)))) as book:
        strings = ET.fromstring(book.read("xl/sharedStrings.xml"))  # noqa: S314 - our own file
    texts = ["".join(each.itertext()) for each in strings]
    assert sum(name in text for text in texts) >= 4


@pytest.mark.parametrize("name", NAMES)
def test_a_sentence_that_quotes_a_name_stays_a_sentence(name: str) -> None:
    verdict = headline(f"the heaviest is {name} with 3 ms")
    assert readable([verdict, GAP]) == (verdict,)


def test_only_terminals_show_what_is_drawn() -> None:
    bars = Table("", (Column("share", "number"), Column("", "bar"), Column("depth", is_drawn=True)),
                 (("50 %", Cell("", share=0.5, bar_width=4), "▁▄█"),))  # fmt: skip
    lines = [sentence("1. slow  ", Drawn("██  "), (" at most 5 %", "bold")), bars, Rule("2  Decoded")]
    assert plain_text(lines, 60).splitlines()[:3] == [
        "1. slow  ██   at most 5 %",
        "share        depth",
        " 50 %  ██    ▁▄█",
    ]
    verdict, table, title = readable(lines)
    assert (verdict, title) == (sentence("1. slow  ", (" at most 5 %", "bold")), Sentence("2  Decoded"))
    assert isinstance(table, Table)
    assert [column.heading for column in table.columns] == ["share", "depth"]


def test_lines_of_a_chart_are_one_picture() -> None:
    picture = chart([sentence("GPU 0 │", ("▁▂", "red")), "       +0 ns   +3 ms"], "busy")
    assert picture.text == "busy\nGPU 0 │▁▂\n       +0 ns   +3 ms"
    assert [picture.text[mark.begin : mark.end] for mark in picture.marks] == ["busy", "▁▂"]
    assert plain_text([picture], 100).splitlines() == ["busy", "GPU 0 │▁▂", "       +0 ns   +3 ms"]


def test_a_grid_is_labels_elsewhere() -> None:
    grid = Grid((("GPU", "gfx942", "MI300X"), ("-", "a bullet")), (GridColumn(), GridColumn(), GridColumn()))
    assert readable([grid]) == (Labelled("GPU", "gfx942; MI300X"), Sentence("a bullet"))


@pytest.mark.some_cases(3)
@pytest.mark.parametrize("name", NAMES)
def test_names_of_markers_reach_briefs(tmp_path: Path, name: str) -> None:
    events = [
        {"ph": "X", "cat": "user_annotation", "name": name, "pid": 7, "tid": 7, "ts": 0, "dur": 9000},
        {"ph": "X", "cat": "cuda_runtime", "name": "hipLaunchKernel", "pid": 7, "tid": 7, "ts": 10, "dur": 5,
         "args": {"correlation": 1}},
        {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 1, "ts": 30, "dur": 800,
         "args": {"correlation": 1, "device": 0, "stream": 1}},
    ]  # fmt: skip
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    for verb in ("regions", "summary"):
        done = call(verb, path, "--brief")
        assert done.status == 0, done.stderr
        assert name.replace("|", "\\|") in done.stdout or name in done.stdout, verb


def test_preformatted_text_keeps_its_lines() -> None:
    assert plain_text([Preformatted("a \\\n  b")], 100).splitlines() == ["a \\", "  b"]
