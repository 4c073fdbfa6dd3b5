"""`wavewright diagnose`: its options, for a thread trace, hardware counters or a run."""

from __future__ import annotations

import glob
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wavewright.base.shown import command_line
from wavewright.cli.kit.commands import CommandOfKinds, counter_verb, run_verb, trace_verb
from wavewright.cli.kit.io import progress
from wavewright.cli.kit.options import declared_options

if TYPE_CHECKING:
    import polars as pl

    from wavewright.analysis.trace.diagnose import Diagnosis
    from wavewright.cli.kit.counters import CounterRequest
    from wavewright.cli.kit.request import Parts
    from wavewright.cli.kit.run import RunRequest
    from wavewright.cli.kit.trace import TraceRequest
    from wavewright.errors import UsageError
    from wavewright.model.counters import CounterSet
    from wavewright.readers.files.kinds import Kind

_KERNELS = 5  #: Kernels of counters that text shows, if nothing else is asked for.


@trace_verb
@declared_options("diagnose", "trace")
def _traces(
    request: TraceRequest,
    file_format: str,
    counters_path: Path | None,
    counters_kernel: str | None,
    ideal_gb: float | None,
) -> None:
    """A prioritized plan for the kernel of a thread trace."""
    from wavewright.analysis.trace.about.requirements import has_only_samples

    if has_only_samples(request.trace):
        if counters_path is not None:
            raise _no_counters(request)
        _give_sample_diagnosis(request, file_format)
        return
    from wavewright.analysis.trace.diagnose import diagnose
    from wavewright.errors import UsageError

    if counters_path is None and (ideal_gb is not None or counters_kernel is not None):
        what = f"{'--ideal-gb' if ideal_gb is not None else '--counters-kernel'} needs --counters"
        raise UsageError(what, advice="give the PATH of a counter capture of the same kernel")
    counters = None if counters_path is None else _opened(counters_path, request.trace.source.target)
    kernel = counters_kernel
    if kernel is None and counters is not None and request.selection.kernel is not None:
        names = counters.dispatches["kernel_name"].drop_nulls()
        kernel = request.selection.kernel if names.str.contains(request.selection.kernel, literal=True).any() else None
    answer = diagnose(request.trace, rows=request.rows, counters=counters, kernel=kernel, ideal_gb=ideal_gb)
    if file_format == "md" and not (request.as_json or request.as_csv):
        _print_markdown(request, answer)
        return
    facts: dict[str, Any] = {} if counters is None else {"counter_losses": counters.losses.to_dicts()}

    def report() -> Parts:
        from wavewright.words.trace.diagnose import diagnosis_report

        return diagnosis_report(answer, limit=request.limit)

    request.give(answer, _finding_table(answer), report, request.trace.losses, **facts)


def _give_sample_diagnosis(request: TraceRequest, file_format: str) -> None:
    """The causes that many samples have in common."""
    import polars as pl

    from wavewright.analysis.trace.samples.diagnosis import sample_diagnosis

    answer = sample_diagnosis(request.trace, rows=request.rows)
    if file_format == "md" and not (request.as_json or request.as_csv):
        from wavewright.words.trace.findings import sample_diagnosis_markdown

        click.echo(sample_diagnosis_markdown(answer, name=request.path.name), nl=False)
        return
    names = ("name", "verdict", "remedy", "sample_count", "share", "share_min", "share_max", "row_count")
    table = pl.DataFrame([{name: getattr(finding, name) for name in names} for finding in answer.findings])

    def report() -> Parts:
        from wavewright.words.trace.samples import sample_diagnosis_report

        return sample_diagnosis_report(answer, limit=request.limit)

    request.give(answer, table, report, request.trace.losses)


def _print_markdown(request: TraceRequest, answer: Diagnosis) -> None:
    from wavewright.words.kit.subject import subject_markdown
    from wavewright.words.trace.diagnose import diagnosis_markdown

    title, _, plan = diagnosis_markdown(answer, name=request.path.name).partition("\n")
    click.echo(f"{title}\n\n{subject_markdown(request.subject)}\n{plan}", nl=False)


def _no_counters(request: TraceRequest) -> UsageError:
    from wavewright.errors import UsageError

    what = "findings of PC samples do not take reasons from counters"
    return UsageError(what, where=str(request.path), advice="diagnose the counter capture by itself")


def _finding_table(answer: Diagnosis) -> pl.DataFrame:
    """One row per finding, with its numbers and its confidence."""
    import polars as pl

    from wavewright.analysis.trace.diagnose.finding import StallFinding

    names = [field.name for field in fields(StallFinding) if field.type in ("str", "int", "float")]
    return pl.DataFrame([{name: getattr(finding, name) for name in names} for finding in answer.findings])


def _opened(path: Path, target: str | None) -> CounterSet:
    """The counters; where they do not name their GPU, it is taken to be that of the trace."""
    from wavewright.readers.counters import open_counters

    with progress(f"reading {path.name}"):
        counters = open_counters(path)
        if target is None or counters.system.target is not None:
            return counters
        return open_counters(path, target=target)


def _counters(request: CounterRequest, file_format: str) -> None:
    """Limits of the kernels of a counter capture."""
    from wavewright.analysis.counters.limiters import limiter_table, limiters

    is_text = not (request.as_json or request.as_csv)
    top = request.top or None if request.top is not None or not is_text else _KERNELS
    answer = limiters(request.counters, choice=request.choice, top=None if request.as_csv else top)
    if file_format == "md" and is_text:
        from wavewright.words.counters.findings import limiters_markdown

        name = request.path.name if request.path else ""
        click.echo(limiters_markdown(answer, name=name), nl=False)
        return

    def report() -> Parts:
        from wavewright.words.counters.limiters import limiters_report

        return limiters_report(answer)

    request.give(answer, limiter_table(answer), report, request.counters.losses)


_of_counters = counter_verb(declared_options("diagnose", "counters")(_counters))


@run_verb
@declared_options("diagnose", "run")
def _runs(request: RunRequest, file_format: str, run: bool) -> None:
    """Causes of the time of a run, and first changes."""
    from wavewright.analysis.run.diagnose import combine_diagnosis, partial_diagnosis

    gathered = request.gather(partial_diagnosis)
    answer = combine_diagnosis(gathered.values, path=command_line(request.paths))
    if file_format == "md" and not (request.as_json or request.as_csv):
        from wavewright.words.run.diagnose import diagnosis_markdown

        name = Path(request.paths[0]).name if len(request.paths) == 1 else f"{len(gathered.paths):,} inputs"
        click.echo(diagnosis_markdown(answer, name=name), nl=False)
        request.print_losses(gathered.losses, stderr=True)
        return

    def report() -> Parts:
        from wavewright.words.run.diagnose import diagnosis_report

        return diagnosis_report(answer, limit=request.limit)

    request.give(answer, answer.finding_table(), report, gathered.losses, inputs=gathered.paths)


def _meant(words: list[str], kinds_of_options: set[str]) -> str:
    """The kind of what the paths are: what holds both a run and counters is a counter capture, unless asked."""
    from wavewright.readers.files.kinds import COUNTER_CAPTURES, RUNS, STORES_OF_COUNTERS

    if "run" in kinds_of_options:
        return "run"
    kinds = {word: _kind_of(word) for word in words}
    if any(kind in COUNTER_CAPTURES for kind in kinds.values()):
        return "counters"
    if any(_has_samples(word) for word in words):
        return "trace"
    if not kinds or not any(kind in RUNS for kind in kinds.values()):
        return "trace"
    if len(words) == 1 and _has_counters(Path(words[0]), kinds[words[0]]):
        if kinds[words[0]] in STORES_OF_COUNTERS:
            click.echo("note: this is about the counters in it; --run diagnoses the run itself", err=True)
        return "counters"
    return "run"


def _kind_of(word: str) -> Kind | None:
    from wavewright.errors import WavewrightError
    from wavewright.readers.files.kinds import sniff

    names = [word] if Path(word).exists() else sorted(glob.glob(word, recursive=True))[:1]  # noqa: PTH207 - patterns may be absolute
    try:
        return sniff(Path(names[0])) if names else None
    except (WavewrightError, OSError, ValueError):
        return None


def _has_samples(word: str) -> bool:
    """True if there are PC samples in the result files of a run."""
    from wavewright.readers.opening import samples_at

    return Path(word).exists() and bool(samples_at(Path(word)))


def _has_counters(path: Path, kind: Kind | None) -> bool:
    """True if a run holds hardware counters as well; folders are asked for their files."""
    from wavewright.errors import WavewrightError
    from wavewright.readers.counters import open_counters
    from wavewright.readers.files.kinds import STORES_OF_COUNTERS, Kind

    if kind not in (*STORES_OF_COUNTERS, Kind.RUN_FOLDER):
        return False
    try:
        return bool(open_counters(path).dispatches.height)
    except WavewrightError:
        return False


command = CommandOfKinds(
    "diagnose", {"trace": _traces, "counters": _of_counters, "run": _runs}, _meant, metavar="PATH..."
)
