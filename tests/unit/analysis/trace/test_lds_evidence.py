"""Our counts of LDS cycles beside what others measured on hardware."""

from __future__ import annotations

from itertools import combinations

import polars as pl

from tests.kit.together import together
from wavewright import _core
from wavewright.facts.lanes import LdsRuleFact, lds_rule

_ALL = (1 << 64) - 1
_READS = 64  # of the probe's block

#: Width in bits -> stride in bytes -> SQ_LDS_BANK_CONFLICT of 64 reads on MI300X (nod-ai/amd-shark-ai, cdna3info.md).
_CONFLICTS = {
    32: {4: 0, 8: 128, 16: 384, 32: 896, 64: 1920, 128: 3968},
    64: {8: 0, 16: 256, 32: 768, 64: 1792, 128: 3840},
    128: {16: 0, 32: 512, 64: 1536, 128: 3584},
}


def _sets(*texts: str) -> list[set[int]]:
    phases = []
    for text in texts:
        spans = [tuple(map(int, part.split(":"))) for part in text.split()]
        phases.append({lane for first, end in spans for lane in range(first, end)})
    return phases


_CROSSED = ("0:4 20:24", "4:8 16:20", "8:12 28:32", "12:16 24:28")
#: Instruction of MI355X -> lanes that conflict with each other in the pair matrices (HazyResearch/HipKittens).
_PAIRS = {
    ("read", 16): _sets("0:4 12:16 20:28", "4:12 16:20 28:32", "32:36 44:48 52:60", "36:44 48:52 60:64"),
    ("read", 8): _sets("0:32", "32:64"),
    ("read", 12): _sets(*_CROSSED) + [{lane + 32 for lane in phase} for phase in _sets(*_CROSSED)],
    ("write", 8): _sets("0:16", "16:32", "32:48", "48:64"),
}
_PAIR_COUNT = {("read", 16): 480, ("read", 8): 992, ("read", 12): 224, ("write", 8): 480}


def _rule(target: str, operation: str, width_bytes: int) -> LdsRuleFact:
    rule = lds_rule(target, operation, width_bytes)
    assert isinstance(rule, LdsRuleFact)
    return rule


def _costs(rule: LdsRuleFact, dwords: list[list[int]], active: list[int]) -> pl.DataFrame:
    flat = pl.Series([dword for pattern in dwords for dword in pattern], dtype=pl.UInt32)
    masks = pl.Series(active, dtype=pl.UInt64)
    return pl.DataFrame(_core.lds_costs(flat, masks, rule.width_dwords, rule.banks, rule.phases))


@together(
    "bits, stride_bytes, conflicts",
    [(bits, stride, conflicts) for bits, row in _CONFLICTS.items() for stride, conflicts in row.items()],
)
def test_conflicts_of_strides_are_those_of_the_counter(bits: int, stride_bytes: int, conflicts: int) -> None:
    rule = _rule("gfx942", "read", bits // 8)
    costs = _costs(rule, [[lane * stride_bytes // 4 for lane in range(64)]], [_ALL])
    assert _READS * costs["extra_cycles"][0] == conflicts
    assert costs["ideal_cycles"][0] == 2 * bits // 32


@together("access", _PAIRS)
def test_pairs_of_lanes_conflict_where_the_counter_says_so(access: tuple[str, int]) -> None:
    """As in the probe: lanes are 256 bytes apart, so all are in one bank, and two lanes are active."""
    rule = _rule("gfx950", *access)
    pairs = list(combinations(range(64), 2))
    pattern = [lane * 64 for lane in range(64)]
    costs = _costs(rule, [pattern] * len(pairs), [1 << first | 1 << second for first, second in pairs])
    together = [any({first, second} <= phase for phase in _PAIRS[access]) for first, second in pairs]
    assert costs["extra_cycles"].to_list() == list(map(int, together))
    assert costs["ideal_cycles"].to_list() == [1 if is_together else 2 for is_together in together]
    assert (len(pairs), sum(together)) == (2016, _PAIR_COUNT[access])
