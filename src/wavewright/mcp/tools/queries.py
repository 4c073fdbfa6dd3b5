"""The tools `query` and `schema`: one SELECT over the stable views of a run, and the views and columns it can name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any

import polars as pl

from wavewright.base.words import counted
from wavewright.errors import UsageError
from wavewright.mcp.captures import Captures
from wavewright.mcp.declared import USUAL_ROWS
from wavewright.mcp.reply import Offer, Reply
from wavewright.mcp.rows import Rows, cursor, rows_of, start_of
from wavewright.mcp.topic_answers import reply_of
from wavewright.model.blocks import Block, Column, Sentence, Table
from wavewright.model.document import DOCUMENTS
from wavewright.model.report import Section

_MOST_ROWS, _MOST_MIB, _MOST_SECONDS = 1_000_000, 256, 60.0


def query(captures: Captures, arguments: dict[str, Any], say: Callable[[str], None]) -> Reply:
    """The rows of a SELECT."""
    from wavewright.analysis.run.query import run_query
    from wavewright.analysis.run.query.result import QueryLimits

    capture = captures.get(arguments["capture"])
    say(f"reading {capture.name}")
    document = captures.document(capture)
    if document.kind != "run":
        what = f"query is about runs, and {capture.handle} is {DOCUMENTS[document.kind]}"
        raise UsageError(what, where=capture.name, advice="hotspots, source and counters have its tables")
    say("running the query")
    start = start_of("query", arguments)
    limit = arguments.get("limit", USUAL_ROWS)
    limits = QueryLimits(_MOST_ROWS, _MOST_MIB, _MOST_SECONDS)
    result = run_query(document.run, arguments["sql"], limits=limits)
    frame, count = _page(result.pieces, start, limit)
    rows = replace(rows_of("rows", frame, limit=limit), total=count, start=start)
    headline = counted(count, "rows")
    notes = [Sentence(note) for note in result.notes]
    blocks: tuple[Block, ...] = (Sentence(headline, "headline"), *notes, _table(rows))
    section = Section("query", "Rows", "Which rows does this SQL give?", blocks)
    reply = reply_of(section, capture, document, limit=limit)
    return replace(
        reply,
        tables=(rows,),
        offers=(Offer("schema", {"capture": capture.handle}, "views and tables that a query can name"),),
        cursor_of=partial(cursor, "query", arguments),
    )


def schema(captures: Captures, arguments: dict[str, Any], say: Callable[[str], None]) -> Reply:
    """The views and tables that a query can name, or the columns of one of them."""
    from wavewright.analysis.run.query.catalog import catalog

    run, capture = None, None
    if arguments.get("capture"):
        capture = captures.get(arguments["capture"])
        say(f"reading {capture.name}")
        document = captures.document(capture)
        run = document.run if document.kind == "run" else None
    view = arguments.get("view")
    answer = catalog(run, view)
    frame = answer.columns.drop("relation") if view else answer.relations
    start = start_of("schema", arguments)
    rows = rows_of("columns" if view else "views", frame, start=start, limit=arguments.get("limit", 50))
    headline = f"{view} has {counted(frame.height, 'columns')}" if view else counted(frame.height, "views and tables")
    section = Section("schema", "Schema", "What can a query name?", (Sentence(headline, "headline"), _table(rows)))
    about = {"capture": capture.handle} if capture else {}
    offers = [Offer("schema", {"view": "kernels", **about}, "the columns of a view")] if not view else []
    if capture:
        select = f"SELECT * FROM {view or 'top'} LIMIT 5"  # noqa: S608 - a text that is offered, not run
        offers.append(Offer("query", {"capture": capture.handle, "sql": select}, "some of its rows"))
    return Reply(
        headline,
        (section,),
        (rows,),
        capture.handle if capture else None,
        offers=tuple(offers),
        cursor_of=partial(cursor, "schema", arguments),
    )


def _page(pieces: Iterable[pl.DataFrame], start: int, limit: int) -> tuple[pl.DataFrame, int]:
    """At most `limit` rows from row `start` on, and the number of all rows."""
    parts: list[pl.DataFrame] = []
    count = 0  # rows of the pieces so far
    for piece in pieces:
        first = max(start - count, 0)
        missing = max(start + limit - max(count, start), 0)
        if (missing and first < piece.height) or not parts:  # the first one has at least the columns
            parts.append(piece.slice(first, missing))
        count += piece.height
    return pl.concat(parts, how="vertical_relaxed"), count


def _table(rows: Rows) -> Table:
    columns = tuple(Column(name, is_name=True) for name in rows.columns)
    texts = tuple(tuple("" if value is None else str(value) for value in row) for row in rows.rows)
    return Table("", columns, texts, rows.total)
