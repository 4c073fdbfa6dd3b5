"""Everything that an exported page would hold, asked of documents that are damaged, absurd or malicious."""

from __future__ import annotations

import json
from functools import partial
from itertools import islice

import pytest

from tests.kit.hostile_documents import DAMAGED_RUNS, DAMAGED_TRACES, damaged_run, damaged_trace
from tests.kit.sampling import thirds
from wavewright.errors import WavewrightError
from wavewright.model.document import Document, Library
from wavewright.page.payloads import ask
from wavewright.page.questions import questions_about
from wavewright.readers.opening import open as open_path

_MOST_OF_A_QUESTION = 8
_LARGE = {"much code"}
"""Takes seconds; the browser looks at it."""


def _answers(document: Document, third: int) -> int:
    """How many answers a third of the questions has; a refusal in a sentence of ours is one."""
    count = 0
    for question in [*questions_about(document.kind).values()][third::3]:
        for given in islice(question.held(document), _MOST_OF_A_QUESTION):
            try:
                answer = ask(document, question.name, {name: str(value) for name, value in given.items()})
            except WavewrightError as error:
                assert error.what
            else:
                if answer.media_type == "application/json":
                    json.loads(answer.content, parse_constant=lambda constant: pytest.fail(constant))
            count += 1
    return count


DOCUMENTS = [
    *(("trace", name) for name in DAMAGED_TRACES if name not in _LARGE),
    *(("run", name) for name in DAMAGED_RUNS),
]


@pytest.mark.first_case
@pytest.mark.parametrize(("document", "third"), thirds(DOCUMENTS))
def test_every_question_has_an_answer_or_a_sentence(document: tuple[str, str], third: int) -> None:
    kind, name = document
    make = damaged_trace if kind == "trace" else damaged_run
    library = Library()
    for _ in range(2):  # the second one to compare with
        library.add(name, name, partial(open_path, make(name)))
    assert _answers(library.document(0), third) > 4
