"""Texts of the source files that debug lines name, from below one folder that the user chose."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from wavescope.model.schema import THREAD_TRACE

if TYPE_CHECKING:
    import os

    import polars as pl

    from wavescope.model.thread_trace import ThreadTrace

__all__ = ["add_sources", "read_sources"]

MAX_SOURCE_BYTES = 16 << 20
"""Larger files are not source texts that anybody reads."""


def read_sources(code: pl.DataFrame, source_root: str | os.PathLike[str] | None) -> pl.DataFrame:
    """The `sources` table: every file that the `code` table names, with its text where it can be found.

    A file is looked for below `source_root` only, by its whole path first and then by ever shorter ends of it, so
    that a tree that was built elsewhere is found too. Links that lead out of the folder are not followed.

    Examples
    --------
    >>> import polars as pl
    >>> code = pl.DataFrame({"inline_chain": ["/src/a.hip:4 -> /src/b.hip:9", None]})
    >>> read_sources(code, None)["file"].to_list()
    ['/src/a.hip', '/src/b.hip']
    """
    import polars as pl

    places = code["inline_chain"].drop_nulls().unique(maintain_order=True).str.split(" -> ").explode()
    files = places.str.replace(r":[^:]*$", "").unique(maintain_order=True).to_list()
    root = None if source_root is None else Path(source_root).resolve()
    texts = [None if root is None else _text_below(root, file) for file in files]
    schema = THREAD_TRACE["sources"].dtypes
    return pl.DataFrame({"file": files, "text": texts}, schema=schema)


def add_sources(trace: ThreadTrace, source_root: str | os.PathLike[str]) -> None:
    """Put texts from below `source_root` into the trace, for files whose text it does not hold.

    Examples
    --------
    >>> from wavescope.model import ThreadTrace, TraceSource
    >>> trace = ThreadTrace({}, TraceSource(path="nothing"))
    >>> add_sources(trace, ".")
    >>> trace.sources.height
    0
    """
    import polars as pl

    held = trace.sources.filter(pl.col("text").is_not_null())
    missing = trace.code.filter(pl.col("inline_chain").is_not_null())
    found = read_sources(missing, source_root).filter(~pl.col("file").is_in(held["file"].implode()))
    trace.tables["sources"] = pl.concat([held, found])


def _text_below(root: Path, file: str) -> str | None:
    parts = [part for part in PurePosixPath(file).parts if part not in ("/", "..", ".")]
    for start in range(len(parts)):
        found = root.joinpath(*parts[start:])
        try:
            inside = found.resolve().is_relative_to(root) and found.is_file()
            if inside and found.stat().st_size <= MAX_SOURCE_BYTES:
                return found.read_text("utf-8", "replace")
        except (OSError, ValueError):  # ValueError: a name with a NUL character
            continue
    return None
