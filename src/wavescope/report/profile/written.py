"""What was written, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from wavescope.report.tables import Column, frame_table, printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import RenderableType

__all__ = ["written_report"]

_WORDS = {
    "kernels": ("dispatch", "dispatches"),
    "copies": ("copy", "copies"),
    "regions": ("region", "regions"),
    "samples": ("sample", "samples"),
    "allocations": ("allocation", "allocations"),
    "counters": ("counter value", "counter values"),
    "processes": ("process", "processes"),
}
"""Counts that people ask about, and the words for one and for many."""
_SHOWN = 6
_MANY_FILES = 40


def written_report(outputs: Sequence[Mapping[str, Any]]) -> Iterator[RenderableType]:
    """Outputs (`path`, `bytes`, `counts`), at least one: two lines for one, a table for several.

    Examples
    --------
    >>> [str(line) for line in written_report([{"path": "a.db", "bytes": 4096, "counts": {"kernels": 1}}])]
    ['a.db: 4.1 kB', '  1 dispatch']
    """
    if len(outputs) == 1:
        only = outputs[0]
        yield Text.assemble((printable(only["path"]), "bold"), f": {_size(only['bytes'])}")
        yield Text(f"  {_contents(only['counts'])}")
        return
    import polars as pl

    title = f"{_size(sum(each['bytes'] for each in outputs))} written"
    rows = [{"path": each["path"], "size": each["bytes"], "contents": _contents(each["counts"])} for each in outputs]
    columns = [
        Column("output", lambda row: printable(row["path"]), is_text=True),
        Column("size", lambda row: _size(row["size"])),
        Column("contents", lambda row: row["contents"], is_text=True, takes_rest=True),
    ]
    yield frame_table(pl.DataFrame(rows), columns, limit=_MANY_FILES, what="outputs", title=title)


def _contents(counts: Mapping[str, int]) -> str:
    """The largest counts first."""
    named = {name: count for name, count in counts.items() if name in _WORDS}
    shown = [(name, count) for name, count in (named or counts).items() if count]
    ordered = sorted(shown, key=lambda item: (-item[1], item[0]))[:_SHOWN]
    return (
        ", ".join(f"{count:,} {_WORDS.get(name, (name, name))[count != 1]}" for name, count in ordered) or "no events"
    )


def _size(byte_count: int) -> str:
    size = float(byte_count)
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:,.0f} {unit}" if unit == "bytes" else f"{size:,.1f} {unit}"
        size /= 1000
    return f"{size:,.2f} GB"
