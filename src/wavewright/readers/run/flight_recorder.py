"""Dumps of PyTorch's flight recorder: the last collectives of one rank, and how far each came.

The dump of a rank is a pickle, which is read without unpickling, or JSON. `duration_ms` is there where timing was on;
times at which the watchdog discovered something are late by up to its period, and are not read as durations.
"""

from __future__ import annotations

import json
import re
from math import prod
from pathlib import Path
from typing import Any

import msgspec

from wavewright.errors import NotATraceError
from wavewright.facts.element_bytes import ELEMENT_BYTES
from wavewright.model.losses import Loss
from wavewright.model.run import MemorySource
from wavewright.readers.files.pickles import PickledPairs, PickleReader
from wavewright.readers.files.text import text_bytes
from wavewright.readers.run.collective_records import amount, records_source, whole

_LIMIT = 1 << 30
_STATES = ("scheduled", "started", "completed")
_TEXT_MAX = 2_000
_MOST_SHAPES = 64
_RANK_OF_FILE = re.compile(r"(\d{1,6})(?:\.\w+)?$")
_ADVICE = (
    "set TORCH_NCCL_TRACE_BUFFER_SIZE (TORCH_FR_BUFFER_SIZE) and take the files of TORCH_NCCL_DEBUG_INFO_TEMP_FILE"
)


def read_flight_recorder(path: Path) -> MemorySource:
    """The collectives of a dump.

    Raises
    ------
    UsageError, NotATraceError
        When it cannot be read, has none, or would import or call anything: nothing of it is ever run.
    """
    data = text_bytes(path, _LIMIT)
    root = _plain(_of_json(path, data) if data.lstrip().startswith(b"{") else _of_pickle(path, data))
    entries = root.get("entries") if isinstance(root, dict) else None
    groups = _plain(root.get("pg_config")) if isinstance(root, dict) else None
    if not isinstance(entries, list) or not entries:
        raise NotATraceError("a dump of the flight recorder without any collective", where=str(path), advice=_ADVICE)
    rank = whole(root.get("rank"), 1 << 30)
    match = _RANK_OF_FILE.search(path.name)
    rank = int(match[1]) if rank is None and match else rank
    rows = [row for entry in entries if (row := _row(_plain(entry), groups if isinstance(groups, dict) else {}))]
    losses = [Loss("malformed_rows", len(entries) - len(rows), detail=path.name)] if len(rows) < len(entries) else []
    version = root.get("version")
    return records_source(
        path,
        "flight recorder",
        str(version)[:40] if version else "",
        [row | {"rank": rank, "process": 0} for row in rows],
        losses,
        [("", None)],
    )


def _of_pickle(path: Path, data: bytes) -> Any:
    inert = ("torch.jit._pickle.restore_type_tag", "torch.jit._pickle.build_intlist")
    return PickleReader(str(path), lambda module: module == "torch.jit._pickle", writer="PyTorch", inert=inert).read(
        data
    )


def _of_json(path: Path, data: bytes) -> Any:
    try:
        return msgspec.json.decode(data)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        problem = f"not JSON that can be read: {str(error)[:200]}"
        raise NotATraceError(problem, where=str(path), advice="check that the copy is complete") from error


def _plain(value: Any) -> Any:
    """A dictionary, where a pickle has pairs, of its keys that are text."""
    return {key: entry for key, entry in value if isinstance(key, str)} if isinstance(value, PickledPairs) else value


def _row(entry: Any, groups: dict[str, Any]) -> dict[str, Any] | None:
    name = entry.get("profiling_name") if isinstance(entry, dict) else None
    if not isinstance(name, str) or entry.get("state") not in _STATES:
        return None
    group = entry.get("process_group")
    names = [str(part)[:200] for part in group[:2]] if isinstance(group, list | tuple) else []
    about = _plain(groups.get(names[0])) if names else None
    ranks = about.get("ranks") if isinstance(about, dict) else None
    is_pair = entry.get("is_p2p") is True
    sizes = [_bytes(entry.get(f"{way}_sizes"), entry.get(f"{way}_dtypes")) for way in ("input", "output")]
    size = sizes[1] if "all_gather" in name or "allgather" in name else sizes[0]
    duration = amount(entry.get("duration_ms"), 1e6)
    shapes = [_shapes(entry.get(f"{way}_sizes"), entry.get(f"{way}_dtypes")) for way in ("input", "output")]
    frames = entry.get("frames")
    return {
        "recorder": "flight recorder",
        "group": " ".join(names) or None,
        "group_size": ranks.count(",") + 1 if isinstance(ranks, str) and ranks.strip("[] ") else None,
        "group_ranks": ranks[:_TEXT_MAX] if isinstance(ranks, str) else None,
        "sequence": whole(entry.get("p2p_seq_id" if is_pair else "collective_seq_id")),
        "collective": name.rpartition(":")[2][:200],
        "is_point_to_point": is_pair,
        "size_bytes": size,
        "shapes": " -> ".join(shapes)[:_TEXT_MAX],
        "state": entry["state"],
        "start_ns": whole(entry.get("time_created_ns")),
        "duration_ns": round(duration) if duration else None,
        "time_source": "events" if duration else None,
        "site": _site(frames if isinstance(frames, list) else []),
    }


def _shapes(sizes: Any, types: Any) -> str:
    """Shapes and types of tensors, as text to compare and to show."""
    kinds = types if isinstance(types, list) else [types]
    return json.dumps([sizes, kinds])[:_TEXT_MAX] if _is_plain(sizes) and _is_plain(kinds) else ""


def _is_plain(value: Any) -> bool:
    """True for a short list of short lists of numbers and texts: what is shared in a pickle must not be spread out."""
    if not isinstance(value, list) or len(value) > _MOST_SHAPES:
        return False
    parts = [
        part for each in value for part in (each if isinstance(each, list) and len(each) <= _MOST_SHAPES else [each])
    ]
    return all(len(part) < _TEXT_MAX if isinstance(part, str) else whole(part) is not None for part in parts)


def _bytes(sizes: Any, types: Any) -> int | None:
    kinds = types if isinstance(types, list) else [types]
    if not _is_plain(sizes) or not _is_plain(kinds) or len(kinds) != len(sizes):
        return None
    total = 0
    for shape, kind in zip(sizes, kinds, strict=True):
        width = ELEMENT_BYTES.get(kind.lower()) if isinstance(kind, str) else None
        if width is None or not isinstance(shape, list) or not all(whole(part, 1 << 40) is not None for part in shape):
            return None
        total += width * prod(int(part) for part in shape)
    return total if total < 1 << 62 else None


def _site(frames: list[Any]) -> str | None:
    """The innermost frame that is not PyTorch's."""
    for frame in map(_plain, frames[:200]):
        file = frame.get("filename") if isinstance(frame, dict) else None
        if isinstance(file, str) and "/torch/" not in file:
            return f"{str(frame.get('name'))[:200]} ({file[-200:].rpartition('/')[2]}:{str(frame.get('line'))[:12]})"
    return None
