"""Answers about a trace that take a run as well: the one beside it, or one that is named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wavewright.errors import UsageError

if TYPE_CHECKING:
    from wavewright.analysis.trace.what_if import WhatIf
    from wavewright.analysis.trace.what_if.measurement import KernelTime
    from wavewright.model.document import Document
    from wavewright.model.trace import ThreadTrace


def edits_with_run(document: Document, **options: Any) -> WhatIf:
    """Edits of the executed code, with what they would do to the run beside the trace."""
    from wavewright.analysis.trace.what_if import what_if
    from wavewright.questions.trace.trace_question import asked

    def analysis(trace: ThreadTrace, **options: Any) -> WhatIf:
        return with_runs(trace, what_if(trace, **options))

    return asked(document, "whatif", analysis, **options)


def with_runs(trace: ThreadTrace, answer: WhatIf) -> WhatIf:
    """The answer with the gains of its timed edits carried to the run that the traced dispatch was found in."""
    from wavewright.analysis.beside import gains_in_run
    from wavewright.model.schema import frame_of

    edits = answer.edits.drop_nulls("gain_low_share")
    gains = gains_in_run(trace, edits.select("gain_low_share", "gain_high_share").rows()) if edits.height else []
    rows = [
        {"edit": edit} | gain.__dict__ | ({"gain_ns_min": None, "gain_ns_max": None} if gain.unknown else {})
        for edit, gain in zip(edits["edit"], gains, strict=False)
    ]
    spec = type(answer).tables["runs"]
    named_rows = [{name: row[name] or None if name == "unknown" else row[name] for name in spec.dtypes} for row in rows]
    return replace(answer, runs=frame_of(spec, named_rows)) if rows else answer


def with_measured_times(trace: ThreadTrace, answer: WhatIf, after: str, before: str | None) -> WhatIf:
    """The answer with a measured time of its first timed edit; times or paths of runs are given.

    Raises `UsageError` when a run does not have the kernel, or nothing tells what it took before.
    """
    from wavewright.analysis.trace.what_if.measurement import KernelTime, with_measured

    if before is not None:
        time_before = _kernel_time(trace, before)
    elif trace.launch is not None:
        time_before = KernelTime.of_launch(trace.launch)
    else:
        advice = "name the run of the kernel as it was, or its time (--measured-before)"
        raise UsageError("no run beside the trace tells what the kernel took before the edit", advice=advice)
    return with_measured(answer, time_before, _kernel_time(trace, after))


def _kernel_time(trace: ThreadTrace, text: str) -> KernelTime:
    from wavewright.analysis.trace.what_if.measurement import KernelTime, duration_of
    from wavewright.readers.launches import calls_in_run

    return duration_of(text) or KernelTime.of_launch(calls_in_run(trace, Path(text)))
