"""Timelines of a document: which there are, and their tiles at every level of detail."""

from __future__ import annotations

from wavescope.page.question import Question, text, whole_number
from wavescope.page.trace.spans import spans_of_trace, tiles_of_trace, tracks_of_trace

__all__ = ["QUESTIONS"]

_TILE = {"track": text, "level": whole_number, "tile": whole_number}

QUESTIONS = (
    Question("tracks", "trace", tracks_of_trace),
    Question("spans", "trace", spans_of_trace, _TILE, tuple(_TILE), tiles_of_trace),
)
