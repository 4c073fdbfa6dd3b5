"""Cells that are written by what tells them from their siblings: names of kernels, and paths."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavewright.base.compression import PACKED_SUFFIXES
from wavewright.base.names_form import NAMES_FORM

if TYPE_CHECKING:
    from collections.abc import Iterable


class KernelName(str):
    """The name of a kernel in few characters; a table writes it anew, by what tells it from the others."""

    __slots__ = ("full",)
    full: str

    def __new__(cls, full: str, width: int) -> KernelName:
        """The name in at most `width` characters; `--names full` has no such limit."""
        from wavewright.analysis.run.calls.kernel_names import (  # without polars where unused
            readable_names,
            short_names,
        )

        is_full = NAMES_FORM.get() == "full"
        label = super().__new__(cls, readable_names([full])[full] if is_full else short_names([full], width)[full])
        label.full = full
        return label


class Placed(str):
    """A label that starts with a path; a table leaves out what its paths have in common."""

    __slots__ = ("path", "rest")
    path: str
    rest: str

    def __new__(cls, path: str, rest: str = "", shown: str = "") -> Placed:
        """What is shown of the path (its last part), and the rest."""
        label = super().__new__(cls, (shown or path.rstrip("/").rpartition("/")[2] or path) + rest)
        label.path, label.rest = path, rest
        return label


def brief_paths(paths: Iterable[str]) -> dict[str, str]:
    """Paths without the folders that they have in common at the start, and without common ends; one keeps its name.

    Examples
    --------
    >>> brief_paths(["/data/a/results.db", "/data/b/results.db"])
    {'/data/a/results.db': 'a', '/data/b/results.db': 'b'}
    >>> brief_paths(["/data/a/results.db"]), brief_paths(["runs/1.db", "runs/x/2.db"])
    ({'/data/a/results.db': 'results.db'}, {'runs/1.db': '1', 'runs/x/2.db': 'x/2'})
    """
    parts = {path: _unpacked(path.rstrip("/")).split("/") for path in dict.fromkeys(paths)}
    if len(parts) < 2:
        return {path: words[-1] or path for path, words in parts.items()}
    shortest = min(map(len, parts.values()))
    start = next((n for n in range(shortest) if len({words[n] for words in parts.values()}) > 1), shortest - 1)
    start = min(start, shortest - 1)
    depths = range(1, shortest - start)
    stop = next((n for n in depths if len({words[-n] for words in parts.values()}) > 1), len(depths) + 1) - 1
    brief = {path: "/".join(words[start : len(words) - stop]) or path for path, words in parts.items()}
    ends = {text.rpartition(".")[2] if "." in text[1:] else "" for text in brief.values()}
    end = next(iter(ends)) if len(ends) == 1 else ""
    return {path: text.removesuffix(f".{end}") if end else text for path, text in brief.items()}


def _unpacked(path: str) -> str:
    """A path without the suffix of a compressed file."""
    return next((path.removesuffix(end) for end in PACKED_SUFFIXES if path.endswith(end)), path)
