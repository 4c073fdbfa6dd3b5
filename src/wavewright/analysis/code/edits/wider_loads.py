"""Loads of adjacent addresses as one wider load."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from wavewright.analysis.code.edits.block_orders import BlockOrders, LegalOrder, Refused
from wavewright.analysis.code.edits.code_rows import CodeRow, union

_LOAD: Final = re.compile(
    r"(?P<unit>global|buffer|scratch)_load_(?P<width>dword(?:x[234])?|b(?:32|64|96|128))"
    r" v(?:\[(?P<first>\d+):\d+\]|(?P<only>\d+)), (?P<rest>.*)"
)
_OFFSET: Final = re.compile(r"\soffset:(-?\d+)")
_DWORDS: Final = {"dword": 1, "dwordx2": 2, "dwordx3": 3, "dwordx4": 4, "b32": 1, "b64": 2, "b96": 3, "b128": 4}
_DWORD_BYTES: Final = 4
_MOST_DWORDS: Final = 4


class _LoadText(NamedTuple):
    """A load, read from its text."""

    unit: str
    is_by_bits: bool  #: b32 instead of dword.
    dwords: int
    first: int  #: First register that it loads.
    offset: int
    rest: str  #: Operands and modifiers without the offset.


def widened(orders: BlockOrders, rows: Sequence[int]) -> LegalOrder | Refused:
    """The block with some loads as one, where the first of them stands; `rows` are rows of the code."""
    if orders.refusal:
        return Refused(orders.refusal)
    absent_row = next((row for row in rows if row not in orders.places), None)
    if absent_row is not None:
        return Refused(f"row {absent_row} is not one of the block")
    if len(rows) < 2:
        return Refused("one load alone is as wide")
    places = [orders.places[row] for row in rows]
    loads = [orders.core[at] for at in places]
    wider = _wider(loads)
    if isinstance(wider, Refused):
        return wider
    together = [at for at in range(len(orders.core)) if at not in places[1:]]
    at_first = together.index(places[0]) + 1
    order = [*together[:at_first], *places[1:], *together[at_first:]]
    broken_edge = orders.plain_dependences().broken(order)
    if broken_edge:
        return Refused(broken_edge.words, broken_edge)
    listing = [wider if at == places[0] else orders.core[at] for at in together]
    answer = orders.derived(listing, tuple(row.row for row in listing), orders.vgprs)
    if isinstance(answer, Refused):
        return answer
    return replace(answer, joined={wider.row: tuple(load.row for load in loads)})


def dwords_of(text: str) -> int:
    """Dwords per lane of a load that can be one of several; 0 = it cannot.

    >>> dwords_of("global_load_dwordx2 v[4:5], v[2:3], off"), dwords_of("ds_read_b32 v1, v2")
    (2, 0)
    """
    load = _read(text)
    return load.dwords if load else 0


def _read(text: str) -> _LoadText | None:
    match = _LOAD.fullmatch(text.strip())
    if match is None or " idxen" in text:  # of a swizzled buffer the next dword lies elsewhere
        return None
    width, operands = match["width"], match["rest"]
    offset = _OFFSET.search(operands)
    return _LoadText(
        unit=match["unit"],
        is_by_bits=width.startswith("b"),
        dwords=_DWORDS[width],
        first=int(match["first"] or match["only"]),
        offset=int(offset[1]) if offset else 0,
        rest=_OFFSET.sub("", operands),
    )


def _wider(rows: Sequence[CodeRow]) -> CodeRow | Refused:
    """One load of all that the rows load."""
    loads = [_read(row.text) for row in rows]
    first = loads[0]
    if first is None or any(load is None for load in loads):
        row = next(row for row, load in zip(rows, loads, strict=True) if load is None)
        return Refused(f"row {row.row} is not a load of whole dwords into vector registers: {row.text}")
    register, offset = first.first, first.offset
    for row, load in zip(rows, loads, strict=True):
        if load is None or (load.unit, load.is_by_bits, load.rest) != (first.unit, first.is_by_bits, first.rest):
            return Refused(f"rows {rows[0].row} and {row.row} load from different addresses or in different ways")
        if load.first != register or load.offset != offset:
            place = f"v{register} and offset {offset}"
            return Refused(f"row {row.row} does not go on where the one before ends, at {place}: {row.text}")
        register, offset = register + load.dwords, offset + load.dwords * _DWORD_BYTES
    dwords = register - first.first
    if dwords > _MOST_DWORDS:
        return Refused(f"they load {dwords} dwords per lane; one instruction loads at most {_MOST_DWORDS}")
    if first.first % 2:
        return Refused(f"wide loads need an even first register, not v{first.first}")
    width = f"b{32 * dwords}" if first.is_by_bits else f"dwordx{dwords}"
    text = f"{first.unit}_load_{width} v[{first.first}:{register - 1}], {first.rest}"
    text += f" offset:{first.offset}" if first.offset else ""
    return replace(rows[0], text=text, writes=union(row.writes for row in rows))
