"""Overview of a store: its captures, the series of their quantities, and what could not be read."""

from __future__ import annotations

from typing import Any

import polars as pl

from wavewright.analysis.common.gate.subjects import SUBJECTS
from wavewright.analysis.common.store.trend import COLUMNS, all_series, with_grids
from wavewright.facts.kernel_titles import kernel_title
from wavewright.model.document import Document
from wavewright.model.losses import LOSSES, loss_frame
from wavewright.page.protocol.question import NO_LAYERS, PageQuestion

_MOST_SERIES = 2_000
#: Subjects of single lines and of instructions are asked for by their change, not by themselves.
_PARTS = ("line", "kind")


def rows_of(document: Document) -> pl.DataFrame:
    """Rows that trends need of all captures of the store."""
    is_subject = ~pl.col("subject").is_in(list(_PARTS))
    return document.kept("stored rows", lambda: with_grids(document.store.read(is_subject, columns=COLUMNS)))


def series_of(document: Document) -> pl.DataFrame:
    """The series that can be chosen: the GPU time before its kernels, and of each subject what most captures have."""

    def make() -> pl.DataFrame:
        series = all_series(rows_of(document).filter(pl.col("damages") == ""))
        order = pl.col("subject").replace_strict({name: at for at, name in enumerate(SUBJECTS)}, default=len(SUBJECTS))
        return series.sort(order, maintain_order=True).head(_MOST_SERIES)

    return document.kept("series", make)


def overview_of_store(document: Document) -> dict[str, Any]:
    """Facts that the page needs to offer the series of a store."""
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
