"""Waves that a trace has from their start: registers follow from it."""

from __future__ import annotations

from wavewright.analysis.trace.selection import whole_of
from wavewright.errors import UsageError
from wavewright.model.trace import ThreadTrace


def check_whole_waves(trace: ThreadTrace) -> None:
    """Refuse a selection of time.

    Raises
    ------
    UsageError
        It has only a part of the instructions of its waves.
    """
    whole, is_selected = whole_of(trace)
    if is_selected is None:
        return
    of_waves = whole.instructions["wave"].is_in(trace.waves["wave"].implode()).sum()
    if of_waves != trace.instructions.height:
        what = "lane addresses follow from the start of a wave, and this is a part of its time"
        raise UsageError(what, where=trace.source.path, advice="leave out --time; --wave chooses waves")
