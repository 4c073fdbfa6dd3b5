"""A plan has every finding with its gain as an interval, and an order that follows from the gains."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from tests.kit.made_traces import made, one_wave
from wavewright.analysis.trace.diagnose import Diagnosis, diagnose
from wavewright.analysis.trace.diagnose.finding import Remedy, StallFinding
from wavewright.facts.stall_classes import plan_words, stall_remedies
from wavewright.model.blocks import readable
from wavewright.words.trace.plan import plan_report, priority
from wavewright.writers.markdown.blocks import markdown_of

WAIT = StallFinding(
    name="wait vector load",
    kind="wait",
    verdict="Waves wait for: vector load",
    reason="loads",
    confidence="high",
    confidence_reason="measured",
    gain_share_min=0.0,
    gain_share_max=0.24,
    stall_cycles_total=600,
    stall_share=0.6,
)
SCALES = Remedy("load arguments once and early", "scalar loads", (3,), 40)


def plan(*findings: StallFinding) -> str:
    empty: Diagnosis = diagnose(made([one_wave()]))
    answer = replace(empty, findings=findings, stall_cycles_total=700, wave_cycles_total=1000)
    return markdown_of(readable(plan_report(answer, limit=9))).replace("\\", "")


@pytest.mark.parametrize(
    ("gain", "confidence", "level"),
    [
        (0.10, "high", "HIGH"),
        (0.0999, "high", "MED"),
        (0.029, "high", "LOW"),
        (0.5, "low", "MED"),
        (0.01, "low", "LOW"),
    ],
)
def test_priority_follows_the_bound_and_the_confidence(gain: float, confidence: str, level: str) -> None:
    assert priority(replace(WAIT, gain_share_max=gain, confidence=confidence)) == level


def test_a_plan_has_the_summary_the_places_and_the_order() -> None:
    small = replace(WAIT, name="wait scalar load", verdict="scalar", gain_share_min=0.01, gain_share_max=0.04)
    text = plan(WAIT, replace(small, stall_cycles_total=50, stall_share=0.05, remedies=(SCALES,)))
    assert "Total: 700 cycles stalled, 70.0 % of the 1.0K cycles of all waves" in text
    assert "wait vector load 600 (60.0 %), wait scalar load 50 (5.0 %)" in text
    assert re.search(r"1\. \[HIGH\] .*\(finding 1; gain 0 to 24\.0 % of the time; effort medium\)", text)
    assert "2. [MED] load arguments once and early (finding 2; gain 1.0 % to 4.0 % of the time; effort small)" in text
    assert "showing" not in text
    assert "gain 10.0 % to 24.0 % of" in plan(replace(WAIT, gain_share_min=0.1))


def test_every_remedy_has_one_effort() -> None:
    efforts = plan_words()
    named = [name for names in efforts.effort_of_remedy.values() for name in names]
    assert sorted(named) == sorted({remedy.name for group in stall_remedies().values() for remedy in group})
    kinds = [kind for names in efforts.effort_of_kind.values() for kind in names]
    assert len(kinds) == len(set(kinds))
    said = str(StallFinding.__doc__).partition("kind is ")[2].rstrip(". \n").replace(" or ", ", ").replace("\n", " ")
    assert set(kinds) == set(re.split(r",\s+", re.sub(r"\s+", " ", said)))
