"""Whatever the page is asked, and with whatever parameters: an answer of bounded size, or a sentence of ours."""

from __future__ import annotations

import time
from functools import cache, partial

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from synth import Scenario, compiled, synthesize, write_capture
from synth.rocpd import write_rocpd_ranks
from synth.workload import Workload
from tests.kit.sampling import examples
from wavewright.errors import WavewrightError
from wavewright.model.document import Document, Library
from wavewright.page.payloads import ask
from wavewright.page.questions import questions_about
from wavewright.readers.opening import open as open_path

_MOST_BYTES = 8 << 20
_MOST_SECONDS = 5.0
_EDGES = (
    "", " ", "0", "-0", "00", "-1", "1", "2", "3", "7", "63", "64", "1000000", "2147483647", "2147483648",
    "-2147483649", "4294967296", "9223372036854775807",
    "9223372036854775808", "-9223372036854775808", "1e300", "-1e300", "1e-300",
    "inf", "-inf", "nan", "1_0", "\u0663", "\u0000", "\u202e", "\U0001f600", "\ud800", "'; drop table x", "%00",
    "a" * 4096, "9" * 4096, "[" * 4096, "(" * 2000 + "1" + ")" * 2000, "a=b\n" * 1000, "1/0", "x = x", "true", "null",
    "../../etc/passwd",
)  # fmt: skip
_WORDS = (
    "instructions", "states", "pipes", "waves", "markers", "events", "shader_data", "other_simd", "occupancy", "source",
    "kernel", "line", "function", "row", "instruction", "file", "gpu", "name", "api", "copies", "threads", "queues",
    "busy", "kernels", "hip", "hsa", "roctx", "all",
)  # fmt: skip
_texts = st.one_of(
    st.sampled_from(_EDGES),
    st.integers(-3, 40).map(str),
    st.integers(-(1 << 66), 1 << 66).map(str),
    st.floats().map(repr),
    st.sampled_from(_WORDS),
    st.text(max_size=40),
)


@cache
def _documents(folder: str) -> dict[str, Document]:
    """A small trace and a small run, twice each, for the questions that compare."""
    library = Library()
    scenario = Scenario(
        kernels=(compiled("tiled_gemm", "gfx942"), compiled("saxpy", "gfx942")), dispatches=2, shader_engines=2,
        workgroups=4, waves_per_simd=4, loop_trips=4, other_waves=10, realtime_pairs=2, seed=3,
    )  # fmt: skip
    write_capture(synthesize(scenario), f"{folder}/trace")
    write_rocpd_ranks(f"{folder}/run", Workload(dispatches=60, ranks=2, seed=3, hostile_names=True))
    trace, run = open_path(f"{folder}/trace"), open_path(f"{folder}/run")
    made = [library.add("made", folder, partial(lambda opened: opened, opened)) for opened in (trace, run, trace, run)]
    return {"trace": made[0], "run": made[1]}


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Document]:
    return _documents(str(tmp_path_factory.mktemp("asked")))


def _names_of(document: Document) -> tuple[str, ...]:
    """Names that the document itself offers: with them nonsense gets beyond the first check."""
    import json

    layers = [layer["name"] for layer in json.loads(ask(document, "layers", {}).content)["layers"]]
    curves = json.dumps(json.loads(ask(document, "curve_names", {}).content))
    found = [part for part in curves.split('"') if part.isidentifier()]
    return tuple(dict.fromkeys([*layers, *found]))


NAMES = sorted({*questions_about("trace"), *questions_about("run")})


@pytest.mark.first_case
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        (name, kind)
        for kind in ("trace", "run")
        for name, question in questions_about(kind).items()
        if question.parameters
    ],
)
def test_nonsense_is_answered_or_refused_in_a_sentence(documents: dict[str, Document], name: str, kind: str) -> None:
    document, question = documents[kind], questions_about(kind)[name]
    values = st.one_of(_texts, st.sampled_from(_names_of(document)))
    given_parameters = st.fixed_dictionaries(
        dict.fromkeys(question.required, values),
        optional={other: values for other in question.parameters if other not in question.required},
    )

    @settings(max_examples=examples(40), deadline=None, suppress_health_check=list(HealthCheck))
    @given(given_parameters)
    def check(parameters: dict[str, str]) -> None:
        _check(document, name, parameters)

    check()
    for edge in _EDGES:
        _check(document, name, dict.fromkeys(question.required or question.parameters, edge))


@pytest.mark.parametrize("kind", ["trace", "run"])
def test_parameters_that_no_question_has_are_refused(documents: dict[str, Document], kind: str) -> None:
    @settings(max_examples=examples(60), deadline=None)
    @example("overview", "\ud800", "")
    @given(
        st.one_of(st.sampled_from(NAMES), st.text(max_size=50)),
        st.text(max_size=50),
        _texts,
    )
    def check(name: str, parameter: str, value: str) -> None:
        question = questions_about(kind).get(name)
        if question is None or parameter not in question.parameters:
            with pytest.raises(WavewrightError):
                ask(documents[kind], name, {parameter: value})

    check()


@pytest.mark.first_case
@pytest.mark.parametrize("kind", ["trace", "run"])
def test_every_address_of_a_tile_is_answered_or_refused(documents: dict[str, Document], kind: str) -> None:
    """Real layers and curves, levels and tiles out of all bounds."""
    numbers = ("-1", "0", "1", "5", "31", "62", "63", "64", "1000", "2147483648", "9223372036854775807")
    for layer in _names_of(documents[kind]):
        for level in numbers:
            for tile in numbers:
                for name, key in (("spans", "layer"), ("curves", "name")):
                    _check(documents[kind], name, {key: layer, "level": level, "tile": tile})


def _check(document: Document, name: str, parameters: dict[str, str]) -> None:
    begun = time.process_time()
    try:
        answer = ask(document, name, parameters)
    except WavewrightError as error:
        assert len(str(error)) < 20_000
    else:
        assert len(answer.content) < _MOST_BYTES
    assert time.process_time() - begun < _MOST_SECONDS
