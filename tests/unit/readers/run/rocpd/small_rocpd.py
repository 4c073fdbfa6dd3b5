"""Small ROCpd files, row by row, from the declared layout."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

from wavewright.model.run import Run
from wavewright.readers.files.sqlite import Database
from wavewright.readers.run.rocpd import read_rocpd
from wavewright.readers.run.rocpd.layout import StoredTable, stored_tables, suffix_of

GUID = "0000ddb5-8903-7903-b269-cd8d3745bb8a"
OTHER = "0000ddb5-8903-7903-b269-000000000002"
TEXTS = ("", "HIP_RUNTIME_API", "hipLaunchKernel", "MARKER_CORE_RANGE_API", "roctxRangePushA", "COPY")


class SmallRocpd:
    """One run of one process: fill with `add`, then `run`."""

    def __init__(self, path: Path, guid: str = GUID, version: str = "3", suffix: str | None = None) -> None:
        self.path = path
        self.guid = guid
        self.suffix = suffix_of(guid) if suffix is None else suffix
        self.tables = stored_tables(version)
        self.database = sqlite3.connect(path)
        self.database.execute("PRAGMA synchronous=OFF")
        for table in self.tables.values():
            self.database.execute(_create(table, self.suffix))
        self.add("metadata", tag="schema_version", value=version)
        self.add("metadata", tag="guid", value=guid)
        self.add("info_node", id=9, hash=5, machine_id="m", hostname="host")
        self.add("info_process", id=77, nid=9, pid=77, environment='{"RANK": "3", "TOKEN": "secret"}')
        self.add("info_thread", id=78, nid=9, pid=77, tid=78)
        self.add("info_agent", id=4, nid=9, pid=77, type="GPU", type_index=0, extdata='{"cu_count": 304}')
        for number, text in enumerate(TEXTS, 1):
            self.add("string", id=number, string=text)
        self.add("info_code_object", id=1, nid=9, pid=77, agent_id=4)
        self.add("info_kernel_symbol", id=6, nid=9, pid=77, code_object_id=1, kernel_name="_Zg", display_name="gemm")

    def add(self, table: str, **values: Any) -> None:
        """One row; what is not said is null, the guid is the run's."""
        if table != "metadata":
            values.setdefault("guid", self.guid)
        columns = ", ".join(f'"{name}"' for name in values)
        marks = ", ".join("?" * len(values))
        statement = f'INSERT INTO "rocpd_{table}{self.suffix}" ({columns}) VALUES ({marks})'  # noqa: S608 - ours
        self.database.execute(statement, tuple(values.values()))

    def kernel(self, start: int | None = 10, end: int | None = 15, **values: Any) -> None:
        """A dispatch of gemm."""
        row = {"nid": 9, "pid": 77, "tid": 78, "agent_id": 4, "kernel_id": 6, "dispatch_id": 1} | values
        self.add("kernel_dispatch", start=start, end=end, **row)

    def region(self, start: int, end: int, event: dict[str, Any], **values: Any) -> None:
        """A call with its event."""
        self.add("event", **event)
        self.add("region", start=start, end=end, **({"nid": 9, "pid": 77, "tid": 78, "event_id": event["id"]} | values))

    def run(self, *, show_secrets: bool = False) -> Run:
        """What the reader makes of the file."""
        self.database.commit()
        return Run([read_rocpd(Database(self.path), show_secrets=show_secrets)])


def _create(table: StoredTable, suffix: str) -> str:
    columns = ['"id" INTEGER PRIMARY KEY', *(f'"{column.name}" {column.type}' for column in table.columns[1:])]
    return f'CREATE TABLE "rocpd_{table.name}{suffix}" ({", ".join(columns)})'
