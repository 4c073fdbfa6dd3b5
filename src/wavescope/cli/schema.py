"""`wavescope schema`: what can a query name?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from wavescope.cli.kit.io import console, emit_json, json_option

if TYPE_CHECKING:
    from wavescope.model.run import Run


@click.command()
@click.argument("paths", nargs=-1, type=click.Path())
@click.option("--view", "name", metavar="NAME", help="Only this view or table, with all columns: kernels, run.copies.")
@click.option("--csv", "as_csv", is_flag=True, help="Print one row per column as CSV instead of text.")
@json_option
def command(paths: tuple[str, ...], name: str | None, as_csv: bool, as_json: bool) -> None:
    """Which views, tables and columns can a query name?

    The stable views have the names and columns of AMD's ROCpd views, for every format; the tables of a run are in
    the schema `run`. With PATHS, also the extra tables of these files and what their databases store.

    \b
    wavescope schema
    wavescope schema --view kernels
    wavescope schema results.db
    """
    from wavescope.analysis.run.catalog import catalog
    from wavescope.report.run.catalog import catalog_report

    answer = catalog(_run(paths), name)
    if as_json:
        from wavescope.model.answer import to_builtins

        emit_json(to_builtins(answer))
    elif as_csv:
        from wavescope.base.csv import write_csv

        click.echo(write_csv(answer.columns), nl=False)
    else:
        out = console()
        for part in catalog_report(answer, is_whole=name is None, width=out.width):
            out.print(part)


def _run(paths: tuple[str, ...]) -> Run | None:
    from wavescope.readers.run.inputs import open_run

    return open_run(*paths) if paths else None
