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
from wavewright.codeobj.registers import FIRST_VECTOR, M0, registers

MOST_STATES: Final = 20  #: No rule of any GPU looks farther.
_RDNA_FARTHEST: Final = 64  #: Whatever is counted: no pipeline is as long.

#: Wait states of gfx9 from one row to another that reads or overwrites a register of it.
_NOT_SHARED, _NO_HAZARD = 0, 1  #: No register in common; one in common, but the next row may use it.
_FROM_MATRIX: Final = MOST_STATES  #: A result of a matrix instruction, or what it adds to.
_INTO_MATRIX: Final = 4
_MATRIX_CHAIN: Final = 2  #: From one matrix instruction to the next on the same accumulator, which is forwarded.
_SCALAR_OR_LANE: Final = 5  #: A scalar register that a vector instruction writes; a vector one that other lanes read.
_STORE_DATA: Final = 2  #: A vector register that a store still reads.
_SLOW_VALU: Final = 2  #: A result of a transcendental instruction, or of one that writes a part of a register.
_CLAUSE: Final = 2  #: Two memory instructions.
#: The same of RDNA in vector instructions, because s_nop is no help. Matrix and transcendental instructions finish
#: behind younger ones, and gfx12 reads scalar registers too early; gfx10.3 interlocks all.
_RDNA_MATRIX, _RDNA_TRANSCENDENTAL, _GFX12_SCALAR = 16, 12, 12

_SCALAR_BITS: Final = (1 << FIRST_VECTOR) - 1
_M0_BITS: Final = 1 << M0
_OTHER_LANES: Final = re.compile(
    r"v_(readlane|readfirstlane|writelane|permlane)|\S*_dpp|.*\b(quad_perm|row_\w+|wave_\w+|dpp8)\b"
)
_PARTS_OF_REGISTERS: Final = re.compile(r"\S*_sdwa|.*\bop_sel")
_ADDED_OPERAND: Final = 3  #: Of matrix instructions: result, A, B, what is added.


def states_of_pair(before: CodeRow, row: CodeRow, family: str) -> int:
    """The most wait states that any GPU of a family needs from one row to a later one: `_NOT_SHARED` or more."""
    read_results = before.writes & row.reads
    overwritten = (before.reads | before.writes) & row.writes
    if not read_results and not overwritten:
        return _NOT_SHARED
    if family != "gfx9":
        return _states_on_rdna(before, row, family, read_results)
    if _is_chain(before, row):
        return _MATRIX_CHAIN
    if before.is_matrix:  # A and B are read before anything behind it can overwrite them
        late = before.writes & (row.reads | row.writes) | _added_registers(before) & row.writes
        return _FROM_MATRIX if late & VECTOR_BITS else _NO_HAZARD
    if row.is_matrix:
        return _INTO_MATRIX if (read_results | overwritten) & VECTOR_BITS else _NO_HAZARD
    if before.is_valu:
        return _states_after_valu(before, row, read_results)
    if before.is_store and row.is_valu and overwritten:
        return _STORE_DATA
    if read_results & (_M0_BITS | EXEC_BITS):
        return _SCALAR_OR_LANE
    is_clause = before.counters and row.counters and not (before.is_lds or row.is_lds)  # XNACK may issue it again
    return _CLAUSE if is_clause else _NO_HAZARD


def _is_chain(before: CodeRow, row: CodeRow) -> bool:
    """True of two matrix instructions of one kind that add to the same accumulator and read it as nothing else."""
    if not (before.is_matrix and row.is_matrix) or before.text.split(" ", 1)[0] != row.text.split(" ", 1)[0]:
        return False
    accumulator = before.writes & VECTOR_BITS
    sources = row.text.rsplit(", ", 1)[0]  # all but the accumulator that is read
    others = sources.split(", ", 1)[-1]
    is_same = accumulator == row.writes & VECTOR_BITS and not accumulator & ~row.reads
    return is_same and not accumulator & bits(registers(others.replace(",", " ")))


def _added_registers(row: CodeRow) -> int:
    """Registers of the operand that a matrix instruction adds to; all that it reads where the text has none."""
    operands = row.text.split(", ")
    return bits(registers(operands[_ADDED_OPERAND])) if len(operands) > _ADDED_OPERAND else row.reads


def _states_after_valu(before: CodeRow, row: CodeRow, read_results: int) -> int:
    if read_results & _SCALAR_BITS or (read_results and _OTHER_LANES.match(row.text)):
        return _SCALAR_OR_LANE
    is_slow = before.class_name == "valu_transcendental" or _PARTS_OF_REGISTERS.match(before.text)
    return _SLOW_VALU if read_results and is_slow else _NO_HAZARD


def _states_on_rdna(before: CodeRow, row: CodeRow, family: str, read_results: int) -> int:
    if family == "gfx10":
        return _NO_HAZARD
    if before.is_matrix or row.is_matrix:
        return _RDNA_MATRIX
    if before.class_name == "valu_transcendental":
        return _RDNA_TRANSCENDENTAL
    return _GFX12_SCALAR if family == "gfx12" and read_results & _SCALAR_BITS & ~EXEC_BITS else _NO_HAZARD


class Passed(NamedTuple):
    """The wait states that have passed where a row is issued, and of which kinds the instructions were in them."""

    states: int = 0
    vector: int = 0
    transcendental: int = 0
    memory: int = 0
    scalar: int = 0

    def after(self, row: CodeRow) -> Passed:
        """The count behind a row that is issued now; True counts as 1."""
        is_scalar = row.text.startswith("s_") and not row.is_derived
        is_transcendental = row.class_name == "valu_transcendental"
        return self.plus(Passed(row.states, row.is_valu, is_transcendental, bool(row.counters), is_scalar))

    def plus(self, other: Passed) -> Passed:
        """Both counts together."""
        return Passed(*(count + added for count, added in zip(self, other, strict=True)))

    def since(self, other: Passed) -> Passed:
        """What passed from another place to this one."""
        return Passed(*(now - before for now, before in zip(self, other, strict=True)))


class PlacedRow(NamedTuple):
    """A row of a new order, and what passed before it."""

    row: CodeRow
    passed: Passed
    is_around: bool = False  #: Whether it is of the iteration before.


class Distances:
    """What passes between rows of a block, and rows around it, in the order that the code has."""

    def __init__(self, before: Sequence[CodeRow], rows: Sequence[CodeRow], behind: Sequence[CodeRow]) -> None:
        self._before = list(before)[-MOST_STATES:]
        self._passed: dict[int, Passed] = {}  # row of the code -> what passed before it
        self._written: dict[int, CodeRow] = {}  # row of the code -> the row as the code has it
        passed = start = end = Passed()
        for place, row in enumerate((*self._before, *rows, *behind)):
            start = passed if place == len(self._before) else start
            self._passed.setdefault(row.row, passed)
            self._written.setdefault(row.row, row)
            passed = passed.after(row)
            end = passed if place == len(self._before) + len(rows) - 1 else end
        self.start = start  #: What passed before the block.
        self._iteration = end.since(start)

    def placed_before(self) -> list[PlacedRow]:
        """The rows before the block."""
        return [PlacedRow(row, self._passed[row.row]) for row in self._before]

    def lacking(self, before: PlacedRow, row: CodeRow, passed: Passed, family: str) -> int:
        """States that are missing between a row of the new order and one that would be issued now; 0 or less = none.

        A pair is safe as far apart as any GPU needs it, or as far apart as the code has it. The latter counts only
        where the code has this pair in this order, and with registers that need as many states.
        """
        needed = states_of_pair(before.row, row, family)
        gap = passed.since(before.passed)
        if needed <= _NO_HAZARD or needed <= (gap.states if family == "gfx9" else gap.vector):
            return 0
        gap_in_code = self._passed[row.row].since(self._passed[before.row.row])
        if before.is_around:
            gap_in_code = gap_in_code.plus(self._iteration)
        states_in_code = states_of_pair(self._written[before.row.row], self._written[row.row], family)
        is_moved_to_other_iteration = row.ahead or before.row.ahead
        if is_moved_to_other_iteration or states_in_code < needed or gap_in_code.states <= 0:
            return needed - min(gap.states, gap.vector)
        if family == "gfx9":
            return min(needed, gap_in_code.states) - gap.states
        # Which kind of instructions a rule of RDNA counts depends on the rule; none counts wait states.
        return max(min(needed, count) - now for count, now in zip(gap_in_code[1:], gap[1:], strict=True))


class Lacking(NamedTuple):
    """States that a row lacks behind another."""

    states: int
    behind: int  #: Row of the code that it is too close behind; -1 = none.


def lacking_states(
    earlier_rows: Sequence[PlacedRow], row: CodeRow, passed: Passed, distances: Distances, family: str
) -> Lacking:
    """The most states that are missing before a row that would be issued now; `earlier_rows` are in order."""
    worst = Lacking(0, -1)
    farthest = MOST_STATES if family == "gfx9" else _RDNA_FARTHEST
    for before in reversed(earlier_rows):
        if passed.states - before.passed.states >= farthest:
            break
        lack = distances.lacking(before, row, passed, family)
        if lack > worst.states:
            worst = Lacking(lack, before.row.row)
    return worst
