"""Suggestions for a refused query: names of views, tables and columns that resemble the unknown one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from wavewright.analysis.run.contents.views import VIEWS
from wavewright.analysis.run.query.tables_in_query import stored_columns, used
from wavewright.model.run_tables import RUN

_TABLE = re.compile(r'Table with name "?([\w.]+)"? does not exist|no such table: ([\w.]+)')
_COLUMN = re.compile(r'(?:Referenced column|have a column named) "([^"]+)"|no such column: (?:\w+\.)?(\w+)')
_ADVICE = "`wavewright schema` lists the views and tables with their columns"
_MOST = 3


def advice(reason: str, sql: str = "", file_columns: Mapping[str, Sequence[str]] | None = None) -> str:
    """Advice after an engine refused a query for this reason; `file_columns` are relations of files with their columns.

    Examples
    --------
    >>> advice("no such table: kernelz").split("?")[0]
    'did you mean kernel, kernels, top_kernels'
    >>> advice("no such column: nme", "SELECT nme FROM kernels").split("?")[0]
    'did you mean name'
    """
    similar: list[str] = []
    if table := _TABLE.search(reason):
        labels = {name: name for name in (*(file_columns or {}), *VIEWS)} | {name: f"run.{name}" for name in RUN}
        similar = _similar(table[1] or table[2], labels)
    elif column := _COLUMN.search(reason):
        named = used(sql)
        file_names = [name for columns in _of_alias(reason, sql, file_columns or {}).values() for name in columns]
        columns = file_names or [name for view in named.views for name in VIEWS[view].names]
        columns += [name for table_name in named.tables for name in stored_columns(table_name)] if not columns else []
        similar = _similar(column[1] or column[2], {name: name for name in columns})
    return f"did you mean {', '.join(similar)}? {_ADVICE}" if similar else _ADVICE


def _of_alias(reason: str, sql: str, file_columns: Mapping[str, Sequence[str]]) -> Mapping[str, Sequence[str]]:
    """Of the relations the one that is called so in the statement (`FROM rocpd_op o`: o), where a column names it."""
    if (prefix := re.search(r"no such column: (\w+)\.", reason)) and (
        table := re.search(rf"\b(\w+)\s+(?:as\s+)?{prefix[1]}\b", sql, re.IGNORECASE)
    ):
        return {name: columns for name, columns in file_columns.items() if name == table[1].lower()} or file_columns
    return file_columns


def _similar(name: str, candidates: dict[str, str]) -> list[str]:
    """The names that resemble one, in any case; views go before tables of the same name."""
    by_lower: dict[str, str] = {}
    for candidate, label in candidates.items():
        by_lower.setdefault(candidate.lower(), label)
    return [by_lower[match] for match in get_close_matches(name.rpartition(".")[2].lower(), by_lower, _MOST, 0.6)]
