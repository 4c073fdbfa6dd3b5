"""L2 channels: how evenly they are used, which are the worst, all of them as one strip."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean, pstdev
from typing import Any

import polars as pl

from wavewright.base.shown import printable
from wavewright.base.words import counted
from wavewright.model.blocks import AnyBlock, chart, sentence
from wavewright.words.counters.metric_text import BLANK, Footnotes, figure, strip
from wavewright.words.kit.frame_tables import Column, frame_table

_CHANNELS_PER_DIE = 16  #: Of an XCD; strips have a space between dies.
_INDENT = 4  #: Characters before a strip.


def channel_parts(
    title: str, rows: pl.DataFrame, *, width: int, decimals: int | None, all_channels: bool
) -> Iterator[AnyBlock]:
    """Blocks of a table about channels: statistics and a strip of each metric, or all; `rows`: of `CounterPanels`."""
    if rows["average"].null_count() == rows.height:
        why = ", ".join(printable(reason) for reason in rows["reason"].unique(maintain_order=True)[:2])
        yield sentence((title, "bold"), f"  all {rows['channel'].n_unique()} channels blank: {why}")
        return
    yield from (_every_channel(rows, title, decimals) if all_channels else _statistics(rows, title, width, decimals))


def _statistics(rows: pl.DataFrame, title: str, width: int, decimals: int | None) -> Iterator[AnyBlock]:
    yield sentence((title, "bold"))
    for label, unit, values, reason in _lines(rows):
        measured = [(value, at) for at, value in enumerate(values) if value is not None]
        if not measured:
            yield sentence(f"  {label} ", (f"{BLANK} {reason}", "dim"))
            continue
        mean = fmean(value for value, _ in measured)
        (low, low_at), (high, high_at) = min(measured), max(measured)
        spread = ", the same in all channels"
        if high > low:
            share = f"±{100 * pstdev(value for value, _ in measured) / mean:.1f} % between channels, " if mean else ""
            ends = f"{figure(low, decimals)} (channel {low_at}) to {figure(high, decimals)} (channel {high_at})"
            spread = f", {share}{ends}"
        missing = len(values) - len(measured)
        unmeasured = f"; {counted(missing, 'channels')} not measured" if missing else ""
        values_mean = f"mean {figure(mean, decimals)}{f' {unit}' if unit else ''}"
        yield sentence(f"  {label}: " if label else "  ", values_mean, spread, (unmeasured, "yellow"))
        die_count = max(at for _, at in measured) // _CHANNELS_PER_DIE + 1  # to the last with a measured channel
        marks = strip(values[: die_count * _CHANNELS_PER_DIE], group=_CHANNELS_PER_DIE)
        yield chart(sentence(" " * _INDENT, (line, "cyan")) for line in _wrapped(marks, width - _INDENT))


def _lines(rows: pl.DataFrame) -> Iterator[tuple[str, str, list[float | None], str]]:
    """Metric or series, unit, values by channel and a reason for blanks."""
    highest = int(rows["channel"].max() or 0)  # type: ignore[arg-type]
    for (name, series), part in rows.group_by("name", "series", maintain_order=True):
        values: list[float | None] = [None] * (highest + 1)
        for channel, average in part.select("channel", "average").iter_rows():
            if channel is not None:
                values[channel] = average
        yield printable(str(series or name)), printable(part["unit"][0]), values, printable(part["reason"][0] or "")


def _wrapped(text: str, width: int) -> Iterator[str]:
    """Whole groups, as many as fit; powers of two of them, so that dies stand below each other."""
    groups = text.split(" ")
    per_line = 1
    while per_line * 2 * (len(groups[0]) + 1) - 1 <= width and per_line < len(groups):
        per_line *= 2
    for at in range(0, len(groups), per_line):
        yield " ".join(groups[at : at + per_line])


def _every_channel(rows: pl.DataFrame, title: str, decimals: int | None) -> Iterator[AnyBlock]:
    """A row per channel; a column per metric, or the spread of the only one."""
    notes = Footnotes()
    labels = list(dict.fromkeys(series or name for name, series in rows.select("name", "series").iter_rows()))
    by_channel: dict[int, dict[str, dict[str, Any]]] = {}
    for row in rows.iter_rows(named=True):
        by_channel.setdefault(row["channel"], {})[row["series"] or row["name"]] = row
    frame = rows.select("channel").unique(maintain_order=True).sort("channel")
    statistics = ("average", "minimum", "median", "maximum") if len(labels) == 1 else ("average",)

    def column(label: str, statistic: str) -> Column:
        def cell(row: dict[str, Any]) -> str:
            value = by_channel[row["channel"]].get(label)
            if value is None:
                return BLANK
            return notes.mark(value["reason"]) if value[statistic] is None else figure(value[statistic], decimals)

        return Column(printable(label) if len(labels) > 1 else statistic, cell)

    columns = [column(label, statistic) for label in labels for statistic in statistics]
    number = Column("channel", lambda row: str(row["channel"]))
    yield frame_table(frame, [number, *columns], limit=None, what="channels", title=title)
    for line in notes.lines():
        yield sentence((line, "dim"))
