"""Sweeps of which `make test` runs a third and `make test-slow` the rest."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def every_third(values: Iterable[Any]) -> list[Any]:
    """The first, the fourth, the seventh ...; the others are marked slow."""
    return [pytest.param(value, marks=() if i % 3 == 0 else pytest.mark.slow) for i, value in enumerate(values)]


def every_third_pair(rows: Iterable[Any], columns: Iterable[Any]) -> list[Any]:
    """A third of all pairs, in which every row and every column occurs; the others are marked slow."""
    all_columns = list(columns)
    return [
        pytest.param(row, column, marks=() if (i + j) % 3 == 0 else pytest.mark.slow, id=f"{row}-{column}")
        for i, row in enumerate(rows)
        for j, column in enumerate(all_columns)
    ]
