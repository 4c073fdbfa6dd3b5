"""Profiles of rocprof-sys, as AMD's documentation shows them: sums over calls, with the call that each is in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from wavewright.errors import NotATraceError
from wavewright.readers.files.kinds import Kind, sniff
from wavewright.readers.run.inputs import open_run

_HEADER = """|-----------------------------|
|   REAL-CLOCK TIMER          |
|-----------------------------|
|  LABEL  | COUNT  | DEPTH  |   METRIC   | UNITS  |   SUM     |   MEAN    |   MIN     |   MAX     | % SELF |
|---------|--------|--------|------------|--------|-----------|-----------|-----------|-----------|--------|
"""
_ROWS = """| |00>>> main               | 1 | 0 | wall_clock | sec | 13.5 | 13.5 | 13.5 | 13.5 | 18.2 |
| |00>>> |_parallel [n=12]   | 2 | 1 | wall_clock | sec | 10.5 | 5.25 | 5.0 | 5.5 | 0.0 |
| |00>>>   |_a|b             | 4 | 2 | wall_clock | sec | 1.0 | 0.25 | 0.25 | 0.25 | 0.0 |
| |00>>> |_write             | 1 | 1 | wall_clock | sec | 0.5 | 0.5 | 0.5 | 0.5 | 0.0 |
| |01>>> start_thread        | 1 | 0 | wall_clock | sec | 3.0 | 3.0 | 3.0 | 3.0 | 0.0 |
"""


def node(prefix: str, depth: int, laps: int, total: float) -> dict[str, Any]:
    sums = {"sum": total, "count": laps, "min": total, "max": total, "mean": total / laps, "stddev": 0.0}
    return {"hash": 1, "prefix": prefix, "depth": depth, "entry": {"laps": laps, "repr_data": total}, "stats": sums}


def totals(path: Path) -> pl.DataFrame:
    run = open_run(path)
    assert run.losses["kind"].to_list()[-1] == "sums_only"
    return run.table("call_totals")


def test_a_table(tmp_path: Path) -> None:
    path = tmp_path / "wall_clock-7.txt"
    path.write_text(_HEADER + _ROWS + "|----|\n")
    assert sniff(path) is Kind.CALL_TOTALS
    rows = totals(path).select("thread", "depth", "name", "parent", "count", "sum", "unit").rows()
    assert rows == [
        (0, 0, "main", None, 1, 13.5, "sec"),
        (0, 1, "parallel [n=12]", 0, 2, 10.5, "sec"),
        (0, 2, "a|b", 1, 4, 1.0, "sec"),
        (0, 1, "write", 0, 1, 0.5, "sec"),
        (1, 0, "start_thread", None, 1, 3.0, "sec"),
    ]


def test_json_of_two_ranks(tmp_path: Path) -> None:
    graph = [node("|0>>> main", 0, 1, 2.0), node("|0>>> |_read_input", 1, 4, 0.5)]
    ranks = [{"rank": rank, "graph_size": 2, "graph": graph} for rank in (0, 1)]
    path = tmp_path / "wall_clock.json"
    path.write_text(json.dumps({"timemory": {"wall_clock": {"unit_repr": "sec", "ranks": ranks}}}))
    frame = totals(path)
    assert frame.select("rank", "name", "parent", "count", "sum", "mean").rows() == [
        (0, "main", None, 1, 2.0, 2.0),
        (0, "read_input", 0, 4, 0.5, 0.125),
        (1, "main", None, 1, 2.0, 2.0),
        (1, "read_input", 2, 4, 0.5, 0.125),
    ]
    assert open_run(path).processes["rank"].to_list() == [0, 1]


@pytest.mark.parametrize(
    "content",
    ['{"timemory": ', '{"timemory": {"wall_clock": {"ranks": [[1, {"graph": 3}]]}}}', '{"timemory": ' + "[" * 100_000],
)
def test_what_holds_no_sums(content: str, tmp_path: Path) -> None:
    path = tmp_path / "wall_clock.json"
    path.write_text(content)
    with pytest.raises(NotATraceError):
        open_run(path)
