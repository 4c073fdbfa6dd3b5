"""`Run`: a run of an application, of one or many processes, as tables that are read when first used."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from wavewright.base.shown import shown
from wavewright.errors import UsageError
from wavewright.model.display import WithTables
from wavewright.model.losses import LOSSES
from wavewright.model.run_tables import NUMBERED, REFERENCES, RUN
from wavewright.model.schema import empty_frame, frame_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence

    import polars as pl

    from wavewright.model.losses import Loss


class RunSource(Protocol):
    """The interface of readers: the tables of one file, column by column, in chunks that fit into memory.

    Numbers of rows (`process`, `agent`, ...) count from 0 within the source. `losses` may grow while tables are read.
    """

    path: str
    format: str
    version: str
    #: Tables that only this format has (an RPD file's ext_callstack, ...), by their own names.
    extras: Mapping[str, pl.DataFrame]

    @property
    def losses(self) -> list[Loss]:
        """The losses so far."""

    def chunks(self, table: str, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """The rows of a table in chunks, with these columns in this order; nothing when there are no rows."""


@dataclass
class MemorySource:
    """A source whose tables are in memory: formats that can only be read completely, selections, tests."""

    path: str
    format: str
    version: str = ""
    tables: dict[str, pl.DataFrame] = field(default_factory=dict)
    losses: list[Loss] = field(default_factory=list)
    extras: Mapping[str, pl.DataFrame] = field(default_factory=dict)

    def chunks(self, table: str, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """The table as one chunk; missing columns are null."""
        import polars as pl

        if table in self.tables:
            frame, dtypes = self.tables[table], RUN[table].dtypes
            yield frame.with_columns(
                pl.col(name).cast(dtypes[name]) if name in frame.columns else pl.lit(None, dtypes[name]).alias(name)
                for name in columns
            ).select(columns)


class Run(WithTables):
    """A run of an application as polars frames; nothing is read before it is used.

    The tables and their columns are documented in `docs/reference/run-tables.md`; `run.dispatches` and
    `run.table("dispatches")` are the same frame and are cached; `read` and `chunks` read some columns only and cache
    nothing.

    Examples
    --------
    >>> Run([]).dispatches.height
    0
    """

    specs = RUN

    def __init__(self, sources: Sequence[RunSource], *, is_kept: bool = False) -> None:
        self.origins = tuple(sources)  # The sources the tables are read from, in the order of `run.sources`.
        self.is_kept = is_kept  # Whether what is read stays in memory, for many questions (`kept_source`).
        self.answers: dict[Hashable, Any] = {}
        self._tables: dict[str, pl.DataFrame] = {}
        self._counts: dict[str, list[int]] = {}

    def __repr__(self) -> str:
        """Summary of the contents on one line."""
        from wavewright.base.words import counted

        counts = ", ".join(counted(self.count(name), name) for name in ("processes", "dispatches", "copies", "regions"))
        formats = ", ".join(dict.fromkeys(source.format for source in self.origins)) or "no file"
        return f"<Run: {counts}; {formats}>"

    @property
    def parts(self) -> list[Run]:
        """One run per source: the input of a worker of a cluster."""
        if len(self.origins) == 1:
            return [self]
        parts = [Run([source], is_kept=self.is_kept) for source in self.origins]
        return self.answers.setdefault("parts", parts) if self.is_kept else parts

    def read(self, table: str, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """These columns of a table (None = all), of all sources. Raises `UsageError` for an unknown table or column."""
        import polars as pl

        names = self._checked(table, columns)
        parts = list(self.chunks(table, names))
        empty = empty_frame(RUN[table]).select(names)
        return pl.concat([empty, *parts], rechunk=True) if parts else empty

    def chunks(self, table: str, columns: Sequence[str] | None = None) -> Iterator[pl.DataFrame]:
        """These columns of a table (None = all), in chunks of at most about a million rows."""
        import polars as pl

        names = self._checked(table, columns)
        if table in self._tables:
            yield self._tables[table].select(names)
            return
        if computed_frame := {"sources": self._sources_frame, "losses": self._losses_frame}.get(table):
            yield computed_frame().select(names)
            return
        dtypes = RUN[table].dtypes  # counter_info.symbol is a string
        references = [name for name in names if name in REFERENCES and dtypes[name] == pl.UInt32]
        for number, source in enumerate(self.origins):
            shifts = {name: self._before(REFERENCES[name], number) for name in references}  # to numbers of the run
            for piece in source.chunks(table, names):
                shifted_columns = [pl.col(name) + pl.lit(by, pl.UInt32) for name, by in shifts.items() if by]
                yield piece.with_columns(shifted_columns) if shifted_columns else piece

    def count(self, table: str) -> int:
        """Number of rows of a table; one column of it is read."""
        names = self._checked(table, None)
        return sum(piece.height for piece in self.chunks(table, names[:1]))

    def table(self, name: str) -> pl.DataFrame:
        """The complete table `name`, cached; or one of the extra tables of a source, with `source`.

        Raises `UsageError` when there is no table of that name.
        """
        if name in RUN:
            if name == "losses":
                return self._losses_frame()
            if name not in self._tables:
                self._tables[name] = self.read(name)
            return self._tables[name]
        return self._extra(name)

    @property
    def extra_names(self) -> list[str]:
        """Names of the tables that only the formats at hand have."""
        return sorted({name for source in self.origins for name in source.extras})

    def sql(self, query: str) -> pl.DataFrame:
        """The rows of one SELECT, as `wavewright query` gives them.

        It reads the stable views (`kernels`), the tables of the run (`run.dispatches`) and what its databases store
        (`rocpd_op`). Raises `UsageError` when it is not one SELECT, cannot be run, or gives more than five million rows
        or a GiB.

        >>> Run([]).sql("SELECT COUNT(*) AS n FROM kernels").item()
        0
        """
        from importlib import import_module

        # By name: engines are of a stage above the model.
        frame: pl.DataFrame = import_module("wavewright.analysis.run.query").query(self, query)
        return frame

    def _checked(self, table: str, columns: Sequence[str] | None) -> list[str]:
        spec = RUN.get(table)
        if spec is None:
            raise UsageError(f"no table {table!r}", advice=f"tables: {', '.join((*RUN, *self.extra_names))}")
        unknown = [name for name in columns or () if name not in spec.names]
        if unknown:
            raise UsageError(f"table {table} has no column {unknown[0]!r}", advice=f"columns: {', '.join(spec.names)}")
        return spec.names if columns is None else list(columns)

    def _extra(self, name: str) -> pl.DataFrame:
        import polars as pl

        frames = [
            source.extras[name].select(pl.lit(number, pl.UInt32).alias("source"), pl.all())
            for number, source in enumerate(self.origins)
            if name in source.extras
        ]
        if not frames:
            self._checked(name, None)
        return pl.concat(frames, how="diagonal_relaxed")

    def _before(self, table: str, number: int) -> int:
        """Number of rows of a numbered table in the sources before source `number`."""
        if number == 0 or table == "sources":
            return number
        if table not in self._counts:
            key = NUMBERED[table]
            pieces_by_source = (source.chunks(table, [key]) for source in self.origins)
            self._counts[table] = [sum(piece.height for piece in pieces) for pieces in pieces_by_source]
        return sum(self._counts[table][:number])

    def _sources_frame(self) -> pl.DataFrame:
        rows = [
            {"source": number, "path": shown(source.path), "format": source.format, "version": source.version}
            for number, source in enumerate(self.origins)
        ]
        return frame_of(RUN["sources"], rows)

    def _losses_frame(self) -> pl.DataFrame:
        import polars as pl

        frames = [run_losses(source.losses, source.path, n) for n, source in enumerate(self.origins)]
        return pl.concat([empty_frame(RUN["losses"]), *frames])


def run_losses(losses: Sequence[Loss], path: str, source: int | None = None) -> pl.DataFrame:
    """Losses of one file as rows of `Run.losses`."""
    rows = [
        {"source": source, "path": shown(path), "is_damage": LOSSES[loss.kind].is_damage}
        | {name: getattr(loss, name) for name in ("kind", "count", "message", "advice")}
        for loss in losses
    ]
    return frame_of(RUN["losses"], rows)
