"""Are two runs the same, table by table?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from wavewright.model.run_tables import RUN

if TYPE_CHECKING:
    from collections.abc import Collection

    from wavewright.model.run import Run

NOT_COMPARED = ("sources", "losses")
_ZERO_OR_NONE = ("graph_exec", "graph_node")
_EMPTY_TEXT = ("region_name",)
_EMPTY_JSON = ("properties", "event_properties", "call_stack", "line_info")


def differences(one: Run, other: Run, without: Collection[str] = ()) -> list[str]:
    """Columns that differ, as `table.column`; what is empty and what is not there (JSON, graph, region) is the same."""
    found = []
    for table in RUN:
        if table in NOT_COMPARED or table in without:
            continue
        first, second = _plain(one.read(table)), _plain(other.read(table))
        if first.height != second.height:
            found.append(f"{table}: {first.height} and {second.height} rows")
            continue
        found += [
            f"{table}.{name}"
            for name in first.columns
            if f"{table}.{name}" not in without and not first[name].equals(second[name])
        ]
    return found


def _plain(frame: pl.DataFrame) -> pl.DataFrame:
    fills = [pl.col(name).fill_null(0) for name in _ZERO_OR_NONE if name in frame.columns]
    fills += [pl.col(name).fill_null("{}") for name in _EMPTY_JSON if name in frame.columns]
    fills += [pl.col(name).cast(pl.String).fill_null("") for name in _EMPTY_TEXT if name in frame.columns]
    return frame.with_columns(fills).drop("source", strict=False)
