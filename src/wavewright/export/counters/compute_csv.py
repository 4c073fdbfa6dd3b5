"""Metrics of counters as CSV files, one per table, with the names and layout of ROCm Compute Profiler's."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from wavewright.analysis.counters.choice import ranked_kernels
from wavewright.analysis.counters.engine.answer import CounterPanels
from wavewright.analysis.counters.engine.reference import reference_dispatches
from wavewright.base.csv import harmless_rows
from wavewright.errors import UsageError
from wavewright.export.kit.staging import staged
from wavewright.facts.loader import packaged
from wavewright.facts.metrics.metric import Metric, MetricTable
from wavewright.model.counters import CounterSet

_HEADERS: dict[str, str] = packaged("compute_csv.toml", __package__)["headers"]
_NO_VALUE = frozenset(packaged("compute_csv.toml", __package__)["no_value"])
_WITHOUT_UNIT = ("value", "quartiles")  #: Layouts of tables that have no column of units.
_DECIMALS_PER_KERNEL, _DECIMALS = 6, 4  #: Of amounts per kernel, and per wave, cycle or second.
_WRAPPED_LIST, _WRAPPED_TOP = (80, 4), (40, 3)  #: Characters and lines of a name, by table.
_WHOLE = re.compile(r"[+-]?\d{1,18}")
_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_NAME_BYTES_MAX = 200  #: Of a title; file systems take 255 for the whole name.
_MARK = "0.2_Dispatch_List.csv"  #: This file tells that a folder is an earlier output.


def write_compute_csv(
    answer: CounterPanels, counters: CounterSet, folder: Path, *, decimals: int | None = None, force: bool = False
) -> list[Path]:
    """Write kernels, dispatches, system and every table of `answer` to files in `folder`; all of them, or none.

    Numbers are rounded to `decimals` places: None = 6, or 4 when amounts are per wave, cycle or second. Under the
    reference's rules units are spelled as it does (T4, T5).
    """
    _check_outside(counters.path, folder)
    places = decimals
    if places is None:
        places = _DECIMALS_PER_KERNEL if answer.normalization == "kernel" else _DECIMALS
    is_reference = answer.rules.startswith("rocprof-compute")
    texts = {
        "0.1_Top_Kernels.csv": _text(kernel_rows(answer, counters, places, is_reference=is_reference)),
        _MARK: _text(dispatch_rows(counters, is_reference=is_reference)),
        "1.1.csv": _text(system_rows(counters.system.described)),
    }
    cells = _Cells(answer, places, is_reference=is_reference)
    for panel in answer.panels:
        for table in panel.tables:
            texts[_file_name(table)] = _text(cells.rows(table))
    is_empty = folder.is_dir() and not any(folder.iterdir())
    with staged([folder], force=force or is_empty, mark=_MARK) as (twin,):
        twin.mkdir()
        for name, text in texts.items():
            (twin / name).write_text(text, encoding="utf-8")
    return [folder / name for name in texts]


def _check_outside(capture: str, folder: Path) -> None:
    if capture and Path(capture).is_dir() and folder.resolve().is_relative_to(Path(capture).resolve()):
        problem = "this folder is part of the capture, which is never written to"
        raise UsageError(problem, where=str(folder), advice="give another place")


def _file_name(table: MetricTable) -> str:
    title = "".join("_" if letter in " /\\\0" else letter for letter in table.title)
    title = title.encode()[:_NAME_BYTES_MAX].decode("utf-8", "ignore")
    return f"{table.id}_{title}.csv" if title else f"{table.id}.csv"


def _text(rows: Iterable[Sequence[str]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(harmless_rows(rows))
    return out.getvalue()


class _Cells:
    """The rows of metric tables as text."""

    def __init__(self, answer: CounterPanels, places: int, *, is_reference: bool) -> None:
        self._normalization = answer.normalization
        self._places = places
        self._is_reference = is_reference
        keys = answer.rows.select("table_id", "metric_id", "series").iter_rows()
        self._values = dict(zip(keys, answer.rows.select("unit", *_HEADERS).iter_rows(named=True), strict=True))
        channels = answer.rows.drop_nulls("channel").group_by("table_id").agg(pl.col("channel").unique().sort())
        self._channels: dict[str, list[int]] = dict(channels.iter_rows())

    def rows(self, table: MetricTable) -> Iterator[Sequence[str]]:
        """The header and the rows of a table."""
        if table.per_channel:
            yield from self._channel_rows(table)
            return
        labels = list(dict.fromkeys(header for metric in table.metrics for header, _ in metric.labels))
        columns = ["Value"] if table.layout == "value" else [_HEADERS[name] for name in table.columns]
        has_unit = table.layout not in _WITHOUT_UNIT
        unit_place = 1 if table.layout == "peak" else len(columns)
        unit_header = table.unit_header if self._is_reference else "Unit"
        yield ["Metric", *labels, *_with_unit(columns, unit_place, unit_header, has_unit=has_unit)]
        for metric in table.metrics:
            values = self._values[table.id, metric.id, metric.series]
            label_by_header = dict(metric.labels)
            cells = _with_unit(
                self._numbers(values, table), unit_place, self._unit(metric, values["unit"]), has_unit=has_unit
            )
            yield [metric.name, *(label_by_header.get(header, "") for header in labels), *cells]

    def _channel_rows(self, table: MetricTable) -> Iterator[Sequence[str]]:
        if table.layout == "average":
            headers = [metric.series or metric.name for metric in table.metrics]
        else:
            headers = [_HEADERS[name] for name in table.columns]
        yield ["Channel", *headers]
        for channel in self._channels.get(table.id, ()):
            series = [self._values[table.id, f"{table.id}.{channel}", metric.series] for metric in table.metrics]
            yield [f"{channel}.0", *(cell for values in series for cell in self._numbers(values, table))]

    def _numbers(self, values: Mapping[str, Any], table: MetricTable) -> list[str]:
        return [_number(values[name], self._places) for name in table.columns]

    def _unit(self, metric: Metric, own_unit: str) -> str:
        if not self._is_reference:
            return own_unit
        unit = metric.unit.replace("/N", f" per {self._normalization}").capitalize()
        return "ns" if "ns" in unit.lower() else unit


def _with_unit(cells: Sequence[str], place: int, unit: str, *, has_unit: bool) -> list[str]:
    return [*cells[:place], unit, *cells[place:]] if has_unit else list(cells)


def kernel_rows(
    answer: CounterPanels, counters: CounterSet, places: int, *, is_reference: bool
) -> Iterator[Sequence[str]]:
    """Kernels by total duration; under the reference's rules by the times of its joined table, which mix passes."""
    kernels = answer.kernels
    if is_reference:
        kernels = ranked_kernels(reference_dispatches(counters).with_columns(kernel_name="kernel_name_spelled"))
    chosen_names = set(answer.kernels.filter("is_chosen")["kernel_name"])
    pairs = counters.dispatches.select("kernel_name", "kernel_name_spelled").unique(maintain_order=True)
    spelled = {written or name: name for name, written in pairs.iter_rows()}
    is_chosen = [spelled.get(name, name) in chosen_names for name in kernels["kernel_name"]]
    has_marks = not all(is_chosen)
    yield ["Kernel_Name", "Count", "Sum(ns)", "Mean(ns)", "Median(ns)", "Pct", *(["S"] if has_marks else ())]
    for row, is_marked in zip(kernels.iter_rows(named=True), is_chosen, strict=True):
        name = _wrapped(row["kernel_name"] or "", *_WRAPPED_TOP)
        share = row["duration_share"]
        times = [row["duration_ns_total"], row["duration_ns_mean"], row["duration_ns_median"]]
        numbers = [_number(value, places) for value in (*times, None if share is None else 100 * share)]
        marks = [("*" if is_marked else "")] if has_marks else []
        yield [name, f"{row['dispatch_count']}.0", *numbers, *marks]


def dispatch_rows(counters: CounterSet, *, is_reference: bool) -> Iterator[Sequence[str]]:
    """All dispatches of the capture."""
    yield ["Dispatch_ID", "Kernel_Name", "GPU_ID"]
    if not is_reference:
        for identity, name, agent in counters.dispatches.select("dispatch_id", "kernel_name", "agent").iter_rows():
            yield ["" if identity is None else str(identity), name or "", agent or ""]
        return
    is_long = "long" in counters.passes["form"].to_list()
    rows: pl.DataFrame = reference_dispatches(counters)
    for number, row in enumerate(rows.iter_rows(named=True)):
        ids = (number, row["gpu"]) if is_long else (row["dispatch_id"], row["agent"])
        first, last = ("" if cell is None else str(cell) for cell in ids)
        yield [first, _wrapped(row["kernel_name_spelled"] or "", *_WRAPPED_LIST), last]


def system_rows(facts: Mapping[str, str]) -> Iterator[Sequence[str]]:
    """The recorded facts about the node, one per row, in recorded order."""
    yield ["Info"]
    for text in facts.values():
        yield [_rewritten(text)]


def _rewritten(text: str) -> str:
    """A text as pandas writes it again after guessing its type: numbers normalised, words for no value empty."""
    stripped = text.strip()
    if stripped in _NO_VALUE:
        return ""
    if _WHOLE.fullmatch(stripped):
        return str(int(stripped))
    return repr(float(stripped)) if _DECIMAL.fullmatch(stripped) else text


def _number(value: float | None, places: int) -> str:
    return "" if value is None or math.isnan(value) else repr(round(float(value), places))


def _wrapped(name: str, width: int, most_lines: int) -> str:
    """A name cut into lines of `width` characters; one of more than `most_lines` ends in three points."""
    lines = [name[start : start + width] for start in range(0, len(name), width)]
    if len(lines) > most_lines:
        lines = [*lines[: most_lines - 1], lines[most_lines - 1][:-3] + "..."]
    return "\n".join(lines)
