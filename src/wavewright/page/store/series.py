"""The facts about a store that its views need: captures, series of their quantities, losses."""

from __future__ import annotations

from typing import Any

import polars as pl

from wavewright.analysis.common.gate.check import SUBJECTS
from wavewright.analysis.common.store.trend import COLUMNS, all_series, with_grids
from wavewright.facts.kernel_titles import kernel_title
from wavewright.model.document import Document
from wavewright.model.losses import LOSSES, loss_frame
from wavewright.page.protocol.question import NO_LAYERS, PageQuestion, once_per_document

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


QUESTIONS = (PageQuestion("overview", overview_of_store), NO_LAYERS)
