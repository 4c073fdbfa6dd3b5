"""Operations that a wait waits for, and the number of instructions between, along the straight way through the code."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

from wavewright.analysis.code.flow import ANYWHERE, BACK, BRANCH, END, JUMP
from wavewright.codeobj.classes import Wait, classify, waits_of
from wavewright.model.schema import packaged_spec

_MOST_OUTSTANDING = 256  # hardware counters are smaller
WAITS = packaged_spec(__package__, "waits")


class _Operation(NamedTuple):
    row: int
    time: int  # instructions before it on the way
    in_order: bool


class _Effect(NamedTuple):
    """Effect of an instruction on counters: those that it adds to, and values that it waits for."""

    counters: tuple[str, ...]
    in_order: bool
    waits: tuple[Wait, ...]


_State = dict[str, deque[_Operation]]


def static_waits(texts: Sequence[str], flow: pl.DataFrame, loops: pl.DataFrame, family: str) -> pl.DataFrame:
    """Resolve every wait (`WAITS`) on the way that takes no branch; in innermost loops in the second iteration.

    A row behind an end or a jump goes on with what was outstanding at the first branch to it. Counters come down in
    the order of issue unless the class of an operation says otherwise; then only a wait for 0 is certain.
    """
    effect_of_text = {}
    for text in set(texts):
        instruction_class = classify(text, family)
        waits = waits_of(text, family)
        effect_of_text[text] = _Effect(instruction_class.counters, instruction_class.in_order, waits)
    effects = [effect_of_text[text] for text in texts]
    flows, targets = flow["flow"].to_list(), flow["target_row"].to_list()
    answers: dict[int, list[tuple[object, ...]]] = {}
    at_row: dict[int, tuple[_State, int]] = {}  # what is outstanding at the first branch to a row
    state: _State = {}
    time = 0
    parents = set(loops["parent"].drop_nulls().to_list())
    inner = {
        last: first
        for loop, first, last in loops.select("loop", "first_row", "last_row").iter_rows()
        if loop not in parents
    }
    for row in range(len(texts)):
        if row in at_row and not state:
            state, time = at_row.pop(row)
        _step(row, time, state, effects[row], answers, since=-1)
        time += 1
        target = targets[row]
        if flows[row] in (BRANCH, JUMP) and target > row and target not in at_row:
            at_row[target] = (_copied(state), time)
        if row in inner:
            again, start = _copied(state), time
            for repeated in range(inner[row], row + 1):
                _step(repeated, time, again, effects[repeated], answers, since=start)
                time += 1
            state = again
        if flows[row] in (END, JUMP, BACK, ANYWHERE):
            state = {}
    rows = [answer for row in sorted(answers) for answer in answers[row]]
    return pl.DataFrame(rows, schema=WAITS.dtypes, orient="row")


def _copied(state: _State) -> _State:
    return {counter: operations.copy() for counter, operations in state.items()}


def _step(
    row: int, time: int, state: _State, effect: _Effect, answers: dict[int, list[tuple[object, ...]]], *, since: int
) -> None:
    """Let a row add to counters and wait; operations before time `since` belong to the iteration before."""
    if effect.waits:
        answers[row] = [_waited(row, time, state, counter, value, since) for counter, value in effect.waits]
    for counter in effect.counters:
        outstanding = state.setdefault(counter, deque(maxlen=_MOST_OUTSTANDING))
        outstanding.append(_Operation(row, time, effect.in_order))


def _waited(row: int, time: int, state: _State, counter: str, value: int, since: int) -> tuple[object, ...]:
    outstanding = state.get(counter)
    if not outstanding or len(outstanding) <= value:
        return row, counter, value, 0, None, None, False, True
    is_certain = value == 0 or all(operation.in_order for operation in outstanding)
    count = len(outstanding) - value
    latest = outstanding[count - 1]
    if is_certain:
        for _ in range(count):
            outstanding.popleft()
    around = latest.time < since
    return row, counter, value, count, latest.row, time - latest.time - 1, around, is_certain
