"""Verbs about thread traces that answer from PC samples where that is what they are given."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from wavewright.cli.kit.request import Parts
    from wavewright.cli.kit.trace import TraceRequest


def has_only_samples(request: TraceRequest) -> bool:
    """Whether the trace has PC samples and no instructions."""
    from wavewright.analysis.trace.about.requirements import has_only_samples as are_only_samples

    return are_only_samples(request.trace)


def give_sample_stalls(request: TraceRequest) -> None:
    """Why sampled waves did not issue; host-trap samples do not record it, and the error says what does."""
    from wavewright.analysis.trace.samples.stalls import sample_stalls

    answer = sample_stalls(request.trace, rows=request.rows)
    if answer.scope.unknown_count == answer.scope.sample_count:
        from wavewright.errors import UsageError
        from wavewright.words.trace.samples import STOCHASTIC

        what = "host-trap PC samples record where waves were, not whether or why they stalled"
        advice = f"wavewright hotspots and diagnose show where; reasons: {STOCHASTIC} (MI300 and later), or --att"
        raise UsageError(what, where=str(request.path), advice=advice)

    def report() -> Parts:
        from wavewright.words.trace.samples import sample_stalls_report

        return sample_stalls_report(answer, limit=request.limit)

    request.give(answer, answer.causes, report, request.trace.losses)


def give_sample_diagnosis(request: TraceRequest, file_format: str) -> None:
    """The causes that many samples have in common."""
    import polars as pl

    from wavewright.analysis.trace.samples.diagnosis import sample_diagnosis

    answer = sample_diagnosis(request.trace, rows=request.rows)
    if file_format == "md" and not (request.as_json or request.as_csv):
        from wavewright.words.trace.samples import sample_diagnosis_markdown

        click.echo(sample_diagnosis_markdown(answer, name=request.path.name), nl=False)
        return
    names = ("name", "verdict", "remedy", "sample_count", "share", "share_min", "share_max", "row_count")
    table = pl.DataFrame([{name: getattr(finding, name) for name in names} for finding in answer.findings])

    def report() -> Parts:
        from wavewright.words.trace.samples import sample_diagnosis_report

        return sample_diagnosis_report(answer, limit=request.limit)

    request.give(answer, table, report, request.trace.losses)
