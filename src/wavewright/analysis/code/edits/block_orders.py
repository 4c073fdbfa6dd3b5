"""One block of a kernel and its legal orders: each with registers, waits and wait states, or the reason against it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from wavewright.analysis.code.edits.code_rows import EXEC_BITS, VGPR_BITS, CodeRow, union
from wavewright.analysis.code.edits.dependences import Assumptions, Dependences, Edge, dependences, edge_between
from wavewright.analysis.code.edits.derived_waits import DerivedOrder, Surroundings, derive, surroundings
from wavewright.analysis.code.edits.kernel_rows import (
    EditedBlock,
    KernelRows,
    blocks_of,
    live_behind,
    rows_before,
    rows_behind,
    rows_leading_to,
    states_before,
)
from wavewright.analysis.code.edits.wait_forms import has_forms
from wavewright.analysis.code.edits.webs import Webs, allocate, webs
from wavewright.codeobj.registers import FIRST_VECTOR

MOST_VGPRS = 256  #: Vector registers that an instruction can name unless s_set_vgpr_msb chooses upper ones.
_LARGEST_BLOCK = 1_000  #: Blocks of more rows are refused: all pairs of rows are compared.


@dataclass(frozen=True)
class LegalOrder:
    """A new order of a block."""

    rows: tuple[CodeRow, ...]  #: Its listing, with the waits and the padding that it needs.
    derived_order: DerivedOrder
    order: tuple[int, ...]  #: Rows of the code without waits and padding, in their new order.
    vgprs: int  #: Vector registers that the kernel uses then.
    moved_values: int  #: Values that live in other registers than before.
    prologue: tuple[CodeRow, ...] = ()  #: Rows before the loop: those that no iteration issues ahead for the first.
    epilogue: tuple[CodeRow, ...] = ()  #: Behind the loop.
    joined: Mapping[int, tuple[int, ...]] = field(default_factory=dict)  #: Row -> rows that are one with it.


@dataclass(frozen=True)
class Refused:
    """Reason why an order is not legal."""

    reason: str
    edge: Edge | None = None


class BlockOrders:
    """Legal orders of one block."""

    def __init__(
        self,
        code: KernelRows,
        block: EditedBlock,
        *,
        assumptions: Assumptions | None = None,
        apart: Collection[tuple[int, int]] = frozenset(),
    ) -> None:
        self.code, self.block = code, block
        self.written = code.rows_of(block)
        self.core = [row for row in self.written if not row.is_derived]
        registers = union((row.reads | row.writes) & VGPR_BITS for row in code.function_rows(block.first))
        self.vgprs = max(0, registers.bit_length() - FIRST_VECTOR)
        live_out = live_behind(code, block)
        self._live = live_out or 0
        entry = states_before(code, blocks_of(code)).get(block.first)
        self.refusal = _refusal(code, block, self.written, is_known=entry is not None and live_out is not None)
        self.around: Surroundings = surroundings(
            self.written,
            code.family,
            is_loop=block.is_loop,
            entry=entry or {},
            before=rows_before(code, block),
            behind=rows_behind(code, block),
        )
        self.webs: Webs = webs(self.core, self._live)
        earlier_rows = (code.rows[number] for number in rows_leading_to(code, block))
        self._has_stores = any(row.is_store and row.is_memory for row in earlier_rows)
        self._assumptions, self._apart = assumptions or Assumptions(), apart
        self.dependences: Dependences = self._dependences([renamed_row.row for renamed_row in self.webs.rows])
        self.places = {row.row: at for at, row in enumerate(self.core)}

    def _dependences(self, rows: Sequence[CodeRow]) -> Dependences:
        return dependences(rows, self._assumptions, self._live, self._apart, has_stores=self._has_stores)

    def plain_dependences(self) -> Dependences:
        """Edges where every value stays in its registers."""
        return self._dependences(self.core)

    def edge_between(self, before: int, at: int) -> Edge | None:
        """Reason why the row at a place stays before one that may be of another iteration."""
        return edge_between(self.core[before], self.core[at], self._assumptions, loads_pass=not self._has_stores)

    def legal(self, order: Sequence[int], *, most_vgprs: int = MOST_VGPRS) -> LegalOrder | Refused:
        """Judge an order: places of `core` in their new order."""
        if self.refusal:
            return Refused(self.refusal)
        if sorted(order) != list(range(len(self.core))):
            return Refused("rows are missing or there twice")
        broken_edge = self.dependences.broken(order)
        if broken_edge:
            return Refused(broken_edge.words, broken_edge)
        allocation = allocate(self.webs, order, self.vgprs, most_vgprs)
        if allocation is None:
            return Refused(f"it needs more than {most_vgprs} vector registers")
        rows = tuple(self.core[at].row for at in order)
        return self.derived(allocation.rows, rows, allocation.highest, allocation.moved_values)

    def derived(
        self, listing: Sequence[CodeRow], order: tuple[int, ...], vgprs: int, moved_values: int = 0
    ) -> LegalOrder | Refused:
        """The order of a listing with the waits and wait states that it needs, or why they cannot be derived."""
        derived_order = derive(listing, self.around)
        if derived_order.hazard:
            before, row = derived_order.hazard
            return Refused(f"rows {before} and {row} would be too close: the wait states between them are not known")
        return LegalOrder(derived_order.rows, derived_order, order, vgprs, moved_values)


def _refusal(code: KernelRows, block: EditedBlock, rows: Sequence[CodeRow], *, is_known: bool) -> str:
    """Reason why a block is not edited at all; empty = it may be."""
    if not has_forms(code.family):
        return f"the waits of {code.family} cannot be derived yet"
    if not is_known:
        return "calls or computed jumps: what is in flight or live there is not known"
    if len(rows) > _LARGEST_BLOCK:
        return f"the block has more than {_LARGEST_BLOCK:,} rows"
    chooser = next((row for row in code.function_rows(block.first) if row.text.startswith("s_set_vgpr_msb")), None)
    if chooser:
        return f"row {chooser.row} chooses the upper half of vector registers, so those of other rows are not known"
    for row in rows:
        if not row.is_known:
            return f"the registers of row {row.row} are not known: {row.text}"
        if row.class_name == "lds_param":
            return f"row {row.row} says itself how many vector rows it waits for: {row.text}"
    return _unknown_hazard(code, block)


def _unknown_hazard(code: KernelRows, block: EditedBlock) -> str:
    """Reason why distances of rows do not tell whether an order is safe; empty = they do."""
    if code.family == "gfx10" and not code.target.startswith(("gfx103", "gfx10-3")):
        return "RDNA1 has hazards across branches and behind waits, which are not derived"
    if code.family == "gfx11":  # results from before and behind a change of exec may not be read together
        nearby_rows = (*rows_before(code, block), *code.rows_of(block))
        change = next((row for row in nearby_rows if row.writes & EXEC_BITS == EXEC_BITS), None)
        if change:
            return f"hazards of waves of 64 near a change of exec are not derived: row {change.row}, {change.text}"
    return ""
