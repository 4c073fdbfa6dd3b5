"""Hazards that padding (`s_nop`, `s_delay_alu`) separates: registers written before and used after it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from wavewright.codeobj.registers import EXEC, FIRST_VECTOR, M0, MODE, VCC, RowUses

NOT_KNOWN = "not known"
_PADDING = re.compile(r"s_(nop|delay_alu)\b")
# Classes of instructions (codeobj/classes).
_MATRIX, _TRANSCENDENTAL = "matrix", "valu_transcendental"
_LEAVES = frozenset(("branch", "jump", "end", "padding"))
_STORES = frozenset(("vmem_store", "flat_store", "scratch_store", "image_store"))
_LOADS = frozenset(
    ("vmem_load", "vmem_lds_load", "flat_load", "scratch_load", "image_load", "image_sample", "smem_load")
)
_OTHER_LANES = re.compile(
    r"v_(readlane|readfirstlane|writelane|permlane)|\S*_dpp|.*\b(quad_perm|row_\w+|wave_\w+|dpp8)\b"
)
_EXEC = frozenset((EXEC, EXEC + 1))
_EVERYWHERE = _EXEC | {MODE}  #: What every vector instruction reads: it shares them with all others.
_NAMES = {VCC: "VCC", VCC + 1: "VCC", M0: "M0", EXEC: "EXEC", EXEC + 1: "EXEC"}
_DELAYS = {"VALU_DEP": "VALU result", "TRANS32_DEP": "transcendental result", "SALU_CYCLE": "scalar result"}


@dataclass(frozen=True)
class _Pair:
    """An instruction before the padding, and the one after it."""

    producer: str
    producer_class: str
    consumer: str
    consumer_class: str
    result_used: frozenset[int]  #: What the second reads of what the first wrote, and nothing between wrote anew.
    overwritten: frozenset[int]  #: What the second writes although the first uses it.
    addresses_overwritten: frozenset[int]  #: What one of them writes although one of them reads it.
    reads_other_lanes: bool  #: Whether lanes of the second get what other lanes hold.
    states: int  #: Wait states from the first to the second, with the padding.

    @property
    def scalars_used(self) -> list[int]:
        return sorted(register for register in self.result_used if register < FIRST_VECTOR)


@dataclass(frozen=True)
class _Rule:
    states_max: int  #: The most wait states that any GPU needs for it.
    fits: Callable[[_Pair], bool]
    words: str  #: With `{producer}`, `{consumer}` and `{register}` to fill in.


# The nearest instruction that a rule fits decides, the rules in this order. Wait states: LLVM 22, GCNHazardRecognizer,
# and AMD's ISA guides ("manually inserted wait states").
_RULES = (
    _Rule(
        19, lambda pair: pair.producer_class == _MATRIX and bool(pair.result_used), "matrix result before {consumer}"
    ),
    _Rule(
        19,
        lambda pair: pair.producer_class == _MATRIX and bool(pair.overwritten),
        "{consumer} overwrites registers of a matrix instruction",
    ),
    _Rule(
        5,
        lambda pair: pair.producer.startswith("v_") and bool(pair.scalars_used),
        "{producer} writes {register} before {consumer}",
    ),
    _Rule(
        5,
        lambda pair: pair.producer.startswith("s_") and bool((_EXEC | {M0}) & pair.result_used),
        "{producer} writes {register} before {consumer}",
    ),
    _Rule(
        2,
        lambda pair: pair.producer_class == _TRANSCENDENTAL and bool(pair.result_used),
        "transcendental result before {consumer}",
    ),
    _Rule(
        5,
        lambda pair: pair.reads_other_lanes and pair.producer.startswith("v_") and bool(pair.result_used),
        "VALU result before {consumer}, which reads other lanes",
    ),
    _Rule(
        2,
        lambda pair: pair.producer_class in _STORES and pair.consumer.startswith("v_") and bool(pair.overwritten),
        "{consumer} overwrites data of {producer}",
    ),
    _Rule(
        1,
        lambda pair: {pair.producer_class, pair.consumer_class} <= _LOADS and bool(pair.addresses_overwritten),
        "loads that overwrite their addresses",
    ),
    _Rule(
        2,
        lambda pair: pair.producer.startswith("v_") and pair.consumer.startswith("v_") and bool(pair.result_used),
        "{producer} result before {consumer}",
    ),
)
_STATES_MAX = max(rule.states_max for rule in _RULES)


def hazard_of(texts: Sequence[str | None], uses: RowUses, row: int) -> str:
    """Hazard that the padding in a code row keeps apart, in a few words; `texts` and `uses`: the code, row by row.

    For `s_delay_alu` what it says itself. For `s_nop` the instruction after it and one before it that share a
    register; only where such a pair is found, else `not known`.
    """
    text = texts[row] or "" if 0 <= row < len(texts) else ""
    consumer = _next(texts, row)
    if not _PADDING.match(text) or consumer is None:
        return NOT_KNOWN
    if text.startswith("s_delay_alu"):
        return _delayed(text, texts[consumer] or "")
    for pair in _pairs(texts, uses, row, consumer):
        for rule in _RULES:
            if pair.states <= rule.states_max and rule.fits(pair):
                return _filled(rule.words, pair)
    return NOT_KNOWN


def _pairs(texts: Sequence[str | None], uses: RowUses, row: int, consumer: int) -> Iterator[_Pair]:
    """The instruction after the padding with each of those before it, the nearest first."""
    after, consumer_text = uses[consumer], texts[consumer] or ""
    reads_other_lanes = _OTHER_LANES.match(consumer_text) is not None
    # EXEC must be settled for those only that look at other lanes, and for branches.
    meant = after.reads - ({MODE} if reads_other_lanes or consumer_text.startswith("s_") else _EVERYWHERE)
    states, written_since = _states(texts[row] or ""), set[int]()
    for at in range(row - 1, -1, -1):
        text = texts[at] or ""
        before = uses[at]
        if not text or states > _STATES_MAX or before.class_name in _LEAVES:
            return
        if not _PADDING.match(text):
            yield _Pair(
                producer=text,
                producer_class=before.class_name,
                consumer=consumer_text,
                consumer_class=after.class_name,
                result_used=(before.writes & meant) - written_since,
                overwritten=after.writes & (before.writes | before.reads) - _EVERYWHERE,
                addresses_overwritten=(before.writes | after.writes) & (before.reads | after.reads),
                reads_other_lanes=reads_other_lanes,
                states=states,
            )
        written_since |= before.writes
        states += _states(text)


def _states(text: str) -> int:
    """Wait states that pass: one for an instruction, `n` + 1 for `s_nop n`."""
    padded = re.match(r"s_nop (0x[\da-fA-F]{1,4}|\d{1,4})", text)
    return int(padded[1], 0) + 1 if padded else 1


def family(text: str) -> str:
    """The mnemonic without encoding, types and sizes; comparisons without what they compare.

    >>> family("v_cmp_gt_f32_e32 vcc, s23, v81"), family("buffer_load_dwordx4 v[0:3], v4, s[0:3], 0 offen")
    ('v_cmp', 'buffer_load')
    """
    mnemonic = text.split(" ", 1)[0]
    compared = re.match(r"v_cmpx?(?=_)", mnemonic)
    if compared:
        return compared[0]
    name = re.sub(r"_(e32|e64|sdwa|dpp|dpp8)$|_e64_dpp$", "", mnemonic)
    return re.sub(r"(_(b?f|fp|i|u|b|bf)\d+|_dword(x\d+)?|_[us]?(byte|short)(_d16(_hi)?)?|_\d+x\d+x\d+\w*)+$", "", name)


def _next(texts: Sequence[str | None], row: int) -> int | None:
    """The row of the first instruction after the padding."""
    after = range(row + 1, min(row + 1 + _STATES_MAX, len(texts)))
    behind = next((at for at in after if not _PADDING.match(texts[at] or "")), None)
    return behind if behind is not None and texts[behind] else None


def _delayed(text: str, consumer: str) -> str:
    """The dependency that `s_delay_alu` declares for the instruction after it."""
    dependency = re.search(r"instid0\((\w+?)_(\d)\)", text)
    kind = _DELAYS.get(dependency[1]) if dependency else None
    return f"{kind} before {family(consumer)}" if kind else NOT_KNOWN


def _filled(words: str, pair: _Pair) -> str:
    register = next((_NAMES[number] for number in pair.scalars_used if number in _NAMES), "an SGPR")
    return words.format(producer=family(pair.producer), consumer=family(pair.consumer), register=register)
