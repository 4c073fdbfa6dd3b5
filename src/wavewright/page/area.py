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
    from collections.abc import Callable

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


#: Parameters of questions about an area: without tracks it has all.
AREA: Parameters = {"tracks": tracks_from, "start": number, "stop": number}


def area_question(name: str, answer: Callable[..., Any]) -> PageQuestion:
    """A question about an area; `answer` takes the document, the layer, its tracks (None = all) and whole bounds."""

    def asked(
        document: Document, *, start: float, stop: float, tracks: tuple[str | None, list[int] | None] = (None, None)
    ) -> Any:
        return serialize(answer(document, *tracks, math.ceil(start), math.ceil(stop)))

    required = ("start", "stop")
    return PageQuestion(name, asked, AREA, required, lambda _: (), (required,))
