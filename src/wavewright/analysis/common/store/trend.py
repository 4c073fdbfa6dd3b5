"""The course of a quantity over the captures of a store, and the places of changes of its level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from wavewright.analysis.common.gate import measured_text
from wavewright.analysis.common.gate.check import SUBJECTS
from wavewright.analysis.common.store.change_points import ChangePoint, change_points, segments
from wavewright.base.words import counted, percent
from wavewright.errors import UsageError
from wavewright.facts.kernel_titles import kernel_title
from wavewright.model.answer import Answer
from wavewright.model.baseline import OF_CAPTURE
from wavewright.model.schema import frame_of

#: Columns that must be equal for values to be one series; a grid of another size is another measurement.
SERIES = ("kind", "subject", "name", "kernel", "unit", "target", "series", "step", "filter", "grid_lanes")
#: Columns that a trend reads of a store.
COLUMNS = (
    *("capture", "taken_ns", "label", "commit_id", "code", "software", "damages", "path", "mean", "lanes"),
    *(name for name in SERIES if name != "grid_lanes"),
)
_IDENTITY = ("subject", "name", "kernel", "unit", "target", "series", "grid_lanes")  #: Of a series in `TrendAnswer`.
_NAMES = ("name", "kernel")  #: Columns in which a word of the user is looked for.
_OF_KERNEL = ("kernel-time", "cycles")  #: Subjects of traces without names of their own, the deciding one first.


@dataclass(frozen=True)
class TrendAnswer(Answer, package=__package__):
    """One quantity over many captures."""

    subject: str
    name: str
    kernel: str  #: Of traces: the traced kernel; else empty.
    unit: str
    target: str
    series: str
    grid_lanes: int | None
    capture_count: int
    damaged_count: int  #: Captures that are left out.
    by: str  #: commit or date.
    points: pl.DataFrame  #: One row per commit or capture; columns of the three in `tables.toml`.
    changes: pl.DataFrame  #: One row per change of the level.
    others: pl.DataFrame  #: Other series that fit the question.

    @property
    def title(self) -> str:
        """The quantity in a few words."""
        title = SUBJECTS[self.subject].title if self.subject in SUBJECTS else self.subject
        name = kernel_title(self.name) if self.subject == "kernel" else self.name
        return f"{title} {name}".strip() + (f" of {kernel_title(self.kernel)}" if self.kernel else "")

    def headline(self) -> str:
        """The last change of the level, in one sentence."""
        subject = f"{self.title} on {self.target or 'a GPU that is not recorded'}"
        values = counted(self.points.height, "commits" if self.by == "commit" else "captures")
        if not self.changes.height:
            column = self.points["value"]
            values_shown = (column.mean(), column.min(), column.max())
            level, low, high = (measured_text(value, self.unit) for value in values_shown)
            ends = f" ({low} to {high})" if self.points.height > 1 else ""
            return f"{subject}: no change of the level in {values}; it is {level}{ends}"
        last = self.changes.row(-1, named=True)
        at = f"commit {last['commit_id']}" if last["commit_id"] else last["label"]
        now = measured_text(last["after"], self.unit)
        count = counted(self.changes.height, "changes")
        return f"{subject}: {count} of the level in {values}; the last is {change_text(last)} at {at}, to {now}"


def change_text(row: Mapping[str, object]) -> str:
    """A change with its interval; no share can be said of a level of 0."""
    if not row["before"]:
        return "from 0"
    change, low, high = (float(row[name]) for name in ("change", "change_low", "change_high"))  # type: ignore[arg-type]
    return f"{percent(change, sign=True)} ({percent(low, sign=True)} to {percent(high, sign=True)})"


def of_quantity(word: str) -> pl.Expr:
    """The rows that a word may mean: a subject such as gpu-time, or a part of a name."""
    if not word:
        raise UsageError("which quantity?", advice="name a kernel, a marker, or gpu-time, step, cycles")
    if word in SUBJECTS and not SUBJECTS[word].has_names:
        return pl.col("subject").eq(word)
    name, kernel = (pl.col(column).str.to_lowercase().str.contains(word.lower(), literal=True) for column in _NAMES)
    return name | (kernel & pl.col("subject").is_in(list(_OF_KERNEL)))


def trend(
    rows: pl.DataFrame,
    word: str,
    *,
    subject: str | None = None,
    kernel: str | None = None,
    target: str | None = None,
    series: str | None = None,
    by: str | None = None,
    last: int | None = None,
) -> TrendAnswer:
    """The series that a word means in rows of a store (`COLUMNS`, the oldest capture first), its levels and its
    changes.

    `kernel` is a part of the name of the traced kernel. Values are `by` commit or date (None = by commit, where every
    capture has one), of the `last` captures only (None = all). Raises `UsageError` when no capture has such a quantity.
    """
    choice = {"subject": subject, "target": target, "series": series}
    conditions = [pl.col(name) == value for name, value in choice.items() if value is not None]
    if kernel is not None:
        conditions.append(pl.col("kernel").str.contains(kernel, literal=True))
    series_rows, others = _one_series(rows, word, conditions)
    if series_rows.filter(pl.col("damages") == "").is_empty():
        raise UsageError(f"all captures with {word[:80]!r} are damaged", advice="wavewright store list names them")
    return trend_of(series_rows, others=others, by=by, last=last)


def trend_of(
    series_rows: pl.DataFrame, *, others: pl.DataFrame | None = None, by: str | None = None, last: int | None = None
) -> TrendAnswer:
    """Levels and changes of the rows of one series, of which some are undamaged; `others` fit the question, too."""
    sound = series_rows.filter(pl.col("damages") == "")
    latest = sound.tail(last) if last else sound
    by = by or ("commit" if (latest["commit_id"] != "").all() else "date")
    points = _points(latest, by)
    values = points["value"].to_list()
    changes = change_points(values)
    levels = segments(values, changes)
    bands = [
        {"level": number, "low": low, "high": high}
        for number, (start, end, low, high) in enumerate(levels)
        for _ in range(start, end)
    ]
    row = series_rows.row(0, named=True)
    return TrendAnswer(
        **{name: row[name] for name in _IDENTITY},
        capture_count=latest.height,
        damaged_count=series_rows.height - sound.height,
        by=by,
        points=frame_of(
            TrendAnswer.tables["points"],
            [point | band for point, band in zip(points.to_dicts(), bands, strict=True)],
        ).with_columns(pl.col("low").fill_nan(None).clip(min(0.0, *values)), pl.col("high").fill_nan(None)),
        changes=frame_of(TrendAnswer.tables["changes"], [_change(change, points) for change in changes]),
        others=frame_of(TrendAnswer.tables["others"], []) if others is None else others,
    )


def _one_series(rows: pl.DataFrame, word: str, conditions: Sequence[pl.Expr]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The rows of the series that most captures have, an exact name first, and the series that are left out."""
    candidates = with_grids(rows).filter(of_quantity(word), *conditions)
    if not candidates.height:
        raise UsageError(f"no capture has {word[:80]!r}", advice="wavewright store list names what the captures have")
    counts = all_series(candidates, (pl.col("name") == word).any())
    others = counts.slice(1).select(list(TrendAnswer.tables["others"].names))
    return of_series(candidates, counts.row(0, named=True)), others


def with_grids(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows with the column `grid_lanes` of series."""
    return rows.with_columns(pl.col("lanes").round().cast(pl.Int64).alias("grid_lanes"))


def all_series(rows: pl.DataFrame, first: pl.Expr | None = None) -> pl.DataFrame:
    """The series of rows with grids: those that are `first`, then those that most captures have."""
    counts = rows.group_by(SERIES, maintain_order=True).agg(
        capture_count=pl.col("capture").n_unique().cast(pl.Int64),
        is_first=pl.lit(value=False) if first is None else first,
    )
    return counts.sort(["is_first", "capture_count"], descending=True, maintain_order=True).drop("is_first")


def of_series(rows: pl.DataFrame, series: Mapping[str, object]) -> pl.DataFrame:
    """The rows of one series, one per capture."""
    conditions = [pl.col(name).eq_missing(pl.lit(series[name])) for name in SERIES]
    return rows.filter(*conditions).unique("capture", keep="first", maintain_order=True)


def _points(rows: pl.DataFrame, by: str) -> pl.DataFrame:
    """One row per value of the series."""
    names = pl.col("commit_id") if by == "commit" else pl.col("capture")
    point = pl.when(names == "").then(pl.col("capture")).otherwise(names)
    values = rows.group_by(point=point, maintain_order=True).agg(
        pl.col("taken_ns", "commit_id", "label").first(),
        capture_count=pl.len().cast(pl.Int64),
        value=pl.col("mean").mean(),
    )
    return values.drop("point").with_row_index("place").with_columns(pl.col("place").cast(pl.Int64))


def _change(change: ChangePoint, points: pl.DataFrame) -> dict[str, object]:
    first, before = points.row(change.place, named=True), points.row(change.place - 1, named=True)
    level = abs(change.before)
    return {
        **{name: getattr(change, name) for name in ("place", "before", "after", "change")},
        **{name: first[name] for name in ("taken_ns", "commit_id", "label")},
        "commit_before": before["commit_id"],
        "change_low": change.low / level if level else 0.0,
        "change_high": change.high / level if level else 0.0,
    }


def newest_captures(rows: pl.DataFrame) -> pl.DataFrame:
    """One row per capture with the number of its quantities, the newest first."""
    return rows.group_by(OF_CAPTURE, maintain_order=True).agg(pl.len().cast(pl.Int64).alias("quantity_count")).reverse()


def captures_around(rows: pl.DataFrame, answer: TrendAnswer, place: int, most: int) -> Sequence[pl.DataFrame]:
    """Rows of captures of the level before a change and of that after it: the nearest to it, at most `most` of each."""
    same = [pl.col(name).eq_missing(getattr(answer, name)) for name in _IDENTITY]
    series_rows, _ = _one_series(rows, answer.name or answer.subject, same)
    level = answer.points["level"][place]
    sides = []
    for number in (level - 1, level):
        points = answer.points.filter(pl.col("level") == number)
        within = pl.col("taken_ns").is_between(points["taken_ns"].min(), points["taken_ns"].max())
        if answer.by == "commit":  # whose time is that of its first capture
            is_of_commit = pl.col("commit_id").is_in(points["commit_id"].implode())
            within = pl.when(pl.col("commit_id") != "").then(is_of_commit).otherwise(within)
        sides.append(series_rows.filter(within, pl.col("damages") == ""))
    return sides[0].tail(most), sides[1].head(most)
