"""A part of the time of a document, as a document: what is asked about it is answered by the same analyses."""

from __future__ import annotations

import math
from threading import Lock
from typing import TYPE_CHECKING

from wavewright.errors import UsageError
from wavewright.model.document import Document

if TYPE_CHECKING:
    from wavewright.model.run import Run
    from wavewright.model.trace import ThreadTrace

_MOST_PARTS = 3  # of one document: a user looks at one at a time, and may step back
_GUARD = Lock()


def part_of_time(document: Document, begin: float | None, end: float | None) -> Document:
    """The part from `begin` to `end`, in the time of the page: aligned cycles, or ns since the start of each node.

    Raises
    ------
    UsageError
        When it is asked about, and no wave ran then.
    """
    parts: dict[tuple[float | None, float | None], Document] = document.kept("parts of time", dict)
    with _GUARD:
        part = parts.pop((begin, end), None) or _part(document, begin, end)
        parts[begin, end] = part  # in the order of last use
        while len(parts) > _MOST_PARTS:
            del parts[next(iter(parts))]
    return part


def _part(document: Document, begin: float | None, end: float | None) -> Document:
    def open_part() -> ThreadTrace | Run:
        if document.kind == "trace":
            return _part_of_trace(document.trace, begin, end)
        from wavewright.analysis.run.select.choice import RunSelection
        from wavewright.analysis.run.select.selection import select
        from wavewright.page.run.times import clocks_of

        starts = clocks_of(document).nodes.drop_nulls("start_ns").select("machine", "start_ns").rows()
        times = [None if time is None else f"{math.floor(max(0, time))}ns" for time in (begin, end)]
        return select(document.run, RunSelection(begin=times[0], end=times[1], node_starts_ns=tuple(starts)))

    return Document(document.number, document.label, document.path, open_part, document.library, document, (begin, end))


def _part_of_trace(trace: ThreadTrace, begin: float | None, end: float | None) -> ThreadTrace:
    from wavewright.analysis.trace.selection import Selection, select

    start, stop = (None if time is None else math.ceil(time) for time in (begin, end))
    try:
        return select(trace, Selection(start_cycles=start, end_cycles=stop, is_aligned=True))
    except UsageError as error:
        if trace.samples.height:
            raise
        problem = f"no traced wave ran from cycle {start or 0:,} to {stop or 0:,}"
        raise UsageError(problem, advice="select another time, or look at the whole time") from error
