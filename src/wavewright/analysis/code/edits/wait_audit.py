"""Waits of loops that are stricter than the code needs, and barriers that LDS writes in flight may reach."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final, NamedTuple

import polars as pl

from wavewright.analysis.code.edits.code_rows import CodeRow
from wavewright.analysis.code.edits.derived_waits import Surroundings, surroundings, unmet_need
from wavewright.analysis.code.edits.in_flight import State, copied, issued, merged, passed, waited
from wavewright.analysis.code.edits.kernel_rows import EditedBlock, KernelRows, blocks_of, states_before
from wavewright.analysis.code.edits.wait_forms import has_forms, most_of
from wavewright.model.schema import frame_of, packaged_spec

STRICT_WAITS: Final = packaged_spec(__package__, "strict_waits")
OPEN_BARRIERS: Final = packaged_spec(__package__, "open_barriers")
_LARGEST_LOOP: Final = 2_000  #: Loops of more rows are left out.
_MOST_STEPS: Final = 1_000_000  #: Rows that are walked at most; loops behind are left out.


class StrictWait(NamedTuple):
    """A wait that may be weaker while all others stay."""

    row: int
    counter: str
    value: int  #: What it waits for.
    needed_value: int | None  #: The largest value that is enough; None = it need not wait.
    first_row: int  #: Of the loop.


def strict_waits(code: KernelRows) -> pl.DataFrame:
    """Waits of single-block loops that are stricter than needed (`STRICT_WAITS`).

    Each is relaxed alone. Needed is what registers ask for, and for barriers, fences, accesses that others see in
    order and the end of the loop all that the code has waited for there.
    """
    if not has_forms(code.family):
        return frame_of(STRICT_WAITS, [])
    blocks = blocks_of(code)
    states = states_before(code, blocks)
    strict_rows: list[StrictWait] = []
    budget = _MOST_STEPS
    for block in blocks:
        entry = states.get(block.first)
        if not block.is_loop or entry is None or len(block.rows) > _LARGEST_LOOP:
            continue
        rows = code.rows_of(block)
        budget -= len(rows) * sum(len(row.waits) for row in rows)
        if budget < 0:
            break
        if all(row.is_known for row in rows):
            strict_rows += _strict_in(rows, surroundings(rows, code.family, is_loop=True, entry=entry), block)
    return frame_of(STRICT_WAITS, [wait._asdict() for wait in strict_rows])


def _strict_in(rows: list[CodeRow], around: Surroundings, block: EditedBlock) -> list[StrictWait]:
    if unmet_need(rows, around):
        return []  # it relies on what is not known here
    strict_rows = []
    for at, row in enumerate(rows):
        for counter, value in row.waits:
            if value >= most_of(around.family, counter):
                continue
            needed_value = _needed_value(rows, around, at, counter, value)
            if needed_value != value:
                strict_rows.append(StrictWait(row.row, counter, value, needed_value, block.first))
    return strict_rows


def _needed_value(rows: list[CodeRow], around: Surroundings, at: int, counter: str, value: int) -> int | None:
    """The largest value of one wait that leaves no need unmet; None = it need not wait."""

    def is_enough(trial: int | None) -> bool:
        others = tuple(wait for wait in rows[at].waits if wait[0] != counter)
        weaker_row = replace(rows[at], waits=others if trial is None else (*others, (counter, trial)))
        return not unmet_need([*rows[:at], weaker_row, *rows[at + 1 :]], around)

    if is_enough(None):
        return None
    best = value
    while best < most_of(around.family, counter) and is_enough(best + 1):
        best += 1
    return best


def open_barriers(code: KernelRows) -> pl.DataFrame:
    """Barriers with LDS writes of the same wave in flight (`OPEN_BARRIERS`): others may read before they are done."""
    blocks = blocks_of(code)
    meeting = [block for block in blocks if any(map(_is_meeting, code.rows_of(block)))]
    states = states_before(code, blocks) if meeting else {}
    open_rows: list[dict[str, int]] = []
    for block in meeting:
        entry = states.get(block.first)
        if entry is not None:
            open_rows += _open_in(code.rows_of(block), entry, is_loop=block.is_loop)
    return frame_of(OPEN_BARRIERS, sorted(open_rows, key=lambda row: row["row"]))


def _is_meeting(row: CodeRow) -> bool:
    return row.text.startswith("s_barrier") and row.class_name in ("barrier", "barrier_signal")


def _open_in(rows: list[CodeRow], entry: State, *, is_loop: bool) -> Iterator[dict[str, int]]:
    state = copied(entry)
    if is_loop:
        merged(state, passed(entry, rows))
    for row in rows:
        waited(state, row.waits)
        operations = [operation.row for queue in state.values() for operation in queue] if _is_meeting(row) else []
        # Copies from memory are meant to be in flight.
        writes = {older.row for older in operations if older.class_name in ("lds_store", "lds_atomic")}
        if writes:
            nearest = max((write for write in writes if write < row.row), default=max(writes))
            yield {"row": row.row, "write_count": len(writes), "write_row": nearest}
        issued(state, row)
