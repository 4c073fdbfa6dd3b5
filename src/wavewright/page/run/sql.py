"""SQL typed on the page about a run: the first rows of a SELECT, the stop of one that runs, and what it can name.

The engine and its limits are those of `wavewright query` (`analysis.run.query`); here the rows are cut to what a
browser can hold, and made into values that JavaScript does not round.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from operator import attrgetter
from threading import Event, Lock
from typing import Any

import polars as pl

from wavewright.analysis.run.contents.views import VIEWS
from wavewright.analysis.run.query import run_query
from wavewright.analysis.run.query.catalog import catalog
from wavewright.analysis.run.query.result import QueryLimits
from wavewright.errors import UsageError
from wavewright.facts.loader import packaged
from wavewright.model.document import Document
from wavewright.model.run_tables import RUN
from wavewright.page.protocol.question import PageQuestion, no_answers
from wavewright.questions.kit.parameters import place, text

MOST_ROWS = 5_000  #: Rows of a result that are sent; `row_count` counts all.
MOST_BYTES = 8 << 20  #: Of these rows, as Polars estimates them.
LIMITS = QueryLimits()  #: Those of the command line.
_EXACT_MAX = 2**53  #: Greater integers are sent as text: a JavaScript number (a double) would round them.

#: Title -> SQL that works on every run.
EXAMPLES: dict[str, str] = packaged("sql_examples.toml", "wavewright.page.run")
_SWITCH_LOCK = Lock()  #: Requests run in threads: two at once could replace one switch, and one query would never stop.


class _StopSwitch:
    """The event that stops the query of a document which runs now: a document runs one query at a time."""

    def __init__(self) -> None:
        self.stop = Event()

    def replace(self) -> Event:
        """Stop the query that runs, if any; the event that stops the next one."""
        with _SWITCH_LOCK:
            self.stop.set()
            self.stop = Event()
            return self.stop


def _stop_switch(document: Document) -> _StopSwitch:
    """The switch of a document, which its parts of time (`document.whole` is set) share."""
    return (document.whole or document).kept(("run", "running query"), _StopSwitch)


def sql_of_run(document: Document, *, sql: str) -> Any:
    """The first rows of a SELECT (`analysis.run.query`), with the limits of the command line; stops the last query."""
    stop = _stop_switch(document).replace()
    start = time.monotonic()
    result = run_query(document.run, sql, limits=LIMITS, stop=stop)
    pieces: list[pl.DataFrame] = []
    row_count, byte_count, rows_left = 0, 0, MOST_ROWS
    is_full = False
    for piece in result.pieces:
        if stop.is_set():
            raise UsageError("the query was stopped before it was finished")
        row_count += piece.height
        if is_full:  # the rest is only counted
            continue
        rows = _fitting(piece.head(rows_left), MOST_BYTES - byte_count)
        is_full = rows.height < piece.height  # rows of later pieces would leave a hole behind them
        if rows.height or not pieces:
            pieces.append(rows)
            rows_left -= rows.height
            byte_count += int(rows.estimated_size())
    frame = pl.concat(pieces, how="vertical_relaxed")
    # `is_number` tells what can be drawn: it is of the SQL type, so also true of integers that are sent as text.
    return {
        "engine": result.engine,
        "seconds": time.monotonic() - start,
        "row_count": row_count,
        "columns": [{"name": name, "is_number": dtype.is_numeric()} for name, dtype in frame.schema.items()],
        "rows": list(zip(*(_values(column) for column in frame), strict=True)) if frame.width else [],
    }


def _fitting(rows: pl.DataFrame, room_bytes: int) -> pl.DataFrame:
    """The first rows, halved until they fit into the room; none if the first row alone is too long."""
    while rows.height and rows.estimated_size() > room_bytes:
        rows = rows.head(rows.height // 2)
    return rows


def _values(column: pl.Series) -> list[Any]:
    """Values that JavaScript shows unchanged: large integers, and types that it lacks, as text."""
    if column.dtype.is_integer() and column.len():
        low, high = column.min(), column.max()
        if low is not None and max(abs(int(low)), abs(int(high))) > _EXACT_MAX:  # type: ignore[arg-type]
            return column.cast(pl.String).to_list()
    if column.dtype.is_numeric() or column.dtype in (pl.String, pl.Boolean):
        return column.to_list()
    return column.cast(pl.String, strict=False).to_list()


def stop_sql(document: Document, *, turn: int = 0) -> Any:
    """Stop the query that runs; `turn` makes each request different, so that none is answered from a cache."""
    _stop_switch(document).replace()
    return {"is_stopped": True}


def schema_of_run(document: Document) -> Any:
    """Tables to select from: the stable views, the tables of every run, and those of this run's format."""
    of_view, of_table = attrgetter("name", "type", "unit", "meaning"), attrgetter("name", "dtype", "unit", "meaning")
    relations = [_relation(view.name, view.row, map(of_view, view.columns)) for view in VIEWS.values()]
    relations += [_relation(f"run.{table.name}", table.row, map(of_table, table.columns)) for table in RUN.values()]
    extras = document.run.extra_names
    relations += [_relation(f'run."{name}"', "a table of the recorded format, as it is", ()) for name in extras]
    contents = catalog(document.run)
    for name, row in contents.relations.filter(pl.col("kind") == "stored").select("name", "row").rows():
        stored_columns = contents.columns.filter(pl.col("relation") == name).drop("relation")
        relations.append(_relation(name, row, stored_columns.rows()))
    return {
        "relations": relations,
        "examples": list(EXAMPLES.items()),
        "limits": {"rows": LIMITS.rows, "mib": LIMITS.mib, "seconds": LIMITS.seconds, "sent_rows": MOST_ROWS},
    }


def _relation(name: str, row: str, columns: Iterable[Sequence[Any]]) -> dict[str, Any]:
    """A relation as the page lists it; each column is its name, type, unit and meaning."""
    return {"name": name, "row": row, "columns": [list(column) for column in columns]}


QUESTIONS = (  # an exported page cannot run SQL
    PageQuestion("run_sql", sql_of_run, {"sql": text}, required=("sql",), exported=no_answers, is_of_time=True),
    PageQuestion("run_sql_stop", stop_sql, {"turn": place}, exported=no_answers),
    PageQuestion("run_sql_schema", schema_of_run, exported=no_answers),
)
