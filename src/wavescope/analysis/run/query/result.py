"""The result of a query: named columns, and rows in chunks."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wavescope.analysis.run.query.suggestions import advice
from wavescope.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl

PIECE_ROWS = 200_000
_LONGEST_REASON = 400


@dataclass(frozen=True)
class QueryLimits:
    """How large a result may become, and how long the engine may work for it."""

    rows: int = 5_000_000
    mib: int = 1024
    seconds: float = 300.0


class Meter:
    """Holds a result to its limits."""

    def __init__(self, limits: QueryLimits) -> None:
        self._limits = limits
        self._rows = self._bytes = 0
        self._spent_seconds, self._began = 0.0, time.monotonic()

    @contextmanager
    def running(self) -> Iterator[None]:
        """The engine runs inside the block; work on its rows outside does not count."""
        self._began = time.monotonic()
        try:
            yield
        finally:
            self._spent_seconds += time.monotonic() - self._began

    def has_time(self) -> bool:
        """Whether the engine may continue; called while it runs."""
        return self._spent_seconds + time.monotonic() - self._began < self._limits.seconds

    def count(self, piece: pl.DataFrame) -> pl.DataFrame:
        """The next rows.

        Raises
        ------
        UsageError
            When they are too many.
        """
        self._rows += piece.height
        self._bytes += int(piece.estimated_size())
        if self._rows > self._limits.rows:
            raise _beyond(self._limits.rows, "rows", "--max-rows")
        if self._bytes > self._limits.mib << 20:
            raise _beyond(self._limits.mib, "MiB", "--max-mib")
        return piece

    def too_long(self) -> UsageError:
        """The error when the time limit is reached."""
        what = f"the query takes longer than {self._limits.seconds:g} seconds"
        return UsageError(what, advice="select less, or raise --max-seconds")


def _beyond(most: int, unit: str, option: str) -> UsageError:
    what = f"the query returns more than {most:,} {unit}"
    return UsageError(what, advice=f"use LIMIT, GROUP BY or WHERE, or raise {option}")


@dataclass(frozen=True)
class QueryResult:
    """The rows of a query; `pieces` can be read once."""

    engine: str
    pieces: Iterator[pl.DataFrame]  #: The rows in their order; at least one chunk, which has the columns.


def refused(error: Exception | str, sql: str = "") -> UsageError:
    """The error for a query that cannot be run: the engine's reason, and what may have been meant.

    Examples
    --------
    >>> str(refused('Binder Error: no column "nme"!\\nCandidate bindings: "name"\\n\\nLINE 1: ...')).split("; ")[0]
    'the query was refused: Binder Error: no column "nme"! Candidate bindings: "name"'
    """
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    reasons = lines[:1] + [line for line in lines[1:] if line.startswith("Candidate")]
    reason = " ".join(reasons) or "no reason given"
    return UsageError(f"the query was refused: {reason}"[:_LONGEST_REASON], advice=advice(reason, sql))


def distinct_names(names: Sequence[str]) -> list[str]:
    """Names of columns; repeated names get a number.

    Examples
    --------
    >>> distinct_names(["a", "b", "a"])
    ['a', 'b', 'a_1']
    """
    distinct: list[str] = []
    for name in names:
        number, candidate = 0, name
        while candidate in distinct:
            number += 1
            candidate = f"{name}_{number}"
        distinct.append(candidate)
    return distinct
