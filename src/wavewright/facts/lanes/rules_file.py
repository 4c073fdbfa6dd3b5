"""Files of lane rules (TOML), checked as they are read: those of wavewright and of users are read the same way."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from wavewright.base.toml import read_toml
from wavewright.errors import UsageError
from wavewright.facts.lanes.rule_facts import (
    CONFIDENCES,
    OPERATIONS,
    WIDTHS_BYTES,
    CoalescingRuleFact,
    LaneRules,
    LdsRuleFact,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_RULES_MAX = 1_000
_TEXT_MAX = 1_000
_BANKS_MAX = 128
_WAVE_SIZES = (32, 64)
_SEGMENT_BYTES = (32, 64, 128, 256)
_TARGET = re.compile(r"gfx[0-9a-f]{3,5}")
_LANES = re.compile(r"(\d{1,4})(?:-(\d{1,4}))?")
_EVIDENCE_KEYS = ("confidence", "evidence", "source")
_LDS_KEYS = ("targets", "operations", "width", "banks", "phases", *_EVIDENCE_KEYS)
_COALESCING_KEYS = ("targets", "group_lanes", "segment_bytes", "counter", *_EVIDENCE_KEYS)
_RATE_KEYS = ("accesses_per_cycle", "rate_confidence", "rate_evidence")
_ADVICE = "the file rules.toml in wavewright/facts/lanes is a complete example"


def declared_rules(file: Path) -> LaneRules:
    """The rules of one file."""
    declared = read_toml(file, advice=_ADVICE)
    unknown = [key for key in declared if key not in ("phases", "lds", "coalescing")]
    if unknown:
        raise UsageError(f"unknown entry {unknown[0][:60]!r}", where=str(file), advice="rules start with [[lds]]")
    named_phases = declared.get("phases", {})
    if not isinstance(named_phases, dict):
        raise UsageError("phases is not a table", where=str(file), advice=_ADVICE)
    lists = {name: _phases(texts, f"{file}, phases {name[:60]!r}") for name, texts in named_phases.items()}
    lds: dict[tuple[str, str, int], LdsRuleFact] = {}
    for place, entry in _entries(declared, "lds", file):
        for rule in _lds_rules(entry, lists, place):
            key = (rule.target, rule.operation, rule.width_bytes)
            if key in lds:
                what = f"a second rule for {rule.target} {rule.operation} {entry['width']}"
                raise UsageError(what, where=place, advice="remove one of them")
            lds[key] = rule
    coalescing: dict[str, CoalescingRuleFact] = {}
    for place, entry in _entries(declared, "coalescing", file):
        for fact in _coalescing_rules(entry, place):
            if fact.target in coalescing:
                what = f"a second coalescing rule for {fact.target}"
                raise UsageError(what, where=place, advice="remove one of them")
            coalescing[fact.target] = fact
    if not lds and not coalescing:
        raise UsageError("holds neither [[lds]] nor [[coalescing]]", where=str(file), advice=_ADVICE)
    return LaneRules(lds, coalescing)


def _entries(declared: Mapping[str, Any], name: str, file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """(where, declaration) of each rule of a kind."""
    entries = declared.get(name, [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise UsageError(f"{name} is not a list of rules", where=str(file), advice=f"rules start with [[{name}]]")
    if len(entries) > _RULES_MAX:
        raise UsageError(f"{len(entries):,} rules are too many", where=str(file), advice=f"at most {_RULES_MAX:,}")
    for number, entry in enumerate(entries, 1):
        yield f"{file}, {name} rule {number}", entry


def _lds_rules(entry: Mapping[str, Any], lists: Mapping[str, tuple[int, ...]], place: str) -> Iterator[LdsRuleFact]:
    _check_keys(entry, _LDS_KEYS, (), place)
    operations = _names(entry, "operations", place)
    for operation in operations:
        if operation not in OPERATIONS:
            what = f"unknown operation {operation[:60]!r}"
            raise UsageError(what, where=place, advice=f"operations: {', '.join(OPERATIONS)}")
    width = entry["width"]
    if not isinstance(width, str) or width not in WIDTHS_BYTES:
        what = f"unknown width {str(width)[:60]!r}"
        raise UsageError(what, where=place, advice=f"widths: {', '.join(WIDTHS_BYTES)}; b8 and b16 follow b32")
    banks = _power_of_two(entry, "banks", range(1, _BANKS_MAX + 1), place)
    phases = entry["phases"]
    if isinstance(phases, str):
        if phases not in lists:
            what = f"no phases are called {phases[:60]!r}"
            raise UsageError(what, where=place, advice=f"[phases] of the file has: {', '.join(lists)[:200] or 'none'}")
        masks = lists[phases]
    else:
        masks = _phases(phases, f"{place}, phases")
    for target in _targets(entry, place):
        for operation in operations:
            yield LdsRuleFact(target, operation, WIDTHS_BYTES[width], banks, masks, *_evidence(entry, place))


def _coalescing_rules(entry: Mapping[str, Any], place: str) -> Iterator[CoalescingRuleFact]:
    _check_keys(entry, _COALESCING_KEYS, _RATE_KEYS, place)
    group_lanes = _power_of_two(entry, "group_lanes", range(1, max(_WAVE_SIZES) + 1), place)
    segment_bytes = _power_of_two(entry, "segment_bytes", _SEGMENT_BYTES, place)
    rate: tuple[float | None, str, str] = (None, "", "")
    if any(key in entry for key in _RATE_KEYS):
        _check_keys(entry, (*_COALESCING_KEYS, *_RATE_KEYS), (), place)
        per_cycle = entry["accesses_per_cycle"]
        if (
            not isinstance(per_cycle, int | float)
            or isinstance(per_cycle, bool)
            or not 0 < per_cycle <= max(_WAVE_SIZES)
        ):
            what = f"accesses_per_cycle is {str(per_cycle)[:60]}"
            raise UsageError(what, where=place, advice="give a number above 0, at most 64")
        confidence = _confidence(entry, "rate_confidence", place)
        rate = (float(per_cycle), confidence, _text(entry, "rate_evidence", place))
    counter = _text(entry, "counter", place)
    for target in _targets(entry, place):
        yield CoalescingRuleFact(target, group_lanes, segment_bytes, counter, *_evidence(entry, place), *rate)


def _phases(texts: object, place: str) -> tuple[int, ...]:
    """Masks of lanes; `["0-15", "16-31"]` are two phases."""
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        raise UsageError("is not a list of texts", where=place, advice='write phases as ["0-31", "32-63"]')
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
    if not parts or len(text) > _TEXT_MAX:
        raise UsageError(f"a phase without lanes: {text[:60]!r}", where=place, advice='write a phase as "0-3 20-23"')
    for part in parts:
        lanes = _LANES.fullmatch(part)
        if lanes is None:
            raise UsageError(f"not lanes: {part[:60]!r}", where=place, advice='write a phase as "0-3 20-23"')
        first = int(lanes[1])
        last = int(lanes[2] or lanes[1])
        if first > last or last >= max(_WAVE_SIZES):
            raise UsageError(f"no such lanes: {part[:60]!r}", where=place, advice="lanes are 0 to 63, the lower first")
        yield from range(first, last + 1)


def _check_keys(entry: Mapping[str, Any], needed: tuple[str, ...], optional: tuple[str, ...], place: str) -> None:
    unknown = [key for key in entry if key not in needed + optional]
    if unknown:
        advice = f"keys: {', '.join(needed + optional)}"
        raise UsageError(f"unknown key {unknown[0][:60]!r}", where=place, advice=advice)
    missing = [key for key in needed if key not in entry]
    if missing:
        raise UsageError(f"has no {missing[0]}", where=place, advice=f"keys: {', '.join(needed)}")


def _evidence(entry: Mapping[str, Any], place: str) -> tuple[str, str, str]:
    return _confidence(entry, "confidence", place), _text(entry, "evidence", place), _text(entry, "source", place)


def _confidence(entry: Mapping[str, Any], key: str, place: str) -> str:
    confidence = _text(entry, key, place)
    if confidence not in CONFIDENCES:
        advice = f"it is one of {', '.join(CONFIDENCES)}"
        raise UsageError(f"unknown {key} {confidence[:60]!r}", where=place, advice=advice)
    return confidence


def _text(entry: Mapping[str, Any], key: str, place: str) -> str:
    text = entry[key]
    if not isinstance(text, str) or not text.strip():
        raise UsageError(
            f"{key} is not a text in quotes, or is empty", where=place, advice=f"say in quotes what the {key} is"
        )
    if len(text) > _TEXT_MAX or not text.isprintable():
        what = f"{key} is longer than {_TEXT_MAX:,} characters, or holds some that cannot be printed"
        raise UsageError(what, where=place, advice="shorten it to a sentence")
    return text


def _names(entry: Mapping[str, Any], key: str, place: str) -> list[str]:
    names = entry[key]
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise UsageError(f"{key} is not a list of names", where=place, advice=_ADVICE)
    return names


def _targets(entry: Mapping[str, Any], place: str) -> list[str]:
    targets = _names(entry, "targets", place)
    for target in targets:
        if not _TARGET.fullmatch(target):
            raise UsageError(f"no target: {target[:60]!r}", where=place, advice="name targets such as gfx942")
    return targets


def _power_of_two(entry: Mapping[str, Any], key: str, allowed: range | tuple[int, ...], place: str) -> int:
    value = entry[key]
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    if not is_whole or value not in allowed or value & (value - 1):
        advice = f"give a power of two from {min(allowed)} to {max(allowed)}"
        raise UsageError(f"{key} is {str(value)[:60]}", where=place, advice=advice)
    return int(value)
