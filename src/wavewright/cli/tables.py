"""`wavewright query`, `schema` and `tables`: rows of a run by SQL, what it can name, and what a run holds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
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
    sql: str,
    engine: str | None,
    max_rows: int | None,
    max_mib: int | None,
    max_seconds: float | None,
    **options: Any,
) -> None:
    """Answer a query."""
    request = run_request(options, is_whole=True)
    _check_order(request.paths, sql)
    gathered = gather(
        _itself,
        find_runs(request.paths, with_passes=True, captures=request.captures),
        selection=request.selection,
        asked=request.asked,
    )
    run = Run([source for part in gathered.values for source in part.origins])
    usual = QueryLimits()
    seconds = usual.seconds if max_seconds is None else max_seconds
    limits = QueryLimits(max_rows or usual.rows, max_mib or usual.mib, seconds)
    result = run_query(run, sql, engine=engine, limits=limits)
    if request.as_json:
        body = _json_rows(result, request.top)
    elif request.as_csv:
        _write_csv(result, request.top)
    else:
        _show(result, request.limit)
    losses = pl.concat([gathered.losses, run.losses]).unique(["path", "kind", "message"], maintain_order=True)
    if request.as_json:
        notes = {"notes": result.notes} if result.notes else {}
        emit_json({"engine": result.engine, **notes, **body}, inputs=gathered.paths, losses=losses.to_dicts())
    else:
        for note in result.notes:
            click.echo(f"note: {note}", err=True)
        request.print_losses(losses, stderr=True)


def _itself(run: Run) -> Run:
    return run


def _check_order(paths: Sequence[str | Path], sql: str) -> None:
    """An error that says how, where the SQL comes before the paths."""
    if _SQL.match(sql) or not _SQL.match(str(paths[0])):
        return
    others = command_line([*paths[1:], sql, paths[0]])
    raise UsageError("the SQL comes last, after the paths", advice=f"wavewright query {others}")


def _json_rows(result: QueryResult, top: int | None) -> dict[str, object]:
    columns, shown, count = _first(result, top or ALL_ROWS)
    return {"columns": columns, "row_count": count, "rows": to_builtins(shown.to_dicts())}


def _write_csv(result: QueryResult, top: int | None) -> None:
    """The rows piece by piece, so that results of any size need little memory."""
    left, count = top or ALL_ROWS, 0
    for number, piece in enumerate(result.pieces):
        lines = BytesIO()
        harmless(piece.head(left)).write_csv(lines, include_header=number == 0)
        click.echo(lines.getvalue(), nl=False)
        left -= min(left, piece.height)
        count += piece.height
    say_rows_left_out(top or count, count)


def _show(result: QueryResult, limit: int) -> None:
    from wavewright.words.run.data.query import query_report

    _, shown, count = _first(result, limit)
    if brief := current_brief():
        from wavewright.cli.kit.brief import table_of

        brief.add(table_of(shown, count))
        return
    out = console()
    for part in query_report(shown, count, width=out.width):
        out.print(part)


def _first(result: QueryResult, limit: int) -> tuple[list[str], pl.DataFrame, int]:
    """The names of the columns, the first rows, and how many there are."""
    heads: list[pl.DataFrame] = []
    left, count = limit, 0
    for piece in result.pieces:
        if left or not heads:
            heads.append(piece.head(left))
        left -= min(left, piece.height)
        count += piece.height
    shown = pl.concat(heads, how="vertical_relaxed")
    return shown.columns, shown, count


def schema(paths: tuple[str, ...], name: str | None, **form: Any) -> None:
    """List views, tables and columns."""
    request = Request(paths=paths, **form)
    answer = catalog(_run_at(paths), name)

    def report() -> Parts:
        from wavewright.words.run.data.catalog import catalog_report

        return catalog_report(answer, is_whole=name is None)

    request.give(answer, answer.columns, report, ())


def _run_at(paths: tuple[str, ...]) -> Run | None:
    return open_run(*paths) if paths else None


def tables(show_secrets: bool, **options: Any) -> None:
    """List the tables of runs."""
    request = run_request(options)
    gathered = request.gather(partial_contents, show_secrets=show_secrets)
    answer = combine_contents(gathered.values)

    def report() -> Parts:
        from wavewright.words.run.data.contents import contents_report

        return contents_report(answer, limit=request.limit, show_secrets=show_secrets)

    request.give(answer, answer.tables_found, report, gathered.losses, inputs=gathered.paths)
