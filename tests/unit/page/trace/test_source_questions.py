"""Questions about source: numbers, texts, and that no path leads out of the source folder."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from tests.kit.made_traces import CODE, made
from tests.kit.ui_directories import frame
from wavewright.analysis.trace.listing.line_costs import line_costs
from wavewright.errors import UsageError
from wavewright.model.document import Document
from wavewright.model.trace import ThreadTrace
from wavewright.page.payloads import ask
from wavewright.page.trace.source import LONGEST_LINE, MOST_LINES, source, source_files, source_lines
from wavewright.readers.trace.sources import add_sources

HOSTILE = ["../../etc/passwd:1", "<img src=x onerror=alert(1)>:2", "/a.py:2", "/b.py:1", "/etc/passwd:3", None]
WAVE = {
    "begin": 0,
    "end": 99,
    "instructions": [(time, time // 10, 8, 2, row) for row, time in enumerate(range(0, 60, 10))],
}


def document(**sources: str) -> Document:
    texts = frame("sources", {"file": [f"/{name}.py" for name in sources], "text": list(sources.values())})
    code = frame("code", {**CODE, "inline_chain": HOSTILE})
    return Document(0, "made", "made", lambda: made([WAVE], code=code, sources=texts))


def number_of(shown: Document, name: str | None) -> int:
    return source_files(shown)["file"].to_list().index(name)


def test_files_and_lines_have_the_numbers_of_the_analysis() -> None:
    shown = document(a="one\n  two  \n")
    answer = line_costs(shown.trace)
    files, lines = source_files(shown), source_lines(shown)
    assert files["stall_cycles_total"].sum() == answer.files["stall_cycles_total"].sum() == 15
    at = lines.filter((pl.col("file") == number_of(shown, "/a.py")) & (pl.col("line") == 2))
    assert (at["stall_cycles_total"].item(), at["text"].item()) == (2, "two")
    assert not [name for name, dtype in (files.schema | lines.schema).items() if dtype in (pl.Int64, pl.UInt64)]


def test_a_text_that_is_there_and_one_that_is_not() -> None:
    shown = document(a="one\r\ntwo")
    assert source(shown, file=number_of(shown, "/a.py"))["lines"] == ["one", "two"]
    missing = source(shown, file=number_of(shown, "/b.py"))
    assert missing["lines"] is None
    assert missing["reason"] == "the source text is not part of this capture"
    assert "--source-root" in missing["advice"]
    assert source(shown, file=number_of(shown, None))["reason"] == "these instructions have no debug line"


def test_long_files_and_lines_are_cut() -> None:
    shown = document(a="x" * 10_000 + "\n" * (MOST_LINES + 5))
    answer = source(shown, file=number_of(shown, "/a.py"))
    assert (len(answer["lines"]), answer["line_count"]) == (MOST_LINES, MOST_LINES + 6)
    assert len(answer["lines"][0]) == LONGEST_LINE + 1


@pytest.mark.parametrize("given", ["../../etc/passwd", "/etc/passwd", "-1", "99", "1e3", "a" * 10_000, "%2e%2e/"])
def test_a_file_is_asked_for_by_a_number_that_is_there(given: str) -> None:
    with pytest.raises(UsageError):
        ask(document(), "source", {"file": given})


def test_hostile_names_stay_names(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("inside")
    (tmp_path / "etc").symlink_to("/etc")

    def opened() -> ThreadTrace:
        trace = document().trace
        add_sources(trace, tmp_path)
        return trace

    shown = Document(0, "made", "made", opened)
    texts = dict(shown.trace.sources.iter_rows())
    assert texts["/a.py"] == "inside"
    assert texts["/etc/passwd"] is None
    assert texts["../../etc/passwd"] is None
    reply = json.loads(ask(shown, "source", {"file": str(number_of(shown, "../../etc/passwd"))}).content)
    assert (reply["file"], reply["lines"]) == ("../../etc/passwd", None)
    assert "<img src=x onerror=alert(1)>" in source_files(shown)["file"].to_list()


def test_of_very_many_lines_the_costliest_are_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wavewright.page.trace.source.MOST_COSTED", 2)
    shown = document()
    lines = source_lines(shown)
    assert lines.height == 2
    assert source_files(shown)["line_count"].sum() == 5
    # no cycles passed before the first instruction: its line cost least
    assert number_of(shown, "../../etc/passwd") not in lines["file"].to_list()


def test_flames_are_asked_for_by_name() -> None:
    assert ask(document(), "flame", {"tree": "source"}).content
    with pytest.raises(UsageError, match="no tree"):
        ask(document(), "flame", {"tree": "../x"})
