"""A column or a table that a reader asks for and a database lacks is a loss that names it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.cli.in_process import call
from tests.kit.made_rpd import write_rpd_file
from tests.kit.small_runs import small_run
from tests.kit.together import together
from wavewright.export.run.rocpd import write_rocpd
from wavewright.model.losses import Loss
from wavewright.model.run_tables import RUN
from wavewright.readers.counters import analysis_database as _analysis_database
from wavewright.readers.counters import open_counters
from wavewright.readers.files.sqlite import Database
from wavewright.readers.run import rocprof_v1
from wavewright.readers.run.inputs import open_run
from wavewright.readers.run.rocpd import read_rocpd
from wavewright.readers.run.rocpd.layout import VERSIONS, stored_tables
from wavewright.readers.run.rocpd.source import required
from wavewright.readers.run.rocprof_v1 import read_rocprof_database
from wavewright.readers.run.rpd import read_rpd
from wavewright.readers.run.rpd import required as required_of_rpd

Tables = Mapping[str, tuple[str, ...]]
GUID = "0000ddb5-8903-7903-b269-cd8d3745bb8a"
SUFFIX = "_" + GUID.replace("-", "_")


def made(tables: Tables, *statements: str) -> bytes:
    """A database of these tables."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        for table, columns in tables.items():
            listed = ", ".join(f'"{name}"' for name in columns)
            connection.execute(f'CREATE TABLE "{table}" ({listed})')
        for statement in statements:
            connection.execute(statement)
        return connection.serialize()


def losses(path: Path, data: bytes, read: Callable[[Database], Any]) -> list[Loss]:
    path.write_bytes(data)
    with closing(Database(path)) as database:
        read(database)
        return [loss for loss in database.losses if loss.kind.startswith("missing")]


def check_each(path: Path, tables: Tables, read: Callable[[Database], Any], needed: Tables, *statements: str) -> None:
    """Every column that is needed is missed: the first of every table at once, then the second, ..."""
    assert losses(path, made(tables, *statements), read) == []
    for number in range(max(map(len, needed.values()))):
        away = {table: columns[number] for table, columns in needed.items() if number < len(columns)}
        rest = {
            table: tuple("zz" if name == away.get(table) else name for name in columns)
            for table, columns in tables.items()
        }
        expected = {Loss("missing_columns", 1, f"{table} lacks {column}") for table, column in away.items()}
        assert set(losses(path, made(rest, *statements), read)) == expected


def of_rocpd(version: str) -> Tables:
    return {f"rocpd_{name}{SUFFIX}": tuple(table.names) for name, table in stored_tables(version).items()}


@pytest.mark.parametrize("version", ["3", "3.0.3"])
def test_rocpd(tmp_path: Path, version: str) -> None:
    tables = of_rocpd(version)
    declared = f"INSERT INTO rocpd_metadata{SUFFIX} VALUES (1, 'schema_version', '{version}')"  # noqa: S608
    needed = {f"rocpd_{table}{SUFFIX}": columns for table, columns in required(version).items()}
    del needed[f"rocpd_metadata{SUFFIX}"]  # without it there is no version
    assert sum(map(len, needed.values())) > 150
    check_each(tmp_path / "a.db", tables, lambda database: read_rocpd(database), needed, declared)
    for table in ("region", "pmc_event", "string"):
        rest = {name: columns for name, columns in tables.items() if name != f"rocpd_{table}{SUFFIX}"}
        (lost,) = losses(tmp_path / "a.db", made(rest, declared), read_rocpd)
        assert (lost.kind, lost.detail) == ("missing_tables", f"run {GUID} lacks rocpd_{table}")


def test_rocpd_without_a_version_or_of_an_unknown_one(tmp_path: Path) -> None:
    tables, path = of_rocpd("3"), tmp_path / "a.db"
    metadata, region = f"rocpd_metadata{SUFFIX}", f"rocpd_region{SUFFIX}"
    (lost,) = losses(path, made(tables | {metadata: ("id", "tag", "zz")}), read_rocpd)
    assert lost.detail == f"{metadata} lacks value"
    declared = f"INSERT INTO {metadata} VALUES (1, 'schema_version', '4.0.0')"  # noqa: S608
    assert losses(path, made(tables, declared), read_rocpd) == []
    rest = tuple(name for name in tables[region] if name != "start")
    (lost,) = losses(path, made(tables | {region: rest}, declared), read_rocpd)
    assert lost.detail == f"{region} lacks start"
    tracked = tuple(name for name in tables[region] if name not in ("pid", "tid"))
    assert losses(path, made(tables | {region: (*tracked, "track_id")}, declared), read_rocpd) == []


@together("version", VERSIONS)
def test_every_column_that_is_required_is_one_of_the_version(version: str) -> None:
    layout = stored_tables(version)
    assert all(set(columns) <= set(layout[table].names) for table, columns in required(version).items())


@pytest.fixture(scope="module")
def rocpd(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A whole file, without its views and indexes, which would name the columns."""
    path = tmp_path_factory.mktemp("made") / "run.db"
    write_rocpd(small_run(), path)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        listed = "SELECT type, name FROM sqlite_master WHERE type IN ('view', 'index') AND sql IS NOT NULL"
        for kind, name in connection.execute(listed).fetchall():
            connection.execute(f'DROP {kind} "{name}"')
    return path.read_bytes()


def renamed(data: bytes, table: str, column: str) -> bytes:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.deserialize(data)
        connection.execute(f'ALTER TABLE "{table}" RENAME COLUMN "{column}" TO "zz"')
        return connection.serialize()


def test_it_is_said(tmp_path: Path, rocpd: bytes) -> None:
    path = tmp_path / "a.db"
    path.write_bytes(renamed(rocpd, f"rocpd_region{SUFFIX}", "start"))
    done = call("summary", path)
    assert done.status == 0
    assert f"rocpd_region{SUFFIX} lacks start" in " ".join((done.stdout + done.stderr).split())


@pytest.mark.parametrize("version", ["2", "3"])
def test_rpd(tmp_path: Path, version: str) -> None:
    tables = required_of_rpd(version)
    declared = f"INSERT INTO rocpd_metadata VALUES ('schema_version', '{version}')"  # noqa: S608
    needed = {table: columns for table, columns in tables.items() if table != "rocpd_metadata"}
    check_each(tmp_path / "a.rpd", tables, lambda database: read_rpd(database), needed, declared)
    rest = {table: columns for table, columns in tables.items() if table != "rocpd_kernelapi"}
    (lost,) = losses(tmp_path / "a.rpd", made(rest, declared), read_rpd)
    assert lost == Loss("missing_tables", 1, "the file lacks rocpd_kernelapi")


def test_rpd_as_it_is_made(tmp_path: Path) -> None:
    data = write_rpd_file(tmp_path / "made.rpd").read_bytes()
    assert losses(tmp_path / "a.rpd", data, read_rpd) == []
    for table, column in (("rocpd_metadata", "value"), ("rocpd_api", "id")):
        path = tmp_path / "a.rpd"
        path.write_bytes(renamed(data, table, column))
        run = open_run(path)
        assert run.dispatches.height == 5
        assert "missing_columns" in run.losses["kind"].to_list()


def test_rocprof(tmp_path: Path) -> None:
    needed = dict(rocprof_v1._REQUIRED)
    needed["KERN"] += (*rocprof_v1._LONG_KERN, "BeginNs", "EndNs")
    check_each(tmp_path / "a.db", needed, lambda database: read_rocprof_database(database), needed)
    short = made({"KERN": ("Index", "KernelName")})  # beside a trace of the runtime
    assert losses(tmp_path / "a.db", short, read_rocprof_database) == []


def test_analysis_databases(tmp_path: Path) -> None:
    tables = _analysis_database._REQUIRED
    path = tmp_path / "a.db"
    rows = (
        "INSERT INTO compute_workload VALUES (1, 'x', '{}', '{}')",
        "INSERT INTO compute_kernel VALUES (1, 1, 'gemm')",
    )
    for number in range(max(map(len, tables.values()))):
        away = {table: columns[number] for table, columns in tables.items() if number < len(columns)}
        rest = {
            table: tuple("zz" if name == away.get(table) else name for name in columns)
            for table, columns in tables.items()
        }
        path.write_bytes(made(rest, *rows))
        said = "\n".join(open_counters(path).losses["message"])
        assert all(f"{table} lacks {column}:" in said for table, column in away.items())


def every_column(data: bytes) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.deserialize(data)
        return connection.execute(
            "SELECT m.name, c.name FROM sqlite_master AS m, pragma_table_info(m.name) AS c WHERE m.type = 'table'"
        ).fetchall()


@pytest.mark.slow
@pytest.mark.parametrize("form", ["rocpd", "rpd"])
def test_what_is_left_can_be_read(tmp_path: Path, rocpd: bytes, form: str) -> None:
    data = rocpd if form == "rocpd" else write_rpd_file(tmp_path / "made.rpd").read_bytes()
    path = tmp_path / f"a.{'db' if form == 'rocpd' else form}"
    for table, column in every_column(data):
        if table.startswith("sqlite_"):
            continue
        path.write_bytes(renamed(data, table, column))
        run = open_run(path)
        for name in RUN:
            run.read(name)
