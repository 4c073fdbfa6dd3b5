"""Metrics per kernel or per dispatch: a column per kernel, or a row per dispatch with outliers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from textwrap import wrap
from typing import Any

from wavewright.analysis.counters.values import MetricValues
from wavewright.base.shown import printable
from wavewright.base.words import counted, some_of, truncation
from wavewright.model import blocks
from wavewright.model.blocks import GAP, AnyBlock, sentence
from wavewright.words.counters.metric_text import figure, folded_names
from wavewright.words.kit.brief_names import brief_kernel
from wavewright.words.kit.declared_tables import declared_table
from wavewright.words.kit.frame_tables import Column, dim

_NUMBER = 11  #: Characters of a column of values.
_NAME, _LEAST_NAME = 34, 12  #: Characters of the name of a metric, and of a kernel where each row is a dispatch.
_OUTLIERS, _NAMED = 10, 4  #: Dispatches that are told as outliers, and metrics named of each.


def values_report(
    answer: MetricValues, *, width: int, limit: int = 20, decimals: int | None = None
) -> Iterator[AnyBlock]:
    """Blocks of the answer in order."""
    if answer.by == "kernel":
        yield declared_table("counters/values/kernels", answer.values, limit=limit)
        yield GAP
        yield from _by_kernel(answer, width, limit, decimals)
        return
    yield from _by_dispatch(answer, width, limit, decimals)
    yield GAP
    yield from _outliers(answer, min(limit, _OUTLIERS))


def _outliers(answer: MetricValues, limit: int) -> Iterator[AnyBlock]:
    """One line per dispatch that differs from the others of its kernel, with the metrics that differ most."""
    by_dispatch = answer.outliers.partition_by("dispatch", maintain_order=True)
    if not by_dispatch:
        yield sentence(("no outliers: no dispatch differs much from the others of its kernel", "dim"))
        return
    yield sentence((truncation(min(limit, len(by_dispatch)), len(by_dispatch), "outliers"), "bold"))
    for rows in by_dispatch[:limit]:
        first = rows.row(0, named=True)
        phrases = [_outlier(row, is_first=not at) for at, row in enumerate(rows.head(_NAMED).to_dicts())]
        more = f" and {rows.height - _NAMED} more" if rows.height > _NAMED else ""
        number = "-" if first["dispatch_id"] is None else first["dispatch_id"]
        yield sentence(
            (f"  dispatch {number}", "bold"),
            f" of {brief_kernel(first['kernel_name'], 32)}: ",
            ", ".join(phrases),
            more,
        )


def _outlier(row: dict[str, Any], *, is_first: bool) -> str:
    name, value = printable(row["name"]), figure(row["value"])
    if not row["median"]:
        return f"{name} {value}"
    factor = f"{name} x {row['value'] / row['median']:.2f}"
    return f"{factor} ({value} {printable(row['unit'])}, median {figure(row['median'])})" if is_first else factor


def _by_kernel(answer: MetricValues, width: int, limit: int, decimals: int | None) -> Iterator[AnyBlock]:
    kernels = answer.values
    fits = max(1, min(limit, (width - _NAME - 14) // _NUMBER))
    shown = kernels.head(fits)
    title = truncation(shown.height, kernels.height, "kernels as columns")
    columns = (blocks.Column("", "short"), blocks.Column("metric"), blocks.Column("unit", "short"))
    ranks = tuple(blocks.Column(f"#{rank}", "number") for rank in shown["kernel"])
    rows: list[tuple[str, ...]] = []
    blank = []
    for metric in answer.metrics.iter_rows(named=True):
        if kernels[metric["column"]].null_count() == kernels.height:
            blank.append(f"{label_of(metric)} ({printable(metric['reason'])})")
            continue
        cells = [figure(value, decimals) for value in shown[metric["column"]]]
        rows.append((dim(metric["metric_id"]), label_of(metric), metric["unit"], *cells))
    yield blocks.Table(title, (*columns, *ranks), tuple(rows))
    if blank:
        yield sentence((f"blank: {some_of(blank, _NAMED)}", "dim"))
    if shown.height < kernels.height:
        yield sentence(("--csv and --json have all kernels; --kernel chooses some", "bold"))


def _by_dispatch(answer: MetricValues, width: int, limit: int, decimals: int | None) -> Iterator[AnyBlock]:
    asked = answer.metrics.to_dicts()
    nonempty = [row for row in asked if answer.values[row["column"]].null_count() < answer.values.height]
    zero = [row for row in nonempty if not (answer.values[row["column"]] != 0).any()]
    nonempty = [row for row in nonempty if row not in zero]
    fits = max(1, (width - _LEAST_NAME - 24) // (_NUMBER + 2))
    metrics = [_metric(metric, decimals) for metric in nonempty[:fits]]
    note = truncation(fits, len(nonempty), "metrics") if len(nonempty) > fits else ""
    yield replace(declared_table("counters/values/dispatches", answer.values, limit=limit, metrics=metrics), note=note)
    if limit < answer.values.height or len(nonempty) > fits:
        yield sentence(("--csv and --json have all; --metric, --kernel and --dispatch choose some", "bold"))
    if zero:
        yield sentence((f"zero in every dispatch: {', '.join(folded_names(row['name'] for row in zero))}", "dim"))
    blank = len(asked) - len(nonempty) - len(zero)
    if blank:
        yield sentence((f"{counted(blank, 'metrics')} blank in every dispatch; --json says why", "dim"))


def label_of(metric: dict[str, Any]) -> str:
    """The name of a metric, with the channel it is of."""
    name = printable(metric["series"] or metric["name"])
    return name if metric["channel"] is None else f"{name} [{metric['channel']}]"


def _metric(metric: dict[str, Any], decimals: int | None) -> Column:
    """A column of values, its name and unit on several lines."""
    unit = f" ({metric['unit']})" if metric["unit"] else ""
    lines = wrap(printable(f"{label_of(metric)}{unit}"), _NUMBER + 1, break_long_words=False, break_on_hyphens=False)
    return Column("\n".join(lines), lambda row: figure(row[metric["column"]], decimals))
