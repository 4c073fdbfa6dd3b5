"""Simulated runs as PyTorch writes them on AMD GPUs (Kineto), one JSON file per rank.

As in real files, calls of synchronisation and of events do not say which stream or event they mean.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from synth.runs.engine import stream_handle
from synth.runs.places import clock_ns, place_of

if TYPE_CHECKING:
    from os import PathLike

    from synth.runs.events import Region, SimulatedRun, Work

__all__ = ["write_kineto"]

_CATEGORIES = {
    "HIP": "cuda_runtime",
    "RCCL": "user_annotation",
    "MARKER": "user_annotation",
    "OPERATOR": "cpu_op",
    "PYTHON": "python_function",
}
_ANNOTATIONS = {
    "ncclAllReduce": ("nccl:all_reduce", "allreduce"),
    "ncclAllGather": ("nccl:_all_gather_base", "_allgather_base"),
    "ncclReduceScatter": ("nccl:_reduce_scatter_base", "_reduce_scatter_base"),
    "ncclBroadcast": ("nccl:broadcast", "broadcast"),
}
_COPIES = {"HtoD": "Memcpy HtoD (Host -> Device)", "DtoH": "Memcpy DtoH (Device -> Host)",
           "DtoD": "Memcpy DtoD (Device -> Device)"}  # fmt: skip
_BASE_NS = 1_751_410_836_000_000_000
_ELEMENT_BYTES = 4


def write_kineto(
    run: SimulatedRun, folder: str | PathLike[str], *, with_sequence: bool = True, is_cuda: bool = False
) -> list[Path]:
    """Write `rank<number>.pt.trace.json` for every rank into a folder, which is made if missing.

    Parameters
    ----------
    with_sequence
        Whether collectives have the number `Seq`, as newer versions of PyTorch write it.
    is_cuda
        Whether calls have the names of CUDA, and waits are recorded as on GPUs of NVIDIA: `cuda_sync` events that
        say which stream or event was waited for.
    """
    directory = Path(folder)
    directory.mkdir(parents=True, exist_ok=True)
    paths = []
    for rank in range(len(run.program.ranks)):
        path = directory / f"rank{rank}.pt.trace.json"
        document = _document(run, rank, with_sequence=with_sequence)
        if is_cuda:
            _add_waits(run, rank, document["traceEvents"])
        path.write_text(json.dumps(document), encoding="utf-8")
        paths.append(path)
    return paths


def _document(run: SimulatedRun, rank: int, *, with_sequence: bool) -> dict[str, Any]:
    place, shift = place_of(run, rank), clock_ns(run, rank)
    gpu = place.gpus[0]
    works = [work for work in run.works if work.rank == rank]
    by_call: dict[int, Work] = {}
    for work in works:
        by_call.setdefault(work.number, work)
    regions = [region for region in run.regions if region.rank == rank]
    by_number = {region.number: region for region in regions}
    events: list[dict[str, Any]] = [
        {"ph": "M", "name": "process_name", "pid": place.pid, "tid": 0, "ts": 0, "args": {"name": "python3"}}
    ]
    for region in regions:
        if region.domain == "RCCL" and region.name not in _ANNOTATIONS:
            continue
        external = _operator_of(region, by_number)
        args: dict[str, Any] = {"External id": external} if external else {}
        name = region.name
        if region.domain == "HIP":
            args |= {"cid": 107, "correlation": region.number} | _call_arguments(by_call.get(region.number))
        elif region.domain == "RCCL":
            name = _ANNOTATIONS[name][0]
        elif region.domain == "PYTHON":
            parent = by_number.get(region.parent)
            is_inner = parent is not None and parent.domain == "PYTHON"
            args = {"Python id": region.number, "Python parent id": region.parent if is_inner else None}
        where = {"pid": place.pid, "tid": place.tids[region.thread]}
        times = {"ts": _microseconds(region.start_ns + shift), "dur": _microseconds(region.end_ns - region.start_ns)}
        events.append({"ph": "X", "cat": _CATEGORIES[region.domain], "name": name, **where, **times, "args": args})
        if region.number in by_call:
            flow = {"id": region.number, **where, "ts": times["ts"], "cat": "ac2g", "name": "ac2g"}
            events.append({"ph": "s", **flow})
    for work in works:
        external = _operator_of(by_number[work.number], by_number)
        args = {"External id": external} if external else {}
        args |= {"device": gpu, "stream": work.stream, "correlation": work.number}
        times = {"ts": _microseconds(work.start_ns + shift), "dur": _microseconds(work.end_ns - work.start_ns)}
        where = {"pid": gpu, "tid": work.stream}
        category, name = "kernel", work.name
        if work.kind == "copy":
            category, name = "gpu_memcpy", _COPIES[work.name]
            args |= {"kind": work.name, "bytes": work.size_bytes}
        else:
            args["kind"] = "Dispatch Kernel"
        if work.kind == "communication":
            call = by_number[by_number[work.number].parent].name
            args |= _collective(run, work, _ANNOTATIONS[call][1], with_sequence=with_sequence)
        events.append({"ph": "X", "cat": category, "name": name, **where, **times, "args": args})
        events.append(
            {"ph": "f", "id": work.number, **where, "ts": times["ts"], "cat": "ac2g", "name": "ac2g", "bp": "e"}
        )
    size = len(run.program.ranks)
    device = {"id": gpu, "name": "AMD Instinct MI300X", "numSms": 304, "warpSize": 64, "sharedMemPerBlock": 65536}
    return {
        "schemaVersion": 1,
        "deviceProperties": [device],
        "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": size},
        "displayTimeUnit": "ms",
        "baseTimeNanoseconds": _BASE_NS,
        "traceEvents": events,
    }


_WAITS = {
    "hipDeviceSynchronize": "Context Sync",
    "hipStreamSynchronize": "Stream Sync",
    "hipEventSynchronize": "Event Sync",
    "hipStreamWaitEvent": "Stream Wait Event",
}


def _add_waits(run: SimulatedRun, rank: int, events: list[dict[str, Any]]) -> None:
    """Names of CUDA, and a `cuda_sync` event beside every call that waits."""
    for event in events:
        if event.get("cat") == "cuda_runtime":
            event["name"] = "cuda" + event["name"].removeprefix("hip")
    streams = {stream_handle(work.stream): work.stream for work in run.works}
    regions = sorted((region for region in run.regions if region.rank == rank), key=lambda region: region.start_ns)
    records: dict[str, tuple[int, int]] = {}  # the last one before; in damaged runs there are only later ones
    for region in reversed(regions):
        if region.name == "hipEventRecord":
            values = {name: value for _, name, value in region.arguments}
            records[values["event"]] = (region.number, streams.get(values["stream"], -1))
    gpu, shift = place_of(run, rank).gpus[0], clock_ns(run, rank)
    for region in regions:
        arguments = {name: value for _, name, value in region.arguments}
        stream = streams.get(arguments.get("stream", ""), -1)
        if region.name == "hipEventRecord":
            records[arguments["event"]] = (region.number, stream)
        if region.name not in _WAITS:
            continue
        args: dict[str, Any] = {"cuda_sync_kind": _WAITS[region.name], "stream": stream, "device": gpu}
        if "event" in arguments and arguments["event"] in records:
            number, on_stream = records[arguments["event"]]
            args |= {"wait_on_stream": on_stream, "wait_on_cuda_event_record_corr_id": number}
            args["wait_on_cuda_event_id"] = int(arguments["event"], 16) & 0xFFFF
        times = {"ts": _microseconds(region.start_ns + shift), "dur": _microseconds(region.end_ns - region.start_ns)}
        row = {"ph": "X", "cat": "cuda_sync", "name": _WAITS[region.name], "pid": gpu, "tid": stream, **times}
        events.append({**row, "args": args | {"correlation": region.number}})


def _microseconds(nanoseconds: int) -> float:
    return nanoseconds / 1000


def _operator_of(region: Region, by_number: dict[int, Region]) -> int:
    """The operator that a region is or lies in: its id links the events of one operator."""
    number = region.number
    while number and by_number[number].domain != "OPERATOR":
        number = by_number[number].parent
    return number


def _call_arguments(work: Work | None) -> dict[str, Any]:
    if work is None:
        return {}
    if work.kind == "copy":
        kinds = {"HtoD": "1", "DtoH": "2", "DtoD": "3"}
        return {"stream": stream_handle(work.stream), "bytes": str(work.size_bytes), "kind": kinds[work.name]}
    if work.graph_node:
        return {"stream": stream_handle(work.stream)}
    sizes = {"grid": [4096, 1, 1], "block": [256, 1, 1], "shared memory": 0}
    return {"kernel": work.name, "stream": stream_handle(work.stream)} | sizes


def _collective(run: SimulatedRun, work: Work, name: str, *, with_sequence: bool) -> dict[str, Any]:
    ranks = run.program.group_of(work.group)
    elements = work.size_bytes // _ELEMENT_BYTES
    inside = elements // len(ranks) if "allgather" in name else elements
    outside = elements // len(ranks) if "reduce_scatter" in name else elements
    return {
        "Collective name": name,
        "In msg nelems": inside,
        "Out msg nelems": outside,
        "Group size": len(ranks),
        "dtype": "Float",
        "In split size": "[]",
        "Out split size": "[]",
        "Process Group Name": work.group,
        "Process Group Description": "default_pg",
        "Process Group Ranks": str(list(ranks)),
    } | ({"Seq": work.sequence} if with_sequence else {})
