"""Questions as such: parameters, payloads, documents."""

from __future__ import annotations

import io
import threading

import msgspec
import polars as pl
import pytest

from tests.kit.small_traces import small_trace
from wavewright.errors import UsageError
from wavewright.model.document import Document, Library
from wavewright.model.run import Run
from wavewright.page.payloads import arrow, ask, json
from wavewright.page.protocol.payload import ARROW, JSON
from wavewright.page.protocol.question import PageQuestion
from wavewright.page.questions import questions_about
from wavewright.questions.kit.parameters import number, text, whole_number

STEPS = [(0, "SALU", 0, 0, 4), (1, "VALU", 8, 4, 8), (1, "VALU", 20, 0, 4)]


@pytest.fixture
def document() -> Document:
    return Library().add("small", "small", lambda: small_trace(["s_nop 0", "v_add_f32 v0, v1, v2"], STEPS))


def read(payload) -> pl.DataFrame:
    assert payload.media_type == ARROW
    return pl.read_ipc_stream(io.BytesIO(payload.content))


@pytest.mark.parametrize("given", ["", "1.5", "x", "9" * 30, "0x10", "NaN"])
def test_whole_numbers_are_whole_and_bounded(given):
    with pytest.raises(UsageError):
        whole_number(given)


@pytest.mark.parametrize("given", ["nan", "inf", "-inf", "one", ""])
def test_numbers_are_finite(given):
    with pytest.raises(UsageError):
        number(given)


def test_texts_are_bounded():
    assert text("a" * 4096)
    with pytest.raises(UsageError):
        text("a" * 4097)


def test_unknown_and_missing_parameters_are_refused():
    question = PageQuestion("wave", print, {"wave": whole_number}, ("wave",))
    with pytest.raises(UsageError, match="no parameter 'color'"):
        question.parsed({"wave": "1", "color": "red"})
    with pytest.raises(UsageError, match="'wave' is missing"):
        question.parsed({})


def test_a_frame_goes_out_as_arrow_and_comes_back_equal(document):
    waves = read(ask(document, "waves", {}))
    assert waves["stall_cycles_total"].to_list() == [4]


def test_other_answers_go_out_as_json(document):
    payload = ask(document, "overview", {})
    assert payload.media_type == JSON
    facts = msgspec.json.decode(payload.content)
    assert (facts["kind"], facts["wave_count"], facts["instruction_count"]) == ("trace", 1, 3)


def test_no_answer_holds_integers_that_javascript_cannot(document):
    for question in questions_about("trace").values():
        for parameters in list(question.held(document))[:2]:
            given = {name: str(value) for name, value in parameters.items()}
            payload = ask(document, question.name, given)
            if payload.media_type == ARROW:
                wide = [name for name, dtype in read(payload).schema.items() if dtype in (pl.Int64, pl.UInt64)]
                assert wide == [], question.name


def test_a_question_about_runs_does_not_fit_a_trace(document):
    with pytest.raises(UsageError, match="no question 'names' about a thread trace"):
        ask(document, "names", {})
    with pytest.raises(UsageError, match="no question 'nothing'"):
        ask(document, "nothing", {})


def test_names_of_an_empty_run():
    run = Library().add("run", "run", lambda: Run([]))
    assert read(ask(run, "names", {})).height == 0


def test_a_wave_that_is_not_there_is_said(document):
    with pytest.raises(UsageError, match="there is no wave 7"):
        ask(document, "wave", {"wave": "7"})


def test_source_texts_are_numbered_and_blank_lines_left_out():
    trace = small_trace(["s_nop 0"], STEPS[:1], places=["a.cpp:1"])
    trace.tables["sources"] = pl.DataFrame({"file": ["a.cpp", "b.cpp"], "text": ["one\n\n  three  \n", None]})
    lines = read(ask(Library().add("t", "t", lambda: trace), "source_texts", {}))
    assert lines.rows() == [("a.cpp", 1, "one"), ("a.cpp", 3, "  three")]


def test_json_knows_no_infinities():
    assert json({"a": float("inf"), "b": [float("nan")]}).content == b'{"a":null,"b":[null]}'


def test_arrow_of_an_empty_frame_has_its_columns():
    assert read(arrow(pl.DataFrame(schema={"row": pl.Int32, "text": pl.String}))).columns == ["row", "text"]


def test_a_document_is_opened_once_also_by_many_threads():
    opened = []
    started = threading.Barrier(4)

    def opener():
        opened.append(1)
        return small_trace(["s_nop 0"], STEPS[:1])

    document = Document(0, "", "", opener)

    def touch():
        started.wait()
        assert document.trace.waves.height == 1

    threads = [threading.Thread(target=touch) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert opened == [1]


def test_what_a_document_keeps_is_made_once(document):
    made = []
    for _ in range(3):
        assert document.kept("index", lambda: made.append(1) or len(made)) == 1


def test_a_trace_is_no_run_and_a_run_no_trace(document):
    with pytest.raises(UsageError, match="is a thread trace, not a run"):
        _ = document.run
    with pytest.raises(UsageError, match="is a run, not a thread trace"):
        _ = Library().add("run", "run", lambda: Run([])).trace
