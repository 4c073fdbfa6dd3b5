"""Checks of an input file of rocprofv3."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wavewright.base.words import truncation
from wavewright.capture.inputs.checks import CheckedFile, Finding, Level
from wavewright.model.blocks import GAP, AnyBlock, Cell, Sentence, Table, headline, sentence
from wavewright.words.kit.declared_tables import block_columns

_JOBS_SHOWN = 20  #: Jobs with findings.
_STYLES = {Level.ERROR: "red", Level.WARNING: "yellow", Level.NOTE: "dim"}
_COLUMNS = block_columns("capture/input_files/findings")


def checks_report(file: CheckedFile) -> Iterator[AnyBlock]:
    """Blocks of what speaks against the file and each job, and what to change."""
    yield headline(f"{file.name}, {file.summary}")
    parts = [("the file as a whole", file.findings)]
    parts += [(f"job {job.number}", job.findings) for job in file.jobs]
    with_findings = [(title, findings) for title, findings in parts if findings]
    for title, findings in with_findings[:_JOBS_SHOWN]:
        yield GAP
        yield sentence((title, "bold"))
        yield _table(findings)
    if len(with_findings) > _JOBS_SHOWN:
        yield Sentence(f"{truncation(_JOBS_SHOWN, len(with_findings), 'jobs')}; --json has all")


def _table(findings: Sequence[Finding]) -> Table:
    rows = tuple(
        (Cell(found.level.value, _STYLES[found.level]), found.key, found.sentence, found.remedy) for found in findings
    )
    return Table("", _COLUMNS, rows)
