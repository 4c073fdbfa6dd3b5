"""Thread traces with their kernels, hardware counters and further runs in the folder of a run.

What cannot be read counts as absent here; opening it directly says why.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wavewright.errors import WavewrightError
from wavewright.readers.counters import open_counters
from wavewright.readers.counters.capture_files import find_counters
from wavewright.readers.files.inventory import Inventory
from wavewright.readers.files.kinds import Kind, sniff
from wavewright.readers.launches import spellings
from wavewright.readers.opening import DECODED_KINDS, candidates_of
from wavewright.readers.run.inputs import find_runs

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from wavewright.model.counters import CounterSet
    from wavewright.readers.files.dispatches import Dispatch

MOST_DISPATCHES = 64  #: Kernels are looked up for so many dispatches of a folder at most.


@dataclass(frozen=True)
class DispatchOfRun:
    """A dispatch with a thread trace."""

    key: str  #: The value of `--dispatch` that chooses it; empty = it is the only one.
    kernels: frozenset[str]  #: All spellings of their names that runs use.


def traced_dispatches(folder: Path) -> tuple[list[DispatchOfRun], int]:
    """The dispatches with thread traces below a folder, and how many more there are than were looked at."""
    try:
        dispatches = _dispatches(folder, Inventory())
    except WavewrightError:
        return [], 0
    contents = [(dispatch.key, dispatch.contents) for dispatch in dispatches[:MOST_DISPATCHES]]
    with_waves = [DispatchOfRun(key, spellings(summary.kernels)) for key, summary in contents if summary.has_waves]
    return with_waves, max(0, len(dispatches) - MOST_DISPATCHES)


def _dispatches(folder: Path, inventory: Inventory) -> Sequence[Dispatch[Any]]:
    """The dispatches of a raw capture or of decoded traces; only the reader of that form is imported."""
    kind = sniff(folder, inventory)
    if kind is Kind.RAW_CAPTURE:
        from wavewright.readers.files.capture import find_capture
        from wavewright.readers.trace.dispatches import raw_dispatches

        return raw_dispatches(find_capture([folder], (), inventory), folder)
    if kind in DECODED_KINDS:
        from wavewright.readers.trace.dispatches import decoded_dispatches

        return decoded_dispatches(candidates_of(folder, kind, inventory)[0], str(folder))
    return []


def holds_runs(folder: Path, inventory: Inventory) -> bool:
    """True if there is a run below a folder, whatever else is there."""
    try:
        return any(not run.refused for run in find_runs([folder], inventory, with_passes=True))
    except WavewrightError:
        return False


def holds_counters(folder: Path, inventory: Inventory) -> bool:
    """True if there are hardware counters below a folder; databases may be of runs, so they are opened."""
    try:
        files = find_counters(folder, inventory)
    except WavewrightError:
        return False
    return not files.stores or counters_below(folder) is not None


def counters_below(folder: Path) -> CounterSet | None:
    """The hardware counters below a folder; None = there are none that can be read."""
    try:
        counters = open_counters(folder)
    except WavewrightError:
        return None
    return counters if counters.dispatches.height else None
