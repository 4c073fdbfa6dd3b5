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
    in_order: bool  # whether it completes in the order of issue


class _Effect(NamedTuple):
    """Effect of an instruction on counters: those that it adds to, and values that it waits for."""

    counters: tuple[str, ...]
    in_order: bool
    waits: tuple[Wait, ...]


_State = dict[str, deque[_Operation]]  #: Counter -> its outstanding operations, the oldest first.


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
    walk = _Walk([effect_of_text[text] for text in texts])
    flows, targets = flow["flow"].to_list(), flow["target_row"].to_list()
    parents = set(loops["parent"].drop_nulls().to_list())
    spans = loops.select("loop", "first_row", "last_row").iter_rows()
    innermost_loops = {last: first for loop, first, last in spans if loop not in parents}
    for row in range(len(texts)):
        walk.arrive(row)
        walk.step(row)
        if flows[row] in (BRANCH, JUMP) and targets[row] > row:
            walk.branch(targets[row])
        if row in innermost_loops:
            second_iteration = walk.time
            for repeated in range(innermost_loops[row], row + 1):
                walk.step(repeated, since=second_iteration)
        if flows[row] in (END, JUMP, BACK, ANYWHERE):
            walk.state = {}
    rows = [wait for row in sorted(walk.waits) for wait in walk.waits[row]]
    return pl.DataFrame(rows, schema=WAITS.dtypes, orient="row")


class _Walk:
    """A way through the code: what is outstanding, and the waits that were resolved."""

    def __init__(self, effects: Sequence[_Effect]) -> None:
        self.waits: dict[int, list[tuple[object, ...]]] = {}  # row -> its rows of `WAITS`
        self.state: _State = {}
        self.time = 0  # instructions so far
        self._effects = effects
        self._at_target: dict[int, tuple[_State, int]] = {}  # state and time at the first branch to a row

    def branch(self, target: int) -> None:
        state = {counter: operations.copy() for counter, operations in self.state.items()}
        self._at_target.setdefault(target, (state, self.time))

    def arrive(self, row: int) -> None:
        """Go on with what was outstanding at a branch to the row, where nothing comes from the row before."""
        if row in self._at_target and not self.state:
            self.state, self.time = self._at_target.pop(row)

    def step(self, row: int, *, since: int = -1) -> None:
        """Let a row wait and add to counters; operations before time `since` belong to the iteration before."""
        effect = self._effects[row]
        if effect.waits:
            self.waits[row] = [self._resolved(row, counter, value, since) for counter, value in effect.waits]
        for counter in effect.counters:
            outstanding = self.state.setdefault(counter, deque(maxlen=_MOST_OUTSTANDING))
            outstanding.append(_Operation(row, self.time, effect.in_order))
        self.time += 1

    def _resolved(self, row: int, counter: str, value: int, since: int) -> tuple[object, ...]:
        """A row of `WAITS`; removes the operations that are certainly complete."""
        outstanding = self.state.get(counter)
        if not outstanding or len(outstanding) <= value:
            return row, counter, value, 0, None, None, False, True  # it waits for nothing
        is_certain = value == 0 or all(operation.in_order for operation in outstanding)
        count = len(outstanding) - value
        latest = outstanding[count - 1]
        if is_certain:
            for _ in range(count):
                outstanding.popleft()
        is_around_loop = latest.time < since
        return row, counter, value, count, latest.row, self.time - latest.time - 1, is_around_loop, is_certain
