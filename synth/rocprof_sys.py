"""Rows that rocprof-sys (ROCm Systems Profiler) adds to a ROCpd database: AMD-SMI polls, process values, call stacks.

Made by the rules of its writer: one event per poll, shared by one `pmc_event` and one `sample` per quantity, on a track
with the name of the quantity and without a thread; one region and one sample per frame of a call stack, outermost
first. No real file was at hand.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

__all__ = ["CPU_UNITS", "GPU_UNITS", "Poll", "Stack", "add_samples"]

#: Quantities of a GPU and of the process with the units that the writer stores.
GPU_UNITS = {
    "device_busy_gfx": "%",
    "device_temp": "°C",
    "device_power": "W",
    "device_memory_usage": "MB",
    "device_clock_gfx": "MHz",
}
CPU_UNITS = {
    "cpu_frequency": "MHz",
    "process_page_fault": "",
    "process_virtual_memory": "MB",
    "process_memory_hwm": "MB",
    "process_context_switch": "",
    "process_user_cpu_time": "sec",
    "process_kernel_cpu_time": "sec",
    "comm_data_sent": "bytes",
    "comm_data_received": "bytes",
}


@dataclass(frozen=True)
class Poll:
    """The values of one agent at one time."""

    time_ns: int
    agent_id: int
    values: Mapping[str, float]


@dataclass(frozen=True)
class Stack:
    """A call stack of a thread over a stretch of time, outermost frame first."""

    start_ns: int
    end_ns: int
    frames: Sequence[str]
    thread: int = 0  #: Number of the thread among those of the file.


def add_samples(path: Path, polls: Sequence[Poll], stacks: Sequence[Stack] = ()) -> None:
    """Add samples to the only run of a ROCpd database."""
    with closing(sqlite3.connect(path)) as database, database:
        writer = _Writer(database)
        for poll in polls:
            writer.poll(poll)
        for stack in stacks:
            writer.stack(stack)


class _Writer:
    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        ((name,),) = database.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'rocpd\\_string\\_%' ESCAPE '\\'"
        ).fetchall()
        self._suffix = name.removeprefix("rocpd_string")
        self._node, self._pid = database.execute(f"SELECT nid, id FROM rocpd_info_process{self._suffix}").fetchone()  # noqa: S608
        threads = database.execute(f"SELECT id FROM rocpd_info_thread{self._suffix} ORDER BY id")  # noqa: S608
        self._threads = [number for (number,) in threads]
        self._strings: dict[str, int] = {}
        self._tracks: dict[str, int] = {}
        self._counters: dict[tuple[str, int], int] = {}

    def _add(self, table: str, **row: Any) -> int:
        columns, marks = ", ".join(f'"{name}"' for name in row), ", ".join("?" * len(row))
        sql = f"INSERT INTO rocpd_{table}{self._suffix} ({columns}) VALUES ({marks})"  # noqa: S608
        return self._database.execute(sql, list(row.values())).lastrowid or 0

    def _string(self, text: str) -> int:
        if text not in self._strings:
            sql = f"SELECT id FROM rocpd_string{self._suffix} WHERE string = ?"  # noqa: S608
            stored = self._database.execute(sql, [text]).fetchone()
            self._strings[text] = stored[0] if stored else self._add("string", string=text)
        return self._strings[text]

    def _track(self, name: str, thread: int | None = None) -> int:
        if name not in self._tracks:
            where = {"nid": self._node, "pid": self._pid, "tid": thread}
            self._tracks[name] = self._add("track", name_id=self._string(name), **where)
        return self._tracks[name]

    def _counter(self, name: str, agent_id: int) -> int:
        key = (name, agent_id)
        if key not in self._counters:
            is_gpu = name in GPU_UNITS
            self._counters[key] = self._add(
                "info_pmc", nid=self._node, pid=self._pid, agent_id=agent_id, target_arch="GPU" if is_gpu else "CPU",
                name=name, symbol=name, units=(GPU_UNITS | CPU_UNITS)[name], value_type="ABS",
            )  # fmt: skip
        return self._counters[key]

    def poll(self, poll: Poll) -> None:
        is_gpu = any(name in GPU_UNITS for name in poll.values)
        category = "amd_smi" if is_gpu else "process_sampling"
        links = {"stack_id": 0, "parent_stack_id": 0, "correlation_id": 0}
        event = self._add("event", category_id=self._string(category), **links)
        for name, value in poll.values.items():
            self._add("pmc_event", event_id=event, pmc_id=self._counter(name, poll.agent_id), value=value)
            self._add("sample", track_id=self._track(name), timestamp=poll.time_ns, event_id=event)

    def stack(self, stack: Stack) -> None:
        thread = self._threads[stack.thread]
        track = self._track(f"timer_sampling_{thread}", thread)
        for frame in stack.frames:
            call = json.dumps({"name": frame, "pc": "0x1000", "file": "main.cpp"})
            event = self._add("event", category_id=self._string("timer_sampling"), stack_id=0, call_stack=call)
            self._add(
                "region", nid=self._node, pid=self._pid, tid=thread, start=stack.start_ns, end=stack.end_ns,
                name_id=self._string(frame), event_id=event,
            )  # fmt: skip
            self._add("sample", track_id=track, timestamp=stack.start_ns, event_id=event)
