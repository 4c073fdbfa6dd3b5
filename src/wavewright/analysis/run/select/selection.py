"""The selected part of a run."""

from __future__ import annotations

from wavewright.analysis.run.select.choice import RunSelection
from wavewright.analysis.run.select.chosen import ChosenSource
from wavewright.model.run import Run


def select(run: Run, selection: RunSelection) -> Run:
    """The run cut down to the selection; rows are left out while they are read.

    A field speaks only about the tables that have what it names: `kernel` about work of GPUs (copies are of no kernel),
    `gpus` about dispatches, copies (either end), allocations and monitors, `streams` about work that is put into
    streams, `domains` about regions and samples, times about everything that has one. Counters follow their dispatch,
    arguments and call stacks their event. A process that is left out takes its threads, agents, ... along, and the rest
    is numbered anew; tables of numbered rows are whole otherwise. Events that a time window cuts begin and end at its
    borders, unless `is_whole`.

    Percent and times with units count from the first event of each node in each source, `-5ms` from its last; the
    markers of `between` are looked for there too. A text that several markers have means from the begin of the first
    to the end of the last.

    Raises
    ------
    UsageError
        When a time or regular expression cannot be read, no marker has the text of `between`, or ranks are asked for
        and none is known.
    """
    if selection == RunSelection():
        return run
    return Run([ChosenSource(source, selection) for source in run.origins])
