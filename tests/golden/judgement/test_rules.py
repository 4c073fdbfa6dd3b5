"""Rules earn their place: numbers have sources, and what is not right in 90 % of the unseen half has no voice."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from tests.golden.judgement.judge import Judgement, Score, judgements, scores
from tests.kit.planted_runs import opened, simulated
from wavewright.analysis.run.diagnose import diagnose_run
from wavewright.facts.counters.limiters import LIMITER_RULES
from wavewright.facts.metrics.rule_voices import SILENT_RULES, SilentRule, has_voice
from wavewright.facts.run_rules import RULES

SCORES = [
    Score(**row) for row in tomllib.loads(Path(__file__).with_name("scores.toml").read_text(encoding="utf-8"))["score"]
]


def test_every_threshold_has_a_source() -> None:
    assert not [rule.id for rule in RULES.values() if rule.say is not None and not rule.source]
    for rule in LIMITER_RULES.values():
        for each in (*rule.decides, *rule.instead, *rule.only_if, *rule.one_of, *rule.signs):
            assert each.source, (rule.name, each.quantity)


def test_rules_that_are_wrong_too_often_have_no_voice() -> None:
    assert {(each.kind, each.rule) for each in SCORES if not each.has_voice} == {
        (kind, rule) for kind, silent in SILENT_RULES.items() for rule in silent
    }


def test_scores() -> None:
    judged = [Judgement("run", "G2", f"capture {number}", is_right=number > 0) for number in range(20)]
    (score,) = scores(judged)
    unseen = [each for each in judged if each.is_unseen]
    assert (score.fired, score.right, score.unseen_fired) == (20, 19, len(unseen))
    assert 0 < len(unseen) < 20
    assert (score.left_out_fired, score.left_out_right) == (20, 19)
    assert score.has_voice is (sum(each.is_right for each in unseen) >= 0.9 * len(unseen))
    (poor,) = scores([each._replace(is_right=False) for each in judged])
    assert (poor.has_voice, poor.left_out_fired) == (False, 0)


@pytest.mark.slow
def test_a_rule_without_a_voice_makes_a_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, _ = simulated("readbacks", 1, 2)
    made = opened(run, tmp_path, "kineto")
    assert diagnose_run(made).findings[0].rule == "G4"
    monkeypatch.setitem(SILENT_RULES["run"]._facts, "G4", SilentRule("G4", "for this test"))
    assert not has_voice("run", "G4")
    answer = diagnose_run(made)
    assert "G4" not in {finding.rule for finding in answer.findings}
    assert "G4" in {note.rule for note in answer.notes}


@pytest.mark.slow
def test_the_scores_are_those_of_today(shared: Path) -> None:
    """Run tools/judge_rules.py after a change of rules."""
    assert scores(judgements(shared)) == SCORES


@pytest.mark.parametrize(("document", "letter", "count"), [("README.md", "J", 36), ("unseen.md", "K", 7)])
def test_every_mechanism_that_was_wrong_has_its_tests(document: str, letter: str, count: int) -> None:
    """The table of the document: its rows, and each test that it names is there."""
    text = (Path(__file__).parent / document).read_text(encoding="utf-8")
    rows = re.findall(rf"^\| {letter}(\d+) \| .+ \| (.+) \|$", text, re.MULTILINE)
    assert [int(number) for number, _ in rows] == list(range(1, count + 1))
    for number, tests in rows:
        for name in re.findall(r"`([^`]+)`", tests):
            path, _, function = name.partition("::")
            source = (Path(__file__).parents[2] / path).read_text(encoding="utf-8")
            assert f"def {function or 'test_'}" in source, f"{letter}{number}: {name}"
