"""Ids of tracks in a Chrome trace: processes (CPU processes and GPUs) and threads (and queues)."""

from __future__ import annotations

import json
from collections.abc import Hashable, Sequence
from functools import cached_property, partial
from typing import Any

import polars as pl

from wavewright.export.run.labels import per_distinct_row
from wavewright.model.run import Run

_GPU_SORT = 1_000_000  #: Sorts GPUs behind processes.
_ABOVE_PIDS = 10_000_000  #: Greater than any pid.
_CHROME_FORMATS = ("Kineto", "Chrome trace")


class _Numbers:
    """Numbers of keys: the preferred number of a key, or a free one above all pids if another key has it."""

    def __init__(self) -> None:
        self._of: dict[Hashable, int] = {}
        self._taken: set[int] = set()
        self._next = _ABOVE_PIDS

    def number(self, key: Hashable, preferred: int) -> int:
        if key not in self._of:
            while preferred in self._taken:
                preferred, self._next = self._next, self._next + 1
            self._taken.add(preferred)
            self._of[key] = preferred
        return self._of[key]


class TrackIds:
    """Numbers of processes, threads, GPUs and their tracks (queues), and the events that name them.

    Ids are those of the recording where they differ. A GPU that several processes of a node use is one; GPUs of files
    that do not name their node are kept apart. RPD files look as rpd2tracing shows them.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._formats = dict(run.sources.select("source", "format").iter_rows())
        self._pids = _Numbers()
        self._tids: dict[int, _Numbers] = {}
        self._gpu_names: dict[int, str] = {}
        self.devices: dict[int, int] = {}  #: The process that shows a GPU -> the number of that GPU on its node.
        self._gpus_shown: set[int] = set()
        self._tracks_shown: dict[tuple[int, int], str] = {}

    @cached_property
    def _processes(self) -> list[dict[str, Any]]:
        nodes = self._run.read("nodes", ["node", "hostname", "machine_id", "hash"])
        columns = ["process", "source", "node", "pid", "rank", "command"]
        return self._run.read("processes", columns).join(nodes, on="node", how="left").sort("process").to_dicts()

    def is_rpd(self, process: int | None) -> bool:
        """True if a process was read from an RPD file."""
        return self._format(process) == "RPD"

    def is_chrome(self, process: int | None) -> bool:
        """True if a process was read from a Chrome trace, whose events have args."""
        return self._format(process) in _CHROME_FORMATS

    def _format(self, process: int | None) -> str | None:
        if process is None or process >= len(self._processes):
            return None
        return self._formats.get(self._processes[process]["source"])

    def detail_columns(self, columns: Sequence[str]) -> list[str]:
        """`columns`, and the recorded properties if a source is an RPD file or a Chrome trace."""
        has_properties = not {"RPD", *_CHROME_FORMATS}.isdisjoint(self._formats.values())
        return [*columns, *(["properties"] if has_properties else ())]

    def shows_graphs(self, process: int | None) -> bool:
        """True if launches of graphs are shown: of RPD files, only if RPD's tool found them."""
        return not self.is_rpd(process) or "rocpd_graphLaunchapi" in self._run.extra_names

    @cached_property
    def rank(self) -> int | None:
        """The rank of all processes; None = they have several, or none."""
        ranks = {process["rank"] for process in self._processes}
        return ranks.pop() if len(ranks) == 1 else None

    def rank_of(self, process: int | None) -> int | None:
        """The rank of a process, where there are several ranks."""
        if process is None or process >= len(self._processes) or self.rank is not None:
            return None
        rank: int | None = self._processes[process]["rank"]
        return rank

    @cached_property
    def agents(self) -> pl.DataFrame:
        """agent -> `gpu`, the process that shows it; CPUs have none."""
        columns = ["agent", "process", "agent_id", "kind", "absolute_index", "target", "product"]
        rows = self._run.read("agents", columns).filter(pl.col("kind") == "GPU").to_dicts()
        pairs = [(row["agent"], self._gpu(row)) for row in rows]
        return pl.DataFrame(pairs, schema={"agent": pl.UInt32, "gpu": pl.Int64}, orient="row")

    def _gpu(self, row: dict[str, Any]) -> int:
        order = ("agent_id", "absolute_index") if self.is_rpd(row["process"]) else ("absolute_index", "agent_id")
        index = next((row[name] for name in order if row[name] is not None), row["agent"])
        process = self._processes[row["process"]] if row["process"] is not None else {}
        host = process.get("machine_id") or process.get("hostname") or process.get("hash")
        number = self._pids.number(("gpu", host or ("source", process.get("source")), index), index)
        self.devices.setdefault(number, index)
        details = "" if self.is_rpd(row["process"]) else f" {row['product'] or row['target'] or ''}".rstrip()
        self._gpu_names.setdefault(number, f"GPU{index}{details}{self._host_text(process)}")
        return number

    def _host_text(self, process: dict[str, Any]) -> str:
        hosts = {row["hostname"] for row in self._processes}
        return f" ({process['hostname']})" if len(hosts) > 1 and process.get("hostname") else ""

    @cached_property
    def threads(self) -> pl.DataFrame:
        """thread -> `pid` and `tid`."""
        _ = self.agents  # GPUs get their numbers first, so that GPU 2 is process 2
        rows = self._run.read("threads", ["thread", "process", "tid"]).to_dicts()
        ids = []
        for row in rows:
            pid = self.pid(row["process"])
            tid = self._tids.setdefault(pid, _Numbers()).number(("thread", row["thread"]), row["tid"] or 0)
            ids.append((row["thread"], pid, tid))
        return pl.DataFrame(ids, schema={"thread": pl.UInt32, "pid": pl.Int64, "tid": pl.Int64}, orient="row")

    def pid(self, process: int | None) -> int:
        """The number of a CPU process."""
        if process is None:
            return self._pids.number("no process", 0)
        pid = self._processes[process]["pid"]
        return self._pids.number(("process", process), process if pid is None else pid)

    def tracks(self, work: pl.DataFrame, *, are_copies: bool) -> pl.Series:
        """The track of each piece of work (with `gpu`, `process`, `queue`, `stream`): its queue, else its stream.

        Copies have tracks of their own, but for RPD files, where they are in the queues of kernels.
        """
        keys = work.select("gpu", "process", "queue", pl.when(pl.col("queue").is_null()).then("stream").alias("stream"))
        return per_distinct_row(keys, partial(self._track, are_copies=are_copies), pl.Int64)

    def _track(self, gpu: int, process: int | None, queue: int | None, stream: int | None, *, are_copies: bool) -> int:
        is_rpd = self.is_rpd(process)
        kind = "copies" if are_copies and not is_rpd else "work"
        numbers = self._tids.setdefault(gpu, _Numbers())
        label, number = "no queue", None
        if queue is not None:
            label, number = "queue", self.queue_ids[queue]
        elif stream is not None:
            label, number = "stream", self.stream_ids[stream]
        tid = numbers.number((kind, process, queue, stream), number or 0)
        label = label if number is None else f"{label} {number}"
        if not is_rpd:
            self._tracks_shown[gpu, tid] = f"copies, {label}" if kind == "copies" else label
        self._gpus_shown.add(gpu)
        return tid

    @cached_property
    def queue_ids(self) -> pl.Series:
        """The ids of queues, by number."""
        return self._run.read("queues", ["queue_id"])["queue_id"]

    @cached_property
    def stream_ids(self) -> pl.Series:
        """The ids of streams, by number."""
        return self._run.read("streams", ["stream_id"])["stream_id"]

    def events(self) -> list[str]:
        """The events that name processes, GPUs, threads and tracks that were shown."""
        metadata: list[dict[str, Any]] = []
        for gpu in sorted(self._gpus_shown):
            metadata += _named("process", gpu, None, self._gpu_names[gpu], gpu + _GPU_SORT)
        for process in self._processes:
            if not self.is_rpd(process["process"]):
                rank = f"rank {process['rank']}, " if process["rank"] is not None else ""
                command_words = (process["command"] or "process").split()
                name = f"{(command_words or ['process'])[0].rsplit('/', 1)[-1]} ({rank}pid {process['pid']})"
                metadata += _named(
                    "process", self.pid(process["process"]), None, name + self._host_text(process), process["process"]
                )
        threads = self._run.read("threads", ["thread", "process", "name"]).join(self.threads, on="thread")
        for _, process, name, pid, tid in threads.sort("thread").iter_rows():
            label = f"Hip {tid}" if self.is_rpd(process) else name or f"Thread {tid}"
            metadata += _named("thread", pid, tid, label, 2 * tid)
        for (gpu, tid), name in sorted(self._tracks_shown.items()):
            metadata += _named("thread", gpu, tid, name, tid)
        return [json.dumps(event) for event in metadata]


def _named(kind: str, pid: int, tid: int | None, name: str, sort_index: int) -> list[dict[str, Any]]:
    place = {"ph": "M", "pid": pid} | ({} if tid is None else {"tid": tid})
    return [
        place | {"name": f"{kind}_name", "args": {"name": name}},
        place | {"name": f"{kind}_sort_index", "args": {"sort_index": sort_index}},
    ]
