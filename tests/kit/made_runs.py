"""Runs in memory for tests that say themselves which events happen."""

from __future__ import annotations

from typing import Any

import polars as pl

from wavewright.model.run import MemorySource, Run
from wavewright.model.run_tables import RUN
from wavewright.model.schema import frame_of

Row = dict[str, Any]


def source(
    path: str = "run.db", *, host: str = "host", pid: int = 1, gpus: int = 2, **tables: list[Row]
) -> MemorySource:
    """One process on `host` with agents 0 (CPU) and 1..gpus; events get process 0 and thread 0, dispatches agent 1."""
    agents: list[Row] = [{"agent": 0, "process": 0, "kind": "CPU", "absolute_index": 0, "type_index": 0}]
    agents += [
        {"agent": n + 1, "process": 0, "kind": "GPU", "absolute_index": n + 1, "type_index": n, "target": "gfx942"}
        for n in range(gpus)
    ]
    frames: dict[str, list[Row]] = {
        "nodes": [{"node": 0, "machine_id": f"id of {host}", "hostname": host}],
        "processes": [{"process": 0, "source": 0, "node": 0, "pid": pid, "rank": pid}],
        "threads": [{"thread": n, "process": 0, "tid": pid + n} for n in range(4)],
        "agents": agents,
        "streams": [{"stream": n, "process": 0, "stream_id": n} for n in range(4)],
    }
    defaults = {"dispatches": {"agent": 1, "name": "k", "stream": 0}, "copies": {"stream": 1, "name": "copy"}}
    for name, rows in tables.items():
        common = {"process": 0, "thread": 0} if "process" in RUN[name].names else {}
        more = {k: v for k, v in (common | defaults.get(name, {})).items() if k in RUN[name].names}
        frames[name] = [more | row for row in rows]
    return MemorySource(path, "test", tables={name: frame_of(RUN[name], rows) for name, rows in frames.items()})


def run(**tables: list[Row]) -> Run:
    """A run of one source."""
    return Run([source("run.db", host="host", pid=1, gpus=2, **tables)])


def spans(*pairs: tuple[int, int], **more: Any) -> list[Row]:
    """Events from begins and ends."""
    return [{"start_ns": begin, "end_ns": end} | more for begin, end in pairs]


def rows(frame: pl.DataFrame, *columns: str) -> list[tuple[Any, ...]]:
    return frame.select(columns).rows()
