"""Recordings of Triton's Proton (`*.hatchet`) as call totals: sums of kernels and scopes by call path, without times.

Values are those of the node itself; its callers have none, and add up what is below them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from wavewright.errors import NotATraceError
from wavewright.model.losses import Loss
from wavewright.model.run import MemorySource
from wavewright.readers.files.text import json_text
from wavewright.readers.run.call_totals import totals_source

_ADVICE = "read it with proton-viewer; trees in JSON are read here (proton.start without data='trace')"
_UNITS = {
    "time": "ns",
    "cycles": "cycles",
    "bytes": "bytes",
}  #: Start of the name of a metric -> unit, as Proton has it.
_MOST_ROWS = 1_000_000
_LARGEST = 1e300


def read_proton(path: Path) -> MemorySource:
    """The sums of a file as the table `call_totals`.

    Raises
    ------
    UsageError, NotATraceError
        When the file cannot be read, or holds no sums.
    """
    try:
        document = msgspec.json.decode(json_text(path))
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        problem = f"not JSON that can be read: {str(error)[:200]}"
        raise NotATraceError(problem, where=str(path), advice=_ADVICE) from error
    roots = document[:1] if isinstance(document, list) else []
    rows: list[tuple[Any, ...]] = []
    nodes: list[tuple[Any, int, int | None]] = [(root, 0, None) for root in roots]
    while nodes and len(rows) < _MOST_ROWS:
        node, depth, parent = nodes.pop()
        if isinstance(node, dict):
            children = node.get("children")
            below = children if isinstance(children, list) else []
            nodes += [(child, depth + 1, len(rows)) for child in reversed(below)]
            rows += _rows(node, depth, parent)
    if not any(row[8] is not None for row in rows):
        raise NotATraceError("a recording of Proton without any sums", where=str(path), advice=_ADVICE)
    losses = [Loss("unread_records", 1, detail=f"rows beyond {_MOST_ROWS:,}")] if nodes else []
    return totals_source(path, "Proton", rows, losses)


def _rows(node: dict[str, Any], depth: int, parent: int | None) -> list[tuple[Any, ...]]:
    """A row per metric of a node, or one without; those of ROOT are zeros that only name the metrics."""
    frame, metrics = node.get("frame"), node.get("metrics")
    name = str(frame.get("name", ""))[:2_000] if isinstance(frame, dict) else ""
    values = metrics if isinstance(metrics, dict) and depth else {}
    count = values.get("count")
    count = count if isinstance(count, int) and abs(count) < 1 << 53 else None
    device = f", {values.get('device_type')} {values.get('device_id')}"[:80] if "device_id" in values else ""
    numbers: dict[str, tuple[str, float | None]] = {
        f"{key}{device}": (_UNITS.get(key.split(" ", 1)[0], ""), float(value))
        for key, value in values.items()
        if isinstance(value, int | float) and key != "count" and abs(value) < _LARGEST
    }
    return [
        (metric, unit, None, None, depth, name, parent, count, number, None, None, None, None)
        for metric, (unit, number) in (numbers or {"": ("", None)}).items()
    ]
