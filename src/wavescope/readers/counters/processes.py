"""Processes that ran at the same time are parts of one pass; files of one process after the other are passes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wavescope.readers.counters.execution import Pass


def with_processes_together(passes: Sequence[Pass]) -> list[Pass]:
    """Passes with the same counters in the same folder whose processes differ and whose times overlap, as one.

    Ranks of a parallel program write a file each: their dispatches are different ones.
    """
    found: list[Pass] = []
    for one in passes:
        for place, other in enumerate(found):
            if _is_beside(one, other):
                rows = pl.concat([other.rows, one.rows], how="diagonal_relaxed")
                values = pl.concat([other.values, one.values.select(other.values.columns)])
                found[place] = replace(other, rows=rows, values=values)
                break
        else:
            found.append(one)
    return found


def _is_beside(one: Pass, other: Pass) -> bool:
    if one.form == "wide" or one.file == other.file or one.file.parent != other.file.parent or not one.counters:
        return False
    if set(one.values.columns) != set(other.values.columns):
        return False
    processes, others = (set(each.rows["process_id"].drop_nulls()) for each in (one, other))
    return bool(processes and others) and not processes & others and _overlap(one, other)


def _overlap(one: Pass, other: Pass) -> bool:
    spans = [(each.rows["start_ns"].min(), each.rows["end_ns"].max()) for each in (one, other)]
    numbers = [value for span in spans for value in span if isinstance(value, int | float)]
    if len(numbers) < 4:
        return False
    begin, end, other_begin, other_end = numbers
    return begin < other_end and other_begin < end
