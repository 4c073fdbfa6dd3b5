"""Rules that have no voice among the findings (rule_voices.toml)."""

from __future__ import annotations

from wavewright.facts.loader import Fact, FactTable


class SilentRule(Fact, frozen=True):
    """A rule whose findings are notes."""

    rule: str  #: Name of the finding; of a run the id of its rule.
    reason: str


#: Kind of document -> rules without a voice.
SILENT_RULES = {kind: FactTable("metrics/rule_voices.toml", SilentRule, kind) for kind in ("trace", "run", "counters")}


def has_voice(kind: str, rule: str) -> bool:
    """True if what the rule has to say about a document of this kind is a finding."""
    return rule not in SILENT_RULES[kind]
