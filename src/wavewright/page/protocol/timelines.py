"""Timelines for the page: how they are described to it, and questions about areas that the user selects in them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import polars as pl

from wavewright.analysis.common.timeline import TILE_CELLS, Timeline
from wavewright.errors import UsageError
from wavewright.model.document import Document
from wavewright.page.protocol.question import PageQuestion, no_answers
from wavewright.page.protocol.serialize import serialize
from wavewright.questions.kit.parameters import Parameters, number, text


def described(layer: Timeline) -> dict[str, Any]:
    """A timeline with its tracks and kinds, and how to ask for its tiles."""
    tracks = pl.DataFrame() if layer.tracks is None else layer.tracks
    return {
        **{name: getattr(layer, name) for name in ("name", "title", "unit", "begin", "end")},
        "cell": 1 << layer.cell_bits,
        "level_count": layer.level_count,
        "tile_cells": TILE_CELLS,
        "track_count": tracks.height,
        "tracks": [] if layer.tracks_of else tracks.to_dicts(),
        "tracks_of": layer.tracks_of or None,
        "kinds": layer.kinds,
        "has_late_kinds": layer.late_kinds is not None,
    }


_TRACKS = re.compile(r"([a-z_]{1,40}):(\d{1,6}(?:-\d{1,6})?(?:,\d{1,6}(?:-\d{1,6})?)*)", re.ASCII)
_MOST_TRACKS = 100_000


def tracks_from(spec: str) -> tuple[str, list[int]]:
    """The layer and the tracks that the page names.

    >>> tracks_from("instructions:0-2,7")
    ('instructions', [0, 1, 2, 7])
    """
    match = _TRACKS.fullmatch(text(spec))
    if not match:
        raise UsageError(f"{spec[:40]!r} names no tracks", advice="tracks are written like instructions:0-3,7")
    tracks: set[int] = set()
    for part in match[2].split(","):
        first, _, last = part.partition("-")
        tracks.update(range(int(first), int(last or first) + 1))
        if len(tracks) > _MOST_TRACKS:
            raise UsageError(f"more than {_MOST_TRACKS:,} tracks")
    return match[1], sorted(tracks)


#: Parameters of questions about an area; without `tracks` it has all of them.
AREA: Parameters = {"tracks": tracks_from, "start": number, "stop": number}


def area_question(name: str, answer: Callable[..., Any]) -> PageQuestion:
    """A question about an area; `answer` takes the document, the layer, its tracks (None = all) and whole bounds."""

    def asked(
        document: Document, *, start: float, stop: float, tracks: tuple[str | None, list[int] | None] = (None, None)
    ) -> Any:
        return serialize(answer(document, *tracks, math.ceil(start), math.ceil(stop)))

    bounds = ("start", "stop")
    return PageQuestion(name, asked, AREA, required=bounds, exported=no_answers, ranges=(bounds,))
