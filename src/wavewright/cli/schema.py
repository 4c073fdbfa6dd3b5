"""`wavewright schema`: what can a query name?"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from wavewright.cli.kit.io import console, with_options
from wavewright.cli.kit.request import Request, form_options

if TYPE_CHECKING:
    from wavewright.cli.kit.request import Parts
    from wavewright.model.run import Run


@click.command()
@click.argument("paths", nargs=-1, type=click.Path())
@click.option("--view", "name", metavar="NAME", help="Only this view or table, with all columns: kernels, run.copies.")
@partial(with_options, options=form_options)
def command(paths: tuple[str, ...], name: str | None, **form: Any) -> None:
    """Which views, tables and columns can `wavewright query` use?

    The stable views have the names and columns of AMD's ROCpd views and of RPD's, for every format; the tables of a
    run are in the schema `run`. With PATHS, also the extra tables of these files and what their databases store.

    \b
    wavewright schema
    wavewright schema --view kernels
    wavewright schema results.db
    """
    from wavewright.analysis.run.contents.catalog import catalog

    request = Request(paths=paths, **form)
    answer = catalog(_run(paths), name)

    def report() -> Parts:
        from wavewright.words.run.catalog import catalog_report

        return catalog_report(answer, is_whole=name is None, width=console().width)

    request.give(answer, answer.columns, report, ())


def _run(paths: tuple[str, ...]) -> Run | None:
    from wavewright.readers.run.inputs import open_run

    return open_run(*paths) if paths else None
