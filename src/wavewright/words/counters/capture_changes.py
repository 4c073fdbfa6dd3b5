"""Differences between counter captures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from wavewright.analysis.counters.compare import CounterComparison
from wavewright.base.shown import printable
from wavewright.base.words import counted, percent, some_of
from wavewright.facts.metrics.metric import SPEED_OF_LIGHT
from wavewright.model.blocks import GAP, AnyBlock, Cell, Sentence, Table, headline, sentence
from wavewright.words.counters.metric_text import BLANK, figure
from wavewright.words.counters.values import label_of
from wavewright.words.kit.brief_names import brief_kernel
from wavewright.words.kit.declared_tables import declared_table, table_below
from wavewright.words.kit.frame_tables import dim

_STYLES = {"slower": "red", "new": "red", "faster": "green", "gone": "green", "higher": "yellow", "lower": "cyan"}
_NAMED = 5  #: Metrics that a sentence names.
_MOST_PERCENT = 9.995  #: A change by a larger share (999.5 %) is written as a factor.


def counter_comparison_report(
    answer: CounterComparison, *, width: int, limit: int = 20, everything: bool = False, decimals: int | None = None
) -> Iterator[AnyBlock]:
    """Blocks of verdicts, captures, their kernels, then changed metrics; `everything`: all metrics."""
    others = range(1, answer.sides.height)
    for side in others:
        yield headline(answer.verdict(side))
    for note in answer.notes:
        yield Sentence(note, "note")
    yield from table_below(
        "counters/capture_changes/sides",
        answer.sides,
        limit=limit,
        gpu=lambda row: " ".join(filter(None, (row["target"], row["product"]))) or "?",
        change=lambda row: percent(row["change"], sign=True) if row["side"] else "",
    )
    for side in others:
        yield from _side(answer, side, width=width, limit=limit, everything=everything, decimals=decimals)


def _side(
    answer: CounterComparison, side: int, *, width: int, limit: int, everything: bool, decimals: int | None
) -> Iterator[AnyBlock]:
    title = f"{answer.sides['label'][side]} against {answer.sides['label'][0]}"
    kernels = answer.kernels.filter(pl.col("side") == side)
    yield from table_below(
        "counters/capture_changes/kernels", kernels, limit=limit, title=title, status=lambda row: _toned(row["status"])
    )
    metrics = answer.metrics.filter(pl.col("side") == side)
    for (name,), rows in metrics.group_by("kernel_name", maintain_order=True):
        yield GAP
        if name is not None and metrics["kernel_name"].n_unique() > 1:
            yield sentence((brief_kernel(str(name), width), "bold underline"))
        yield from _metrics(answer, side, rows, limit=limit, everything=everything, decimals=decimals)


def _metrics(
    answer: CounterComparison, side: int, rows: pl.DataFrame, *, limit: int, everything: bool, decimals: int | None
) -> Iterator[AnyBlock]:
    labels = answer.sides["label"].to_list()
    shown = rows if everything else rows.filter(pl.col("status").is_in(["higher", "lower", "unknown"]))
    what = "metrics" if everything else "metrics that changed"
    is_speed = pl.col("table_id") == SPEED_OF_LIGHT
    speed, rest = shown.filter(is_speed), shown.filter(~is_speed)
    if speed.height:
        yield _metric_table(speed, labels[0], labels[side], decimals, rows=what, title="speed of light")
    if not everything:
        rest = _largest_first(rest, speed)
    if rest.height:
        if speed.height:
            yield GAP
        yield _metric_table(rest, labels[0], labels[side], decimals, limit=limit, rows=what, title="other panels")
    if not everything:
        yield from _hidden(rows, labels[0], labels[side])


def _largest_first(rows: pl.DataFrame, printed: pl.DataFrame) -> pl.DataFrame:
    """The largest changes first; equal rows of several panels are one, and those in `printed` are left out."""
    same = ["base", "value", "unit"]
    rest = rows.join(printed.select(same).unique(), on=same, how="anti", maintain_order="left", nulls_equal=True)
    size = pl.col("change").abs().fill_null(float("inf"))
    return rest.unique(same, keep="first", maintain_order=True).sort(size, descending=True, maintain_order=True)


def _hidden(rows: pl.DataFrame, base: str, side: str) -> Iterator[Sentence]:
    """Counts of what the tables leave out."""
    same = int((rows["status"] == "same").sum())
    if same:
        words = f"{counted(same, 'metrics')} {'is' if same == 1 else 'are'} the same or within noise; --all shows them"
        yield sentence((words, "dim"))
    for status, label, reason in (("not in base", base, "base_reason"), ("not in side", side, "reason")):
        metrics = rows.filter(rows["status"] == status)
        if metrics.height:
            names = [printable(name) for name in metrics["name"].unique(maintain_order=True)]
            names[0] += f" ({printable(metrics[reason][0] or 'no reason')})"
            listing = some_of(names, _NAMED)
            yield sentence((f"{counted(metrics.height, 'metrics')} not measured in {label}: {listing}", "dim"))
    units = rows.filter(rows["status"] == "other unit")
    if units.height:
        listing = some_of([printable(name) for name in units["name"]], _NAMED)
        yield sentence((f"{counted(units.height, 'metrics')} in another unit: {listing}", "dim"))


def _metric_table(frame: pl.DataFrame, base: str, side: str, decimals: int | None, **words: Any) -> Table:
    return declared_table(
        "counters/capture_changes/metrics",
        frame,
        **words,
        id=lambda row: dim(row["metric_id"]),
        metric=label_of,
        base=base,
        base_value=lambda row: figure(row["base"], decimals),
        side=side,
        side_value=lambda row: figure(row["value"], decimals),
        difference=lambda row: _signed(row["delta"], decimals),
        change=_change,
        noise=_noise,
        has_peaks=frame["peak_share"].count() + frame["base_peak_share"].count() > 0,
        status=lambda row: _toned(row["status"]),
    )


def _change(row: dict[str, Any]) -> str:
    change = row["change"]
    if change is None:
        return "from 0" if row["delta"] else BLANK
    if change > _MOST_PERCENT:
        return f"x {change + 1:,.1f}"
    return percent(change, sign=True)


def _noise(row: dict[str, Any]) -> str:
    if row["noise"] is None or row["delta"] is None:
        return "?" if row["delta"] is not None else ""
    if not row["base"]:
        return f"±{figure(row['noise'])}"
    share = row["noise"] / abs(row["base"])
    return f"±{percent(share)}" if share < _MOST_PERCENT else "> 1,000 %"


def _signed(value: float | None, decimals: int | None) -> str:
    if value is None:
        return BLANK
    return f"{'+' if value > 0 else ''}{figure(value, decimals)}"


def _toned(status: str) -> Cell:
    return Cell(status, _STYLES.get(status, "dim"))
