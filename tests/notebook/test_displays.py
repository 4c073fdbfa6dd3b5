"""What notebooks show of traces, runs, counters and answers."""

from __future__ import annotations

import subprocess
import sys
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import wavewright
from tests.kit.hostile_documents import NASTY
from tests.kit.made_runs import source
from tests.kit.sampling import every_third
from wavewright.analysis.run.gpu_time.timeline import run_timeline
from wavewright.model.blocks import Sentence, Table
from wavewright.model.report import Provenance, Report, Section
from wavewright.model.run import Run
from wavewright.notebook.display import answer_blocks
from wavewright.questions import beside
from wavewright.questions.catalog import QUESTIONS, every_question, question_answered
from wavewright.questions.kit.question import Wording

KINDS = {"trace": "trace", "run": "run/before", "counters": "counters/before"}
MEDIA_TYPES = {"text/plain", "text/markdown", "text/html"}


class _Elements(HTMLParser):
    """The elements of a fragment, which must close what it opens."""

    EMPTY = frozenset({"br", "hr", "img", "meta", "link"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def bundle(shown: Any, **kwargs: Any) -> dict[str, str]:
    made: dict[str, str] = shown._repr_mimebundle_(**kwargs)
    return made


def check_static(html: str) -> _Elements:
    elements = _Elements(html)
    assert not elements.names & {"script", "iframe", "object", "embed", "link", "form", "base"}
    assert not [name for name in elements.attributes if name.startswith("on")]
    assert "http://" not in html.replace("http://www.w3.org/", "")
    return elements


@pytest.fixture(scope="module")
def opened(captures: Path) -> dict[str, Any]:
    return {kind: wavewright.open(captures / path) for kind, path in KINDS.items()}


@pytest.mark.first_case
@pytest.mark.parametrize(
    ("kind", "plain", "table"),
    [
        ("trace", "ThreadTrace trace", "s_waitcnt vmcnt(1)"),
        ("run", "Run before", "computation"),
        ("counters", "CounterSet before", "gather_rows"),
    ],
)
def test_documents_show_a_verdict_a_table_and_a_picture(
    opened: dict[str, Any], kind: str, plain: str, table: str
) -> None:
    shown = bundle(opened[kind])
    assert set(shown) == MEDIA_TYPES
    first, verdict, *_ = shown["text/plain"].splitlines()
    assert first == plain
    assert verdict
    first_line = shown["text/markdown"].splitlines()[0].replace("\\", "").replace("`", "")
    assert first_line.startswith(f"**{verdict[:10]}")
    assert f"{table}" in shown["text/markdown"].replace("\\", "")
    elements = check_static(shown["text/html"])
    assert {"table", "svg", "style"} <= elements.names
    assert shown["text/html"].index("<table") < shown["text/html"].index("<svg")  # previews may lack pictures


@pytest.mark.parametrize("kind", every_third(KINDS))
def test_a_document_shows_the_same_bytes_every_time(opened: dict[str, Any], kind: str) -> None:
    assert bundle(opened[kind]) == bundle(opened[kind])


def test_a_notebook_chooses_media_types(opened: dict[str, Any]) -> None:
    answer = wavewright.ask(opened["run"], "gaps")
    assert set(bundle(answer, include={"text/plain"})) == {"text/plain"}
    assert set(bundle(answer, exclude={"text/html"})) == {"text/plain", "text/markdown"}


def _asked() -> list[tuple[str, str]]:
    needed = {"panels": "panel", "source": "at"}
    return [(kind, name) for kind, topics in QUESTIONS.items() for name in topics if name not in needed]


@pytest.mark.first_case
@pytest.mark.parametrize("asked", every_third(_asked()), ids=" ".join)
def test_every_topic_can_be_asked_and_shown(opened: dict[str, Any], asked: tuple[str, str]) -> None:
    kind, topic = asked
    answer = wavewright.ask(opened[kind], topic)
    shown = bundle(answer)
    assert set(shown) == MEDIA_TYPES
    assert type(answer).__name__ in shown["text/plain"]
    check_static(shown["text/html"])
    assert shown["text/markdown"].strip()


@pytest.mark.slow
def test_answers_are_worded_by_their_topic_or_verb(opened: dict[str, Any]) -> None:
    gaps = bundle(wavewright.ask(opened["run"], "gaps"))
    assert "4 GPUs: 176 gaps" in gaps["text/plain"]
    both = [opened["run"], opened["run"]]
    comparison = import_module("wavewright.analysis.run.compare.compare").compare_runs(both)
    assert isinstance(answer_blocks(comparison, Wording(limit=5))[0], Sentence)
    assert question_answered(comparison) is None
    assert beside.words_beside_questions(comparison)  # it has the words of `compare`


@pytest.mark.slow
def test_answers_without_words_show_their_values_and_tables(opened: dict[str, Any]) -> None:
    timeline = run_timeline(
        opened["run"], import_module("wavewright.analysis.run.select.clocks").node_clocks(opened["run"])
    )
    blocks = answer_blocks(timeline, Wording(limit=3))
    tables = {block.title.split(":")[0]: block for block in blocks if isinstance(block, Table)}
    assert len(tables["spans"].rows) == 3
    assert f"showing 3 of {timeline.spans.height:,} rows" in tables["spans"].title
    assert "start_ns (ns)" in [column.heading for column in tables["spans"].columns]
    assert ("duration_ns", f"{timeline.duration_ns:,}") in tables[""].rows


def test_the_words_of_verbs_are_of_answers_that_no_question_has() -> None:
    answers = {answer for question in every_question() for answer in question.analysis().answers}
    for words in (beside._of_code(), beside._of_counters(), beside._of_runs(), beside._of_traces()):
        assert words
        assert not answers & set(words)


def test_recorded_names_stay_words() -> None:
    events = [{"start_ns": 0, "end_ns": 5, "name": NASTY}, {"start_ns": 7, "end_ns": 20, "name": "plain"}]
    run = Run([source(NASTY, host=NASTY, dispatches=events)])
    for shown in (bundle(run), bundle(wavewright.ask(run, "summary")), bundle(wavewright.ask(run, "kernels"))):
        check_static(shown["text/html"])
        assert "<img" not in shown["text/html"]
        assert "\x1b" not in shown["text/plain"] + shown["text/markdown"]
        assert "\u202e" not in shown["text/plain"] + shown["text/markdown"]


def test_what_cannot_be_shown_says_why(opened: dict[str, Any]) -> None:
    class Gone(Run):
        @property
        def parts(self) -> list[Run]:
            raise wavewright.WavewrightError("the file is gone", where="x.db")

        def chunks(self, *_: Any, **__: Any) -> Any:
            raise wavewright.WavewrightError("the file is gone", where="x.db")

    shown = bundle(Gone(opened["run"].origins))
    assert "the file is gone" in shown["text/plain"] + shown["text/markdown"]


def test_a_report_shows_itself_and_writes_itself(tmp_path: Path) -> None:
    section = Section("gaps", "Idle time", "When?", (Sentence("idle 5 %", "headline"),))
    report = Report(
        "The run", "run", (section, Section("x", "Steps", "Which?", skipped="no steps")), Provenance("0", "")
    )
    shown = bundle(report)
    assert "idle 5 %" in shown["text/html"]
    assert "Steps: no steps" in shown["text/markdown"]
    assert shown["text/plain"].startswith("The run")
    report.write(tmp_path / "report.html")
    assert b"idle 5 %" in (tmp_path / "report.html").read_bytes()
    with pytest.raises(wavewright.UsageError, match="no report format"):
        report.write(tmp_path / "report.doc")


def test_displays_cost_nothing_before_they_are_asked_for() -> None:
    code = (
        "import sys, wavewright; wavewright.Run, wavewright.ThreadTrace, wavewright.CounterSet;"
        "print([m for m in ('polars', 'rich', 'IPython', 'anywidget', 'wavewright.notebook', 'wavewright.words')"
        " if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.slow
def test_displays_need_no_ipython(captures: Path) -> None:
    code = (
        "import sys\n"
        "for name in ('IPython', 'ipywidgets', 'anywidget', 'traitlets', 'jupyter_core'): sys.modules[name] = None\n"
        "import wavewright\n"
        f"run = wavewright.open({str(captures / 'counters/before')!r})\n"
        "print(sorted(run._repr_mimebundle_()))\n"
        "try: wavewright.show(run, live=True)\n"
        "except wavewright.MissingToolError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    media_types, error = done.stdout.splitlines()
    assert media_types == str(sorted(MEDIA_TYPES))
    assert error == "show(live=True) needs the package anywidget; pip install 'wavewright[notebook]'"
