from __future__ import annotations

import gzip
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from wavewright.errors import NotATraceError, UsageError
from wavewright.model.losses import Loss
from wavewright.readers.files import text
from wavewright.readers.files.sqlite import Database, files, locks, table_names
from wavewright.readers.files.text import SQLITE

TYPES: dict[str, Any] = {
    "id": pl.Int64,
    "number": pl.Int64,
    "real": pl.Float64,
    "text": pl.String,
    "name": pl.Categorical,
}
ROWS = [
    (1, None, None, None, None),
    (2, -1, 0.5, "gr\u00fc\u00df", "a"),
    (5, 1 << 62, -1e300, "", "b"),
    (9, -(1 << 63), 2.0, "x" * 9000, "a"),
]


def write(path: Path, *statements: str, rows: list[tuple[Any, ...]] | None = None, **settings: Any) -> Path:
    """A database of one table, `t`, after the settings and statements."""
    with closing(sqlite3.connect(path)) as connection:
        for setting, value in settings.items():
            connection.execute(f"PRAGMA {setting}={value}")
        connection.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, number INTEGER, real REAL, text TEXT, name TEXT)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", ROWS if rows is None else rows)
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    return path


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[list[Database]]:
    databases: list[Database] = []
    yield databases
    for database in databases:
        database.close()


def both(path: Path, types: dict[str, Any], table: str = "t") -> tuple[pl.DataFrame, list[Loss], bool]:
    """A table as it is read, after a comparison with what SQLite gives; and whether the native core read it."""
    with closing(Database(path)) as database:
        stored = database._stored[table]
        pages = database._file.pages
        is_native = pages is not None and pages.is_table(stored.root) and stored.plan({}) is not None
        frame = database.frame(table, types)
        losses = list(database.losses)
    with closing(Database(path)) as database:
        database._file.pages = None
        assert database.frame(table, types).equals(frame)
        assert database.losses == losses
    return frame, losses, is_native


@pytest.mark.parametrize("page_size", [512, 1024, 4096, 65536])
def test_values_of_every_type(tmp_path: Path, page_size: int) -> None:
    frame, losses, is_native = both(write(tmp_path / "a.db", page_size=page_size), TYPES)
    assert is_native
    assert frame.rows() == ROWS
    assert frame.dtypes == list(TYPES.values())
    assert losses == []


def test_many_pages_come_in_the_order_of_row_ids_in_pieces(tmp_path: Path) -> None:
    rows = [(i * 3, i, i / 2, f"text {i}", f"name {i % 7}") for i in range(20_000, -1, -1)]
    path = write(tmp_path / "a.db", "DELETE FROM t WHERE id % 5 = 1", rows=rows, page_size=512)
    with closing(Database(path)) as database:
        pieces = list(database.chunks("t", TYPES, rows=3000))
    assert [len(piece) for piece in pieces[:-1]] == [3000] * (len(pieces) - 1)
    kept = sorted(row for row in rows if row[0] % 5 != 1)
    assert pl.concat(pieces).rows() == kept
    assert both(path, TYPES)[0].rows() == kept


def test_columns_that_are_not_there_are_null(tmp_path: Path) -> None:
    path = write(tmp_path / "a.db")
    frame = both(path, {"other": pl.String, "id": pl.Int64})[0]
    assert frame.rows() == [(None, 1), (None, 2), (None, 5), (None, 9)]
    assert both(path, {"other": pl.Float64})[0].rows() == [(None,)] * 4
    with closing(Database(path)) as database:
        assert database.frame("other", {"id": pl.Int64}).rows() == []


def test_values_that_do_not_fit_are_null_and_counted(tmp_path: Path) -> None:
    values = [1, "2", " -3 ", "4.0", 5.0, 5.5, "1e2", "x", b"6", "", 9e30, "9223372036854775808", float("inf"), None]
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t(v BLOB)")
        connection.executemany("INSERT INTO t VALUES (?)", [(value,) for value in values])
        connection.commit()
    numbers, losses, _ = both(path, {"v": pl.Int64})
    assert numbers["v"].to_list() == [1, 2, -3, 4, 5, None, 100, *[None] * 7]
    assert losses == [Loss("mixed_values", 7, "t.v")]
    reals, losses, _ = both(path, {"v": pl.Float64})
    assert reals["v"].to_list() == [1, 2, -3, 4, 5, 5.5, 100, None, None, None, 9e30, 2.0**63, float("inf"), None]
    assert losses == [Loss("mixed_values", 3, "t.v")]
    texts, losses, _ = both(path, {"v": pl.String})
    assert texts["v"].to_list()[4:7] == ["5.0", "5.5", "1e2"]
    assert losses == [Loss("mixed_values", 1, "t.v")]
    assert both(path, {"v": pl.Categorical})[0]["v"].to_list() == texts["v"].to_list()


def test_bytes_that_are_no_text_are_marked(tmp_path: Path) -> None:
    path = write(tmp_path / "a.db", "UPDATE t SET text = CAST(x'61ff62e28263eda08064' AS TEXT), name = text || char(0)")
    frame = both(path, TYPES)[0]
    assert frame["text"][0] == "a\ufffdb\ufffdc\ufffd\ufffd\ufffdd"


def test_rows_older_than_a_column_have_its_default(tmp_path: Path) -> None:
    added = {
        "a": "INTEGER DEFAULT 7",
        "b": "TEXT DEFAULT 'it''s'",
        "c": "REAL DEFAULT 2",
        "d": "TEXT",
        "e": "REAL DEFAULT -1.5",
        "f": 'TEXT DEFAULT "two words"',
    }
    path = write(tmp_path / "a.db", *(f"ALTER TABLE t ADD COLUMN {name} {what}" for name, what in added.items()))
    frame, _, is_native = both(path, dict.fromkeys(added, pl.String))
    assert is_native
    assert frame.row(0) == ("7", "it's", "2.0", None, "-1.5", "two words")


@pytest.mark.parametrize("default", ["TRUE", "0x10", "x'41'", "1e20", "'5'"])
def test_defaults_that_only_sqlite_knows(tmp_path: Path, default: str) -> None:
    path = write(tmp_path / "a.db", f"ALTER TABLE t ADD COLUMN a INTEGER DEFAULT {default}")
    with closing(Database(path)) as database:
        assert database._stored["t"].plan({"a": 0}) is None
    both(path, {"a": pl.Int64})


@pytest.mark.parametrize(
    ("create", "is_native"),
    [
        ("CREATE TABLE u(a INTEGER PRIMARY KEY DESC, b)", True),
        ("CREATE TABLE u(a INT PRIMARY KEY, b)", True),
        ("CREATE TABLE u(b, a INTEGER, PRIMARY KEY(a))", True),
        ("CREATE TABLE u(a INTEGER, b INTEGER, PRIMARY KEY(a, b))", True),
        ("CREATE TABLE u(a INTEGER PRIMARY KEY, b) WITHOUT ROWID", False),
        ("CREATE TABLE u(a INTEGER PRIMARY KEY, c AS (a + 1), b)", True),
        ("CREATE TABLE u(a INTEGER PRIMARY KEY, c AS (a + 1) STORED, b)", True),
    ],
)
def test_keys(tmp_path: Path, create: str, is_native: bool) -> None:
    statements = [create, "CREATE INDEX i ON u(b)", "INSERT INTO u(a, b) VALUES (3, 30), (1, 10), (2, NULL)"]
    frame, _, was_native = both(write(tmp_path / "a.db", *statements), {"a": pl.Int64, "b": pl.Int64}, "u")
    assert was_native == is_native
    assert sorted(frame.rows()) == [(1, 10), (2, None), (3, 30)]


def test_columns_that_are_computed_are_not_read(tmp_path: Path) -> None:
    create = "CREATE TABLE u(a INTEGER PRIMARY KEY, c AS (zeroblob(1 << 29)), d AS (a * 2) STORED, b)"
    path = write(tmp_path / "a.db", create, "INSERT INTO u(a, b) VALUES (3, 30)")
    frame = both(path, {"c": pl.Int64, "d": pl.Int64, "b": pl.Int64}, "u")[0]
    assert frame.rows() == [(None, 6, 30)]
    with closing(Database(path)) as database:
        assert database.tables["u"] == ("a", "d", "b")


@pytest.mark.parametrize("settings", [{"encoding": "'UTF-16le'"}, {"encoding": "'UTF-16be'"}])
def test_other_encodings(tmp_path: Path, settings: dict[str, Any]) -> None:
    frame, _, is_native = both(write(tmp_path / "a.db", **settings), TYPES)
    assert frame.rows() == ROWS
    assert not is_native


@pytest.mark.parametrize("settings", [{"auto_vacuum": 1}, {"auto_vacuum": 2}])
def test_vacuumed(tmp_path: Path, settings: dict[str, Any]) -> None:
    rows = [(i, i, 0.0, "t" * 700, "n") for i in range(500)]
    path = write(tmp_path / "a.db", "DELETE FROM t WHERE id < 400", rows=rows, page_size=512, **settings)
    frame, _, is_native = both(path, TYPES)
    assert is_native
    assert frame.rows() == rows[400:]


def listing(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def pending_copy(folder: Path, journal_mode: str) -> Path:
    """A copy of a database whose last change is still in its log or journal: what a killed writer leaves."""
    path = write(folder / "live.db")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA journal_mode={journal_mode}")
        connection.execute("PRAGMA cache_size=1")
        connection.execute("BEGIN")
        connection.executemany("INSERT INTO t(id, text) VALUES (?, ?)", [(100 + i, "y" * 2000) for i in range(100)])
        if journal_mode == "WAL":
            connection.execute("COMMIT")
        (folder / "left").mkdir()
        for ending in ("", "-wal", "-journal"):
            if (file := folder / f"live.db{ending}").exists():
                shutil.copyfile(file, folder / "left" / f"left.db{ending}")
        if journal_mode != "WAL":
            connection.execute("ROLLBACK")
    return folder / "left" / "left.db"


@pytest.mark.parametrize(("journal_mode", "rows"), [("WAL", 104), ("DELETE", 4)])
def test_what_a_killed_writer_left(tmp_path: Path, journal_mode: str, rows: int) -> None:
    path = pending_copy(tmp_path, journal_mode)
    before = listing(path.parent)
    assert len(before) == 2
    frame, losses, _ = both(path, TYPES)
    assert (len(frame), losses) == (rows, [])
    assert listing(path.parent) == before


def test_a_log_that_is_being_written(tmp_path: Path) -> None:
    path = write(tmp_path / "a.db", journal_mode="WAL")
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("INSERT INTO t(id) VALUES (77)")
        writer.commit()
        before = set(listing(tmp_path))
        frame, _, is_native = both(path, TYPES)
        assert set(listing(tmp_path)) == before
    assert (len(frame), is_native) == (5, True)


@pytest.mark.parametrize("journal_mode", ["DELETE", "TRUNCATE", "PERSIST", "WAL"])
def test_nothing_changes(tmp_path: Path, journal_mode: str) -> None:
    path = write(tmp_path / "a.db", "INSERT INTO t(id) VALUES (50)", journal_mode=journal_mode)
    before = listing(tmp_path)
    tmp_path.chmod(0o555)
    try:
        frame, _, is_native = both(path, TYPES)
        with closing(Database(path)) as database:
            assert database.query("SELECT count(*) FROM t") == [(5,)]
    finally:
        tmp_path.chmod(0o755)
    assert (len(frame), is_native) == (5, True)
    assert listing(tmp_path) == before


LOCKER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA cache_size=1")
connection.execute("BEGIN EXCLUSIVE")
if sys.argv[2] == "writes":
    connection.executemany("INSERT INTO t(text) VALUES (?)", [("z" * 3000,)] * 100)
print("locked", flush=True)
sys.stdin.read()
connection.execute("ROLLBACK")
"""


@pytest.mark.parametrize("what", ["waits", "writes"])
def test_locked(tmp_path: Path, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LOCK_SECONDS", 0.05)
    path = write(tmp_path / "a.db")
    command = [sys.executable, "-c", LOCKER, str(path), what]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as locker:
        assert locker.stdout is not None
        assert locker.stdout.readline() == "locked\n"
        with pytest.raises(NotATraceError, match="holds this database locked"):
            Database(path)
        locker.communicate()
    assert both(path, TYPES)[0].rows() == ROWS


def test_after_a_change_a_copy_of_one_moment_is_read(tmp_path: Path) -> None:
    path = write(tmp_path / "a.db")
    with closing(Database(path)) as database:
        assert len(database.frame("t", TYPES)) == 4
        with closing(sqlite3.connect(path)) as writer:
            writer.execute("INSERT INTO t(id) VALUES (1000)")
            writer.commit()
        assert len(database.frame("t", TYPES)) == 5
        assert database.query("SELECT max(id) FROM t") == [(1000,)]
        assert database.losses == []


def test_a_change_while_reading_is_a_loss(tmp_path: Path) -> None:
    path = write(tmp_path / "a.db", rows=[(i, 0, 0.0, "t", "n") for i in range(2000)])
    with closing(Database(path)) as database:
        pieces = database.chunks("t", TYPES, rows=100)
        next(pieces)
        with closing(sqlite3.connect(path)) as writer:
            writer.execute("UPDATE t SET number = 1")
            writer.commit()
        list(pieces)
        assert [loss.kind for loss in database.losses] == ["unreadable_rows"]
        assert "changed" in database.losses[0].message


def test_packed(tmp_path: Path) -> None:
    path = tmp_path / "a.rpd.gz"
    path.write_bytes(gzip.compress(write(tmp_path / "a.db").read_bytes()))
    frame, _, is_native = both(path, TYPES)
    assert frame.rows() == ROWS
    assert is_native


def test_names_of_tables_need_the_beginning_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(i, i, 0.0, f"{i:0200}", "n") for i in range(3000)]
    plain = write(tmp_path / "a.db", "CREATE TABLE late(a)", rows=rows)
    path = tmp_path / "a.rpd.gz"
    path.write_bytes(gzip.compress(plain.read_bytes()))
    assert table_names(plain) == {"t", "late"}
    with monkeypatch.context() as patched:
        patched.setattr(files.OpenFile, "__init__", lambda *_: pytest.fail("unpacked"))
        assert table_names(path) == {"t", "late"}
    many = with_tables(tmp_path / "b.db", 8000)
    path.write_bytes(gzip.compress(many.read_bytes()))
    assert len(table_names(path)) == 8001


def test_packed_and_cut(tmp_path: Path) -> None:
    packed = gzip.compress(write(tmp_path / "a.db").read_bytes())
    for length in (3, 20, len(packed) // 2, len(packed) - 1):
        path = tmp_path / "cut.rpd.gz"
        path.write_bytes(packed[:length])
        with pytest.raises(NotATraceError, match="cannot be unpacked"):
            Database(path)


def test_a_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "SMALL_BYTES", 1 << 20)
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(SQLITE + bytes(40 << 20)))
    with pytest.raises(NotATraceError, match="unpacks to more than"):
        Database(path)


def test_what_was_unpacked_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(write(tmp_path / "a.db").read_bytes()))
    database = Database(path)
    assert list(folder.iterdir())
    database.close()
    assert not list(folder.iterdir())


@pytest.mark.parametrize("content", [b"", b"SQLite format 3\0", b"nothing of the kind" * 100, SQLITE + bytes(4000)])
def test_no_database(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.db"
    path.write_bytes(content)
    if content:
        with pytest.raises(NotATraceError, match="not a readable SQLite database"):
            Database(path)
    else:
        assert Database(path).tables == {}  # SQLite makes an empty file of an empty database


def test_queries_are_bounded(tmp_path: Path, opened: list[Database], monkeypatch: pytest.MonkeyPatch) -> None:
    opened.append(Database(write(tmp_path / "a.db")))
    with pytest.raises(UsageError, match="more than 2 rows"):
        opened[0].query("SELECT id FROM t", most=2)
    monkeypatch.setattr("wavewright.readers.files.sqlite._QUERY_STEPS", 1)
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    with pytest.raises(UsageError, match="too long"):
        opened[0].query(endless)
    assert opened[0].query("SELECT id FROM t WHERE id = ?", (5,)) == [(5,)]


@pytest.mark.parametrize("sql", ["DELETE FROM t", "ATTACH ':memory:' AS other", "CREATE TABLE v(a)", "no SQL"])
def test_queries_change_nothing(tmp_path: Path, opened: list[Database], sql: str) -> None:
    opened.append(Database(write(tmp_path / "a.db")))
    with pytest.raises(NotATraceError):
        opened[0].query(sql)


def test_tables_and_views(tmp_path: Path, opened: list[Database]) -> None:
    hostile = """x"; DROP TABLE t; --"""
    quoted = hostile.replace('"', '""')
    statements = [
        f'CREATE TABLE "{quoted}"("a""b", "end")',
        f'INSERT INTO "{quoted}" VALUES (1, 2)',  # noqa: S608
        "CREATE VIEW v AS SELECT * FROM t",
        "CREATE VIEW broken AS SELECT * FROM nowhere",
    ]
    path = write(tmp_path / "a.db", *statements)
    opened.append(Database(path))
    assert opened[0].tables == {"t": ("id", "number", "real", "text", "name"), hostile: ('a"b', "end")}
    assert opened[0].views == ("v", "broken")
    assert both(path, {'a"b': pl.Int64, "end": pl.Int64}, hostile)[0].rows() == [(1, 2)]


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    folder = Path("/proc/self/fd")
    if not folder.exists():
        pytest.skip("no /proc here")
    path = write(tmp_path / "a.db")
    before = len(list(folder.iterdir()))
    for _ in range(3):
        with closing(Database(path)) as database:
            database.frame("t", TYPES)
    assert len(list(folder.iterdir())) == before


WRITER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
for line in sys.stdin:
    connection.execute(line)
    print("done", flush=True)
"""


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[Any]:
    """Another process that executes statements on `a.db`, each finished when the call returns."""
    path = write(tmp_path / "a.db")
    command = [sys.executable, "-c", WRITER, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:

        def execute(*statements: str) -> None:
            assert process.stdin is not None
            assert process.stdout is not None
            for statement in statements:
                process.stdin.write(statement + "\n")
                process.stdin.flush()
                assert process.stdout.readline() == "done\n"

        yield execute
        process.communicate()


MANY = (
    "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400) "
    "INSERT INTO t(text) SELECT hex(zeroblob(900)) FROM n"
)


def test_a_transaction_that_has_not_touched_the_file_is_not_seen(tmp_path: Path, writer: Any) -> None:
    writer("BEGIN IMMEDIATE", "INSERT INTO t(id) VALUES (77)")
    assert (tmp_path / "a.db-journal").exists()
    assert both(tmp_path / "a.db", TYPES)[0].rows() == ROWS
    writer("COMMIT")
    assert len(both(tmp_path / "a.db", TYPES)[0]) == 5


def test_a_change_that_begins_after_opening_is_said(
    tmp_path: Path, writer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "LOCK_SECONDS", 0.05)
    with closing(Database(tmp_path / "a.db")) as database:
        writer("PRAGMA cache_size=1", "BEGIN", "DROP TABLE t", "CREATE TABLE t(a, b, text)", MANY)
        # A part of the pages is new by now: this is no damage.
        with pytest.raises(NotATraceError, match="holds this database locked"):
            database.query("SELECT count(*) FROM t")
        with pytest.raises(NotATraceError, match="holds this database locked"):
            database.frame("t", TYPES)
        writer("COMMIT")
        assert database.query("SELECT count(*) FROM t") == [(400,)]
        assert database.tables["t"] == ("a", "b", "text")
        assert (len(database.frame("t", TYPES)), database.losses) == (400, [])


def test_a_change_while_the_tables_are_listed(tmp_path: Path, writer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def connect_and_write(*arguments: Any, **named: Any) -> sqlite3.Connection:
        calls.append(arguments)
        connection = sqlite3.Connection(*arguments, **named)
        if len(calls) == 1:  # between the look at the file and the first page that is read
            writer("DROP TABLE t", "CREATE TABLE other(text)", MANY.replace("t(text)", "other(text)"), "VACUUM")
        return connection

    monkeypatch.setattr(sqlite3, "connect", connect_and_write)
    with closing(Database(tmp_path / "a.db")) as database:
        assert database.tables == {"other": ("text",)}
        assert len(database.frame("other", {"text": pl.String})) == 400
        assert "wavewright-" in database.uri


def test_a_log_is_not_moved_into_the_file_while_it_is_copied(tmp_path: Path, writer: Any) -> None:
    writer("PRAGMA journal_mode=WAL", MANY)
    path = tmp_path / "a.db"
    assert (tmp_path / "a.db-shm").exists()
    with closing(Database(path)) as database:
        writer("DELETE FROM t WHERE id > 100", "PRAGMA wal_checkpoint(TRUNCATE)")
        assert len(database.frame("t", TYPES)) == 404
    assert len(both(path, TYPES)[0]) < 404
    descriptor = os.open(tmp_path / "a.db-shm", os.O_RDONLY)
    try:
        with locks.checkpoint_lock(descriptor, 0):
            writer("INSERT INTO t(id) VALUES (1000)", "PRAGMA wal_checkpoint(PASSIVE)")
            assert both(path, TYPES)[0]["id"].max() == 1000
    finally:
        os.close(descriptor)


def with_tables(path: Path, count: int) -> Path:
    """A database of many tables; made one by one, each would look at all before it."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t(a)")
        connection.execute("PRAGMA writable_schema=ON")
        (root,) = connection.execute("SELECT rootpage FROM sqlite_master").fetchone()
        rows = [(f"t{i}", f"t{i}", root, f"CREATE TABLE t{i}(a)") for i in range(count)]
        connection.executemany("INSERT INTO sqlite_master VALUES ('table', ?, ?, ?, ?)", rows)
        connection.commit()
    return path


@pytest.mark.slow
def test_more_tables_than_are_read_are_a_loss(tmp_path: Path) -> None:
    with closing(Database(with_tables(tmp_path / "a.db", 50_002))) as database:
        assert len(database.tables) == 50_000
        assert database.losses == [Loss("unread_tables", 3, "50,000 are read")]


@pytest.mark.slow
def test_time_grows_with_the_number_of_tables(tmp_path: Path) -> None:
    spent = []
    for count in (2_000, 20_000):
        path = with_tables(tmp_path / f"{count}.db", count)
        began = time.process_time()
        Database(path).close()
        spent.append(time.process_time() - began)
    assert spent[1] < 40 * spent[0], "the square would be 100 times as long"
