"""Call totals of rocprof-sys (`wall_clock.json`, `wall_clock.txt`, ...): sums over calls by call path, without times.

They become the table `call_totals` of a run that has nothing else: when something happened is not in them. Other
metrics of timemory (`cpu_clock`, `peak_rss`, `trip_count`, ...) have the same form.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

from wavewright.errors import NotATraceError
from wavewright.model.losses import Loss
from wavewright.model.run import MemorySource
from wavewright.model.run_tables import RUN
from wavewright.model.schema import frame_of
from wavewright.readers.files.text import json_of, text_bytes

_LABEL = re.compile(
    r"\s?(?:\|(?P<rank>\d{1,9}))?(?:\|(?P<thread>\d{1,9}))?>>>\s?(?P<indent> *)(?:\|_)?(?P<name>.*\S)\s*"
)
_MOST_ROWS = 5_000_000
_DEPTH_END = 10_000  #: Depths from here on are damage and become 0.
_FIGURES = ("sum", "mean", "min", "max", "stddev")
_Row: TypeAlias = "tuple[Any, ...]"  #: The columns of `_SCHEMA` but `parent`, which `_with_parents` adds.
_SCHEMA: dict[str, Any] = {
    "metric": pl.Categorical, "unit": pl.Categorical, "rank": pl.Int64, "thread": pl.Int64, "depth": pl.Int64,
    "name": pl.Categorical, "parent": pl.Int64, "count": pl.Int64, "sum": pl.Float64, "mean": pl.Float64,
    "min": pl.Float64, "max": pl.Float64, "stddev": pl.Float64,
}  # fmt: skip
_ADVICE = "record with ROCPROFSYS_PROFILE=ON, or read the ROCpd database or the Perfetto trace of the same folder"


def read_call_totals(path: Path) -> MemorySource:
    """The sums of a file as the table `call_totals`; `parent` is the row of the caller.

    Raises `UsageError, NotATraceError` when the file cannot be read, or holds no sums.
    """
    is_json = path.name.removesuffix(".gz").endswith(".json")
    losses: list[Loss] = []
    rows = list(_with_parents(_of_json(path) if is_json else _of_text(path, losses)))
    if not rows:
        raise NotATraceError("call totals of rocprof-sys without any sums", where=str(path), advice=_ADVICE)
    if len(rows) == _MOST_ROWS:
        losses.append(Loss("unread_records", 1, detail=f"rows beyond {_MOST_ROWS:,}"))
    return totals_source(path, "rocprof-sys call totals", rows, losses)


def totals_source(path: Path, form: str, rows: list[_Row], losses: list[Loss]) -> MemorySource:
    """A run that is nothing but rows of call totals."""
    totals = pl.DataFrame(rows, schema=_SCHEMA, orient="row", strict=False)
    ranks = totals["rank"].unique().drop_nulls().sort()
    processes = [{"process": at, "source": 0, "guid": "", "rank": rank} for at, rank in enumerate(ranks)]
    tables = {"processes": frame_of(RUN["processes"], processes or [{"process": 0, "source": 0, "guid": ""}])}
    losses.append(Loss("sums_only", len(rows)))
    return MemorySource(str(path), form, "", tables, losses, {"call_totals": totals})


def _with_parents(rows: Iterator[_Row]) -> Iterator[_Row]:
    """Rows with the number of the row above them that is one level less deep."""
    above: dict[int, int] = {}
    place: tuple[Any, ...] = ()
    for number, (metric, unit, rank, thread, depth, name, *sums) in enumerate(rows):
        if (metric, rank, thread) != place:
            place, above = (metric, rank, thread), {}
        above[depth] = number
        yield (metric, unit, rank, thread, depth, name, above.get(depth - 1) if depth else None, *sums)
        if number + 1 == _MOST_ROWS:
            return


def _of_json(path: Path) -> Iterator[_Row]:
    """The rows of a JSON file: metric -> ranks -> nodes of the call graph, each behind its caller."""
    metrics = _at(json_of(path, object), "timemory")
    for metric, content in metrics.items() if isinstance(metrics, dict) else ():
        unit = str(_at(content, "unit_repr") or "")
        for rank in _list_at(content, "ranks"):
            for node in _list_at(rank, "graph"):
                entry, sums = _at(node, "entry"), _at(node, "stats")
                label = _LABEL.fullmatch(str(_at(node, "prefix") or ""))
                if label is None:
                    continue
                figures = [_number(_at(sums, key)) for key in _FIGURES]
                figures[0] = _number(_at(entry, "repr_data")) if figures[0] is None else figures[0]
                thread = _integer(label["thread"] or label["rank"])
                place = (str(metric), unit, _integer(_at(rank, "rank")), thread, _depth(_at(node, "depth")))
                yield (*place, label["name"], _integer(_at(entry, "laps")), *figures)


def _of_text(path: Path, losses: list[Loss]) -> Iterator[_Row]:
    """The rows of a text file: a table with bars between its columns, whose labels show ranks, threads and depth."""
    columns: list[str] = []
    unread_count = 0
    for line in text_bytes(path).decode("utf-8", "replace").splitlines():
        text = line.strip().removeprefix("|").removesuffix("|")
        if not text.strip("- |") or text.lstrip().startswith("-"):
            continue
        if " LABEL " in f" {text} ":
            columns = [word.strip().lower() for word in text.split("|")]
            continue
        cells = text.rsplit("|", len(columns) - 1) if columns else []
        label = _LABEL.fullmatch(cells[0]) if len(cells) == len(columns) > 1 else None
        if label is None:
            unread_count += bool(columns)
            continue
        row = dict(zip(columns, (cell.strip() for cell in cells), strict=True))
        # A label with one number (`|3>>>`) gives the thread, not the rank.
        rank, thread = (label["rank"], label["thread"]) if label["thread"] else (None, label["rank"])
        place = (row.get("metric", ""), row.get("units", ""), _integer(rank), _integer(thread))
        figures = (_number(row.get(key)) for key in _FIGURES)
        yield (*place, _depth(row.get("depth")), label["name"], _integer(row.get("count")), *figures)
    if unread_count:
        losses.append(Loss("malformed_rows", unread_count, detail=path.name))


def _at(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _list_at(value: Any, key: str) -> list[Any]:
    items = _at(value, key)
    return items if isinstance(items, list) else []


def _number(value: Any) -> float | None:
    with suppress(ValueError, TypeError, OverflowError):
        return float(value)
    return None


def _integer(value: Any) -> int | None:
    number = _number(value)
    return int(number) if number is not None and abs(number) < 1 << 53 else None


def _depth(value: Any) -> int:
    number = _number(value)
    return int(number) if number is not None and 0 <= number < _DEPTH_END else 0


# --- recordings of Triton's Proton (`*.hatchet`): sums of kernels and scopes by call path, without times ---
# Values are those of the node itself; its callers have none, and add up what is below them.


_PROTON_ADVICE = "read it with proton-viewer; trees in JSON are read here (proton.start without data='trace')"
_UNITS = {"time": "ns", "cycles": "cycles", "bytes": "bytes"}  #: Start of the name of a metric -> its unit.
_PROTON_ROWS_MAX = 1_000_000
_VALUE_END = 1e300  #: Larger values, infinities and NaN are left out.
_NAME_MAX = 2_000  #: Characters.


def read_proton(path: Path) -> MemorySource:
    """The sums of a file as the table `call_totals`.

    Raises `UsageError, NotATraceError` when the file cannot be read, or holds no sums.
    """
    document = json_of(path, object, advice=_PROTON_ADVICE)
    roots = document[:1] if isinstance(document, list) else []
    rows: list[tuple[Any, ...]] = []
    nodes: list[tuple[Any, int, int | None]] = [(root, 0, None) for root in roots]
    while nodes and len(rows) < _PROTON_ROWS_MAX:
        node, depth, parent = nodes.pop()
        if isinstance(node, dict):
            nodes += [(child, depth + 1, len(rows)) for child in reversed(_list_at(node, "children"))]
            rows += _rows(node, depth, parent)
    if not any(row[8] is not None for row in rows):  # 8 = `sum`
        raise NotATraceError("a recording of Proton without any sums", where=str(path), advice=_PROTON_ADVICE)
    losses = [Loss("unread_records", 1, detail=f"rows beyond {_PROTON_ROWS_MAX:,}")] if nodes else []
    return totals_source(path, "Proton", rows, losses)


def _rows(node: dict[str, Any], depth: int, parent: int | None) -> list[tuple[Any, ...]]:
    """A row per metric of a node, or one without; those of ROOT are zeros that only name the metrics."""
    frame, metrics = node.get("frame"), node.get("metrics")
    name = str(frame.get("name", ""))[:_NAME_MAX] if isinstance(frame, dict) else ""
    values = metrics if isinstance(metrics, dict) and depth else {}
    count = values.get("count")
    count = count if isinstance(count, int) and abs(count) < 1 << 53 else None
    device = f", {values.get('device_type')} {values.get('device_id')}"[:80] if "device_id" in values else ""
    numbers: dict[str, tuple[str, float | None]] = {
        f"{key}{device}": (_UNITS.get(key.split(" ", 1)[0], ""), float(value))
        for key, value in values.items()
        if isinstance(value, int | float) and key != "count" and abs(value) < _VALUE_END
    }
    return [
        (metric, unit, None, None, depth, name, parent, count, number, None, None, None, None)
        for metric, (unit, number) in (numbers or {"": ("", None)}).items()
    ]
