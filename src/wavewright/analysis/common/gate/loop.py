"""One turn of tuning: did an edit help, what explains it, what to try next?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from wavewright.analysis.common.gate import GateAnswer, measured_text, sentence
from wavewright.analysis.common.gate.check import CANNOT_TELL, FAIL, JudgedFinding
from wavewright.base.shown import command_line
from wavewright.model.answer import Answer
from wavewright.model.schema import frame_of

BETTER, EQUAL, WORSE = "better", "equal", "worse"
_FINDINGS = 3  #: Findings of the diagnosis that an answer lists.
#: Subjects of which the first that the gate checked decides about the turn.
_DECIDING = ("step", "gpu-time", "kernel-time", "cycles", "kernel")


@dataclass(frozen=True)
class LoopAnswer(Answer, package=__package__):
    """One turn of tuning."""

    kind: str
    outcome: str  #: better, equal, worse or cannot tell.
    decided_by: str  #: The quantity that decided, with change and noise.
    change: float | None  #: Of it, as a share; None = not measured on both sides.
    noise: float | None  #: What it differs by without a cause; None = not known.
    reasons: tuple[str, ...]  #: Why it cannot be told.
    explained_by: str  #: The verdict of the comparison; empty = there is none.
    next_commands: tuple[str, ...]  #: What to run next, ready to be run.
    findings: pl.DataFrame

    def headline(self) -> str:
        """The outcome in one sentence."""
        why = self.decided_by or "; ".join(self.reasons) or "nothing that decides was measured"
        return f"{self.outcome}: {why}"


def judged_turn(
    gate: GateAnswer, explained_by: str, findings: Sequence[JudgedFinding], before: str, after: str
) -> LoopAnswer:
    """The answer of a gate put together with what explains it."""
    check = next((row for subject in _DECIDING for row in gate.checks.to_dicts() if row["subject"] == subject), None)
    outcome = _outcome(gate, check)
    rows = [
        {"rule": item.rule, "verdict": item.sentence, "gain_max": item.share, "file": item.file, "line": item.line}
        for item in findings[:_FINDINGS]
    ]
    decided_by = ""
    if check is not None:
        before_text, after_text = (measured_text(check[name], check["unit"]) for name in ("base", "value"))
        decided_by = f"{sentence(check)}: {before_text} before, {after_text} after"
    return LoopAnswer(
        kind=gate.kind,
        outcome=outcome,
        decided_by=decided_by,
        change=None if check is None else check["change"],
        noise=None if check is None else check["noise"],
        reasons=gate.reasons if outcome == CANNOT_TELL else (),
        explained_by=explained_by,
        next_commands=_next(outcome, gate.kind, before, after),
        findings=frame_of(LoopAnswer.tables["findings"], rows),
    )


def _outcome(gate: GateAnswer, check: Mapping[str, Any] | None) -> str:
    if gate.verdict == FAIL:
        return WORSE
    is_known = check is not None and not gate.reasons and check["change"] is not None and check["noise"] is not None
    if check is not None and is_known and check["change"] < 0 and -check["change"] > check["noise"]:
        return BETTER
    return CANNOT_TELL if gate.verdict == CANNOT_TELL else EQUAL


def _next(outcome: str, kind: str, before: str, after: str) -> tuple[str, ...]:
    """The commands that are worth most now."""
    compare = f"wavewright compare {command_line([before, after])} --json"
    diagnose = f"wavewright diagnose {command_line([after])} --json"
    plan = f"wavewright diagnose {command_line([before])} --json"
    again = "wavewright capture att --dry-run -- PROGRAM" if kind == "trace" else "wavewright capture run -- PROGRAM"
    if outcome == BETTER:
        return diagnose, compare
    if outcome == WORSE:
        return compare, plan
    return (again, compare) if outcome == CANNOT_TELL else (diagnose, compare)
