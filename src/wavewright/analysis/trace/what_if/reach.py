"""The distance that a row of the code can be moved by itself, and what is in its way."""

from __future__ import annotations

from dataclasses import dataclass

from wavewright.analysis.trace.what_if import block_orders_at
from wavewright.model.trace import ThreadTrace


@dataclass(frozen=True)
class Reach:
    """Rows of a block that one of them may stand before."""

    row: int
    first_row: int  #: Of the block.
    last_row: int
    upper_row: int  #: It may stand before this row and any further down to `lower_row`, everything else unmoved.
    lower_row: int
    above_row: int | None  #: The row that it must stay behind; None = the start of the block is in the way.
    above: str  #: The reason.
    below_row: int | None
    below: str
    refusal: str  #: Why it cannot be moved at all; empty = it can.


def reach(trace: ThreadTrace, row: int) -> Reach:
    """The places that a row may have. Raises `UsageError` when there is no such row, or its code cannot be edited."""
    orders = block_orders_at(trace, row)
    block, at = orders.block, orders.places.get(row)
    refusal = orders.refusal or ("" if at is not None else "waits, padding and hints are derived and not moved")
    if refusal or at is None:
        return Reach(row, block.first, block.last, row, row, None, "", None, "", refusal)
    edges = orders.dependences.edges
    above = max(edges[at], default=None)
    below = next((place for place in range(at + 1, len(edges)) if at in edges[place]), None)
    upper = 0 if above is None else above + 1
    lower = len(orders.core) - 1 if below is None else below
    return Reach(
        row,
        block.first,
        block.last,
        orders.core[upper].row,
        orders.core[lower].row,
        None if above is None else orders.core[above].row,
        "" if above is None else edges[at][above].words,
        None if below is None else orders.core[below].row,
        "" if below is None else edges[below][at].words,
        "",
    )
