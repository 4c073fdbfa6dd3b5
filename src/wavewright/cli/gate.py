"""`wavewright gate`, `baseline` and `loop`: captures judged by earlier ones or a budget, an edit by the capture before.

The verdict is that of `analysis.common.gate`; here captures are measured, its words are written in several formats, and
the verdict becomes an exit status (docs/reference/cli.md).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import click
import msgspec

from wavewright.analysis.common.gate import GateAnswer
from wavewright.analysis.common.gate.check import SUBJECTS, JudgedFinding
from wavewright.analysis.run.compare.run_baseline import renamed_kernels
from wavewright.base.shown import json_bytes, printable
from wavewright.base.words import amount, counted
from wavewright.cli.kit.io import console, emit_json, progress
from wavewright.cli.kit.request import DEFAULT_TOP, Parts, Request
from wavewright.cluster.loop import loop as judged
from wavewright.cluster.measurements import METRICS, findings_of, kind_of_paths, measured
from wavewright.errors import OutputError, UsageError
from wavewright.export.gate.baseline import write_baseline
from wavewright.export.kit.staging import staged
from wavewright.model.answer import to_builtins
from wavewright.model.baseline import Baseline
from wavewright.readers.baseline import is_baseline, read_baseline
from wavewright.readers.budget import read_budget
from wavewright.readers.store import last_captures, open_store

_TEXT_WIDTH = 160  #: Characters of a line in a file.
_EXIT_CODES = {"pass": 0, "fail": 1, "cannot tell": 6}
_LOOP_EXIT_CODES = {"worse": 1, "cannot tell": 6}
_ENDINGS = {".md": "md", ".xml": "junit", ".json": "json", ".txt": "text"}  #: Of an output file -> its format.


def gate(
    paths: tuple[str, ...],
    baselines: tuple[str, ...],
    store: str | None,
    series: str | None,
    last: int,
    threshold: float,
    step: str | None,
    kernel: str | None,
    metrics: tuple[str, ...],
    budget_path: Path | None,
    least_share: float,
    allow_unsure: bool,
    file_format: str,
    outputs: tuple[Path, ...],
    force: bool,
    everything: bool,
    top: int | None,
    as_json: bool,
) -> None:
    """Judge captures."""
    answer = _judged(
        paths,
        baselines,
        part=_CapturePart(step, kernel, metrics),
        budget_path=budget_path,
        from_store=None if store is None else partial(_last_of_store, store, series=series, count=last),
        threshold=threshold / 100,
        least_share=least_share / 100,
    )
    _write(answer, outputs, file_format, force=force, is_unsure_allowed=allow_unsure)
    if as_json:
        emit_json(_facts(answer, top), inputs=(*paths, *baselines))
    elif file_format == "github":
        _print_for_github(answer)
    elif file_format == "text":
        from wavewright.words.gate import gate_report

        out = console()
        limit = DEFAULT_TOP if top is None else top or answer.checks.height
        for part in gate_report(answer, limit=limit, everything=everything):
            out.print(part)
    elif not outputs:
        click.echo(_text(answer, file_format, is_unsure_allowed=allow_unsure), nl=False)
    status = _EXIT_CODES[answer.verdict]
    if status and not (answer.verdict == "cannot tell" and allow_unsure):
        sys.exit(status)


class _CapturePart(NamedTuple):
    """The part of each capture that is measured: the steps of a marker, a kernel, metrics of counters."""

    step: str | None
    kernel: str | None
    metrics: Sequence[str]

    def or_that_of(self, stored: Baseline) -> _CapturePart:
        """This part; what it leaves open is as in a baseline file: only equal parts can be compared."""
        metrics = [name for name in stored.filters.get(METRICS, "").split("\n") if name]
        kernel = self.kernel or stored.filters.get("kernel")
        return _CapturePart(self.step or stored.step, kernel, self.metrics or metrics)


def _judged(
    paths: Sequence[str],
    baselines: Sequence[str],
    *,
    part: _CapturePart,
    budget_path: Path | None,
    from_store: Callable[[Baseline], Baseline] | None,
    **options: Any,
) -> GateAnswer:
    """The verdict on the captures at `paths`, by a baseline (a file, captures, or those of a store), a budget, or both.

    The metrics of `part` are names of subjects (`SUBJECTS`), which are judged, and of metrics of counters.
    """
    from wavewright.analysis.common.gate import gate

    budget = None if budget_path is None else read_budget(budget_path)
    if from_store is not None and baselines:
        raise UsageError("--baseline and --store are two baselines", advice="give one of them")
    stored = _stored(baselines)
    has_choice = bool(part.metrics)
    subjects = [name for name in part.metrics if name in SUBJECTS and name != "metric"]
    part = part._replace(metrics=[name for name in part.metrics if name not in subjects])
    part = part if stored is None else part.or_that_of(stored)
    written = _stored(paths)  # a path may be a baseline file, too: what another machine measured
    captures = [*baselines] if written else [*paths, *baselines]
    if stored is not None:
        kind = stored.kind
    elif written is not None and not captures:
        kind = written.kind
    else:
        kind = kind_of_paths(captures, asks_for_counters=bool(part.metrics))
    for name in subjects:
        if kind not in SUBJECTS[name].kinds:
            fitting = ", ".join(other for other, subject in SUBJECTS.items() if kind in subject.kinds)
            raise UsageError(f"--metric {name} is not of this kind of capture", advice=f"one of {fitting}")
    current = written or _measured(paths, kind, part)
    baseline = stored
    if from_store is not None:
        baseline = from_store(current)
    elif stored is None and baselines:
        baseline = _measured(baselines, kind, part)
    pairs = renamed_kernels(baseline, current) if baseline is not None and kind == "run" else {}
    findings: Sequence[JudgedFinding] = ()
    if budget is not None and budget.strongest_finding is not None:
        if written is not None:
            advice = "give the captures themselves, or leave out strongest_finding"
            raise UsageError("a baseline file has no findings", where=paths[0], advice=advice)
        findings = findings_of(paths, kind, part.kernel)
    judged_by = subjects + (["metric"] if part.metrics else [])
    if part.metrics and not has_choice:  # they are those of the baseline file, beside what is judged without --metric
        judged_by = ["kernel", "metric"]
    return gate(current, baseline, subjects=judged_by, budget=budget, findings=findings, pairs=pairs, **options)


def _stored(paths: Sequence[str]) -> Baseline | None:
    """The contents of the baseline file among the paths; None = they are captures, or there are none."""
    files = [path for path in paths if is_baseline(Path(path)) or path.endswith(".wwbase")]
    if files and len(paths) > 1:
        advice = "put all captures into one file with `wavewright baseline`"
        raise UsageError("a baseline file stands for all captures of it", where=files[0], advice=advice)
    return read_baseline(Path(files[0])) if files else None


def _last_of_store(address: str, like: Baseline, *, series: str | None, count: int) -> Baseline:
    """The newest captures of a store that were measured as `like` was."""
    store = open_store(address)
    with progress(f"reading {address}"):
        captures = last_captures(store, like, series=series, count=count)
    for loss in store.losses:
        click.echo(loss.message, err=True)
    return captures


def _facts(answer: GateAnswer, top: int | None) -> dict[str, Any]:
    return {"headline": answer.headline(), **to_builtins(answer, top=top or None)}


def _write(
    answer: GateAnswer, outputs: Sequence[Path], file_format: str, *, force: bool, is_unsure_allowed: bool
) -> None:
    for path in outputs:
        form = _ENDINGS.get(path.suffix.lower(), "md" if file_format == "github" else file_format)
        text = _text(answer, form, is_unsure_allowed=is_unsure_allowed)
        with staged([path], force=force) as (twin,):
            twin.write_text(text, encoding="utf-8")


def _text(answer: GateAnswer, form: str, *, is_unsure_allowed: bool) -> str:
    from wavewright.export.gate.junit import junit
    from wavewright.words.gate import SUMMARY_BYTES, gate_markdown

    if form == "md":
        return gate_markdown(answer, most_bytes=SUMMARY_BYTES)
    if form == "junit":
        return junit(answer, is_unsure_allowed=is_unsure_allowed)
    if form == "json":
        return msgspec.json.format(json_bytes(_facts(answer, None)), indent=1).decode() + "\n"
    from wavewright.words.gate import gate_report
    from wavewright.writers.terminal.blocks import plain_text

    return plain_text(gate_report(answer, limit=answer.checks.height, everything=True), _TEXT_WIDTH)


def _print_for_github(answer: GateAnswer) -> None:
    """Annotations on stdout, where the runner reads them; Markdown into the summary of the step, if there is one."""
    from wavewright.export.gate.github import annotation_lines
    from wavewright.words.gate import SUMMARY_BYTES, gate_markdown

    markdown = gate_markdown(answer, most_bytes=SUMMARY_BYTES)
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if summary:
        try:
            with Path(summary).open("a", encoding="utf-8") as stream:
                stream.write(markdown)
        except OSError as error:
            what = f"the summary of the step cannot be written: {error.strerror}"
            raise OutputError(what, where=summary, advice="check GITHUB_STEP_SUMMARY") from error
    else:
        # A line that starts with two colons is a command for the runner.
        lines = markdown.split("\n")
        harmless = [f"\\{line.lstrip()}" if line.lstrip().startswith("::") else line for line in lines]
        click.echo("\n".join(harmless), nl=False)
    click.echo(annotation_lines(answer, _in_repository), nl=False)


def _in_repository(file: str) -> str:
    """The path of a source file below the current folder: the longest end of it that is there, else as recorded."""
    parts = Path(file).parts
    for start in range(len(parts)):
        tail = Path(*parts[start:])
        if not tail.is_absolute() and ".." not in tail.parts and tail.is_file():
            return tail.as_posix()
    return file


def baseline(
    paths: tuple[str, ...],
    output: Path,
    step: str | None,
    kernel: str | None,
    metrics: tuple[str, ...],
    force: bool,
    as_json: bool,
) -> None:
    """Write a baseline."""
    kind = kind_of_paths(paths, asks_for_counters=bool(metrics))
    measurements = _measured(paths, kind, _CapturePart(step, kernel, metrics))
    write_baseline(measurements, output, force=force)
    size = output.stat().st_size
    counts = [len(capture.quantities) for capture in measurements.captures]
    damages = [f"{capture.label}: {damage}" for capture in measurements.captures for damage in capture.damages]
    if as_json:
        facts = {"output": str(output), "kind": kind, "capture_count": len(counts), "quantity_count": sum(counts)}
        emit_json({**facts, "byte_count": size, "targets": list(measurements.targets)}, inputs=paths, losses=damages)
        return
    gpus = ", ".join(measurements.targets) or "GPU not recorded"
    what = f"{counted(len(counts), 'captures')}, {counted(sum(counts), 'quantities')}, {gpus}, {amount(size)}"
    click.echo(printable(f"{output}: {what}"))
    for damage in damages:
        click.echo(printable(f"damaged, so that a gate cannot tell: {damage}"), err=True)


def _measured(paths: Sequence[str], kind: str, part: _CapturePart) -> Baseline:
    """Quantities of the captures at the paths, read with progress on a terminal."""
    return measured(paths, kind, **part._asdict(), progress=lambda path: progress(f"reading {path}"))


def loop(before: str, after: str, step: str | None, kernel: str | None, threshold: float, as_json: bool) -> None:
    """Judge one turn."""
    answer = judged(before, after, step=step, kernel=kernel, threshold=threshold / 100, progress=progress)
    request = Request(paths=(before, after), as_json=as_json)

    def report() -> Parts:
        from wavewright.words.gate import loop_report

        return loop_report(answer)

    request.give(answer, answer.findings, report, (), headline=answer.headline())
    if answer.outcome in _LOOP_EXIT_CODES:
        sys.exit(_LOOP_EXIT_CODES[answer.outcome])
