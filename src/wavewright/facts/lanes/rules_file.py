"""Files of lane rules (TOML), checked as they are read: those of wavewright and of users are read the same way."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta, field, structs

from wavewright.base.toml import read_toml
from wavewright.errors import UsageError
from wavewright.facts.lanes.rule_facts import WIDTHS_BYTES, CoalescingRuleFact, LaneRules, LdsRuleFact
from wavewright.facts.loader import Fact, UserFact, decoded

_WAVE_SIZES = (32, 64)
_LANES = re.compile(r"(\d{1,4})(?:-(\d{1,4}))?")
_ADVICE = "the file rules.toml in wavewright/facts/lanes is a complete example"

_Targets = Annotated[tuple[Annotated[str, Meta(pattern="^gfx[0-9a-f]{3,5}$")], ...], Meta(min_length=1)]
_Phases = Annotated[tuple[Annotated[str, Meta(max_length=1_000)], ...], Meta(min_length=1)]
_Confidence = Literal["counter-proven", "published", "hypothesis"]
_Entries = Annotated[tuple[dict[str, Any], ...], Meta(max_length=1_000)]


class _LdsEntry(UserFact, frozen=True):
    targets: _Targets
    operations: Annotated[tuple[Literal["read", "write", "atomic"], ...], Meta(min_length=1)]
    width: Literal["b32", "b64", "b96", "b128"]  # b8 and b16 follow b32
    banks: Literal[1, 2, 4, 8, 16, 32, 64, 128]
    phases: str | _Phases  # the name of a list of the file, or the list
    confidence: _Confidence
    evidence: str
    source: str


class _CoalescingEntry(UserFact, frozen=True):
    targets: _Targets
    group_lanes: Literal[1, 2, 4, 8, 16, 32, 64]
    segment_bytes: Literal[32, 64, 128, 256]
    counter: str
    confidence: _Confidence
    evidence: str
    source: str
    accesses_per_cycle: Annotated[float, Meta(gt=0, le=64)] | None = None
    rate_confidence: _Confidence | Literal[""] = ""
    rate_evidence: str = ""

    def __post_init__(self) -> None:
        """Raise ValueError for a rate without its evidence, or the other way round."""
        super().__post_init__()
        rate = {name: getattr(self, name) for name in ("accesses_per_cycle", "rate_confidence", "rate_evidence")}
        missing = [name for name, value in rate.items() if not value]
        if 0 < len(missing) < len(rate):
            raise ValueError(f"has no `{missing[0]}`")


class _RulesFile(Fact, frozen=True):
    phases: dict[str, _Phases] = field(default_factory=dict)
    lds: _Entries = ()
    coalescing: _Entries = ()


def declared_rules(file: Path) -> LaneRules:
    """The rules of one file."""
    declared = decoded(read_toml(file, advice=_ADVICE), _RulesFile, where=str(file), advice=_ADVICE)
    lists = {name: _phases(texts, f"{file}, phases {name[:60]!r}") for name, texts in declared.phases.items()}
    lds: dict[tuple[str, str, int], LdsRuleFact] = {}
    for number, row in enumerate(declared.lds, 1):
        place = f"{file}, lds rule {number}"
        entry = decoded(row, _LdsEntry, where=place, advice=_ADVICE)
        for rule in _lds_rules(entry, lists, place):
            key = (rule.target, rule.operation, rule.width_bytes)
            _add(lds, key, rule, f"a second rule for {rule.target} {rule.operation} {entry.width}", place)
    coalescing: dict[str, CoalescingRuleFact] = {}
    for number, row in enumerate(declared.coalescing, 1):
        place = f"{file}, coalescing rule {number}"
        values = structs.asdict(decoded(row, _CoalescingEntry, where=place, advice=_ADVICE))
        for target in values.pop("targets"):
            rule_of_target = CoalescingRuleFact(target=target, **values)
            _add(coalescing, target, rule_of_target, f"a second coalescing rule for {target}", place)
    if not lds and not coalescing:
        raise UsageError("holds neither [[lds]] nor [[coalescing]]", where=str(file), advice=_ADVICE)
    return LaneRules(lds, coalescing)


def _add(rules: dict[Any, Any], key: object, rule: object, problem: str, place: str) -> None:
    """Add a rule. Raises `UsageError` with the problem where there is one for the key."""
    if key in rules:
        raise UsageError(problem, where=place, advice="remove one of them")
    rules[key] = rule


def _lds_rules(entry: _LdsEntry, lists: Mapping[str, tuple[int, ...]], place: str) -> Iterator[LdsRuleFact]:
    if not isinstance(entry.phases, str):
        masks = _phases(entry.phases, f"{place}, phases")
    elif entry.phases in lists:
        masks = lists[entry.phases]
    else:
        what = f"no phases are called {entry.phases[:60]!r}"
        raise UsageError(what, where=place, advice=f"[phases] of the file has: {', '.join(lists)[:200] or 'none'}")
    evidence = entry.confidence, entry.evidence, entry.source
    for target in entry.targets:
        for operation in entry.operations:
            yield LdsRuleFact(target, operation, WIDTHS_BYTES[entry.width], entry.banks, masks, *evidence)


def _phases(texts: Sequence[str], place: str) -> tuple[int, ...]:
    """Masks of lanes; `["0-15", "16-31"]` are two phases."""
    masks = []
    served = 0
    for text in texts:
        mask = 0
        for lane in _lanes(text, place):
            if (served | mask) >> lane & 1:
                raise UsageError(f"lane {lane} is in it twice", where=place, advice="a lane is served in one phase")
            mask |= 1 << lane
        masks.append(mask)
        served |= mask
    if served not in ((1 << size) - 1 for size in _WAVE_SIZES):
        size = min(size for size in _WAVE_SIZES if served < 1 << size)
        missing = next(lane for lane in range(size) if not served >> lane & 1)
        raise UsageError(f"lane {missing} is in no phase", where=place, advice="name lanes 0 to 31, or 0 to 63")
    return tuple(masks)


def _lanes(text: str, place: str) -> Iterator[int]:
    parts = text.split()
    if not parts:
        raise UsageError(f"a phase without lanes: {text[:60]!r}", where=place, advice='write a phase as "0-3 20-23"')
    for part in parts:
        lanes = _LANES.fullmatch(part)
        if lanes is None:
            raise UsageError(f"not lanes: {part[:60]!r}", where=place, advice='write a phase as "0-3 20-23"')
        first, last = int(lanes[1]), int(lanes[2] or lanes[1])
        if first > last or last >= max(_WAVE_SIZES):
            raise UsageError(f"no such lanes: {part[:60]!r}", where=place, advice="lanes are 0 to 63, the lower first")
        yield from range(first, last + 1)
