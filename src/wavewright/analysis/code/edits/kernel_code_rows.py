"""The code of a kernel, disassembled, as edits see it."""

from __future__ import annotations

import polars as pl

from wavewright.analysis.code.edits.kernel_rows import KernelRows, kernel_rows
from wavewright.analysis.code.live import given_registers
from wavewright.analysis.code.machine_code import MachineCode
from wavewright.codeobj.classes import classify_frame
from wavewright.codeobj.operands import with_operands
from wavewright.codeobj.targets import family_of


def compiled_rows(code: MachineCode) -> KernelRows | None:
    """Rows of a kernel and of the functions that it may call; None for GPUs whose operands are not known."""
    family = family_of(code.target)
    if family is None or not code.has_operands or not code.rows.height:
        return None
    starts = {each.address: 1 if each.address == code.kernel.address else 2 for each in code.functions}
    numbered_rows = code.rows.with_columns(
        code_object=pl.lit(0),
        starts=code.rows["address"].replace_strict(starts, default=0, return_dtype=pl.UInt8),
        function=pl.col("function").cast(pl.String),
    )
    wide = [str(number) for number in range(len(code.functions))] if code.kernel.wave_size != 32 else []
    code_frame = with_operands(classify_frame(numbered_rows, code.target), code.target, wide)
    return kernel_rows(code_frame, code.target, family, given_registers(code))
