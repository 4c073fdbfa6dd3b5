"""Tables that only some ROCpd files have, under their own names: graph launches, PC samples, drafts of the schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from wavewright.readers.files.sqlite import Database
from wavewright.readers.run.rocpd.layout import PREFIX
from wavewright.readers.run.rocpd.mapping import TABLES
from wavewright.readers.run.rocpd.runs import DataType, table_names

_READ = {"metadata", "string", "event", "track"} | {mapped.stored for mapped in TABLES.values()}


class RocpdExtras(Mapping[str, "pl.DataFrame"]):
    """The stored tables that are not part of a `Run`, read when first used; all runs in one frame each."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._stored = {PREFIX + name: stored for name, stored in table_names(database).items() if name not in _READ}

    def __iter__(self) -> Iterator[str]:
        return iter(self._stored)

    def __len__(self) -> int:
        return len(self._stored)

    def __getitem__(self, name: str) -> pl.DataFrame:
        frames = [self._database.frame(stored, self._types(stored)) for stored in self._stored[name]]
        return pl.concat(frames, how="diagonal_relaxed")

    def _types(self, table: str) -> dict[str, DataType]:
        """Types by the affinity of the declared types."""
        declared = self._database.query("SELECT name, type FROM pragma_table_info(?)", (table,))
        types: dict[str, DataType] = {}
        for name, kind in declared:
            is_number = "INT" in kind.upper()
            is_real = any(word in kind.upper() for word in ("REAL", "FLOA", "DOUB"))
            types[name] = pl.Int64 if is_number else pl.Float64 if is_real else pl.String
        return types
