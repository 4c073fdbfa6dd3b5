"""Passes: the dispatches of each as its file has them (`described`), and one column per counter.

`wide_pass` makes one of a table with a column per counter; readers.counters.long and .runs make those of other forms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import polars as pl

from wavewright.model.losses import Loss
from wavewright.readers.counters.names import (
    COLUMNS,
    KERNEL_SUFFIX,
    LARGEST,
    SMALLEST,
    TAKEN,
    Named,
    counter_named,
    is_counter,
    may_be_counter,
)
from wavewright.readers.counters.table import Table

INTEGERS = (
    "dispatch_id", "process_id", "grid_size", "workgroup_size", "lds_bytes", "scratch_bytes", "arch_vgprs",
    "accum_vgprs", "sgprs",
)  # fmt: skip
_TIMES = ("start_ns", "end_ns")
_NAME_MAX = 16_384  #: Characters. Names of kernels from templates have some thousands.
LARGEST_INTEGER = 1 << 62  #: Differences of two such numbers are numbers, too.


@dataclass(frozen=True)
class Spelled:
    """A counter of a pass and how its file writes it."""

    named: Named
    spelled: str


@dataclass
class Pass:
    """One pass; row i of `rows` and of `values` are the same execution of a dispatch."""

    name: str
    file: Path
    form: str
    #: dispatch_id, process_id, agent, kernel_name, kernel_name_spelled, start_ns, end_ns (Int64 or Float64), ...
    rows: pl.DataFrame
    values: pl.DataFrame  #: Named as in `Named.column`.
    counters: list[Spelled]
    is_joined: bool = False  #: Whether it joins passes that cannot be told apart.


def described(table: Table) -> pl.DataFrame:
    """The columns about dispatches in our names and types; absent ones are null."""
    columns = []
    for ours, headers in COLUMNS.items():
        index = table.index(*headers)
        column = table.frame[str(index)] if index is not None else pl.Series(ours, [None], dtype=pl.String)
        if index is None and table.frame.height != 1:
            column = column.new_from_index(0, table.frame.height)
        columns.append(column.alias(ours))
    frame = bounded(pl.DataFrame(columns), "kernel_name", "agent")
    described_rows = frame.with_columns(_converted())
    # Whole nanoseconds where all are: clocks have more digits than Float64; means of passes have a fraction.
    for name in _TIMES:
        if described_rows[name].null_count() != frame[name].null_count():
            described_rows = described_rows.with_columns(frame[name].str.strip_chars().cast(pl.Float64, strict=False))
    possible_times = (pl.when(pl.col(name).is_between(0, LARGEST_INTEGER)).then(name) for name in _TIMES)
    return described_rows.with_columns(possible_times)


def bounded(frame: pl.DataFrame, *names: str) -> pl.DataFrame:
    """The frame with bounded strings: a longer one becomes its start and a hash."""
    for name in names:
        longest = frame[name].str.len_bytes().max()
        if isinstance(longest, int) and longest > _NAME_MAX:
            text, length = pl.col(name), pl.col(name).str.len_chars()
            short_text = pl.format("{}… ({} characters, #{})", text.str.head(_NAME_MAX), length, text.hash())
            frame = frame.with_columns(pl.when(length > _NAME_MAX).then(short_text).otherwise(text).alias(name))
    return frame


def wide_pass(table: Table, name: str, *, is_joined: bool, losses: list[Loss]) -> Pass:
    """The pass in a table with one column per counter; rows without a kernel are left out and counted."""
    rows = described(table)
    counters: dict[str, Spelled] = {}  # by the name of the column
    cells: dict[str, pl.Series] = {}  # the same, as the table has them
    values: dict[str, pl.Series] = {}
    differing_count = 0  # columns with the name of an earlier one and other values
    # Where a file has both spellings of the fabric interface, the one of its generation of tools comes first.
    for index, header in sorted(enumerate(table.header), key=lambda column: column[1].startswith("TCC_EA0_")):
        column = counts = table.frame[str(index)]
        if not is_counter(header):
            if not may_be_counter(header):
                continue
            counts = _counts(column)
            if not counts.len() or counts.null_count() == counts.len():
                continue
        counter = counter_named(header)
        if counter.column in counters:
            if cells[counter.column].equals(column, null_equal=True):
                continue
            differing_count += 1
            counter = Named(header, None, header)  # with other values, it stays under the name that the file has
            if header in TAKEN or header in counters:
                continue
        counters[counter.column] = Spelled(counter, header)
        cells[counter.column], values[counter.column] = column, counts.alias(counter.column)
    if differing_count:
        losses.append(Loss("counter_twice", differing_count, detail=table.file.name))
    frame = pl.DataFrame(list(values.values()))
    unsound = rows["kernel_name"].null_count()
    if unsound:
        losses.append(Loss("counter_rows", unsound, detail=table.file.name))
        sound = rows["kernel_name"].is_not_null()
        rows, frame = rows.filter(sound), frame.filter(sound) if frame.width else frame
    return Pass(name, table.file, "wide", rows, frame, list(counters.values()), is_joined=is_joined)


def _counts(column: pl.Series) -> pl.Series:
    """Numbers that a counter can have; null elsewhere."""
    values = pl.col(column.name).str.strip_chars().cast(pl.Float64, strict=False)
    sound = (values == 0) | values.is_between(SMALLEST, LARGEST)
    return column.to_frame().select(pl.when(sound).then(values).alias(column.name)).to_series()


@cache
def _converted() -> list[pl.Expr]:
    """The columns of a file in our types; times are whole. Made once: most captures are many small files."""
    return [
        *(_integer(pl.col(name)) for name in INTEGERS),
        *(pl.col(name).str.strip_chars().cast(pl.Int64, strict=False) for name in _TIMES),
        pl.col("agent").str.strip_chars(),
        pl.col("kernel_name").str.replace(KERNEL_SUFFIX, ""),
        pl.col("kernel_name").alias("kernel_name_spelled"),
    ]


def _integer(column: pl.Expr) -> pl.Expr:
    """Integers; null where a value is negative or far too large."""
    exact = column.str.strip_chars().cast(pl.Int64, strict=False)
    integer = pl.coalesce(exact, column.cast(pl.Float64, strict=False).round().cast(pl.Int64, strict=False))
    return pl.when(integer.is_between(0, LARGEST_INTEGER)).then(integer).name.keep()


# --- processes that ran at the same time are parts of one pass; files of one process after the other are passes ---
def with_agent_numbers(pass_: Pass) -> Pass:
    """The pass with `2` for `Agent 2`: tables name agents in both ways, and dispatches are joined by them."""
    return replace(pass_, rows=pass_.rows.with_columns(pl.col("agent").str.replace(r"(?i)^agent[ _]*", "")))


def with_processes_together(passes: Sequence[Pass]) -> list[Pass]:
    """Passes with the same counters whose processes differ and whose times overlap, as one.

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
    """True if two passes are of processes that ran at the same time, with the same counters."""
    if pass_.form == "wide" or pass_.file == other.file or not pass_.counters:
        return False
    if set(pass_.values.columns) != set(other.values.columns):
        return False
    processes, others = (set(part.rows["process_id"].drop_nulls()) for part in (pass_, other))
    return bool(processes and others) and not processes & others and _overlap(pass_, other)


def _overlap(pass_: Pass, other: Pass) -> bool:
    spans = [(part.rows["start_ns"].min(), part.rows["end_ns"].max()) for part in (pass_, other)]
    numbers = [value for span in spans for value in span if isinstance(value, int | float)]
    if len(numbers) < 4:
        return False
    start, end, other_start, other_end = numbers
    return start < other_end and other_start < end
