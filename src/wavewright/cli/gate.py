"""`wavewright gate`: did it get worse than its baseline, or leave its budget? Pass, fail, or cannot tell."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wavewright.base.bounds import PERCENT, SHARE
from wavewright.cli.kit.form import refuse_format_with_brief
from wavewright.cli.kit.io import console, emit_json, json_option
from wavewright.cli.kit.measuring import kernel_option, measured_with_progress, step_option
from wavewright.cli.kit.numbers import Real
from wavewright.cli.kit.request import DEFAULT_TOP, top_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wavewright.analysis.common.gate import GateAnswer
    from wavewright.analysis.common.gate.check import JudgedFinding
    from wavewright.model.baseline import Baseline

_TEXT_WIDTH = 160  #: Characters of a line in a file.
_EXIT_CODES = {"pass": 0, "fail": 1, "cannot tell": 6}
_FORMATS = ("text", "md", "github", "junit", "sarif")
_ENDINGS = {".md": "md", ".xml": "junit", ".sarif": "sarif", ".json": "json", ".txt": "text"}


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(), metavar="CURRENT...")
@click.option(
    "--baseline",
    "baselines",
    multiple=True,
    type=click.Path(),
    metavar="PATH",
    help="A file of `wavewright baseline`, or a capture; captures may be repeated.",
)
@click.option(
    "--threshold",
    type=Real(PERCENT),
    default=5,
    show_default=True,
    metavar="PERCENT",
    help="By how much a quantity may get worse.",
)
@step_option
@kernel_option
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME",
    help="What to judge. Runs: gpu-time, kernel, copy, marker, step, wall, busy. Traces: cycles, line, kernel-time. "
    "Counters: kernel, or a metric by id or part of its name. May be repeated.",
)
@click.option(
    "--budget", "budget_path", type=click.Path(path_type=Path), metavar="FILE", help="TOML file with absolute limits."
)
@click.option(
    "--least-share",
    type=Real(SHARE),
    default=1,
    show_default=True,
    metavar="PERCENT",
    help="Kernels with a smaller share of the GPU time do not decide.",
)
@click.option("--allow-unsure", is_flag=True, help="Leave with status 0 where the gate cannot tell.")
@click.option(
    "--format",
    "file_format",
    type=click.Choice(_FORMATS),
    default="text",
    show_default=True,
    callback=refuse_format_with_brief,
    help="github: annotations, and Markdown in the summary of the step.",
)
@click.option(
    "-o",
    "--output",
    "outputs",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write it in the form of its ending (.md, .xml JUnit, .sarif, .json, .txt), else in --format; repeatable.",
)
@click.option("--force", is_flag=True, help="Replace files that exist.")
@click.option("--all", "everything", is_flag=True, help="Show quantities that were not judged, too.")
@top_option
@json_option
def command(
    paths: tuple[str, ...],
    baselines: tuple[str, ...],
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
    """Judge captures CURRENT by a baseline, a budget or both: pass (status 0), fail (1) or cannot tell (6).

    CURRENT are runs, thread traces or counter captures; each path is one of them, several are repeats; or a file of
    `wavewright baseline`, made where they are. fail: worse than
    the baseline by more than the threshold, and more than noise. cannot tell: another GPU, other steps, too few calls,
    losses, or noise larger than the threshold. Where the baseline is a file, its --step and --kernel are used.

    \b
    wavewright gate new.db --baseline main.wwbase
    wavewright gate new.db --baseline old.db --threshold 10 --metric gpu-time
    wavewright gate new.db --baseline main.wwbase --format github -o gate.xml
    wavewright gate new.db --budget budget.toml
    """
    answer = _judged(
        paths,
        baselines,
        asked={"step": step, "kernel": kernel},
        metrics=metrics,
        budget_path=budget_path,
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


def _judged(
    paths: Sequence[str],
    baselines: Sequence[str],
    *,
    asked: dict[str, str | None],
    metrics: Sequence[str],
    budget_path: Path | None,
    **options: Any,
) -> GateAnswer:
    from wavewright.analysis.common.gate import gate
    from wavewright.analysis.common.gate.subjects import SUBJECTS
    from wavewright.cluster.measuring import METRICS, findings_of, kind_of_paths
    from wavewright.errors import UsageError
    from wavewright.readers.budget import read_budget

    budget = None if budget_path is None else read_budget(budget_path)
    stored = _stored(baselines)
    subjects = [name for name in metrics if name in SUBJECTS and name != "metric"]
    named = [name for name in metrics if name not in subjects]
    if stored is not None:
        asked = {
            "step": asked["step"] or stored.step,
            "kernel": asked["kernel"] or stored.filters.get("kernel"),
        }
        named = named or [name for name in stored.filters.get(METRICS, "").split("\n") if name]
    written = _stored(paths)  # what another machine measured
    if stored is not None:
        kind = stored.kind
    else:
        captures = [*baselines] if written else [*paths, *baselines]
        kind = written.kind if written and not captures else kind_of_paths(captures, asks_for_counters=bool(named))
    _check_subjects(subjects, kind)
    current = written or measured_with_progress(paths, kind, metrics=named, **asked)
    baseline = stored
    if stored is None and baselines:
        baseline = measured_with_progress(baselines, kind, metrics=named, **asked)
    pairs = {}
    if baseline is not None and kind == "run":
        from wavewright.analysis.run.compare.baseline import renamed_kernels

        pairs = renamed_kernels(baseline, current)
    findings: Sequence[JudgedFinding] = ()
    if budget is not None and budget.strongest_finding is not None:
        if written is not None:
            advice = "give the captures themselves, or leave out strongest_finding"
            raise UsageError("a baseline file has no findings", where=paths[0], advice=advice)
        findings = findings_of(paths, kind, asked["kernel"])
    judged_by = subjects + ["metric"] * bool(named)
    if named and not subjects and stored is not None and not metrics:
        judged_by = ["kernel", "metric"]
    return gate(current, baseline, subjects=judged_by, budget=budget, findings=findings, pairs=pairs, **options)


def _stored(baselines: Sequence[str]) -> Baseline | None:
    """The baseline file; None = the baseline is captures, or there is none."""
    from wavewright.errors import UsageError
    from wavewright.readers.baseline import is_baseline, read_baseline

    files = [path for path in baselines if is_baseline(Path(path)) or path.endswith(".wwbase")]
    if files and len(baselines) > 1:
        advice = "put all captures into one file with `wavewright baseline`"
        raise UsageError("a baseline file stands for all captures of it", where=files[0], advice=advice)
    return read_baseline(Path(files[0])) if files else None


def _check_subjects(subjects: Sequence[str], kind: str) -> None:
    from wavewright.analysis.common.gate.subjects import SUBJECTS
    from wavewright.errors import UsageError

    for name in subjects:
        if kind not in SUBJECTS[name].kinds:
            fitting = ", ".join(each for each, subject in SUBJECTS.items() if kind in subject.kinds)
            raise UsageError(f"--metric {name} is not of this kind of capture", advice=f"one of {fitting}")


def _facts(answer: GateAnswer, top: int | None) -> dict[str, Any]:
    from wavewright.model.answer import to_builtins

    return {"headline": answer.headline(), **to_builtins(answer, top=top or None)}


def _write(
    answer: GateAnswer, outputs: Sequence[Path], file_format: str, *, force: bool, is_unsure_allowed: bool
) -> None:
    from wavewright.export.kit.staging import staged

    for path in outputs:
        form = _ENDINGS.get(path.suffix.lower(), "md" if file_format == "github" else file_format)
        text = _text(answer, form, is_unsure_allowed=is_unsure_allowed)
        with staged([path], force=force) as (twin,):
            twin.write_text(text, encoding="utf-8")


def _text(answer: GateAnswer, form: str, *, is_unsure_allowed: bool) -> str:
    from wavewright.words.gate import SUMMARY_BYTES, gate_markdown

    if form == "md":
        return gate_markdown(answer, most_bytes=SUMMARY_BYTES)
    if form == "junit":
        from wavewright.export.gate.junit import junit

        return junit(answer, is_unsure_allowed=is_unsure_allowed)
    if form == "sarif":
        from importlib.metadata import version

        from wavewright.export.gate.sarif import sarif

        return sarif(answer, version=version("wavewright"), place=_in_repository)
    if form == "json":
        import msgspec

        from wavewright.base.shown import json_bytes

        return msgspec.json.format(json_bytes(_facts(answer, None)), indent=1).decode() + "\n"
    from wavewright.words.gate import gate_report
    from wavewright.writers.terminal.blocks import plain_text

    return plain_text(gate_report(answer, limit=answer.checks.height, everything=True), _TEXT_WIDTH)


def _print_for_github(answer: GateAnswer) -> None:
    """Annotations on stdout, where the runner reads them; Markdown into the summary of the step, if there is one."""
    from wavewright.errors import OutputError
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
        click.echo(_without_commands(markdown), nl=False)
    click.echo(annotation_lines(answer, _in_repository), nl=False)


def _without_commands(markdown: str) -> str:
    """Markdown that the runner does not take for commands: those start a line with two colons."""
    return "\n".join(f"\\{line.lstrip()}" if line.lstrip().startswith("::") else line for line in markdown.split("\n"))


def _in_repository(file: str) -> str:
    """The path of a source file below the current folder: the longest end of it that is there, else as recorded."""
    parts = Path(file).parts
    for start in range(len(parts)):
        tail = Path(*parts[start:])
        if not tail.is_absolute() and ".." not in tail.parts and tail.is_file():
            return tail.as_posix()
    return file
