"""Which part of a profile is asked about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wavescope.analysis.profile._chosen import ChosenSource

if TYPE_CHECKING:
    from wavescope.model.profile import Profile

__all__ = ["ProfileSelection", "select"]


@dataclass(frozen=True)
class ProfileSelection:
    """A choice of events; every field that is set must hold. The default chooses everything.

    Examples
    --------
    >>> ProfileSelection(ranks=(0,)) == ProfileSelection()
    False
    """

    kernel: str | None = None
    """Only dispatches whose kernel name contains this text, or matches it as /regular expression/."""
    pids: tuple[int, ...] = ()
    ranks: tuple[int, ...] = ()
    gpus: tuple[int, ...] = ()
    """Only work of GPUs with this number (agents.type_index)."""
    streams: tuple[int, ...] = ()
    """Only work of streams with this id (streams.stream_id)."""
    domains: tuple[str, ...] = ()
    """Only regions and samples of this domain or category (HIP, MARKER, HIP_RUNTIME_API, ...), whatever the case."""
    begin: str | None = None
    """Begin of a time window: `30%` of the run, `1.5s`, `20ms`, ... after its begin, `-5ms` before its end, or
    nanoseconds of its clock."""
    end: str | None = None
    between: tuple[str, str] | None = None
    """Only what happened from the begin of the first marker with this text to the end of the second."""
    is_inside: bool = False
    """Whether events must lie wholly inside the time window; else those that overlap it are chosen."""
    is_launched: bool = False
    """Only dispatches and copies whose launch is recorded, not what was under way when the recording began."""
    without_guids: tuple[str, ...] = ()
    """Runs to leave out."""
    processes: tuple[int, ...] = ()
    """Only processes with this number in their source."""


def select(profile: Profile, selection: ProfileSelection) -> Profile:
    """The profile cut down to the selection; rows are left out while they are read.

    A field speaks only about the tables that have what it names: `kernel` about dispatches, `gpus` about dispatches,
    copies (either end), allocations and monitors, `streams` about work that is put into streams, `domains` about
    regions and samples, times about everything that has one. Counters follow their dispatch, arguments and call stacks
    their event. A process that is left out takes its threads, agents, ... along, and the rest is numbered anew; tables
    of numbered rows are whole otherwise. Events that a time window cuts are kept whole.

    Percent and times with units count from the first event of each node in each source, `-5ms` from its last; the
    markers of `between` are looked for there too. A text that several markers have means from the begin of the first
    to the end of the last.

    Raises
    ------
    UsageError
        When a time or regular expression cannot be read, no marker has the text of `between`, or ranks are asked for
        and none is known.

    Examples
    --------
    >>> from wavescope.model.profile import Profile
    >>> select(Profile([]), ProfileSelection(kernel="gemm")).kernels.height
    0
    """
    if selection == ProfileSelection():
        return profile
    from wavescope.model.profile import Profile

    return Profile([ChosenSource(source, selection) for source in profile.origins])
