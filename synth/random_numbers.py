"""Reproducible random numbers."""

from __future__ import annotations

from random import Random


def seeded(*parts: object) -> Random:
    """A generator that depends on nothing but `parts`."""
    return Random("/".join(map(str, parts)))  # noqa: S311 - test data, nothing secret
