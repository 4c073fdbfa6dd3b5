"""Databases cut, bent and spliced: every reading ends, and says when something is missing."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import polars as pl
import pytest

from wavewright.errors import WavewrightError
from wavewright.readers.files.sqlite import Database

TYPES = {"id": pl.Int64, "begin": pl.Int64, "cost": pl.Float64, "note": pl.String, "name": pl.Categorical}
ROWS = 400
PAGE = 512


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("sound") / "a.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA page_size={PAGE}")
        connection.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, begin BIGINT, cost REAL, note TEXT, name TEXT)")
        rows = [
            (i, i << 40, i / 3, "note " * (i % 7) * (60 if i % 50 == 0 else 1), f"kernel {i % 5}") for i in range(ROWS)
        ]
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", rows)
        connection.execute("CREATE TABLE u(a)")
        connection.execute("INSERT INTO u VALUES (1)")
        connection.commit()
    return path.read_bytes()


def read(path: Path) -> tuple[pl.DataFrame, list[str]] | None:
    """The rows and the kinds of losses; None for a clear error."""
    try:
        database = Database(path)
    except WavewrightError as error:
        assert str(path) in str(error)
        return None
    with closing(database):
        frame = database.frame("t", TYPES)
        frame.rows()  # every text is decoded
        return frame, [loss.kind for loss in database.losses]


def test_cut_anywhere(tmp_path: Path, sound: bytes) -> None:
    path = tmp_path / "cut.db"
    path.write_bytes(sound)
    whole = read(path)
    assert whole is not None
    assert whole[1] == []
    assert len(whole[0]) == ROWS
    lengths = [*range(0, 2048, 37), *range(2048, len(sound), PAGE), *range(2100, len(sound), 1777), len(sound) - 1]
    for length in lengths:
        path.write_bytes(sound[:length])
        found = read(path)
        if found is not None and length:
            frame, losses = found
            assert frame.equals(whole[0].head(len(frame)))
            assert losses == ["unreadable_rows"] or len(frame) == ROWS or "t" not in Database(path).tables


@pytest.mark.slow
def test_flipped_bytes(tmp_path: Path, sound: bytes) -> None:
    path = tmp_path / "flipped.db"
    chance = random.Random(7)
    for _ in range(400):
        bent = bytearray(sound)
        for _ in range(chance.choice([1, 1, 3, 40])):
            bent[chance.randrange(len(bent))] ^= 1 << chance.randrange(8)
        path.write_bytes(bent)
        found = read(path)
        if found is not None:
            assert len(found[0]) <= len(sound)


def test_pages_that_lead_in_a_circle(tmp_path: Path, sound: bytes) -> None:
    path = tmp_path / "circle.db"
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.deserialize(sound)
        root = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 't'").fetchone()[0]
    at = (root - 1) * PAGE
    assert sound[at] == 5, "the table is a tree of several levels"
    circle = bytearray(sound)
    circle[at + 8 : at + 12] = root.to_bytes(4, "big")
    path.write_bytes(circle)
    found = read(path)
    assert found is not None
    assert found[1] == ["unreadable_rows"]
    with closing(Database(path)) as database:
        database.frame("t", TYPES)
        assert "a second time" in database.losses[0].message


@pytest.mark.slow
def test_pages_swapped(tmp_path: Path, sound: bytes) -> None:
    path = tmp_path / "swapped.db"
    chance = random.Random(11)
    count = len(sound) // PAGE
    for _ in range(150):
        pages = [sound[i * PAGE : (i + 1) * PAGE] for i in range(count)]
        for _ in range(chance.choice([1, 2, 20])):
            a, b = chance.randrange(1, count), chance.randrange(1, count)
            pages[a], pages[b] = pages[b], chance.choice([pages[a], bytes(PAGE), pages[b]])
        path.write_bytes(b"".join(pages))
        read(path)
