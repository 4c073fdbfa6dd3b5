"""Cards of the gallery: their figures, and that looking at many documents keeps few of them open."""

from __future__ import annotations

import shutil

import pytest

from synth.counter_capture import CounterCapture, write_counters
from synth.rocpd import write_rocpd_ranks
from synth.workload import Workload
from tests.kit.made_decoded import decoded_files, write_files
from wavewright.analysis.trace.about.overview import overview
from wavewright.analysis.trace.diagnose import diagnose
from wavewright.model.document import Library
from wavewright.page.gallery import MOST_LENT, card, card_finding
from wavewright.page.inputs import Reading, add_inputs
from wavewright.readers.opening import open_trace


@pytest.fixture
def many(tmp_path):
    for number in range(1, 13):
        write_files(tmp_path / "many" / f"ui_output_agent_1_dispatch_{number}", decoded_files())
    return tmp_path / "many"


def test_a_card_has_the_figures_of_info(many):
    library = Library()
    add_inputs(library, [many], Reading(dispatch="3"))
    facts = card(library.documents[0])
    trace = open_trace(many, dispatch=3)
    seen = overview(trace)
    assert facts["figures"] == {"cycles": seen.span_cycles, "waves": seen.waves, "instructions": seen.instructions}
    assert (facts["kind"], facts["target"], facts["title"]) == ("trace", seen.target or "", "blas::saxpy<64u>")
    assert facts["loss_count"] == sum(loss.is_damage for loss in seen.losses)
    assert facts["document_count"] == len(library.documents) == 12
    assert 0 < len(facts["picture"]["values"]) <= 64
    first = diagnose(trace).findings[:1]
    assert card_finding(library.documents[0])["verdict"] == (first[0].verdict if first else "")


def test_looking_at_many_keeps_few_of_them_open(many):
    library = Library()
    add_inputs(library, [many])
    for number in range(12):
        assert card(library.documents[number])["figures"]["waves"] > 0
    assert not any(document.is_open for document in library.documents)
    assert sorted(library.lent) == list(range(12 - MOST_LENT, 12))
    shutil.rmtree(many)  # cards are remembered, and what was read last is not read again
    assert card(library.documents[0])["figures"]["waves"] > 0
    assert library.documents[11].trace.waves.height > 0
    with pytest.raises(Exception, match="no such file"):
        _ = library.documents[1].opened


def test_the_documents_beside_an_input_are_added_once(many):
    library = Library()
    add_inputs(library, [many])
    card(library.documents[0])
    library.lent.clear()
    _ = library.documents[0].opened
    assert len(library.documents) == 12


def test_runs_and_counters_have_cards_of_their_own(tmp_path):
    write_rocpd_ranks(tmp_path / "run", Workload(dispatches=60, ranks=2, nodes=1, gpus=2, seed=3))
    write_counters(tmp_path / "counters", CounterCapture("gfx942"))
    library = Library()
    run, counters = add_inputs(library, [tmp_path / "run", tmp_path / "counters"])
    of_run, of_counters = card(run), card(counters)
    assert of_run["kind"] == "run"
    assert (of_run["figures"]["processes"], of_run["figures"]["dispatches"]) == (2, run.run.count("dispatches"))
    assert all(0 <= share <= 1 for share in of_run["picture"]["values"])
    assert of_counters["kind"] == "counters"
    assert of_counters["figures"]["dispatches"] == counters.counters.dispatches.height
    assert isinstance(card_finding(run)["verdict"], str)
    assert card_finding(counters)["verdict"]
