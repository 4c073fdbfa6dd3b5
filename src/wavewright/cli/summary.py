"""`wavewright summary`: its options."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wavewright.cli.kit.io import console
from wavewright.cli.kit.run import run_verb

if TYPE_CHECKING:
    from wavewright.analysis.run.contents.timed_events import Grouping
    from wavewright.cli.kit.request import Parts
    from wavewright.cli.kit.run import RunRequest

_GROUPINGS = ("file", "process", "rank", "gpu", "stream", "marker")


@run_verb
@click.option(
    "--by",
    type=click.Choice(_GROUPINGS),
    help="One group of rows per file, process, rank, GPU or stream, or per marker range around the launch.",
)
@click.option(
    "--rocpd-csv",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Write the tables of `rocpd summary`, same files and columns, into this folder, which must be new or empty.",
)
def command(request: RunRequest, by: Grouping | None, rocpd_csv: Path | None) -> None:
    """PATHS are databases, CSV or JSON files, folders of them, or patterns; all of them together give one answer."""
    from wavewright.analysis.run.contents.rocpd_summary import rocpd_summary
    from wavewright.analysis.run.contents.summary import combine_summary, partial_summary
    from wavewright.errors import UsageError
    from wavewright.export.run.rocpd_summary import write_rocpd_summary

    grouping: Grouping = by or "all"
    if rocpd_csv is not None and by is not None:
        raise UsageError("the tables of `rocpd summary` are not grouped", advice="leave out --by, or --rocpd-csv")
    gathered = request.gather(partial(partial_summary, by=grouping))
    answer = combine_summary(gathered.values, by=grouping)
    if rocpd_csv is not None:
        write_rocpd_summary(rocpd_summary(gathered.values), rocpd_csv)
    table = answer.things.select(answer.columns)

    def report() -> Parts:
        from wavewright.words.run.summary import summary_report

        is_window = request.selection.has_window
        return summary_report(answer, width=console().width, limit=request.limit, is_window=is_window)

    request.give(answer, table, report, gathered.losses, inputs=gathered.paths)
