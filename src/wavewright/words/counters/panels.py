"""Panels of metrics: one table each, with peaks as bars, spreads, and why a cell is blank."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from wavewright.analysis.counters.engine.answer import CounterPanels
from wavewright.base.shown import printable
from wavewright.base.words import counted, some_of
from wavewright.facts.loader import packaged
from wavewright.facts.metrics.metric import Metric, MetricTable
from wavewright.model.blocks import GAP, AnyBlock, Cell, sentence
from wavewright.words.counters.channels import channel_parts
from wavewright.words.counters.metric_text import BLANK, Footnotes, box_plot, figure
from wavewright.words.kit.declared_tables import declared_columns
from wavewright.words.kit.frame_tables import Column, dim, frame_table

_HEADINGS: dict[str, str] = packaged("texts.toml", __package__)["headings"]
_FIVE = ("minimum", "q1", "median", "q3", "maximum")  #: Columns of a box plot.
_ONLY_WIDE = ("q1", "q3")
_MIX = "10."  #: The ids of tables that count instructions by kind start with it.


def panel_parts(
    answer: CounterPanels, *, width: int, decimals: int | None = None, explain: bool = False, all_channels: bool = False
) -> Iterator[AnyBlock]:
    """Blocks of every panel of the answer with its tables; `explain` adds formula and meaning of each metric.

    Channels are shown as statistics, or one by one with `all_channels`.
    """
    for panel in answer.panels:
        yield GAP
        yield sentence((f"{panel.number} {panel.title}", "bold underline"), (f"  --panel {panel.word}", "dim"))
        for table in panel.tables:
            rows = answer.rows.filter(pl.col("table_id") == table.id)
            if not rows.height:
                continue
            title = f"{table.id} {table.title.replace('normUnit', answer.normalization)}"
            yield GAP
            if table.per_channel:
                yield from channel_parts(title, rows, width=width, decimals=decimals, all_channels=all_channels)
            else:
                yield from _table_parts(title, table, rows, decimals=decimals, explain=explain)


def peak_cell(row: dict[str, Any]) -> Cell:
    """The share of the peak in percent: bold from 60 on, red above 100."""
    share = row["peak_share"]
    tone = "" if share is None or share < 60 else "bold" if share <= 100 else "bold red"
    return Cell("" if share is None else f"{share:.1f} %", tone)


def percent_bar(value: float | None, most: float = 100.0) -> Cell:
    """A bar for a value from 0 to `most`."""
    return Cell("", "cyan", share=(value or 0.0) / most, bar_width=20)


def _table_parts(
    title: str, table: MetricTable, rows: pl.DataFrame, *, decimals: int | None, explain: bool
) -> Iterator[AnyBlock]:
    with_value = rows.filter(pl.col("average").is_not_null() | pl.col("median").is_not_null())
    if not with_value.height and not explain:
        why = some_of([printable(reason) for reason in rows["reason"].unique(maintain_order=True)], 2)
        yield sentence((title, "bold"), f"  {counted(rows.height, 'metrics')}, all blank: {why}")
        return
    notes = Footnotes()
    columns = _columns(table, rows, notes, decimals=decimals, explain=explain)
    yield frame_table(rows, columns, limit=None, what="metrics", title=title)
    for line in notes.lines():
        yield sentence((line, "dim"))


def _columns(
    table: MetricTable, rows: pl.DataFrame, notes: Footnotes, *, decimals: int | None, explain: bool
) -> list[Column]:
    """Columns of the table's layout; what all rows lack, or what one dispatch cannot tell, has no column."""
    has_spread = bool((rows["dispatch_count"].max() or 0) > 1)  # type: ignore[operator]
    wanted = [name for name in table.columns if name not in ("peak", "peak_share")]
    if not has_spread:
        wanted = ["average"]
    elif "average" not in wanted:
        wanted = ["average", *wanted]
    metrics = {metric.id: metric for metric in table.metrics}
    scales = dict(rows.group_by("unit").agg(pl.col("maximum").max()).iter_rows())
    most = max((value for value in rows["average"] if value is not None), default=0.0)
    return declared_columns(
        "counters/panels/metrics",
        id=lambda row: dim(row["metric_id"]),
        explained=lambda row: _explained(row, metrics.get(row["metric_id"])),
        is_explained=explain,
        numbers=[_number(name, is_first=not at, notes=notes, decimals=decimals) for at, name in enumerate(wanted)],
        has_unit=any(rows["unit"]),
        peak=lambda row: "" if row["peak"] is None else figure(row["peak"], decimals),
        of_peak=peak_cell,
        peak_bar=lambda row: percent_bar(row["peak_share"]),
        has_peaks="peak" in table.columns,
        box=lambda row: box_plot([row[name] for name in _FIVE], scales[row["unit"]] or 0.0, 20),
        has_boxes=has_spread and table.layout == "quartiles",
        amount_bar=lambda row: percent_bar(row["average"], most),
        has_amounts=table.id.startswith(_MIX) and most > 0 and rows["unit"].n_unique() == 1,
        percent_bar=lambda row: percent_bar(row["average"] if row["unit"] == "%" else None),
        has_percents=table.layout == "average" and "%" in rows["unit"],
    )


def _number(name: str, *, is_first: bool, notes: Footnotes, decimals: int | None) -> Column:
    def cell(row: dict[str, Any]) -> str:
        if row[name] is None:
            return notes.mark(row["reason"]) if is_first else BLANK
        return figure(row[name], decimals)

    return Column(_HEADINGS[name], cell, is_wide=name in _ONLY_WIDE)


def _explained(row: dict[str, Any], metric: Metric | None) -> Cell:
    """Name, formula and meaning of a metric under each other."""
    name = printable(row["name"])
    if metric is None:
        return Cell(name)
    formula = metric.formula or "this target has no counters for it"
    lines = [
        (f"= {formula}", "cyan"),
        (f"peak = {metric.peak}" if metric.peak else "", "cyan"),
        (metric.about, "dim"),
        (f"measured in the pass of {metric.level}" if metric.level else "", "dim"),
    ]
    return Cell.of(name, *((f"\n  {printable(line)}", tone) for line, tone in lines if line))
