"""A small run in memory with rows in every table: two processes on two nodes, whose clocks differ."""

from __future__ import annotations

from typing import Any

from wavewright.model.run import MemorySource, Run
from wavewright.model.run_tables import RUN
from wavewright.model.schema import frame_of

CLOCKS = (1_000, 5_000_000)
"""Begin of the run of each process."""


def small_source(path: str = "small.db", *, guids: tuple[str, str] | None = None) -> MemorySource:
    """Process 0: rank 0 with GPUs 0 and 1, process 1: rank 1; each runs for 1,000 ns and does the same."""
    runs = guids or ("0000ddb5-8903-7903-b269-cd8d3745bb8a", "0000ddb5-8903-7903-b269-cd8d3745bb8b")
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in RUN}
    for process in (0, 1):
        _add_process(rows, process, runs[process])
    tables = {name: frame_of(RUN[name], found) for name, found in rows.items() if found}
    return MemorySource(path, "ROCpd", "3.0.3", tables)


def small_run(path: str = "small.db") -> Run:
    return Run([small_source(path)])


def _add_process(rows: dict[str, list[dict[str, Any]]], process: int, guid: str) -> None:
    zero, pid = CLOCKS[process], 40 + process
    machine = f"machine{process}"
    rows["nodes"].append(
        {
            "node": process,
            "node_id": 7 + process,
            "hash": 70 + process,
            "machine_id": machine,
            "hostname": f"h{process}",
        }
    )
    rows["processes"].append(
        {
            "process": process,
            "node": process,
            "pid": pid,
            "parent_pid": 1,
            "rank": process,
            "guid": guid,
            "command": "train; echo 'x'",
            "init_ns": zero,
            "fini_ns": zero + 1000,
            "properties": "{}",
        }
    )
    rows["environment"].append({"process": process, "name": "OMPI_COMM_WORLD_RANK", "value": str(process)})
    rows["threads"].append({"thread": process, "process": process, "tid": pid, "parent_pid": 1, "name": "main"})
    first = 3 * process
    for position, (kind, index) in enumerate((("CPU", 0), ("GPU", 0), ("GPU", 1))):
        rows["agents"].append(
            {
                "agent": first + position,
                "process": process,
                "agent_id": position,
                "kind": kind,
                "absolute_index": position,
                "logical_index": position,
                "type_index": index,
                "target": "gfx942" if kind == "GPU" else "EPYC",
                "product": "MI300X",
                "cu_count": 304,
                "properties": '{"cu_count": 304}',
            }
        )
    for kind in ("queue", "stream"):
        for number in (0, 1):
            rows[f"{kind}s"].append(
                {kind: 2 * process + number, "process": process, f"{kind}_id": number, "name": f"{kind} {number}"}
            )
    rows["code_objects"].append(
        {"code_object": process, "process": process, "agent": first + 1, "code_object_id": 1, "uri": "file:///a.co"}
    )
    for number, name in enumerate(("gemm<float>", "copy'\"kernel")):
        rows["symbols"].append(
            {
                "symbol": 2 * process + number,
                "process": process,
                "code_object": process,
                "symbol_id": 1 + number,
                "mangled": f"_Z{number}",
                "name": name,
                "vgpr_count": 32,
            }
        )
    rows["counter_info"].append(
        {
            "counter": process,
            "process": process,
            "agent": first + 1,
            "counter_id": 5,
            "name": "SQ_WAVES",
            "symbol": "SQ_WAVES",
            "is_constant": False,
            "is_derived": False,
            "value_type": "ABS",
        }
    )
    _add_events(rows, process, zero)


def _add_events(rows: dict[str, list[dict[str, Any]]], process: int, zero: int) -> None:
    first = 3 * process
    place = {"process": process, "thread": process}
    for number in range(10):
        at = zero + 100 * number
        name = "step" if number % 2 else f"step {number}"
        call = 100 + number
        link = {"correlation": call, "parent_correlation": 0, "external_correlation": 0}
        rows["regions"].append(
            place
            | link
            | {
                "category": "MARKER_CORE_RANGE_API",
                "domain": "MARKER",
                "name": name,
                "function": "roctxRangePushA",
                "start_ns": at,
                "end_ns": at + 100,
                "event": 1 + number,
                "event_properties": f'{{"message": "{name}"}}',
            }
        )
        rows["regions"].append(
            place
            | link
            | {
                "category": "HIP_RUNTIME_API",
                "domain": "HIP",
                "name": "hipLaunchKernel",
                "function": "hipLaunchKernel",
                "start_ns": at + 10,
                "end_ns": at + 20,
                "event": 21 + number,
            }
        )
        rows["arguments"].append(
            {"process": process, "event": 21 + number, "position": 0, "type": "int", "name": "stream", "value": "a;b\n"}
        )
        rows["frames"].append({"process": process, "event": 21 + number, "depth": 0, "name": "main"})
        rows["dispatches"].append(
            place
            | link
            | {
                "agent": first + 1 + number % 2,
                "queue": 2 * process + number % 2,
                "stream": 2 * process + number % 2,
                "symbol": 2 * process + number % 2,
                "name": ("gemm<float>", "copy'\"kernel")[number % 2],
                "dispatch_id": 1 + number,
                "start_ns": at + 30,
                "end_ns": at + 80,
                "workgroup_x": 64,
                "workgroup_y": 1,
                "workgroup_z": 1,
                "grid_x": 640,
                "grid_y": 1,
                "grid_z": 1,
                "lds_bytes": 512,
                "scratch_bytes": 0,
                "vgpr_count": 32,
                "event": 41 + number,
            }
        )
        rows["counters"].append({"process": process, "counter": process, "event": 41 + number, "value": 1.5 + number})
        rows["samples"].append(
            place
            | link
            | {
                "category": "MARKER_CORE_API",
                "domain": "MARKER",
                "name": f"mark {number}",
                "function": "roctxMarkA",
                "time_ns": at + 90,
                "event": 61 + number,
                "event_properties": f'{{"message": "mark {number}"}}',
            }
        )
        copying = {"correlation": 200 + number, "parent_correlation": 0, "external_correlation": 0}
        rows["regions"].append(
            place
            | copying
            | {
                "category": "HIP_RUNTIME_API",
                "domain": "HIP",
                "name": "hipMemcpyAsync",
                "function": "hipMemcpyAsync",
                "start_ns": at + 22,
                "end_ns": at + 28,
                "event": 121 + number,
            }
        )
        rows["copies"].append(
            place
            | copying
            | {
                "name": "MEMORY_COPY_HOST_TO_DEVICE",
                "start_ns": at + 40,
                "end_ns": at + 60,
                "size_bytes": 4096,
                "src_agent": first,
                "dst_agent": first + 1 + number % 2,
                "stream": 2 * process,
                "event": 81 + number,
            }
        )
    for number, (kind, agent) in enumerate((("ALLOC", first + 1), ("FREE", None))):
        rows["allocations"].append(
            place
            | {
                "agent": agent,
                "type": kind,
                "level": "REAL",
                "start_ns": zero + 5 + 900 * number,
                "end_ns": zero + 6 + 900 * number,
                "address": 4096,
                "size_bytes": 64 * (1 - number),
                "event": 101 + number,
            }
        )
    rows["monitors"].append(
        {
            "process": process,
            "agent": first + 1,
            "name": "sclk",
            "start_ns": zero,
            "end_ns": zero + 500,
            "value": 2100.0,
        }
    )
