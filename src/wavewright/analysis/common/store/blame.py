"""The causes of a change of the level: the kernels, copies, lines or kinds of instructions that changed with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from wavewright.analysis.common.noise import LEAST_CHANGE, MEAN_TAIL, difference_bound
from wavewright.analysis.common.store.trend import TrendAnswer, captures_around
from wavewright.base.words import counted, percent
from wavewright.facts.kernel_titles import kernel_title
from wavewright.model.answer import Answer
from wavewright.model.schema import frame_of

MOST_CAPTURES = 10  #: At most so many captures of each side are compared, those nearest to the change.
#: Subject of a series -> subjects of its parts, which add up to it.
PARTS = dict.fromkeys(("gpu-time", "step", "wall"), ("kernel", "copy")) | {"cycles": ("line", "kind")}
_KEYS = ("subject", "name", "file", "line")  #: Columns that tell parts apart.
_INSTEAD = "kind"  #: The parts where a side has no source lines: either kinds or lines add up to all cycles, not both.


@dataclass(frozen=True)
class BlameAnswer(Answer, package=__package__):
    """Parts of a change."""

    trend: TrendAnswer
    place: int  #: Number of the first value of the trend behind the change.
    before_labels: tuple[str, ...]
    after_labels: tuple[str, ...]
    before_paths: tuple[str, ...]  #: Where the captures were when they were added, the nearest to the change first.
    after_paths: tuple[str, ...]
    code_changed: bool | None  #: Of traces: whether other instructions ran; None = not recorded.
    software_changes: tuple[str, ...]
    explained_share: float | None  #: Of the change, by the parts that are beyond noise.
    missing: tuple[str, ...]  #: What would be needed to know more.
    parts: pl.DataFrame  #: The largest difference first; columns in `tables.toml`.

    def headline(self) -> str:
        """The largest part of the change in one sentence."""
        (row,) = self.trend.changes.filter(pl.col("place") == self.place).to_dicts()
        at = row["commit_id"] or row["label"]
        text = f"{self.trend.title} changed by {percent(row['change'], sign=True)} at {at}"
        rows = self.parts.filter(pl.col("is_beyond_noise").fill_null(value=False))
        if not rows.height:
            return f"{text}; {'no part of it' if self.parts.height else 'nothing stored'} tells where it came from"
        first = rows.row(0, named=True)
        share = "" if first["share"] is None else f", {percent(first['share'])} of the change"
        return f"{text}: {first['subject']} {kernel_title(first['name'])} {_side(first)}{share}"


def _side(row: Mapping[str, object]) -> str:
    before, after = float(row["before"]), float(row["after"])  # type: ignore[arg-type]
    if not before:
        return "is new"
    return "is gone" if not after else percent(after / before - 1, sign=True)


def blame(
    answer: TrendAnswer, place: int, before: pl.DataFrame, after: pl.DataFrame, rows: pl.DataFrame
) -> BlameAnswer:
    """Parts of the change at a place of a trend, from all `rows` of the captures `before` and `after` it
    (`captures_around`).
    """
    (change,) = answer.changes.filter(pl.col("place") == place).to_dicts()
    subjects = _subjects(answer.subject, rows, [set(side["capture"]) for side in (before, after)])
    sides = [
        _means(rows.filter(pl.col("capture").is_in(side["capture"].to_list()), pl.col("subject").is_in(subjects)))
        for side in (before, after)
    ]
    counts = (before.height, after.height)
    parts = _differences(sides, counts, change["after"] - change["before"])
    parts_beyond = parts.filter(pl.col("is_beyond_noise").fill_null(value=False))
    shares = parts_beyond["share"].drop_nulls()
    codes = [set(side["code"]) - {""} for side in (before, after)]
    return BlameAnswer(
        trend=answer,
        place=place,
        before_labels=tuple(before["label"]),
        after_labels=tuple(after["label"]),
        before_paths=tuple(before["path"].reverse()),
        after_paths=tuple(after["path"]),
        code_changed=codes[0].isdisjoint(codes[1]) if all(codes) else None,
        software_changes=_software(before, after),
        explained_share=float(shares.sum()) if shares.len() else None,
        missing=_missing(answer, counts, parts),
        parts=parts,
    )


def blame_of_change(
    reader: Callable[[pl.Expr], pl.DataFrame], answer: TrendAnswer, rows: pl.DataFrame, place: int
) -> BlameAnswer:
    """Parts of the change at a place of a trend of `rows`; `reader` gives rows of a store by a condition."""
    before, after = captures_around(rows, answer, place, MOST_CAPTURES)
    captures = [*before["capture"], *after["capture"]]
    of_parts = pl.col("capture").is_in(captures) & pl.col("subject").is_in(list(PARTS.get(answer.subject, ())))
    return blame(answer, place, before, after, reader(of_parts))


def _subjects(subject: str, rows: pl.DataFrame, sides: Sequence[set[str]]) -> tuple[str, ...]:
    """Subjects of the parts that both sides have."""
    subjects = PARTS.get(subject, ())
    if _INSTEAD not in subjects:
        return subjects
    has_lines = all(
        rows.filter(pl.col("capture").is_in(list(side)), pl.col("subject") != _INSTEAD).height for side in sides
    )
    return tuple(part for part in subjects if (part == _INSTEAD) is not has_lines)


def _means(rows: pl.DataFrame) -> pl.DataFrame:
    """Per part (`_KEYS`) the `mean` over captures and its standard `error`; what a capture lacks is 0 there."""
    value = pl.when(pl.col("total").is_null()).then(pl.col("mean")).otherwise(pl.col("total"))
    captures = max(rows["capture"].n_unique(), 1)
    sums = rows.group_by(_KEYS, maintain_order=True).agg(sum=value.sum(), squares=(value**2).sum())
    mean = pl.col("sum") / captures
    spread = ((pl.col("squares") - pl.col("sum") * mean).clip(0) / max(captures - 1, 1)).sqrt()
    return sums.select(*_KEYS, mean=mean, error=spread / captures**0.5)


def _differences(sides: Sequence[pl.DataFrame], counts: tuple[int, int], total: float) -> pl.DataFrame:
    """The parts (`BlameAnswer.parts`) whose mean differs between the sides, of `counts` captures each."""
    pairs = sides[0].join(sides[1], on=_KEYS, how="full", coalesce=True, suffix="_after").fill_null(0)
    records = []
    for row in pairs.to_dicts():
        before, after = float(row["mean"]), float(row["mean_after"])
        difference = after - before
        is_beyond = None
        if min(counts) > 1:
            bound = difference_bound(MEAN_TAIL, (row["error"], counts[0] - 1), (row["error_after"], counts[1] - 1))
            is_beyond = abs(difference) > max(bound, LEAST_CHANGE * max(before, after))
        records.append(
            {name: row[name] for name in _KEYS}
            | {"before": before, "after": after, "difference": difference}
            | {"share": difference / total if total else None, "is_beyond_noise": is_beyond}
        )
    records.sort(key=lambda row: (-abs(row["difference"]), row["subject"], row["name"]))
    return frame_of(BlameAnswer.tables["parts"], [row for row in records if row["difference"]])


def _software(before: pl.DataFrame, after: pl.DataFrame) -> tuple[str, ...]:
    """Versions that only one side has."""
    sides = [{line for text in side["software"] for line in text.split("\n") if line} for side in (before, after)]
    old, new = sorted(sides[0] - sides[1]), sorted(sides[1] - sides[0])
    return (*(f"before: {version}" for version in old), *(f"after: {version}" for version in new))


def _missing(answer: TrendAnswer, counts: tuple[int, int], parts: pl.DataFrame) -> tuple[str, ...]:
    sentences = []
    if min(counts) < 2:
        sentences.append("one side has a single capture: add repeats, so that noise is known")
    if answer.subject == "kernel":
        sentences.append("a thread trace of this kernel on both sides would tell the instructions")
    elif not parts.height:
        sentences.append(f"the captures hold no parts of {answer.subject}")
    elif answer.subject in ("gpu-time", "step", "wall"):
        sentences.append(f"{counted(parts.height, 'parts')} are durations: why one is slower, a trace of it tells")
    return tuple(sentences)
