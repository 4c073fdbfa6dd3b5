"""Paths written by what tells them from their siblings."""

from __future__ import annotations

from collections.abc import Iterable

from wavewright.base.compression import without_packing


def brief_paths(paths: Iterable[str]) -> dict[str, str]:
    """Paths without the folders that they have in common at the start, and without common ends; one keeps its name.

    >>> brief_paths(["/data/a/results.db", "/data/b/results.db"])
    {'/data/a/results.db': 'a', '/data/b/results.db': 'b'}
    >>> brief_paths(["/data/a/results.db"]), brief_paths(["runs/1.db", "runs/x/2.db"])
    ({'/data/a/results.db': 'results.db'}, {'runs/1.db': '1', 'runs/x/2.db': 'x/2'})
    """
    parts = {path: without_packing(path.rstrip("/")).split("/") for path in dict.fromkeys(paths)}
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
