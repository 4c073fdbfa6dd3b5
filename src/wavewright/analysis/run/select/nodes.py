"""Nodes of files without host names: which files are of one node, and what all answers call it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise, takewhile
from pathlib import PurePath
from typing import NamedTuple

import polars as pl

_WORD = re.compile(r"[_\-.]")
_ENDING = re.compile(r"(\.(gz|zst|json|csv|db|rpd|rpdb|sqlite3?|pb))+$")
_ARCHIVE = re.compile(r"(?<=tar|tgz|zip|\.gz|\.xz|bz2|zst)!")  #: Between an archive and its member.
_COLUMNS = {"machine": pl.String, "new_machine": pl.String, "new_node": pl.String}


class _Capture(NamedTuple):
    """A recording in a file without host name."""

    path: str
    start_ns: int
    end_ns: int
    rank: int | None


def node_names(times: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """`machine`, `new_machine`, `new_node` of the files without host name, from the results of `recorded`.

    Files of one folder whose names begin with the same word and that were recorded one after the other, not by several
    ranks, are captures of one node: a trace and passes with counters of the same program. Every other file stands for a
    node of its own. Nodes are called after what differs in the paths.
    """
    unnamed = pl.concat(times).filter(~pl.col("is_named"))
    groups: dict[tuple[str, str], list[_Capture]] = {}
    for row in unnamed.select("machine", "start_ns", "end_ns", "rank").sort("start_ns", "end_ns").iter_rows():
        path = PurePath(row[0])
        groups.setdefault((str(path.parent), _WORD.split(path.name, maxsplit=1)[0]), []).append(_Capture(*row))
    machine_of: dict[str, str] = {}
    for captures in groups.values():
        first = min(capture.path for capture in captures) if _is_sequence(captures) else ""
        machine_of |= {capture.path: first or capture.path for capture in captures}
    labels = path_labels(sorted(set(machine_of.values())))
    rows = [(machine, new, labels[new]) for machine, new in machine_of.items()]
    return pl.DataFrame(rows, schema=_COLUMNS, orient="row")


def _is_sequence(captures: Sequence[_Capture]) -> bool:
    """True if recordings, sorted by time, follow each other, and none or one rank made them."""
    ranks = {capture.rank for capture in captures if capture.rank is not None}
    return len(ranks) <= 1 and all(before.end_ns <= after.start_ns for before, after in pairwise(captures))


def renamed(frame: pl.DataFrame, names: pl.DataFrame) -> pl.DataFrame:
    """The frame with the new `machine` and `node`, as far as it has these columns."""
    if not names.height or "machine" not in frame.columns:
        return frame
    new_names = ((name, names[f"new_{name}"]) for name in ("machine", "node"))
    new = [pl.col("machine").replace(names["machine"], values).alias(name) for name, values in new_names]
    return frame.with_columns(new if "node" in frame.columns else new[:1])


def _parts(path: str) -> list[str]:
    """Folders and the name without its endings."""
    return [*PurePath(path).parent.parts, _ENDING.sub("", PurePath(path).name)]


def path_labels(paths: Sequence[str]) -> dict[str, str]:
    """Differences of paths: without folders and first words that all have, and without endings of files.

    >>> list(path_labels(["/data/a/run_kernel_trace.csv", "/data/b/run_kernel_trace.csv"]).values())
    ['a', 'b']
    >>> list(path_labels(["x/decode_fetch.csv", "x/decode_stall.json.gz"]).values()), path_labels(["x/y.json.gz"])
    (['fetch', 'stall'], {'x/y.json.gz': 'y'})
    >>> path_labels(["runs.zip!rank0.csv"])
    {'runs.zip!rank0.csv': 'rank0'}
    """
    parts = {path: _parts(_ARCHIVE.sub("/", path)) for path in paths}
    if len(parts) == 1:
        return {path: parts[path][-1] or path for path in paths}
    while all(len(words) > 1 for words in parts.values()) and len({words[0] for words in parts.values()}) == 1:
        parts = {path: words[1:] for path, words in parts.items()}
    while all(len(words) > 1 for words in parts.values()) and len({words[-1] for words in parts.values()}) == 1:
        parts = {path: words[:-1] for path, words in parts.items()}
    labels = {path: "/".join(words) for path, words in parts.items()}
    # What all labels begin with is left out up to its last separator, unless labels would then be equal.
    same = takewhile(lambda letters: len(set(letters)) == 1, zip(*labels.values(), strict=False))
    common = "".join(letters[0] for letters in same)
    cut = max(common.rfind(mark) for mark in "_-/") + 1
    shorter = {path: label[cut:] or label for path, label in labels.items()}
    return shorter if len(set(shorter.values())) == len(paths) else dict(zip(paths, paths, strict=True))
