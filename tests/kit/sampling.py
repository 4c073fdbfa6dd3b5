"""Sweeps and examples of which `make test` runs a part and `make test-all` the rest."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import pytest

#: WAVEWRIGHT_EXAMPLES -> how many of the examples that a property asks for are tried.
EFFORTS = {"same": 0.25, "full": 1.0, "search": 20.0}
_FEWEST_EXAMPLES = 5


def effort() -> str:
    """The key of EFFORTS that this run was asked for."""
    return os.environ.get("WAVEWRIGHT_EXAMPLES", "same")


def examples(count: int) -> int:
    """The examples to try of `count`."""
    return max(min(count, _FEWEST_EXAMPLES), round(count * EFFORTS[effort()]))


def every_third(values: Iterable[Any]) -> list[Any]:
    """The first, the fourth, the seventh ...; the others are marked slow."""
    return [pytest.param(value, marks=() if i % 3 == 0 else pytest.mark.slow) for i, value in enumerate(values)]


def every_third_pair(rows: Iterable[Any], columns: Iterable[Any]) -> list[Any]:
    """A third of all pairs, in which every row and every column occurs; the others are marked slow."""
    all_columns = list(columns)
    return [
        pytest.param(
            row, column, marks=() if (i + j) % 3 == 0 else pytest.mark.slow, id=f"{_named(row)}-{_named(column)}"
        )
        for i, row in enumerate(rows)
        for j, column in enumerate(all_columns)
    ]


def covering(rows: Iterable[Any], columns: Iterable[Any]) -> list[Any]:
    """All pairs, of which those are quick that let every row and every column occur; the others are marked slow."""
    all_rows, all_columns = list(rows), list(columns)
    quick = {(i % len(all_rows), i % len(all_columns)) for i in range(max(len(all_rows), len(all_columns)))}
    return [
        pytest.param(
            row, column, marks=() if (i, j) in quick else pytest.mark.slow, id=f"{_named(row)}-{_named(column)}"
        )
        for i, row in enumerate(all_rows)
        for j, column in enumerate(all_columns)
    ]


def thirds(columns: Iterable[Any]) -> list[Any]:
    """Each column with one third (0, 1 or 2: where to begin in the rows) by turns; its other two are marked slow.

    For a test that tries `rows[third::3]` in one go: every row meets every third column.
    """
    return [
        pytest.param(column, (i + turn) % 3, marks=pytest.mark.slow if turn else (), id=f"{_named(column)}-{turn}")
        for i, column in enumerate(columns)
        for turn in range(3)
    ]


def _named(value: Any) -> str:
    return " ".join(value) if isinstance(value, tuple) else getattr(value, "__name__", str(value))
