"""Parquet and JSON: all tables, equal to the trace, whole or not at all."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from tests.kit.made_traces import made, one_wave
from tests.kit.ui_directories import frame, load
from wavewright.errors import UsageError
from wavewright.export.trace.tables import write_json, write_parquet
from wavewright.model.schema import THREAD_TRACE
from wavewright.model.trace import ThreadTrace, TraceSource

if TYPE_CHECKING:
    from pathlib import Path

HUGE = frame("realtime", {"se": [65535], "shader_clock_cycles": [-(2**63)], "realtime_ticks": [2**64 - 1]})


def from_json(columns: dict[str, list[object]], name: str) -> pl.DataFrame:
    return frame(name, columns) if columns else frame(name, {})


def test_parquet_holds_every_table(tmp_path: Path) -> None:
    trace = made([one_wave()], realtime=HUGE)
    directory = write_parquet(trace, tmp_path / "new" / "tables")
    manifest = json.loads((directory / "wavewright.json").read_text())
    assert (manifest["format"], manifest["version"]) == ("wavewright.thread_trace", 1)
    assert manifest["source"]["agent"] == 3
    assert list(manifest["tables"]) == sorted(THREAD_TRACE)
    for name, entry in manifest["tables"].items():
        table = pl.read_parquet(directory / entry["file"])
        assert_frame_equal(table, trace.table(name))
        assert (entry["row_count"], entry["columns"]) == (table.height, table.columns)


def test_json_holds_every_table(tmp_path: Path) -> None:
    trace = made([one_wave()], realtime=HUGE)
    path = write_json(trace, tmp_path / "trace.json")
    document = json.loads(path.read_text())
    assert document["source"]["path"] == "made"
    assert list(document["tables"]) == list(THREAD_TRACE)
    for name, columns in document["tables"].items():
        assert_frame_equal(from_json(columns, name), trace.table(name))


def test_json_of_a_real_trace_in_pieces(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wavewright.export.kit.table_files._CHUNK_ROWS", 1000)
    trace = load(shared / "data" / "att-mi300x-bmm" / "c01" / "ui_output_agent_5600_dispatch_1")
    stream = io.BytesIO()
    write_json(trace, stream)
    columns = json.loads(stream.getvalue())["tables"]["instructions"]
    assert_frame_equal(from_json(columns, "instructions"), trace.instructions)


def test_an_empty_trace(tmp_path: Path) -> None:
    trace = ThreadTrace({}, TraceSource(path="caf\udce9"))
    directory = write_parquet(trace, tmp_path / "tables")
    assert pl.read_parquet(directory / "waves.parquet").schema == trace.waves.schema
    document = json.loads(write_json(trace, tmp_path / "trace.json").read_text())
    assert document["source"]["path"] == "caf\\xe9"
    assert document["tables"]["waves"]["wave"] == []


def test_existing_exports_are_kept_unless_forced(tmp_path: Path) -> None:
    trace = made([one_wave()])
    directory, file = write_parquet(trace, tmp_path / "tables"), write_json(trace, tmp_path / "trace.json")
    (directory / "note.txt").write_text("mine")
    for write, target in ((write_parquet, directory), (write_json, file)):
        with pytest.raises(UsageError, match="exists already"):
            write(trace, target)
        write(trace, target, force=True)
    assert not (directory / "note.txt").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["tables", "trace.json"]


def test_parquet_does_not_replace_a_home_directory(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(UsageError, match="contains other files"):
        write_parquet(made([]), tmp_path, force=True)
    assert (tmp_path / "thesis.tex").exists()


def test_a_link_is_replaced_and_its_target_kept(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "wavewright.json").write_text("{}")
    link = tmp_path / "tables"
    link.symlink_to(elsewhere)
    write_parquet(made([]), link, force=True)
    assert link.is_dir()
    assert not link.is_symlink()
    assert (elsewhere / "wavewright.json").read_text() == "{}"
