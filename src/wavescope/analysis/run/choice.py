"""What `select` can be asked for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RunSelection:
    """A choice of events; every field that is set must hold. The default chooses everything."""

    #: Only dispatches whose kernel name contains this text, or matches it as /regular expression/.
    kernel: str | None = None
    pids: tuple[int, ...] = ()
    ranks: tuple[int, ...] = ()
    gpus: tuple[int, ...] = ()  #: Only work of GPUs with this number (agents.type_index, else absolute_index).
    streams: tuple[int, ...] = ()  #: Only work of streams with this id (streams.stream_id).
    #: Only regions and samples of this domain or category (HIP, MARKER, HIP_RUNTIME_API, ...), whatever the case.
    domains: tuple[str, ...] = ()
    #: Begin of a time window: `30%` of the run, `1.5s`, `20ms`, ... after its begin, `-5ms` before its end, or
    #: nanoseconds of its clock.
    begin: str | None = None
    end: str | None = None
    #: Only what happened from the begin of the first marker with this text to the end of the second.
    between: tuple[str, str] | None = None
    #: Whether events must lie wholly inside the time window; else those that overlap it are chosen.
    is_inside: bool = False
    #: Only dispatches and copies whose launch is recorded, not what was under way when the recording began.
    is_launched: bool = False
    without_guids: tuple[str, ...] = ()  #: Runs to leave out.
    processes: tuple[int, ...] = ()  #: Only processes with this number in their source.
