"""`wavescope diagnose`: what should be changed first?"""

from __future__ import annotations

import click

from wavescope.cli._trace import Asked, trace_verb


@trace_verb
@click.option(
    "--format",
    "file_format",
    type=click.Choice(("text", "md")),
    default="text",
    show_default=True,
    help="md prints the plan as Markdown.",
)
def command(asked: Asked, file_format: str) -> None:
    """A prioritized plan: what costs most, why, what to do, and how much it can gain at most.

    It also says when the trace must not be trusted: cut off, waves that left early, too few waves.
    """
    from wavescope.analysis.diagnose import diagnose
    from wavescope.report.diagnose import diagnosis_markdown, diagnosis_report

    answer = diagnose(asked.trace, rows=asked.rows)
    if asked.as_json:
        asked.emit(answer)
    elif file_format == "md":
        click.echo(diagnosis_markdown(answer, name=asked.path.name), nl=False)
    else:
        asked.show(*diagnosis_report(answer, limit=asked.limit))
