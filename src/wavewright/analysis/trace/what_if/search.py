"""Search for an order of a block that gains: moves of groups of rows, and a beam of the best so far."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Final, NamedTuple

from wavewright.analysis.code.edits.block_orders import MOST_VGPRS, BlockOrders, LegalOrder, Refused
from wavewright.analysis.code.edits.dependences import first_of_all, moved_down, moved_up
from wavewright.analysis.trace.what_if.edit_language import places_of
from wavewright.analysis.trace.what_if.edit_replay import GainInterval

_BEAM: Final = 2
_ROUNDS: Final = 2
_MOST_ORDERS: Final = 120
_BEST_COUNT: Final = 5
_HOTTEST_WAITS: Final = 3
_ALIKE: Final = 0.005  #: Share of the time in which no two orders can be told apart.
_UP: Final = (4, None)
_DOWN: Final = (4, 12, None)


class Searched(NamedTuple):
    """Orders that were tried, the best first."""

    best: list[tuple[str, LegalOrder, GainInterval]]
    tried_count: int


def searched(
    orders: BlockOrders, time_order: Callable[[LegalOrder], GainInterval], most_vgprs: int = MOST_VGPRS
) -> Searched:
    """Try group moves, and group moves of the best two; the best few by what they gain about.

    Orders that need more than `most_vgprs` vector registers are left out: fewer waves would fit.

    No order is named twice, and least waits for the order that the code has are always tried.
    """
    start = list(range(len(orders.core)))
    legal_orders: dict[tuple[int, ...], tuple[str, LegalOrder, GainInterval]] = {}
    tried_keys: set[tuple[int, ...]] = set()
    beam: list[tuple[str, list[int]]] = [("", start)]
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
                    legal_orders[key] = (f"{prefix}; {name}" if prefix else name, legal, time_order(legal))
        ranking = sorted(
            legal_orders.items(),
            key=lambda item: (item[1][2].lacking_sample_count > 0, -item[1][2].about, item[1][1].vgprs),
        )
        beam = [(entry[0], list(key)) for key, entry in ranking[:_BEAM] if list(key) != start]
    return Searched(sorted(legal_orders.values(), key=lambda entry: _rank(*entry))[:_BEST_COUNT], len(tried_keys))


def _rank(name: str, order: LegalOrder, gain: GainInterval) -> tuple[object, ...]:
    """Certain gains first, what cannot be timed last.

    Of orders that gain alike, those come first that are surer, shorter to say and need less.
    """
    steps = round(gain.about / _ALIKE)
    is_timed = not gain.lacking_sample_count and gain.execution_count > 0
    return -is_timed, -gain.is_certain, -steps, gain.is_extrapolated, name.count(";"), order.vgprs, -gain.about


def _moves(orders: BlockOrders, order: list[int]) -> Iterator[tuple[str, list[int]]]:
    """Group moves of an order, in words that are edits too."""
    deps = orders.dependences
    groups = {kind: places_of(orders, kind) for kind in ("loads", "lds", "matrix")}
    matrix_first = order
    for kind in ("matrix", "lds", "loads"):  # the last one stands first
        if groups[kind]:
            matrix_first = first_of_all(deps, matrix_first, groups[kind])
    if groups["matrix"]:
        yield "matrix first; lds first; loads first", matrix_first
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
    return consumers[: _HOTTEST_WAITS * 2]
