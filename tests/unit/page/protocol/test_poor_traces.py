"""Curves, histogram and summary of traces that have almost nothing, or nonsense: an answer or a kind error."""

from __future__ import annotations

import json

import pytest

from tests.kit.sampling import every_third_pair
from tests.unit.analysis.test_every_answer import TRACES
from wavewright.errors import WavewrightError
from wavewright.model.document import Document
from wavewright.page.payloads import ask
from wavewright.page.questions import questions_about

ASKED = ("curve_names", "curves", "derived", "histogram", "summary")


@pytest.mark.some_cases(11)
@pytest.mark.parametrize(("name", "kind"), every_third_pair(ASKED, TRACES))
def test_everything_that_an_export_holds_is_answered(name: str, kind: str) -> None:
    document = Document(0, kind, kind, TRACES[kind])
    for given in list(questions_about("trace")[name].held(document))[:40]:
        try:
            payload = ask(document, name, {key: str(value) for key, value in given.items()})
        except WavewrightError as error:
            assert error.what
            continue
        if payload.media_type == "application/json":
            json.loads(payload.content, parse_constant=lambda constant: pytest.fail(constant))
