"""Reports for the tests of writers: a real one, one with a block of each kind, and one full of hostile words."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import polars as pl
import pytest

from synth.rocpd import write_rocpd_ranks
from synth.workload import Workload
from tests.kit.hostile_documents import LONG, NASTY, damaged_run, damaged_trace
from tests.kit.made_decoded import NAME, decoded_files, write_files
from wavewright.errors import WavewrightError
from wavewright.model.blocks import Code, CodeLine, Column, Finding, Labelled, Picture, Preformatted, Sentence, Table
from wavewright.model.document import Document, Library
from wavewright.model.next_question import NextQuestion
from wavewright.model.report import DataTable, InputFile, Provenance, Report, Section
from wavewright.model.schema import table_spec
from wavewright.questions.catalog import QUESTIONS
from wavewright.readers.opening import open as open_path
from wavewright.writers.svg.markup import Svg

#: Words that mean something in Markdown, HTML, CSS, shells, spreadsheets or on GitHub.
HOSTILE = (
    NASTY, "very_long_" * 30, "@root", "see #123 and GH-12", "a|b", "a\\|b", "`` ` ", "```\n# x", "[x](http://evil.example)",
    "http://evil.example/?a=1&b=2", "www.evil.example", "<img src=x onerror=alert(1)>", "# heading", "heading #",
    "1. list", "2) list", "- item", "+ item", "> quote", "***", "---", "===", "_x_ __y__ a_b_c", "*a* **b**",
    "~~gone~~", "&lt;&amp;&#64;", "![i](x)", "<!-- c -->", "$x^2$", ":memo:", "a@b.example", "\\", "\\`", "deadbeef1",
    "x\ty", "", '"onmouseover="alert(1)', "'single'", "\u202eevil", "[ref]: http://evil.example", "<details>",
    "| a | b |", "javascript:alert(1)", "@import url(//x)", "user/repo#12", "=cmd()", "word" * 40, "</style><b>",
)  # fmt: skip

SPEC = table_spec("names", "one name", "name String - | as recorded\ntime_ns Float64? ns | how long")


@cache
def _scratch() -> Path:
    return Path(mkdtemp(prefix="wavewright-reports-"))


@cache
def run_path() -> Path:
    """A synthetic run."""
    folder = _scratch() / "run"
    write_rocpd_ranks(folder, Workload(dispatches=60, ranks=1, seed=5))
    (path,) = folder.glob("*.db")
    return path


@cache
def trace_path() -> Path:
    """A decoded thread trace."""
    return write_files(_scratch() / NAME, decoded_files())


def document_at(path: Path) -> Document:
    """What is at the path."""
    return Library().add(path.name, str(path), lambda: open_path(path))


@cache
def topic_report(path: Path) -> Report:
    """All topics about what is at the path; those that cannot be answered are skipped."""
    document = document_at(path)
    sections = []
    for topic in QUESTIONS[document.kind].values():
        try:
            sections.append(topic.section(document))
        except WavewrightError as error:
            sections.append(Section(topic.name, topic.title, topic.sentence, skipped=str(error)))
    command = f"wavewright report {path} -o report.md"
    return Report(f"Report on {path.name}", document.kind, tuple(sections), _provenance(command, str(path)))


def small_report() -> Report:
    """One block of each kind."""
    frame = pl.DataFrame({"name": ["gemm", "copy"], "time_ns": [1.5, None]})
    columns = (Column("share", role="number"), Column("name", is_name=True))
    lines = (CodeLine(1, "x = 1", 0.5, "50 %"), CodeLine(None, "v_add", 0.25, "9K", "i0x10"), CodeLine(None, ""))
    blocks = (
        Sentence("busy 92.0 %", "headline"),
        Sentence("GPUs idle; `wavewright gaps` tells why"),
        Sentence("a short sample", "note"),
        Sentence("12 packets", "loss"),
        Finding(1, "Small copies", "at most 6.9 %", (Labelled("do", "copy once"), Labelled("see", "a\nb")), "f1"),
        Finding(2, "Idle", "", (), "f2"),
        Table("2 kernels", columns, (("75.0 %", "gemm"), ("25.0 %", "copy"))),
        Code("a.py", lines),
        Preformatted("▁▂▃", is_chart=True),
        Preformatted("a  b"),
        picture("bars"),
    )
    asked = NextQuestion("gaps", {"time": "0:5"}, "the longest")
    first = Section(
        "summary", "Time", "Where did it go?", blocks, (DataTable("names", SPEC, frame),), "Sums.", "", (asked,)
    )
    second = Section("ranks", "Ranks", "Which is late?", skipped="one rank")
    made_of = _provenance("wavewright report my.db -o report.md", "my.db")
    return Report("A run", "run", (first, second), made_of, ("1 packet lost",))


def picture(name: str) -> Picture:
    """A bar."""
    svg = Svg(100, 20, title=name, light={"bar": "fill:#123456"}, dark={"bar": "fill:#abcdef"})
    svg.add("rect", "bar", x=0, y=0, width=50, height=20, title="half")
    return Picture(name, svg.text(), "half of it")


def hostile_report() -> Report:
    """Hostile words everywhere."""
    frame = pl.DataFrame({"name": HOSTILE, "time_ns": [float(number) for number in range(len(HOSTILE))]})
    blocks: list[object] = [Sentence(word, "headline") for word in HOSTILE]
    for word in HOSTILE:
        three = (Column(word, is_name=True), Column("text"), Column(word, role="number"))
        blocks += [
            Sentence(word), Sentence(f"before {word} after"), Sentence(word, "note"), Labelled(word, word),
            Table(word, three, ((word, word, "1.0 %"), (word, word, "-"))),
            Code(word, (CodeLine(1, word, 0.5, word, word), CodeLine(None, word), CodeLine(None, ""))),
            Preformatted(word), Picture(word, f"<svg>{word}</svg>", word), Picture(word, picture("a").svg, word),
        ]  # fmt: skip
    blocks += [Finding(number, word, word, (Labelled(word, word),), word) for number, word in enumerate(HOSTILE, 1)]
    wide = tuple(Column(f"column {number}", role="number") for number in range(15))
    blocks += [Table("wide", (*wide, Column("name", is_name=True)), ((*map(str, range(15)), "last"),))]
    blocks += [Table("long", (Column("name", is_name=True), Column("text")), tuple((word, word) for word in HOSTILE))]
    sections = [
        Section(word, word, word, tuple(blocks if not number else blocks[:3]), (DataTable(word, SPEC, frame),), word,
                "" if number % 2 else word, (NextQuestion(word, {word: word}, word),))
        for number, word in enumerate(HOSTILE)
    ]  # fmt: skip
    files = (InputFile(NASTY, 5, "a" * 64), InputFile(LONG, 1 << 40, "b" * 64, is_whole=False))
    made_of = Provenance(NASTY, NASTY, files, dict.fromkeys(HOSTILE, NASTY), dict.fromkeys(HOSTILE, NASTY))
    return Report(NASTY, "run", tuple(sections), made_of, HOSTILE)


_PATHS: dict[str, Callable[[], Path]] = {
    "run": run_path,
    "trace": trace_path,
    "nasty trace": lambda: damaged_trace("nasty names"),
    "long trace": lambda: damaged_trace("long names"),
    "empty run": lambda: damaged_run("nothing"),
    "long run": lambda: damaged_run("long names"),
}
#: Names of reports, as parameters of tests.
REPORTS = ("small", "hostile", *(name for name in _PATHS if name != "long run"))
ALL_REPORTS = (*REPORTS, pytest.param("long run", marks=pytest.mark.slow))


@cache
def report_named(name: str) -> Report:
    """The report of that name: one made by hand, or all topics about a sound or a damaged capture."""
    if name in _PATHS:
        return topic_report(_PATHS[name]())
    return small_report() if name == "small" else hostile_report()


def _provenance(command: str, path: str) -> Provenance:
    return Provenance("0.2.0", command, (InputFile(path, 1234, "0" * 64),), {"time": "30%:60%"}, {"GPU": "MI300X"})
