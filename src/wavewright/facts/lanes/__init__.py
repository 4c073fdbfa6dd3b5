"""Rules by which LDS and the vector L1 cache serve lanes, declared in TOML with evidence; the rest is refused.

`lds_rule("gfx942", "read", 16)` and `coalescing_rule("gfx942")` answer from the rules that come with wavewright, a
`LaneRules` of `read_lane_rules(file)` from those of the user over them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from wavewright.facts.lanes.rule_facts import CONFIDENCES as CONFIDENCES
from wavewright.facts.lanes.rule_facts import CoalescingRuleFact as CoalescingRuleFact
from wavewright.facts.lanes.rule_facts import LaneRules as LaneRules
from wavewright.facts.lanes.rule_facts import LdsRuleFact as LdsRuleFact
from wavewright.facts.lanes.rule_facts import Refusal as Refusal
from wavewright.facts.lanes.rules_file import declared_rules

_FILE = Path(__file__).parent / "rules.toml"


@cache
def lane_rules() -> LaneRules:
    """The rules that come with wavewright."""
    return declared_rules(_FILE)


def lds_rule(target: str, operation: str, width_bytes: int, *, wave_size: int | None = None) -> LdsRuleFact | Refusal:
    """How LDS of a target serves an operation (read, write, atomic) of a width, or why that is not known."""
    return lane_rules().lds_rule(target, operation, width_bytes, wave_size=wave_size)


def coalescing_rule(target: str) -> CoalescingRuleFact | Refusal:
    """How the vector L1 cache of a target counts accesses, or why that is not known."""
    return lane_rules().coalescing_rule(target)


def read_lane_rules(file: Path) -> LaneRules:
    """The rules of a user's file over those that come with wavewright.

    Raises `UsageError` for a file that cannot be read and for every mistake in it: the error names the file and the
    rule.
    """
    declared, ours = declared_rules(file), lane_rules()
    return LaneRules(ours.lds | declared.lds, ours.coalescing | declared.coalescing)


# --- what an LDS instruction does per lane: operation, width, and how often ---
_ACCESS = re.compile(
    r"ds_(?P<verb>read|load|write|store)(?P<two>2|_2addr)?(?P<far>st64|_stride64)?_[bui](?P<bits>\d+)(?:_d16)?(?:_hi)?"
)
_WIDTHS_BITS = (8, 16, 32, 64, 96, 128)
#: They use the network of LDS, and no address in it.
_WITHOUT_ADDRESS = re.compile(r"ds_(?:b?permute|swizzle|nop|gws|ordered|bvh)")


@dataclass(frozen=True)
class LdsAccess:
    """The accesses of one instruction: each has a rule's cost of its own."""

    operation: str  #: read or write.
    width_bytes: int  #: Of one access of one lane.
    access_count: int  #: 2 for the forms with two offsets (read2, 2addr), which LDS serves one after the other.
    offset_unit_bytes: int  #: offset, offset0 and offset1 count these.


def lds_access(mnemonic: str) -> LdsAccess | Refusal:
    """The accesses of an instruction such as `ds_read2_b64`, or why its cost is not known.

    >>> lds_access("ds_read2st64_b32")
    LdsAccess(operation='read', width_bytes=4, access_count=2, offset_unit_bytes=256)
    """
    parts = _ACCESS.fullmatch(mnemonic)
    if parts and int(parts["bits"]) in _WIDTHS_BITS and (parts["two"] or not parts["far"]):
        width_bytes = int(parts["bits"]) // 8
        unit_bytes = (width_bytes if parts["two"] else 1) * (64 if parts["far"] else 1)
        operation = "read" if parts["verb"] in ("read", "load") else "write"
        return LdsAccess(operation, width_bytes, 2 if parts["two"] else 1, unit_bytes)
    if _WITHOUT_ADDRESS.match(mnemonic):
        return Refusal(f"{mnemonic[:60]} uses no address of LDS")
    why = "transposing reads are undocumented" if "_tr" in mnemonic else "neither a plain read nor a plain write"
    return Refusal(f"no rule is known for {mnemonic[:60]}: {why}")
