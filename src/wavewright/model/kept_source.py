"""A source of a run that keeps the columns that were read: for many questions about one run, one after the other."""

from __future__ import annotations

from threading import RLock
from typing import TYPE_CHECKING

from wavewright.base.toml import packaged
from wavewright.model.run_tables import RUN
from wavewright.model.schema import empty_frame

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

    from wavewright.model.losses import Loss
    from wavewright.model.run import Run, RunSource

MOST_ROWS = 2_000_000  #: Of a table that is kept; longer ones are read anew each time, in chunks.
#: Columns of large tables that most questions ask for: they are read together with the first of them.
_TOGETHER: dict[str, list[str]] = packaged("tables/kept.toml", __package__)


class KeptSource:
    """`source`, each column of which is read once."""

    def __init__(self, source: RunSource) -> None:
        self.path, self.format, self.version = source.path, source.format, source.version
        self.extras: Mapping[str, pl.DataFrame] = source.extras
        self.database = getattr(source, "database", None)  # of a file that is one
        self.hides_secrets = getattr(source, "hides_secrets", False)
        self._source = source
        self._frames: dict[str, pl.DataFrame] = {}
        self._long_tables: set[str] = set()  # with more than `MOST_ROWS` rows: never kept
        self._reading = RLock()

    @property
    def losses(self) -> list[Loss]:
        """The losses of the source; reading may add some."""
        return self._source.losses

    def chunks(self, table: str, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """These columns in one piece, or in chunks where the table is long."""
        with self._reading:
            frame = None if table in self._long_tables else self._kept(table, columns)
        if frame is None:
            yield from self._source.chunks(table, columns)
        elif frame.height:
            yield frame.select(columns)

    def _kept(self, table: str, columns: Sequence[str]) -> pl.DataFrame | None:
        """A frame with at least these columns; None = the table is too long to be kept.

        A read with more columns replaces what was kept: rows of two reads are never put side by side.
        """
        before = self._frames.get(table)
        if before is not None and set(columns) <= set(before.columns):
            return before
        import polars as pl

        columns_together = {*columns, *_TOGETHER.get(table, ()), *(before.columns if before is not None else ())}
        names = [name for name in RUN[table].names if name in columns_together]
        pieces, row_count = [empty_frame(RUN[table]).select(names)], 0
        for piece in self._source.chunks(table, names):
            pieces.append(piece)
            row_count += piece.height
            if row_count > MOST_ROWS:
                self._long_tables.add(table)
                self._frames.pop(table, None)
                return None
        self._frames[table] = pl.concat(pieces, rechunk=True)
        return self._frames[table]


def kept_run(run: Run) -> Run:
    """The run with columns that are read once."""
    from wavewright.model.run import Run

    return Run([KeptSource(source) for source in run.origins], is_kept=True)
