"""Operations in flight along code, by counter: where each needs to be complete, and what a wait completes.

A `State` is what may be in flight at a row. `issued` and `waited` move it behind a row and a wait, `aged` behind an
iteration of a loop, `merged` joins it with another way to the row; `needs` says what a row has to wait for there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from wavewright.analysis.code.edits.code_rows import CodeRow

ADDRESS_COUNTER: Final = "xcnt"  #: Of gfx1250: accesses whose addresses are not translated yet, and may be read again.
OUTSIDE: Final = 99  #: Age of operations that were issued outside of the block.
_OLDEST: Final = 8  #: Iterations; ages beyond are not told apart, so that states of a loop settle.
_MOST_YOUNGER: Final = 64  #: Operations behind another that are counted, for the same reason.


class OperationInFlight(NamedTuple):
    """An operation in flight: its row, and how many iterations ago it was issued (`OUTSIDE` = before the block)."""

    row: CodeRow
    age: int = 0

    @property
    def key(self) -> tuple[int, int]:
        """Its row of the code and the iteration that it belongs to: equal in every order."""
        return self.row.row, self.age if self.age == OUTSIDE else self.age - self.row.ahead


#: By counter, each operation with the least number of younger ones behind it on any way here.
State = dict[str, dict[OperationInFlight, int]]


def copied(state: State) -> State:
    """The same operations, to be changed."""
    return {counter: dict(queue) for counter, queue in state.items()}


def issued(state: State, row: CodeRow) -> None:
    """Add the operation of a row that is issued now."""
    counters = row.counters
    if row.has_address_counter:  # scalar and vector accesses are never translated at the same time
        counters = (*counters, ADDRESS_COUNTER)
        queue = state.get(ADDRESS_COUNTER, {})
        for operation in [older for older in queue if older.row.is_vector_memory != row.is_vector_memory]:
            del queue[operation]
    for counter in counters:
        queue = state.setdefault(counter, {})
        for operation, younger in queue.items():
            queue[operation] = min(_MOST_YOUNGER, younger + 1)
        queue[OperationInFlight(row)] = 0


def passed(state: State, rows: Iterable[CodeRow]) -> State:
    """Operations in flight behind rows with their waits, from those before them."""
    after = copied(state)
    for row in rows:
        waited(after, row.waits)
        issued(after, row)
    return after


def is_ordered(queue: Iterable[OperationInFlight], counter: str) -> bool:
    """True if the operations of a counter complete in the order in which they were issued."""
    if counter == ADDRESS_COUNTER:
        return all(operation.row.is_vector_memory for operation in queue)
    orders = {operation.row.order for operation in queue}
    return len(orders) <= 1 and 0 not in orders


def waited(state: State, waits: Iterable[tuple[str, int]]) -> None:
    """Remove the operations that are certainly complete after waits for (counter, value)."""
    for counter, value in waits:
        queue = state.get(counter)
        if not queue:
            continue
        if value == 0:
            complete = list(queue)
        elif is_ordered(queue, counter):
            complete = [operation for operation, younger in queue.items() if younger >= value]
        else:
            continue
        addresses = state.get(ADDRESS_COUNTER, {})
        for operation in complete:
            del queue[operation]
            addresses.pop(operation, None)


def aged(state: State) -> State:
    """The same operations as the next iteration sees them."""
    older: State = {}
    for counter, queue in state.items():
        for operation, younger in queue.items():
            operations = older.setdefault(counter, {})
            age = operation.age if operation.age == OUTSIDE else min(_OLDEST, operation.age + 1)
            key = OperationInFlight(operation.row, age)
            operations[key] = min(operations.get(key, _MOST_YOUNGER), younger)
    return older


def outside(state: State) -> State:
    """The same operations as the rows behind the block see them."""
    older: State = {}
    for counter, queue in state.items():
        operations = older.setdefault(counter, {})
        for operation, younger in queue.items():
            key = OperationInFlight(operation.row, OUTSIDE)
            operations[key] = min(operations.get(key, _MOST_YOUNGER), younger)
    return older


def merged(into: State, other: State) -> bool:
    """Add the operations of another state to the first; True if it grew."""
    has_grown = False
    for counter, queue in other.items():
        operations = into.setdefault(counter, {})
        for operation, younger in queue.items():
            if operations.get(operation, _MOST_YOUNGER + 1) > younger:
                operations[operation] = younger
                has_grown = True
    return has_grown


def keys_in(state: State) -> set[tuple[int, int]]:
    """Keys of all operations in flight."""
    return {operation.key for queue in state.values() for operation in queue}


class NeedInFlight(NamedTuple):
    """An operation that must be complete before a row."""

    counter: str
    value: int  #: What the counter must have come down to.
    operation: OperationInFlight
    reason: str


class Required(NamedTuple):
    """Operations that were complete at a row in the order that the code has, whatever registers say."""

    in_flight: frozenset[tuple[int, int]]  #: Those that were not.
    older_rows: frozenset[int]  #: Rows of the block before it; nothing is required of other rows.


def needs(state: State, row: CodeRow, requirements: Mapping[int, Required]) -> list[NeedInFlight]:
    """Operations in flight that must be complete before a row, with the values that prove it."""
    unmet_needs = []
    registers = row.reads | row.writes
    at_row = requirements.get(row.row)
    for counter, queue in state.items():
        if not queue:
            continue
        in_order = None
        is_translation = counter == ADDRESS_COUNTER
        for operation, younger in queue.items():
            reason = ""
            if is_translation:
                reason = _why_translated(operation, row, at_row)
            elif operation.row.writes & registers and not _overwrites_in_order(operation.row, row):
                reason = "register"
            elif at_row is not None and _is_required(operation, row, at_row):
                reason = "order"
            if reason:
                in_order = is_ordered(queue, counter) if in_order is None else in_order
                # Out of order, or in several counters, an operation is certainly complete at 0 only.
                alone = len(operation.row.counters) == 1 or is_translation
                unmet_needs.append(NeedInFlight(counter, younger if in_order and alone else 0, operation, reason))
    return unmet_needs


def _why_translated(operation: OperationInFlight, row: CodeRow, at_row: Required | None) -> str:
    """Reason why the addresses of an operation must be translated before a row; empty = they need not."""
    if operation.row.reads & row.writes and not (operation.row.is_vector_memory and row.is_vector_memory):
        return "register"
    is_end = at_row is not None and row.is_control and _is_required(operation, row, at_row)
    return "order" if is_end else ""


def _overwrites_in_order(before: CodeRow, row: CodeRow) -> bool:
    """True of two loads of one kind that only write the same register: they return in order."""
    is_alike = before.is_vector_load and row.class_name == before.class_name and before.order == row.order != 0
    return is_alike and not before.writes & row.reads


def _is_required(operation: OperationInFlight, row: CodeRow, requirements: Required) -> bool:
    number, age = operation.key
    if age == 0 and number not in requirements.older_rows:
        return False
    if age < 0 or operation.key in requirements.in_flight:
        return False
    return matters(operation.row, row)


def matters(operation: CodeRow, row: CodeRow) -> bool:
    """True if a row can depend on the end of an operation beyond its registers."""
    if row.is_control or row.is_fence or row.is_coherent:
        return True
    if row.is_barrier:
        return operation.is_store or operation.is_lds
    return operation.is_copy and row.is_lds
