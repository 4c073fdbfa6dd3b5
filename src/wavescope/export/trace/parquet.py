"""A thread trace as Parquet files: one per table, and a manifest."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from wavescope.export.kit.description import describe
from wavescope.export.kit.json_text import encode
from wavescope.export.kit.staging import staged
from wavescope.model.schema import THREAD_TRACE
from wavescope.model.stored import MANIFEST, crc32_of

if TYPE_CHECKING:
    import os

    from wavescope.model.trace import ThreadTrace


def write_parquet(trace: ThreadTrace, directory: str | os.PathLike[str], *, force: bool = False) -> Path:
    """Write `<table>.parquet` for every table of `trace`, and `wavescope.json` with their row counts and checksums.

    Parameters
    ----------
    directory
        The directory to make; its parents are made too.
    force
        Replace an earlier export.

    Raises
    ------
    UsageError
        When the directory exists and must not be replaced.
    WavescopeError
        When it cannot be written.
    """
    target = Path(directory)
    with staged([target], force=force, mark=MANIFEST) as (twin,):
        twin.mkdir()
        tables: dict[str, Any] = {}
        for name in THREAD_TRACE:
            table = trace.table(name)
            file = f"{name}.parquet"
            with (twin / file).open("wb") as stream:  # polars itself opens only names that are UTF-8
                table.write_parquet(stream)
            stored = {"file": file, "row_count": table.height, "columns": table.columns}
            tables[name] = stored | {"crc32": crc32_of(twin / file)}
        (twin / MANIFEST).write_bytes(encode(describe(trace) | {"tables": tables}))
    return target
