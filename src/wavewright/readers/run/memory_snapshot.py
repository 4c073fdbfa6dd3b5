"""Memory snapshots of PyTorch (`torch.cuda.memory._dump_snapshot`) as runs: pickles that are read without unpickling.

| in the file | table |
| --- | --- |
| `alloc`, `free_completed` of `device_traces` | allocations of level FRAMEWORK: bytes that were asked for |
| blocks that are alive and whose allocation is no longer in the trace | allocations at its start |
| frames | frames; allocations with the same stack share the number `event` |
| segments and their blocks, when it was written | the extra table `memory_blocks` |
| `segment_*` of `device_traces` | the extra table `reserved_memory`: what the allocator held from each moment on |
| `external_annotations` | regions |

The trace is a ring: what the allocator held after each event is counted back from what it holds at the end. PyTorch
calls what the allocator got from the driver *segments*, and what it hands out of them *blocks*.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

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

_FILE_BYTES_MAX = 1 << 31
_MOST_FRAMES = 200  #: Of a longer stack, only so many of the innermost frames are read.
_SIZE_BYTES_MAX = 1 << 48  #: Larger sizes are damage: no GPU has 256 TiB.
_TIME_US_MAX = 1 << 52  #: Times below it fit into 64 bits as nanoseconds; others are damage.
_ALLOC, _FREE = "alloc", "free_completed"
#: Action of the trace -> the sign with which its size changes the allocated, or the reserved, bytes.
_ALLOCATED_SIGNS = {_ALLOC: 1, _FREE: -1}
_RESERVED_SIGNS = {"segment_alloc": 1, "segment_map": 1, "segment_free": -1, "segment_unmap": -1}
_UNREAD = ("free_requested", "snapshot", "oom", "workspace_snapshot")  #: Actions that change neither of both.
_ALIVE = ("active_allocated", "active_pending_free", "active_awaiting_free")  #: States of blocks in use.
_ADVICE = "write it with torch.cuda.memory._dump_snapshot(), after torch.cuda.memory._record_memory_history()"
#: Columns of what `_SnapshotRows` makes, as rows in this order (events) or with these keys (blocks).
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


class _Step(NamedTuple):
    """An entry of the trace that changes what is allocated or reserved."""

    action: str
    address: int
    size_bytes: int
    time_ns: int  #: 0 = not recorded.
    stream: int | None
    stack: int | None  #: Of allocations only; see `_stack`.


def read_memory_snapshot(path: Path) -> MemorySource:
    """The tables of a snapshot.

    Raises `UsageError, NotATraceError` when it cannot be read, is no snapshot, or would import or call anything:
    nothing of it is ever run.
    """
    root = _fields(torch_pickle(path, text_bytes(path, _FILE_BYTES_MAX)))
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
    tables, snapshot_tables = source.tables, snapshot.tables
    times = [tables[name].select(pl.min("start_ns"), pl.max("end_ns")).row(0) for name in ("dispatches", "regions")]
    first = min((low for low, _ in times if low is not None), default=0)
    last = max((high for _, high in times if high is not None), default=0)
    cannot_join = tables["allocations"].height > 0 or tables["processes"].height != 1
    in_run = snapshot_tables["allocations"].filter(pl.col("start_ns").is_between(first, last))
    if cannot_join or not in_run.height:
        several = "the run has allocations of its own, or several processes"
        reason = several if cannot_join else "it was recorded at another time"
        source.losses.append(Loss("snapshot_apart", detail=f"{path.name}: {reason}"))
        return
    # The agents of the run are those of the snapshot where they have the same index; the others are added to them.
    gpus = tables["agents"].filter(pl.col("kind") == "GPU")
    agent_of_index = dict(gpus.select(pl.coalesce("type_index", "absolute_index"), "agent").iter_rows())
    first_new = max(tables["agents"]["agent"], default=-1) + 1
    rows = snapshot_tables["agents"].select("absolute_index", "agent").iter_rows()
    agents = {agent: agent_of_index.get(index, first_new + agent) for index, agent in rows}
    others = snapshot_tables["agents"].filter(~pl.col("absolute_index").is_in(list(agent_of_index)))
    agent_column = pl.col("agent").replace_strict(agents, return_dtype=pl.UInt32)
    tables["agents"] = pl.concat([tables["agents"], others.with_columns(agent_column)], how="diagonal_relaxed")
    allocations = snapshot_tables["allocations"].with_columns(agent_column)
    tables["allocations"] = allocations.drop("thread", "stream", "queue", strict=False)
    tables["frames"] = snapshot_tables["frames"]
    extras = {name: rows.with_columns(agent_column) for name, rows in snapshot.extras.items()}
    source.extras = {**source.extras, **extras}
    source.losses += snapshot.losses


class _SnapshotRows:
    """Rows of the tables of a snapshot."""

    def __init__(self, root: dict[str, Any]) -> None:
        self._root = root  # holds all objects, so that no identity is used again
        self._numbers_by_id: dict[int, int] = {}  #: Identity of a list of frames -> the number of its stack.
        self._numbers_by_names: dict[tuple[str, ...], int] = {}  #: Names of frames -> the number of the stack.
        self._names: dict[int, str] = {}  #: Identity of a frame -> its name.
        self._malformed_count = 0
        self.reserved: list[tuple[int, int, int]] = []  #: Device, time, bytes that its allocator holds from then on.
        self.blocks = [row for segment in root["segments"] for row in self._blocks(_fields(segment))]
        self.events = [row for device, trace in enumerate(root["device_traces"]) for row in self._trace(device, trace)]

    def source(self, path: Path) -> MemorySource:
        """The tables."""
        lost_count = self._malformed_count
        losses = [Loss("malformed_events", lost_count, detail="entries of the snapshot")] if lost_count else []
        events = pl.DataFrame(self.events, schema=_EVENTS, orient="row")
        blocks = pl.DataFrame(self.blocks, schema=_BLOCKS)
        devices = sorted({*events["device"], *blocks["device"]} - {None})
        gpu = {"process": 0, "kind": "GPU"}
        ids = [dict.fromkeys(("agent_id", "absolute_index"), device) for device in devices]
        agents = [gpu | {"agent": number} | ids_of_gpu for number, ids_of_gpu in enumerate(ids)]
        process = {"process": 0, "source": 0, "guid": "", "rank": rank_in(path)}
        tables = {"agents": frame_of(RUN["agents"], agents), "processes": frame_of(RUN["processes"], [process])}
        agent = pl.col("device").replace_strict(devices, list(range(len(devices))), return_dtype=pl.UInt32)
        # The keys are the arguments of `[memory]` events in Chrome traces of PyTorch: the analysis reads both alike.
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
        stacks = self._numbers_by_names.items()
        frame_rows = ((number, depth, name) for names, number in stacks for depth, name in enumerate(names))
        schema = {"event": pl.Int64, "depth": pl.Int64, "name": pl.String}
        frames = pl.DataFrame(frame_rows, schema=schema, orient="row")
        tables["frames"] = frames.with_columns(process=pl.lit(0, pl.UInt32))
        reserved_rows = pl.DataFrame(self.reserved, schema=_RESERVED_COLUMNS, orient="row")
        of_process = {"process": pl.lit(0, pl.UInt32), "agent": agent}
        extras = {"memory_blocks": blocks, "reserved_memory": reserved_rows}
        extras = {name: rows.with_columns(**of_process).drop("device") for name, rows in extras.items()}
        return MemorySource(str(path), "PyTorch memory snapshot", "", finished(tables, losses), losses, extras)

    def _blocks(self, segment: dict[str, Any]) -> list[dict[str, Any]]:
        """The blocks of a segment; where one does not say its address, it follows the one before."""
        segment_bytes, address = _size(segment.get("total_size")), _integer(segment.get("address"))
        blocks = segment.get("blocks")
        if segment_bytes is None or address is None or not isinstance(blocks, list):
            self._malformed_count += 1
            return []
        pool = segment.get("segment_pool_id")
        is_private = isinstance(pool, tuple | list) and any(part != 0 for part in pool[:2])
        of_segment = {
            "device": _integer(segment.get("device")) or 0, "segment": address, "segment_bytes": segment_bytes,
            "pool": _text(pool)[:80] if is_private else "", "segment_type": _text(segment.get("segment_type")),
            "is_expandable": bool(segment.get("is_expandable")), "stream": _integer(segment.get("stream")),
        }  # fmt: skip
        rows, next_address = [], address
        for block in map(_fields, blocks):
            size_bytes = _size(block.get("size"))
            if size_bytes is None:
                self._malformed_count += 1
                continue
            own_address, requested_bytes = _integer(block.get("address")), _size(block.get("requested_size"))
            rows.append({
                **of_segment,
                "address": next_address if own_address is None else own_address,
                "size_bytes": size_bytes,
                "requested_bytes": size_bytes if requested_bytes is None else requested_bytes,
                "state": block.get("state") if block.get("state") in (*_ALIVE, "inactive") else None,
                "event": self._stack(block.get("frames")),
            })  # fmt: skip
            next_address += size_bytes
        return rows

    def _steps(self, trace: Any) -> list[_Step]:
        """The steps of a trace, in their order."""
        steps = []
        for entry in map(_fields, trace if isinstance(trace, list) else ()):
            action, size, time_us = entry.get("action"), _size(entry.get("size")), _integer(entry.get("time_us")) or 0
            address = _integer(entry.get("addr"))
            if action in _UNREAD:
                continue
            if size is None or address is None:
                self._malformed_count += 1
                continue
            stack = self._stack(entry.get("frames")) if action == _ALLOC else None
            time_ns = time_us * 1000 if abs(time_us) < _TIME_US_MAX else 0
            steps.append(_Step(str(action), address, size, time_ns, _integer(entry.get("stream")), stack))
        return steps

    def _trace(self, device: int, trace: Any) -> list[tuple[Any, ...]]:
        """The rows of a device as `_EVENTS`; blocks from before the trace that are still alive come first.

        The blocks tell the totals at the end; going back from the last step, each change is taken out of them again.
        """
        steps = self._steps(trace)
        blocks = [block for block in self.blocks if block["device"] == device]
        alive = [block for block in blocks if block["state"] in _ALIVE]
        allocated_bytes = sum(block["requested_bytes"] for block in alive)
        reserved_bytes = sum({block["segment"]: block["segment_bytes"] for block in blocks}.values())
        rows: list[tuple[Any, ...]] = []
        reserved_rows: list[tuple[int, int, int]] = []
        for action, address, size, time_ns, stream, stack in reversed(steps):
            if action in _ALLOCATED_SIGNS:
                kind = "ALLOC" if action == _ALLOC else "FREE"
                rows.append((device, kind, address, size, stream, time_ns, stack, allocated_bytes, reserved_bytes))
                allocated_bytes -= size * _ALLOCATED_SIGNS[action]
            if action in _RESERVED_SIGNS:
                reserved_rows.append((device, time_ns, reserved_bytes))
                reserved_bytes -= size * _RESERVED_SIGNS[action]
        start_ns = min((step.time_ns for step in steps), default=0)
        self.reserved += [(device, start_ns, reserved_bytes), *reversed(reserved_rows)] if steps else []
        last_action = {step.address: step.action for step in steps if step.action in _ALLOCATED_SIGNS}
        older_blocks = [block for block in alive if last_action.get(block["address"]) != _ALLOC]
        allocated_bytes -= sum(block["requested_bytes"] for block in older_blocks)
        before = []
        for block in older_blocks:
            address, size, stream, stack = (block[name] for name in ("address", "requested_bytes", "stream", "event"))
            allocated_bytes += size
            before.append((device, "ALLOC", address, size, stream, start_ns, stack, allocated_bytes, reserved_bytes))
        return [*before, *reversed(rows)]

    def _annotations(self) -> pl.DataFrame:
        """Ranges that the application named, whose start and end are entries of their own."""
        rows, starts = [], dict[tuple[Any, ...], list[int]]()
        entries = self._root.get("external_annotations")
        for entry in map(_fields, entries if isinstance(entries, list) else ()):
            name, time = _text(entry.get("name")), _integer(entry.get("time_us"))
            key = (name, _integer(entry.get("device")))
            if time is None or abs(time) >= _TIME_US_MAX:
                self._malformed_count += 1
            elif entry.get("stage") == "START":
                starts.setdefault(key, []).append(time)
            elif starts.get(key):
                rows.append((0, "MARKER", "user_annotation", name, starts[key].pop() * 1000, time * 1000, 0))
        columns = {"domain": pl.String, "category": pl.String, "name": pl.String, "start_ns": pl.Int64}
        schema = {"process": pl.UInt32, **columns, "end_ns": pl.Int64, "tid": pl.Int64}
        return pl.DataFrame(rows, schema=schema, orient="row")

    def _stack(self, frames: Any) -> int | None:
        """The number of a stack. Files share lists of frames, and frames: each is read once."""
        if not isinstance(frames, list) or not frames:
            return None
        if id(frames) not in self._numbers_by_id:
            names = tuple(name for frame in frames[:_MOST_FRAMES] if (name := self._frame(frame)))
            new_number = len(self._numbers_by_names) + 1
            self._numbers_by_id[id(frames)] = self._numbers_by_names.setdefault(names, new_number)
        return self._numbers_by_id[id(frames)]

    def _frame(self, frame: Any) -> str:
        if id(frame) not in self._names:
            fields = _fields(frame)
            name, file, line = (_text(fields.get(key)) for key in ("name", "filename", "line"))
            is_known = file not in ("", "??")
            self._names[id(frame)] = f"{name} ({file}:{line})"[:2_000] if is_known else name[:2_000]
        return self._names[id(frame)]


def _fields(value: Any) -> dict[str, Any]:
    """The entries with string keys of a dictionary, which `torch_pickle` returns as pairs; else empty."""
    with suppress(TypeError, ValueError):
        return {key: entry for key, entry in value if isinstance(key, str)}
    return {}


def _integer(value: Any) -> int | None:
    """A number that fits; addresses above 2^63 become negative, as in 64 bits."""
    if not isinstance(value, int) or not -(1 << 63) <= value < 1 << 64:
        return None
    return int(value) - (1 << 64 if value >= 1 << 63 else 0)


def _size(value: Any) -> int | None:
    return int(value) if isinstance(value, int) and 0 <= value < _SIZE_BYTES_MAX else None


def _text(value: Any) -> str:
    """A string or number as text, a list of them with commas; anything else is empty."""
    if isinstance(value, tuple | list):
        return ",".join(map(_text, value[:4]))
    return str(value) if isinstance(value, str | int) else ""
