"""Instructions and states that were only counted: decoded on first use, all at once or engine by engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import polars as pl

from wavewright import _core
from wavewright.model.trace import Executed, ThreadTrace
from wavewright.readers.trace.assemble import tables_of
from wavewright.readers.trace.buffers import Buffers
from wavewright.readers.trace.waits import match_waits

_ROWS = ("instructions", "states")
_SHARED = ("code", "kernels", "sources", "shader_engines")  #: Tables that a part has in common with its trace.


def leave_rows(
    trace: ThreadTrace,
    lazy_tables: dict[str, Callable[[], pl.DataFrame]],
    records: Sequence[_core.Records],
    buffers: Buffers,
    program: _core.Program,
) -> None:
    """Make a trace whose records have no rows of instructions and states decode them on first use."""
    trace.counted = _executed(records)
    trace.tables["waves"] = _indexed(trace.waves)
    for name in _ROWS:
        del trace.tables[name]
        lazy_tables[name] = partial(_all_rows, trace, name, buffers, program)
    engines = trace.shader_engines["se"].to_list()
    waves = [trace.waves.filter(trace.waves["se"] == se).height for se in engines]
    counts = [(count, record.instruction_count) for count, record in zip(waves, records, strict=True)]
    trace.parts = partial(_parts, trace, engines, counts, buffers, program)


def _executed(records: Sequence[_core.Records]) -> Executed:
    cycles: dict[int, int] = {}
    for record in records:
        for state, more in record.state_cycles.items():
            cycles[state] = cycles.get(state, 0) + more
    return Executed(
        sum(record.instruction_count - record.release_count for record in records),
        sum(record.unresolved_count for record in records),
        max(record.highest_row for record in records),
        dict(sorted(cycles.items())),
    )


def _indexed(waves: pl.DataFrame) -> pl.DataFrame:
    """The waves with the places of their rows in the tables of just these waves: one wave's after the other's."""
    counts = {"first_instruction": "instruction_count", "first_state": "state_count"}
    return waves.with_columns(
        (pl.col(count).cast(pl.UInt64).cum_sum() - pl.col(count)).alias(first) for first, count in counts.items()
    )


def _all_rows(trace: ThreadTrace, name: str, buffers: Buffers, program: _core.Program) -> pl.DataFrame:
    """Return one of the two tables over all shader engines; the other one is decoded with it and cached."""
    tables = tables_of(buffers.decode(program), trace.shader_engines["se"].to_list())
    for other in _ROWS:
        if other != name:
            trace.tables.setdefault(other, tables[other])
    return tables[name]


def _parts(
    trace: ThreadTrace,
    engines: Sequence[int],
    counts: Sequence[tuple[int, int]],
    buffers: Buffers,
    program: _core.Program,
) -> Iterator[ThreadTrace]:
    streams = buffers.each(program, counts)
    for se in engines:  # nothing here may hold a part while the next one is decoded
        yield _part(trace, se, next(streams))


def _part(trace: ThreadTrace, se: int, record: _core.Records) -> ThreadTrace:
    """One shader engine as a trace; waves keep their numbers."""
    rows = _core.tables(record)
    tables = {name: pl.DataFrame(rows[name]) for name in _ROWS}
    for name, frame in trace.tables.items():
        if name in _SHARED:
            tables[name] = frame
        elif name not in (*_ROWS, "losses") and "se" in frame.columns:
            tables[name] = frame.filter(pl.col("se") == se)
    tables["waves"] = _indexed(tables["waves"])
    # losses are always asked of the trace: they may not be complete yet
    lazy = {name: partial(trace.table, name) for name in (*_SHARED, "losses") if name not in tables}
    instructions = tables["instructions"]
    # the part itself must not be in here: it would live until the garbage collector looks for circles
    return ThreadTrace(tables, trace.source, lazy | {"waits": lambda: _waits(instructions, trace)})


def _waits(instructions: pl.DataFrame, trace: ThreadTrace) -> pl.DataFrame:
    return match_waits(instructions, trace.code, trace.gfxip)
