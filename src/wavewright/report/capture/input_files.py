"""An input file of rocprofv3 explained, for the terminal and as JSON: per job what each key really does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from wavewright.base.words import counted
from wavewright.capture.inputs.findings import Level
from wavewright.capture.jobs.stored import wanted_values
from wavewright.report.kit.tables import printable, truncation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from wavewright.capture.inputs.explanation import ExplainedJob, Explanation
    from wavewright.capture.inputs.findings import Finding

JOBS_SHOWN = 20
_KEY_CHARACTERS = 28  #: The longest key of rocprofv3 is not folded; one that somebody made up may be.
_STYLES = {Level.ERROR: "red", Level.WARNING: "yellow", Level.NOTE: "dim"}


def explanation_report(explanation: Explanation, *, width: int, limit: int = JOBS_SHOWN) -> Iterator[RenderableType]:
    """What a release does with a file and with each job, and what to change; jobs alike are shown once."""
    yield Text(printable(f"{explanation.name}, {explanation.summary}"), style="bold")
    if explanation.findings:
        yield Text()
        yield Text("the file as a whole", style="bold")
        yield _table(explanation.findings)
    groups = _alike(explanation.jobs)
    for jobs in groups[:limit]:
        yield Text()
        yield Text(f"{_title(jobs)}: {_outcome(jobs[0])}", style="bold")
        if jobs[0].findings:
            yield _table(jobs[0].findings)
    if len(groups) > limit:
        yield Text()
        yield Text(f"{truncation(limit, len(groups), 'kinds of jobs')}; --json has all")


def _alike(jobs: Sequence[ExplainedJob]) -> list[list[ExplainedJob]]:
    """Jobs about which the same is said, in the order of the first of each; folders aside."""
    groups: dict[tuple[object, ...], list[ExplainedJob]] = {}
    for job in jobs:
        findings = tuple(finding for finding in job.findings if finding.key != "output_directory")
        groups.setdefault((job.is_run, findings), []).append(job)
    return list(groups.values())


def _title(jobs: Sequence[ExplainedJob]) -> str:
    if len(jobs) == 1:
        return f"job {jobs[0].number}"
    numbers = ", ".join(str(job.number) for job in jobs[:6]) + (", ..." if len(jobs) > 6 else "")
    return f"{counted(len(jobs), 'jobs')} ({numbers})"


def _outcome(job: ExplainedJob) -> str:
    if not job.is_run:
        return "not run"
    return "run as written" if job.is_as_meant else "run, but not as meant"


def _table(findings: Sequence[Finding]) -> Table:
    """Sentences are wrapped, never cut."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold", expand=True)
    table.add_column("", no_wrap=True)
    table.add_column("key", overflow="fold", max_width=_KEY_CHARACTERS)
    table.add_column("what it does", overflow="fold", ratio=4)
    table.add_column("remedy", overflow="fold", ratio=3)
    for finding in findings:
        level = Text(finding.level.value, style=_STYLES[finding.level])
        table.add_row(level, *(Text(printable(text)) for text in (finding.key, finding.sentence, finding.remedy)))
    return table


def explanation_json(explanation: Explanation) -> dict[str, Any]:
    """The same as values of JSON."""
    return {
        "file": explanation.name,
        "form": explanation.form,
        "rocm_version": explanation.release,
        "summary": explanation.summary,
        "is_refused": explanation.is_refused,
        "findings": [_finding(finding) for finding in explanation.findings],
        "jobs": [
            {
                "number": job.number,
                "is_run": job.is_run,
                "is_as_meant": job.is_as_meant,
                "folder": job.folder,
                "keys": {key: _plain(value) for key, value in job.keys.items()},
                "variables": job.variables,
                "findings": [_finding(finding) for finding in job.findings],
                "wanted": [wanted_values(wanted) for wanted in job.wanted],
            }
            for job in explanation.jobs
        ],
    }


def _finding(finding: Finding) -> dict[str, str]:
    return {
        "level": finding.level.value,
        "key": finding.key,
        "sentence": finding.sentence,
        "remedy": finding.remedy,
    }


def _plain(value: Any) -> Any:
    """A value of YAML as JSON has it: dates as texts, keys as texts."""
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)
