"""The tables and columns that a ROCpd file of a version must have, because the reader needs them."""

from __future__ import annotations

from functools import cache

from wavewright.readers.files.sqlite.missing_columns import note_missing
from wavewright.readers.run.rocpd.joins import JOINS, OF_TRACK
from wavewright.readers.run.rocpd.layout import PREFIX, VERSIONS, stored_tables
from wavewright.readers.run.rocpd.mapping import TABLES, End, First, Origin
from wavewright.readers.run.rocpd.runs import RocpdRun

#: Tables without which names, locations or kinds of events are missing, in a file of any version.
_NEEDED = ("string", "info_process", "info_agent", "info_kernel_symbol", "event", "region", "kernel_dispatch")
#: Columns that are read but not in `mapping`.
_ALSO = {
    "metadata": ("tag", "value"),
    "string": ("id", "string"),
    "info_process": ("environment",),
    "track": ("id", *OF_TRACK),
}


def note_missing_in_run(run: RocpdRun) -> None:
    """Record as losses the parts that a run lacks of its declared version."""
    version = run.metadata.get("schema_version", "")
    columns = {PREFIX + table + run.suffix: names for table, names in required(version).items()}
    if version not in VERSIONS:  # drafts: rows may have their places from their tracks
        columns = {
            table: tuple(name for name in names if name not in OF_TRACK)
            if "track_id" in run.database.tables.get(table, ())
            else names
            for table, names in columns.items()
        }
    needed = columns if version in VERSIONS else {PREFIX + name + run.suffix: () for name in _NEEDED}
    note_missing(run.database, columns, needed, owner=f"run {run.guid or 'without guid'}", suffix=run.suffix)


@cache
def required(version: str) -> dict[str, tuple[str, ...]]:
    """Stored tables of a version, without prefix and suffix -> the columns that are read; of drafts, those of 3.

    Examples
    --------
    >>> required("3")["string"]
    ('id', 'string')
    """
    layout = stored_tables(version if version in VERSIONS else VERSIONS[0])
    columns_by_table: dict[str, dict[str, None]] = {table: dict.fromkeys(names) for table, names in _ALSO.items()}
    for mapped in TABLES.values():
        table, origins = mapped.stored, mapped.columns
        columns_by_table.setdefault(table, {})["id"] = None
        for origin in origins.values():
            for name in _columns_of(origin):
                join, _, column = name.rpartition(".")
                key, joined, joined_key = JOINS[join] if join else ("id", table, "id")
                columns_by_table.setdefault(table, {})[key] = None
                columns_by_table.setdefault(joined, {}).update({joined_key: None, column: None})
    return {
        table: tuple(name for name in names if name in layout[table].names)
        for table, names in columns_by_table.items()
        if table in layout
    }


def _columns_of(origin: Origin) -> tuple[str, ...]:
    if isinstance(origin, First):
        return origin.origin.column, origin.other.column
    return (origin.begin, origin.end) if isinstance(origin, End) else (origin.column,)
