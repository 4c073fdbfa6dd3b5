"""Stored tables of an RPD file: those that a file of a schema must have, and extensions, which no run has."""

from __future__ import annotations

import polars as pl

from wavewright.base.toml import packaged
from wavewright.model.stored_tables import TablesByName
from wavewright.readers.files.sqlite import Database, note_missing


def extras_of(database: Database) -> TablesByName:
    """Every other table, as stored: ext_callstack, ext_autogradapi, ext_graph, rocpd_hsaApi, ...

    Ids of strings stay numbers.
    """

    def read(name: str) -> pl.DataFrame:
        # In columns of numbers an empty string means null, so types depend on the strings.
        texts = database.frame(name, dict.fromkeys(database.tables[name], pl.String))
        return texts.select(_narrowed(texts[column]) for column in texts.columns)

    run_tables = REQUIRED.keys() - {"rocpd_metadata"}  # became tables of the run
    names = [name for name in database.tables if name not in run_tables and not name.startswith(("sqlite_", "temp_"))]
    return TablesByName(names, read)


def _narrowed(texts: pl.Series) -> pl.Series:
    """Integers or floating-point numbers where all strings are numbers; empty strings are null then."""
    values = texts.set(texts == "", None)
    for dtype in (pl.Int64, pl.Float64):
        numbers = values.cast(dtype, strict=False)
        if values.null_count() < values.len() and numbers.null_count() == values.null_count():
            return numbers
    return texts


# --- the tables and columns that an RPD file of a schema must have, because the reader needs them ---


_SCHEMA = packaged("schema.toml", __package__)
REQUIRED: dict[str, list[str]] = _SCHEMA["columns"]  #: Of tables that a file has, whatever its schema.
_MORE: dict[str, dict[str, list[str]]] = _SCHEMA["more"]  #: Schema -> columns that others lack.


def required(version: str) -> dict[str, tuple[str, ...]]:
    """Table -> columns of a schema.

    Examples
    --------
    >>> required("2")["rocpd_op"][-1]
    'completionSignal'
    """
    more = _MORE.get(version, {})
    return {table: (*names, *more.get(table, ())) for table, names in REQUIRED.items()}


def note_missing_in_file(database: Database, version: str) -> None:
    """Record as losses the parts that a file lacks."""
    note_missing(
        database, required(version), [*_SCHEMA["tables"], *(_SCHEMA["of_schemas"] if version in _MORE else ())]
    )
