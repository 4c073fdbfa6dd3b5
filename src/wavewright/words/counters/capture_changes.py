"""Differences between counter captures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from wavewright.base.shown import printable
from wavewright.base.words import counted, duration, percent
from wavewright.facts.metrics.declared import SPEED_OF_LIGHT
from wavewright.model.blocks import GAP, AnyBlock, Cell, Sentence, headline, sentence
from wavewright.words.counters.metric_text import BLANK, figure, sentence_list
from wavewright.words.kit.brief_names import brief_kernel
from wavewright.words.kit.frame_tables import Column, dim, frame_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wavewright.analysis.counters.compare import CounterComparison

_STYLES = {"slower": "red", "new": "red", "faster": "green", "gone": "green", "higher": "yellow", "lower": "cyan"}
_NAMED = 5
_MOST_PERCENT = 9.995  #: Larger changes are written as factors.


def counter_comparison_report(
    answer: CounterComparison,
    *,
    width: int,
    limit: int = 20,
    everything: bool = False,
    decimals: int | None = None,
) -> Iterator[AnyBlock]:
    """Blocks of verdicts, captures, their kernels, then changed metrics; `everything`: all metrics."""
    others = range(1, answer.sides.height)
    for side in others:
        yield headline(answer.verdict(side))
    for note in answer.notes:
        yield Sentence(note, "note")
    yield GAP
    yield frame_table(answer.sides, _SIDES, limit=limit, what="captures")
    for side in others:
        yield from _side(answer, side, width=width, limit=limit, everything=everything, decimals=decimals)


def _side(
    answer: CounterComparison, side: int, *, width: int, limit: int, everything: bool, decimals: int | None
) -> Iterator[AnyBlock]:
    title = f"{answer.sides['label'][side]} against {answer.sides['label'][0]}"
    kernels = answer.kernels.filter(pl.col("side") == side)
    if kernels.height:
        yield GAP
        yield frame_table(kernels, _KERNELS, limit=limit, what="kernels", title=title)
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
    first = pl.col("table_id") == SPEED_OF_LIGHT
    speed, rest = shown.filter(first), shown.filter(~first)
    if speed.height:
        columns = _metric_columns(labels[0], labels[side], speed, decimals)
        yield frame_table(speed, columns, limit=None, what=what, title="speed of light")
    if not everything:
        rest = _largest_first(rest, speed)
    if rest.height:
        if speed.height:
            yield GAP
        columns = _metric_columns(labels[0], labels[side], rest, decimals)
        yield frame_table(rest, columns, limit=limit, what=what, title="other panels")
    if not everything:
        yield from _hidden(rows, labels[0], labels[side])


def _largest_first(rows: pl.DataFrame, printed: pl.DataFrame) -> pl.DataFrame:
    """The largest changes first; what several panels say is said once, and not again if it was told before."""
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
            listing = sentence_list(names, _NAMED)
            yield sentence((f"{counted(metrics.height, 'metrics')} not measured in {label}: {listing}", "dim"))
    units = rows.filter(rows["status"] == "other unit")
    if units.height:
        listing = sentence_list([printable(name) for name in units["name"]], _NAMED)
        yield sentence((f"{counted(units.height, 'metrics')} in another unit: {listing}", "dim"))


def _metric_columns(base: str, side: str, rows: pl.DataFrame, decimals: int | None) -> list[Column]:
    has_peaks = rows["peak_share"].null_count() < rows.height or rows["base_peak_share"].null_count() < rows.height
    peaks = [
        Column(f"peak {base}", lambda row: _points(row["base_peak_share"]), is_wide=True),
        Column(f"peak {side}", lambda row: _points(row["peak_share"]), is_wide=True),
    ]
    return [
        Column("", lambda row: dim(row["metric_id"]), is_text=True, is_fixed=True),
        Column("metric", _name, takes_rest=True),
        Column(base, lambda row: figure(row["base"], decimals)),
        Column(side, lambda row: figure(row["value"], decimals)),
        Column("unit", lambda row: row["unit"], is_text=True, is_fixed=True),
        Column("difference", lambda row: _signed(row["delta"], decimals), is_wide=True),
        Column("change", _change),
        Column("noise", _noise, is_wide=True),
        *(peaks if has_peaks else []),
        Column("", lambda row: _toned(row["status"]), is_text=True, is_fixed=True),
    ]


def _name(row: dict[str, Any]) -> str:
    name = printable(row["series"] or row["name"])
    return name if row["channel"] is None else f"{name} [{row['channel']}]"


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


def _points(share: float | None) -> str:
    return "" if share is None else f"{share:.1f} %"


def _signed(value: float | None, decimals: int | None) -> str:
    if value is None:
        return BLANK
    return f"{'+' if value > 0 else ''}{figure(value, decimals)}"


def _toned(status: str) -> Cell:
    return Cell(status, _STYLES.get(status, "dim"))


_SIDES = [
    Column("", lambda row: row["label"], is_text=True),
    Column("GPU", lambda row: " ".join(filter(None, (row["target"], row["product"]))) or "?", is_text=True),
    Column("dispatches", lambda row: f"{row['dispatch_count']:,}"),
    Column("kernels", lambda row: f"{row['kernel_count']:,}"),
    Column("time", lambda row: duration(row["duration_ns"])),
    Column("change", lambda row: percent(row["change"], sign=True) if row["side"] else ""),
    Column("path", lambda row: "/".join(row["path"].rstrip("/").rsplit("/", 2)[-2:]), takes_rest=True),
]
_KERNELS = [
    Column("effect", lambda row: "-" if row["delta_ns"] is None else _signed_time(row["delta_ns"])),
    Column("", lambda row: _toned(row["status"]), is_text=True, is_fixed=True),
    Column("per call", lambda row: percent(row["change"], sign=True)),
    Column("noise", lambda row: "?" if row["noise"] is None else f"±{percent(row['noise'])}"),
    Column("mean before", lambda row: duration(row["base_mean_ns"])),
    Column("after", lambda row: duration(row["mean_ns"])),
    Column("calls before", lambda row: f"{row['base_dispatch_count']:,}", is_wide=True),
    Column("calls", lambda row: f"{row['dispatch_count']:,}"),
    Column("kernel", lambda row: brief_kernel(row["kernel_name"], 200), takes_rest=True),
]


def _signed_time(nanoseconds: float) -> str:
    return f"+{duration(nanoseconds)}" if nanoseconds > 0 else duration(nanoseconds)
