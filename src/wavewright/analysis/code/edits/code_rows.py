"""Rows of machine code as edits see them: registers as bits, counters, order of completion, kind of access.

Registers have the numbers of the core (`codeobj.registers`); a set of them is one integer with these bits. Everything
else follows from the class of an instruction (`codeobj.classes`), or from its text where the class does not say it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from typing import Final

import polars as pl

from wavewright.codeobj.classes import InstructionClass, classify, waits_of
from wavewright.codeobj.registers import END_OF_AGPRS, EXEC, FIRST_AGPR, FIRST_VECTOR, MODE, registers, spelled

#: Classes that complete in order among themselves, but in any order against the others of their counter (gfx10 on).
_ORDER_GROUPS: Final = {"image_sample": 2, "bvh": 3, "gws": 4, "export": 5, "lds_param": 6, "vmem_lds_store": 7}
_LDS_CLASSES: Final = frozenset(("lds_load", "lds_store", "lds_atomic", "gws", "lds_param", "lds_async_arrive"))
_TO_LDS_CLASSES: Final = frozenset(("vmem_lds_load", "tensor_lds_load"))
_FROM_LDS_CLASSES: Final = frozenset(("vmem_lds_store", "tensor_lds_store"))
_VECTOR_MEMORY: Final = ("vmem_", "flat_", "scratch_", "image_", "tensor_", "bvh")  #: How their classes begin.
_STORE_WORDS: Final = ("store", "atomic")
#: Classes of rows that keep their place among all rows; the next are texts of such rows in other classes.
_FENCE_CLASSES: Final = frozenset(
    (
        *("vmem_invalidate", "vmem_writeback", "vmem_prefetch", "smem_cache", "smem_time", "lds_async_arrive"),
        *("message", "message_return", "sleep", "priority", "control", "delay", "jump", "call"),
        *("barrier_signal", "trace_data", "gws", "export"),
    )
)
_FENCE_TEXTS: Final = re.compile(
    r"s_(setreg|getreg|set_gpr|memtime|memrealtime|ttrace|sched|dcache|icache|gl1)|.*\bsrc_flat_scratch_base"
)
_HINTS: Final = re.compile(r"s_(delay_alu|clause)\b")  #: For the scheduler of the hardware; they take no state.
#: Modifiers of accesses that other waves are meant to see in order: waits before them stay as strict as they were.
_COHERENT: Final = re.compile(r"\s(sc0 sc1|sc1|glc slc|slc|dlc|scope:SCOPE_(SE|DEV|SYS))\b")
_CONTROL: Final = frozenset(("branch", "branch_conditional", "end", "jump", "call"))
_SHARED_BITS: Final = 1 << MODE  #: The mode: read by most rows, written by fences only, which keep their place anyway.
EXEC_BITS: Final = 3 << EXEC
VECTOR_BITS: Final = ((1 << (END_OF_AGPRS - FIRST_VECTOR)) - 1) << FIRST_VECTOR
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
    waits: tuple[tuple[str, int], ...] = ()  #: Counter and value of what it waits for.
    size: int = 4
    is_known: bool = True  #: Whether the tables have its operands.
    ahead: int = 0  #: Iterations that it is issued ahead of its own.
    states: int = 1  #: Wait states that pass while it is issued.
    # What follows from the class and the text, see `_traits`.
    is_wait: bool = False  #: Waits for counters.
    is_nop: bool = False  #: Padding.
    is_derived: bool = False  #: Made by an order itself: a wait, padding, or a hint for the scheduler of the hardware.
    is_barrier: bool = False  #: Waves meet there, or say that they came.
    is_control: bool = False  #: Another row than the next may follow.
    is_fence: bool = False  #: Keeps its place among all rows.
    is_valu: bool = False  #: Arithmetic of vector registers, matrix instructions included.
    is_matrix: bool = False
    is_memory: bool = False  #: Reads or writes memory beyond the LDS.
    is_vector_memory: bool = False  #: Accesses memory by a vector instruction.
    is_vector_load: bool = False  #: Loads that return in order into vector registers.
    is_flat: bool = False  #: Goes to memory or to LDS, depending on the address.
    is_lds: bool = False  #: Reads or writes the LDS, loads from memory to it included.
    is_to_lds: bool = False  #: Loads from memory to LDS.
    is_copy: bool = False  #: Goes between memory and LDS, either way.
    is_store: bool = False  #: Writes memory or LDS.
    is_coherent: bool = False  #: Accesses memory in an order that other waves may see.


def code_rows(code: pl.DataFrame, family: str) -> list[CodeRow]:
    """Rows of a code table with operands (`codeobj.operands.with_operands`), in the order of rows."""
    names = ("row", "text", "size", "reads", "implicit_reads", "tied", "writes", "implicit_writes")
    distinct_rows: dict[tuple[object, ...], CodeRow] = {}  # the same instructions come again and again
    rows = []
    for row, text, size, *operands in code.select(names).iter_rows():
        key = (text, *operands)
        if key not in distinct_rows:
            distinct_rows[key] = _code_row(text or "", family, operands)
        rows.append(replace(distinct_rows[key], row=row, size=size or 4))
    return rows


def _code_row(text: str, family: str, operands: list[str | None]) -> CodeRow:
    """A row without number; `operands` are as in `code_rows`, null where the tables do not know the instruction."""
    instruction_class = classify(text, family)
    reads, implicit_reads, tied_registers, writes, implicit_writes = (name or "" for name in operands)
    halves = " ".join(word for word in writes.split() if word.endswith((".l", ".h")))  # the other half stays
    order = 1 if family == "gfx9" else _ORDER_GROUPS.get(instruction_class.name, 1)
    is_free = instruction_class.name == "wait" and family != "gfx9"  # hazards of RDNA do not count waits
    return CodeRow(
        row=-1,
        text=text,
        class_name=instruction_class.name,
        reads=bits(registers(f"{reads} {implicit_reads} {tied_registers} {halves}")) & ~_SHARED_BITS,
        writes=bits(registers(f"{writes} {implicit_writes}")) & ~_SHARED_BITS,
        counters=instruction_class.counters,
        has_address_counter=family == "gfx1250" and _is_translated(instruction_class),
        order=order if instruction_class.in_order else 0,
        waits=tuple((wait.counter, wait.value) for wait in waits_of(text, family)),
        is_known=operands[0] is not None,
        states=0 if is_free else _nop_states(text),
        **_traits(text, instruction_class, is_known=operands[0] is not None),
    )


def _traits(text: str, instruction_class: InstructionClass, *, is_known: bool) -> dict[str, bool]:
    """The fields of a row that follow from its class and its text."""
    name = instruction_class.name
    is_to_lds = name in _TO_LDS_CLASSES
    is_copy = is_to_lds or name in _FROM_LDS_CLASSES
    is_memory = bool(instruction_class.counters) and name not in _LDS_CLASSES and name != "lds_cross_lane"
    return {
        "is_wait": name == "wait",
        "is_nop": name == "nop",
        "is_derived": name in ("wait", "nop") or _HINTS.match(text) is not None,
        "is_barrier": name in ("barrier", "barrier_wait", "barrier_signal"),
        "is_control": name in _CONTROL,
        "is_fence": name in _FENCE_CLASSES or _FENCE_TEXTS.match(text) is not None or not is_known,
        "is_valu": text.startswith("v_"),
        "is_matrix": name == "matrix",
        "is_memory": is_memory,
        "is_vector_memory": name.startswith(_VECTOR_MEMORY),
        "is_vector_load": name in ("vmem_load", "scratch_load", "image_load"),
        "is_flat": name.startswith("flat"),
        "is_lds": name in _LDS_CLASSES or is_copy,
        "is_to_lds": is_to_lds,
        "is_copy": is_copy,
        "is_store": is_to_lds or any(word in name for word in _STORE_WORDS),
        "is_coherent": is_memory and (_COHERENT.search(text) is not None or "atomic" in name),
    }


def _is_translated(instruction_class: InstructionClass) -> bool:
    """True of what `xcnt` of gfx1250 counts: as LLVM 22 has it, not copies between memory and LDS."""
    counters = instruction_class.counters
    return instruction_class.name.startswith((*_VECTOR_MEMORY, "smem_")) and counters not in ((), ("asynccnt",))


def derived_row(text: str, family: str) -> CodeRow:
    """A wait or `s_nop` that an order needs."""
    return _code_row(text, family, ["", "", "", "", ""])


def _nop_states(text: str) -> int:
    nop_match = re.match(r"s_nop (0x[\da-fA-F]{1,4}|\d{1,4})", text)
    if nop_match:
        return int(nop_match[1], 0) + 1
    return 0 if _HINTS.match(text) else 1


def bits(numbers: Iterable[int]) -> int:
    """Registers as bits."""
    return union(1 << number for number in numbers)


def union(masks: Iterable[int]) -> int:
    """Registers of several sets of bits."""
    return reduce(or_, masks, 0)


def numbers_in(value: int) -> list[int]:
    """Registers of bits, in order."""
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
