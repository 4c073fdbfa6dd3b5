"""Texts of the source files that debug lines name, from below one folder that the user chose."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath

import polars as pl

from wavewright.base.files import is_inside, not_read, read_regular
from wavewright.model.losses import refused_losses
from wavewright.model.schema import THREAD_TRACE
from wavewright.model.trace import ThreadTrace
from wavewright.readers.files.folder import Directory
from wavewright.readers.trace.assemble import add_losses
from wavewright.readers.trace.ui_output.sources import FILE_NAME, MAX_SOURCE_BYTES, read_snapshots, source_table


def read_sources(
    code: pl.DataFrame, source_root: str | os.PathLike[str] | None, refused: dict[str, str] | None = None
) -> pl.DataFrame:
    """The `sources` table: every file that the `code` table names, with its text where it can be found.

    A file is looked for below `source_root` only, by its whole path first and then by ever shorter ends of it, so
    that a tree that was built elsewhere is found too; a `snapshots.json` there, as AMD's tools write it, goes first.
    Links that lead out of the folder are not followed: they are put into `refused`, with the reason.

    >>> import polars as pl
    >>> code = pl.DataFrame({"inline_chain": ["/src/a.hip:4 -> /src/b.hip:9", None]})
    >>> read_sources(code, None)["file"].to_list()
    ['/src/a.hip', '/src/b.hip']
    """
    places = code["inline_chain"].drop_nulls().unique(maintain_order=True).str.split(" -> ").explode()
    files = places.str.replace(r":[^:]*$", "").unique(maintain_order=True).to_list()
    root = None if source_root is None else Path(source_root).resolve()
    refusals = {} if refused is None else refused
    copies = {} if root is None else _copies(root, code)
    texts = [copies.get(file) or (None if root is None else _text_below(root, file, refusals)) for file in files]
    schema = THREAD_TRACE["sources"].dtypes
    return pl.DataFrame({"file": files, "text": texts}, schema=schema)


def _copies(root: Path, code: pl.DataFrame) -> dict[str, str | None]:
    """The texts that a `snapshots.json` in a folder names."""
    if not (root / FILE_NAME).is_file():
        return {}
    folder = Directory(root)
    return dict(source_table(folder, read_snapshots(folder, []), code).iter_rows())


def add_sources(trace: ThreadTrace, source_root: str | os.PathLike[str]) -> None:
    """Add source texts from below `source_root` to the trace, for files without text."""
    with_text = trace.sources.filter(pl.col("text").is_not_null())
    rows = trace.code.filter(pl.col("inline_chain").is_not_null())
    refusals: dict[str, str] = {}
    texts = read_sources(rows, source_root, refusals).filter(~pl.col("file").is_in(with_text["file"].implode()))
    trace.tables["sources"] = pl.concat([with_text, texts])
    add_losses(trace, refused_losses(refusals))


def add_sources_beside(trace: ThreadTrace, place: Path) -> None:
    """Add source texts from the folder `src` of an input, which `open` and exported pages show by default.

    A link `src` that leads out of the input is not followed: nobody asked for what is there.
    """
    root = place / "src"
    if not root.is_dir():
        return
    if is_inside(root, place):
        add_sources(trace, root)
    else:
        add_losses(trace, refused_losses({"src": not_read(root, place)}))


def _text_below(root: Path, file: str, refusals: dict[str, str]) -> str | None:
    parts = [part for part in PurePosixPath(file).parts if part not in ("/", "..", ".")]
    for start in range(len(parts)):
        path = root.joinpath(*parts[start:])
        try:
            if not path.exists():
                continue
            reason = not_read(path, root)
            if reason:
                refusals["/".join(parts[start:])] = reason
            elif path.is_file() and path.stat().st_size <= MAX_SOURCE_BYTES:
                return read_regular(path).decode("utf-8", "replace")
        except (OSError, ValueError):  # ValueError: a name with a NUL character
            continue
    return None
