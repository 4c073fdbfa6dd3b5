"""Whatever SQLite can store, the native reader gives the same as SQLite itself."""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kit.sampling import examples
from wavewright.readers.files.sqlite import Database

TYPES = (pl.Int64, pl.Float64, pl.String, pl.Categorical)

integers = st.one_of(
    st.integers(-(1 << 63), (1 << 63) - 1),
    st.integers(-200, 200),
    st.sampled_from([0, 1, 127, 128, 32767, 32768, 8388607, 8388608, 1 << 31, 1 << 47]),
)
reals = st.one_of(st.floats(allow_nan=False), st.integers(-(1 << 60), 1 << 60).map(float))
numbers_as_text = st.one_of(
    integers.map(str),
    reals.map(repr),
    st.from_regex(r"[ \t]?[+-]?[0-9]{0,22}\.?[0-9]{0,5}([eE][+-]?[0-9]{1,4})?[ x]?", fullmatch=True),
)
texts = st.one_of(
    st.text(max_size=20),
    numbers_as_text,
    st.builds(lambda c, n: c * n, st.sampled_from("aß€🌊\0"), st.integers(0, 6000)),
)
values = st.one_of(st.none(), integers, reals, texts, st.binary(max_size=40), st.integers(0, 9000).map(bytes))

declared = st.sampled_from(
    ["", "INTEGER", "BIGINT", "REAL", "DOUBLE", "TEXT", "VARCHAR(8)", "JSONB", "BLOB", "NUMERIC"]
)
literals = st.one_of(
    integers.map(str),
    st.sampled_from(
        ["NULL", "1.5", "-2.0", "0x1F", "TRUE", "x'4142'", "'5'", "'5.0'", "'a''b'", '"word"', "''", "'{}'"]
    ),
)


@st.composite
def databases(draw: st.DrawFn) -> tuple[list[str], list[list[Any]], dict[str, Any], list[tuple[str, str]]]:
    kinds = draw(st.lists(declared, min_size=1, max_size=5))
    width = len(kinds)
    rows = draw(st.lists(st.lists(values, min_size=width, max_size=width), max_size=40))
    pragmas = {
        "page_size": draw(st.sampled_from([512, 1024, 4096, 65536])),
        "auto_vacuum": draw(st.sampled_from([0, 1, 2])),
        "encoding": draw(st.sampled_from(["'UTF-8'", "'UTF-8'", "'UTF-8'", "'UTF-16le'"])),
        "journal_mode": draw(st.sampled_from(["DELETE", "DELETE", "PERSIST", "WAL"])),
    }
    added = draw(st.lists(st.tuples(declared, literals), max_size=3))
    return kinds, rows, pragmas, added


def write(
    path: Path, made: tuple[list[str], list[list[Any]], dict[str, Any], list[tuple[str, str]]], after: list[str]
) -> None:
    kinds, rows, pragmas, added = made
    columns = ", ".join(f"c{i} {kind}" for i, kind in enumerate(kinds))
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous=OFF")  # waiting for the disk was most of the time
        for name, value in pragmas.items():
            connection.execute(f"PRAGMA {name}={value}")
        connection.execute(f"CREATE TABLE t(key INTEGER PRIMARY KEY, {columns})")
        marks = ", ".join("?" * len(kinds))
        connection.executemany(f"INSERT INTO t({', '.join(f'c{i}' for i in range(len(kinds)))}) VALUES ({marks})", rows)  # noqa: S608
        for i, (kind, default) in enumerate(added):
            connection.execute(f"ALTER TABLE t ADD COLUMN a{i} {kind} DEFAULT {default}")
        connection.executemany("INSERT INTO t(key, c0) VALUES (?, ?)", [(-7, "before"), (1 << 40, 5)])
        for statement in after:
            connection.execute(statement)


@settings(max_examples=examples(120), deadline=None)
@given(
    databases(),
    st.lists(
        st.sampled_from(["DELETE FROM t WHERE key % 3 = 1", "VACUUM", "UPDATE t SET c0 = c0 || 'x' WHERE key % 2"]),
        max_size=3,
    ),
    st.data(),
)
def test_both_ways_of_reading_give_the_same(made: Any, after: list[str], data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.db")
        write(path, made, after)
        with closing(Database(path)) as native, closing(Database(path)) as plain:
            columns = native.tables["t"]
            types = {name: data.draw(st.sampled_from(TYPES), label=name) for name in columns}
            wanted = dict(data.draw(st.permutations(list(types.items()))))
            is_native = made[2]["encoding"] == "'UTF-8'" and made[2]["journal_mode"] != "WAL"
            assert (native._file.pages is not None) >= is_native, "else nothing would be compared"
            plain._file.pages = None  # without pages of its own, it asks SQLite for every row
            rows = data.draw(st.sampled_from([1, 7, 1000]), label="rows")
            pieces = list(native.chunks("t", wanted, rows=rows))
            expected = plain.frame("t", wanted)
            assert pl.concat([expected.clear(), *pieces]).equals(expected)
            assert all(len(piece) == rows for piece in pieces[:-1])
            assert native.losses == plain.losses
        files = {file.name for file in Path(folder).iterdir()}
        assert files - {"a.db-journal"} == {"a.db"}, "reading leaves nothing; a persistent journal is the writer's"
