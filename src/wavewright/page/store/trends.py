"""A store of captures on the page: its series of quantities, the trend of each with its causes, and the captures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import polars as pl

from wavewright.analysis.common.gate.check import SUBJECTS
from wavewright.analysis.common.store.blame import blame_of_change
from wavewright.analysis.common.store.trend import COLUMNS, all_series, newest_captures, of_series, trend_of, with_grids
from wavewright.errors import UsageError
from wavewright.facts.kernel_titles import kernel_title
from wavewright.model.baseline import OF_CAPTURE
from wavewright.model.blocks import AnyBlock, readable
from wavewright.model.document import Document
from wavewright.model.losses import LOSSES, loss_frame
from wavewright.page.declared_questions import sent_block
from wavewright.page.protocol.question import NO_LAYERS, PageQuestion, once_per_document
from wavewright.questions.kit.parameters import OneOf, Parameters, place
from wavewright.words.store import blame_report, captures_report, trend_picture, trend_report

_MOST_ROWS = 50  #: Of a table.
_THEMES = ("dark", "light")
_MOST_SERIES = 2_000
#: Subjects without series of their own: source lines and kinds of instructions only explain changes of others.
_PARTS = ("line", "kind")


@once_per_document
def rows_of(document: Document) -> pl.DataFrame:
    """The rows of all captures of the store that trends need."""
    is_subject = ~pl.col("subject").is_in(list(_PARTS))
    return with_grids(document.store.read(is_subject, columns=COLUMNS))


@once_per_document
def series_of(document: Document) -> pl.DataFrame:
    """The series to choose from: by subject, GPU time first, those of most captures first."""
    series = all_series(rows_of(document).filter(pl.col("damages") == ""))
    order = pl.col("subject").replace_strict({name: at for at, name in enumerate(SUBJECTS)}, default=len(SUBJECTS))
    return series.sort(order, maintain_order=True).head(_MOST_SERIES)


def overview_of_store(document: Document) -> dict[str, Any]:
    """The facts about a store; a series is asked for by its place in `series`."""
    captures = rows_of(document).unique("capture")
    return {
        "kind": "store",
        "capture_count": captures.height,
        "commit_count": captures.filter(pl.col("commit_id") != "")["commit_id"].n_unique(),
        "damaged_count": captures.filter(pl.col("damages") != "").height,
        "targets": sorted(set(captures["target"]) - {""}),
        "series": [_titled(row) for row in series_of(document).to_dicts()],
        "losses": [
            {"kind": row["kind"], "count": row["count"], "se": None, "message": row["message"], "advice": row["advice"]}
            | {"counted_in": LOSSES[row["kind"]].counted_in, "is_damage": LOSSES[row["kind"]].is_damage}
            for row in loss_frame(document.store.losses).to_dicts()
        ],
    }


def _titled(row: dict[str, Any]) -> dict[str, Any]:
    name = kernel_title(row["name"]) if row["subject"] == "kernel" else row["name"]
    words = [row["subject"], name, kernel_title(row["kernel"]) if row["kernel"] else "", row["target"], row["series"]]
    grid = [] if row["grid_lanes"] is None else [f"{row['grid_lanes']:,} lanes"]
    return {"title": ", ".join([word for word in words if word] + grid), "capture_count": row["capture_count"]}


def trend_answer(document: Document, *, series: int = 0, theme: str = "dark") -> dict[str, Any]:
    """The trend of a series, by its place in the overview."""
    known_series = series_of(document)
    if series >= known_series.height:
        raise UsageError(f"the store has no series {series}", advice=f"it has {known_series.height:,}")
    rows = of_series(rows_of(document), known_series.row(series, named=True))
    answer = trend_of(rows)
    blocks = _sent(trend_report(answer, limit=_MOST_ROWS))[1:]  # without the headline, which is sent separately
    if answer.changes.height:
        parts = blame_of_change(document.store.read, answer, rows, int(answer.changes["place"][-1]))
        blocks += _sent(blame_report(parts, limit=_MOST_ROWS))
    return {
        "picture": trend_picture(answer, theme).svg,
        "headline": answer.headline(),
        "blocks": blocks,
        "definition": answer.definition,
    }


def captures(document: Document) -> dict[str, Any]:
    """The captures, the newest first."""
    newest = newest_captures(document.store.read(columns=OF_CAPTURE))
    return {"blocks": _sent(captures_report(newest, document.label, limit=10 * _MOST_ROWS))}


def _sent(blocks: Iterable[AnyBlock]) -> list[dict[str, Any]]:
    return [message for block in readable(blocks) for message in sent_block(block)]


def _every_series(document: Document) -> Iterator[dict[str, Any]]:
    numbers = range(series_of(document).height)
    return ({"series": number, "theme": theme} for number in numbers for theme in _THEMES)


PARAMETERS: Parameters = {"series": place, "theme": OneOf("no theme", _THEMES)}
QUESTIONS = (
    PageQuestion("overview", overview_of_store),
    NO_LAYERS,
    PageQuestion("store_trend", trend_answer, PARAMETERS, exported=_every_series),
    PageQuestion("store_captures", captures),
)
