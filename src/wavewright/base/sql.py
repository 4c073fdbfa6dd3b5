"""Quoting of untrusted SQL identifiers."""

from __future__ import annotations


def quoted(name: str) -> str:
    """A name of a table or column as a quoted SQL identifier.

    >>> quoted('a"b')
    '"a""b"'
    """
    return '"' + name.replace('"', '""') + '"'
