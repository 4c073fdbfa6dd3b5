"""Synthetic runs as RPD databases (rocmProfileData)."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from synth.databases import new_databases
from synth.run_truth import RankTruth, SyntheticRun
from synth.simulate import RANGE, simulate
from synth.workload import COUNTERS
from wavewright.errors import UsageError

if TYPE_CHECKING:
    import sqlite3
    from os import PathLike

    from synth.run_events import Call, Copy, Dispatch, Place, Step
    from synth.simulate import RankRun
    from synth.workload import Kernel, Workload

__all__ = ["COPY_OPERATIONS", "RpdTables", "write_rpd"]

_BUFFERED_ROWS = 20_000
_GPU_STRIDE, _PID_STRIDE = 1000, 10_000_000
_FIRST_ID = 1 << 32
"""Every process counts its rows from a multiple of this."""

COPY_OPERATIONS = {
    "MEMORY_COPY_HOST_TO_DEVICE": "CopyHostToDevice",
    "MEMORY_COPY_DEVICE_TO_HOST": "CopyDeviceToHost",
    "MEMORY_COPY_DEVICE_TO_DEVICE": "CopyDeviceToDevice",
}
"""Names of copies as the truth has them -> types of operations in RPD."""

# Columns: > = id of that table; texts end with ', fractions with ~. A first column "id" counts by itself.
_BOTH = {
    "metadata": "id tag' value'",
    "string": "id string'",
    "copyapi": "api_ptr_id>api stream' size width height kind dst' src' dstDevice srcDevice sync pinned",
    "api_ops": "id api_id>api op_id>op",
    "monitor": "id deviceType' deviceId monitorType' start end value'",
}
_SCHEMAS = {
    2: _BOTH
    | {
        "api": "id pid tid start end apiName_id>string args_id>string",
        "op": "id gpuId queueId sequenceId completionSignal' start end description_id>string opType_id>string",
        "kernelapi": "api_ptr_id>api stream' gridX gridY gridZ workgroupX workgroupY workgroupZ groupSegmentSize"
        " privateSegmentSize kernelArgAddress' aquireFence' releaseFence' codeObject_id kernelName_id>string",
        "kernelcodeobject": "id vgpr sgpr fbar",
        "barrierop": "op_ptr_id>op signalCount aquireFence' releaseFence'",
        "op_inputSignals": "id from_op_id>op to_op_id>op",
    },
    3: _BOTH
    | {
        "ustring": "id string'",
        "api": "id pid tid start end apiName_id>string category_id>string domain_id>string args_id>ustring",
        "op": "id gpuId queueId sequenceId start end description_id>string opType_id>string",
        "kernelapi": "api_ptr_id>api stream' gridX gridY gridZ workgroupX workgroupY workgroupZ groupSegmentSize"
        " privateSegmentSize kernelName_id>string",
        "counter": "id value~ op_id>op name_id>string",
        "stackframe": "id api_ptr_id>api depth name_id>string",
    },
}


def write_rpd(path: str | PathLike[str], workload: Workload, *, schema: int = 3) -> SyntheticRun:
    """Write a run as one RPD database with all its processes.

    RPD knows no HSA calls and no allocations; counters and call stacks only in schema 3. The truth says so. The file
    appears whole or not at all; one that exists is replaced.

    Parameters
    ----------
    schema
        Version of the schema: 2 or 3.

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
    ...     run = write_rpd(folder + "/run.rpd", Workload(dispatches=50))
    >>> run.total.counts["dispatches"]
    50
    """
    if schema not in _SCHEMAS:
        problem = f"no RPD schema {schema!r}"
        raise UsageError(problem, advice="known: 2 and 3")
    target = Path(path)
    with new_databases([target]) as opened:
        tables = RpdTables(opened[target], workload.kernels, workload.ranks, schema)
        ranks: dict[int, RankRun] = {}
        for rank, step in simulate(workload):
            ranks[rank.place.rank] = rank
            tables.add(rank, step)
        tables.finish()
    truths = (ranks[number].truth for number in sorted(ranks))
    return SyntheticRun((target,), tuple(_as_recorded(truth, frames, schema) for truth, frames in
                                         zip(truths, tables.frames_of_ranks(), strict=True)))  # fmt: skip


def _as_recorded(truth: RankTruth, frames: int, schema: int) -> RankTruth:
    recorded_truth = truth.without("HSA")
    tables = ["dispatches", "copies", "regions", "samples", "monitors", *(["counters"] if schema == 3 else [])]
    counts = type(recorded_truth.counts)({name: recorded_truth.counts[name] for name in tables})
    if schema == 3:
        counts["frames"] = frames
    return dataclasses.replace(recorded_truth, allocations={}, counts=counts)


def _create(table: str, columns: str) -> str:
    column_texts = []
    for number, column in enumerate(columns.split()):
        name, _, target = column.rstrip("'~").partition(">")
        kind = {"'": "varchar(4096)", "~": "real"}.get(column[-1], "integer")
        text = f'"{name}" {kind} NOT NULL'
        if number == 0:
            text += " PRIMARY KEY AUTOINCREMENT" if name == "id" else " PRIMARY KEY"
        if target:
            text += f' REFERENCES "rocpd_{target}" ("id") DEFERRABLE INITIALLY DEFERRED'
        column_texts.append(text)
    return f'CREATE TABLE "rocpd_{table}" ({", ".join(column_texts)})'


class _Recorded(Protocol):
    """A process that was recorded."""

    @property
    def place(self) -> Place: ...


class RpdTables:
    """The tables of a run, filled as it goes on."""

    def __init__(self, database: sqlite3.Connection, kernels: tuple[Kernel, ...], ranks: int, schema: int) -> None:
        self._database = database
        self._schema = schema
        self._ranks = ranks
        self._kernels = kernels
        self._rows: dict[str, list[tuple[Any, ...]]] = {table: [] for table in _SCHEMAS[schema]}
        self._strings: dict[str, int] = {}
        self._unique = 0
        self._frames = [0] * ranks
        self._apis = [_FIRST_ID * (rank + 1) for rank in range(ranks)]
        self._ops = list(self._apis)
        self._links = self._counters = self._stack_rows = self._monitors = 0
        for table, columns in _SCHEMAS[schema].items():
            database.execute(_create(table, columns))
        self._string("")
        if schema == 3:
            self._text("")

    def frames_of_ranks(self) -> list[int]:
        """Number of stack frames of each rank."""
        return self._frames

    def add(self, rank: _Recorded, step: Step) -> None:
        """Take in what a rank did in an iteration."""
        place = rank.place
        apis: dict[int, int] = {}
        copies = {copy.correlation: copy for copy in step.copies}
        launches = {dispatch.correlation: dispatch for dispatch in step.dispatches if not dispatch.graph_exec}
        for call in step.calls:
            if call.category.startswith("HSA"):
                continue
            api = apis[call.correlation] = self._api(rank, call)
            if call.correlation in launches:
                self._kernel_api(api, launches[call.correlation])
            elif call.correlation in copies:
                self._copy_api(api, copies[call.correlation])
        for mark in step.marks:
            self._add_api(rank, mark.thread, mark.time_ns, mark.time_ns, "UserMarker", "roctx", mark.text)
        gpu_base = place.node * _GPU_STRIDE
        for dispatch in step.dispatches:
            name = self._kernels[dispatch.kernel].name
            op = self._op(place.rank, gpu_base + dispatch.gpu, dispatch, name, "KernelExecution")
            self._link(apis[dispatch.correlation], op)
            if self._schema == 3:
                self._take_counters(op, dispatch)
        for copy in step.copies:
            gpu = gpu_base + place.gpu_of(copy.stream)
            self._link(apis[copy.correlation], self._op(place.rank, gpu, copy, "", COPY_OPERATIONS[copy.direction]))
        for gpu, name, begin, end, value in step.monitors:
            self._monitors += 1
            self._rows["monitor"].append((self._monitors, "gpu", gpu_base + gpu, name, begin, end, str(value)))
        if len(self._rows["op"]) > _BUFFERED_ROWS:
            self._flush()

    def finish(self) -> None:
        """Write what is known only at the end, and all that is left."""
        self._rows["string"] = [(number, text) for text, number in self._strings.items()]
        metadata = {"schema_version": self._schema, "session_count": self._ranks}
        if self._schema == 3:
            metadata = {"gpu_stride": _GPU_STRIDE, "pid_stride": _PID_STRIDE} | metadata
        self._rows["metadata"] = [(number, tag, str(value)) for number, (tag, value) in enumerate(metadata.items(), 1)]
        self._flush()

    def _flush(self) -> None:
        for table, rows in self._rows.items():
            if rows:
                marks = ", ".join("?" * len(rows[0]))
                self._database.executemany(f'INSERT INTO "rocpd_{table}" VALUES ({marks})', rows)  # noqa: S608
                rows.clear()

    def _string(self, text: str) -> int:
        return self._strings.setdefault(text, len(self._strings) + 1)

    def _text(self, text: str) -> int:
        """The id of a text that is not often repeated."""
        if self._schema == 2:
            return self._string(text)
        if text or not self._unique:
            self._unique += 1
            self._rows["ustring"].append((self._unique, text))
            return self._unique
        return 1

    def _api(self, rank: _Recorded, call: Call) -> int:
        if call.category == RANGE:
            name, domain, text = "UserMarker", "roctx", call.text or ""
        else:
            name, domain = call.function, call.category.partition("_")[0].lower()
            text = " | ".join(f"{argument}={value}" for _, argument, value in call.arguments)
        api = self._add_api(rank, call.thread, call.start_ns, call.end_ns, name, domain, text)
        if self._schema == 3:
            for depth, frame in enumerate(call.frames):
                self._stack_rows += 1
                self._rows["stackframe"].append((self._stack_rows, api, depth, self._string(frame)))
            self._frames[rank.place.rank] += len(call.frames)
        return api

    def _add_api(self, rank: _Recorded, thread: int, begin: int, end: int, name: str, domain: str, text: str) -> int:
        place = rank.place
        self._apis[place.rank] += 1
        api, base = self._apis[place.rank], place.node * _PID_STRIDE
        kind = (self._string(""), self._string(domain)) if self._schema == 3 else ()
        who = (base + place.pid, base + place.tids[thread])
        self._rows["api"].append((api, *who, begin, end, self._string(name), *kind, self._text(text)))
        return api

    def _kernel_api(self, api: int, dispatch: Dispatch) -> None:
        kernel: Kernel = self._kernels[dispatch.kernel]
        blocks = [grid // group for grid, group in zip(kernel.grid, kernel.workgroup, strict=True)]
        more = ("", "", "", 0) if self._schema == 2 else ()
        self._rows["kernelapi"].append((
            api, _stream(dispatch.stream), *blocks, *kernel.workgroup, kernel.lds_bytes, kernel.scratch_bytes, *more,
            self._string(kernel.name),
        ))  # fmt: skip

    def _copy_api(self, api: int, copy: Copy) -> None:
        kind = 1 if copy.direction.endswith("DEVICE") else 2
        self._rows["copyapi"].append((
            api, _stream(copy.stream), copy.size_bytes, 0, 0, kind, "0x7f3000000000", "0x7f4000000000", 0, 0,
            int(kind == 2), 0,
        ))  # fmt: skip

    def _op(self, rank: int, gpu: int, work: Dispatch | Copy, description: str, kind: str) -> int:
        self._ops[rank] += 1
        op = self._ops[rank]
        signal = ("",) if self._schema == 2 else ()
        names = (self._string(description), self._string(kind))
        self._rows["op"].append((op, gpu, work.queue, 0, *signal, work.start_ns, work.end_ns, *names))
        return op

    def _link(self, api: int, op: int) -> None:
        self._links += 1
        self._rows["api_ops"].append((self._links, api, op))

    def _take_counters(self, op: int, dispatch: Dispatch) -> None:
        for counter, _, value in dispatch.counters:
            self._counters += 1
            name = self._string(COUNTERS[counter].name)
            self._rows["counter"].append((self._counters, float(value), op, name))


def _stream(number: int) -> str:
    return hex(0x55D000000000 + 256 * number)
