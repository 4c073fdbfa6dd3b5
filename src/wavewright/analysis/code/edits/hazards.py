"""Wait states that must stay between two rows that share a register.

The code of a compiler satisfies every hazard of its GPU. So a pair of rows that stays as far apart as it was is safe,
and one that is farther apart than the longest hazard of its kind is safe too: no table of hazards is needed, only the
most states that any GPU of the family asks of a kind of pair (LLVM 22, GCNHazardRecognizer; AMD's ISA documents).
gfx9 counts all instructions. RDNA counts those of some kinds, where it does not interlock: so as many of each kind
stay between the rows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from wavewright.analysis.code.edits.code_rows import EXEC_BITS, VECTOR_BITS, CodeRow, bits
from wavewright.codeobj.registers import M0, registers

MOST_STATES: Final = 20  #: No rule of any GPU looks farther.
_SCALAR_BITS: Final = (1 << 256) - 1
_M0_BITS: Final = 1 << M0
_OTHER_LANES: Final = re.compile(
    r"v_(readlane|readfirstlane|writelane|permlane)|\S*_dpp|.*\b(quad_perm|row_\w+|wave_\w+|dpp8)\b"
)
_PARTS: Final = re.compile(r"\S*_sdwa|.*\bop_sel")
_MATRIX, _INTO_MATRIX, _CHAIN, _SCALAR_OF_VECTOR, _STORE_DATA, _SHORT = MOST_STATES, 4, 2, 5, 2, 2
_ACCUMULATOR: Final = 3  #: Operand of matrix instructions: result, A, B, what is added.
#: On RDNA s_nop is no help. Matrix and transcendental instructions finish behind younger ones, and gfx12 reads scalar
#: registers too early; gfx10.3 interlocks all.
_RDNA_MATRIX, _RDNA_TRANSCENDENTAL, _GFX12_SCALAR = 16, 12, 12
_RDNA_FARTHEST: Final = 64  #: Whatever is counted: no pipeline is as long.


def states_of_pair(before: CodeRow, row: CodeRow, family: str) -> int:
    """The most wait states that any GPU of a family needs from one row to another that shares a register; 1 = none."""
    true = before.writes & row.reads
    other = (before.reads & row.writes) | (before.writes & row.writes)
    if not true and not other:
        return 0
    if family != "gfx9":
        return _on_rdna(before, row, family, true)
    if _is_chain(before, row):
        return _CHAIN
    if before.is_matrix:  # A and B are read before anything behind it can overwrite them
        late = before.writes & (row.reads | row.writes) | _accumulator_read(before) & row.writes
        return _MATRIX if late & VECTOR_BITS else 1
    if row.is_matrix:
        return _INTO_MATRIX if (true | other) & VECTOR_BITS else 1
    if before.is_valu:
        return _after_valu(before, row, true)
    if before.is_store and row.is_valu and other:
        return _STORE_DATA
    if true & (_M0_BITS | EXEC_BITS):
        return _SCALAR_OF_VECTOR
    is_clause = before.counters and row.counters and not (before.is_lds or row.is_lds)  # XNACK may issue it again
    return _SHORT if is_clause else 1


def _is_chain(before: CodeRow, row: CodeRow) -> bool:
    """True of two matrix instructions of one kind with the same accumulator, which is forwarded."""
    if not (before.is_matrix and row.is_matrix) or before.text.split(" ", 1)[0] != row.text.split(" ", 1)[0]:
        return False
    accumulator = before.writes & VECTOR_BITS
    sources = row.text.rsplit(", ", 1)[0]  # all but the accumulator that is read
    others = sources.split(", ", 1)[-1]
    is_same = accumulator == row.writes & VECTOR_BITS and not accumulator & ~row.reads
    return is_same and not accumulator & bits(registers(others.replace(",", " ")))


def _accumulator_read(row: CodeRow) -> int:
    """Registers of the operand that a matrix instruction adds to; all that it reads where the text has none."""
    operands = row.text.split(", ")
    return bits(registers(operands[_ACCUMULATOR])) if len(operands) > _ACCUMULATOR else row.reads


def _after_valu(before: CodeRow, row: CodeRow, true: int) -> int:
    if true & _SCALAR_BITS:
        return _SCALAR_OF_VECTOR
    if not true:
        return 1
    if _OTHER_LANES.match(row.text):
        return _SCALAR_OF_VECTOR
    if before.class_name == "valu_transcendental" or _PARTS.match(before.text):
        return _SHORT
    return 1


def _on_rdna(before: CodeRow, row: CodeRow, family: str, true: int) -> int:
    if family == "gfx10":
        return 1
    if before.is_matrix or row.is_matrix:
        return _RDNA_MATRIX
    if before.class_name == "valu_transcendental":
        return _RDNA_TRANSCENDENTAL
    return _GFX12_SCALAR if family == "gfx12" and true & _SCALAR_BITS & ~EXEC_BITS else 1


class Passed(NamedTuple):
    """Wait states that passed before a row; instructions by kind among them."""

    states: int = 0
    vector: int = 0
    transcendental: int = 0
    memory: int = 0
    scalar: int = 0

    def after(self, row: CodeRow) -> Passed:
        """The count behind a row that is issued now."""
        is_scalar = row.text.startswith("s_") and not row.is_derived
        kinds = row.states, row.is_valu, row.class_name == "valu_transcendental", bool(row.counters), is_scalar
        return Passed(*(count + more for count, more in zip(self, kinds, strict=True)))

    def since(self, other: Passed) -> Passed:
        """States between two places."""
        return Passed(*(now - before for now, before in zip(self, other, strict=True)))


class PlacedRow(NamedTuple):
    """A row, and how many passed before it; `is_around` = in the iteration before."""

    row: CodeRow
    at: Passed
    is_around: bool = False


class Distances:
    """States between rows of a block, and rows around it, in the order that the code has."""

    def __init__(self, before: Sequence[CodeRow], rows: Sequence[CodeRow], behind: Sequence[CodeRow]) -> None:
        self._before = list(before)[-MOST_STATES:]
        self._at: dict[int, Passed] = {}
        self._written: dict[int, CodeRow] = {}
        at = Passed()
        begin = end = at
        for place, row in enumerate((*self._before, *rows, *behind)):
            begin = at if place == len(self._before) else begin
            self._at.setdefault(row.row, at)
            self._written.setdefault(row.row, row)
            at = at.after(row)
            end = at if place == len(self._before) + len(rows) - 1 else end
        self.begin = begin  #: The block starts there.
        self._length = end.since(begin)

    def placed_before(self) -> list[PlacedRow]:
        """The rows before the block."""
        return [PlacedRow(row, self._at[row.row]) for row in self._before]

    def lacking(self, before: PlacedRow, row: CodeRow, at: Passed, family: str) -> int:
        """States that are missing between two rows."""
        most = states_of_pair(before.row, row, family)
        gap = at.since(before.at)
        if most <= 1 or most <= (gap.states if family == "gfx9" else gap.vector):
            return 0
        first, second = self._written[before.row.row], self._written[row.row]
        had = self._at[row.row].since(self._at[before.row.row])
        if before.is_around:
            had = Passed(*(count + length for count, length in zip(had, self._length, strict=True)))
        is_same = not (row.ahead or before.row.ahead) and states_of_pair(first, second, family) >= most
        if not is_same or had.states <= 0:
            return most - min(gap[:2])
        if family == "gfx9":
            return min(most, had.states) - gap.states
        return max(min(most, count) - now for count, now in zip(had[1:], gap[1:], strict=True))  # no rule counts all


class Lacking(NamedTuple):
    """States that a row lacks behind another."""

    states: int
    behind: int  #: Row of the code that it is too close behind; -1 = none.


def lacking_states(
    earlier_rows: Sequence[PlacedRow], row: CodeRow, at: Passed, distances: Distances, family: str
) -> Lacking:
    """States that are missing before a row that would be issued now; `earlier_rows` are in order."""
    worst = Lacking(0, -1)
    farthest = MOST_STATES if family == "gfx9" else _RDNA_FARTHEST
    for before in reversed(earlier_rows):
        if at.states - before.at.states >= farthest:
            break
        lack = distances.lacking(before, row, at, family)
        if lack > worst.states:
            worst = Lacking(lack, before.row.row)
    return worst
