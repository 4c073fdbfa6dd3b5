"""Parquet directories of ours: what was written comes back, and nothing else is believed."""

from __future__ import annotations

import json
import random
from pathlib import Path

import polars as pl
import pytest

import wavewright
from synth import Scenario, compiled, synthesize, write_capture
from tests.kit.sampling import every_third
from wavewright.codeobj.operands import OPERAND_COLUMNS
from wavewright.errors import NotATraceError, UnsupportedError, WavewrightError
from wavewright.export.trace.tables import write_parquet
from wavewright.model.schema import THREAD_TRACE


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[wavewright.ThreadTrace, Path]:
    folder = tmp_path_factory.mktemp("parquet")
    scenario = Scenario(kernels=(compiled("saxpy", "gfx942"),), shader_engines=2, realtime_pairs=2)
    write_capture(synthesize(scenario), folder / "capture")
    trace = wavewright.open(folder / "capture")
    return trace, write_parquet(trace, folder / "tables" / "one")


@pytest.fixture
def copy(written: tuple[wavewright.ThreadTrace, Path], tmp_path: Path) -> Path:
    import shutil

    return Path(shutil.copytree(written[1], tmp_path / "tables"))


def read_all(path: Path) -> wavewright.ThreadTrace:
    trace = wavewright.open(path)
    for name in THREAD_TRACE:
        trace.table(name)
    return trace


def edit(path: Path, **changes: object) -> None:
    manifest = json.loads((path / "wavewright.json").read_text())
    (path / "wavewright.json").write_text(json.dumps(manifest | changes))


def forget_checksums(path: Path) -> None:
    """As earlier versions wrote it: the other checks must do."""
    manifest = json.loads((path / "wavewright.json").read_text())
    for table in manifest["tables"].values():
        table.pop("crc32", None)
    (path / "wavewright.json").write_text(json.dumps(manifest))


def test_everything_comes_back(written: tuple[wavewright.ThreadTrace, Path]) -> None:
    trace, path = written
    for place in (path, path.parent, path / "waves.parquet"):
        again = wavewright.open(place)
        assert again.source.format == "parquet"
        assert (again.source.target, again.source.dispatch) == ("gfx942", trace.source.dispatch)
        for name in THREAD_TRACE:
            assert again.table(name).equals(trace.table(name)), name


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"version": 2}, UnsupportedError, "version 2"),
        ({"format": "something"}, NotATraceError, "not a manifest"),
        ({"tables": {"losses": {"row_count": -1}}}, WavewrightError, "about the rows"),
    ],
)
def test_manifests_of_others(copy: Path, changes: dict[str, object], error: type[WavewrightError], words: str) -> None:
    edit(copy, **changes)
    with pytest.raises(error, match=words):
        wavewright.open(copy)


def test_broken_manifest(copy: Path) -> None:
    (copy / "wavewright.json").write_text("[" * 100_000)
    with pytest.raises(NotATraceError, match="cannot be read"):
        wavewright.open(copy)


@pytest.mark.parametrize(
    ("table", "change", "words"),
    [
        ("instructions", pl.col("row") + 100_000, "row reaches"),
        ("instructions", pl.lit(None, pl.Int32).alias("row"), "empty places"),
        ("instructions", pl.lit(99, pl.UInt32).alias("wave"), "wave reaches"),
        ("instructions", pl.col("row").cast(pl.Int64), "is Int64, not Int32"),
        ("waves", pl.lit(1 << 60, pl.UInt64).alias("first_instruction"), "past the end"),
        ("code", pl.lit(0, pl.Int32).alias("row"), "not numbered"),
    ],
)
def test_tables_that_cannot_be(copy: Path, table: str, change: pl.Expr, words: str) -> None:
    forget_checksums(copy)
    file = copy / f"{table}.parquet"
    pl.read_parquet(file).with_columns(change).write_parquet(file)
    with pytest.raises(WavewrightError, match=words):
        read_all(copy)


def test_fewer_rows_than_promised(copy: Path) -> None:
    forget_checksums(copy)
    file = copy / "instructions.parquet"
    pl.read_parquet(file).head(10).write_parquet(file)
    with pytest.raises(WavewrightError, match="10 rows where the manifest says"):
        read_all(copy)


def test_a_table_that_grows_without_end(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from wavewright.readers.trace import parquet

    monkeypatch.setattr(parquet, "SMALL_BYTES", 1 << 20)
    forget_checksums(copy)
    file = copy / "states.parquet"
    pl.read_parquet(file).head(1).select(pl.all().repeat_by(3_000_000).explode()).write_parquet(file)
    with pytest.raises(WavewrightError, match="cannot be true"):
        read_all(copy)


def test_columns_of_another_version(copy: Path) -> None:
    forget_checksums(copy)
    file = copy / "kernels.parquet"
    pl.read_parquet(file).drop("resource_origin").write_parquet(file)
    manifest = json.loads((copy / "wavewright.json").read_text())
    manifest["tables"]["kernels"]["columns"].remove("resource_origin")
    (copy / "wavewright.json").write_text(json.dumps(manifest))
    trace = wavewright.open(copy)
    assert trace.kernels["resource_origin"].to_list() == [None]
    assert trace.losses["kind"].to_list() == ["parquet_columns"]


@pytest.mark.parametrize("target", ["gfx942", None])
def test_registers_of_code_that_an_earlier_version_wrote(
    written: tuple[wavewright.ThreadTrace, Path], copy: Path, target: str | None
) -> None:
    forget_checksums(copy)
    file = copy / "code.parquet"
    pl.read_parquet(file).drop(OPERAND_COLUMNS).write_parquet(file)
    manifest = json.loads((copy / "wavewright.json").read_text())
    columns = manifest["tables"]["code"]["columns"]
    manifest["tables"]["code"]["columns"] = [name for name in columns if name not in OPERAND_COLUMNS]
    manifest["source"]["target"] = target
    (copy / "wavewright.json").write_text(json.dumps(manifest))
    trace = wavewright.open(copy)
    assert trace.code.equals(written[0].code)
    assert trace.losses.equals(written[0].losses)


def test_missing_file(copy: Path) -> None:
    (copy / "states.parquet").unlink()
    with pytest.raises(WavewrightError, match="missing"):
        read_all(copy)


@pytest.mark.some_cases(10)
@pytest.mark.parametrize("is_checked", [True, False])
@pytest.mark.parametrize("seed", every_third(range(40)))
def test_flipped_bytes(written: tuple[wavewright.ThreadTrace, Path], copy: Path, seed: int, is_checked: bool) -> None:
    """A clear error or, with checksums, exactly what was written."""
    if not is_checked:
        forget_checksums(copy)
    noise = random.Random(seed)
    file = noise.choice(sorted(copy.glob("*.parquet")))
    data = bytearray(file.read_bytes())
    for _ in range(noise.randint(1, 4)):
        data[noise.randrange(len(data))] = noise.randrange(256)
    file.write_bytes(bytes(data[: noise.randrange(len(data))]) if noise.random() < 0.3 else bytes(data))
    try:
        trace = read_all(copy)
    except WavewrightError as error:
        assert error.what
        return
    for name in THREAD_TRACE if is_checked else ():
        assert trace.table(name).equals(written[0].table(name)), name


@pytest.mark.parametrize("seed", every_third(range(30)))
def test_flipped_bytes_in_the_manifest(copy: Path, seed: int) -> None:
    noise = random.Random(seed)
    file = copy / "wavewright.json"
    data = bytearray(file.read_bytes())
    data[noise.randrange(len(data))] = noise.randrange(256)
    file.write_bytes(bytes(data))
    try:
        read_all(copy)
    except WavewrightError as error:
        assert error.what


def test_a_path_that_looks_like_a_pattern(written: tuple[wavewright.ThreadTrace, Path], tmp_path: Path) -> None:
    import shutil

    folder = shutil.copytree(written[1], tmp_path / "a[" / "b*]")
    assert wavewright.open(folder).waves.equals(written[0].waves)


@pytest.mark.parametrize(
    ("table", "column"),
    [("waves", "start_cycles"), ("instructions", "category"), ("code", "text"), ("shader_engines", "gfxip")],
)
def test_rows_that_mean_nothing(copy: Path, table: str, column: str) -> None:
    forget_checksums(copy)
    file = copy / f"{table}.parquet"
    frame = pl.read_parquet(file)
    frame.with_columns(pl.lit(None, frame.schema[column]).alias(column)).write_parquet(file)
    with pytest.raises(WavewrightError, match=f"{column} has empty places"):
        read_all(copy)
