"""The part of a trace or a run in a time window, as `show(time=...)` names it."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from wavewright.errors import UsageError
from wavewright.model.run import Run
from wavewright.model.trace import ThreadTrace

if TYPE_CHECKING:
    from wavewright.notebook.documents import Shown


def part_of(opened: Shown, time: str | None) -> Shown:
    """The events of a run, or the instructions of a trace, between A and B of `A:B`; None = everything.

    Runs take what `wavewright window --time` takes (`30%:60%`, `1.5s:2s`, `-5ms:`); traces take cycles of their shader
    engines, or percent of the time from the first start to the last end of a traced wave.

    Raises
    ------
    UsageError
        When it is not a window, or counters are given, which have no time.
    """
    if time is None:
        return opened
    begin, colon, end = (part.strip() for part in time.partition(":"))
    if not colon or not (begin or end):
        raise UsageError(f"{time[:40]!r} is not a window A:B, A: or :B", advice="for example time='30%:60%'")
    if isinstance(opened, Run):
        from wavewright.analysis.run.select.choice import RunSelection
        from wavewright.analysis.run.select.selection import select as select_run

        return select_run(opened, RunSelection(begin=begin or None, end=end or None))
    if isinstance(opened, ThreadTrace):
        from wavewright.analysis.trace.selection import Selection, select

        return select(opened, Selection(start_cycles=_cycles(opened, begin), end_cycles=_cycles(opened, end)))
    raise UsageError("counters have no time to choose a part of", advice="leave out time=...")


def _cycles(trace: ThreadTrace, given: str) -> int | None:
    """A bound in cycles; empty = none."""
    if not given:
        return None
    with suppress(ValueError):
        if not given.endswith("%"):
            return int(given.replace(",", ""))
        share = float(given[:-1]) / 100
        first, last = trace.waves["start_cycles"].min(), trace.waves["end_cycles"].max()
        if 0 <= share <= 1 and isinstance(first, int) and isinstance(last, int):
            return round(first + share * (last - first))
    raise UsageError(
        f"{given[:40]!r} is not a time of a trace", advice="give cycles or percent: '1000:2000', '30%:60%'"
    )
