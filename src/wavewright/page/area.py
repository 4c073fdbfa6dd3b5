"""Contents of a selected area of a timeline: tracks and time."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from wavewright.errors import UsageError
from wavewright.page.protocol.question import PageQuestion
from wavewright.page.protocol.serialize import serialize
from wavewright.questions.kit.parameters import Parameters, number, text

if TYPE_CHECKING:
    from wavewright.model.document import Document

_TRACKS = re.compile(r"([a-z_]{1,40}):(\d{1,6}(?:-\d{1,6})?(?:,\d{1,6}(?:-\d{1,6})?)*)", re.ASCII)
_MOST_TRACKS = 100_000


def tracks_from(spec: str) -> tuple[str, list[int]]:
    """The layer and the tracks that the page names: `instructions:0-3,7`.

    Examples
    --------
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


def _bounds(start: float, stop: float) -> tuple[int, int]:
    return math.ceil(start), math.ceil(stop)


def area_of_trace(document: Document, *, start: float, stop: float, tracks: tuple[str, list[int]] | None = None) -> Any:
    """Costs by code row of what the tracks, without them all, executed in the time (`analysis.trace.timeline.area`)."""
    from wavewright.analysis.trace.timeline.area import area_rows

    layer, numbers = tracks or ("instructions", None)
    return serialize(area_rows(document.trace, layer, numbers, *_bounds(start, stop)))


def area_of_run(document: Document, *, start: float, stop: float, tracks: tuple[str, list[int]] | None = None) -> Any:
    """Events by name that reach into the time on the tracks, without them on all (`analysis.run.gpu_time.area`)."""
    from wavewright.analysis.run.gpu_time.area import run_area
    from wavewright.page.run.layers import check_layer, timeline_of

    layer, numbers = tracks or ("run", None)
    check_layer(layer)
    return serialize(run_area(timeline_of(document), numbers, *_bounds(start, stop)))


_PARAMETERS: Parameters = {"tracks": tracks_from, "start": number, "stop": number}
_REQUIRED = ("start", "stop")
_RANGE = (_REQUIRED,)

QUESTIONS = (
    PageQuestion("area", "trace", area_of_trace, _PARAMETERS, _REQUIRED, lambda _: (), _RANGE),
    PageQuestion("run_area", "run", area_of_run, _PARAMETERS, _REQUIRED, lambda _: (), _RANGE),
)
