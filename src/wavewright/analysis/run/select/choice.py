"""`RunSelection`: which events of a run are selected, by kernel, process, GPU, stream, domain and time."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RunSelection:
    """A selection of events; all fields that are set must match. The default selects everything."""

    #: Only dispatches whose kernel name contains this text, or matches it as /regular expression/; no copies.
    kernel: str | None = None
    pids: tuple[int, ...] = ()
    ranks: tuple[int, ...] = ()
    gpus: tuple[int, ...] = ()  #: Only work of GPUs with this number (agents.type_index, else absolute_index).
    streams: tuple[int, ...] = ()  #: Only work of streams with this id (streams.stream_id).
    #: Only regions and samples of this domain or category (HIP, MARKER, HIP_RUNTIME_API, ...), whatever the case.
    domains: tuple[str, ...] = ()
    #: Start of a time window: `30%` of the run, `1.5s`, `20ms`, ... after its start, `-5ms` before its end, or
    #: nanoseconds of its clock.
    begin: str | None = None
    end: str | None = None
    #: From where times with units count on each node (machine id, else host name, else path of the source); a node that
    #: is not here counts from its first event in each source.
    node_starts_ns: tuple[tuple[str, int], ...] = ()
    #: Only what happened from the start of the first marker with this text to the end of the second.
    between: tuple[str, str] | None = None
    #: Whether events must be completely inside the time window; else overlapping events are selected.
    is_inside: bool = False
    #: Whether events that the window cuts stay whole; else they begin and end at its borders.
    is_whole: bool = False
    #: Only dispatches and copies whose launch is recorded, not work already running when the recording started.
    is_launched: bool = False
    without_guids: tuple[str, ...] = ()  #: Runs to leave out.
    processes: tuple[int, ...] = ()  #: Only processes with this number in their source.

    @property
    def has_window(self) -> bool:
        """True if a part of the time is selected."""
        return self.begin is not None or self.end is not None or self.between is not None
