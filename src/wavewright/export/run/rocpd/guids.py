"""The ids (GUIDs) of runs: the recorded ones, or for other formats hashes of the contents."""

from __future__ import annotations

import re
import uuid
from typing import Any

import polars as pl

from wavewright.export.run.event_ids import EVENT_TABLES
from wavewright.model.run import Run

_GUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def guids_of(part: Run) -> list[str]:
    """One id per process: the same content gives the same id, wherever the file is."""
    processes = part.table("processes")
    stored = [(guid or "").lower() for guid in processes["guid"]]
    contents = _contents(part, processes.height) if not all(map(is_guid, stored)) else []
    guids = []
    for number, guid in enumerate(stored):
        if is_guid(guid):
            guids.append(guid)
            continue
        row = processes.row(number, named=True)
        node = row["node"]
        host = part.table("nodes").row(node) if node is not None else ()
        content_key = (guid, host, row["pid"], row["rank"], row["command"], row["init_ns"], contents[number])
        guids.append(str(uuid.uuid5(uuid.NAMESPACE_URL, f"wavewright:{content_key!r}")))
    return guids


def is_guid(text: str) -> bool:
    """True if it is a GUID in the form that names of tables contain."""
    return _GUID.fullmatch(text) is not None


def _contents(part: Run, count: int) -> list[list[Any]]:
    """For each process the number of rows of each table of events, and the sums of their times."""
    by_process: list[list[Any]] = [[] for _ in range(count)]
    for table in EVENT_TABLES:
        begin, end = ("time_ns", "time_ns") if table == "samples" else ("start_ns", "end_ns")
        for piece in part.chunks(table, list(dict.fromkeys(["process", begin, end]))):
            sums = piece.group_by("process").agg(
                pl.len(), pl.col(begin).cast(pl.Float64).sum().alias("begin"), pl.col(end).sum().alias("end")
            )
            for process, rows, first, last in sums.sort("process").iter_rows():
                by_process[process or 0].append((table, rows, first, last))
    return by_process
