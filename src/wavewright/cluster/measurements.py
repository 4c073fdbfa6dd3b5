"""The measurements of captures at paths, of any kind: the input of baselines, stores and gates."""

from __future__ import annotations

import glob
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from wavewright.analysis.common.gate.check import JudgedFinding
from wavewright.base.words import counted
from wavewright.errors import UsageError, WavewrightError
from wavewright.model.baseline import Baseline, MeasuredCapture
from wavewright.model.trace import ThreadTrace

_MOST_SIBLINGS = 8  #: Other dispatches of a trace's capture that are read, as repeats of its kernel.
_NAMES = {"trace": "thread traces", "run": "runs", "counters": "counter captures"}
METRICS = "metrics"  #: The filter that names the metrics of counters in a baseline, one per line.
Progress = Callable[[str], AbstractContextManager[Any]]  #: Entered with the name of each piece of work.
no_progress: Progress = nullcontext


def kind_of_paths(paths: Sequence[str], *, asks_for_counters: bool = False) -> str:
    """The kind of captures at all of the paths.

    Raises `UsageError` when they are of several kinds, or nothing that can be measured.
    """
    kinds = {kind for path in paths if (kind := kind_at(path))}
    if asks_for_counters and kinds <= {"run", "counters"}:
        kinds = {"counters"}  # a file with counters may be recognised as a run
    if len(kinds) > 1:
        problem = f"these are {' and '.join(_NAMES[kind] for kind in _NAMES if kind in kinds)}"
        raise UsageError(problem, advice="give traces, runs or counter captures, not several kinds")
    if not kinds:
        from wavewright.readers.files.kinds import sniff

        problem = f"cannot be measured: {sniff(Path(paths[0])).value}"
        raise UsageError(problem, where=paths[0], advice="give a trace, a run or counters")
    return next(iter(kinds))


def kind_at(word: str) -> str | None:
    """The kind of document at a path, or at the first match of a glob pattern; None = there is none."""
    from wavewright.readers.files.kinds import document_at

    path = Path(word)
    if glob.has_magic(word) and not path.exists():
        path = Path(next(iter(sorted(glob.glob(word, recursive=True))), word))  # noqa: PTH207 - absolute patterns too
    return document_at(path)


def measured(
    paths: Sequence[str],
    kind: str,
    *,
    step: str | None = None,
    kernel: str | None = None,
    metrics: Sequence[str] = (),
    jobs: int | None = None,
    progress: Progress = no_progress,
) -> Baseline:
    """Measurements of the captures at the paths, one or more each; `progress` is entered with each path.

    `jobs` is the number of processes that read the files of one capture; None = as many as fit. Raises `UsageError`
    when an option does not fit the kind, or a capture lacks what is asked for.
    """
    from importlib.metadata import version

    for name, value, kind_needed in (("--step", step, "run"), ("metrics", metrics, "counters")):
        if value and kind != kind_needed:
            raise UsageError(f"{name} does not apply to {_NAMES[kind]}", advice=f"it is for {_NAMES[kind_needed]}")
    captures: list[MeasuredCapture] = []
    for path in paths:
        with progress(path):
            captures += _CAPTURES[kind](path, step=step, kernel=kernel, metrics=metrics, jobs=jobs)
    filters = {"kernel": kernel} if kernel else {}
    filters |= {METRICS: "\n".join(metrics)} if metrics else {}
    return Baseline(kind, tuple(captures), step, filters, version("wavewright"))


def findings_of(paths: Sequence[str], kind: str, kernel: str | None) -> tuple[JudgedFinding, ...]:
    """The findings of the diagnosis of each capture. Raises `UsageError` when the kind has no findings with gains."""
    if kind == "trace":
        from wavewright.analysis.trace.compare.trace_baseline import trace_findings
        from wavewright.readers.opening import open_trace

        return tuple(finding for path in paths for finding in trace_findings(open_trace(path, kernel=kernel)))
    if kind == "run":
        from wavewright.analysis.run.compare.run_baseline import run_findings
        from wavewright.analysis.run.diagnose import partial_diagnosis

        diagnoses = (_gathered(path, partial_diagnosis, kernel) for path in paths)
        return tuple(finding for diagnosis in diagnoses for finding in run_findings(diagnosis.values))
    raise UsageError("findings of counters promise no gain", advice="leave out strongest_finding")


def _runs(path: str, *, step: str | None, kernel: str | None, jobs: int | None, **_: Any) -> list[MeasuredCapture]:
    from wavewright.analysis.run.compare.run_baseline import combine_baseline, partial_baseline
    from wavewright.readers.files.hashes import hashed_inputs

    partials = _gathered(path, partial_baseline, kernel, jobs)
    damages = partials.losses.filter("is_damage")["message"].to_list()
    capture = combine_baseline(partials.values, Path(path).name or path, step=step, damages=damages)
    files = sorted({file for run_input in partials.inputs for file in (run_input.files or (run_input.path,))})
    return [replace(capture, inputs=hashed_inputs([Path(file) for file in files]))]


def _gathered(path: str, question: Any, kernel: str | None, jobs: int | None = None) -> Any:
    from wavewright.analysis.run.select.choice import RunSelection
    from wavewright.cluster.executor_choice import executor_for
    from wavewright.cluster.gather import gather
    from wavewright.readers.run.inputs import find_runs

    inputs = find_runs([path])
    executor = executor_for(len(inputs), jobs=jobs)
    return gather(question, inputs, selection=RunSelection(kernel=kernel), executor=executor)


def _traces(path: str, *, kernel: str | None, **_: Any) -> list[MeasuredCapture]:
    """The trace at a path and, as repeats of it, the other dispatches of the same kernel and code."""
    from wavewright.readers.files.hashes import hashed_inputs
    from wavewright.readers.opening import open_trace

    first = open_trace(path, kernel=kernel)
    inputs = hashed_inputs([Path(path)])
    captures = [_measured_trace(first, path)]
    for dispatch in first.source.other_dispatches[:_MOST_SIBLINGS]:
        try:
            sibling = open_trace(path, dispatch=dispatch)
        except WavewrightError:
            continue  # an unreadable dispatch repeats nothing
        if sibling.instructions.height:
            capture = _measured_trace(sibling, path)
            captures += [capture] if capture.code == captures[0].code else []
    return [replace(capture, inputs=inputs) for capture in captures]


def _measured_trace(trace: ThreadTrace, path: str) -> MeasuredCapture:
    from wavewright.analysis.trace.compare.trace_baseline import trace_baseline

    key = trace.source.dispatch_key
    label = f"{Path(path).name} dispatch {key}" if trace.source.other_dispatches and key else Path(path).name
    return trace_baseline(trace, label, damages=_damages(trace.losses))


def _counters(path: str, *, kernel: str | None, metrics: Sequence[str], **_: Any) -> list[MeasuredCapture]:
    from wavewright.analysis.counters.choice import CounterChoice
    from wavewright.analysis.counters.compare.sides import counter_baseline
    from wavewright.readers.counters import open_counters
    from wavewright.readers.counters.rocke_bundle import capture_of_bundle, is_bundle
    from wavewright.readers.files.hashes import hashed_inputs

    place = Path(path)
    if is_bundle(place):
        capture = capture_of_bundle(place, place.name)
    else:
        counters = open_counters(place)
        choice = CounterChoice(kernels=(kernel,) if kernel else ())
        damages = _damages(counters.losses)
        capture = counter_baseline(counters, place.name, choice=choice, metrics=metrics, damages=damages)
    return [replace(capture, inputs=hashed_inputs([place]))]


def _damages(losses: pl.DataFrame) -> list[str]:
    """The losses that may change numbers, as sentences."""
    from wavewright.model.losses import LOSSES

    rows = [row for row in losses.to_dicts() if LOSSES[row["kind"]].is_damage]
    return [row.get("message") or f"{counted(row['count'], 'losses')} of kind {row['kind']}" for row in rows]


_CAPTURES: dict[str, Callable[..., list[MeasuredCapture]]] = {"run": _runs, "trace": _traces, "counters": _counters}
