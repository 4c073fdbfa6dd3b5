"""Rows of a loop that are issued one iteration ahead: those of the first iteration stand before the loop (prologue).

The last iteration issues them once more than before, so behind the loop nothing may read what they write, and waits for
them stand there (epilogue).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from wavewright.analysis.code.edits.block_orders import BlockOrders, LegalOrder, Refused
from wavewright.analysis.code.edits.code_rows import CodeRow, derived_row, named, union
from wavewright.analysis.code.edits.dependences import Assumptions, Edge
from wavewright.analysis.code.edits.derived_waits import Surroundings, derive
from wavewright.analysis.code.edits.in_flight import aged, passed
from wavewright.analysis.code.edits.kernel_rows import live_at
from wavewright.analysis.code.edits.wait_forms import wait_texts
from wavewright.analysis.code.flow import ANYWHERE, BACK, END, JUMP

_FIRST_NUMBER: Final = -100  #: Rows of the prologue are numbered down from here: no rows of the code.


def issued_ahead(orders: BlockOrders, rows: list[int], before: int, assumptions: Assumptions) -> LegalOrder | Refused:
    """The loop with some rows one iteration ahead, right before another row; all are rows of the code.

    The same registers are used, so nothing between the new place and the old one may use what they write.
    """
    refusal = orders.refusal or _refusal(orders, rows, before)
    if refusal:
        return Refused(refusal)
    places = sorted(orders.places[row] for row in rows)
    target = orders.places[before]
    edge = _crossed_edge(orders, places, target)
    if edge:
        return Refused(f"{edge.words}, of one iteration and the next", edge)
    moved_rows = [orders.core[at] for at in places]
    registers = union(row.writes for row in moved_rows)
    behind = live_at(orders.code, [orders.block.last + 1])
    if behind is None or registers & behind:
        register = named(registers & behind) if behind else "a register"
        return Refused(f"behind the loop {register} is read, which they would have written one time more")
    if any(row.counters for row in moved_rows) and not assumptions.padded:
        return Refused("the last iteration would load past what the loop loads (--assume padded)")
    ahead_rows = [replace(row, ahead=1) for row in moved_rows]
    listing: list[CodeRow] = []
    for at, row in enumerate(orders.core):
        listing += ahead_rows if at == target else []
        listing += [row] if at not in places else []
    return _derived(orders, listing, ahead_rows)


def _refusal(orders: BlockOrders, rows: Sequence[int], before: int) -> str:
    code, block = orders.code, orders.block
    if not block.is_loop:
        return "only rows of a loop can be issued ahead"
    absent_row = next((row for row in (*rows, before) if row not in orders.places), None)
    if absent_row is not None:
        return f"row {absent_row} is not one of the loop of rows {block.first} to {block.last}"
    if before in rows:
        return f"row {before} cannot stand before itself"
    moved_rows = (orders.core[orders.places[number]] for number in rows)
    for row in moved_rows:
        if row.is_control or row.is_fence or row.is_barrier or row.is_store:
            return f"row {row.row} cannot be issued ahead: {row.text}"
    is_jumped_into = any(to == block.first and row != block.last for row, to in enumerate(code.targets))
    is_fallen_into = block.first > 0 and code.flows[block.first - 1] not in (END, JUMP, BACK, ANYWHERE)
    if is_jumped_into or not is_fallen_into or code.starts[block.first]:
        return "the loop is entered by a branch: there is no place before it for the first rows"
    return ""


def _crossed_edge(orders: BlockOrders, places: Sequence[int], target: int) -> Edge | None:
    """An edge to a row that comes between the new place and the old one, of the one iteration or the next."""
    others = [at for at in range(len(orders.core)) if at not in places]
    pairs = ((other, at) for at in places for other in others if other >= target or other < at)
    return next((edge for other, at in pairs if (edge := orders.edge_between(other, at))), None)


def _derived(orders: BlockOrders, listing: Sequence[CodeRow], ahead_rows: Sequence[CodeRow]) -> LegalOrder | Refused:
    """The order with the waits and wait states of the prologue and of the loop, or why they cannot be derived."""
    around = orders.around
    first_rows = [replace(row, row=_FIRST_NUMBER - at, ahead=0) for at, row in enumerate(ahead_rows)]
    straight = Surroundings(around.family, tuple(first_rows), is_loop=False, entry=around.entry, before=around.before)
    before_loop = derive(first_rows, straight)
    ahead_row = {row.row: ahead for row, ahead in zip(first_rows, ahead_rows, strict=True)}
    # The loop sees the operations of the prologue as those that an iteration before it issued ahead.
    entry = passed(around.entry, (ahead_row.get(row.row, row) for row in before_loop.rows))
    inside = replace(around, entry=aged(entry), before=(*around.before, *before_loop.rows))
    derived_order = derive(listing, inside)
    hazard = before_loop.hazard or derived_order.hazard
    if hazard:
        return Refused("rows would be too close: the wait states between them are not known")
    counters = {counter for row in ahead_rows for counter in row.counters}
    epilogue = tuple(derived_row(text, around.family) for text in wait_texts(dict.fromkeys(counters, 0), around.family))
    prologue = tuple(replace(row, row=ahead_row.get(row.row, row).row) for row in before_loop.rows)
    order = tuple(row.row for row in listing)
    return LegalOrder(derived_order.rows, derived_order, order, orders.vgprs, 0, prologue, epilogue)
