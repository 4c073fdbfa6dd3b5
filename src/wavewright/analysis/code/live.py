"""Registers that hold values which are still needed, at every row of a kernel."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from wavewright import _core
from wavewright.analysis.code.flow import ANYWHERE, CALL, flow_rows
from wavewright.analysis.code.lane_mask import with_full_writes
from wavewright.analysis.code.machine_code import MachineCode
from wavewright.codeobj.descriptors import Descriptor
from wavewright.codeobj.registers import FIRST_AGPR, FIRST_VECTOR, SGPR_COUNT, VCC
from wavewright.codeobj.targets import family_of

#: Columns of `LiveRegisters.rows` that count registers.
COUNTS = ("live_vgprs", "live_agprs", "live_sgprs", "live_vectors")

# Targets whose hardware puts all three work-item ids into v0 (AMDGPUUsage, "Initial Kernel Execution State").
_PACKED_IDS = ("gfx90a", "gfx942", "gfx950", "gfx9-4-generic")
_IDS_IN_TTMP = ("gfx12", "gfx1250")  # Families whose workgroup ids are in trap temporaries.
#: Special registers that hold something when a kernel starts: ttmp, m0, exec, flat_scratch, ..., mode.
ALWAYS_GIVEN = (*range(108, 124), 124, 126, 127, 129, 130, 131, 132, 133)


@dataclass(frozen=True)
class LiveRegisters:
    """Live registers of machine code."""

    flow: pl.DataFrame  #: As `flow_rows`.
    rows: pl.DataFrame  #: `row`, `live_vgprs`, `live_agprs`, `live_sgprs`, `live_vectors`, `is_reached`.
    #: Scalar registers that are read although nothing wrote them before: what they hold is not defined. Of vector
    #: registers this is not known, because it depends on which lanes are active.
    unwritten: tuple[int, ...]
    jumps_anywhere: bool  #: Whether jumps whose target is not in the code make all counts upper bounds.
    calls: bool


def live_registers(code: MachineCode) -> LiveRegisters | None:
    """Follow the values of all registers; None where there are no operands, or the code is too tangled.

    A register is live at a row where a later row may read the value that it holds there. The count of a row is the
    larger of those live before it, and those live behind it together with those it writes. Lanes that are masked out
    keep their values: a write ends the old value only in the lanes that are active; `lane_mask` tells when all are.
    """
    if not code.has_operands:
        return None
    rows = code.rows.with_columns(code_object=pl.lit(0))
    flow = with_full_writes(flow_rows(code), rows, code.operands)
    is_entry = pl.col("address").eq_missing(pl.lit(code.kernel.address, pl.UInt64))
    entry = code.rows.filter(is_entry)["row"].cast(pl.Int32).sort()
    answer = _core.live_registers(flow.to_dict(), code.operands.to_dict(), given_registers(code), entry)
    if answer is None:
        return None
    rows, at_entry = map(pl.DataFrame, answer)
    numbered = rows.with_columns(pl.col("is_reached") == 1).insert_column(0, code.rows["row"])
    unwritten = at_entry.filter(pl.col("is_given") == 0)["register"].to_list()
    reached = flow.filter(numbered["is_reached"])["flow"]
    unwritten_scalars = tuple(number for number in unwritten if number < SGPR_COUNT)
    jumps, calls = (bool((reached == kind).any()) for kind in (ANYWHERE, CALL))
    return LiveRegisters(flow, numbered, unwritten_scalars, jumps_anywhere=jumps, calls=calls)


def live_at(code: MachineCode, live: LiveRegisters, row: int) -> list[int]:
    """Scalar and vector registers whose values are live before a row, by number; no special ones."""
    rows = pl.Series([row], dtype=pl.Int32)
    answer = _core.live_registers(live.flow.to_dict(), code.operands.to_dict(), given_registers(code), rows)
    if answer is None:
        return []
    registers: list[int] = pl.DataFrame(answer[1]).filter(pl.col("is_given") == 1)["register"].to_list()
    return [number for number in registers if number < SGPR_COUNT or number >= FIRST_VECTOR]


def used_registers(code: MachineCode, live: LiveRegisters) -> dict[str, int]:
    """The highest register of each kind that the rows which can be reached name, plus one: vgprs, agprs, sgprs.

    `vcc` is 1 where they use it; it lies above the others and counts in what compilers call used.
    """
    reached = live.rows.filter("is_reached")["row"].cast(pl.UInt32)
    operands = code.operands.filter(pl.col("row").is_in(reached.implode()))
    first = pl.col("register").cast(pl.Int32)
    last = first + pl.col("count")
    ends = operands.select(
        vgprs=pl.when(first.is_between(FIRST_VECTOR, FIRST_AGPR - 1)).then(last - FIRST_VECTOR).max(),
        agprs=pl.when(first >= FIRST_AGPR).then(last - FIRST_AGPR).max(),
        sgprs=pl.when(first < SGPR_COUNT).then(pl.min_horizontal(last, SGPR_COUNT)).max(),
        vcc=(first.is_between(VCC, VCC + 1)).max().cast(pl.Int32),
    )
    return {name: value or 0 for name, value in ends.row(0, named=True).items()}


def given_registers(code: MachineCode) -> pl.Series:
    """Registers that hold values when a kernel starts."""
    descriptor = code.kernel.descriptor
    numbers = [*ALWAYS_GIVEN, *(entry_registers(descriptor, code.target) if descriptor else range(FIRST_AGPR))]
    return pl.Series(sorted(set(numbers)), dtype=pl.UInt16)


def entry_registers(descriptor: Descriptor, target: str) -> list[int]:
    """Scalar and vector registers that hold values when a kernel starts, by number.

    User SGPRs (arguments and pointers), then the ids of the workgroup where they have SGPRs and the offset of scratch;
    v0 to v2 are the ids of the work-item, all in v0 on later targets (AMDGPUUsage, "Initial Kernel Execution State").
    """
    fields = descriptor.fields
    scalars = fields["user_sgprs"]
    if not has_ids_in_ttmp(target):
        scalars += fields["workgroup_id_x"] + fields["workgroup_id_y"] + fields["workgroup_id_z"]
        scalars += fields["private_segment"]
    vectors = 1 if has_packed_ids(target) else 1 + min(2, fields["workitem_id_dims"])
    return [*range(min(scalars, SGPR_COUNT)), *range(FIRST_VECTOR, FIRST_VECTOR + vectors)]


def has_packed_ids(target: str) -> bool:
    """True if v0 holds all three ids of a work-item, 10 bits each."""
    return target.split(":")[0] in _PACKED_IDS or family_of(target) in ("gfx11", *_IDS_IN_TTMP)


def has_ids_in_ttmp(target: str) -> bool:
    """True if trap temporaries hold the ids of the workgroup, and no SGPRs."""
    return family_of(target) in _IDS_IN_TTMP
