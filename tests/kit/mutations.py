"""Inputs with something changed at random: bytes of any file, rows of a database, values of a JSON text, lines."""

from __future__ import annotations

import json
import random
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

#: What stands in files of strangers instead of a number, a name or an object.
HOSTILE_VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 1, 2**31, 2**32 - 1, 2**53 + 1, 2**63 - 1, -(2**63), 0.5, -0.0, 1e308, -1e-308, float("nan"),
    float("inf"), "", " ", "0", "-1", "1e400", "9" * 30, "NaN", "null", "{", "[" * 50, "{}", "[]", '{"a": [1, {}]}',
    "\x00", "\x1b[31m", "\u202e", "\ud7ff", "A" * 5000, "../../etc/passwd", "<script>", "'; --", "naïve", "│█",
)  # fmt: skip


def mutated_bytes(draw: random.Random, data: bytes) -> bytes:
    """The bytes with one change: bits, a piece that is gone, doubled, overwritten, moved, or other digits."""
    if not data:
        return b"\0"
    at = draw.randrange(len(data))
    size = draw.choice((1, 4, 16, 512, 4096))
    piece = data[at : at + size]
    match draw.choice(("bit", "bits", "cut", "head", "gone", "twice", "zero", "ones", "noise", "moved", "digits")):
        case "bit":
            return data[:at] + bytes([data[at] ^ 1 << draw.randrange(8)]) + data[at + 1 :]
        case "bits":
            changed = bytearray(data)
            for _ in range(draw.choice((4, 20, 200))):
                changed[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
            return bytes(changed)
        case "cut":
            return data[:at]
        case "head":
            return data[at:]
        case "gone":
            return data[:at] + data[at + size :]
        case "twice":
            return data[:at] + piece * draw.choice((2, 4, 50)) + data[at + size :]
        case "zero":
            return data[:at] + bytes(len(piece)) + data[at + size :]
        case "ones":
            return data[:at] + b"\xff" * len(piece) + data[at + size :]
        case "noise":
            return data[:at] + draw.randbytes(draw.choice((1, 7, 64))) + data[at:]
        case "moved":
            target = draw.randrange(len(data))
            return data[:target] + piece + data[target + len(piece) :]
        case _:
            return _other_digits(draw, data, at)


def _other_digits(draw: random.Random, data: bytes, at: int) -> bytes:
    places = [place for place in range(at, min(len(data), at + 4096)) if 48 <= data[place] <= 57]
    if not places:
        return data[:at]
    place = draw.choice(places)
    value = draw.choice((b"-", b"1e308", b"9" * 25, b"NaN", b"null", b'"x"', b"[[[[", b"18446744073709551615", b"7"))
    return data[:place] + value + data[place + 1 :]


def mutate_rows(draw: random.Random, path: Path) -> str:
    """Change rows, columns or tables of a database in place, and say what was changed.

    The file stays a database that SQLite calls whole, so that its readers see every value.
    """
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA foreign_keys = OFF")
        database.execute("PRAGMA ignore_check_constraints = ON")
        changes = []
        for _ in range(draw.choice((1, 1, 3, 10))):
            names = database.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
            tables = [name for (name,) in names.fetchall()]
            filled = [name for name in tables if database.execute(f'SELECT 1 FROM "{name}"').fetchone()]  # noqa: S608
            if not filled:
                break
            table = draw.choice(filled)
            columns = [column for _, column, *_ in database.execute(f'PRAGMA table_info("{table}")')]
            statement, values = _row_change(draw, table, draw.choice(columns), draw.choice(columns))
            with suppress(sqlite3.Error, UnicodeError):  # a key that is there twice, a view that needs the column
                database.execute(statement, values)
                changes.append(f"{statement} {values!r:.80}")
        return "; ".join(changes)


def _row_change(draw: random.Random, table: str, column: str, other: str) -> tuple[str, tuple[Any, ...]]:
    one_row = f'rowid = (SELECT rowid FROM "{table}" ORDER BY random() LIMIT 1)'  # noqa: S608
    rows = draw.choice((one_row, one_row, "1", "rowid % 2", "rowid % 7 = 3"))
    value = draw.choice((*HOSTILE_VALUES, b"\xff\xfe\x00", b""))
    change = draw.choice(("set", "set", "set", "set", "copy", "add", "delete", "double", "column", "rename", "table"))
    statements: dict[str, tuple[str, tuple[Any, ...]]] = {
        "set": (f'UPDATE "{table}" SET "{column}" = ? WHERE {rows}', (value,)),  # noqa: S608
        "copy": (f'UPDATE "{table}" SET "{column}" = "{other}" WHERE {rows}', ()),  # noqa: S608
        "add": (f'UPDATE "{table}" SET "{column}" = "{column}" * ? WHERE {rows}', (draw.choice((-1, 1e12)),)),  # noqa: S608
        "delete": (f'DELETE FROM "{table}" WHERE {rows}', ()),  # noqa: S608
        "double": (f'INSERT OR IGNORE INTO "{table}" SELECT * FROM "{table}" WHERE {rows}', ()),  # noqa: S608
        "column": (f'ALTER TABLE "{table}" DROP COLUMN "{column}"', ()),
        "rename": (f'ALTER TABLE "{table}" RENAME COLUMN "{column}" TO "{column}_"', ()),
        "table": (f'DROP TABLE "{table}"', ()),
    }
    return statements[change]


def mutated_json(draw: random.Random, value: Any) -> Any:
    """A JSON value with one to five changes somewhere inside: keys gone, values of other types, order, depth."""
    changed = json.loads(json.dumps(value))
    for _ in range(draw.choice((1, 2, 5))):
        parent = changed
        while isinstance(parent, dict | list) and parent:
            key = draw.choice(list(parent)) if isinstance(parent, dict) else draw.randrange(len(parent))
            inner = parent[key]
            if not (isinstance(inner, dict | list) and inner) or draw.random() < 0.1:
                _change(draw, parent, key)
                break
            parent = inner
    return changed


def _change(draw: random.Random, parent: Any, key: Any) -> None:
    match draw.choice(("value", "value", "value", "gone", "deep", "twice", "other")):
        case "value":
            parent[key] = draw.choice(HOSTILE_VALUES)
        case "gone":
            del parent[key]
        case "deep":
            deep: Any = parent[key]
            for _ in range(draw.choice((1, 3, 200))):
                deep = [deep] if draw.random() < 0.5 else {"a": deep}
            parent[key] = deep
        case "twice" if isinstance(parent, list):
            parent.insert(draw.randrange(len(parent) + 1), parent[key])
        case _:
            keys = list(parent) if isinstance(parent, dict) else range(len(parent))
            parent[key] = parent[draw.choice(list(keys))]


def json_bytes(draw: random.Random, value: Any) -> bytes:
    """A changed JSON value as text; sometimes with bytes changed, too."""
    data = json.dumps(mutated_json(draw, value), ensure_ascii=draw.random() < 0.5).encode("utf-8", "surrogatepass")
    return mutated_bytes(draw, data) if draw.random() < 0.3 else data
