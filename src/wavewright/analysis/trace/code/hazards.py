"""Hazards that padding (`s_nop`, `s_delay_alu`) separates: registers written before and used after it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from wavewright.base.toml import packaged
from wavewright.codeobj.registers import EXEC, FIRST_VECTOR, M0, MODE, VCC, RowUses
from wavewright.facts.loader import Fact, decoded

NOT_KNOWN = "not known"  #: What `hazard_of` returns where no rule fits.
_PADDING = re.compile(r"s_(nop|delay_alu)\b")
_LEAVES = frozenset(("branch", "jump", "end", "padding"))  #: Classes behind which other code runs.
_OTHER_LANES = re.compile(
    r"v_(readlane|readfirstlane|writelane|permlane)|\S*_dpp|.*\b(quad_perm|row_\w+|wave_\w+|dpp8)\b"
)
_EXEC = frozenset((EXEC, EXEC + 1))
_EVERYWHERE = _EXEC | {MODE}  #: Every vector instruction reads these: sharing them is no hazard.
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

    @property
    def special_scalars_used(self) -> frozenset[int]:
        return (_EXEC | {M0}) & self.result_used


class _Rule(Fact, frozen=True):
    """A hazard as `hazards.toml` declares it."""

    states_max: int  #: Wait states up to which the two must be apart.
    shared: str  #: The property of `_Pair` that has the registers which both use.
    words: str  #: The hazard, with places for both mnemonics and the register.
    producer: str = ""  #: Start of its text; empty = any.
    consumer: str = ""
    producer_classes: tuple[str, ...] = ()  #: Empty = any.
    consumer_classes: tuple[str, ...] = ()
    reads_other_lanes: bool = False  #: Whether only consumers count that do.

    def fits(self, pair: _Pair) -> bool:
        return (
            pair.states <= self.states_max
            and pair.producer.startswith(self.producer)
            and pair.consumer.startswith(self.consumer)
            and (not self.producer_classes or pair.producer_class in self.producer_classes)
            and (not self.consumer_classes or pair.consumer_class in self.consumer_classes)
            and (pair.reads_other_lanes or not self.reads_other_lanes)
            and bool(getattr(pair, self.shared))
        )


_RULES = decoded(packaged("hazards.toml", __package__)["rules"], tuple[_Rule, ...], where="hazards.toml")
_STATES_MAX = max(rule.states_max for rule in _RULES)


def hazard_of(texts: Sequence[str | None], uses: RowUses, row: int) -> str:
    """Hazard that the padding in a code row keeps apart, in a few words; `texts` and `uses`: the code, row by row.

    For `s_delay_alu` what it says itself. For `s_nop` the instruction after it and one before it that share a
    register; only where such a pair is found, else `not known`.
    """
    text = texts[row] or "" if 0 <= row < len(texts) else ""
    following = range(row + 1, min(row + 1 + _STATES_MAX, len(texts)))
    consumer = next((at for at in following if not _PADDING.match(texts[at] or "")), None)
    if not _PADDING.match(text) or consumer is None or not texts[consumer]:
        return NOT_KNOWN
    if text.startswith("s_delay_alu"):
        dependency = re.search(r"instid0\((\w+?)_\d\)", text)
        kind = _DELAYS.get(dependency[1]) if dependency else None
        return f"{kind} before {family(texts[consumer] or '')}" if kind else NOT_KNOWN
    for pair in _pairs(texts, uses, row, consumer):
        for rule in _RULES:
            if rule.fits(pair):
                register = next((_NAMES[number] for number in pair.scalars_used if number in _NAMES), "an SGPR")
                producer, consumer_name = family(pair.producer), family(pair.consumer)
                return rule.words.format(producer=producer, consumer=consumer_name, register=register)
    return NOT_KNOWN


def _pairs(texts: Sequence[str | None], uses: RowUses, row: int, consumer: int) -> Iterator[_Pair]:
    """The instruction after the padding with each of those before it, the nearest first."""
    after, consumer_text = uses[consumer], texts[consumer] or ""
    reads_other_lanes = _OTHER_LANES.match(consumer_text) is not None
    # Only instructions that look at other lanes, and scalar ones such as branches, need a settled EXEC.
    needed = after.reads - ({MODE} if reads_other_lanes or consumer_text.startswith("s_") else _EVERYWHERE)
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
                result_used=(before.writes & needed) - written_since,
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
