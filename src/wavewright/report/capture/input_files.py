"""Objections to an input file of rocprofv3."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from wavewright.capture.inputs.checks import Level
from wavewright.report.kit.tables import printable, truncation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from wavewright.capture.inputs.checks import CheckedFile, Finding

_JOBS_SHOWN = 20
_KEY_CHARACTERS = 28  #: The longest key of rocprofv3 is not folded; one that somebody made up may be.
_STYLES = {Level.ERROR: "red", Level.WARNING: "yellow", Level.NOTE: "dim"}


def checks_report(file: CheckedFile) -> Iterator[RenderableType]:
    """The objections to the file and each job, and what to change."""
    yield Text(printable(f"{file.name}, {file.summary}"), style="bold")
    parts = [("the file as a whole", file.findings)]
    parts += [(f"job {job.number}", job.findings) for job in file.jobs]
    telling = [(title, findings) for title, findings in parts if findings]
    for title, findings in telling[:_JOBS_SHOWN]:
        yield Text()
        yield Text(title, style="bold")
        yield _table(findings)
    if len(telling) > _JOBS_SHOWN:
        yield Text(f"{truncation(_JOBS_SHOWN, len(telling), 'jobs')}; --json has all")


def _table(findings: Sequence[Finding]) -> Table:
    """Sentences are wrapped, never cut."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False, expand=True)
    table.add_column("", no_wrap=True)
    table.add_column("key", overflow="fold", max_width=_KEY_CHARACTERS)
    table.add_column("what it does", overflow="fold", ratio=4)
    table.add_column("remedy", overflow="fold", ratio=3)
    for finding in findings:
        level = Text(finding.level.value, style=_STYLES[finding.level])
        table.add_row(level, *(Text(printable(text)) for text in (finding.key, finding.sentence, finding.remedy)))
    return table
