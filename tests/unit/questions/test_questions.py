"""Topics: every one answers or says why not, leads only to questions that can be asked, and is found by its answer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from synth.counter_capture import CounterCapture, write_counters
from synth.kernel_work import KernelWork
from synth.rocpd import write_rocpd_ranks
from synth.workload import Workload
from tests.kit.made_decoded import NAME, decoded_files, write_files
from wavewright.errors import UnsupportedError, UsageError
from wavewright.model.blocks import Code, Finding, Sentence
from wavewright.model.document import Document
from wavewright.questions import comparison
from wavewright.questions.catalog import QUESTIONS, question_answered, question_of
from wavewright.questions.kit.question import Wording
from wavewright.readers.opening import open as open_path
from wavewright.writers.markdown.blocks import markdown_of


def _run(folder: Path) -> Path:
    write_rocpd_ranks(folder, Workload(dispatches=300, ranks=2, seed=7))
    return folder


def _trace(folder: Path) -> Path:
    return write_files(folder / NAME, decoded_files())


def _counters(folder: Path) -> Path:
    write_counters(folder, CounterCapture("gfx942", kernels=(KernelWork("copy", dispatch_count=4), KernelWork("gemm"))))
    return folder


_MAKE: dict[str, Callable[[Path], Path]] = {"run": _run, "trace": _trace, "counters": _counters}
EVERY = [(kind, name) for kind, topics in QUESTIONS.items() for name in topics]


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Document]:
    paths = {kind: make(tmp_path_factory.mktemp(kind)) for kind, make in _MAKE.items()}
    return {kind: Document(0, kind, str(path), lambda path=path: open_path(path)) for kind, path in paths.items()}


@pytest.mark.first_case
@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_every_topic_has_a_verdict_and_leads_on(kind: str, name: str, documents: dict[str, Document]) -> None:
    topic, document = QUESTIONS[kind][name], documents[kind]
    if name == "lanes":  # this trace does not record its GPU
        with pytest.raises(UnsupportedError, match="which GPU"):
            topic.answer(document)
        return
    answer = topic.answer(document)
    section = topic.worded(document, answer, Wording(limit=5))
    assert any(isinstance(block, Sentence) and block.style == "headline" for block in section.blocks) or (
        (kind, name) == ("counters", "kernels")
    )
    assert topic.sentence.endswith("?")
    assert markdown_of(section.blocks)
    assert type(answer) in topic.analysis().answers
    assert question_answered(answer) is topic
    assert section.definition or name == "about"
    assert len({table.name for table in section.data}) == len(section.data)
    assert section.next_questions, "an answer leads on"
    for question in section.next_questions:
        question_of(kind, question.topic).section(document, question.parameters, Wording(limit=2))


@pytest.mark.some_cases(6)
@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_the_same_answer_is_computed_once(kind: str, name: str, documents: dict[str, Document]) -> None:
    topic = QUESTIONS[kind][name]
    if name not in ("budget", "speed", "lanes"):  # which are made of answers that are computed once
        assert topic.answer(documents[kind]) is topic.answer(documents[kind])


@pytest.mark.first_case
@pytest.mark.parametrize("kind", list(QUESTIONS))
def test_diagnoses_are_findings(kind: str, documents: dict[str, Document]) -> None:
    section = QUESTIONS[kind]["diagnose"].section(documents[kind])
    findings = [block for block in section.blocks if isinstance(block, Finding)]
    assert [finding.number for finding in findings] == list(range(1, len(findings) + 1))
    assert all(finding.handle and finding.paragraphs for finding in findings)
    assert findings or kind == "run"


def test_parts_of_runs_are_chosen_by_handle(documents: dict[str, Document]) -> None:
    summary = QUESTIONS["run"]["summary"]
    whole = summary.answer(documents["run"])
    part = summary.answer(documents["run"], **summary.parsed({"rank": "r1"}))
    assert part.processes.height < whole.processes.height
    kernels = QUESTIONS["run"]["kernels"]
    names = kernels.answer(documents["run"]).kernels["name"].to_list()
    chosen = kernels.answer(documents["run"], **kernels.parsed({"name": "k1"}))
    assert chosen.kernels["name"].to_list() == [names[1]]
    with pytest.raises(UsageError, match="no kernel k9999"):
        kernels.answer(documents["run"], name="k9999")
    with pytest.raises(UsageError, match="not a window"):
        summary.parsed({"time": "now"})


def test_code_is_shown_around_a_handle(documents: dict[str, Document]) -> None:
    source = QUESTIONS["trace"]["source"]
    hot = source.section(documents["trace"])
    lines = [line for block in hot.blocks if isinstance(block, Code) for line in block.lines]
    handle = max((line for line in lines if line.handle), key=lambda line: line.share or 0.0).handle
    around = source.section(documents["trace"], {"at": handle, "lines": "6"})
    shown = [line for block in around.blocks if isinstance(block, Code) for line in block.lines]
    assert handle in [line.handle for line in shown]
    assert len(shown) <= 8
    assert sum(line.share or 0.0 for line in lines) <= 1.0 + 1e-9
    with pytest.raises(UsageError, match="no code row"):
        source.section(documents["trace"], {"at": "i0xffffffff"})
    with pytest.raises(UsageError, match="no instruction comes from this file"):
        source.section(documents["trace"], {"file": "nowhere.hip"})


def test_waits_of_one_instruction(documents: dict[str, Document]) -> None:
    waits = QUESTIONS["trace"]["waits"]
    whole = waits.answer(documents["trace"])
    if not whole.waits.height:
        pytest.skip("the trace has no waits")
    address = whole.waits["address"][0]
    alone = waits.answer(documents["trace"], **waits.parsed({"at": hex(address)}))
    assert address in alone.waits["address"].to_list()
    assert alone.waits.height <= whole.waits.height


def test_unknown_topics_and_parameters_are_refused(documents: dict[str, Document]) -> None:
    with pytest.raises(UsageError, match="no topic 'nothing'"):
        question_of("run", "nothing")
    with pytest.raises(UsageError, match="no parameter 'colour'"):
        QUESTIONS["run"]["gaps"].section(documents["run"], {"colour": "red"})


def test_a_document_that_takes_the_place_of_another_in_memory_is_compared_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "_compared", lambda documents, *_args, **_force: documents[1].path)
    base = Document(0, "base", "base", lambda: pytest.fail("it is not read"))
    for number in range(20):  # an object that was just freed mostly gives its id to the next one
        other = Document(0, "other", f"other {number}", lambda: pytest.fail("it is not read"))
        assert comparison.compared([base, other], ["A", "B"]) == f"other {number}"
