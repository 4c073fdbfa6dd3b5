"""Rows of machine code as edits see them: registers as bits, counters, order of completion, kind of access."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

import polars as pl

from wavewright.codeobj.classes import InstructionClass, classify, waits_of
from wavewright.codeobj.registers import EXEC, FIRST_AGPR, FIRST_VECTOR, MODE, registers, spelled

#: Classes that complete in order among themselves, but in any order against the others of their counter (gfx10 on).
_ORDER_GROUPS: Final = {"image_sample": 2, "bvh": 3, "gws": 4, "export": 5, "lds_param": 6, "vmem_lds_store": 7}
_LDS_CLASSES: Final = frozenset(("lds_load", "lds_store", "lds_atomic", "gws", "lds_param", "lds_async_arrive"))
_TO_LDS_CLASSES: Final = frozenset(("vmem_lds_load", "tensor_lds_load"))
_FROM_LDS_CLASSES: Final = frozenset(("vmem_lds_store", "tensor_lds_store"))
_VECTOR_MEMORY: Final = ("vmem_", "flat_", "scratch_", "image_", "tensor_", "bvh")
_STORE_WORDS: Final = ("store", "atomic")
_FENCE_CLASSES: Final = (
    frozenset(
        (
            "vmem_invalidate",
            "vmem_writeback",
            "vmem_prefetch",
            "message",
            "message_return",
            "sleep",
            "priority",
            "control",
        )
    )
    | {"smem_cache", "smem_time", "gws", "export", "trace_data", "delay", "jump", "call", "barrier_signal"}
    | {"lds_async_arrive"}
)
_FENCE_TEXTS: Final = re.compile(
    r"s_(setreg|getreg|set_gpr|memtime|memrealtime|ttrace|sched|dcache|icache|gl1)|.*\bsrc_flat_scratch_base"
)
_HINTS: Final = re.compile(r"s_(delay_alu|clause)\b")
#: Modifiers of accesses that other waves are meant to see in order: waits before them stay as strict as they were.
_COHERENT: Final = re.compile(r"\s(sc0 sc1|sc1|glc slc|slc|dlc|scope:SCOPE_(SE|DEV|SYS))\b")
_CONTROL: Final = frozenset(("branch", "branch_conditional", "end", "jump", "call"))
_SHARED_BITS: Final = 1 << MODE  #: Read by most and written by fences only.
EXEC_BITS: Final = 3 << EXEC
VECTOR_BITS: Final = ((1 << (1536 - FIRST_VECTOR)) - 1) << FIRST_VECTOR
VGPR_BITS: Final = ((1 << (FIRST_AGPR - FIRST_VECTOR)) - 1) << FIRST_VECTOR


@dataclass(frozen=True, eq=False)
class CodeRow:
    """One instruction. Registers are bits of one number, with the numbers of the core."""

    row: int  #: Row of the code table; -1 = put in by an edit.
    text: str
    class_name: str
    reads: int = 0
    writes: int = 0
    counters: tuple[str, ...] = ()
    has_address_counter: bool = False  #: Whether its registers may be overwritten only behind a wait for `xcnt`.
    order: int = 1  #: Operations of one number complete in order; 0 = in any order.
    waits: tuple[tuple[str, int], ...] = ()
    size: int = 4
    is_known: bool = True  #: Whether the tables have its operands.
    ahead: int = 0  #: Iterations that it is issued ahead of its own.
    states: int = field(default=1)  #: Wait states that pass while it is issued.

    @property
    def is_wait(self) -> bool:
        """True of waits for counters."""
        return self.class_name == "wait"

    @property
    def is_nop(self) -> bool:
        """True of padding."""
        return self.class_name == "nop"

    @property
    def is_hint(self) -> bool:
        """Hints for the scheduler of the hardware: without them the code means the same."""
        return _HINTS.match(self.text) is not None

    @property
    def is_derived(self) -> bool:
        """Rows that an order makes itself."""
        return self.is_wait or self.is_nop or self.is_hint

    @property
    def is_barrier(self) -> bool:
        """True of rows at which waves meet, or say that they came."""
        return self.class_name in ("barrier", "barrier_wait", "barrier_signal")

    @property
    def is_control(self) -> bool:
        """True of what another row may follow than the next."""
        return self.class_name in _CONTROL

    @property
    def is_lds(self) -> bool:
        """True of what reads or writes the LDS, loads from memory to it included."""
        return self.class_name in _LDS_CLASSES or self.is_copy

    @property
    def is_to_lds(self) -> bool:
        """True of loads from memory to LDS."""
        return self.class_name in _TO_LDS_CLASSES

    @property
    def is_copy(self) -> bool:
        """True of what goes between memory and LDS."""
        return self.is_to_lds or self.class_name in _FROM_LDS_CLASSES

    @property
    def is_vector_memory(self) -> bool:
        """True of accesses to memory by vector instructions."""
        return self.class_name.startswith(_VECTOR_MEMORY)

    @property
    def is_flat(self) -> bool:
        """True of accesses that may go to memory or to LDS."""
        return self.class_name.startswith("flat")

    @property
    def is_memory(self) -> bool:
        """True of what reads or writes memory beyond the LDS."""
        return bool(self.counters) and (self.class_name not in _LDS_CLASSES) and self.class_name != "lds_cross_lane"

    @property
    def is_store(self) -> bool:
        """True of what writes memory or LDS."""
        return any(word in self.class_name for word in _STORE_WORDS) or self.is_to_lds

    @property
    def is_valu(self) -> bool:
        """True of arithmetic of vector registers."""
        return self.text.startswith("v_")

    @property
    def is_matrix(self) -> bool:
        """True of matrix instructions."""
        return self.class_name == "matrix"

    @property
    def is_vector_load(self) -> bool:
        """True of loads that return in order into vector registers."""
        return self.class_name in ("vmem_load", "scratch_load", "image_load")

    @property
    def is_fence(self) -> bool:
        """True of what keeps its place among all rows."""
        return self.class_name in _FENCE_CLASSES or _FENCE_TEXTS.match(self.text) is not None or not self.is_known

    @property
    def is_coherent(self) -> bool:
        """True of accesses whose order others may see."""
        return self.is_memory and (_COHERENT.search(self.text) is not None or "atomic" in self.class_name)


def code_rows(code: pl.DataFrame, family: str) -> list[CodeRow]:
    """Rows of a code table with operands (`codeobj.operands.with_operands`), in the order of rows."""
    names = ("row", "text", "size", "reads", "implicit_reads", "tied", "writes", "implicit_writes")
    answers: dict[tuple[object, ...], CodeRow] = {}
    rows = []
    for row, text, size, *operands in code.select(names).iter_rows():
        key = (text, *operands)
        if key not in answers:
            answers[key] = _code_row(text or "", family, operands)
        rows.append(_placed(answers[key], row, size or 4))
    return rows


def _placed(like: CodeRow, row: int, size: int) -> CodeRow:
    values = dict(like.__dict__)
    values.update(row=row, size=size)
    return CodeRow(**values)


def _code_row(text: str, family: str, operands: list[str | None]) -> CodeRow:
    instruction_class = classify(text, family)
    reads, implicit_reads, tied_registers, writes, implicit_writes = (name or "" for name in operands)
    halves = " ".join(word for word in writes.split() if word.endswith((".l", ".h")))
    states = (
        0 if instruction_class.name == "wait" and family != "gfx9" else _nop_states(text)
    )  # RDNA's hazards count others
    return CodeRow(
        -1,
        text,
        instruction_class.name,
        bits(registers(f"{reads} {implicit_reads} {tied_registers} {halves}")) & ~_SHARED_BITS,
        bits(registers(f"{writes} {implicit_writes}")) & ~_SHARED_BITS,
        instruction_class.counters,
        family == "gfx1250" and _is_translated(instruction_class),
        _order_of(instruction_class, family),
        tuple((wait.counter, wait.value) for wait in waits_of(text, family)),
        is_known=operands[0] is not None,
        states=states,
    )


def _is_translated(instruction_class: InstructionClass) -> bool:
    """True of what `xcnt` of gfx1250 counts: as LLVM 22 has it, not copies between memory and LDS."""
    counters = instruction_class.counters
    return instruction_class.name.startswith((*_VECTOR_MEMORY, "smem_")) and counters not in ((), ("asynccnt",))


def derived_row(text: str, family: str) -> CodeRow:
    """A wait or `s_nop` that an order needs."""
    return _code_row(text, family, ["", "", "", "", ""])


def _order_of(instruction_class: InstructionClass, family: str) -> int:
    if not instruction_class.in_order:
        return 0
    return 1 if family == "gfx9" else _ORDER_GROUPS.get(instruction_class.name, 1)


def _nop_states(text: str) -> int:
    nop_match = re.match(r"s_nop (0x[\da-fA-F]{1,4}|\d{1,4})", text)
    return int(nop_match[1], 0) + 1 if nop_match else 0 if _HINTS.match(text) else 1


def bits(numbers: Iterable[int]) -> int:
    """Registers as bits.

    >>> bits([0, 3])
    9
    """
    value = 0
    for number in numbers:
        value |= 1 << number
    return value


def numbers_in(value: int) -> list[int]:
    """Registers of bits, in order.

    >>> numbers_in(9)
    [0, 3]
    """
    numbers = []
    while value:
        low = value & -value
        numbers.append(low.bit_length() - 1)
        value ^= low
    return numbers


def named(value: int) -> str:
    """The first register of bits, as LLVM spells it.

    >>> named(1 << 128)
    'scc'
    """
    return spelled(numbers_in(value)[0], 1) if value else "nothing"
