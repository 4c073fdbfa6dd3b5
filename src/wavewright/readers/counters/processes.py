"""Processes that ran at the same time are parts of one pass; files of one process after the other are passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from wavewright.readers.counters.execution import Pass


def with_processes_together(passes: Sequence[Pass]) -> list[Pass]:
    """Passes with the same counters in the same folder whose processes differ and whose times overlap, as one.

    Ranks of a parallel program write a file each: their dispatches are different ones.
    """
    merged_passes: list[Pass] = []
    for pass_ in passes:
        for place, other in enumerate(merged_passes):
            if _is_beside(pass_, other):
                rows = pl.concat([other.rows, pass_.rows], how="diagonal_relaxed")
                values = pl.concat([other.values, pass_.values.select(other.values.columns)])
                merged_passes[place] = replace(other, rows=rows, values=values)
                break
        else:
            merged_passes.append(pass_)
    return merged_passes


def _is_beside(pass_: Pass, other: Pass) -> bool:
    if pass_.form == "wide" or pass_.file == other.file or pass_.file.parent != other.file.parent or not pass_.counters:
        return False
    if set(pass_.values.columns) != set(other.values.columns):
        return False
    processes, others = (set(each.rows["process_id"].drop_nulls()) for each in (pass_, other))
    return bool(processes and others) and not processes & others and _overlap(pass_, other)


def _overlap(pass_: Pass, other: Pass) -> bool:
    spans = [(each.rows["start_ns"].min(), each.rows["end_ns"].max()) for each in (pass_, other)]
    numbers = [value for span in spans for value in span if isinstance(value, int | float)]
    if len(numbers) < 4:
        return False
    begin, end, other_begin, other_end = numbers
    return begin < other_end and other_begin < end
