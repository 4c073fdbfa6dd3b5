"""The timelines of a thread trace: what happened on every lane of the hardware, when, and of which kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavescope.analysis.tracks._instructions import instructions
from wavescope.analysis.tracks._pipes import pipes
from wavescope.analysis.tracks._states import states
from wavescope.analysis.tracks._waves import waves

if TYPE_CHECKING:
    from wavescope.analysis.timeline import Timeline
    from wavescope.model import ThreadTrace

__all__ = ["tracks"]

_TRACKS = (waves, instructions, states, pipes)


def tracks(trace: ThreadTrace) -> dict[str, Timeline]:
    """Every timeline of a trace that has something to show, by name.

    Examples
    --------
    >>> from wavescope.model import ThreadTrace, TraceSource
    >>> tracks(ThreadTrace({}, TraceSource(path="nothing")))
    {}
    """
    made = (make(trace) for make in _TRACKS)
    return {track.name: track for track in made if track.lanes is not None and track.lanes.height}
