"""The least waits and wait states that an order of a block needs.

Waits follow from the operations in flight (`in_flight`): one is put before each row that touches the result of one, or
before which the code has waited for it. Wait states follow from the distances that rows have in the code (`hazards`);
on gfx9, s_nop fills what is missing. `surroundings` gathers what the order does not change, `derive` makes the listing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from wavewright.analysis.code.edits.code_rows import CodeRow, derived_row
from wavewright.analysis.code.edits.hazards import Distances, PlacedRow, lacking_states
from wavewright.analysis.code.edits.in_flight import (
    ADDRESS_COUNTER,
    NeedInFlight,
    Required,
    State,
    aged,
    copied,
    issued,
    keys_in,
    merged,
    needs,
    passed,
    waited,
)
from wavewright.analysis.code.edits.wait_forms import most_of, wait_texts

_MOST_ROUNDS = 10  #: Iterations that are followed until what is in flight around a loop settles.
_MOST_NOP = 8  #: States of one s_nop that all GPUs of gfx9 have.
_NO_WAIT = 1 << 20  #: Above the values of all waits.
#: Stands for the end of a block without a branch; -2 is no row of the code.
_END = CodeRow(-2, "", "branch", states=0, size=0, is_control=True)


@dataclass(frozen=True)
class Surroundings:
    """Facts about a block that do not change with the order of its rows."""

    family: str
    rows: tuple[CodeRow, ...]  #: In the order of the code, with its waits.
    is_loop: bool  #: Whether the block is a loop of its own.
    entry: State  #: Operations in flight where the block is entered from elsewhere.
    before: tuple[CodeRow, ...] = ()  #: The rows on the way here, the nearest last.
    behind: tuple[CodeRow, ...] = ()
    requirements: dict[int, Required] = field(default_factory=dict)


@dataclass(frozen=True)
class DerivedOrder:
    """A listing that is legal as far as waits and wait states go."""

    rows: tuple[CodeRow, ...]
    waits: dict[int, dict[str, int]]  #: By place in the order that was asked for: what is waited for before it.
    needs: dict[int, dict[str, NeedInFlight]]  #: The same with the operation that needs it.
    nops: dict[int, int]  #: By place: wait states of s_nop before it.
    hazard: tuple[int, int] | None = None  #: Two rows that are too close, where s_nop is no help.


def surroundings(
    rows: Sequence[CodeRow],
    family: str,
    *,
    is_loop: bool,
    entry: State,
    before: Sequence[CodeRow] = (),
    behind: Sequence[CodeRow] = (),
) -> Surroundings:
    """The surroundings of a block; its waits in the order of the code tell what must be complete where."""
    block = _with_end(rows)
    in_flight: dict[int, set[tuple[int, int]]] = {}  # row -> operations that its waits leave in flight
    for state in _entry_states(block, is_loop=is_loop, entry=entry):
        for row in block:
            waited(state, row.waits)
            if row.is_control or row.is_fence or row.is_barrier or row.is_coherent or row.is_lds:
                in_flight.setdefault(row.row, set()).update(keys_in(state))
            issued(state, row)
    requirements = {
        row.row: Required(frozenset(in_flight[row.row]), frozenset(older.row for older in block[:place]))
        for place, row in enumerate(block)
        if row.row in in_flight
    }
    return Surroundings(family, block, is_loop, entry, tuple(before), tuple(behind), requirements)


def _with_end(rows: Sequence[CodeRow]) -> tuple[CodeRow, ...]:
    return tuple(rows) if rows and rows[-1].is_control else (*rows, _END)


def _entry_states(rows: Sequence[CodeRow], *, is_loop: bool, entry: State) -> list[State]:
    """Operations that may be in flight at the start of the first iteration, and of any other."""
    if not is_loop:
        return [copied(entry)]
    later: State = {}
    next_state = aged(passed(entry, rows))
    for _ in range(_MOST_ROUNDS):
        if not merged(later, next_state):
            break
        next_state = aged(passed(later, rows))
    return [copied(entry), later]


def unmet_need(rows: Sequence[CodeRow], around: Surroundings) -> tuple[int, NeedInFlight] | None:
    """The first row of a listing with waits that touches operations in flight; None = its waits are strict enough."""
    listing = _with_end(rows)
    for state in _entry_states(listing, is_loop=around.is_loop, entry=around.entry):
        for place, row in enumerate(listing):
            waited(state, row.waits)
            for need in needs(state, row, around.requirements):
                return place, need
            issued(state, row)
    return None


def derive(order: Sequence[CodeRow], around: Surroundings) -> DerivedOrder:
    """The order with the least waits and wait states; `order` has neither waits nor padding."""
    listing = _with_end(order)
    waits: dict[int, dict[str, int]] = {}
    reasons: dict[int, dict[str, NeedInFlight]] = {}
    later: State = {}
    for round_number in range(2 * _MOST_ROUNDS):
        # A wait that becomes stricter makes others needless, so each round starts afresh. Where rounds do not settle,
        # the last ones only add: then waits are safe, but may not be the least.
        is_settling = round_number < _MOST_ROUNDS
        if is_settling:
            waits, reasons = {}, {}
        after: State = {} if is_settling else copied(later)
        for state in _walk(listing, [around.entry, later] if later else [around.entry], around, waits, reasons):
            merged(after, aged(state))
        if not around.is_loop or after == later:
            break
        later = after
    nops, hazard = _padding(listing, around, waits)
    return DerivedOrder(_listed(listing, waits, nops, around.family), waits, reasons, nops, hazard)


def _walk(
    listing: Sequence[CodeRow],
    entries: Sequence[State],
    around: Surroundings,
    waits: dict[int, dict[str, int]],
    reasons: dict[int, dict[str, NeedInFlight]],
) -> list[State]:
    """Operations in flight behind the listing, one state for each of `entries`.

    Adds to `waits` and `reasons`; a wait is as strict as any of the states needs it.
    """
    states = [copied(entry) for entry in entries]
    for place, row in enumerate(listing):
        # Translations of addresses last: an operation that another wait completes is translated, too.
        for is_translation in (False, True):
            all_needs = [need for state in states for need in needs(state, row, around.requirements)]
            for need in all_needs:
                if (need.counter == ADDRESS_COUNTER) != is_translation:
                    continue
                values = waits.setdefault(place, {})
                value = min(need.value, most_of(around.family, need.counter))
                if value < values.get(need.counter, _NO_WAIT):
                    values[need.counter] = value
                    reasons.setdefault(place, {})[need.counter] = need
            for state in states:
                waited(state, waits.get(place, {}).items())
        for state in states:
            issued(state, row)
    return states


def _padding(
    listing: Sequence[CodeRow], around: Surroundings, waits: dict[int, dict[str, int]]
) -> tuple[dict[int, int], tuple[int, int] | None]:
    """States of s_nop before each place, and the first two rows that are too close where s_nop is no help (RDNA).

    A loop is walked twice: rows of one iteration may be too close to those of the iteration before.
    """
    distances = Distances(around.before, around.rows, around.behind)
    nops: dict[int, int] = {}
    hazard = None
    earlier_rows = distances.placed_before()
    for _ in range(2 if around.is_loop else 1):
        passed_here = distances.start
        for place, row in enumerate((*listing, *around.behind)):
            wait_count = len(wait_texts(waits[place], around.family)) if place in waits else 0
            states_put_in = nops.get(place, 0) + (wait_count if around.family == "gfx9" else 0)
            passed_here = passed_here._replace(states=passed_here.states + states_put_in)
            lack = lacking_states(earlier_rows, row, passed_here, distances, around.family)
            if lack.states > 0:
                hazard = (lack.behind, row.row) if around.family != "gfx9" and hazard is None else hazard
                padded_place = min(place, len(listing) - 1)  # rows behind the block are padded at its end
                nops[padded_place] = nops.get(padded_place, 0) + lack.states
                passed_here = passed_here._replace(states=passed_here.states + lack.states)
            earlier_rows.append(PlacedRow(row, passed_here))
            passed_here = passed_here.after(row)
            if place == len(listing) - 1:
                rows_of_iteration, end = list(earlier_rows), passed_here
        iteration = end.since(distances.start)
        earlier_rows = [PlacedRow(row, passed.since(iteration), is_around=True) for row, passed, _ in rows_of_iteration]
    return nops, hazard


def _listed(
    listing: Sequence[CodeRow], waits: dict[int, dict[str, int]], nops: dict[int, int], family: str
) -> tuple[CodeRow, ...]:
    rows: list[CodeRow] = []
    for place, row in enumerate(listing):
        if place in waits:
            rows += [derived_row(text, family) for text in wait_texts(waits[place], family)]
        for states_before in range(0, nops.get(place, 0), _MOST_NOP):
            states = min(nops[place] - states_before, _MOST_NOP)
            rows.append(derived_row(f"s_nop {states - 1}", family))
        rows += [] if row is _END else [row]
    return tuple(rows)
