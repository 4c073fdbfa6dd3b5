"""What a query gave: named columns, and rows in pieces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wavescope.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl

__all__ = ["PIECE_ROWS", "QueryResult", "distinct_names", "refused"]

PIECE_ROWS = 200_000


@dataclass(frozen=True)
class QueryResult:
    """The rows that a query gave; `pieces` can be taken once."""

    engine: str
    pieces: Iterator[pl.DataFrame]
    """The rows in their order; at least one piece, which has the columns."""


def refused(error: Exception | str) -> UsageError:
    """The error for a query that cannot be run.

    Examples
    --------
    >>> refused("no such table: kernelz").advice
    '`wavescope schema` lists the views and tables with their columns'
    """
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    what = "the query was refused: " + (lines[0] if lines else "no reason given")
    return UsageError(what[:400], advice="`wavescope schema` lists the views and tables with their columns")


def distinct_names(names: Sequence[str]) -> list[str]:
    """Names of columns; those that occur again get a number.

    Examples
    --------
    >>> distinct_names(["a", "b", "a"])
    ['a', 'b', 'a_1']
    """
    found: list[str] = []
    for name in names:
        number, made = 0, name
        while made in found:
            number += 1
            made = f"{name}_{number}"
        found.append(made)
    return found
