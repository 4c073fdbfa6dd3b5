"""Names of places in plots about traces."""

from __future__ import annotations

from wavewright.base.shown import printable

_LONGEST = 18


def short_place(file: str | None, line: int | None) -> str:
    """A source line by the name of its file alone; empty = not known.

    Examples
    --------
    >>> short_place("/home/a/src/gemm.hip", 18), short_place(None, None)
    ('gemm.hip:18', '')
    """
    if not file:
        return ""
    name = printable(file.rstrip("/").rpartition("/")[2])
    name = name if len(name) <= _LONGEST else f"…{name[1 - _LONGEST :]}"
    return name if line is None else f"{name}:{line}"
