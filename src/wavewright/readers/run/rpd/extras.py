"""Tables of an RPD file that are not part of a run: extensions, as stored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from wavewright.readers.files.sqlite import Database

#: Tables that became tables of the run.
_READ = {
    "rocpd_api",
    "rocpd_api_ops",
    "rocpd_copyapi",
    "rocpd_counter",
    "rocpd_kernelapi",
    "rocpd_kernelcodeobject",
    "rocpd_monitor",
    "rocpd_op",
    "rocpd_stackframe",
    "rocpd_string",
    "rocpd_ustring",
}


class RpdExtras(Mapping[str, "pl.DataFrame"]):
    """Every other table, read when first used: ext_callstack, ext_autogradapi, ext_graph, rocpd_hsaApi, ..."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._names = [
            name for name in database.tables if name not in _READ and not name.startswith(("sqlite_", "temp_"))
        ]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __getitem__(self, name: str) -> pl.DataFrame:
        """A table as stored; ids of strings stay numbers."""
        if name not in self._names:
            raise KeyError(name)
        # In columns of numbers an empty string means null, so types depend on the strings.
        texts = self._database.frame(name, dict.fromkeys(self._database.tables[name], pl.String))
        return texts.select(_narrowed(texts[column]) for column in texts.columns)


def _narrowed(texts: pl.Series) -> pl.Series:
    """Integers or floating-point numbers where all strings are numbers; empty strings are null then."""
    values = texts.set(texts == "", None)
    for dtype in (pl.Int64, pl.Float64):
        numbers = values.cast(dtype, strict=False)
        if values.null_count() < values.len() and numbers.null_count() == values.null_count():
            return numbers
    return texts
