"""`wavewright query`, `schema` and `tables`: rows of a run by SQL, what it can name, and what a run holds."""

from __future__ import annotations

import re
from io import BytesIO
from typing import Any

import click
import polars as pl

from wavewright.analysis.run.contents.run_contents import combine_contents, partial_contents
from wavewright.analysis.run.query import run_query
from wavewright.analysis.run.query.catalog import catalog
from wavewright.analysis.run.query.result import QueryLimits, QueryResult
from wavewright.base.csv import harmless
from wavewright.base.shown import command_line
from wavewright.cli.kit.form import current_brief
from wavewright.cli.kit.io import console, emit_json
from wavewright.cli.kit.request import ALL_ROWS, Parts, Request, say_rows_left_out
from wavewright.cli.kit.run import run_request
from wavewright.cluster.gather import gather
from wavewright.errors import UsageError
from wavewright.model.answer import to_builtins
from wavewright.model.run import Run
from wavewright.readers.run.inputs import find_runs, open_run

_SQL = re.compile(r"\s*(select|with|from|values|describe|desc|show|summarize|explain)\s", re.IGNORECASE)


def query(
    sql: str, engine: str | None, max_rows: int | None, max_mib: int | None, max_seconds: float | None, **options: Any
) -> None:
    """Answer a query."""
    request = run_request(options, is_whole=True)
    first_path = str(request.paths[0])
    if _SQL.match(first_path) and not _SQL.match(sql):
        command = command_line(["wavewright", "query", *request.paths[1:], sql, first_path])
        raise UsageError("the SQL comes last, after the paths", advice=command)
    files = find_runs(request.paths, with_passes=True, captures=request.captures)
    gathered = gather(_whole_run, files, selection=request.selection, asked=request.asked)
    run = Run([source for part in gathered.values for source in part.origins])
    usual = QueryLimits()
    seconds = usual.seconds if max_seconds is None else max_seconds
    limits = QueryLimits(max_rows or usual.rows, max_mib or usual.mib, seconds)
    result = run_query(run, sql, engine=engine, limits=limits)
    if request.as_json:
        rows, count = _first(result, request.top or ALL_ROWS)
    elif request.as_csv:
        _write_csv(result, request.top)
    else:
        _show(result, request.limit)
    # Reading the rows may have found more losses.
    losses = pl.concat([gathered.losses, run.losses]).unique(["path", "kind", "message"], maintain_order=True)
    if request.as_json:
        notes = {"notes": result.notes} if result.notes else {}
        body = {"columns": rows.columns, "row_count": count, "rows": to_builtins(rows.to_dicts())}
        emit_json({"engine": result.engine, **notes, **body}, inputs=gathered.paths, losses=losses.to_dicts())
        return
    for note in result.notes:
        click.echo(f"note: {note}", err=True)
    request.print_losses(losses, stderr=True)


def _whole_run(run: Run) -> Run:
    return run


def _write_csv(result: QueryResult, top: int | None) -> None:
    """The rows piece by piece, so that results of any size need little memory."""
    rows_left, row_count = top or ALL_ROWS, 0
    for number, piece in enumerate(result.pieces):
        lines = BytesIO()
        harmless(piece.head(rows_left)).write_csv(lines, include_header=number == 0)
        click.echo(lines.getvalue(), nl=False)
        rows_left -= min(rows_left, piece.height)
        row_count += piece.height
    say_rows_left_out(top or row_count, row_count)


def _show(result: QueryResult, limit: int) -> None:
    from wavewright.words.run.data.query import query_report

    shown, count = _first(result, limit)
    if brief := current_brief():
        from wavewright.cli.kit.brief import table_of

        brief.parts.append(table_of(shown, count))
        return
    out = console()
    for part in query_report(shown, count, width=out.width):
        out.print(part)


def _first(result: QueryResult, limit: int) -> tuple[pl.DataFrame, int]:
    """The first rows, and how many there are; of a result without rows its columns."""
    heads: list[pl.DataFrame] = []
    rows_left, row_count = limit, 0
    for piece in result.pieces:
        if rows_left or not heads:
            heads.append(piece.head(rows_left))
        rows_left -= min(rows_left, piece.height)
        row_count += piece.height
    return pl.concat(heads, how="vertical_relaxed"), row_count


def schema(paths: tuple[str, ...], name: str | None, **form: Any) -> None:
    """List views, tables and columns."""
    request = Request(paths=paths, **form)
    answer = catalog(open_run(*paths) if paths else None, name)

    def report() -> Parts:
        from wavewright.words.run.data.contents import catalog_report

        return catalog_report(answer, is_whole=name is None)

    request.give(answer, answer.columns, report, ())


def tables(show_secrets: bool, **options: Any) -> None:
    """List the tables of runs."""
    request = run_request(options)
    gathered = request.gather(partial_contents, show_secrets=show_secrets)
    answer = combine_contents(gathered.values)

    def report() -> Parts:
        from wavewright.words.run.data.contents import contents_report

        return contents_report(answer, limit=request.limit, show_secrets=show_secrets)

    request.give(answer, answer.tables_found, report, gathered.losses, inputs=gathered.paths)
