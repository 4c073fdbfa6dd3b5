"""Wait states that must stay between two rows that share a register.

The code of a compiler satisfies every hazard of its GPU. So a pair of rows that stays as far apart as it was is safe,
and one that is farther apart than the longest hazard of its kind is safe too: no table of hazards is needed, only the
most states that any GPU of the family asks of a kind of pair (LLVM 22, GCNHazardRecognizer; AMD's ISA documents).
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
#: On RDNA, where the hardware interlocks and the rest is not padded with s_nop.
_RDNA_MATRIX, _RDNA_TRANSCENDENTAL, _RDNA_SCALAR = 16, 12, 12


def states_of_pair(before: CodeRow, row: CodeRow, family: str) -> int:
    """The most wait states that any GPU of a family needs from one row to another that shares a register; 1 = none."""
    true = before.writes & row.reads
    other = (before.reads & row.writes) | (before.writes & row.writes)
    if not true and not other:
        return 0
    if family != "gfx9":
        return _on_rdna(before, row, true, true | other)
    if _is_chain(before, row):
        return _CHAIN
    if before.is_matrix:  # A and B are read before anything behind it can overwrite them
        late = before.writes & (row.reads | row.writes) | _accumulator_read(before) & row.writes
        return _MATRIX if late & VECTOR_BITS else 1
    if row.is_matrix:
        return _INTO_MATRIX if (true | other) & VECTOR_BITS else 1
    if before.text.startswith("v_"):
        return _after_valu(before, row, true)
    if before.is_store and row.text.startswith("v_") and other:
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


def _on_rdna(before: CodeRow, row: CodeRow, true: int, shared_registers: int) -> int:
    if before.is_matrix or row.is_matrix:
        return _RDNA_MATRIX
    if before.class_name == "valu_transcendental":
        return _RDNA_TRANSCENDENTAL
    is_vector = before.text.startswith("v_") or row.text.startswith("v_") or before.counters or row.counters
    if before.text.startswith("v_") and row.text.startswith("v_") and not true:
        return 1
    return _RDNA_SCALAR if shared_registers & _SCALAR_BITS & ~EXEC_BITS and is_vector else 1


class PlacedRow(NamedTuple):
    """A row that was issued at a state; `is_around` = in the iteration before."""

    row: CodeRow
    at: int
    is_around: bool = False


class Distances:
    """States between rows of a block, and rows around it, in the order that the code has."""

    def __init__(self, before: Sequence[CodeRow], rows: Sequence[CodeRow], behind: Sequence[CodeRow]) -> None:
        self._before = list(before)[-MOST_STATES:]
        self._at: dict[int, int] = {}
        self._written: dict[int, CodeRow] = {}
        at = -sum(row.states for row in self._before)
        for row in (*self._before, *rows, *behind):
            self._at.setdefault(row.row, at)
            self._written.setdefault(row.row, row)
            at += row.states
        self._length = sum(row.states for row in rows)

    def placed_before(self) -> list[tuple[CodeRow, int]]:
        """The rows before the block and their states; the block starts at 0."""
        return [(row, self._at[row.row]) for row in self._before]

    def safe_states(self, before: PlacedRow, row: CodeRow, most: int, family: str) -> int:
        """States that are certainly enough between two rows, at most `most`."""
        first, second = self._written[before.row.row], self._written[row.row]
        had = self._at[row.row] - self._at[before.row.row] + (self._length if before.is_around else 0)
        is_same = not (row.ahead or before.row.ahead) and states_of_pair(first, second, family) >= most
        return min(most, had) if is_same and had > 0 else most


class Lacking(NamedTuple):
    """States that a row lacks behind another."""

    states: int
    behind: int  #: Row of the code that it is too close behind; -1 = none.


def lacking_states(
    earlier_rows: Sequence[PlacedRow], row: CodeRow, at: int, distances: Distances, family: str
) -> Lacking:
    """States that are missing before a row that would issue at state `at`; `placed` are the rows before it in order."""
    worst = Lacking(0, -1)
    for before in reversed(earlier_rows):
        gap = at - before.at
        if gap >= MOST_STATES:
            break
        most = states_of_pair(before.row, row, family)
        if most > gap:
            lack = distances.safe_states(before, row, most, family) - gap
            if lack > worst.states:
                worst = Lacking(lack, before.row.row)
    return worst
