"""Trees of costs, for flame graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from wavewright.analysis.trace.costs.flame import TREES
from wavewright.analysis.trace.costs.flame import flame as grow
from wavewright.page.protocol.doubles import doubles
from wavewright.page.protocol.question import PageQuestion
from wavewright.questions.kit.parameters import text

if TYPE_CHECKING:
    from wavewright.model.document import Document

LONGEST_NAME = 300  #: Characters of a frame's name that are sent.


def flame(document: Document, *, tree: str = "source") -> pl.DataFrame:
    """The frames of one of the trees of `wavewright.analysis.trace.costs.flame`, parents before children."""
    frames = grow(document.trace, tree).frames
    return doubles(frames.with_columns(pl.col("name").str.slice(0, LONGEST_NAME), pl.col("line").fill_null(0)))


def _every_tree(document: Document) -> list[dict[str, str]]:
    return [{"tree": tree} for tree in (TREES if document.trace.markers.height else TREES[:2])]


QUESTIONS = (PageQuestion("flame", "trace", flame, {"tree": text}, (), _every_tree, is_of_time=True),)
