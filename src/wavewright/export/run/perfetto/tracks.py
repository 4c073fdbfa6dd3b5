"""The tracks of a run: processes with their threads, and GPUs with their streams or queues."""

from __future__ import annotations

from typing import Any

import polars as pl

from wavewright.export.run.labels import per_distinct_row
from wavewright.export.run.perfetto.packets import Packets, counter_track, process_track, thread_track
from wavewright.model.run import Run
from wavewright.model.run_labels import agent_label, process_label, program_of

_FIRST_MADE_UP_PID = 1 << 22  #: Linux gives no process a greater number.
_GPU_RANK, _COUNTER_RANK = 1000, 2000  #: Places of tracks below their process: GPUs, then counters.


class Tracks:
    """The tracks of one source; processes, threads and agents are named by their rows in its tables."""

    def __init__(self, packets: Packets, run: Run, used_pids: set[int], *, group_by: str) -> None:
        self._packets = packets
        self._group = group_by
        self._processes = run.read("processes").to_dicts()
        self._agents = run.read("agents").to_dicts()
        key = f"{group_by}_id"
        table = run.read("streams" if group_by == "stream" else "queues", [key, "name"])
        self._lines = dict(enumerate(table.iter_rows()))  # row number of a stream or queue -> its id and name
        hostnames = run.read("nodes", ["hostname"])["hostname"].to_list()
        self._pids: list[int] = []
        process_tracks = []
        for row in self._processes:
            pid = _free_pid(row["pid"], used_pids)
            self._pids.append(pid)
            kind = process_track(pid, process_label(row, hostnames), row["command"] or "", row["start_ns"])
            process_tracks.append(packets.track(kind=kind))
        self.processes = pl.Series(process_tracks, dtype=pl.UInt64)
        owners = run.read("threads", ["process", "tid", "name"])
        threads = [self._thread(row) for row in owners.iter_rows()]
        self._thread_count = len(threads)
        self.places = pl.Series([*threads, *process_tracks], dtype=pl.UInt64)  # Tracks of threads, then of processes.
        self.place_processes = pl.Series([*owners["process"], *range(len(process_tracks))], dtype=pl.UInt32)
        self._unknown: int | None = None
        self.agent_labels = pl.Series([agent_label(agent) for agent in self._agents], dtype=pl.String)
        self._tracks: dict[tuple[Any, ...], int] = {}

    def place_of(self, frame: pl.DataFrame) -> pl.Series:
        """The number of each row's track among `places`: its `thread`, else its `process`."""
        numbers = frame.select(pl.coalesce(pl.col("thread"), pl.col("process") + self._thread_count)).to_series()
        if numbers.null_count():
            if self._unknown is None:
                self._unknown = self.places.len()
                self.places = self.places.extend(pl.Series([self._packets.track("no process")], dtype=pl.UInt64))
                self.place_processes = self.place_processes.extend(pl.Series([None], dtype=pl.UInt32))
            numbers = numbers.fill_null(self._unknown)
        return numbers

    def of_gpus(self, frame: pl.DataFrame) -> pl.Series:
        """The track of each row by its `process`, `agent` and `line` (the stream or queue)."""
        return per_distinct_row(frame.select("process", "agent", "line"), self._line_track, pl.UInt64)

    def counter(self, process: int | None, agent: int | None, name: str, *, is_bytes: bool = False) -> int:
        """The counter track of an agent (None = of the process); `{agent}` in its name stands for the agent's label."""
        if agent is not None:
            name = name.replace("{agent}", self.agent_labels[agent])
        key = ("counter", process, agent, name)
        if key not in self._tracks:
            parent = self._agent_track(process, agent)
            kind = counter_track(is_bytes=is_bytes)
            self._tracks[key] = self._packets.track(name, parent, kind, _COUNTER_RANK + len(self._tracks))
        return self._tracks[key]

    def _thread(self, row: tuple[int | None, int | None, str | None]) -> int:
        process, tid, name = row
        if process is None:
            return self._packets.track(name or f"Thread {tid}")
        owner = self._processes[process]
        if not name:
            name = program_of(owner) if tid == owner["pid"] and program_of(owner) else f"Thread {tid}"
        parent = self.processes[process]
        if tid is None or not 0 <= tid < 1 << 31:
            return self._packets.track(name, parent)
        return self._packets.track(parent=parent, kind=thread_track(self._pids[process], tid, name))

    def _agent_track(self, process: int | None, agent: int | None) -> int:
        parent = 0 if process is None else int(self.processes[process])
        if agent is None:
            return parent
        key = ("agent", process, agent)
        if key not in self._tracks:
            label = self.agent_labels[agent]
            self._tracks[key] = self._packets.track(label, parent, rank=_GPU_RANK + agent)
        return self._tracks[key]

    def _line_track(self, process: int | None, agent: int | None, line: int | None) -> int:
        key = ("line", process, agent, line)
        if key not in self._tracks:
            parent = self._agent_track(process, agent)
            number, name = self._lines[line] if line is not None else (None, f"no {self._group}")
            label = name or f"{self._group.capitalize()} {number}"
            self._tracks[key] = self._packets.track(label, parent, rank=-1 if line is None else line)
        return self._tracks[key]


def _free_pid(pid: int | None, used_pids: set[int]) -> int:
    """A pid that no other process has: Perfetto knows processes by pid alone, and nodes use the same ones."""
    if pid is None or not 0 < pid < 1 << 31 or pid in used_pids:
        pid = max((_FIRST_MADE_UP_PID, *(other + 1 for other in used_pids)))
    used_pids.add(pid)
    return pid
