"""Tables and columns that a reader asks for and a file lacks: what they would say is missing, so that is said."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from wavewright.model.losses import Loss
from wavewright.readers.files.sqlite import Database


def note_missing(
    database: Database,
    columns: Mapping[str, Collection[str]],
    tables: Collection[str] = (),
    *,
    owner: str = "the file",
    suffix: str = "",
) -> None:
    """Note what a database lacks as losses (`missing_tables`, `missing_columns`).

    Parameters
    ----------
    columns
        Stored table -> columns that it must have, if the file has the table at all.
    tables
        Those that the file must have.
    owner
        Who lacks them, for the sentence; what the names of all its tables end in is `suffix`.
    """
    absent = [name.removesuffix(suffix) for name in tables if name not in database.tables]
    if absent:
        database.lose(Loss("missing_tables", len(absent), f"{owner} lacks {', '.join(absent)}"))
    for table, names in columns.items():
        if table in database.tables:
            lacking = [name for name in names if name not in database.tables[table]]
            if lacking:
                database.lose(Loss("missing_columns", len(lacking), f"{table} lacks {', '.join(lacking)}"))
