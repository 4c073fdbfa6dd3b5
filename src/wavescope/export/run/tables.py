"""The tables of a run as a folder of columnar files, written piece by piece."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import polars as pl
from polars.io.plugins import register_io_source

from wavescope.base.shown import is_text, shown
from wavescope.errors import OutputError
from wavescope.export.kit.json_text import encode
from wavescope.export.kit.staging import staged
from wavescope.export.kit.written import Written
from wavescope.model.run_tables import RUN
from wavescope.model.stored import RUN_FORMAT, RUN_MANIFEST, RUN_VERSION, crc32_of

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator

    from wavescope.model.run import Run

Encoding = Literal["parquet", "arrow"]
_MADE = ("sources", "losses")  #: Tables that a run makes itself; the manifest has their content.


def write_tables(run: Run, out: str | os.PathLike[str], encoding: Encoding, *, force: bool = False) -> Written:
    """Write `<table>.<encoding>` for every table of a run, its extra tables, and a manifest.

    Raises
    ------
    UsageError
        When the folder exists and must not be replaced.
    WavescopeError
        When it cannot be written.
    """
    target = Path(out)
    with staged([target], force=force, mark=RUN_MANIFEST) as (twin,):
        twin.mkdir()
        tables: dict[str, Any] = {}
        for name, spec in RUN.items():
            if name not in _MADE:
                tables[name] = _write(run.chunks(name), spec.dtypes, twin, f"{name}.{encoding}")
        extras = {}
        for number, name in enumerate(run.extra_names):
            frame = run.table(name)  # named by strangers, so the file is numbered
            extras[shown(name)] = _write([frame], dict(frame.schema), twin, f"extra_{number}.{encoding}")
        described = {
            "format": RUN_FORMAT,
            "version": RUN_VERSION,
            "encoding": encoding,
            "sources": _sources(run),
            "tables": tables,
            "extras": extras,
        }
        (twin / RUN_MANIFEST).write_bytes(encode(described))
    counts = {name: entry["row_count"] for name, entry in (tables | extras).items()}
    return Written(target, {name: count for name, count in counts.items() if count})


def _write(pieces: Iterable[pl.DataFrame], schema: dict[str, Any], folder: Path, file: str) -> dict[str, Any]:
    """Stream the pieces into a file; what stops them is raised as it was."""
    rows, problems = 0, list[BaseException]()

    def produced(*_: object) -> Iterator[pl.DataFrame]:
        nonlocal rows
        try:
            for piece in pieces:
                rows += piece.height
                yield piece
        except BaseException as error:
            problems.append(error)
            raise

    frame = register_io_source(produced, schema=schema)
    try:
        with nullcontext(folder / file) if is_text(folder) else (folder / file).open("wb") as target:
            if file.endswith("parquet"):
                frame.sink_parquet(target, compression="zstd")
            else:
                frame.sink_ipc(target)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        if problems:
            raise problems[0] from None
        what = f"cannot write the output: {str(error)[:200]}"
        raise OutputError(what, where=file, advice="check free space and permissions") from error
    return {"file": file, "row_count": rows, "columns": list(schema), "crc32": crc32_of(folder / file)}


def _sources(run: Run) -> list[dict[str, Any]]:
    return [
        {
            "path": shown(source.path),
            "format": source.format,
            "version": shown(source.version),
            "losses": [
                {"kind": loss.kind, "count": loss.count, "detail": shown(loss.detail)} for loss in source.losses
            ],
        }
        for source in run.origins
    ]
