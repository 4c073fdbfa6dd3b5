"""Logs of collectives: of RCCL itself (`NCCL_DEBUG=INFO`), of RCCL Inspector and of the ACCL profiler.

The last two have one JSON object per line and collective, one file per process. Inspector samples: collectives between
the sequence numbers of a group were not logged. In a log of RCCL a line of the subsystem COLL is a call: operation,
`opCount` (of its communicator, hexadecimal), elements, type, communicator, ranks; lines about communicators (INIT) give
their identity on all ranks. One file may be of many processes. It says when nothing starts or ends.
"""

from __future__ import annotations

import re
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from wavewright.errors import NotATraceError
from wavewright.facts.loader import packaged
from wavewright.model.losses import Loss
from wavewright.model.run import MemorySource
from wavewright.readers.files.text import UNREADABLE_JSON, text_bytes
from wavewright.readers.run.collective_records import MOST_RECORDS, RCCL, amount, records_source, whole

_LINE_BYTES_MAX = 1 << 20
_GB = 1e9
_TYPE_BYTES: list[int] = packaged("collective_types.toml")["rccl_type_bytes"]  #: By the number in `datatype`.
_HOST_AND_PID = rb"(?<![^\s:>\]])([^\s:]{1,200}):(\d{1,10}):\d{1,10} \[\d{1,4}\][^\n]{0,40}? NCCL INFO "
_CALL = re.compile(
    _HOST_AND_PID
    + rb"(\w{1,40}): opCount ([0-9a-f]{1,15}) sendbuff \S{1,20} recvbuff \S{1,20} count (\d{1,15}) datatype (\d{1,3})"
    rb" op \d{1,10} root -?\d{1,10} comm (0x[0-9a-f]{1,16}) \[nranks=(\d{1,9})\] stream \S{1,20}"
    rb"(?: task \d{1,10} globalrank (\d{1,9}))?"
)
_COMMUNICATOR = re.compile(
    _HOST_AND_PID + rb"[^\n]{0,80}?comm (0x[0-9a-f]{1,16}) rank (\d{1,9}) [^\n]{0,200}?commId 0x([0-9a-f]{1,16})\b"
)
_PERF = {"coll_perf": "coll", "p2p_perf": "p2p"}  #: Object of a line -> how its keys start.
_ADVICE = "set NCCL_INSPECTOR_ENABLE=1 with NCCL_PROFILER_PLUGIN, and take the JSON logs, not those for Prometheus"


def read_collective_log(path: Path) -> MemorySource:
    """The collectives of a log. Raises `UsageError, NotATraceError` when the file cannot be read, or has none."""
    recorder = "ACCL profiler" if path.name.startswith("accl_") else "RCCL Inspector"
    data = text_bytes(path)
    if not data.lstrip().startswith(b"{"):
        return _read_rccl_log(path, data)
    rows: list[dict[str, Any]] = []
    lost_count = dropped_count = 0
    process: tuple[str, int | None] = ("", None)
    version = ""
    for line in data.splitlines():
        fields = _decoded(line)
        if not fields:
            lost_count += bool(line.strip())
            continue
        header, metadata = _object(fields, "header"), _object(fields, "metadata")
        version = version or str(metadata.get("inspector_output_format_version") or "")[:40]
        if process == ("", None):
            process = (str(metadata.get("hostname") or "")[:200], whole(metadata.get("pid"), 1 << 31))
        summary = _object(fields, "summary")
        drop_counts = (value for key, value in summary.items() if key.startswith(("dropped", "overflow")))
        dropped_count += sum(whole(value, 1 << 40) or 0 for value in drop_counts)
        row = _row(header, fields, recorder)
        if row and len(rows) < MOST_RECORDS:
            rows.append(row)
        else:
            lost_count += not summary and set(fields) != {"header"}
    if not rows:
        raise NotATraceError("a log of collectives without any", where=str(path), advice=_ADVICE)
    losses = [Loss("malformed_rows", lost_count, detail=path.name)] if lost_count else []
    losses += [Loss("unlogged_collectives", dropped_count, detail=path.name)] if dropped_count else []
    return records_source(path, f"{recorder} log", version, rows, losses, [process])


def _row(header: dict[str, Any], fields: dict[str, Any], recorder: str) -> dict[str, Any] | None:
    kind = next((kind for kind in _PERF if isinstance(fields.get(kind), dict)), None)
    if kind is None:
        return None
    perf, prefix = fields[kind], _PERF[kind]
    value = {key.removeprefix(f"{prefix}_"): entry for key, entry in perf.items()}
    start_us = whole(_object(perf, "event_trace_ts").get(f"{prefix}_start_ts"), 1 << 52)
    duration_us = amount(value.get("exec_time_us"))
    name = perf.get(prefix)
    if not isinstance(name, str) or duration_us is None:
        return None
    return {
        "process": 0,
        "rank": whole(header.get("rank"), 1 << 30),
        "recorder": recorder,
        "group": str(header.get("id") or "")[:200] or None,
        "group_size": whole(header.get("n_ranks"), 1 << 30),
        "sequence": whole(value.get("sn")),
        "collective": name[:200],
        "is_point_to_point": kind == "p2p_perf",
        "size_bytes": whole(value.get("msg_size_bytes")),
        "state": "completed",
        "start_ns": None if start_us is None else start_us * 1000,
        "duration_ns": round(duration_us * 1000),
        "time_source": str(value.get("timing_source") or "")[:40] or None,
        "algorithm_bytes_per_second": amount(value.get("algobw_gbs"), _GB),
        "bus_bytes_per_second": amount(value.get("busbw_gbs"), _GB),
    }


def _read_rccl_log(path: Path, data: bytes) -> MemorySource:
    names: dict[tuple[bytes, ...], tuple[str, int]] = {}  #: Process and address of a communicator -> identity, rank.
    for match in _COMMUNICATOR.finditer(data):
        host, pid, address, rank, identity = match.groups()
        names[host, pid, address] = (f"0x{int(identity, 16):x}", int(rank))
    rows: list[dict[str, Any]] = []
    processes: dict[tuple[str, int], int] = {}
    numbers: dict[tuple[bytes, ...], int] = {}  #: Communicators without a recorded identity, by their first call.
    lost_count = data.count(b": opCount ")
    for call in islice(_CALL.finditer(data), MOST_RECORDS):
        host, pid, name, number, count, kind, address, ranks, rank = call.groups()
        key = (host, pid, address)
        if key not in names:
            numbers.setdefault(key, sum(other[:2] == key[:2] for other in numbers))
        width = _TYPE_BYTES[int(kind)] if int(kind) < len(_TYPE_BYTES) else None
        size = None if width is None else int(count) * width
        is_part = name.decode() in ("AllGather", "ReduceScatter", "AllToAll", "AllToAllPivot", "Gather", "Scatter")
        rows.append({
            "process": processes.setdefault((host.decode(errors="replace")[:200], int(pid)), len(processes)),
            "rank": names[key][1] if key in names else None if rank is None else int(rank),
            "recorder": RCCL,
            "group": names[key][0] if key in names else f"communicator {numbers[key]}",
            "group_size": int(ranks),
            "sequence": int(number, 16),
            "collective": name.decode(),
            "is_point_to_point": name in (b"Send", b"Recv"),
            "size_bytes": whole(size * int(ranks) if size is not None and is_part else size),  # of all ranks
        })  # fmt: skip
    if not rows:
        advice = "log calls with NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,COLL NCCL_DEBUG_FILE=rccl.%h.%p.log"
        raise NotATraceError("a log of RCCL without any collective", where=str(path), advice=advice)
    lost_count -= len(rows)
    losses = [Loss("malformed_rows", lost_count, detail=path.name)] if lost_count else []
    return records_source(path, "RCCL log", "", rows, losses, list(processes))


def _decoded(line: bytes) -> dict[str, Any]:
    """The object of a line; empty where it is none."""
    if len(line) > _LINE_BYTES_MAX:
        return {}
    with suppress(*UNREADABLE_JSON):
        fields = msgspec.json.decode(line)
        return fields if isinstance(fields, dict) else {}
    return {}


def _object(fields: dict[str, Any], key: str) -> dict[str, Any]:
    value = fields.get(key)
    return value if isinstance(value, dict) else {}
