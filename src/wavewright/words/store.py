"""A store in words: its captures, how a quantity went on, and what a change came from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from typing import Any

import polars as pl

from wavewright.analysis.common.gate import measured_text
from wavewright.analysis.common.store.blame import BlameAnswer
from wavewright.analysis.common.store.trend import TrendAnswer, change_text
from wavewright.base.words import counted, percent
from wavewright.facts.kernel_titles import kernel_title
from wavewright.model.blocks import GAP, AnyBlock, Picture, headline, sentence
from wavewright.words.kit.declared_tables import declared_table, table_below
from wavewright.writers.svg.plot_axes import Scale, Ticks, bottom_axis, left_axis, round_ticks, time_unit
from wavewright.writers.svg.plot_frame import Frame, Key

_HEIGHT, _AXIS = 300.0, 96.0  #: Of the picture of a trend, and room for the values at its left.


def captures_report(captures: pl.DataFrame, address: str, *, limit: int) -> Iterator[AnyBlock]:
    """Blocks of a list of captures, the newest first."""
    kinds = ", ".join(f"{count:,} of {kind}" for kind, count in captures.group_by("kind").len().sort("kind").rows())
    commits = captures.filter(pl.col("commit_id") != "")["commit_id"].n_unique()
    yield headline(f"{counted(captures.height, 'captures')} in {address}" + (f": {kinds}" if kinds else ""))
    damage_count = captures.filter(pl.col("damages") != "").height
    if commits or damage_count:
        words = [f"{counted(commits, 'commits')}"] * bool(commits) + [f"{damage_count:,} damaged"] * bool(damage_count)
        yield sentence((", ".join(words), "dim"))
    yield from table_below("store/captures", captures, limit=limit, taken=_taken)


def trend_report(answer: TrendAnswer, *, limit: int) -> Iterator[AnyBlock]:
    """Blocks of a trend: the verdict, the changes, the newest values."""
    yield headline((answer.headline(), "bold yellow" if answer.changes.height else "bold green"))
    notes = [] if answer.grid_lanes is None else [f"grid of {answer.grid_lanes:,} lanes"]
    notes += [f"series {answer.series}"] * bool(answer.series)
    notes += [f"{counted(answer.damaged_count, 'captures')} left out: damaged"] * bool(answer.damaged_count)
    if answer.others.height:
        notes.append(f"{answer.others.height:,} more series fit: --gpu, --series, --subject choose, --json lists them")
    if notes:
        yield sentence(("; ".join(notes), "dim"))
    value = partial(_value_cell, answer.unit)
    if answer.changes.height:
        yield from table_below(
            "store/changes", answer.changes.reverse(), limit=limit, taken=_taken, before=value("before"),
            after=value("after"), change=change_text,
        )  # fmt: skip
    yield GAP
    yield declared_table("store/points", answer.points.reverse(), limit=limit, taken=_taken, value=value("value"))


def blame_report(answer: BlameAnswer, *, limit: int) -> Iterator[AnyBlock]:
    """Blocks of the parts of a change."""
    yield headline((answer.headline(), "bold"))
    sides = f"{counted(len(answer.before_labels), 'captures')} before, {len(answer.after_labels):,} after"
    share_text = (
        "" if answer.explained_share is None else f"; parts beyond noise are {percent(answer.explained_share)} of it"
    )
    yield sentence((sides + share_text, "dim"))
    if answer.code_changed is not None:
        yield sentence("other instructions run" if answer.code_changed else "the same instructions run")
    for line in answer.software_changes:
        yield sentence(("software ", "dim"), line)
    value = partial(_value_cell, answer.trend.unit)
    yield from table_below(
        "store/parts", answer.parts, limit=limit, part=_part, before=value("before"), after=value("after"),
        difference=value("difference"), told=_told,
    )  # fmt: skip
    for line in answer.missing:
        yield sentence((f"to know more: {line}", "dim"))


def _value_cell(unit: str, column: str) -> Callable[[dict[str, Any]], str]:
    """The cell that writes the number of a column in its unit."""
    return lambda row: measured_text(row[column], unit)


def trend_picture(answer: TrendAnswer, theme: str) -> Picture:
    """Values over captures with the band of each level and its changes."""
    points = answer.points
    unit, factor = time_unit(float(points["value"].max())) if answer.unit == "ns" else (answer.unit, 1.0)  # type: ignore[arg-type]
    ends = pl.concat([points["value"], points["low"].drop_nulls(), points["high"].drop_nulls()]) / factor
    low, high = float(ends.min()), float(ends.max())  # type: ignore[arg-type]
    room = (high - low or abs(high) or 1.0) * 0.08
    keys = [
        Key("blue", f"{'commit' if answer.by == 'commit' else 'capture'}"),
        Key("pale", "95 % of values of a level"),
    ]
    frame = Frame("trend", answer.title, answer.headline(), height=_HEIGHT, theme=theme, legend=keys)
    left_px = frame.left + _AXIS
    bottom = frame.bottom - 42
    across = Scale(-0.5, points.height - 0.5, left_px, frame.right)
    up = Scale(low - room, high + room, bottom, frame.top + 16)
    for part in points.partition_by("level", maintain_order=True):
        _draw_level(frame, part, across, up, factor)
    whole = [tick for tick in round_ticks(0, points.height - 1) if tick == int(tick)]
    ticks = Ticks(whole, lambda place: _axis_word(points, place))
    bottom_axis(frame.svg, across, ticks, top=frame.top + 16, bottom=bottom, name="captures, the oldest first")
    left_axis(frame.svg, up, Ticks(round_ticks(up.low, up.high, 5)), left=left_px, right=frame.right, name=unit)
    for value in answer.changes["place"]:
        x = across.at(value - 0.5)
        frame.svg.line("p-mark", [(x, frame.top + 16), (x, bottom)])
    for place, value in points.select("place", "value").rows():
        frame.svg.add("circle", "p-blue", cx=across.at(place), cy=up.at(value / factor), r=3)
    return frame.picture()


def _draw_level(frame: Frame, part: pl.DataFrame, across: Scale, up: Scale, factor: float) -> None:
    low, high = part["low"][0], part["high"][0]
    if low is None:
        return
    begin, end = across.at(part["place"][0] - 0.5), across.at(part["place"][-1] + 0.5)
    top = up.at(high / factor)
    frame.svg.add("rect", "p-pale", x=begin, y=top, width=end - begin, height=max(up.at(low / factor) - top, 1))


def _axis_word(points: pl.DataFrame, place: float) -> str:
    row = points.row(int(place), named=True)
    return str(row["commit_id"])[:10] or _taken(row)[:10]


def _taken(row: dict[str, Any]) -> str:
    try:
        return datetime.fromtimestamp(row["taken_ns"] / 1e9, UTC).strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):
        return "-"


def _part(row: dict[str, Any]) -> str:
    if row["file"]:
        return f"{row['file']}:{row['line']}"
    return f"{row['subject']} {kernel_title(row['name']) if row['subject'] == 'kernel' else row['name']}"


def _told(row: dict[str, Any]) -> str:
    is_beyond = row["is_beyond_noise"]
    return "not known" if is_beyond is None else "yes" if is_beyond else "no"
