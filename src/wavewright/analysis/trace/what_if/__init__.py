"""Edits of a block of the executed code, judged, and timed by a replay."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import polars as pl

from wavewright.analysis.code.edits.block_orders import MOST_VGPRS, BlockOrders, LegalOrder, Refused
from wavewright.analysis.code.edits.dependences import Assumptions
from wavewright.analysis.code.edits.in_flight import ADDRESS_COUNTER
from wavewright.analysis.code.edits.kernel_rows import EditedBlock, KernelRows, blocks_of
from wavewright.analysis.common.occupancy.architecture import architecture
from wavewright.analysis.common.occupancy.limits import Resources, limits
from wavewright.analysis.trace.costs.row_costs import row_costs
from wavewright.analysis.trace.diagnose.replay import Removal, replay
from wavewright.analysis.trace.occupancy.resources import kernel_resources
from wavewright.analysis.trace.waits.wait_checks import rows_of_kernels
from wavewright.analysis.trace.what_if.edit_language import edited, parsed_assumptions, parsed_edit
from wavewright.analysis.trace.what_if.edit_replay import LEAST_GAIN, EditedTrace, GainInterval, kept_waits
from wavewright.analysis.trace.what_if.lds_apart import lds_apart
from wavewright.analysis.trace.what_if.more_waves import more_waves
from wavewright.analysis.trace.what_if.search import searched
from wavewright.base.once import once
from wavewright.errors import UsageError
from wavewright.model.answer import Answer
from wavewright.model.schema import frame_of
from wavewright.model.trace import ThreadTrace


@dataclass(frozen=True)
class WhatIf(Answer, package=__package__):
    """Edits of a block: what they gain, and what they need."""

    first_row: int  #: Of the block.
    last_row: int
    is_loop: bool
    execution_count: int  #: Times that the block was executed.
    bound_share: float  #: What a replay without all stalls and gaps of the block saves: no edit of it gains more.
    time_cycles: int  #: Of the traced CUs, added up.
    instruction_count: int  #: That are replayed.
    vgprs: int  #: Vector registers that the code names.
    waves_per_simd_limit: int | None
    disjoint_pair_count: int  #: Pairs of LDS rows that never touch the same bytes on the executed path.
    searched_count: int  #: Orders that were tried; 0 = edits were given.
    edits: pl.DataFrame
    waits: pl.DataFrame
    listing: pl.DataFrame
    queues: pl.DataFrame
    assumptions: tuple[str, ...]
    execution: pl.DataFrame
    runs: pl.DataFrame  #: Empty without a run beside the trace.
    measured: pl.DataFrame  #: Empty without a measured time.


def what_if(
    trace: ThreadTrace, *, rows: pl.Series | None = None, edit: str = "", assume: str = "", at_row: int | None = None
) -> WhatIf:
    """Judge and time edits of a block of the executed code; without edits, search for an order that gains.

    Raises `UsageError` when an edit is none, or the code of the trace cannot be edited.

    `edit` is one edit or several that are one together (`waits`, `move 214 up 8`, `sink 230; lds first`, ...), `assume`
    what the code does not prove (`disjoint 211,224; readonly`). The block is that of `at_row`, else that of the first
    edit, else the one that stalls most, of those with one of `rows`.
    """
    edit_list = [parsed_edit(text) for text in _parts(edit)]
    assumptions = _parts(assume)
    assumed_facts = parsed_assumptions(assumptions)
    code = _code_of(trace)
    named_row = next((one.row for one in edit_list if one.row >= 0), None)
    chosen_row = at_row if at_row is not None else named_row
    block = _costliest_block(trace, code, rows) if chosen_row is None else _block_at(code, chosen_row)
    orders, apart = _block_orders(trace, code, block, assumed_facts)
    study = _Study(trace, orders)
    if [one.form for one in edit_list] == ["waves"]:
        study.judge_waves(edit_list[0].text, edit_list[0].other or 1)
    elif edit_list:
        study.judge("; ".join(_parts(edit)), edited(orders, edit_list, assumed_facts))
    elif orders.refusal:
        study.judge("any order", Refused(orders.refusal))
    else:
        study.search()
    return study.answer(apart, assumptions)


def _code_of(trace: ThreadTrace) -> KernelRows:
    code = rows_of_kernels(trace)
    if code is None:
        raise UsageError("the registers of this code are not known", advice="a capture with its code objects has them")
    return code


def block_orders_at(trace: ThreadTrace, row: int) -> BlockOrders:
    """Orders of the block that holds a row of the code, without assumptions.

    Raises `UsageError` when there is no such row, or its registers are not known.
    """
    code = _code_of(trace)
    return _block_orders(trace, code, _block_at(code, row), parsed_assumptions(()))[0]


def _block_orders(
    trace: ThreadTrace, code: KernelRows, block: EditedBlock, assumed_facts: Assumptions
) -> tuple[BlockOrders, int]:
    """Orders of a block, and the pairs of its LDS rows that are apart; made once."""

    def make() -> tuple[BlockOrders, int]:
        apart = lds_apart(trace, [code.rows[number] for number in block.rows])
        return BlockOrders(code, block, assumptions=assumed_facts, apart=apart), len(apart)

    key = ("block orders", block.first, block.last, assumed_facts)
    orders: tuple[BlockOrders, int] = once(trace.answers, key, make)
    return orders


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(";") if part.strip())


def _block_at(code: KernelRows, row: int) -> EditedBlock:
    block = next((block for block in blocks_of(code) if row in block.rows), None)
    if block is None:
        raise UsageError(f"there is no code row {row}", advice="hotspots and disassemble list the rows")
    return block


def _costliest_block(trace: ThreadTrace, code: KernelRows, rows: pl.Series | None) -> EditedBlock:
    """The block that stalls most; loops before straight code that stalls no more than twice as much."""
    costs = dict(row_costs(trace).select("row", "stall_cycles_total").drop_nulls().iter_rows())
    row_choice = None if rows is None else set(rows.to_list())
    best, most_stall = None, 0.0
    for block in blocks_of(code):
        if row_choice is not None and row_choice.isdisjoint(block.rows):
            continue
        stall = sum(costs.get(row, 0) for row in block.rows) * (2 if block.is_loop else 1)
        if stall > most_stall:
            best, most_stall = block, stall
    if best is None:
        raise UsageError("no executed block stalls, so there is nothing to edit", advice="hotspots shows what it costs")
    return best


class _Study:
    """Edits of one block, collected."""

    def __init__(self, trace: ThreadTrace, orders: BlockOrders) -> None:
        self._orders = orders
        self._trace = trace
        self._replayed: EditedTrace = once(trace.answers, ("edited trace",), lambda: EditedTrace(trace))
        self._bound = self._block_bound()
        self._resources = _resources(trace, orders)
        self._waves = self._waves_with(orders.vgprs)
        self._edits: list[dict[str, Any]] = []
        self._waits: list[dict[str, Any]] = []
        self._listing: list[dict[str, Any]] = []
        self._execution: list[dict[str, Any]] = []
        self._executions = 0
        self._searched = 0

    def _block_bound(self) -> float:
        block = self._orders.block
        removal = Removal(self._replayed.causes, rows=tuple(block.rows))
        key = ("bound of block", block.first, block.last)
        bound: float = once(self._trace.answers, key, lambda: replay(self._trace, [removal]).gain_share(removal))
        return bound

    def _waves_with(self, vgprs: int) -> int | None:
        if self._resources is None:
            return None
        facts, resources = self._resources
        try:
            return limits(facts, replace(resources, vgprs=max(resources.vgprs or 0, vgprs))).waves_per_simd
        except UsageError:
            return None

    def timed(self, order: LegalOrder) -> GainInterval:
        """The interval of an order."""
        gain = self._replayed.gain(order, self._orders.written, bound=self._bound)
        self._executions = gain.execution_count
        return gain

    def search(self) -> None:
        """Try orders, and keep the best few."""
        vgprs = self._orders.vgprs  # as many as fit without costing a wave
        while vgprs < MOST_VGPRS and self._waves_with(vgprs + 1) == self._waves:
            vgprs += 1
        result = searched(self._orders, self.timed, vgprs)
        self._searched = result.tried_count
        for name, order, gain in result.best:
            self._add(name, order, gain)

    def judge(self, name: str, answer: LegalOrder | Refused) -> None:
        """Time an edit, or tell why it is refused."""
        if isinstance(answer, Refused):
            self._edits.append({"edit": len(self._edits), "name": name, "verdict": "refused", "reason": answer.reason})
        else:
            self._add(name, answer, self.timed(answer))

    def judge_waves(self, name: str, more: int) -> None:
        """Time the kernel with room for more waves on every SIMD."""
        answer = self._resources and more_waves(self._trace, *self._resources, more)
        if not answer or answer.reason:
            self.judge(name, Refused(answer.reason if answer else "what a wave of this kernel needs is not known"))
            return
        gain = self._replayed.gain_of_waves(answer.more)
        row = {"edit": len(self._edits), "name": name}
        row |= {"waves_per_simd_limit": answer.waves_per_simd, "needs": answer.needs}
        self._edits.append(row | self._timed_row(gain, is_deeper=True))

    def _timed_row(self, gain: GainInterval, *, is_deeper: bool) -> dict[str, Any]:
        """The interval, or its upper end alone where more operations are in flight than a known queue can serve."""
        if is_deeper and not self._replayed.is_memory_identified:
            reason = "more operations are in flight, and how fast memory serves them is not identified in this trace"
            return {"verdict": "bound only", "gain_high_share": max(0.0, gain.high), "reason": reason}
        return {
            "verdict": _verdict(gain),
            "gain_low_share": gain.low,
            "gain_high_share": gain.high,
            "gain_about_share": gain.about,
            "gain_low_end": gain.low_end or None,
            "gain_high_end": gain.high_end or None,
            "is_extrapolated": gain.is_extrapolated,
        }

    def _add(self, name: str, order: LegalOrder, gain: GainInterval) -> None:
        number, waves = len(self._edits), self._waves_with(order.vgprs)
        row: dict[str, Any] = {
            "edit": number,
            "name": name,
            "vgprs": order.vgprs,
            "vgprs_more": order.vgprs - self._orders.vgprs,
            "moved_value_count": order.moved_values,
            "waves_per_simd_limit": waves,
        }
        reason = _untimed(gain, waves, self._waves) or _untranslated(order, self._orders)
        if reason:
            row |= {"verdict": "not timed", "reason": reason}
        else:
            row |= self._timed_row(gain, is_deeper=bool(order.prologue))
            self._execution = self._execution or [
                {"is_edited": bool(side), "row": at if at >= 0 else None, "begin_cycles": begin, "end_cycles": end}
                for side, spans in enumerate(self._replayed.one_execution(order, self._orders.written))
                for at, begin, end in spans
            ]
        self._edits.append(row)
        self._waits += _wait_rows(number, order)
        self._listing += _listing_rows(number, order, self._orders)

    def answer(self, disjoint_pairs: int, assumptions: tuple[str, ...]) -> WhatIf:
        """Everything that was collected."""
        block = self._orders.block
        specs = WhatIf.tables
        return WhatIf(
            first_row=block.first,
            last_row=block.last,
            is_loop=block.is_loop,
            execution_count=self._executions,
            bound_share=max(0.0, self._bound),
            time_cycles=self._replayed.recorded_cycles,
            instruction_count=self._replayed.instruction_count,
            vgprs=self._orders.vgprs,
            waves_per_simd_limit=self._waves,
            disjoint_pair_count=disjoint_pairs,
            searched_count=self._searched,
            edits=frame_of(specs["edits"], self._edits),
            waits=frame_of(specs["waits"], self._waits),
            listing=frame_of(specs["listing"], self._listing),
            queues=frame_of(specs["queues"], [asdict(queue) for queue in self._replayed.queues()]),
            assumptions=assumptions,
            execution=frame_of(specs["execution"], self._execution),
            runs=frame_of(specs["runs"], []),
            measured=frame_of(specs["measured"], []),
        )


def _untimed(gain: GainInterval, waves: int | None, waves_before: int | None) -> str:
    """Reason why an order has no interval; empty = it has one."""
    if not gain.execution_count:
        return "the block was not executed by a traced wave"
    if waves is not None and waves_before is not None and waves < waves_before:
        return f"{waves} instead of {waves_before} waves fit on a SIMD: the replay keeps the waves that ran"
    if gain.lacking_sample_count:
        return "the latency of a load that moves, or that a new wait is for, was never seen by itself"
    return ""


def _untranslated(order: LegalOrder, orders: BlockOrders) -> str:
    """Reason of gfx1250 why an order has no interval; empty = it has one."""
    kept_rows = kept_waits(order.rows, orders.written)
    is_new = any(ADDRESS_COUNTER in dict(row.waits) and at not in kept_rows for at, row in enumerate(order.rows))
    return "it puts in a wait for addresses to be translated, and traces do not tell how long that takes" * is_new


def _verdict(gain: GainInterval) -> str:
    if gain.is_certain:
        return "certain gain"
    is_loss = gain.high <= -LEAST_GAIN and not gain.is_extrapolated
    return "certain loss" if is_loss else "no certain gain"


def _wait_rows(number: int, order: LegalOrder) -> list[dict[str, Any]]:
    """Derived waits with what needs them."""
    behind = [*order.order, -2]  # -2 = the end of the block
    return [
        {
            "edit": number,
            "row": behind[place],
            "counter": counter,
            "value": order.derived_order.waits[place][counter],
            "needed_row": need.operation.row.row,
            "needed_for": need.reason,
        }
        for place, needs in sorted(order.derived_order.needs.items())
        for counter, need in needs.items()
    ]


def _listing_rows(number: int, order: LegalOrder, orders: BlockOrders) -> list[dict[str, Any]]:
    texts = {row.row: row.text for row in orders.written}
    kept_rows = kept_waits(order.rows, orders.written)
    places = {row: place for place, row in enumerate(order.order)}
    old_places = {row.row: at for at, row in enumerate(row for row in orders.core if row.row in places)}
    rows: list[dict[str, Any]] = []
    for part in ("prologue", "rows", "epilogue"):
        for place, row in enumerate(getattr(order, part)):
            number_now = kept_rows.get(place, row.row) if part == "rows" else row.row
            moved_by = places[row.row] - old_places[row.row] if part == "rows" and row.row in old_places else None
            rows.append(
                {
                    "edit": number,
                    "place": len(rows),
                    "part": {"prologue": "before the loop", "rows": "block", "epilogue": "behind the loop"}[part],
                    "row": number_now if number_now >= 0 else None,
                    "text": row.text,
                    "moved_by": moved_by,
                    "is_changed": part != "rows" or number_now < 0 or texts.get(number_now) != row.text,
                }
            )
    return rows


def _resources(trace: ThreadTrace, orders: BlockOrders) -> tuple[Any, Resources] | None:
    """The GPU, and the resources of the kernel that has the block; None where they are not known."""
    try:
        facts = architecture(trace).facts
    except UsageError:
        return None
    executed = trace.waves["kernel"].drop_nulls().unique().to_list()
    known = [kernel.resources for kernel in kernel_resources(trace, facts, Resources()) if kernel.kernel in executed]
    return (facts, known[0]) if len(known) == 1 and known[0].vgprs is not None else None


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
