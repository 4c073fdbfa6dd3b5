"""One CSV file per table of metrics, named and laid out as ROCm Compute Profiler saves its tables."""

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
from wavewright.facts.metrics.declared import Metric, MetricTable
from wavewright.model.counters import CounterSet

_HEADERS: dict[str, str] = packaged("compute_csv.toml", __package__)["headers"]
_WITHOUT_UNIT = ("value", "quartiles")
_DECIMALS = {"kernel": 6}
_OTHER_DECIMALS = 4
_NAME_BYTES_MAX = 200  #: Of a title; file systems take 255 for the whole name.
_MARK = "0.2_Dispatch_List.csv"


def write_compute_csv(
    answer: CounterPanels, counters: CounterSet, folder: Path, *, decimals: int | None = None, force: bool = False
) -> list[Path]:
    """Write kernels, dispatches, system and every table of `answer` to files in `folder`; all of them, or none.

    Numbers are rounded to `decimals` places: None = 6, or 4 when amounts are per wave, cycle or second. Under the
    reference's rules units are spelled as it does (T4, T5).
    """
    _check_outside(counters.path, folder)
    places = decimals if decimals is not None else _DECIMALS.get(answer.normalization, _OTHER_DECIMALS)
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
    if not capture:
        return
    inside, whole = folder.resolve(), Path(capture).resolve()
    if whole.is_dir() and (inside == whole or whole in inside.parents):
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
    """The rows of tables as text."""

    def __init__(self, answer: CounterPanels, places: int, *, is_reference: bool) -> None:
        self._normalization = answer.normalization
        self._places = places
        self._is_reference = is_reference
        frame = answer.rows
        self._columns: dict[str, list[Any]] = {name: frame[name].to_list() for name in ("unit", *_HEADERS)}
        self._place: dict[tuple[str, str, str], int] = {}
        self._channels: dict[str, list[int]] = {}
        descriptions = zip(
            *(frame[name].to_list() for name in ("table_id", "metric_id", "series", "channel")), strict=True
        )
        for row, (table, metric, series, channel) in enumerate(descriptions):
            self._place[table, metric, series] = row
            if channel is not None and (not self._channels.get(table) or self._channels[table][-1] < channel):
                self._channels.setdefault(table, []).append(channel)

    def rows(self, table: MetricTable) -> Iterator[Sequence[str]]:
        if table.per_channel:
            yield from self._channel_rows(table)
            return
        labels = list(dict.fromkeys(header for metric in table.metrics for header, _ in metric.labels))
        values = ["Value"] if table.layout == "value" else [_HEADERS[name] for name in table.columns]
        has_unit = table.layout not in _WITHOUT_UNIT
        unit_place = 1 if table.layout == "peak" else len(values)
        unit_header = table.unit_header if self._is_reference else "Unit"
        yield ["Metric", *labels, *_with(values, unit_place, unit_header, has_unit=has_unit)]
        for metric in table.metrics:
            place = self._place[table.id, metric.id, metric.series]
            label_by_header = dict(metric.labels)
            cells = [self._number(name, place) for name in table.columns]
            with_unit = _with(cells, unit_place, self._unit(metric, place), has_unit=has_unit)
            yield [metric.name, *(label_by_header.get(header, "") for header in labels), *with_unit]

    def _channel_rows(self, table: MetricTable) -> Iterator[Sequence[str]]:
        if table.layout == "average":
            headers = [metric.series or metric.name for metric in table.metrics]
        else:
            headers = [_HEADERS[name] for name in table.columns]
        yield ["Channel", *headers]
        for channel in self._channels.get(table.id, ()):
            places = [self._place[table.id, f"{table.id}.{channel}", metric.series] for metric in table.metrics]
            yield [f"{channel}.0", *(self._number(name, place) for place in places for name in table.columns)]

    def _number(self, name: str, place: int) -> str:
        value = self._columns[name][place]
        if value is None or math.isnan(value):
            return ""
        return repr(round(value, self._places))

    def _unit(self, metric: Metric, place: int) -> str:
        if not self._is_reference:
            return str(self._columns["unit"][place])
        unit = metric.unit.replace("/N", f" per {self._normalization}").capitalize()
        return "ns" if "ns" in unit.lower() else unit


def _with(cells: Sequence[str], place: int, unit: str, *, has_unit: bool) -> list[str]:
    return [*cells[:place], unit, *cells[place:]] if has_unit else list(cells)


_TOP_WIDTH = (40, 3)
_LIST_WIDTH = (80, 4)
_NOTHING = frozenset(
    {
        *("", "#N/A", "#N/A N/A", "#NA", "<NA>", "N/A", "NA", "NULL", "None", "n/a", "null"),
        *("NaN", "-NaN", "nan", "-nan", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
    }
)
_WHOLE = re.compile(r"[+-]?\d{1,18}")
_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def kernel_rows(
    answer: CounterPanels, counters: CounterSet, places: int, *, is_reference: bool
) -> Iterator[Sequence[str]]:
    """Kernels by total duration; under the reference's rules by the times of the joined table, however unsound."""
    kernels = answer.kernels
    if is_reference:
        kernels = ranked_kernels(reference_dispatches(counters).with_columns(kernel_name="kernel_name_spelled"))
    chosen_names = set(answer.kernels.filter("is_chosen")["kernel_name"])
    pairs = counters.dispatches.select("kernel_name", "kernel_name_spelled").unique(maintain_order=True)
    spelled = {written or name: name for name, written in pairs.iter_rows()}
    is_chosen = [spelled.get(name, name) in chosen_names for name in kernels["kernel_name"]]
    marks = [["S"], *(["*"] if mark else [""] for mark in is_chosen)] if not all(is_chosen) else None
    rows = [["Kernel_Name", "Count", "Sum(ns)", "Mean(ns)", "Median(ns)", "Pct"]]
    names = ("duration_ns_total", "duration_ns_mean", "duration_ns_median")
    for row in kernels.iter_rows(named=True):
        durations = [_number(row[name], places) for name in names]
        share = row["duration_share"]
        percent = _number(None if share is None else 100 * share, places)
        rows.append(
            [_wrapped(row["kernel_name"] or "", *_TOP_WIDTH), f"{row['dispatch_count']}.0", *durations, percent]
        )
    for number, row_cells in enumerate(rows):
        yield [*row_cells, *marks[number]] if marks else row_cells


def dispatch_rows(counters: CounterSet, *, is_reference: bool) -> Iterator[Sequence[str]]:
    """All dispatches of the capture."""
    yield ["Dispatch_ID", "Kernel_Name", "GPU_ID"]
    if not is_reference:
        columns: tuple[str, ...] = ("dispatch_id", "kernel_name", "agent")
        for identity, name, agent in counters.dispatches.select(columns).iter_rows():
            yield ["" if identity is None else str(identity), name or "", agent or ""]
        return
    is_long = "long" in counters.passes["form"].to_list()
    rows: pl.DataFrame = reference_dispatches(counters)
    identities = rows.select("dispatch_id", "kernel_name_spelled", "agent", "gpu")
    for number, (identity, name, agent, gpu) in enumerate(identities.iter_rows()):
        ids = (number, gpu) if is_long else (identity, agent)
        first, last = ("" if cell is None else str(cell) for cell in ids)
        yield [first, _wrapped(name or "", *_LIST_WIDTH), last]


def system_rows(facts: Mapping[str, str]) -> Iterator[Sequence[str]]:
    """The recorded facts about the node, one per row, in recorded order."""
    yield ["Info"]
    for word in facts.values():
        yield [_retold(word)]


def _retold(word: str) -> str:
    """As a reader that guesses types writes it again: numbers are numbers, words for nothing are nothing."""
    plain = word.strip()
    if plain in _NOTHING:
        return ""
    if _WHOLE.fullmatch(plain):
        return str(int(plain))
    return repr(float(plain)) if _DECIMAL.fullmatch(plain) else word


def _number(value: float | None, places: int) -> str:
    return "" if value is None else repr(round(float(value), places))


def _wrapped(name: str, width: int, most: int) -> str:
    """A name cut into lines; what does not fit ends in three points."""
    lines = [name[start : start + width] for start in range(0, len(name), width)]
    if len(lines) > most:
        lines = [*lines[: most - 1], lines[most - 1][:-3] + "..."]
    return "\n".join(lines)
