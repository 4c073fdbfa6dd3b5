"""Memory snapshots of PyTorch (`torch.cuda.memory._dump_snapshot`) as runs: pickles that are read without unpickling.

| in the file | table |
| --- | --- |
| `alloc`, `free_completed` of `device_traces` | allocations of level FRAMEWORK: bytes that were asked for |
| blocks that are alive and whose allocation is no longer in the trace | allocations at its start |
| frames | frames; allocations with the same stack share the number `event` |
| segments and their blocks, when it was written | the extra table `memory_blocks` |
| `segment_*` of `device_traces` | the extra table `reserved_memory`: what the allocator held from each moment on |
| `external_annotations` | regions |

The trace is a ring: what the allocator held after each event is counted back from what it holds at the end.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl

from wavewright.errors import NotATraceError, WavewrightError
from wavewright.model.losses import Loss
from wavewright.model.run import MemorySource
from wavewright.model.run_tables import RUN
from wavewright.model.schema import frame_of
from wavewright.readers.files.pickles import torch_pickle
from wavewright.readers.files.runs import rank_in
from wavewright.readers.files.text import text_bytes
from wavewright.readers.run.event_rows import finished, with_numbers

_LIMIT = 1 << 31  #: Bytes of a file.
_MOST_FRAMES = 200  #: Of one stack; the innermost are kept.
_LARGEST = 1 << 48  #: Bytes; no GPU has more.
_TAKES, _GIVES = "alloc", "free_completed"
_HOLDS = {"segment_alloc": 1, "segment_map": 1, "segment_free": -1, "segment_unmap": -1}
_UNREAD = ("free_requested", "snapshot", "oom", "workspace_snapshot")
_ALIVE = ("active_allocated", "active_pending_free", "active_awaiting_free")
_ADVICE = "write it with torch.cuda.memory._dump_snapshot(), after torch.cuda.memory._record_memory_history()"
_EVENTS: dict[str, Any] = {
    "device": pl.Int64, "type": pl.String, "address": pl.Int64, "size_bytes": pl.Int64, "stream_id": pl.Int64,
    "start_ns": pl.Int64, "event": pl.Int64, "allocated": pl.Int64, "reserved": pl.Int64,
}  # fmt: skip
_RESERVED_COLUMNS: dict[str, Any] = {"device": pl.Int64, "time_ns": pl.Int64, "reserved_bytes": pl.Int64}
_BLOCKS: dict[str, Any] = {
    "device": pl.Int64, "segment": pl.Int64, "segment_bytes": pl.Int64, "pool": pl.String, "segment_type": pl.String,
    "is_expandable": pl.Boolean, "stream": pl.Int64, "address": pl.Int64, "size_bytes": pl.Int64,
    "requested_bytes": pl.Int64, "state": pl.String, "event": pl.Int64,
}  # fmt: skip


def read_memory_snapshot(path: Path) -> MemorySource:
    """The tables of a snapshot.

    Raises `UsageError, NotATraceError` when it cannot be read, is no snapshot, or would import or call anything:
    nothing of it is ever run.
    """
    root = _fields(torch_pickle(path, text_bytes(path, _LIMIT)))
    if not isinstance(root.get("segments"), list) or not isinstance(root.get("device_traces"), list):
        raise NotATraceError("not a memory snapshot of PyTorch", where=str(path), advice=_ADVICE)
    return _SnapshotRows(root).source(path)


def join_snapshot(source: MemorySource, path: Path) -> None:
    """Put the allocations of a snapshot into the run of the same process, if their times meet.

    A run of several processes, or one that has allocations of its own, stays as it is: a loss says so.
    """
    try:
        snapshot = read_memory_snapshot(path)
    except WavewrightError as error:
        source.losses.append(Loss("unreadable_snapshot", detail=str(error)))
        return
    tables, more = source.tables, snapshot.tables
    times = [tables[name].select(pl.min("start_ns"), pl.max("end_ns")).row(0) for name in ("dispatches", "regions")]
    first = min((low for low, _ in times if low is not None), default=0)
    last = max((high for _, high in times if high is not None), default=0)
    is_own = tables["allocations"].height > 0 or tables["processes"].height != 1
    meetings = more["allocations"].filter(pl.col("start_ns").is_between(first, last))
    if is_own or not meetings.height:
        several = "the run has allocations of its own, or several processes"
        reason = several if is_own else "it was recorded at another time"
        source.losses.append(Loss("snapshot_apart", detail=f"{path.name}: {reason}"))
        return
    index = pl.coalesce("type_index", "absolute_index")
    numbers = {row["absolute_index"]: row["agent"] for row in more["agents"].iter_rows(named=True)}
    gpus = tables["agents"].filter(pl.col("kind") == "GPU").with_columns(index=index)
    places = dict(gpus.select("index", "agent").iter_rows())
    new = max(tables["agents"]["agent"], default=-1) + 1
    agents = {agent: places.get(device, new + agent) for device, agent in numbers.items()}
    others = more["agents"].filter(~pl.col("absolute_index").is_in(list(places)))
    agent_column = pl.col("agent").replace_strict(agents, return_dtype=pl.UInt32)
    tables["agents"] = pl.concat([tables["agents"], others.with_columns(agent_column)], how="diagonal_relaxed")
    allocations = more["allocations"].with_columns(agent_column)
    tables["allocations"] = allocations.drop("thread", "stream", "queue", strict=False)
    tables["frames"] = more["frames"]
    extras = {name: rows.with_columns(agent_column) for name, rows in snapshot.extras.items()}
    source.extras = {**source.extras, **extras}
    source.losses += snapshot.losses


class _SnapshotRows:
    """Rows of the tables of a snapshot."""

    def __init__(self, root: dict[str, Any]) -> None:
        self._root = root
        self._stacks: dict[int, int] = {}  #: Identity of a list of frames -> its number.
        self._same: dict[tuple[str, ...], int] = {}
        self._names: dict[int, str] = {}
        self._unread = 0
        self.reserved: list[tuple[int, int, int]] = []  #: Device, time, bytes that its allocator holds from then on.
        self.blocks = [row for segment in root["segments"] for row in self._blocks(_fields(segment))]
        self.events = [row for device, trace in enumerate(root["device_traces"]) for row in self._trace(device, trace)]

    def source(self, path: Path) -> MemorySource:
        """The tables."""
        losses = [Loss("malformed_events", self._unread, detail="entries of the snapshot")] if self._unread else []
        events = pl.DataFrame(self.events, schema=_EVENTS, orient="row")
        blocks = pl.DataFrame(self.blocks, schema=_BLOCKS, orient="row")
        devices = sorted({*events["device"], *blocks["device"]} - {None})
        agents = [
            {"agent": at, "process": 0, "kind": "GPU"} | dict.fromkeys(("agent_id", "absolute_index"), device)
            for at, device in enumerate(devices)
        ]
        process = {"process": 0, "source": 0, "guid": "", "rank": rank_in(path)}
        tables = {"agents": frame_of(RUN["agents"], agents), "processes": frame_of(RUN["processes"], [process])}
        agent = pl.col("device").replace_strict(devices, list(range(len(devices))), return_dtype=pl.UInt32)
        figures = {"Total Allocated": "allocated", "Total Reserved": "reserved"}
        numbers = [pl.col(name).alias(key) for key, name in figures.items()]
        release_bytes = pl.when(pl.col("type") == "FREE").then(-pl.col("size_bytes")).alias("Bytes")
        allocations = events.with_columns(
            process=pl.lit(0, pl.UInt32),
            agent=agent,
            level=pl.lit("FRAMEWORK"),
            end_ns="start_ns",
            properties=pl.struct(*numbers, release_bytes).struct.json_encode(),
        )
        kinds = {"allocations": allocations, "regions": self._annotations()}
        tables |= with_numbers(kinds, tables)
        stacks = ((number, depth, name) for names, number in self._same.items() for depth, name in enumerate(names))
        frames = pl.DataFrame(stacks, schema={"event": pl.Int64, "depth": pl.Int64, "name": pl.String}, orient="row")
        tables["frames"] = frames.with_columns(process=pl.lit(0, pl.UInt32))
        reserved_rows = pl.DataFrame(self.reserved, schema=_RESERVED_COLUMNS, orient="row")
        extras = {
            name: rows.with_columns(process=pl.lit(0, pl.UInt32), agent=agent).drop("device")
            for name, rows in (("memory_blocks", blocks), ("reserved_memory", reserved_rows))
        }
        return MemorySource(str(path), "PyTorch memory snapshot", "", finished(tables, losses), losses, extras)

    def _blocks(self, segment: dict[str, Any]) -> list[tuple[Any, ...]]:
        size, address = _size(segment.get("total_size")), _integer(segment.get("address"))
        blocks = segment.get("blocks")
        if size is None or address is None or not isinstance(blocks, list):
            self._unread += 1
            return []
        pool = segment.get("segment_pool_id")
        is_private = isinstance(pool, tuple | list) and any(part != 0 for part in pool[:2])
        about = (_integer(segment.get("device")) or 0, address, size, _text(pool)[:80] if is_private else "",
                 _text(segment.get("segment_type")), bool(segment.get("is_expandable")),
                 _integer(segment.get("stream")))  # fmt: skip
        rows, at = [], address
        for block in map(_fields, blocks):
            block_size = _size(block.get("size"))
            if block_size is None:
                self._unread += 1
                continue
            start = _integer(block.get("address"))
            request = _size(block.get("requested_size"))
            state = block.get("state") if block.get("state") in (*_ALIVE, "inactive") else None
            rows.append((*about, at if start is None else start, block_size, block_size if request is None else request,
                         state, self._stack(block.get("frames"))))  # fmt: skip
            at += block_size
        return rows

    def _trace(self, device: int, trace: Any) -> list[tuple[Any, ...]]:
        """Allocations and releases of a device, first those from before the trace that nothing has released."""
        entries = [_fields(entry) for entry in trace] if isinstance(trace, list) else []
        steps: list[tuple[str, int, int, int, Any, int | None]] = []
        for entry in entries:
            action, size, time = entry.get("action"), _size(entry.get("size")), _integer(entry.get("time_us"))
            address = _integer(entry.get("addr"))
            if action not in _UNREAD and None in (size, address):
                self._unread += 1
            elif action not in _UNREAD:
                stack = self._stack(entry.get("frames")) if action == _TAKES else None
                at_ns = (time or 0) * 1000 if abs(time or 0) < 1 << 52 else 0
                steps.append((str(action), int(address or 0), int(size or 0), at_ns, entry.get("stream"), stack))
        gpus = [row for row in self.blocks if row[0] == device]
        alive = [row for row in gpus if row[10] in _ALIVE]
        allocated_bytes = sum(row[9] for row in alive)
        reserved_bytes = sum({row[1]: row[2] for row in gpus}.values())
        rows: list[tuple[Any, ...]] = []
        totals: list[tuple[int, int, int]] = []
        last_taken = {address: at for at, (action, address, *_) in enumerate(steps) if action == _TAKES}
        last_given = {address: at for at, (action, address, *_) in enumerate(steps) if action == _GIVES}
        for action, address, size, time, stream, stack in reversed(steps):
            kind = {_TAKES: "ALLOC", _GIVES: "FREE"}.get(action)
            if kind:
                event = (device, kind, address, size, _integer(stream), time, stack)
                rows.append((*event, allocated_bytes, reserved_bytes))
            allocated_bytes -= size * {"ALLOC": 1, "FREE": -1}.get(kind or "", 0)
            if action in _HOLDS:
                totals.append((device, time, reserved_bytes))
                reserved_bytes -= size * _HOLDS[action]
        start = min((step[3] for step in steps), default=0)
        self.reserved += [(device, start, reserved_bytes), *reversed(totals)] if steps else []
        before = [row for row in alive if last_taken.get(row[7], -1) <= last_given.get(row[7], -1)]
        allocated_bytes -= sum(row[9] for row in before)
        first = []
        for row in before:
            allocated_bytes += row[9]
            first.append((device, "ALLOC", row[7], row[9], row[6], start, row[11], allocated_bytes, reserved_bytes))
        return [*first, *reversed(rows)]

    def _annotations(self) -> pl.DataFrame:
        """Ranges that the application named, whose start and end are entries of their own."""
        rows, starts = [], dict[tuple[Any, ...], list[int]]()
        entries = self._root.get("external_annotations")
        for entry in map(_fields, entries if isinstance(entries, list) else ()):
            name, time = _text(entry.get("name")), _integer(entry.get("time_us"))
            key = (name, _integer(entry.get("device")))
            if time is None or abs(time) >= 1 << 52:
                self._unread += 1
            elif entry.get("stage") == "START":
                starts.setdefault(key, []).append(time)
            elif starts.get(key):
                rows.append((0, "MARKER", "user_annotation", name, starts[key].pop() * 1000, time * 1000, 0))
        columns = {"domain": pl.String, "category": pl.String, "name": pl.String, "start_ns": pl.Int64}
        schema = {"process": pl.UInt32, **columns, "end_ns": pl.Int64, "tid": pl.Int64}
        return pl.DataFrame(rows, schema=schema, orient="row")

    def _stack(self, frames: Any) -> int | None:
        """The number of a stack; files share lists of frames, and frames."""
        if not isinstance(frames, list) or not frames:
            return None
        if id(frames) not in self._stacks:
            names = tuple(name for frame in frames[:_MOST_FRAMES] if (name := self._frame(frame)))
            self._stacks[id(frames)] = self._same.setdefault(names, len(self._same) + 1)
        return self._stacks[id(frames)]

    def _frame(self, frame: Any) -> str:
        if id(frame) not in self._names:
            fields = _fields(frame)
            name, file, line = (_text(fields.get(key)) for key in ("name", "filename", "line"))
            is_known = file not in ("", "??")
            self._names[id(frame)] = f"{name} ({file}:{line})"[:2_000] if is_known else name[:2_000]
        return self._names[id(frame)]


def _fields(value: Any) -> dict[str, Any]:
    """A dictionary of a pickle, of its keys that are text."""
    with suppress(TypeError, ValueError):
        return {key: entry for key, entry in value if isinstance(key, str)}
    return {}


def _integer(value: Any) -> int | None:
    """A number that fits; addresses above 2^63 become negative, as in 64 bits."""
    if not isinstance(value, int) or not -(1 << 63) <= value < 1 << 64:
        return None
    return int(value) - (1 << 64 if value >= 1 << 63 else 0)


def _size(value: Any) -> int | None:
    return int(value) if isinstance(value, int) and 0 <= value < _LARGEST else None


def _text(value: Any) -> str:
    """A string or number as text, a list of them with commas; anything else is empty."""
    if isinstance(value, tuple | list):
        return ",".join(map(_text, value[:4]))
    return str(value) if isinstance(value, str | int) else ""
