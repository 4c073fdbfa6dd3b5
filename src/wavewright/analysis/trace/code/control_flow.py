"""Control flow between code rows, as waves took it: jumps and loops."""

from __future__ import annotations

from heapq import heappop, heappush

import polars as pl

from wavewright import _core
from wavewright.analysis.code.control_flow import BRANCH, CALL, JUMP, branch_targets, call_rows, flags, nest
from wavewright.analysis.trace.parts import added, answers
from wavewright.model.answer import once_per_trace
from wavewright.model.schema import empty_frame, packaged_spec
from wavewright.model.trace import ThreadTrace

LOOPS = packaged_spec(__package__, "loops")


@once_per_trace
def taken_jumps(trace: ThreadTrace) -> pl.DataFrame:
    """Jumps that waves took: `from_row`, `to_row`, `taken_count`, `looped_count`, by rows.

    A jump is seen where the row after a branch, call or jump is not the next one in the code. It has looped when it
    went back to a row that the wave had executed, without having executed an earlier row since.
    """
    return added(answers(trace, jumps_in_part), ["from_row", "to_row"]).sort("from_row", "to_row")


def jumps_in_part(part: ThreadTrace, whole: ThreadTrace) -> pl.DataFrame:
    """Jumps that the waves of a part took (`parts`)."""
    may_jump = flags(whole.code, f"{BRANCH}|{CALL}|{JUMP}")
    return pl.DataFrame(_core.taken_jumps(part.instructions, may_jump, call_rows(whole.code)))


@once_per_trace
def loops(trace: ThreadTrace) -> pl.DataFrame:
    """The loops of a trace (`LOOPS`): a loop starts at a row that jumps lead back to and ends at the last of them.

    Only jumps that waves took count (`taken_jumps`), and calls and returns do not; without instructions (PC samples)
    the backward branches of the code count instead.
    """
    spans = (
        _backward_jumps(trace)
        .group_by(first_row="to_row")
        .agg(last_row=pl.col("from_row").max(), taken_count=pl.col("taken_count").sum())
        .sort("first_row", "last_row", descending=[False, True])
        .rows()
    )
    if not spans:
        return empty_frame(LOOPS)
    parents, depths = nest([(first, last) for first, last, _ in spans])
    rows = [
        (loop, first, last, parents[loop], depths[loop], count if trace.instruction_count else None)
        for loop, (first, last, count) in enumerate(spans)
    ]
    return pl.DataFrame(rows, schema=LOOPS.dtypes, orient="row")


def loop_of_rows(trace: ThreadTrace) -> pl.Series:
    """The innermost loop around every row of the code table; null = none."""
    loops_by_row: list[int | None] = [None] * trace.code.height
    around: list[tuple[int, int, int]] = []  # (length, last row, loop) of loops that have begun, the shortest first
    loops_from: dict[int, list[tuple[int, int, int]]] = {}
    for loop, first, last in loops(trace).select("loop", "first_row", "last_row").iter_rows():
        loops_from.setdefault(first, []).append((last - first, last, loop))
    for row in range(min(loops_from, default=len(loops_by_row)), len(loops_by_row)):
        for loop_range in loops_from.get(row, ()):
            heappush(around, loop_range)
        while around and around[0][1] < row:
            heappop(around)
        loops_by_row[row] = around[0][2] if around else None
    return pl.Series("loop", loops_by_row, dtype=pl.UInt32)


def _backward_jumps(trace: ThreadTrace) -> pl.DataFrame:
    if trace.instruction_count:
        jumps = taken_jumps(trace).filter(pl.col("looped_count") > 0)
    else:
        jumps = branch_targets(trace.code).drop_nulls().select(from_row="row", to_row="target_row", taken_count=0)
    places = trace.code.select("row", "code_object", "function", is_call=call_rows(trace.code))
    to_places = places.select("row", to_code_object="code_object", to_function="function")
    return (
        jumps.filter(pl.col("to_row") <= pl.col("from_row"))
        .join(places, left_on="from_row", right_on="row")
        .join(to_places, left_on="to_row", right_on="row")
        .filter(pl.col("is_call") == 0)
        .filter(pl.col(name).eq_missing(pl.col(f"to_{name}")) for name in ("code_object", "function"))
    )
