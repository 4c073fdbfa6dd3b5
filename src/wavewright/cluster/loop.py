"""One turn of tuning: captures before and after an edit are measured, compared and diagnosed."""

from __future__ import annotations

from pathlib import Path

from wavewright.analysis.common.gate.loop import LoopAnswer
from wavewright.cluster.measurements import Progress, findings_of, kind_of_paths, measured, no_progress


def loop(
    before: str,
    after: str,
    *,
    step: str | None = None,
    kernel: str | None = None,
    threshold: float = 0.05,
    progress: Progress = no_progress,
) -> LoopAnswer:
    """The effect of an edit, judged by a capture before it and one after it.

    Raises `UsageError` when the captures are of different kinds, or cannot be measured.
    """
    from wavewright.analysis.common.gate import gate
    from wavewright.analysis.common.gate.loop import judged_turn

    kind = kind_of_paths([before, after])
    sides = [measured([path], kind, step=step, kernel=kernel, progress=progress) for path in (before, after)]
    pairs = {}
    if kind == "run":
        from wavewright.analysis.run.compare.run_baseline import renamed_kernels

        pairs = renamed_kernels(*sides)
    verdict = gate(sides[1], sides[0], threshold=threshold, pairs=pairs)
    with progress(f"diagnosing {after}"):
        findings = findings_of([after], kind, kernel) if kind != "counters" else ()
    with progress("comparing"):
        changes = _VERDICTS[kind](before, after, step, kernel)
    return judged_turn(verdict, changes, sorted(findings, key=lambda finding: -finding.share), before, after)


def _traces(before: str, after: str, _step: str | None, kernel: str | None) -> str:
    from wavewright.analysis.trace.compare import compare
    from wavewright.readers.opening import open_trace

    return compare([open_trace(path, kernel=kernel) for path in (before, after)], labels=["A", "B"]).verdict(1)


def _runs(before: str, after: str, step: str | None, kernel: str | None) -> str:
    from wavewright.analysis.run.compare.compare import combine_compare
    from wavewright.analysis.run.compare.compared_side import partial_compare
    from wavewright.analysis.run.select.choice import RunSelection
    from wavewright.cluster.gather import gather
    from wavewright.readers.run.inputs import find_runs

    choice = RunSelection(kernel=kernel)
    sides = [gather(partial_compare, find_runs([path]), selection=choice).values for path in (before, after)]
    return combine_compare(sides, step=step).verdict(1)


def _counters(before: str, after: str, _step: str | None, _kernel: str | None) -> str:
    from wavewright.analysis.counters.compare import counter_compare
    from wavewright.readers.counters import open_counters

    return counter_compare([open_counters(Path(path)) for path in (before, after)]).verdict(1)


_VERDICTS = {"trace": _traces, "run": _runs, "counters": _counters}
