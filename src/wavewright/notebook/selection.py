"""The selection in the page of a widget, and the rows of tables that are selected."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

import polars as pl

from wavewright.analysis.trace.clocks import alignment
from wavewright.base.bounds import ITEM, integer_of
from wavewright.errors import UsageError
from wavewright.model.document import Document
from wavewright.page.counters.kernels import kernels_of
from wavewright.page.run.events import event_place
from wavewright.page.run.layers import timeline_of

#: Parameters in the page's address (web/src/app/location.ts): numbers, and texts.
_NUMBERS = ("document", "row", "lastRow", "wave", "iteration", "kernel", "kernelRank", "line")
_TEXTS = ("kernelName", "span", "metric", "per", "file")
_LONGEST = 16_000  #: Characters of a place that are read.


def read_place(place: str) -> dict[str, Any]:
    """The selection in a place of the page, the part of its URL after `#`; invalid parameters are ignored.

    >>> read_place("row=3&wave=2&time=10~90&layout=t(isa;0)")
    {'row': 3, 'wave': 2}
    >>> read_place("kernelName=gemm%3C64%3E&range=5~9.5")
    {'kernel_name': 'gemm<64>', 'range': [5.0, 9.5]}
    """
    chosen: dict[str, Any] = {}
    for name, value in parse_qsl(place[:_LONGEST].removeprefix("#")):
        if name in _NUMBERS and (number := integer_of(value, below=ITEM.numbers.stop)) is not None:
            chosen[_spelled(name)] = number
        elif name in _TEXTS:
            chosen[_spelled(name)] = value
        elif name == "range":
            chosen |= _range(value)
    return chosen


def _spelled(name: str) -> str:
    return re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", name)


def _range(value: str) -> dict[str, list[float]]:
    try:
        begin, end = map(float, value.split("~"))
    except ValueError:
        return {}
    return {"range": [begin, end]} if begin < end < float("inf") else {}


def chosen_rows(document: Document, chosen: Mapping[str, Any]) -> pl.DataFrame:
    """The selected rows; none if nothing is selected.

    Of a trace, executed instructions with their code: those of the selected rows or source line, wave, kernel and time.
    Of a run, the selected event, or the dispatches of the selected kernel and time. Of counters, the dispatches of the
    selected kernel.
    """
    if document.kind == "trace":
        return _of_trace(document, chosen)
    return _of_run(document, chosen) if document.kind == "run" else _of_counters(document, chosen)


def _of_trace(document: Document, chosen: Mapping[str, Any]) -> pl.DataFrame:
    trace = document.trace
    conditions: list[pl.Expr] = []
    if "row" in chosen:
        conditions.append(pl.col("row").is_between(chosen["row"], chosen.get("last_row", chosen["row"])))
    elif "file" in chosen:
        lines = trace.code.filter(pl.col("file") == chosen["file"], pl.col("line") == chosen.get("line"))
        conditions.append(pl.col("row").is_in(lines["row"].implode()))
    if "wave" in chosen:
        conditions.append(pl.col("wave") == chosen["wave"])
    if "kernel" in chosen:
        waves = trace.waves.filter(pl.col("kernel") == chosen["kernel"])["wave"]
        conditions.append(pl.col("wave").is_in(waves.implode()))
    if "range" in chosen:  # the page's time is that of all shader engines, aligned
        begin, end = chosen["range"]
        clocks = alignment(trace)
        offsets = {wave: clocks.offset(se) for wave, se in trace.waves.select("wave", "se").iter_rows()}
        offset = pl.col("wave").replace_strict(offsets, default=0, return_dtype=pl.Int64)
        conditions.append((pl.col("time_cycles") + offset).is_between(begin, end, closed="left"))
    numbered = trace.instructions.with_row_index("instruction")
    rows = numbered.filter(conditions) if conditions else numbered.clear()
    if {"row", "wave", "iteration"} <= chosen.keys() and "last_row" not in chosen:
        rows = rows.slice(chosen["iteration"], 1)  # one execution of the instruction
    code = trace.code.select("row", "address", "text", "function", "file", "line")
    return rows.join(code, on="row", how="left", maintain_order="left")


def _of_run(document: Document, chosen: Mapping[str, Any]) -> pl.DataFrame:
    run = document.run
    if "span" in chosen:
        item = integer_of(chosen["span"].rpartition(":")[2], below=ITEM.numbers.stop)
        if item is None:
            raise UsageError(f"there is no event {chosen['span'][:40]!r}")
        table, row = event_place(document, item)
        return run.table(table).slice(row, 1)
    if not {"kernel_name", "range"} & chosen.keys():
        return run.dispatches.clear()
    dispatches = run.dispatches.with_row_index("dispatch")
    if "kernel_name" in chosen:
        dispatches = dispatches.filter(pl.col("name").cast(pl.String) == chosen["kernel_name"])
    if "range" in chosen:
        timeline = timeline_of(document)
        begin, end = chosen["range"]
        spans = timeline.spans.filter(pl.col("start_ns") < end, pl.col("end_ns") > begin)
        rows = spans.select(dispatch=pl.col("item").cast(pl.Int64) - timeline.first_items.get("dispatches", 0))
        dispatches = dispatches.filter(pl.col("dispatch").cast(pl.Int64).is_in(rows["dispatch"].implode()))
    return dispatches.drop("dispatch")


def _of_counters(document: Document, chosen: Mapping[str, Any]) -> pl.DataFrame:
    dispatches = document.counters.dispatches
    if "kernel_rank" not in chosen:
        return dispatches.clear()
    name = kernels_of(document).filter(pl.col("kernel") == chosen["kernel_rank"])["kernel_name"]
    return dispatches.filter(pl.col("kernel_name").eq_missing(name[0])) if name.len() else dispatches.clear()
