"""What is inside a selected area of a timeline: lanes and time."""

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

_LANES = re.compile(r"([a-z_]{1,40}):(\d{1,6}(?:-\d{1,6})?(?:,\d{1,6}(?:-\d{1,6})?)*)", re.ASCII)
_MOST_LANES = 100_000


def lanes_from(given: str) -> tuple[str, list[int]]:
    """The track and the lanes that the page names: `instructions:0-3,7`.

    Examples
    --------
    >>> lanes_from("instructions:0-2,7")
    ('instructions', [0, 1, 2, 7])
    """
    match = _LANES.fullmatch(text(given))
    if not match:
        raise UsageError(f"{given[:40]!r} names no lanes", advice="lanes are written like instructions:0-3,7")
    lanes: set[int] = set()
    for part in match[2].split(","):
        first, _, last = part.partition("-")
        lanes.update(range(int(first), int(last or first) + 1))
        if len(lanes) > _MOST_LANES:
            raise UsageError(f"more than {_MOST_LANES:,} lanes")
    return match[1], sorted(lanes)


def _bounds(start: float, stop: float) -> tuple[int, int]:
    return math.ceil(start), math.ceil(stop)


def area_of_trace(document: Document, *, start: float, stop: float, lanes: tuple[str, list[int]] | None = None) -> Any:
    """Costs by code row of what the lanes, without them all, executed in the time (`analysis.trace.timeline.area`)."""
    from wavewright.analysis.trace.timeline.area import area_rows

    track, numbers = lanes or ("instructions", None)
    return serialize(area_rows(document.trace, track, numbers, *_bounds(start, stop)))


def area_of_run(document: Document, *, start: float, stop: float, lanes: tuple[str, list[int]] | None = None) -> Any:
    """Events by name that reach into the time on the lanes, without them on all (`analysis.run.gpu_time.area`)."""
    from wavewright.analysis.run.gpu_time.area import run_area
    from wavewright.page.run.tracks import check_track, timeline_of

    track, numbers = lanes or ("run", None)
    check_track(track)
    return serialize(run_area(timeline_of(document), numbers, *_bounds(start, stop)))


_PARAMETERS: Parameters = {"lanes": lanes_from, "start": number, "stop": number}
_REQUIRED = ("start", "stop")
_RANGE = (_REQUIRED,)

QUESTIONS = (
    PageQuestion("area", "trace", area_of_trace, _PARAMETERS, _REQUIRED, lambda _: (), _RANGE),
    PageQuestion("run_area", "run", area_of_run, _PARAMETERS, _REQUIRED, lambda _: (), _RANGE),
)
