"""Rules of lanes as users of them see them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

CONFIDENCES = ("counter-proven", "published", "hypothesis")  #: The strongest first; `rules.toml` defines them.
WIDTHS_BYTES = {"b32": 4, "b64": 8, "b96": 12, "b128": 16}
_DWORD_BYTES = 4


@dataclass(frozen=True)
class Refusal:
    """That there is no rule, and why."""

    reason: str


@dataclass(frozen=True)
class LdsRuleFact:
    """How LDS serves aligned accesses of one operation and width on one target."""

    target: str
    operation: str
    width_bytes: int
    banks: int
    phases: tuple[int, ...]  #: Masks of lanes that are served together, in the order of service.
    confidence: str
    evidence: str
    source: str

    @property
    def width_dwords(self) -> int:
        """Dwords that one lane occupies; a narrower access occupies one."""
        return max(1, self.width_bytes // _DWORD_BYTES)

    @property
    def alignment_bytes(self) -> int:
        """An address that this does not divide is unaligned: the rule says nothing about it."""
        return 1 << (self.width_bytes - 1).bit_length()

    @property
    def wave_size(self) -> int:
        """Lanes of the waves that the rule is about."""
        return sum(phase.bit_count() for phase in self.phases)


@dataclass(frozen=True)
class CoalescingRuleFact:
    """How the vector L1 cache of one target counts its accesses."""

    target: str
    group_lanes: int  #: Consecutive lanes that are looked up together.
    segment_bytes: int  #: Each distinct aligned segment of a group is an access.
    counter: str  #: Counter of the hardware that the sum of accesses reproduces.
    confidence: str
    evidence: str
    source: str
    accesses_per_cycle: float | None = None  #: Of one L1; None = not known.
    rate_confidence: str = ""
    rate_evidence: str = ""


@dataclass(frozen=True)
class LaneRules:
    """Rules by target; a question that no rule answers gets a `Refusal` with the reason."""

    #: (target, operation, width in bytes) -> rule.
    lds: dict[tuple[str, str, int], LdsRuleFact] = field(hash=False)
    coalescing: dict[str, CoalescingRuleFact] = field(hash=False)

    def lds_rule(
        self, target: str, operation: str, width_bytes: int, *, wave_size: int | None = None
    ) -> LdsRuleFact | Refusal:
        """The rule of an operation, or why there is none; `wave_size` refuses a rule about other waves."""
        name = plain_target(target)
        width_name = f"b{8 * width_bytes}"
        if not any(rule_target == name for rule_target, _, _ in self.lds):
            return Refusal(f"no LDS rule is known for {name}")
        rule = self.lds.get((name, operation, width_bytes))
        if rule is None and width_bytes in (1, 2):
            rule = _narrowed(self.lds.get((name, operation, _DWORD_BYTES)), width_bytes)
        if rule is None:
            return Refusal(f"no rule is known for LDS {operation}s of {width_name} on {name}")
        if wave_size not in (None, rule.wave_size):
            return Refusal(f"the rule for LDS {operation}s on {name} is about waves of {rule.wave_size} lanes")
        return rule

    def coalescing_rule(self, target: str) -> CoalescingRuleFact | Refusal:
        """The rule of a target's vector L1 cache, or why there is none."""
        name = plain_target(target)
        return self.coalescing.get(name) or Refusal(f"no coalescing rule is known for {name}")


def _narrowed(rule: LdsRuleFact | None, width_bytes: int) -> LdsRuleFact | None:
    if rule is None:
        return None  # without a rule for b32 there is none for b8 and b16
    evidence = f"Taken to be served as b32, which was not measured. {rule.evidence}"
    return replace(rule, width_bytes=width_bytes, confidence="hypothesis", evidence=evidence)


def plain_target(target: str) -> str:
    """A target without what may surround it.

    >>> plain_target("amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-")
    'gfx942'
    """
    return target.strip().rsplit("--", 1)[-1].split(":", 1)[0].lower()[:60] or "an unnamed target"
