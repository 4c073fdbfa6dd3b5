"""The result of a writer: path, counts and losses."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from wavewright.model.losses import Loss
from wavewright.model.run import Run


@dataclass(frozen=True)
class Written:
    """An output file or folder, as every `write_X(run, out, *, force=False, ...)` returns it.

    The writers raise UsageError when the output exists and must not be replaced, OutputError when it cannot be written.
    """

    path: Path
    counts: dict[str, int]  #: Table or kind of event -> number written.
    losses: list[Loss] = field(default_factory=list)  #: Rows that the format cannot store.

    @property
    def rows(self) -> int:
        """Total number of rows written."""
        return sum(self.counts.values())

    @property
    def byte_count(self) -> int:
        """Size of the file, or of all files of the folder."""
        files = self.path.rglob("*") if self.path.is_dir() else [self.path]
        return sum(file.stat().st_size for file in files if file.is_file())


def left_out(run: Run, tables: Iterable[str]) -> list[Loss]:
    """A loss for each of the tables that has rows, for formats that cannot store them."""
    counts = ((table, run.count(table)) for table in tables)
    return [Loss("not_in_format", count, table) for table, count in counts if count]
