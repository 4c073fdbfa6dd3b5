"""Folders of Parquet and Arrow tables: everything comes back, and damage is noticed."""

from __future__ import annotations

import gc
import json
import weakref
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from tests.kit.run_equality import differences
from tests.kit.small_runs import small_run, small_source
from wavewright import UsageError
from wavewright.errors import NotATraceError, UnsupportedError, WavewrightError
from wavewright.export.run.tables import write_arrow, write_run_parquet
from wavewright.model.losses import Loss
from wavewright.model.run import MemorySource, Run
from wavewright.model.stored_tables import RUN_MANIFEST
from wavewright.readers.run.inputs import open_run
from wavewright.readers.run.tables import read_run_tables

if TYPE_CHECKING:
    from collections.abc import Callable

    from wavewright.export.kit.writer_result import Written

WRITERS = {"parquet": write_run_parquet, "arrow": write_arrow}


@pytest.fixture(params=list(WRITERS))
def write(request: pytest.FixtureRequest) -> Callable[..., Written]:
    return WRITERS[request.param]  # type: ignore[return-value]


def test_everything_comes_back(tmp_path: Path, write: Callable[..., Written]) -> None:
    source = small_source()
    source.losses.append(Loss("backward_times", 3, "regions"))
    source.extras = {"ext_'; drop": pl.DataFrame({"a\0b": [1, None], "text": ["x\n", None]})}
    whole = Run([source, small_source("b.db", guids=("c", "d"))])
    written = write(whole, tmp_path / "tables")
    back = open_run(written.path)
    assert differences(whole, back) == []
    assert (
        back.losses.select("kind", "count", "message").rows() == whole.losses.select("kind", "count", "message").rows()
    )
    assert back.table("ext_'; drop").equals(whole.table("ext_'; drop"))
    assert written.counts["dispatches"] == 40


def test_a_run_that_nobody_needs_is_gone_at_once(tmp_path: Path, write: Callable[..., Written]) -> None:
    source = read_run_tables(write(small_run(), tmp_path / "tables").path)
    gc.disable()  # reference counts are enough: a source of gigabytes does not wait for the collector
    try:
        trace = weakref.ref(source)
        del source
        assert trace() is None
    finally:
        gc.enable()


def test_origin_is_told(tmp_path: Path, write: Callable[..., Written]) -> None:
    back = open_run(write(small_run(), tmp_path / "tables").path)
    assert back.sources.select("format", "version").row(0) == ("ROCpd", "3.0.3")
    assert back.sources["path"][0].endswith("tables")


def test_only_asked_columns_are_read(tmp_path: Path, write: Callable[..., Written]) -> None:
    back = open_run(write(small_run(), tmp_path / "tables").path)
    assert back.read("dispatches", ["end_ns", "name"]).columns == ["end_ns", "name"]


def test_a_folder_of_others_is_not_replaced(tmp_path: Path, write: Callable[..., Written]) -> None:
    target = tmp_path / "tables"
    write(small_run(), target)
    with pytest.raises(UsageError, match="--force"):
        write(small_run(), target)
    assert write(small_run(), target, force=True).rows
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years")
    with pytest.raises(UsageError, match="contains other files"):
        write(small_run(), tmp_path / "mine", force=True)


def damaged(folder: Path, how: str) -> None:
    table = next(folder.glob("dispatches.*"))
    manifest = folder / RUN_MANIFEST
    if how == "missing":
        table.unlink()
    elif how == "flipped":
        content = bytearray(table.read_bytes())
        content[len(content) // 2] ^= 1
        table.write_bytes(content)
    elif how == "cut":
        table.write_bytes(table.read_bytes()[:100])
    elif how == "other count":
        said = json.loads(manifest.read_text())
        said["tables"]["dispatches"]["row_count"] = 7
        manifest.write_text(json.dumps(said))
    else:
        said = json.loads(manifest.read_text())
        said["tables"]["symbols"]["row_count"] = 1
        manifest.write_text(json.dumps(said))


@pytest.mark.parametrize("how", ["missing", "flipped", "cut", "other count", "too few symbols"])
def test_damage_is_refused(tmp_path: Path, how: str, write: Callable[..., Written]) -> None:
    folder = write(small_run(), tmp_path / "tables").path
    damaged(folder, how)
    with pytest.raises(WavewrightError, match="dispatches") as caught:
        open_run(folder).read("dispatches")
    assert "convert the run again" in caught.value.advice


@pytest.mark.parametrize(
    ("manifest", "error"),
    [
        (b"{", NotATraceError),
        (b'{"format": "wavewright.thread_trace"}', NotATraceError),
        (b'{"format": "wavewright.run", "version": 99}', UnsupportedError),
        (b"[" * 100_000, NotATraceError),
    ],
)
def test_a_strange_manifest(tmp_path: Path, manifest: bytes, error: type[Exception]) -> None:
    folder = write_run_parquet(small_run(), tmp_path / "tables").path
    (folder / RUN_MANIFEST).write_bytes(manifest)
    with pytest.raises(error):
        open_run(folder)


def test_a_manifest_cannot_lead_outside(tmp_path: Path) -> None:
    folder = write_run_parquet(small_run(), tmp_path / "tables").path
    said = json.loads((folder / RUN_MANIFEST).read_text())
    (tmp_path / "dispatches.parquet").write_bytes((folder / "dispatches.parquet").read_bytes())
    said["tables"]["dispatches"]["file"] = "../dispatches.parquet"
    (folder / RUN_MANIFEST).write_text(json.dumps(said))
    with pytest.raises(WavewrightError, match="missing"):
        open_run(folder).read("dispatches")


def test_what_stops_the_reading_leaves_nothing(tmp_path: Path, write: Callable[..., Written]) -> None:
    class Broken(MemorySource):
        def chunks(self, table, columns):  # type: ignore[no-untyped-def]
            if table == "dispatches":
                what = "the disk is gone"
                raise WavewrightError(what)
            return super().chunks(table, columns)

    with pytest.raises(WavewrightError, match="the disk is gone"):
        write(Run([Broken("x", "y", tables=small_source().tables)]), tmp_path / "tables")
    assert list(tmp_path.iterdir()) == []
