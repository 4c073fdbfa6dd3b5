"""Logs of RCCL Inspector and of the ACCL profiler: one JSON object per line and collective, one file per process.

Inspector samples: collectives between the sequence numbers of a group were not logged.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from wavewright.errors import NotATraceError
from wavewright.model.losses import Loss
from wavewright.model.run import MemorySource
from wavewright.readers.files.text import text_bytes
from wavewright.readers.run.collective_records import MOST_RECORDS, amount, records_source, whole

_LINE_BYTES_MAX = 1 << 20
_GB = 1e9
_PERF = {"coll_perf": "coll", "p2p_perf": "p2p"}  #: Object of a line -> how its keys start.
_ADVICE = "set NCCL_INSPECTOR_ENABLE=1 with NCCL_PROFILER_PLUGIN, and take the JSON logs, not those for Prometheus"


def read_collective_log(path: Path) -> MemorySource:
    """The collectives of a log.

    Raises
    ------
    UsageError, NotATraceError
        When the file cannot be read, or has none.
    """
    recorder = "ACCL profiler" if path.name.startswith("accl_") else "RCCL Inspector"
    rows: list[dict[str, Any]] = []
    lost_count, process = 0, dict[str, Any]()
    dropped_count = 0
    version = ""
    for line in text_bytes(path).splitlines():
        fields = _decoded(line)
        if not fields:
            lost_count += bool(line.strip())
            continue
        header, about = _object(fields, "header"), _object(fields, "metadata")
        version = version or str(about.get("inspector_output_format_version") or "")[:40]
        process = process or {
            "pid": whole(about.get("pid"), 1 << 31),
            "hostname": str(about.get("hostname") or "")[:200],
        }
        summary = _object(fields, "summary")
        dropped_count += sum(
            whole(value, 1 << 40) or 0 for key, value in summary.items() if key.startswith(("dropped", "overflow"))
        )
        row = _row(header, fields, recorder)
        if row and len(rows) < MOST_RECORDS:
            rows.append(row)
        else:
            lost_count += not summary and set(fields) != {"header"}
    if not rows:
        raise NotATraceError("a log of collectives without any", where=str(path), advice=_ADVICE)
    losses = [Loss("malformed_rows", lost_count, detail=path.name)] if lost_count else []
    losses += [Loss("unlogged_collectives", dropped_count, detail=path.name)] if dropped_count else []
    return records_source(path, f"{recorder} log", version, rows, losses, **process)


def _row(header: dict[str, Any], fields: dict[str, Any], recorder: str) -> dict[str, Any] | None:
    kind = next((kind for kind in _PERF if isinstance(fields.get(kind), dict)), None)
    if kind is None:
        return None
    perf, prefix = fields[kind], _PERF[kind]
    value = {key.removeprefix(f"{prefix}_"): entry for key, entry in perf.items()}
    times = _object(perf, "event_trace_ts")
    start_us = whole(times.get(f"{prefix}_start_ts"), 1 << 52)
    duration_us = amount(value.get("exec_time_us"))
    name = perf.get(prefix)
    if not isinstance(name, str) or duration_us is None:
        return None
    return {
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


def _decoded(line: bytes) -> dict[str, Any]:
    if len(line) > _LINE_BYTES_MAX:
        return {}
    try:
        fields = msgspec.json.decode(line)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return {}
    return fields if isinstance(fields, dict) else {}


def _object(fields: dict[str, Any], key: str) -> dict[str, Any]:
    value = fields.get(key)
    return value if isinstance(value, dict) else {}
