"""Neighbouring accesses that one wider access could replace, where the text of the code shows it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import polars as pl

from wavewright.analysis.code.control_flow import blocks
from wavewright.analysis.trace.code.accesses import LOAD, STORE, access_of, requested_bytes
from wavewright.analysis.trace.code.control_flow import taken_jumps
from wavewright.analysis.trace.costs.row_costs import row_costs
from wavewright.analysis.trace.selection import at_rows
from wavewright.codeobj.registers import EXEC, registers
from wavewright.model.schema import packaged_spec
from wavewright.model.trace import ThreadTrace

NEIGHBOURS = packaged_spec(__package__, "neighbours")
_WIDEST_BYTES: Final = 16  #: No access of a lane is wider.
#: Widths of vector memory and LDS accesses in bytes, widest first.
_WIDTHS: Final = (16, 12, 8, 4, 2, 1)
_OFFSET = re.compile(r"\boffset:(-?\d{1,9}|0x[0-9a-fA-F]{1,8})\b")
#: Two addresses or a transposed layout: their offsets say something else.
_NOT_PLAIN = re.compile(r"^ds_(read|write)2|2addr|_tr|addtid|_lds|lds_")
#: Accesses may not move across these: they write a register that another register names, or order memory.
_BORDER = re.compile(r"\w*movrel|s_barrier|\w*atomic|buffer_(inv|wb|gl)|global_(inv|wb)")
_LANES: Final = {EXEC, EXEC + 1}  #: They say which lanes are active.
_HALF = re.compile(r"_d16(_hi)?|(_hi)$")


@dataclass(frozen=True)
class _Access:
    """One narrow access: where, how wide, and its address as base operands and offset."""

    row: int
    kind: str  #: Its mnemonic, without the half of the register.
    is_load: bool
    width: int  #: Bytes of a lane.
    offset: int  #: Bytes.
    base: str  #: Operands of the address.
    base_registers: frozenset[int]


def neighbours(trace: ThreadTrace, rows: pl.Series | None = None) -> pl.DataFrame:
    """Groups of accesses that wider ones could replace (`NEIGHBOURS`), of executed code or of `rows` only."""
    code = trace.code.select("row", "address", "text", "writes", "implicit_writes")
    moving = at_rows(at_rows(requested_bytes(trace), row_costs(trace)["row"]), rows).filter(
        pl.col("direction").is_in([LOAD, STORE]), pl.col("space") != "scalar", pl.col("bytes_per_lane") < _WIDEST_BYTES
    )
    widths = dict(moving.select("row", "bytes_per_lane").iter_rows())
    block_of_row = blocks(trace.code, taken_jumps(trace)).by_row
    inside = block_of_row.join(moving.select("row"), on="row")["block"].unique()
    near = block_of_row.filter(pl.col("block").is_in(inside.implode())).join(code, on="row", maintain_order="left")
    groups = [
        group
        for (_,), block in near.group_by("block", maintain_order=True)
        for group in _groups(block.select("row", "text", "writes", "implicit_writes").rows(), widths)
    ]
    table = pl.DataFrame(
        [(group[0].row, len(group), wide) for group in groups if (wide := _wide_count(group)) < len(group)],
        schema={"first_row": pl.Int32, "access_count": pl.Int64, "wide_count": pl.Int64},
        orient="row",
    )
    return (
        table.join(moving, left_on="first_row", right_on="row")
        .join(code.select("row", "address"), left_on="first_row", right_on="row")
        .sort("access_count", "first_row", descending=[True, False])
        .select(NEIGHBOURS.names)
    )


def _groups(
    block: list[tuple[int, str | None, str | None, str | None]], widths: dict[int, int]
) -> Iterator[list[_Access]]:
    """Accesses of a basic block with consecutive offsets of one address that nothing changes in between.

    Loads do not move across stores, nor stores across loads: they may be of the same bytes.
    """
    open_groups: dict[tuple[str, str], list[_Access]] = {}
    for row, line, writes, implicit_writes in block:
        text = (line or "").strip()
        access = _access(row, text, widths[row]) if row in widths else None
        moved = access_of(text)
        for key, group in list(open_groups.items()):
            if moved is not None and (moved.direction == LOAD) != group[0].is_load and moved.space != "scalar":
                yield from _runs(open_groups.pop(key))
        if access is not None:
            open_groups.setdefault((access.kind, access.base), []).append(access)
        written = registers(f"{writes or ''} {implicit_writes or ''}")
        is_border = writes is None or not written.isdisjoint(_LANES) or _BORDER.match(text)
        for key, group in list(open_groups.items()):
            if is_border or written & group[0].base_registers:
                yield from _runs(open_groups.pop(key))
    for group in open_groups.values():
        yield from _runs(group)


def _runs(group: list[_Access]) -> Iterator[list[_Access]]:
    """Parts of a group whose offsets follow each other without a hole; in the order of offsets."""
    run: list[_Access] = []
    for access in sorted(group, key=lambda access: (access.offset, access.row)):
        if run and access.offset != run[-1].offset + run[-1].width:
            yield sorted(run, key=lambda access: access.row)
            run = []
        run.append(access)
    yield sorted(run, key=lambda access: access.row)


def _wide_count(group: list[_Access]) -> int:
    """Accesses of the widths there are that move the bytes of the group: of 6 bytes, one of 4 and one of 2."""
    rest, count = sum(access.width for access in group), 0
    for width in _WIDTHS:
        count, rest = count + rest // width, rest % width
    return count


def _access(row: int, text: str, width: int) -> _Access | None:
    """An access with its address; None where the text does not show a plain one."""
    mnemonic, _, rest = text.partition(" ")
    if _NOT_PLAIN.search(mnemonic) or "lds" in rest.split():
        return None
    offset = _OFFSET.search(rest)
    operands = [part.strip() for part in _OFFSET.sub("", rest).split(",")]
    is_load = "_load" in mnemonic or mnemonic.startswith("ds_read")
    data = 0 if is_load or mnemonic.startswith(("buffer_", "tbuffer_")) else 1
    if data >= len(operands):
        return None
    base = " ".join(", ".join(operands[:data] + operands[data + 1 :]).split())
    distance = int(offset[1], 0) if offset else 0
    return _Access(row, _HALF.sub("", mnemonic), is_load, width, distance, base, registers(base.replace(",", " ")))
