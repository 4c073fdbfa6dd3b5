"""Search for an order of a block that gains: moves of groups of rows, and a beam of the best so far.

Every order that is tried is named by the edits that make it, in the language of `edit_language`, and timed by a replay
of the trace: the budget of orders is what keeps a search within seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Final, NamedTuple

from wavewright.analysis.code.edits.block_orders import MOST_VGPRS, BlockOrders, LegalOrder, Refused
from wavewright.analysis.code.edits.dependences import first_of_all, moved_down, moved_up
from wavewright.analysis.trace.what_if.edit_language import places_of
from wavewright.analysis.trace.what_if.edit_replay import GainInterval

_BEAM: Final = 2  #: So many orders of a round, the best, are changed further in the next one.
_ROUNDS: Final = 2  #: Group moves, then group moves of the best of them.
_MOST_ORDERS: Final = 120  #: Orders that are tried at most, legal or not.
_BEST_COUNT: Final = 5  #: Orders that are returned at most.
_MOST_CONSUMERS: Final = 6  #: Rows behind waits that are moved down, at most.
_ALIKE: Final = 0.005  #: Orders whose gains are rounded to the same multiple of this rank alike.
#: Places by which rows are moved up and down; None = as far as dependences allow.
_UP: Final = (4, None)
_DOWN: Final = (4, 12, None)


class TriedOrder(NamedTuple):
    """An order that is legal, and what it gains."""

    name: str  #: The edits that make it.
    order: LegalOrder
    gain: GainInterval


class Searched(NamedTuple):
    """Orders that were tried."""

    best: list[TriedOrder]  #: The best first.
    tried_count: int


def searched(
    orders: BlockOrders, time_order: Callable[[LegalOrder], GainInterval], most_vgprs: int = MOST_VGPRS
) -> Searched:
    """Try group moves, and group moves of the best two; the best few by what they gain about.

    Orders that need more than `most_vgprs` vector registers are left out: fewer waves would fit.

    No order is named twice, and least waits for the order that the code has are always tried.
    """
    start = list(range(len(orders.core)))
    legal_orders: dict[tuple[int, ...], TriedOrder] = {}
    tried_keys: set[tuple[int, ...]] = set()
    beam: list[tuple[str, list[int]]] = [("", start)]  # names and orders
    for turn in range(_ROUNDS):
        for prefix, order in beam:
            as_it_is = [("least waits", order)] if turn == 0 else []
            for name, new_order in (*as_it_is, *_moves(orders, order)):
                key = tuple(new_order)
                if key in tried_keys or len(tried_keys) >= _MOST_ORDERS:
                    continue
                tried_keys.add(key)
                legal = orders.legal(new_order, most_vgprs=most_vgprs)
                if not isinstance(legal, Refused):
                    legal_orders[key] = TriedOrder(f"{prefix}; {name}" if prefix else name, legal, time_order(legal))
        ranking = sorted(
            legal_orders.items(),
            key=lambda item: (item[1].gain.lacking_sample_count > 0, -item[1].gain.about, item[1].order.vgprs),
        )
        beam = [(tried.name, list(key)) for key, tried in ranking[:_BEAM] if list(key) != start]
    return Searched(sorted(legal_orders.values(), key=_rank)[:_BEST_COUNT], len(tried_keys))


def _rank(tried: TriedOrder) -> tuple[object, ...]:
    """Certain gains first, what cannot be timed last.

    Of orders that gain alike, those come first that are surer, shorter to say and need less.
    """
    gain = tried.gain
    steps = round(gain.about / _ALIKE)
    is_timed = not gain.lacking_sample_count and gain.execution_count > 0
    needs = tried.name.count(";"), tried.order.vgprs
    return -is_timed, -gain.is_certain, -steps, gain.is_extrapolated, *needs, -gain.about


def _moves(orders: BlockOrders, order: list[int]) -> Iterator[tuple[str, list[int]]]:
    """Group moves of an order, in words that are edits too."""
    deps = orders.dependences
    groups = {kind: places_of(orders, kind) for kind in ("loads", "lds", "matrix")}
    if groups["matrix"]:
        loads_first = order
        for kind in ("matrix", "lds", "loads"):  # each goes before those moved so far
            loads_first = first_of_all(deps, loads_first, groups[kind]) if groups[kind] else loads_first
        yield "matrix first; lds first; loads first", loads_first
    for kind, places in groups.items():
        if places:
            yield f"{kind} first", first_of_all(deps, order, places)
    for at in (*groups["loads"], *groups["lds"]):
        for count in _UP:
            row = orders.core[at].row
            yield f"move {row} up" + (f" {count}" if count else ""), moved_up(deps, order, at, count)
    for at in _consumers(orders):
        for count in _DOWN:
            row = orders.core[at].row
            yield f"sink {row}" + (f" {count}" if count else ""), moved_down(deps, order, at, count)


def _consumers(orders: BlockOrders) -> list[int]:
    """The first rows behind the waits for memory, those of the code's first waits."""
    consumers = []
    for row, next_row in pairwise(orders.written):
        if row.is_wait and next_row.row in orders.places:
            consumers.append(orders.places[next_row.row])
    return consumers[:_MOST_CONSUMERS]
