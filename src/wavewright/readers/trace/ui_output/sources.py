"""snapshots.json and the source copies next to it. Nothing outside of the directory is ever read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from wavewright.model.losses import Loss
from wavewright.model.schema import THREAD_TRACE
from wavewright.readers.files.folder import Folder
from wavewright.readers.trace.ui_output.parts import load_json, readable

FILE_NAME = "snapshots.json"
MAX_DEPTH = 128  #: Folders in folders of the tree; deeper ones are left out.
MAX_SOURCE_BYTES = 16 << 20  #: Larger files are not source texts that anybody reads.
MAX_TOTAL_BYTES = 256 << 20  #: Texts of one trace in all; a tree of sources is a few megabytes.


def read_snapshots(folder: Folder, losses: list[Loss]) -> dict[str, str]:
    """Path in the debug lines -> name of the copy, for the copies that are in the folder.

    Names are untrusted: one that is not the plain name of a file of the folder counts as missing.
    """
    names = folder.names()
    if FILE_NAME not in names:
        return {}
    paths = dict(_leaves(load_json(folder, FILE_NAME, losses)))
    snapshots = {path: name for path, name in paths.items() if name in names}
    missing_names = [name for name in paths.values() if name not in names]
    if missing_names:
        others = f" and {len(missing_names) - 1} more" if len(missing_names) > 1 else ""
        losses.append(Loss("missing_sources", len(missing_names), detail=readable(missing_names[0])[:200] + others))
    return snapshots


def _leaves(tree: object) -> Iterator[tuple[str, str]]:
    """(path, name of the copy) of a nested object; iterative, because the nesting is untrusted."""
    stack = [("", tree, 0)]
    while stack:
        prefix, node, depth = stack.pop()
        if isinstance(node, str):
            yield readable(prefix), node
        elif isinstance(node, dict) and depth < MAX_DEPTH:
            join = "" if prefix.endswith("/") or not prefix else "/"
            stack += [(f"{prefix}{join}{name}", child, depth + 1) for name, child in reversed(node.items())]


def source_table(folder: Folder, snapshots: Mapping[str, str], code: pl.DataFrame) -> pl.DataFrame:
    """The `sources` table: every file that the code names or that was copied, with its text where it is here."""
    places = code["inline_chain"].drop_nulls().unique(maintain_order=True).str.split(" -> ").explode()
    named = places.str.replace(r":[^:]*$", "").unique(maintain_order=True).to_list()
    files = list(dict.fromkeys([*snapshots, *named]))
    bytes_left = MAX_TOTAL_BYTES
    texts = []
    for file in files:
        text = _text(folder, snapshots[file], bytes_left) if file in snapshots else None
        bytes_left -= len(text or "")
        texts.append(text)
    schema = THREAD_TRACE["sources"].dtypes
    return pl.DataFrame({"file": files, "text": texts}, schema=schema)


def _text(folder: Folder, name: str, bytes_max: int) -> str | None:
    """None when the copy cannot be read or is too large to be a source text."""
    try:
        path = folder.path_of(name)
        if path is not None and path.stat().st_size > min(MAX_SOURCE_BYTES, bytes_max):
            return None
        content = folder.read(name)
    except OSError:
        return None
    return content.decode("utf-8", "replace") if len(content) <= min(MAX_SOURCE_BYTES, bytes_max) else None
