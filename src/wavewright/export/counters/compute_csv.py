"""One CSV file per table of metrics, named and laid out as ROCm Compute Profiler saves its tables."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wavewright.base.csv import harmless_rows
from wavewright.errors import UsageError
from wavewright.export.counters.compute_top import dispatch_rows, kernel_rows, system_rows
from wavewright.export.kit.staging import staged

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from wavewright.analysis.counters.engine.answer import CounterPanels
    from wavewright.facts.metrics.declared import Metric, MetricTable
    from wavewright.model.counters import CounterSet

_HEADERS = {
    "average": "Avg",
    "minimum": "Min",
    "maximum": "Max",
    "deviation": "Std Dev",
    "q1": "Q1",
    "median": "Median",
    "q3": "Q3",
    "peak": "Peak",
    "peak_share": "Pct of Peak",
}
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

    Raises
    ------
    UsageError
        When the folder is the capture or in it, or holds something else and must not be replaced.
    WavewrightError
        When the file system refuses.
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
