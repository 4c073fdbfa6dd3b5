"""Databases of strangers: looking at one changes nothing, and SQLite never sees what lies beside it.

A journal can name any file, which SQLite removes when it has rolled the journal back: `readers/files/sqlite/moments`.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import struct
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from synth import Scenario, compiled, synthesize, write_capture
from tests.cli.in_process import call
from tests.kit.small_runs import small_run
from wavewright.errors import NotATraceError, UsageError, WavewrightError
from wavewright.export.run.rocpd import write_rocpd
from wavewright.readers.files.sqlite import Database, table_names
from wavewright.readers.files.sqlite.moments import JOURNAL_MAGIC
from wavewright.readers.opening import open as open_path

VICTIMS = {"text": b"a text of the user\n", "binary": b"\x7fELF\0\0\0 and so on\0"}
connected: list[str] | None = None


def note(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "sqlite3.connect" and connected is not None:
        connected.append(os.fsdecode(arguments[0]))


sys.addaudithook(note)  # it stays: there is no way to take one back


@pytest.fixture
def connections(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What SQLite was told to open; in the end each must be ours, or unchangeable."""
    global connected
    private = tmp_path / "private"
    private.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(private))
    connected = found = []
    yield found
    connected = None
    for place in found:
        parts = urlsplit(place)
        path = Path(unquote(parts.path))
        is_ours = place == ":memory:" or private in path.parents or any(".wavewright-" in name for name in path.parts)
        asked = parse_qs(parts.query)
        assert is_ours or (asked.get("mode"), asked.get("immutable")) == (["ro"], ["1"]), place
    assert not list(private.iterdir()), "something was left"


def records(data: bytes, pages: list[int], nonce: int, page_size: int) -> bytes:
    """These pages of a database as a journal holds them."""
    made = b""
    for number in pages:
        page = data[(number - 1) * page_size : number * page_size]
        checksum = (nonce + sum(page[len(page) - 200 : 0 : -200])) & 0xFFFFFFFF
        made += struct.pack(">I", number) + page + struct.pack(">I", checksum)
    return made


def page_size_of(data: bytes) -> int:
    return {1: 65536}.get(size := int.from_bytes(data[16:18], "big"), size)


def journal_of(data: bytes, pages: list[int], *, page_count: int | None = None, nonce: int = 0x1234) -> bytes:
    size = page_size_of(data)
    count = len(data) // size if page_count is None else page_count
    head = (JOURNAL_MAGIC + struct.pack(">IIIII", len(pages), nonce, count, 512, size)).ljust(512, b"\0")
    return head + records(data, pages, nonce, size)


def naming(victim: Path, data: bytes) -> bytes:
    """A journal that names a super-journal, as SQLite's would."""
    name = os.fsencode(victim)
    end = struct.pack(">II", len(name), sum(name) & 0xFFFFFFFF) + JOURNAL_MAGIC
    return journal_of(data, [1]) + struct.pack(">I", 0x40000000 // page_size_of(data) + 1) + name + end


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("sound") / "run.db"
    write_rocpd(small_run(), path)
    return path.read_bytes()


@pytest.fixture
def run(tmp_path: Path, sound: bytes) -> Path:
    """A folder of a sound database and two hostile ones."""
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "sound.db").write_bytes(sound)
    for kind, content in VICTIMS.items():
        (tmp_path / kind).write_bytes(content)
        (folder / f"{kind}.db").write_bytes(sound)
        (folder / f"{kind}.db-journal").write_bytes(naming(tmp_path / kind, sound))
    return folder


def test_the_journal_is_one_that_sqlite_falls_for(run: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(run / "text.db")) as connection:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchall()
    assert not (tmp_path / "text").exists()


def listing(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}


WAYS: dict[str, Callable[[Path], list[object]]] = {
    "info": lambda run: ["info", run / "text.db"],
    "summary": lambda run: ["summary", run / "text.db", run / "binary.db", "--jobs", 1],
    "summary of a folder": lambda run: ["summary", run, "--jobs", 1],
    "top": lambda run: ["top", run, "--jobs", 1],
    "query": lambda run: ["query", run, "SELECT COUNT(*) AS n FROM kernels", "--engine", "sqlite"],
    "tables": lambda run: ["tables", run / "text.db"],
    "convert": lambda run: ["convert", run, "-f", "rocpd", "-o", run.parent / "written.db"],
    "merge": lambda run: ["merge", run, "-o", run.parent / "written.db"],
    "split": lambda run: ["split", run, "-o", run.parent / "written"],
    "window": lambda run: ["window", run, "-f", "rocpd", "-o", run.parent / "written.db", "--time", "0s:1s"],
    "counters": lambda run: ["counters", run / "text.db"],
}


@pytest.mark.some_cases(5)
@pytest.mark.parametrize("way", WAYS)
def test_looking_at_it_changes_nothing(way: str, run: Path, connections: list[str]) -> None:
    before = listing(run)
    done = call(*WAYS[way](run))
    assert done.status in (0, 2, 3), done.stderr
    assert "Traceback" not in done.stderr
    assert "names a file outside" in done.stdout + done.stderr
    assert {kind: (run.parent / kind).read_bytes() for kind in VICTIMS} == VICTIMS
    assert listing(run) == before


def test_a_capture_with_such_a_database_beside_it(run: Path, connections: list[str]) -> None:
    write_capture(synthesize(Scenario(kernels=(compiled("saxpy", "gfx942"),))), run)
    assert call("info", run).status == 0
    assert {kind: (run.parent / kind).read_bytes() for kind in VICTIMS} == VICTIMS


@pytest.mark.parametrize("read", [Database, table_names, open_path])
@pytest.mark.parametrize("kind", VICTIMS)
def test_readers_refuse_it(kind: str, read: Callable[[Path], object], run: Path, connections: list[str]) -> None:
    with pytest.raises(NotATraceError, match="names a file outside"):
        read(run / f"{kind}.db")
    assert (run.parent / kind).read_bytes() == VICTIMS[kind]
    assert connections == []


def changed(path: Path) -> bytes:
    """The bytes of a database whose transaction was cut off: its pages are overwritten, the journal is hot."""
    data = path.read_bytes()
    size = page_size_of(data)
    path.write_bytes(data[:size] + b"\xff" * (len(data) - size))
    return data


@pytest.mark.parametrize("has_count", [True, False])
def test_a_journal_is_rolled_back_without_sqlite(
    tmp_path: Path, sound: bytes, has_count: bool, connections: list[str]
) -> None:
    path = tmp_path / "a.db"
    path.write_bytes(sound)
    changed(path)
    size = page_size_of(sound)
    pages = list(range(2, len(sound) // size + 1))
    first = journal_of(sound, pages[:3])
    first = first.ljust(-(-len(first) // 512) * 512, b"\0")
    rest = journal_of(sound, pages[3:], nonce=99)
    if not has_count:
        rest = rest[:8] + b"\xff" * 4 + rest[12:]
    path.with_name("a.db-journal").write_bytes(first + rest)
    path.write_bytes(path.read_bytes() + bytes(3 * size))  # the transaction had made the file longer
    before = listing(tmp_path)
    with closing(Database(path)) as database:
        copy = Path(unquote(urlsplit(database.uri).path))
        assert copy.read_bytes() == sound
        assert stat.S_IMODE(copy.parent.stat().st_mode) == 0o700
    assert listing(tmp_path) == before


def test_a_journal_is_relied_upon_up_to_its_first_wrong_checksum(tmp_path: Path, sound: bytes) -> None:
    path = tmp_path / "a.db"
    path.write_bytes(sound)
    size = page_size_of(sound)
    journal = bytearray(journal_of(sound[:size] + bytes(len(sound) - size), [1, 2, 3]))
    journal[512 + 2 * (size + 8) - 1] ^= 1  # of page 2, which would become zeros
    path.with_name("a.db-journal").write_bytes(journal)
    with closing(Database(path)) as database:
        assert Path(unquote(urlsplit(database.uri).path)).read_bytes() == sound


@pytest.mark.parametrize("length", [8, 27, 28, 511, 512, 600, 5000])
def test_a_cut_journal(tmp_path: Path, sound: bytes, length: int, connections: list[str]) -> None:
    path = tmp_path / "a.db"
    path.write_bytes(sound)
    path.with_name("a.db-journal").write_bytes(journal_of(sound, [2, 3, 4])[:length])
    with closing(Database(path)) as database:
        assert database.tables


def test_a_journal_of_an_impossible_size_is_refused(tmp_path: Path, sound: bytes, connections: list[str]) -> None:
    path = tmp_path / "a.db"
    path.write_bytes(sound)
    path.with_name("a.db-journal").write_bytes(journal_of(sound, [2], page_count=0xFFFFFFFF))
    with pytest.raises(NotATraceError, match="4,294,967,295 pages"):
        Database(path)


@pytest.mark.parametrize("ending", ["-journal", "-wal", "-shm"])
@pytest.mark.parametrize("what", ["link", "fifo", "folder"])
def test_what_is_no_file_beside_it_is_refused(tmp_path: Path, ending: str, what: str, connections: list[str]) -> None:
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(tmp_path / "made.db")) as writer:
        writer.execute("PRAGMA journal_mode=WAL")
        writer.execute("CREATE TABLE t(a)")
        writer.commit()
        for end in ("", "-wal"):
            shutil.copyfile(tmp_path / f"made.db{end}", tmp_path / f"a.db{end}")
    beside = tmp_path / f"a.db{ending}"
    beside.unlink(missing_ok=True)
    (tmp_path / "secret").write_bytes(b"secret")
    if what == "link":
        beside.symlink_to(tmp_path / "secret")
    elif what == "fifo":
        os.mkfifo(beside)
    else:
        beside.mkdir()
    connections.clear()  # those of this test
    with pytest.raises(NotATraceError, match=r"a\.db" + ending + " beside it cannot be used"):
        Database(path)


def test_a_log_with_holes_is_copied_up_to_its_last_frame(tmp_path: Path, connections: list[str]) -> None:
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(tmp_path / "made.db")) as writer:
        writer.execute("PRAGMA journal_mode=WAL")
        writer.execute("CREATE TABLE t(a)")
        writer.commit()
        for end in ("", "-wal"):
            shutil.copyfile(tmp_path / f"made.db{end}", tmp_path / f"a.db{end}")
    connections.clear()
    os.truncate(tmp_path / "a.db-wal", 1 << 32)
    os.truncate(path, 1 << 32)
    with closing(Database(path)) as database:
        assert database.tables == {"t": ("a",)}


def test_a_link_to_a_database_has_its_log_where_the_database_is(tmp_path: Path) -> None:
    (tmp_path / "links").mkdir()
    link = tmp_path / "links" / "a.db"
    link.symlink_to(tmp_path / "made.db")
    with closing(sqlite3.connect(tmp_path / "made.db")) as writer:
        writer.execute("PRAGMA journal_mode=WAL")
        writer.execute("CREATE TABLE t(a)")
        writer.commit()
        with closing(Database(link)) as database:
            assert database.tables == {"t": ("a",)}


@pytest.mark.parametrize(
    "sql",
    [
        "ATTACH '/tmp/x' AS x",
        "SELECT load_extension('x')",
        "PRAGMA journal_mode=WAL",
        "VACUUM INTO '/tmp/x'",
        "CREATE TEMP TABLE x(a)",
        "UPDATE sqlite_master SET sql = ''",
    ],
)
def test_statements_that_do_more_than_read(tmp_path: Path, sound: bytes, sql: str) -> None:
    path = tmp_path / "a.db"
    path.write_bytes(sound)
    with closing(Database(path)) as database, pytest.raises(WavewrightError, match=r"authoriz|may not be modified"):
        database.query(sql)


def test_nothing_is_written_beside_the_journal_of_another(tmp_path: Path, sound: bytes) -> None:
    (tmp_path / "a.db").write_bytes(sound)
    target = tmp_path / "new.db"
    target.with_name("new.db-journal").write_bytes(b"of another")
    done = call("convert", tmp_path / "a.db", "-f", "rocpd", "-o", target)
    assert (done.status, "new.db-journal is next to" in done.stderr) == (UsageError.exit_code, True)
    assert not target.exists()
