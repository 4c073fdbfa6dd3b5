"""One folder, one story: from kernels of a run to their traces and limits, and from a finding in a trace to its run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wavewright.analysis.common.run_gain import RunGain
from wavewright.base.shown import command_line
from wavewright.errors import WavewrightError
from wavewright.model.schema import frame_of
from wavewright.readers.folder_of_run import counters_below, traced_dispatches
from wavewright.readers.trace.resources.usage import plain_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wavewright.analysis.run.graph.kernel_gain import Interval
    from wavewright.analysis.run.kernels import Kernels
    from wavewright.analysis.trace.diagnose import Diagnosis
    from wavewright.model.trace import ThreadTrace

MOST_EVENTS = 300_000  #: Calls and dispatches of a run, up to which findings of a trace are carried to it unasked.
_FINDINGS = 5  #: Of a trace, that are carried to its run.


def with_evidence(answer: Kernels, folder: str) -> Kernels:
    """The kernels, with the thread traces and the limits by counters of the same names below the folder of the run.

    `folder` is where the run was opened; empty or a file = it has none.
    """
    path = Path(folder)
    if not folder or not path.is_dir() or not answer.kernels.height:
        return answer
    names = {plain_name(name): name for name in answer.kernels["name"]}
    dispatches, more = traced_dispatches(path)
    limits = _limits(path, names)
    with_counters = {limit["name"] for limit in limits}
    traces = []
    for dispatch in dispatches:
        options = ["--dispatch", dispatch.key] if dispatch.key else []
        for name in (names[kernel] for kernel in sorted(dispatch.kernels & names.keys())):
            reasons = ["--counters", str(path)] if name in with_counters else []
            command = command_line(["wavewright", "diagnose", str(path), *options, *reasons])
            traces.append({"name": name, "dispatch": dispatch.key, "command": command})
    return replace(
        answer,
        traces=frame_of(answer.tables["traces"], traces),
        limits=frame_of(answer.tables["limits"], limits),
        unread_trace_count=more,
    )


def _limits(path: Path, names: dict[str, str]) -> list[dict[str, Any]]:
    """The kernels of these names in the counters below a folder: what limits them."""
    counters = counters_below(path)
    if counters is None:
        return []
    from wavewright.analysis.counters.limiters import limiters  # most folders of runs have no counters

    return [
        {
            "name": names[plain_name(kernel.kernel_name)],
            "limit": kernel.summary,
            "confidence": kernel.confidence,
            "dispatch_count": kernel.dispatch_count,
            "command": command_line(["wavewright", "counters", str(path), "--kernel", str(kernel.kernel)]),
        }
        for kernel in limiters(counters).kernels
        if plain_name(kernel.kernel_name) in names
    ]


def with_run(answer: Diagnosis, trace: ThreadTrace) -> Diagnosis:
    """The diagnosis, with what its first findings would do to the run beside the trace."""
    from wavewright.analysis.trace.diagnose.finding import DISPATCH  # runs are asked without traces

    intervals = [
        (finding.gain_share_min if finding.gain_basis == DISPATCH else 0.0, finding.gain_share_max)
        for finding in answer.findings[:_FINDINGS]
    ]
    return replace(answer, in_run=tuple(gains_in_run(trace, intervals))) if intervals else answer


def gains_in_run(
    trace: ThreadTrace, gains: Sequence[Interval], *, most_events: int | None = MOST_EVENTS
) -> list[RunGain]:
    """The effect of each gain of the traced kernel on the run recorded beside the trace; empty = there is no such run.

    `gains` are intervals of the share by which the calls with the traced grid and workgroup become shorter. Of runs
    with more than `most_events` (None = no limit) the gains only say that they are too large.
    """
    launch = trace.launch
    if launch is None:
        return []
    from wavewright.analysis.run.graph.kernel_gain import run_gains
    from wavewright.readers.launches import run_of_launch

    try:
        run = run_of_launch(trace)
        if run is None:
            return []
        event_count = run.count("regions") + run.count("dispatches") + run.count("copies")
        if most_events is not None and event_count > most_events:
            reason = f"the run has {event_count:,} calls and dispatches: `wavewright path --what-if` computes it"
            return [RunGain(0, 0, 0, 0, 0, unknown=reason) for _ in gains]
        return run_gains(run, launch.kernel_name, gains, grid=launch.grid_size, workgroup=launch.workgroup_size)
    except WavewrightError as error:
        return [RunGain(0, 0, 0, 0, 0, unknown=str(error)) for _ in gains]
