"""The rules of a diagnosis of a run (run_rules.toml)."""

from __future__ import annotations

from wavewright.facts.loader import Fact, FactTable


class RunRule(Fact, frozen=True):
    """One rule. `remedies` start with the call of HIP to change, then in words of PyTorch."""

    id: str
    name: str
    kind: str  #: Part of the time that the bound is taken from: idle, communication, copies, kernels; note or caveat.
    quantity: str
    say: float | None = None  #: From here on it is said,
    stress: float | None = None  #: and from here on with stress.
    source: str = ""  #: Where the thresholds come from; every rule that has one says it.
    unit: str = "share"
    title: str = ""  #: Of a finding; empty = the analysis words it.
    cause: str = ""  #: Sentence with places for the numbers of a finding about gaps; empty = the analysis words it.
    confidence: str = "high"
    confidence_reason: str = "every event of it is recorded"
    remedies: tuple[str, ...] = ()
    false_if: str = ""
    next_command: str = ""


RULES = FactTable("run_rules.toml", RunRule)  #: By their id.
#: Rules about idle time that need the launch of what ended a gap.
OF_LAUNCHES = ("G2", "G3", "G4", "G5", "G6", "G7", "G8", "C3", "L3", "T3")
#: Who owns time that several rules claim: the most specific first.
OWNERS = ("T3", "T4", "G4", "C3", "G7", "G6", "G8", "G5", "G3", "G2", "G1", "C1", "X2", "X1", "T2")
