"""Dumps of PyTorch's flight recorder: the last collectives of one rank, and how far each came.

The dump of a rank is a pickle, which is read without unpickling, or JSON. Every part of an entry may be missing or of
another type. `duration_ms` is there where timing was on; times at which the watchdog discovered something are late by
up to its period, and are not read as durations.
"""

from __future__ import annotations

import json
import re
from itertools import chain
from math import prod
from pathlib import Path
from typing import Any, TypeGuard

import msgspec

from wavewright.errors import NotATraceError
from wavewright.facts.loader import packaged
from wavewright.model.losses import Loss
from wavewright.model.run import MemorySource
from wavewright.readers.files.pickles import PickledPairs, torch_pickle
from wavewright.readers.files.text import text_bytes
from wavewright.readers.run.collective_records import amount, records_source, whole

_MAX_BYTES = 1 << 30  #: Of a dump.
_STATES = ("scheduled", "started", "completed")
_TEXT_MAX = 2_000  #: Characters of a string; longer ones are cut.
_ELEMENT_BYTES: dict[str, int] = packaged("collective_types.toml")["element_bytes"]
_MOST_SHAPES = 64  #: Tensors of a collective, and dimensions of a tensor.
_RANK_OF_FILE = re.compile(r"(\d{1,6})(?:\.\w+)?$")  #: PyTorch appends the rank to the name it is given.
_VARIABLES = ("TORCH_NCCL_TRACE_BUFFER_SIZE (TORCH_FR_BUFFER_SIZE)", "TORCH_NCCL_DEBUG_INFO_TEMP_FILE")
_ADVICE = f"set {_VARIABLES[0]} and take the files of {_VARIABLES[1]}"


def read_flight_recorder(path: Path) -> MemorySource:
    """The collectives of a dump.

    Raises `UsageError, NotATraceError` when it cannot be read, has none, or would import or call anything: nothing of
    it is ever run.
    """
    data = text_bytes(path, _MAX_BYTES)
    dump = _plain(_from_json(path, data) if data.lstrip().startswith(b"{") else torch_pickle(path, data))
    entries = dump.get("entries") if isinstance(dump, dict) else None
    if not isinstance(entries, list) or not entries:
        raise NotATraceError("a dump of the flight recorder without any collective", where=str(path), advice=_ADVICE)
    groups, version = _plain(dump.get("pg_config")), dump.get("version")
    groups = groups if isinstance(groups, dict) else {}
    rank, match = whole(dump.get("rank"), 1 << 30), _RANK_OF_FILE.search(path.name)
    rank = int(match[1]) if rank is None and match else rank
    rows = [row | {"rank": rank, "process": 0} for entry in entries if (row := _row(_plain(entry), groups))]
    losses = [Loss("malformed_rows", len(entries) - len(rows), detail=path.name)] if len(rows) < len(entries) else []
    # One process, of which neither host nor pid is recorded.
    return records_source(path, "flight recorder", str(version)[:40] if version else "", rows, losses, [("", None)])


def _from_json(path: Path, data: bytes) -> Any:
    try:
        return msgspec.json.decode(data)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        problem = f"not JSON that can be read: {str(error)[:200]}"
        raise NotATraceError(problem, where=str(path), advice="check that the copy is complete") from error


def _plain(value: Any) -> Any:
    """A dictionary with the string keys, of the pairs that stand for one in a pickle; other values as they are."""
    return {key: entry for key, entry in value if isinstance(key, str)} if isinstance(value, PickledPairs) else value


def _row(entry: Any, groups: dict[str, Any]) -> dict[str, Any] | None:
    """A row of `collective_records`; None = the entry names no collective or no state."""
    name = entry.get("profiling_name") if isinstance(entry, dict) else None
    if not isinstance(name, str) or entry.get("state") not in _STATES:
        return None
    inputs, outputs = _tensors(entry, "input"), _tensors(entry, "output")
    is_gather = "all_gather" in name or "allgather" in name  # the size is of the whole; the input is one rank's part
    is_point_to_point = entry.get("is_p2p") is True
    duration_ns = amount(entry.get("duration_ms"), 1e6)
    return {
        "recorder": "flight recorder",
        **_group(entry, groups),
        "sequence": whole(entry.get("p2p_seq_id" if is_point_to_point else "collective_seq_id")),
        "collective": name.rpartition(":")[2][:200],
        "is_point_to_point": is_point_to_point,
        "size_bytes": _byte_count(outputs if is_gather else inputs),
        "shapes": " -> ".join(json.dumps(side)[:_TEXT_MAX] if side else "" for side in (inputs, outputs))[:_TEXT_MAX],
        "state": entry["state"],
        "start_ns": whole(entry.get("time_created_ns")),
        "duration_ns": round(duration_ns) if duration_ns else None,
        "time_source": "events" if duration_ns else None,
        "site": _site(entry.get("frames")),
    }


def _group(entry: dict[str, Any], groups: dict[str, Any]) -> dict[str, Any]:
    """Name and description of the process group of an entry, and its ranks: a text such as "[0, 1]" in the groups."""
    group = entry.get("process_group")
    names = [str(part)[:200] for part in group[:2]] if isinstance(group, list | tuple) else []
    fields = _plain(groups.get(names[0])) if names else None
    ranks = fields.get("ranks") if isinstance(fields, dict) else None
    ranks = ranks if isinstance(ranks, str) else None
    size = ranks.count(",") + 1 if ranks and ranks.strip("[] ") else None
    return {"group": " ".join(names) or None, "group_size": size, "group_ranks": ranks and ranks[:_TEXT_MAX]}


def _tensors(entry: dict[str, Any], side: str) -> tuple[list[Any], list[Any]] | None:
    """Shapes and types of the input or output tensors of an entry; None = they are not recorded in a plain way."""
    shapes, types = entry.get(f"{side}_sizes"), entry.get(f"{side}_dtypes")
    types = types if isinstance(types, list) else [types]
    return (shapes, types) if _is_plain(shapes) and _is_plain(types) else None


def _is_plain(value: Any) -> TypeGuard[list[Any]]:
    """True for a short list of short lists of numbers and texts: what is shared in a pickle must not be spread out."""
    if not isinstance(value, list) or len(value) > _MOST_SHAPES:
        return False
    lists = (item if isinstance(item, list) and len(item) <= _MOST_SHAPES else [item] for item in value)
    parts = list(chain.from_iterable(lists))
    return all(len(part) < _TEXT_MAX if isinstance(part, str) else whole(part) is not None for part in parts)


def _byte_count(tensors: tuple[list[Any], list[Any]] | None) -> int | None:
    """Bytes of all elements; None = a shape or a type is not known."""
    if tensors is None or len(tensors[0]) != len(tensors[1]):
        return None
    total = 0
    for shape, kind in zip(*tensors, strict=True):
        width = _ELEMENT_BYTES.get(kind.lower()) if isinstance(kind, str) else None
        if width is None or not isinstance(shape, list) or not all(whole(part, 1 << 40) is not None for part in shape):
            return None
        total += width * prod(int(part) for part in shape)
    return total if total < 1 << 62 else None


def _site(frames: Any) -> str | None:
    """The innermost frame that is not PyTorch's."""
    for frame in map(_plain, frames[:200] if isinstance(frames, list) else ()):
        file = frame.get("filename") if isinstance(frame, dict) else None
        if isinstance(file, str) and "/torch/" not in file:
            return f"{str(frame.get('name'))[:200]} ({file[-200:].rpartition('/')[2]}:{str(frame.get('line'))[:12]})"
    return None
