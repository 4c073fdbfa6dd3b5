"""Result of a query: its rows in chunks, the limits that they are held to, and errors that say what was meant."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from difflib import get_close_matches
from threading import Event

import polars as pl

from wavewright.analysis.run.contents.views import VIEWS
from wavewright.analysis.run.query.tables_in_query import STORED, used
from wavewright.errors import UsageError
from wavewright.model.run_tables import RUN

PIECE_ROWS = 200_000  #: Rows that are inserted or fetched at once, at most.
_LONGEST_REASON = 400  #: Characters of an error message, at most.
#: Errors of DuckDB as JSON (`errors_as_json`): they say at which byte of the statement something is wrong.
_AS_JSON = re.compile(r"^([\w ]+: )?(\{.*\})$", re.DOTALL)
_NEAR = re.compile(r'near "([^"]+)"')


@dataclass(frozen=True)
class QueryLimits:
    """Limits of the size of a result, and of the time that the engine may work for it."""

    rows: int = 5_000_000
    mib: int = 1024
    seconds: float = 300.0


class Meter:
    """Holds a result to its limits; `stop`, once set, ends the query."""

    def __init__(self, limits: QueryLimits, stop: Event | None = None) -> None:
        self._limits = limits
        self._stop = stop
        self._rows = self._bytes = 0
        self._spent_seconds, self._began = 0.0, time.monotonic()

    @contextmanager
    def running(self) -> Iterator[None]:
        """The engine runs inside the block; work on its rows outside does not count."""
        self._began = time.monotonic()
        try:
            yield
        finally:
            self._spent_seconds += time.monotonic() - self._began

    def has_time(self) -> bool:
        """True if the engine may continue; called while it runs."""
        return not self.is_stopped and self._spent_seconds + time.monotonic() - self._began < self._limits.seconds

    @property
    def is_stopped(self) -> bool:
        """True if somebody wants the query to end."""
        return self._stop is not None and self._stop.is_set()

    def count(self, piece: pl.DataFrame) -> pl.DataFrame:
        """The next rows. Raises `UsageError` when they are too many."""
        self._rows += piece.height
        self._bytes += int(piece.estimated_size())
        if self._rows > self._limits.rows:
            raise _beyond(self._limits.rows, "rows", "--max-rows")
        if self._bytes > self._limits.mib << 20:
            raise _beyond(self._limits.mib, "MiB", "--max-mib")
        return piece

    def too_long(self) -> UsageError:
        """The error when the time limit is reached, or the query was stopped."""
        if self.is_stopped:
            return UsageError("the query was stopped before it was finished")
        what = f"the query takes longer than {self._limits.seconds:g} seconds"
        return UsageError(what, advice="select less, or raise --max-seconds")


def _beyond(most: int, unit: str, option: str) -> UsageError:
    what = f"the query returns more than {most:,} {unit}"
    return UsageError(what, advice=f"use LIMIT, GROUP BY or WHERE, or raise {option}")


@dataclass(frozen=True)
class QueryResult:
    """The rows of a query; `pieces` can be read once."""

    engine: str
    pieces: Iterator[pl.DataFrame]  #: The rows in their order; at least one chunk, which has the columns.
    notes: tuple[str, ...] = ()  #: What its names mean, where that may surprise.


def refused(
    error: Exception | str, sql: str = "", *, shift: int = 0, file_columns: Mapping[str, Sequence[str]] | None = None
) -> UsageError:
    """The error for a query that cannot be run: the engine's reason, its place, and what may have been meant.

    `shift` is the number of bytes before the statement of the user in the one that the engine was given;
    `file_columns` are relations of files with their columns.

    >>> str(refused('Binder Error: no column "nme"!\\nCandidate bindings: "name"\\n\\nLINE 1: ...')).split("; ")[0]
    'the query was refused: Binder Error: no column "nme"! Candidate bindings: "name"'
    >>> refused('near "FRM": syntax error', "SELECT 1\\nFRM kernels").where
    'line 2, column 1'
    """
    text, byte = _reason_of(str(error))
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    reasons = lines[:1] + [line for line in lines[1:] if line.startswith("Candidate")]
    reason = " ".join(reasons) or "no reason given"
    where = _place(sql, byte - shift) if byte is not None else _place_near(sql, reason)
    return UsageError(
        f"the query was refused: {reason}"[:_LONGEST_REASON],
        where=where,
        advice=advice(reason, sql, file_columns or {}),
    )


def _reason_of(text: str) -> tuple[str, int | None]:
    """The reason that an engine gives, and the byte of the statement that it is about; None = it does not say."""
    if match := _AS_JSON.match(text):
        with suppress(ValueError, TypeError):
            facts = json.loads(match[2])
            place = facts.get("position")
            return f"{match[1] or ''}{facts['exception_message']}", None if place is None else int(place)
    return text, None


def _place(sql: str, byte: int) -> str:
    """The place of a byte of a statement as people count; empty = it is outside."""
    content = sql.encode(errors="replace")
    if not sql or not 0 <= byte <= len(content):
        return ""
    before = content[:byte].decode(errors="ignore")
    return f"line {before.count(chr(10)) + 1}, column {len(before) - (before.rfind(chr(10)) + 1) + 1}"


def _place_near(sql: str, reason: str) -> str:
    """The place of what SQLite names, where it occurs but once."""
    near = _NEAR.search(reason)
    if not near or sql.count(near[1]) != 1:
        return ""
    return _place(sql, len(sql[: sql.index(near[1])].encode(errors="replace")))


def distinct_names(names: Sequence[str]) -> list[str]:
    """Names of columns; repeated names get a number.

    >>> distinct_names(["a", "b", "a"])
    ['a', 'b', 'a_1']
    """
    distinct: list[str] = []
    for name in names:
        number, candidate = 0, name
        while candidate in distinct:
            number += 1
            candidate = f"{name}_{number}"
        distinct.append(candidate)
    return distinct


_TABLE = re.compile(r'Table with name "?([\w.]+)"? does not exist|no such table: ([\w.]+)')
_COLUMN = re.compile(r'(?:Referenced column|have a column named) "([^"]+)"|no such column: (?:\w+\.)?(\w+)')
_ADVICE = "`wavewright schema` lists the views and tables with their columns"
_MOST_SIMILAR = 3  #: Names that advice suggests, at most.


def advice(reason: str, sql: str = "", file_columns: Mapping[str, Sequence[str]] | None = None) -> str:
    """Advice after an engine refused a query for this reason; `file_columns` are relations of files with their columns.

    >>> advice("no such table: kernelz").split("?")[0]
    'did you mean kernel, kernels, top_kernels'
    >>> advice("no such column: nme", "SELECT nme FROM kernels").split("?")[0]
    'did you mean name'
    """
    similar: list[str] = []
    if table := _TABLE.search(reason):
        labels = {name: name for name in (*(file_columns or {}), *VIEWS)} | {name: f"run.{name}" for name in RUN}
        similar = _similar(table[1] or table[2], labels)
    elif column := _COLUMN.search(reason):
        relations = used(sql)
        file_names = [name for columns in _of_alias(reason, sql, file_columns or {}).values() for name in columns]
        columns = file_names or [name for view in relations.views for name in VIEWS[view].names]
        columns = columns or [name for table_name in relations.tables for name in STORED[table_name].columns]
        similar = _similar(column[1] or column[2], {name: name for name in columns})
    return f"did you mean {', '.join(similar)}? {_ADVICE}" if similar else _ADVICE


def _of_alias(reason: str, sql: str, file_columns: Mapping[str, Sequence[str]]) -> Mapping[str, Sequence[str]]:
    """The relation whose alias (`FROM rocpd_op o`: o) the missing column names; all where it names none."""
    if (prefix := re.search(r"no such column: (\w+)\.", reason)) and (
        table := re.search(rf"\b(\w+)\s+(?:as\s+)?{prefix[1]}\b", sql, re.IGNORECASE)
    ):
        return {name: columns for name, columns in file_columns.items() if name == table[1].lower()} or file_columns
    return file_columns


def _similar(name: str, candidates: dict[str, str]) -> list[str]:
    """The names that resemble one, in any case; views go before tables of the same name."""
    by_lower: dict[str, str] = {}
    for candidate, label in candidates.items():
        by_lower.setdefault(candidate.lower(), label)
    matches = get_close_matches(name.rpartition(".")[2].lower(), by_lower, n=_MOST_SIMILAR, cutoff=0.6)
    return [by_lower[match] for match in matches]
