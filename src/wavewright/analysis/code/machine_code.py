"""The code of a kernel as rows and operands, with the functions that it may call."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

import polars as pl

from wavewright import _core
from wavewright.codeobj.chunks import cut
from wavewright.codeobj.code_object import CodeObject, Function, Kernel
from wavewright.codeobj.disassemble import disassemble
from wavewright.codeobj.registers import FIRST_AGPR, FIRST_VECTOR, spelled
from wavewright.model.losses import Loss

_ROWS = {"row": pl.Int32, "address": pl.UInt64, "size": pl.UInt8, "text": pl.String, "function": pl.UInt32}
_OPERANDS = {"row": pl.UInt32, "register": pl.UInt16, "count": pl.UInt8, "role": pl.UInt8}
_LISTED = ("address", "size", "text")
_CALLS = r"^s_(call_|swappc_|swap_pc_|setpc_|set_pc_|add_pc_)"


@dataclass(frozen=True)
class MachineCode:
    """Rows in the order of addresses; `functions` are those that they belong to, the kernel among them."""

    kernel: Kernel
    target: str
    functions: tuple[Function, ...]
    #: `row`, `address`, `size`, `text`, `function` (number in `functions`).
    rows: pl.DataFrame
    #: `row`, `register`, `count`, `role`; empty where the tables do not know the target.
    operands: pl.DataFrame
    has_operands: bool
    backend: str  #: What disassembled it: LLVM, or our tables of a target.
    losses: tuple[Loss, ...]


def machine_code(code_object: CodeObject, kernel: Kernel) -> MachineCode:
    """Disassemble a kernel; where it calls, with all functions of the code object that are not kernels."""
    functions = [function for function in code_object.functions if function.address == kernel.address]
    code = _disassembled(code_object, kernel, functions)
    if not code.rows["text"].str.contains(_CALLS).any():
        return code
    entries = {other.address for other in code_object.kernels}
    others = [function for function in code_object.functions if function.address not in entries]
    return _disassembled(code_object, kernel, sorted([*functions, *others])) if others else code


def _disassembled(code_object: CodeObject, kernel: Kernel, functions: list[Function]) -> MachineCode:
    """Rows and operands by the tables of the core; of a target that these do not know, rows as LLVM writes them."""
    target = code_object.target or ""
    ranges = [(function.address, function.size) for function in functions]
    nearest = _core.isa_nearest(target.split(":")[0]) if target else None  # (its table, is it exact)
    operands: pl.DataFrame | None = None
    losses: tuple[Loss, ...] = ()
    if nearest is None:
        listing = disassemble(code_object, ranges=ranges)
        rows = pl.DataFrame(listing.rows(), schema={name: _ROWS[name] for name in _LISTED}, orient="row")
        backend, losses = listing.backend, listing.losses
    else:
        column, is_exact = nearest
        chunks, code = cut(code_object, ranges)
        listed = _core.disassemble(code, chunks, column, operands=True)
        rows, operands, backend = pl.DataFrame(listed.rows), pl.DataFrame(listed.operands), f"tables of {column}"
        if not is_exact:
            losses = (Loss("nearest_table", detail=f"{target}, so that of {column} was used"),)
    starts = [function.address for function in functions]
    numbers = [max(0, bisect_right(starts, address) - 1) for address in rows["address"].to_list()]
    numbered = rows.select(_LISTED).with_row_index("row").with_columns(function=pl.Series(numbers, dtype=pl.UInt32))
    return MachineCode(
        kernel=kernel,
        target=target,
        functions=tuple(functions),
        rows=numbered.select(pl.col(name).cast(dtype) for name, dtype in _ROWS.items()),
        operands=pl.DataFrame(schema=_OPERANDS) if operands is None else operands.select(*_OPERANDS),
        has_operands=operands is not None,
        backend=backend,
        losses=losses,
    )


def register_ranges(numbers: list[int]) -> str:
    """Registers of one or more files in few words; numbers in order.

    >>> register_ranges([0, 1, 2, 256, 258, 259])
    's[0:2], v0, v[2:3]'
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1 and number not in (FIRST_VECTOR, FIRST_AGPR):
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(spelled(first, last - first + 1) for first, last in runs)
