"""The rules that come with wavewright, and those of users over them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from wavewright.facts.lanes.rule_facts import CoalescingRuleFact, LaneRules, LdsRuleFact, Refusal
from wavewright.facts.lanes.rules_file import declared_rules

_FILE = Path(__file__).parent / "rules.toml"


@cache
def lane_rules() -> LaneRules:
    """The rules that come with wavewright.

    Examples
    --------
    >>> sorted({target for target, _, _ in lane_rules().lds})
    ['gfx1100', 'gfx1201', 'gfx908', 'gfx90a', 'gfx942', 'gfx950']
    """
    return declared_rules(_FILE)


def lds_rule(target: str, operation: str, width_bytes: int, *, wave_size: int | None = None) -> LdsRuleFact | Refusal:
    """How LDS of a target serves an operation (read, write, atomic) of a width, or why that is not known.

    Examples
    --------
    >>> rule = lds_rule("gfx942", "read", 16)
    >>> rule.banks, len(rule.phases), rule.confidence
    (32, 8, 'counter-proven')
    >>> rule = lds_rule("gfx942", "write", 2)
    >>> rule.width_dwords, rule.alignment_bytes, rule.confidence
    (1, 2, 'hypothesis')
    >>> lds_rule("gfx942", "read", 12).reason
    'no rule is known for LDS reads of b96 on gfx942'
    """
    return lane_rules().lds_rule(target, operation, width_bytes, wave_size=wave_size)


def coalescing_rule(target: str) -> CoalescingRuleFact | Refusal:
    """How the vector L1 cache of a target counts accesses, or why that is not known.

    Examples
    --------
    >>> rule = coalescing_rule("gfx942")
    >>> rule.group_lanes, rule.segment_bytes
    (16, 64)
    >>> coalescing_rule("gfx906").reason
    'no coalescing rule is known for gfx906'
    """
    return lane_rules().coalescing_rule(target)


def read_lane_rules(file: Path) -> LaneRules:
    """The rules of a user's file over those that come with wavewright.

    Raises
    ------
    UsageError
        For a file that cannot be read and for every mistake in it: the error names the file and the rule.
    """
    declared, ours = declared_rules(file), lane_rules()
    return LaneRules(ours.lds | declared.lds, ours.coalescing | declared.coalescing)
