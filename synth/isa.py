"""A listing (TSV of address, size, text) as a graph the timing model can walk: kinds, successors, targets, waits."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from wavewright.codeobj.classes import classify, waits_of
from wavewright.codeobj.listing import Row, parse_rows
from wavewright.errors import UsageError


class Kind(IntEnum):
    """Kind of an instruction, as far as timing and tokens care."""

    SKIP = 0  # leaves no token
    SALU = 1
    SALU_EXEC = 2  # scalar, writes EXEC
    SALU_FLOAT = 3
    SMEM = 4
    GLOBAL_LOAD = 5
    GLOBAL_STORE = 6
    BUFFER_LOAD = 7
    BUFFER_STORE = 8
    FLAT_LOAD = 9
    FLAT_STORE = 10
    LDS_LOAD = 11
    LDS_STORE = 12
    VALU = 13
    VALU_WIDE = 14  # 64-bit operands
    TRANSCENDENTAL = 15
    DOUBLE = 16
    MATRIX = 17
    MATRIX_SCALE = 18
    BRANCH = 19  # conditional
    JUMP = 20
    REGISTER_JUMP = 21  # set-PC, swap-PC, call: the trace tells the target
    IMMED = 22
    WAIT = 23
    BARRIER = 24
    BARRIER_SIGNAL = 25
    BARRIER_WAIT = 26
    MESSAGE = 27
    SHADER_DATA = 28
    END = 29


# What an instruction class is to the model; a class that is not here cannot be timed.
_KIND_OF_CLASS = {
    "end": Kind.END,
    "branch_conditional": Kind.BRANCH,
    "branch": Kind.JUMP,
    "call": Kind.REGISTER_JUMP,
    "jump": Kind.REGISTER_JUMP,
    "delay": Kind.SKIP,
    "wait": Kind.WAIT,
    "barrier": Kind.BARRIER,
    "barrier_signal": Kind.BARRIER_SIGNAL,
    "barrier_wait": Kind.BARRIER_WAIT,
    "message": Kind.MESSAGE,
    "message_return": Kind.MESSAGE,
    "trace_data": Kind.SHADER_DATA,
    "nop": Kind.IMMED,
    "sleep": Kind.IMMED,
    "priority": Kind.IMMED,
    "clause": Kind.IMMED,
    "control": Kind.IMMED,
    "smem_load": Kind.SMEM,
    "smem_store": Kind.SMEM,
    "smem_atomic": Kind.SMEM,
    "smem_cache": Kind.SMEM,
    "smem_time": Kind.SMEM,
    "smem_prefetch": Kind.SMEM,
    "lds_load": Kind.LDS_LOAD,
    "lds_cross_lane": Kind.LDS_LOAD,
    "lds_store": Kind.LDS_STORE,
    "lds_atomic": Kind.LDS_STORE,
    "vmem_load": Kind.GLOBAL_LOAD,
    "vmem_lds_load": Kind.GLOBAL_LOAD,
    "vmem_atomic_return": Kind.GLOBAL_LOAD,
    "vmem_invalidate": Kind.GLOBAL_LOAD,
    "scratch_load": Kind.GLOBAL_LOAD,
    "vmem_store": Kind.GLOBAL_STORE,
    "vmem_atomic": Kind.GLOBAL_STORE,
    "vmem_writeback": Kind.GLOBAL_STORE,
    "scratch_store": Kind.GLOBAL_STORE,
    "flat_load": Kind.FLAT_LOAD,
    "flat_atomic_return": Kind.FLAT_LOAD,
    "flat_store": Kind.FLAT_STORE,
    "flat_atomic": Kind.FLAT_STORE,
    "matrix": Kind.MATRIX,
    "valu_transcendental": Kind.TRANSCENDENTAL,
    "valu_double": Kind.DOUBLE,
    "valu_packed": Kind.VALU,
    "valu_dual": Kind.VALU,
    "valu": Kind.VALU,
    "salu": Kind.SALU,
}

# Finer than the classes, or different because the trace reports it so: (kind by class, pattern, kind).
_EXCEPTIONS = tuple(
    (kind, re.compile(pattern), instead)
    for kind, pattern, instead in (
        (Kind.SKIP, r"s_waitcnt_depctr", Kind.IMMED),
        (Kind.IMMED, r"s_set_gpr_idx|s_round_mode|s_denorm_mode|s_setprio_inc", Kind.SALU),
        (Kind.SALU, r"s_\w+_saveexec_|s_\w+ exec(_lo|_hi)?,", Kind.SALU_EXEC),
        (Kind.SALU, r"s_\w+_f(16|32)\b", Kind.SALU_FLOAT),
        (Kind.GLOBAL_LOAD, r"t?buffer_", Kind.BUFFER_LOAD),
        (Kind.GLOBAL_STORE, r"t?buffer_", Kind.BUFFER_STORE),
        (Kind.VALU, r"v_\w+_[biu]64", Kind.VALU_WIDE),
        (Kind.MATRIX, r"v_mfma_scale_", Kind.MATRIX_SCALE),
        # The hardware reports s_memtime as SMEM, AMD's decoder takes it for SALU and loses the wave there: a trace
        # with a known truth has to side with the decoder (spec_gfx9 6.2).
        (Kind.SMEM, r"s_memtime", Kind.SALU),
    )
)


def kind_of(text: str, family: str) -> Kind | None:
    """The kind of an instruction, or None for text that is no instruction we can time.

    >>> kind_of("global_load_dword v1, v[2:3], off", "gfx9").name
    'GLOBAL_LOAD'
    """
    kind = _KIND_OF_CLASS.get(classify(text, family).name)
    for general, pattern, instead in _EXCEPTIONS:
        if kind == general and pattern.match(text):
            return instead
    return kind


class CodeRow(NamedTuple):
    """One instruction of a listing; `next` and `target` are row numbers, -1 where there is none."""

    address: int
    text: str
    kind: Kind
    next: int
    target: int
    counters: tuple[str, ...]  # raised until the operation is complete
    waits: tuple[tuple[str, int], ...]  # (counter, value it must have come down to)
    operand: int | None  # the number at the end of the text; for s_ttracedata what M0 holds
    loop_exit: bool  # a forward branch that leaves a loop closed by an unconditional jump


@dataclass(frozen=True)
class CodeGraph:
    """A code object's instructions in address order."""

    rows: tuple[CodeRow, ...]
    row_at: dict[int, int]

    def entry_row(self, address: int) -> int:
        """The row at a kernel's entry address."""
        if address not in self.row_at:
            problem = f"the listing has no instruction at the entry address {address:#x}"
            raise UsageError(problem)
        return self.row_at[address]


def code_graph(tsv: bytes, family: str) -> CodeGraph:
    """Read a listing; UsageError if lines of it cannot be read."""
    lines, unreadable = parse_rows(tsv)
    if unreadable or not lines:
        problem = f"{unreadable} lines of the listing cannot be read" if unreadable else "the listing is empty"
        raise UsageError(problem, advice="a line is 'address<TAB>size<TAB>text'")
    lines.sort()
    row_at = {line.address: row for row, line in enumerate(lines)}
    targets = [_target(lines, row, row_at) for row in range(len(lines))]
    jumps = [(row, to) for row, to in enumerate(targets) if lines[row].text.startswith("s_branch") and to <= row]
    rows = []
    for row, (address, size, text) in enumerate(lines):
        kind = kind_of(text, family)
        if kind is None:
            kind = Kind.END  # data and padding end a walk; the model says so when it gets there
        target = targets[row]
        rows.append(
            CodeRow(
                address=address,
                text=text,
                kind=kind,
                next=row_at.get(address + max(size, 4), -1),
                target=target,
                counters=classify(text, family).counters if kind in _MEMORY else (),
                waits=waits_of(text, family),
                operand=_m0(lines, row) if text == "s_ttracedata" else _integer(text.rpartition(" ")[2]),
                loop_exit=kind == Kind.BRANCH and any(back <= row < jump < target for jump, back in jumps),
            )
        )
    return CodeGraph(tuple(rows), row_at)


_MEMORY = frozenset(range(Kind.SMEM, Kind.LDS_STORE + 1))
_LITERAL = re.compile(r"lit\((.+)\)")


def _integer(text: str) -> int | None:
    try:
        return int(_LITERAL.sub(r"\1", text), 0)
    except ValueError:
        return None


def _target(lines: list[Row], row: int, row_at: dict[int, int]) -> int:
    """The row a branch, call or resolvable register jump goes to; -1 for all others."""
    address, _, text = lines[row]
    if text.startswith(("s_cbranch", "s_branch", "s_call")):
        words = _integer(text.rpartition(" ")[2]) or 0
        if words >= 1 << 15:
            words -= 1 << 16
        return row_at.get(address + 4 + 4 * words, -1)
    if text.startswith(("s_setpc", "s_swappc", "s_set_pc", "s_swap_pc")):
        return row_at.get(_register_value(lines, row), -1)
    return -1


_PAIR = re.compile(r"s\[(\d+):(\d+)\]$")
_NEARBY_ROWS = 32  # a compiler keeps a value's making and its use closer together than this


def _m0(lines: list[Row], row: int) -> int | None:
    """Value of M0 at a row, if a constant was moved there just before."""
    for line in reversed(lines[max(row - _NEARBY_ROWS, 0) : row]):
        if match := re.match(r"s_mov(?:k_i32|_b32) m0, (.+)", line.text):
            return _integer(match[1])
    return None


def _register_value(lines: list[Row], row: int) -> int:
    """The code address in the last operand of a register jump, if s_getpc and additions just before it made it."""
    pair = _PAIR.search(lines[row].text)
    if pair is None:
        return -1
    low, high = (f"s{n}" for n in pair.groups())
    for first in range(row - 1, max(row - _NEARBY_ROWS, -1), -1):
        address, size, text = lines[first]
        if not text.startswith(("s_getpc", "s_get_pc")) or not text.endswith(pair.group()):
            continue
        value = address + size
        for step in lines[first + 1 : row]:
            value += _added(step.text, low, high, pair.group())
        return value % (1 << 48)
    return -1


def _added(text: str, low: str, high: str, pair: str) -> int:
    mnemonic, _, operands = text.replace(", ", ",").partition(" ")
    if not mnemonic.startswith("s_add"):
        return 0
    destination, _, last = operands.split(",")
    amount = _integer(last)
    if amount is None:
        return 0
    if destination == pair:
        return amount
    if destination == low:
        return amount % (1 << 32)
    # The carry of the low half is already part of the 64-bit sum.
    return (amount % (1 << 32)) << 32 if destination == high else 0
