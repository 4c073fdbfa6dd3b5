"""Tables that TOML declares: forms by the unit in a name, conditions, cells of the report."""

from __future__ import annotations

from importlib.resources import files

import polars as pl
import pytest

from wavewright.words.kit import declared_tables
from wavewright.words.kit.declared_tables import DeclaredColumn, declared_table

_WORDS = files("wavewright.words")
REPORTS = sorted(
    f"{folder.name}/{file.name.removesuffix('.toml')}".removeprefix("words/")
    for folder in (_WORDS, *(_WORDS / name for name in ("run", "trace", "counters", "code", "capture")))
    for file in (folder / "tables").iterdir()
    if file.name.endswith(".toml")
)


def _cells(column: DeclaredColumn, *values: object, **more: list[object]) -> list[str]:
    rows = pl.DataFrame({column.of: values, **more}).to_dicts()
    (filled,) = column.filled(None, {})
    return [filled.cell(row) for row in rows]


@pytest.mark.parametrize("report", REPORTS)
def test_every_declared_table_is_well_formed(report: str) -> None:
    for table in declared_tables._report(report).values():
        assert table.columns
        for column in table.columns:
            assert not (column.of and column.cell), column


def test_the_unit_in_a_name_is_the_form() -> None:
    assert _cells(DeclaredColumn(of="busy_ns"), 12_345, None) == ["12.3 us", "-"]
    assert _cells(DeclaredColumn(of="busy_share"), 0.257) == ["25.7 %"]
    assert _cells(DeclaredColumn(of="size_bytes"), 61_440) == ["61.4 kB"]
    assert _cells(DeclaredColumn(of="calls"), 3112) == ["3,112"]
    assert _cells(DeclaredColumn(of="name", role="words"), "gemm") == ["gemm"]


def test_a_form_that_is_declared_wins() -> None:
    assert _cells(DeclaredColumn(of="start_ns", form="id"), 1234567) == ["1234567"]
    assert _cells(DeclaredColumn(of="mean_ns", form="number", unit=1e3, digits=1), 1_234_567.0) == ["1,234.6"]
    assert _cells(DeclaredColumn(of="file", form="place", none=""), "/src/a.py", None, line=[7, None]) == ["a.py:7", ""]


def test_missing_values_zeros_signs_and_words_around_a_value() -> None:
    assert _cells(DeclaredColumn(of="gpu_ns", none="?", zero=""), None, 0, 7) == ["?", "", "7 ns"]
    assert _cells(DeclaredColumn(of="delta_ns", sign=True), 7, -7, 0) == ["+7 ns", "-7 ns", "0 ns"]
    assert _cells(DeclaredColumn(of="ratio", digits=2, suffix=" x"), 1.5, None) == ["1.50 x", "-"]


def test_columns_come_and_go_with_conditions_and_values() -> None:
    frame = pl.DataFrame({"rank": [None, None], "pid": [1, 2]}, schema={"rank": pl.Int64, "pid": pl.Int64})
    optional = DeclaredColumn(heading="rank", of="rank", is_optional=True)
    assert not list(optional.filled(frame, {}))
    assert list(optional.filled(frame.with_columns(rank=pl.Series([None, 3])), {}))
    for when, shown in (("has_pids", True), ("not has_pids", False)):
        assert bool(list(DeclaredColumn(of="pid", when=when).filled(frame, {"has_pids": True}))) is shown


def test_headings_have_words_of_the_report_and_the_title_counts_rows() -> None:
    rows = pl.DataFrame({"loop": [1, 2], "unit": ["loop 1", "loop 2"], "address": [16, None], "text": ["s_nop", None]})
    rows = rows.with_columns(file=pl.lit(None, pl.String), line=pl.lit(None, pl.Int64))
    table = declared_table("trace/hotspots/range", rows, limit=1, rows="loops", by="loop", unit=lambda row: row["unit"])
    assert table.heading == "showing 1 of 2 loops"
    assert [column.heading for column in table.columns] == ["loop", "address", "costliest"]
    assert table.rows == (("loop 1", "0x10", "s_nop"),)
