"""A run as one JSON object: table -> column -> values."""

from __future__ import annotations

from pathlib import Path
from typing import IO, TYPE_CHECKING

from wavescope.base.shown import shown
from wavescope.export.kit.json_text import encode
from wavescope.export.kit.staging import staged
from wavescope.export.kit.written import Written
from wavescope.model.run_tables import RUN
from wavescope.model.stored import RUN_FORMAT, RUN_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike

    import polars as pl

    from wavescope.model.run import Run

_COLUMNS_AT_ONCE = 8  #: Tables are read a few columns at a time, so that a long one need not be in memory.
_PIECE_ROWS = 1 << 16


def write_run_json(run: Run, out: str | PathLike[str], *, force: bool = False) -> Written:
    """Write `{"format", "version", "tables": {table: {column: [...]}}, "extras": {table: {column: [...]}}}`.

    The tables and columns are those of `docs/reference/run-tables.md`; `extras` are the tables that only the
    format of the source has. `pandas.DataFrame(file["tables"]["dispatches"])` is a table of pandas.

    Raises
    ------
    UsageError
        When the file exists and `force` is not given.
    WavescopeError
        When the file cannot be written.
    """
    target = Path(out)
    counts: dict[str, int] = {}
    with staged([target], force=force) as (twin,), twin.open("wb") as stream:
        head = encode({"format": RUN_FORMAT, "version": RUN_VERSION})
        stream.write(head.removesuffix(b"}") + b',"tables":{')
        for number, (name, spec) in enumerate(RUN.items()):
            stream.write((b"," if number else b"") + encode(name) + b":{")
            counts[name] = _write_table(run, name, spec.names, stream)
            stream.write(b"}")
        stream.write(b'},"extras":{')
        for number, name in enumerate(run.extra_names):
            frame = run.table(name)
            stream.write((b"," if number else b"") + encode(shown(name)) + b":{")
            for at, series in enumerate(frame.iter_columns()):
                _write_column(series.name, [series], stream, is_first=at == 0)
            stream.write(b"}")
            counts[name] = frame.height
        stream.write(b"}}\n")
    return Written(target, {name: count for name, count in counts.items() if count})


def _write_table(run: Run, table: str, names: list[str], stream: IO[bytes]) -> int:
    height = 0
    for start in range(0, len(names), _COLUMNS_AT_ONCE):
        group = names[start : start + _COLUMNS_AT_ONCE]
        pieces = list(run.chunks(table, group))
        height = sum(piece.height for piece in pieces)
        for name in group:
            _write_column(name, (piece[name] for piece in pieces), stream, is_first=name == names[0])
    return height


def _write_column(name: str, pieces: Iterable[pl.Series], stream: IO[bytes], *, is_first: bool) -> None:
    stream.write((b"" if is_first else b",") + encode(shown(name)) + b":[")
    separator = b""
    for piece in pieces:
        for start in range(0, piece.len(), _PIECE_ROWS):
            stream.write(separator + encode(piece.slice(start, _PIECE_ROWS).to_list())[1:-1])
            separator = b","
    stream.write(b"]")
