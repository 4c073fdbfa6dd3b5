"""Synthetic runs as ROCpd databases."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from synth.databases import new_databases
from synth.devices import CPUS, agents
from synth.rocpd_schema import VERSIONS, columns_of, create_statements
from synth.run_events import HARDWARE_QUEUES
from synth.run_truth import SyntheticRun
from synth.simulate import simulate
from synth.workload import COUNTERS
from wavewright.errors import UsageError

if TYPE_CHECKING:
    import sqlite3
    from os import PathLike

    from synth.run_events import Allocation, Call, Copy, Dispatch, Mark, Place, Step
    from synth.run_truth import RankTruth
    from synth.workload import Kernel, Workload

__all__ = ["RocpdTables", "create_views", "write_rocpd", "write_rocpd_ranks"]

_BUFFERED_ROWS = 20_000
_CODE_BASE = 0x7F1000000000
_LOADED_BEFORE_NS = 900_000_000


def write_rocpd(path: str | PathLike[str], workload: Workload, *, schema: str = "3") -> SyntheticRun:
    """Write a run as one database, with the tables of every rank in it, as after a merge.

    The file appears whole or not at all; one that exists is replaced.

    Parameters
    ----------
    schema
        Version of the schema: 3, 3.0.1, 3.0.2 or 3.0.3.

    Raises
    ------
    UsageError
        When there is no such version.
    OSError
        When the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from synth.workload import Workload
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = write_rocpd(folder + "/run.db", Workload(dispatches=50, ranks=2))
    >>> run.total.counts["dispatches"]
    50
    """
    return _write([Path(path)] * workload.ranks, workload, schema)


def write_rocpd_ranks(folder: str | PathLike[str], workload: Workload, *, schema: str = "3") -> SyntheticRun:
    """Write a run as one database per rank, `rank<number>_results.db`, into a folder, which is made if missing.

    See `write_rocpd`.

    Examples
    --------
    >>> import tempfile
    >>> from synth.workload import Workload
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = write_rocpd_ranks(folder, Workload(dispatches=50, ranks=2))
    >>> [path.name for path in run.paths]
    ['rank0_results.db', 'rank1_results.db']
    """
    directory = Path(folder)
    directory.mkdir(parents=True, exist_ok=True)
    return _write([directory / f"rank{rank}_results.db" for rank in range(workload.ranks)], workload, schema)


def _write(paths: list[Path], workload: Workload, schema: str) -> SyntheticRun:
    if schema not in VERSIONS:
        problem = f"no ROCpd schema {schema!r}"
        raise UsageError(problem, advice=f"known: {', '.join(VERSIONS)}")
    files = list(dict.fromkeys(paths))
    with new_databases(files) as opened:
        tables: dict[int, RocpdTables] = {}
        for rank, step in simulate(workload):
            number = rank.place.rank
            if number not in tables:
                tables[number] = RocpdTables(opened[paths[number]], rank, schema)
            tables[number].add(step)
        for each in tables.values():
            each.finish()
        for path, database in opened.items():
            guids = [t.rank.place.guid for n, t in tables.items() if paths[n] == path]
            create_views(database, schema, guids)
    return SyntheticRun(tuple(files), tuple(tables[number].rank.truth for number in sorted(tables)))


def create_views(database: sqlite3.Connection, schema: str, guids: list[str]) -> None:
    """Make the views: `rocpd_<table>` shows the rows of all recordings."""
    suffixes = ["_" + guid.replace("-", "_") for guid in guids]
    for table in ("metadata", *columns_of(schema)):
        parts = " UNION ALL ".join(f'SELECT * FROM "rocpd_{table}{suffix}"' for suffix in suffixes)  # noqa: S608
        database.execute(f'CREATE VIEW "rocpd_{table}" AS {parts}')


class _Setup(Protocol):
    """The kernels and devices of a process; of the counters that it collects only their number."""

    @property
    def kernels(self) -> tuple[Kernel, ...]: ...
    @property
    def target(self) -> str: ...
    @property
    def gpus(self) -> int: ...
    @property
    def streams(self) -> int: ...
    @property
    def counters(self) -> int: ...


class _Recorded(Protocol):
    """A process that was recorded."""

    @property
    def place(self) -> Place: ...
    @property
    def workload(self) -> _Setup: ...
    @property
    def truth(self) -> RankTruth: ...


class RocpdTables:
    """The tables of one recording, filled as the run goes on."""

    def __init__(self, database: sqlite3.Connection, rank: _Recorded, schema: str) -> None:
        self.rank = rank
        self._database = database
        self._schema = schema
        self._place = rank.place
        self._kernels = rank.workload.kernels
        self._suffix = "_" + self._place.guid.replace("-", "_")
        self._rows: dict[str, list[tuple[Any, ...]]] = {}
        self._columns: dict[str, tuple[str, ...]] = {}
        self._strings: dict[str, int] = {}
        self._events = self._copies = self._allocations = self._counters = self._arguments = self._graphs = 0
        for statement in create_statements(schema, self._place.guid):
            database.execute(statement)
        self._hash = int(hashlib.sha256(self._place.machine_id.encode()).hexdigest()[:15], 16)
        self._node = self._hash % (2**32 - 1)
        self._where = (self._node, self._place.pid)
        self._string("")

    def add(self, step: Step) -> None:
        """Take in what the rank did in an iteration."""
        for call in step.calls:
            self._call(call)
        for mark in step.marks:
            self._mark(mark)
        for dispatch in step.dispatches:
            self._dispatch(dispatch)
        if self._schema >= "3.0.2":
            self._graph_launches(step)
        for copy in step.copies:
            self._copy(copy)
        for allocation in step.allocations:
            self._allocation(allocation)
        if len(self._rows.get("event", ())) > _BUFFERED_ROWS:
            self._flush()

    def finish(self) -> None:
        """Write what is known only at the end, and all that is left."""
        self._describe_process()
        self._describe_devices()
        self._describe_code()
        counts = self.rank.truth.counts
        for table, here in _RUN_TABLES.items():
            counts[table] += len(self._rows.get(here, ()))
        counts["environment"] += len(self._place.environment)
        del counts["monitors"]  # ROCpd has no table for them
        self._put_all("string", [{"id": number, "string": text} for text, number in self._strings.items()])
        self._put_all("metadata", [{"tag": tag, "value": value} for tag, value in self._metadata()])
        self._flush()

    def _flush(self) -> None:
        for table, rows in self._rows.items():
            names = self._columns[table]
            marks = ", ".join("?" * len(names))
            columns = ", ".join(f'"{name}"' for name in names)
            sql = f'INSERT INTO "rocpd_{table}{self._suffix}" ({columns}) VALUES ({marks})'  # noqa: S608
            self._database.executemany(sql, rows)
        self._rows.clear()

    def _into(self, table: str, *names: str) -> list[tuple[Any, ...]]:
        """The list for rows of these columns of a table."""
        self._columns.setdefault(table, names)
        return self._rows.setdefault(table, [])

    def _put_all(self, table: str, rows: list[dict[str, Any]]) -> None:
        for row in rows:
            self._into(table, *row).append(tuple(row.values()))

    def _string(self, text: str) -> int:
        return self._strings.setdefault(text, len(self._strings) + 1)

    def _event(
        self, category: str, correlation: int, parent: int, *, call_stack: str = "{}", extdata: str = "{}"
    ) -> int:
        self._events += 1
        rows = self._into(
            "event", "id", "category_id", "stack_id", "parent_stack_id", "correlation_id", "call_stack", "extdata"
        )
        rows.append((self._events, self._string(category), correlation, parent, 0, call_stack, extdata))
        return self._events

    def _call(self, call: Call) -> None:
        stack = json.dumps([{"function": frame} for frame in call.frames]) if call.frames else "{}"
        extdata = "{}" if call.text is None else json.dumps({"message": call.text})
        event = self._event(call.category, call.correlation, call.parent, call_stack=stack, extdata=extdata)
        rows = self._into("region", "id", "nid", "pid", "tid", "start", "end", "name_id", "event_id")
        tid = self._place.tids[call.thread]
        name = self._string(call.function)
        rows.append((call.correlation, *self._where, tid, call.start_ns, call.end_ns, name, event))
        if call.arguments:
            self._take_arguments(event, call.arguments)

    def _take_arguments(self, event: int, arguments: tuple[tuple[str, str, str], ...]) -> None:
        rows = self._into("arg", "id", "event_id", "position", "type", "name", "value", "extdata")
        for position, (kind, name, value) in enumerate(arguments):
            self._arguments += 1
            extdata = json.dumps({"stream_id": (int(value, 16) >> 8) & 0xFFFF}) if name == "stream" else "{}"
            rows.append((self._arguments, event, position, kind, name, value, extdata))

    def _mark(self, mark: Mark) -> None:
        extdata = json.dumps({"message": mark.text})
        event = self._event("MARKER_CORE_API", mark.correlation, mark.parent, extdata=extdata)
        rows = self._into("sample", "id", "track_id", "timestamp", "event_id")
        rows.append((mark.correlation, mark.thread + 1, mark.time_ns, event))

    def _dispatch(self, dispatch: Dispatch) -> None:
        event = self._event("KERNEL_DISPATCH", dispatch.correlation, dispatch.correlation)
        graph = ("graph_exec_id", "graph_node_id") if self._schema >= "3.0.2" else ()
        rows = self._into(
            "kernel_dispatch", "id", "nid", "pid", "tid", "agent_id", "kernel_id", "dispatch_id", "queue_id",
            "stream_id", "start", "end", "private_segment_size", "group_segment_size", "workgroup_size_x",
            "workgroup_size_y", "workgroup_size_z", "grid_size_x", "grid_size_y", "grid_size_z", "region_name_id",
            "event_id", *graph,
        )  # fmt: skip
        kernel = self._kernels[dispatch.kernel]
        number = dispatch.number
        rows.append((
            number, *self._where, self._place.tids[dispatch.thread], CPUS + dispatch.gpu, dispatch.kernel + 1, number,
            dispatch.queue, dispatch.stream, dispatch.start_ns, dispatch.end_ns, kernel.scratch_bytes,
            kernel.lds_bytes, *kernel.workgroup, *kernel.grid, self._string(dispatch.phase), event,
            *((dispatch.graph_exec, dispatch.graph_node) if graph else ()),
        ))  # fmt: skip
        if dispatch.counters:
            self._take_counters(event, dispatch)

    def _take_counters(self, event: int, dispatch: Dispatch) -> None:
        place = ("xcc",) if self._schema >= "3.0.3" else ()
        rows = self._into("pmc_event", "id", "event_id", "pmc_id", "value", *place)
        for counter, instance, value in dispatch.counters:
            self._counters += 1
            instance_columns = (instance,) if place else ()
            rows.append((self._counters, event, self._pmc(counter, dispatch.gpu), float(value), *instance_columns))

    def _pmc(self, counter: int, gpu: int) -> int:
        return 1 + counter + len(COUNTERS) * self._place.gpus.index(gpu)

    def _graph_launches(self, step: Step) -> None:
        launched: dict[int, list[Dispatch]] = {}
        for dispatch in step.dispatches:
            if dispatch.graph_exec:
                launched.setdefault(dispatch.correlation, []).append(dispatch)
        names = ("id", "nid", "pid", "tid", "agent_id", "queue_id", "start", "end", "graph_exec_id")
        for correlation, dispatches in launched.items():
            self._graphs += 1
            event = self._event("GRAPH_LAUNCH", correlation, correlation)
            first, last = dispatches[0], dispatches[-1]
            rows = self._into("graph_launch", *names, "kernel_dispatch_count", "event_id")
            rows.append((
                self._graphs, *self._where, self._place.tids[first.thread], CPUS + first.gpu, first.queue,
                first.start_ns, last.end_ns, first.graph_exec, len(dispatches), event,
            ))  # fmt: skip

    def _copy(self, copy: Copy) -> None:
        self._copies += 1
        event = self._event("MEMORY_COPY", copy.correlation, copy.correlation)
        rows = self._into(
            "memory_copy", "id", "nid", "pid", "tid", "start", "end", "name_id", "dst_agent_id", "dst_address",
            "src_agent_id", "src_address", "size", "queue_id", "stream_id", "region_name_id", "event_id",
        )  # fmt: skip
        rows.append((
            self._copies, *self._where, self._place.tids[copy.thread], copy.start_ns, copy.end_ns,
            self._string(copy.direction), copy.destination, 0x7F3000000000, copy.source, 0x7F4000000000,
            copy.size_bytes, copy.queue, copy.stream, self._string(""), event,
        ))  # fmt: skip

    def _allocation(self, allocation: Allocation) -> None:
        self._allocations += 1
        is_scratch = allocation.level == "SCRATCH"
        category = "SCRATCH_MEMORY" if is_scratch else "MEMORY_ALLOCATION"
        event = self._event(category, allocation.correlation, allocation.parent)
        rows = self._into(
            "memory_allocate", "id", "nid", "pid", "tid", "agent_id", "type", "level", "start", "end", "address",
            "size", "queue_id", "stream_id", "event_id", "extdata",
        )  # fmt: skip
        agent = None if allocation.type == "FREE" else CPUS + allocation.gpu
        rows.append((
            self._allocations, *self._where, self._place.tids[allocation.thread], agent, allocation.type,
            allocation.level, allocation.start_ns, allocation.end_ns, allocation.address, allocation.size_bytes,
            int(is_scratch), 0, event, '{"flags": "0"}' if is_scratch else "{}",
        ))  # fmt: skip

    def _metadata(self) -> list[tuple[str, str]]:
        tags = [("schema_version", self._schema), ("uuid", self._suffix), ("guid", self._place.guid)]
        if self._schema != "3":
            parts = zip(("major", "minor", "patch"), self._schema.split("."), strict=True)
            tags[1:1] = [(f"schema_version_{name}", part) for name, part in parts]
            tags.append(("schema_creation_time", "2026-01-01 00:00:00"))
        return tags

    def _describe_process(self) -> None:
        place, truth = self._place, self.rank.truth
        node = {
            "id": self._node, "hash": self._hash, "machine_id": place.machine_id, "system_name": "Linux",
            "hostname": place.hostname, "release": "6.8.0-71-generic", "version": "#71-Ubuntu SMP",
            "hardware_name": "x86_64", "domain_name": "(none)",
        }  # fmt: skip
        self._put_all("info_node", [node])
        begin, end = (truth.start_ns or 0) - _LOADED_BEFORE_NS, (truth.end_ns or 0) + 1_000_000
        facts = {"nid": self._node, "ppid": place.pid - 3, "pid": place.pid}
        times = {"init": begin, "fini": end, "start": begin, "end": end}
        texts = {"command": place.command, "environment": json.dumps(place.environment)}
        extdata = {"extdata": json.dumps({"kernel_rename": False})}
        self._put_all("info_process", [{"id": place.pid} | facts | times | texts | extdata])
        self._put_all("info_thread", [{"id": tid} | facts | {"tid": tid} for tid in place.tids])
        track = {"nid": self._node, "pid": place.pid, "name_id": self._string("MARKER_CORE_API")}
        self._put_all("track", [{"id": 1 + number, "tid": tid} | track for number, tid in enumerate(place.tids)])

    def _describe_devices(self) -> None:
        workload, where = self.rank.workload, {"nid": self._node, "pid": self._place.pid}
        self._put_all("info_agent", [
            {"id": agent.number, **where, "type": agent.kind, "absolute_index": agent.number,
             "logical_index": agent.number, "type_index": agent.type_index, "uuid": agent.device_id,
             "name": agent.name, "model_name": agent.model, "vendor_name": agent.vendor,
             "product_name": agent.product, "user_name": agent.product, "extdata": json.dumps(agent.properties)}
            for agent in agents(workload.target, workload.gpus)
        ])  # fmt: skip
        for table, kind, most in (
            ("info_stream", "Stream", workload.streams),
            ("info_queue", "Queue", min(HARDWARE_QUEUES, workload.streams)),
        ):
            names = [f"Default {kind}", *(f"{kind} {number}" for number in range(most))]
            self._put_all(table, [{"id": number, **where, "name": name} for number, name in enumerate(names)])
        self._put_all("info_pmc", [
            {"id": self._pmc(number, gpu), **where, "agent_id": CPUS + gpu, "target_arch": "GPU",
             "name": counter.name, "symbol": counter.name, "description": counter.description, "component": "rocm",
             "value_type": "ABS", "block": counter.block, "expression": counter.expression, "is_constant": 0,
             "is_derived": int(bool(counter.expression))}
            for gpu in self._place.gpus
            for number, counter in enumerate(COUNTERS[: workload.counters])
        ])  # fmt: skip

    def _describe_code(self) -> None:
        where = {"nid": self._node, "pid": self._place.pid}
        for number, gpu in enumerate(self._place.gpus):
            base = _CODE_BASE + number * 0x200000
            facts = {"uri": f"memory://{self._place.pid}#offset={base:#x}&size=262144", "load_base": base,
                     "load_size": 262144, "load_delta": base}  # fmt: skip
            extdata = {"size": 88, "code_object_id": number + 1, **facts, "storage_type": 2, "memory_base": base}
            row = {"id": number + 1, **where, "agent_id": CPUS + gpu, **facts, "extdata": json.dumps(extdata)}
            self._put_all("info_code_object", [row])
        for number, kernel in enumerate(self._kernels, 1):
            facts = {"kernel_name": f"{kernel.name}.kd", "kernel_object": _CODE_BASE + 64 * number,
                     "kernarg_segment_size": 264, "kernarg_segment_alignment": 64,
                     "group_segment_size": kernel.lds_bytes, "private_segment_size": kernel.scratch_bytes,
                     "sgpr_count": kernel.sgprs, "arch_vgpr_count": kernel.vgprs,
                     "accum_vgpr_count": kernel.accum_vgprs}  # fmt: skip
            names = {"formatted_kernel_name": kernel.name, "demangled_kernel_name": kernel.name,
                     "truncated_kernel_name": kernel.name.partition("(")[0].partition("<")[0]}  # fmt: skip
            extdata = {"size": 88, "kernel_id": number, **facts, "kernel_code_entry_byte_offset": 4096 * number,
                       "kernel_address": {"handle": _CODE_BASE + 4096 * number}, **names}  # fmt: skip
            row = {"id": number, **where, "code_object_id": 1, "display_name": kernel.name, **facts}
            self._put_all("info_kernel_symbol", [row | {"extdata": json.dumps(extdata)}])


_RUN_TABLES = {
    "nodes": "info_node",
    "processes": "info_process",
    "threads": "info_thread",
    "agents": "info_agent",
    "queues": "info_queue",
    "streams": "info_stream",
    "code_objects": "info_code_object",
    "symbols": "info_kernel_symbol",
    "counter_info": "info_pmc",
}
