"""Speed of light: how near each unit is to its limit, in all and of the longest kernels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from wavewright.analysis.counters.engine.answer import CounterPanels
from wavewright.base.shown import printable
from wavewright.base.words import counted, some_of
from wavewright.facts.metrics.metric import SPEED_OF_LIGHT
from wavewright.model.blocks import AnyBlock, Cell, Column, Sentence, Table, sentence
from wavewright.words.counters.metric_text import figure, folded_names
from wavewright.words.counters.panels import peak_cell, percent_bar

_GROUPS = ("compute", "caches", "memory")
_MOST_KERNELS = 3  #: Kernels that get a column of their own.
_LEAST_SHARE = 0.01  #: A kernel with a smaller share of the time gets none.
_HIGHEST, _REASONS = 3, 2  #: Units nearest to their peaks, and blank metrics, that a sentence names.


def shown_kernels(kernels: pl.DataFrame) -> list[int]:
    """Ranks of the chosen kernels that get a column of their own: none for one kernel."""
    chosen = kernels.filter(kernels["is_chosen"])
    if chosen.height < 2:
        return []
    large = chosen.filter(chosen["duration_share"].is_null() | (chosen["duration_share"] >= _LEAST_SHARE))
    return large["kernel"].head(_MOST_KERNELS).to_list()


def speed_of_light(
    answer: CounterPanels,
    rows: pl.DataFrame,
    by_kernel: Sequence[tuple[int, CounterPanels]],
    *,
    decimals: int | None = None,
    is_verdict_first: bool = False,
) -> Iterator[AnyBlock]:
    """Blocks of the table of `rows`, what is nearest to its peak, zero or blank; `by_kernel`: (rank, its panels)."""
    nonzero = rows.filter(rows["average"] != 0)
    if nonzero.height:
        table = _speed_table(answer, nonzero, by_kernel, decimals)
        parts: list[AnyBlock] = [table, *_nearest(rows, by_kernel)]
        yield from (*parts[1:], table) if is_verdict_first else parts
    zero = rows.filter(rows["average"] == 0)
    if zero.height:
        yield sentence((f"zero: {', '.join(folded_names(zero['name']))}", "dim"))
    blank = rows.filter(rows["average"].is_null())
    if blank.height:
        blank_metrics = [
            f"{printable(name)} ({printable(why)})" for name, why in blank.select("name", "reason").iter_rows()
        ]
        more = f"; --panel {SPEED_OF_LIGHT} has all" if len(blank_metrics) > _REASONS else ""
        yield sentence((f"blank: {some_of(blank_metrics, _REASONS)}{more}", "dim"))


def _nearest(rows: pl.DataFrame, by_kernel: Sequence[tuple[int, CounterPanels]]) -> Iterator[Sentence]:
    for whose, kernel_rows in [(f"#{rank} is ", part.rows) for rank, part in by_kernel] or [("", rows)]:
        if words := nearest_to_peak(kernel_rows):
            yield sentence((f"{whose}{words}", "bold"))


def _speed_table(
    answer: CounterPanels, rows: pl.DataFrame, by_kernel: Sequence[tuple[int, CounterPanels]], decimals: int | None
) -> Table:
    """One table with a line for each group, so that all columns stand below each other."""
    speed = [(rank, panels.rows.filter(panels.rows["table_id"] == SPEED_OF_LIGHT)) for rank, panels in by_kernel]
    shares = [(rank, dict(part.select("metric_id", "peak_share").iter_rows())) for rank, part in speed[:_MOST_KERNELS]]
    columns = (
        Column(""),
        Column("average", "number"),
        Column("unit", "short"),
        Column("peak", "number", is_wide=bool(shares)),
        Column("of peak", "number"),
        Column("", "bar"),
        *(Column(f"#{rank}", "number", is_wide=at > 1) for at, (rank, _) in enumerate(shares)),
    )
    lines: list[tuple[str, ...]] = []
    for group in _GROUPS:
        members = [row for row in rows.iter_rows(named=True) if unit_group(row["name"]) == group]
        if members:
            lines.append((Cell(group, "bold cyan"), *[""] * (len(columns) - 1)))
        lines += [
            (
                Cell(row["name"], level=1),
                figure(row["average"], decimals),
                row["unit"],
                "" if row["peak"] is None else figure(row["peak"], decimals),
                peak_cell(row),
                percent_bar(row["peak_share"]),
                *(_share(by_metric.get(row["metric_id"])) for _, by_metric in shares),
            )
            for row in members
        ]
    return Table(f"speed of light of {counted(answer.dispatch_count, 'dispatches')}", columns, tuple(lines))


def _share(share: float | None) -> str:
    return "" if share is None else f"{share:.1f} %"


def unit_group(name: str) -> str:
    """The part of the GPU that a metric is about: compute, caches or memory."""
    if "fabric" in name.lower() or "HBM" in name:
        return "memory"
    return "caches" if any(word in name for word in ("L0", "L1", "L2", "LDS", "Cache")) else "compute"


def is_limit(row: dict[str, Any]) -> bool:
    """True if a high share of the peak means that a unit is near its limit: not so of hit rates and active lanes."""
    name, unit = str(row["name"]), str(row["unit"])
    return unit.endswith("/s") or name.endswith("Utilization") or name == "IPC"


def nearest_to_peak(rows: pl.DataFrame) -> str:
    """Units that are nearest to their limits, in words; empty = none is known."""
    limits = [row for row in rows.iter_rows(named=True) if row["peak_share"] is not None and is_limit(row)]
    highest = sorted(limits, key=lambda row: -row["peak_share"])[:_HIGHEST]
    if not highest or not highest[0]["peak_share"]:
        return ""
    named = ", ".join(f"{printable(row['name'])} {row['peak_share']:.1f} %" for row in highest)
    return f"nearest to the peak of: {named}"
