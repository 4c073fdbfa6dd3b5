"""Decode a synthetic trace and put the tables into the shape of its ground truth."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from synth.truth import COLUMNS
from wavewright import _core
from wavewright.model.losses import CORE_LOSSES

if TYPE_CHECKING:
    from synth.scenario import SyntheticTrace
    from synth.truth import Truth

ATTRIBUTES = (
    "gfxip", "stream_version", "target_cu", "target_simd", "double_buffer", "realtime_hz", "counter_interval_cycles",
)  # fmt: skip
AT_THE_END = [number for number, name in CORE_LOSSES.items() if name in ("missing_end", "unended_waves")]


def program_of(trace: SyntheticTrace) -> _core.Program:
    program = _core.Program()
    for code_object in trace.code_objects:
        program.add_listing(code_object.id, code_object.load_address, code_object.listing_tsv)
    program.link()
    return program


def decode(trace: SyntheticTrace, data: bytes | None = None) -> tuple[_core.Records, dict[str, pl.DataFrame]]:
    """The decoder's records, with each instruction's (code object, address) beside its row."""
    program = program_of(trace)
    records = _core.decode([trace.data if data is None else data], program, threads=1)[0]
    tables = {name: pl.DataFrame(table) for name, table in _core.tables(records).items()}
    rows = pl.DataFrame(program.rows()).with_row_index("row").cast({"row": pl.Int32})
    tables["instructions"] = (
        tables["instructions"]
        .join(rows.select("row", "code_object", "address"), on="row", how="left", maintain_order="left")
        .with_columns(pl.col("code_object", "address").fill_null(0))
    )
    return records, tables


def differences(trace: SyntheticTrace) -> list[str]:
    """What differs between decoding and truth, one line per table; empty when equal."""
    records, tables = decode(trace)
    truth: Truth = trace.truth
    found = [] if records.status == 0 else [f"status {records.status}"]
    found += [
        f"{name}: {getattr(records, name)}, truth {getattr(truth, name)}"
        for name in ATTRIBUTES
        if getattr(records, name) != getattr(truth, name)
    ]
    if trace.plan.keep_share is not None:  # a cut stream says so; how, is told by test_stream_end.cpp
        tables["losses"] = tables["losses"].filter(~pl.col("kind").is_in(AT_THE_END))
    for table, columns in COLUMNS.items():
        decoded = list(tables[table].select(columns).iter_rows())
        expected = [tuple(map(int, row)) for row in truth.rows[table]]
        if decoded != expected:
            found.append(f"{table}: {_first_difference(decoded, expected, columns)}")
    return found


def _first_difference(decoded: list[tuple[int, ...]], expected: list[tuple[int, ...]], columns: tuple[str, ...]) -> str:
    for number, (ours, theirs) in enumerate(zip(decoded, expected, strict=False)):
        if ours != theirs:
            named = [f"{c}={a} not {b}" for c, a, b in zip(columns, ours, theirs, strict=True) if a != b]
            return f"row {number}: {', '.join(named)} (truth {theirs})"
    return f"{len(decoded)} rows, truth {len(expected)}"
