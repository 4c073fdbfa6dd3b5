"""snapshots.json and the copies of source files that the listed code refers to."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from wavewright.export.kit.json_text import encode

if TYPE_CHECKING:
    import polars as pl

    from wavewright.model.trace import ThreadTrace

_CHAIN = " -> "
_NAME_BYTES_MAX = 200  #: File systems take 255 bytes; the prefix needs some.


def source_files(trace: ThreadTrace, listing: pl.DataFrame) -> dict[str, bytes]:
    """`source_<i>_<base name>` for every source text that `listing` refers to, and snapshots.json that maps them.

    Paths only become keys inside snapshots.json; the files themselves have tame names in the directory.
    """
    paths = _referred_paths(listing)
    tree: dict[str, Any] = {}
    files: dict[str, bytes] = {}
    for path, text in trace.sources.select("file", "text").iter_rows():
        name = f"source_{len(files)}_{_tame(path)}"
        if path in paths and text is not None and _insert(tree, _components(path), name):
            files[name] = text.encode()
    return files | {"snapshots.json": encode(tree)} if files else {}


def _referred_paths(listing: pl.DataFrame) -> set[str]:
    """Paths in the instructions' sources, each `path:line`; labels carry signatures there instead."""
    chains = listing.drop_nulls("row")["source"].unique().to_list()
    return {place.rpartition(":")[0] for chain in chains for place in chain.split(_CHAIN)}


def _components(path: str) -> list[str]:
    """Parts of a path; the root is a separate part, `.` and `..` stay as they are."""
    root = ["/"] if path.startswith("/") else []
    return root + [part for part in path.split("/") if part]


def _insert(tree: dict[str, Any], components: list[str], name: str) -> bool:
    """Hang `name` into the tree; not possible where a file would have to be a folder as well."""
    if not components:
        return False
    for component in components[:-1]:
        tree = tree.setdefault(component, {})
        if not isinstance(tree, dict):
            return False
    return bool(tree.setdefault(components[-1], name) == name)


def _tame(path: str) -> str:
    """The base name, without characters that are special to shells, terminals or other file systems."""
    base = re.sub(r"[^\w.+\-]", "_", path.rpartition("/")[2])
    return base.encode()[-_NAME_BYTES_MAX:].decode(errors="ignore")
