"""One memory instruction, lane by lane: banks and phases of LDS, or cache segments, now and in a better layout."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from wavewright.analysis.trace.lanes import lane_accesses, layouts, target_of
from wavewright.analysis.trace.lanes.evaluated import LaneOptions, lanes_of_waves
from wavewright.analysis.trace.lanes.fixes import Layout
from wavewright.analysis.trace.selection import check_whole_waves
from wavewright.base.bounds import ITEM, bounded
from wavewright.errors import UsageError
from wavewright.facts.lanes import CoalescingRuleFact, LdsRuleFact, Refusal
from wavewright.model.answer import Answer
from wavewright.model.trace import ThreadTrace

_DWORD_BYTES: Final = 4


@dataclass(frozen=True)
class RowPattern(Answer, package=__package__):
    """The lanes of one memory instruction in the costliest of its patterns."""

    row: int
    text: str
    file: str | None
    line: int | None
    space: str
    target: str
    lane_count: int  #: Lanes of a wave.
    width_bytes: int  #: Of one access of one lane.
    bank_count: int | None  #: Banks of LDS under the rule; None for memory.
    segment_bytes: int | None  #: None for LDS.
    confidence: str
    pattern_count: int  #: Different patterns that were seen, at most 64 for each place of a wave in its workgroup.
    pattern_share: float  #: Of the known executions, those with the pattern shown; of the first access.
    fix: str  #: What to change; empty = nothing is proposed.
    lanes: pl.DataFrame
    groups: pl.DataFrame


@bounded(row=ITEM)
def row_pattern(trace: ThreadTrace, row: int, options: LaneOptions | None = None) -> RowPattern:
    """The lanes of the memory instruction at a code row.

    Raises `UsageError`: the row is no executed memory instruction, or nothing is known of it: the error has the reason.
    """
    check_whole_waves(trace)
    options = options or LaneOptions()
    accesses = lane_accesses(trace, options)
    facts = _facts(trace, accesses.rows, row)
    target, lane_count = target_of(trace, options), lanes_of_waves(trace)
    patterns = layouts.known_patterns(trace, options)
    own_patterns = patterns.filter(pl.col("row") == row)
    rule = layouts.rule_of(facts["space"], facts["text"], target, options, lane_count)
    if own_patterns.is_empty() or not facts["cost_known_count"] or isinstance(rule, Refusal):
        why = facts["reason"] or "no rule is known for it"
        raise UsageError(f"nothing is certain about row {row} ({facts['text'][:60]}): {why}")
    proposed: tuple[Layout, str] | None = None
    if isinstance(rule, LdsRuleFact) and facts["extra_cycles_total"]:
        of_lds = layouts.lds_patterns(trace, options, accesses.rows, patterns)
        proposed = layouts.best_layout(row, of_lds, layouts.layout_fixes(trace, options, of_lds)[1])
    lanes: list[tuple[object, ...]] = []
    groups: list[tuple[object, ...]] = []
    shares = []
    for (access,), group in own_patterns.group_by("place", maintain_order=True):
        served = [
            (_served(pattern, rule, lane_count, proposed[0] if proposed else None), pattern["count"])
            for pattern in group.iter_rows(named=True)
        ]
        costliest, count = max(served, key=lambda service_and_count: (service_and_count[0].count, service_and_count[1]))
        shares.append(count / max(1, int(group["count"].sum())))
        lanes += [(access, *line) for line in costliest.lanes]
        groups += [(access, *line) for line in costliest.groups]
    return RowPattern(
        row=row,
        text=facts["text"],
        file=facts["file"],
        line=facts["line"],
        space=facts["space"],
        target=target,
        lane_count=lane_count,
        width_bytes=int(own_patterns["width_bytes"][0]),
        bank_count=None if isinstance(rule, CoalescingRuleFact) else rule.banks,
        segment_bytes=rule.segment_bytes if isinstance(rule, CoalescingRuleFact) else None,
        confidence=rule.confidence,
        pattern_count=own_patterns.filter(pl.col("place") == own_patterns["place"][0]).height,
        pattern_share=shares[0],
        fix=proposed[1] if proposed else "",
        lanes=pl.DataFrame(lanes, schema=RowPattern.tables["lanes"].dtypes, orient="row"),
        groups=pl.DataFrame(groups, schema=RowPattern.tables["groups"].dtypes, orient="row"),
    )


def _facts(trace: ThreadTrace, rows: pl.DataFrame, row: int) -> dict[str, Any]:
    facts = rows.filter(pl.col("row") == row).to_dicts()
    if facts:
        return facts[0]
    code = trace.code.filter(pl.col("row") == row)["text"].to_list()
    what = f"row {row} is not a memory instruction that was executed" if code else f"there is no row {row}"
    costly = rows["row"].head(6).to_list()
    advice = f"rows of memory instructions: {', '.join(map(str, costly))}, ..." if costly else ""
    raise UsageError(f"{what}{f': {code[0][:60]}' if code and code[0] else ''}", advice=advice)


def _served(
    pattern: Mapping[str, Any], rule: LdsRuleFact | CoalescingRuleFact, lane_count: int, layout: Layout | None
) -> _Served:
    active = [lane for lane in range(lane_count) if pattern["active"] >> lane & 1]
    lowest = min((pattern["address"][lane] for lane in active), default=0)
    lift = -(min(lowest, 0) // layouts.PERIOD_BYTES) * layouts.PERIOD_BYTES
    addresses = {lane: pattern["address"][lane] + lift for lane in active}
    if isinstance(rule, CoalescingRuleFact):
        return _segments(addresses, pattern["width_bytes"], rule)
    return _phases(addresses, rule, layout)


@dataclass(frozen=True)
class _Served:
    """Service of one pattern: lines of `lanes` and `groups` without their first column."""

    lanes: list[tuple[object, ...]]
    groups: list[tuple[object, ...]]
    count: int  #: Cycles or segments.


def _phases(addresses: Mapping[int, int], rule: LdsRuleFact, layout: Layout | None) -> _Served:
    """Phases of LDS; each takes a cycle for each different dword in its fullest bank."""
    dwords = {lane: address // _DWORD_BYTES for lane, address in addresses.items()}
    fixed: dict[int, int] = {}
    if layout is not None:
        fixed = dict(zip(dwords, layout.moved(np.array(list(dwords.values()), np.uint32)).tolist(), strict=True))
    lanes: list[tuple[object, ...]] = []
    groups: list[tuple[object, ...]] = []
    total = 0
    for number, phase in enumerate(rule.phases):
        members = [lane for lane in dwords if phase >> lane & 1]
        if not members:
            continue
        by_bank = layouts.lanes_by_bank({lane: dwords[lane] for lane in members}, rule)
        bank, users = _fullest(by_bank)
        cycles = len(users)
        moved_banks = layouts.lanes_by_bank({lane: fixed[lane] for lane in members}, rule) if fixed else None
        after = len(_fullest(moved_banks)[1]) if moved_banks else None
        total += cycles
        shared = [lanes for used in by_bank.values() if len(used) > 1 for lanes in used.values()]
        colliding = {lane for lanes in shared for lane in lanes}
        in_conflict = lane_ranges([lane for sharing in users.values() for lane in sharing])
        conflict = (bank, in_conflict) if cycles > 1 else (None, "")
        groups.append((number, lane_ranges(members), cycles, 1, *conflict, after))
        for lane in members:
            place = fixed[lane] * _DWORD_BYTES + addresses[lane] % _DWORD_BYTES if fixed else None
            lanes.append(
                (lane, addresses[lane], number, dwords[lane] % rule.banks, rule.width_dwords, lane in colliding, place)
            )
    return _Served(lanes, groups, total)


def _fullest(by_bank: Mapping[int, dict[int, list[int]]]) -> tuple[int, dict[int, list[int]]]:
    """The bank with the most different dwords, of equal ones the first."""
    bank = min(by_bank, key=lambda number: (-len(by_bank[number]), number))
    return bank, by_bank[bank]


def _segments(addresses: Mapping[int, int], width_bytes: int, rule: CoalescingRuleFact) -> _Served:
    """Groups of lanes of the L1 cache; each touches its different segments."""
    size = rule.segment_bytes
    by_group: defaultdict[int, list[int]] = defaultdict(list)
    for lane in addresses:
        by_group[lane // rule.group_lanes].append(lane)
    lanes: list[tuple[object, ...]] = []
    groups: list[tuple[object, ...]] = []
    total = 0
    for number, members in by_group.items():
        touched: set[int] = set()
        for lane in members:
            first, last = addresses[lane] // size, (addresses[lane] + width_bytes - 1) // size
            touched |= set(range(first, last + 1))
            lanes.append((lane, addresses[lane], number, first, last - first + 1, False, None))
        least = -(-len(members) * width_bytes // size)
        groups.append((number, lane_ranges(members), len(touched), least, None, "", None))
        total += len(touched)
    return _Served(lanes, groups, total)


def lane_ranges(lanes: Sequence[int]) -> str:
    """Lanes in few characters: `0-3 8`."""
    spans: list[list[int]] = []
    for lane in sorted(lanes):
        if spans and spans[-1][1] == lane - 1:
            spans[-1][1] = lane
        else:
            spans.append([lane, lane])
    return " ".join(f"{first}-{last}" if last > first else str(first) for first, last in spans)
