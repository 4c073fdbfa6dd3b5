"""XPlane files (`*.xplane.pb`) of JAX and XLA as a run: one file is what one computer recorded.

| in the file | table |
| --- | --- |
| plane `/device:GPU:n` | agents |
| its lines `Stream #n(...)` | streams; events become dispatches, those of copies become copies |
| its other lines (XLA Ops, Steps, ...), which repeat the kernels | the extra table `device_lines` |
| lines of `/host:...` | threads; events become regions, those without duration samples |
| `MemoryAllocation`, `MemoryDeallocation` of the host | allocations of level FRAMEWORK |

Times of lines are usually counted from the start of the recording, which the plane `Task Environment` has. Calls of the
HIP runtime are on lines of their own (`Host Threads/tid`), not on those of the threads that XLA names. `planes` decodes
the file; here its events become rows (tuples in the order of `_SCHEMAS`), of which every one begins with `_LINKED`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
import polars as pl

from wavewright.errors import NotATraceError
from wavewright.model.losses import Loss
from wavewright.model.run import MemorySource
from wavewright.model.run_tables import RUN
from wavewright.model.schema import frame_of
from wavewright.readers.files.text import text_bytes
from wavewright.readers.run.event_rows import finished, with_numbers
from wavewright.readers.run.xplane.planes import Event, Line, Plane, Space, Statistics, read_space

_GPU = re.compile(r"/device:GPU:(\d{1,4})")
_STREAM = re.compile(r"Stream #(\d{1,18})")
_HOST = "/host:"
_PYTHON = re.compile(r"\$(\S+):(\d+) (.*)")
_ALLOCATOR = re.compile(r"GPU_(\d{1,4})_")
_MEMORY = {"MemoryAllocation": "ALLOC", "MemoryDeallocation": "FREE"}
_DOMAINS = {"HIP": ("hip", "__hip"), "HSA": ("hsa_",), "RCCL": ("nccl", "rccl")}  #: Domain -> how names of calls begin.
_CUDA = re.compile("cu(da)?[A-Z]")
_STEP = "step_num"  #: Statistic of the ranges around a step.
_CORRELATION = "correlation_id"
_INT64_END = 1 << 63  #: Numbers from here on do not fit into columns.
#: Columns of `dispatches` that `kernel_sizes` fills, in this order.
SIZES = tuple(f"{size}_{axis}" for size in ("workgroup", "grid") for axis in "xyz")
SIZES += ("lds_bytes", "scratch_bytes", "vgpr_count")
_LINKED: dict[str, Any] = {"process": pl.UInt32, "correlation": pl.Int64, "start_ns": pl.Int64, "end_ns": pl.Int64}
_SCHEMAS: dict[str, dict[str, Any]] = {
    "dispatches": _LINKED
    | {"name": pl.String, "agent": pl.UInt32, "stream_id": pl.Int64, "properties": pl.String}
    | dict.fromkeys(SIZES, pl.Int64),
    "copies": _LINKED
    | {"name": pl.String, "size_bytes": pl.Int64, "agent": pl.UInt32, "stream_id": pl.Int64, "properties": pl.String},
    "regions": _LINKED
    | dict.fromkeys(("name", "function", "domain", "category", "event_properties"), pl.String)
    | {"tid": pl.Int64},
    "allocations": _LINKED
    | dict.fromkeys(("type", "level", "properties"), pl.String)
    | {"tid": pl.Int64, "agent": pl.UInt32, "address": pl.Int64, "size_bytes": pl.Int64},
    "device_lines": _LINKED | {"agent": pl.UInt32, "line": pl.String, "name": pl.String, "properties": pl.String},
}


def read_xplane(path: Path) -> MemorySource:
    """The tables of an XPlane file.

    Raises `UsageError, NotATraceError` when the file cannot be read, or has no plane at all.
    """
    space = read_space(text_bytes(path))
    if not any(plane.name for plane in space.planes):
        advice = "copy it again; `jax.profiler.trace` writes such files"
        raise NotATraceError("not an XPlane file: it has no plane with a name", where=str(path), advice=advice)
    losses = []
    if space.damage_count:
        losses.append(Loss("malformed_events", space.damage_count, detail="messages of the file"))
    if space.timeless_count:
        losses.append(Loss("malformed_events", space.timeless_count, detail="events without a time"))
    rows = _Rows(space, losses)
    tables = rows.tables()
    events = {name: tables.pop(name) for name in _SCHEMAS if name != "device_lines"}
    is_mark = (pl.col("start_ns") == pl.col("end_ns")) & (pl.col("domain") == "OPERATOR")
    calls = events["regions"]
    events["regions"] = calls.filter(~is_mark)
    events["samples"] = calls.filter(is_mark).with_columns(time_ns="start_ns")
    lines = tables.pop("device_lines")
    tables |= with_numbers(events, tables)
    names = pl.DataFrame(rows.thread_names, schema={"tid": pl.Int64, "name": pl.String}, orient="row")
    tables["threads"] = tables["threads"].join(names.unique("tid", keep="first"), on="tid", how="left").sort("thread")
    extras = {"device_lines": lines} if lines.height else {}
    if space.messages:
        extras["profiler_messages"] = pl.DataFrame({"message": space.messages})
    return MemorySource(str(path), "XPlane", "", finished(tables, losses), losses, extras)


class _Rows:
    """Rows of the tables of a run."""

    def __init__(self, space: Space, losses: list[Loss]) -> None:
        self._rows: dict[str, list[tuple[Any, ...]]] = {name: [] for name in _SCHEMAS}
        self._agents: dict[int, dict[str, Any]] = {}
        self._hostname = next((name for name in space.hostnames if name), None)
        self._texts: dict[tuple[Any, ...], str] = {}  #: Statistics -> their JSON.
        self.thread_names: list[tuple[int, str]] = []
        facts: Statistics = {}
        for plane in space.planes:
            facts |= plane.statistics if plane.name == "Task Environment" else {}
        start_ns = facts.get("profile_start_time")
        self._zero_ns = start_ns if isinstance(start_ns, int) and 0 < start_ns < _INT64_END >> 1 else 0
        unread_count = 0
        for plane in space.planes:
            if match := _GPU.match(plane.name):
                self._take_gpu(plane, int(match[1]))
            elif plane.name.startswith(_HOST):
                self._take_host(plane)
            else:
                unread_count += sum(len(line.events) for line in plane.lines)
        if unread_count:
            losses.append(Loss("unread_records", unread_count, detail="planes that are neither a GPU nor the host"))

    def tables(self) -> dict[str, pl.DataFrame]:
        """The events, and the agents, the process and the node."""
        schemas = _SCHEMAS.items()
        tables = {name: pl.DataFrame(self._rows[name], schema=schema, orient="row") for name, schema in schemas}
        tables["agents"] = frame_of(RUN["agents"], list(self._agents.values()))
        host = {"node": 0, "hostname": self._hostname}
        tables["nodes"] = frame_of(RUN["nodes"], [host] if self._hostname else [])
        process = {"process": 0, "source": 0, "guid": "", "node": 0 if self._hostname else None}
        tables["processes"] = frame_of(RUN["processes"], [process])
        return tables

    def _agent(self, device: int, statistics: Statistics | None = None) -> int:
        """The number of the row of a GPU."""
        if device not in self._agents:
            numbers = dict.fromkeys(("agent_id", "absolute_index", "logical_index"), device)
            self._agents[device] = {"agent": len(self._agents), "process": 0, "kind": "GPU", **numbers}
        if statistics:
            vendor, units = statistics.get("device_vendor"), statistics.get("core_count")
            self._agents[device] |= {
                "vendor": vendor if isinstance(vendor, str) else None,
                "cu_count": units if isinstance(units, int) and 0 < units < 1 << 31 else None,
                "properties": self._text(statistics),
            }
        return int(self._agents[device]["agent"])

    def _linked(self, event: Event) -> tuple[int | None, ...]:
        """The columns `_LINKED` of an event; times that count from the start of the recording are moved by it."""
        zero_ns = self._zero_ns if event.start_ns < self._zero_ns else 0
        return 0, _positive(event.statistics.get(_CORRELATION)), event.start_ns + zero_ns, event.end_ns + zero_ns

    def _take_gpu(self, plane: Plane, device: int) -> None:
        """Rows of dispatches, copies and device lines, from the plane of a GPU."""
        agent = self._agent(device, plane.statistics)
        for line in plane.lines:
            stream = _STREAM.match(line.name)
            for event in line.events:
                link, text = self._linked(event), self._text(event.statistics)
                if stream is None:
                    self._rows["device_lines"].append((*link, agent, line.name, event.name, text))
                elif copy := copied(event.name, event.statistics):
                    self._rows["copies"].append((*link, *copy, agent, int(stream[1]), text))
                else:
                    sizes = kernel_sizes(event.statistics.get("kernel_details"))
                    name = event.name.removesuffix(".kd")
                    self._rows["dispatches"].append((*link, name, agent, int(stream[1]), text, *sizes))

    def _take_host(self, plane: Plane) -> None:
        """Rows of regions and allocations, from a plane of the host, whose lines are threads."""
        for line in plane.lines:
            self.thread_names.append((line.number, line.name))
            for event in line.events:
                if event.name in _MEMORY:
                    self._take_memory(line, event)
                    continue
                name, domain = _named(event)
                function = name if domain != "MARKER" else None
                category = "HIP_RUNTIME_API" if domain == "HIP" else plane.name.removeprefix("/")
                columns = (name, function, domain, category, self._text(event.statistics))
                self._rows["regions"].append((*self._linked(event), *columns, line.number))

    def _take_memory(self, line: Line, event: Event) -> None:
        """A row of allocations; a release frees no bytes of its own: its address tells which allocation it ends."""
        statistics = event.statistics
        match = _ALLOCATOR.match(str(statistics.get("allocator_name", "")))
        agent = self._agent(int(match[1])) if match else None
        kind = _MEMORY[event.name]
        size = _positive(statistics.get("allocation_bytes")) or _positive(statistics.get("requested_bytes"))
        text = msgspec.json.encode(statistics).decode()
        place = (line.number, agent, _positive(statistics.get("addr")), size if kind == "ALLOC" else 0)
        _, _, *times = self._linked(event)
        self._rows["allocations"].append((0, None, *times, kind, "FRAMEWORK", text, *place))

    def _text(self, statistics: Statistics) -> str | None:
        """The statistics as JSON, without the correlation, which is a column; equal texts are one object."""
        values = {key: value for key, value in statistics.items() if key != _CORRELATION}
        key = tuple(values.items())
        if values and key not in self._texts:
            self._texts[key] = msgspec.json.encode(values).decode()
        return self._texts.get(key)


def _positive(value: Any) -> int | None:
    """A number above 0 that fits into a column; None for anything else: 0 = not recorded."""
    return value if isinstance(value, int) and 0 < value < _INT64_END else None


def _named(event: Event) -> tuple[str, str]:
    """The name to show and the domain of a host event."""
    name = event.name
    if name.startswith("$"):
        match = _PYTHON.fullmatch(name)
        return f"{match[1]}({match[2]}): {match[3]}" if match else name[1:], "PYTHON"
    for domain, starts in _DOMAINS.items():
        if name.startswith(starts):
            return name, domain
    if _CUDA.match(name):
        return name, "CUDA"
    if _STEP in event.statistics:
        return f"{name}#{event.statistics[_STEP]}", "MARKER"
    return name, "OPERATOR"


# --- details of kernels and copies, which XLA writes as one text: `grid:16,1,1 block:512,1,1 group_mem:0` ---


_Sizes: TypeAlias = "tuple[int | None, ...]"
_NUMBERS = re.compile(r"(\w+):(\d{1,9}(?:,\d{1,9}){0,2})(?![\d,])")
_COPY = re.compile(r"(?i)(?:hc)?(?:mem(?:ory)?)?_?(?:cpy|copy)_?(host|device)_?to_?(host|device)\w*")
_SIZE = re.compile(r"\bsize:(\d{1,18})(?!\d)")
_DIRECTIONS = {
    "H2D": "MEMORY_COPY_HOST_TO_DEVICE",
    "D2H": "MEMORY_COPY_DEVICE_TO_HOST",
    "D2D": "MEMORY_COPY_DEVICE_TO_DEVICE",
    "P2P": "MEMORY_COPY_DEVICE_TO_DEVICE",
    "H2H": "MEMORY_COPY_HOST_TO_HOST",
}


@lru_cache(maxsize=1 << 12)
def _sizes(details: str) -> _Sizes:
    values = {key: tuple(map(int, numbers.split(","))) for key, numbers in _NUMBERS.findall(details)}

    def lanes(key: str) -> tuple[int | None, ...]:
        sizes = values.get(key, ())
        return sizes if len(sizes) == 3 else (None, None, None)

    def number(*keys: str) -> int | None:
        sizes = [values[key][0] for key in keys if key in values]
        return sum(sizes) if sizes else None

    workgroup, counts = lanes("block"), lanes("grid")
    grid = [size * count if size and count else None for size, count in zip(workgroup, counts, strict=True)]
    lds = number("group_mem", "static_shared", "dynamic_shared")
    return (*workgroup, *grid, lds, number("private_mem"), number("regs"))


def kernel_sizes(details: Any) -> _Sizes:
    """Values of the columns `SIZES`; grids are stored in workgroups and become lanes.

    >>> kernel_sizes(" grid:16,1,1 block:512,1,1 private_mem:0 group_mem:2112 occ_pct:0")
    (512, 1, 1, 8192, 1, 1, 2112, 0, None)
    """
    return _sizes(details) if isinstance(details, str) else (None,) * len(SIZES)


def copied(name: str, statistics: Statistics) -> tuple[str, int | None] | None:
    """Name, in the words of ROCpd, and size of a copy; None for other work.

    >>> copied("MemcpyD2H", {"memcpy_details": "kind:Device size:512 dest:0 async:1"})
    ('MEMORY_COPY_DEVICE_TO_HOST', 512)
    >>> copied("CopyDeviceToDevice", {})  # of roctracer, in files of older releases
    ('MEMORY_COPY_DEVICE_TO_DEVICE', None)
    """
    details = str(statistics.get("memcpy_details", ""))
    direction = _COPY.fullmatch(name)
    if not name.startswith("Memcpy") and not direction and not details:
        return None
    letters = f"{direction[1][0]}2{direction[2][0]}".upper() if direction else name.removeprefix("Memcpy")[:3]
    match = _SIZE.search(details)
    return _DIRECTIONS.get(letters, name), int(match[1]) if match else None
