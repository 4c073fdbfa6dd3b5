"""Service of the lanes of one instruction: phases by banks of LDS, groups of lanes by segments of the cache."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from wavewright.analysis.trace.lanes import lane_accesses, lane_patterns, target_of
from wavewright.analysis.trace.lanes.evaluated import LaneOptions
from wavewright.analysis.trace.lanes.layouts import lanes_by_bank, rule_of
from wavewright.analysis.trace.lanes.reasons import BY_PLACE, reason_text
from wavewright.base.bounds import ITEM, bounded
from wavewright.codeobj.kernel_arguments import ArgumentValues
from wavewright.errors import UsageError
from wavewright.facts.lanes import CoalescingRuleFact, LdsRuleFact, Refusal
from wavewright.model.answer import Answer
from wavewright.model.trace import ThreadTrace

_MOST_PATTERNS: Final = 8  #: Patterns that are drawn of each access of the instruction, the most frequent.
_DWORD_BYTES: Final = 4
_LANES: Final = pl.List(pl.Int32)


@dataclass(frozen=True)
class LaneService(Answer, package=__package__):
    """Service of the lanes of one instruction."""

    patterns: pl.DataFrame
    phases: pl.DataFrame
    bank_cells: pl.DataFrame
    groups: pl.DataFrame
    segment_cells: pl.DataFrame
    row: int
    text: str
    lane_count: int  #: Lanes of a wave.
    banks: int | None  #: Banks of LDS; None = no LDS access, or no rule.
    banks_per_column: int  #: Banks that the same lanes want in every phase.
    group_lanes: int | None  #: Consecutive lanes that the cache looks up together; None = no memory access, or no rule.
    segment_bytes: int | None  #: Size of a segment.
    pattern_count: int  #: Different patterns; `patterns` has the most frequent.
    evidence: str  #: Of the rule.
    problem: str  #: Why nothing is drawn; empty = something is.


@bounded(row=ITEM)
def lane_service(trace: ThreadTrace, row: int, options: LaneOptions | None = None) -> LaneService:
    """Service of the lanes of the instruction at `row`, in its most frequent patterns.

    Raises `UnsupportedError`: the GPU is not known, or its instructions are not; `UsageError`: no traced wave executed
    a memory instruction at `row`, or an option does not fit the kernel.
    """
    accesses = lane_accesses(trace, options)
    chosen = accesses.rows.filter(pl.col("row") == row)
    if not chosen.height:
        raise UsageError(f"no traced wave executed a memory instruction at row {row}")
    access = chosen.row(0, named=True)
    known = options or LaneOptions()
    rule = rule_of(access["space"], access["text"], target_of(trace, known), known, accesses.lane_count)
    patterns = lane_patterns(trace, options).filter(pl.col("row") == row)
    problem = rule.reason if isinstance(rule, Refusal) else _problem(access, accesses.reasons, patterns)
    rows = _Rows()
    step = 1
    if not problem:
        frequent = list(_most_frequent(patterns))
        if isinstance(rule, LdsRuleFact):
            step = _serve_lds(frequent, rule, rows)
        elif isinstance(rule, CoalescingRuleFact):
            _serve_memory(frequent, rule, rows)
    return LaneService(
        **rows.frames(),
        row=row,
        text=access["text"],
        lane_count=accesses.lane_count,
        banks=rule.banks if isinstance(rule, LdsRuleFact) else None,
        banks_per_column=step,
        group_lanes=rule.group_lanes if isinstance(rule, CoalescingRuleFact) else None,
        segment_bytes=rule.segment_bytes if isinstance(rule, CoalescingRuleFact) else None,
        pattern_count=patterns.height,
        evidence="" if isinstance(rule, Refusal) else rule.evidence,
        problem=problem,
    )


@dataclass(frozen=True)
class _Pattern:
    """One pattern, with the addresses of its active lanes."""

    place: int  #: Which of the addresses of an instruction with two.
    share: float  #: Of the executions.
    width_bytes: int  #: Of one lane.
    address_bytes: dict[int, int]  #: Lane -> address.

    @property
    def facts(self) -> tuple[int, float, int]:
        return self.place, self.share, len(self.address_bytes)


class _Rows:
    """Rows of the tables of `LaneService`, as they are made."""

    def __init__(self) -> None:
        self._rows: dict[str, list[tuple[object, ...]]] = {name: [] for name in LaneService.tables}

    def add(self, table: str, *values: object) -> None:
        self._rows[table].append(values)

    def frames(self) -> dict[str, pl.DataFrame]:
        frames = {}
        for name, spec in LaneService.tables.items():
            schema = {c.name: _LANES if c.name == "lanes" else getattr(pl, c.dtype) for c in spec.columns}
            frames[name] = pl.DataFrame(self._rows[name], schema=schema, orient="row")
        return frames


def _problem(access: Mapping[str, Any], reasons: pl.DataFrame, patterns: pl.DataFrame) -> str:
    """The reason why no cost of a pattern is certain; empty = it is, if not that of waves at an unknown place."""
    if not patterns.height:
        return access["reason"] or "no lane was active"
    by_place = reason_text(BY_PLACE, 0, (), ArgumentValues())
    of_cost = reasons.filter((pl.col("row") == access["row"]) & pl.col("is_cost") & (pl.col("reason") != by_place))
    return str(of_cost["reason"][0]) if of_cost.height else ""


def _most_frequent(patterns: pl.DataFrame) -> Iterator[_Pattern]:
    shares = patterns.with_columns(share=pl.col("count") / pl.col("count").sum().over("place"))
    first = shares.group_by("place", maintain_order=True).head(_MOST_PATTERNS)
    columns = first.select("place", "share", "width_bytes", "active", "address")
    for place, share, width, active, addresses in columns.iter_rows():
        lanes = [lane for lane in range(len(addresses)) if active >> lane & 1]
        yield _Pattern(place, share, width, {lane: addresses[lane] for lane in lanes})


def _serve_lds(patterns: Sequence[_Pattern], rule: LdsRuleFact, rows: _Rows) -> int:
    """Adds what LDS does; the number of banks that the same lanes want in every phase."""
    dwords = [address // _DWORD_BYTES for pattern in patterns for address in pattern.address_bytes.values()]
    step = math.gcd(rule.banks, rule.width_dwords, *dwords)
    for number, pattern in enumerate(patterns):
        cycles = []
        for phase, mask in enumerate(rule.phases):
            lanes = [lane for lane in pattern.address_bytes if mask >> lane & 1]
            if not lanes:
                continue
            by_bank = lanes_by_bank({lane: pattern.address_bytes[lane] // _DWORD_BYTES for lane in lanes}, rule, step)
            for bank, of_dwords in sorted(by_bank.items()):
                users = sorted({lane for sharing in of_dwords.values() for lane in sharing})
                rows.add("bank_cells", number, phase, bank, users, len(of_dwords))
            cycles.append(max(len(of_dwords) for of_dwords in by_bank.values()))
            rows.add("phases", number, phase, lanes, cycles[-1])
        rows.add("patterns", number, *pattern.facts, len(cycles), sum(cycles) - len(cycles), None, None)
    return step


def _serve_memory(patterns: Sequence[_Pattern], rule: CoalescingRuleFact, rows: _Rows) -> None:
    for number, pattern in enumerate(patterns):
        touched_total = least_total = 0
        groups: dict[int, list[int]] = defaultdict(list)
        for lane in pattern.address_bytes:
            groups[lane // rule.group_lanes].append(lane)
        for group, lanes in groups.items():
            segments: dict[int, list[int]] = defaultdict(list)
            used: dict[int, set[int]] = defaultdict(set)
            for lane in lanes:
                first = pattern.address_bytes[lane]
                bytes_of_lane = range(first, first + pattern.width_bytes)
                for byte in bytes_of_lane:
                    used[byte // rule.segment_bytes].add(byte)
                for segment in range(first // rule.segment_bytes, bytes_of_lane[-1] // rule.segment_bytes + 1):
                    segments[segment].append(lane)
            for segment, users in sorted(segments.items()):
                offset = segment * rule.segment_bytes
                rows.add("segment_cells", number, group, offset, users, len(used[segment]))
            least = -(-len(lanes) * pattern.width_bytes // rule.segment_bytes)
            rows.add("groups", number, group, lanes, len(segments), least)
            touched_total += len(segments)
            least_total += least
        rows.add("patterns", number, *pattern.facts, None, None, touched_total, least_total)
