"""Rows of one SELECT over the stable views and the tables of a run, whatever its format.

The views (`kernels`, `regions`, `top`, ...) have AMD's names and columns; the tables of the run itself are in the
schema `run` (`run.dispatches`). DuckDB runs the query where it is installed, SQLite otherwise, and SQLite runs
what names tables and views that a database stores (`rocpd_op`).
"""

from __future__ import annotations

import importlib.util
from threading import Event

import polars as pl

from wavewright.analysis.run.query.duckdb_engine import duckdb_query, relations_in
from wavewright.analysis.run.query.file_tables import stored_names
from wavewright.analysis.run.query.result import Meter, QueryLimits, QueryResult
from wavewright.analysis.run.query.sqlite_engine import sqlite_query
from wavewright.analysis.run.query.tables_in_query import OUR_PREFIX, words_of
from wavewright.base.shown import is_text
from wavewright.errors import MissingToolError, UsageError
from wavewright.model.run import Run


def query(run: Run, sql: str, *, engine: str | None = None, limits: QueryLimits | None = None) -> pl.DataFrame:
    """All rows of one SELECT, as a frame; `wavewright schema` lists the views and tables that it can read.

    `engine` is `duckdb` or `sqlite`; None = DuckDB if it is installed. Raises `UsageError` when it is not one SELECT,
    cannot be run, or gives more than the limits allow; `MissingToolError` when DuckDB is asked for and not installed.
    """
    pieces = run_query(run, sql, engine=engine, limits=limits).pieces
    return pl.concat(list(pieces), how="vertical_relaxed", rechunk=True)


def run_query(
    run: Run, sql: str, *, engine: str | None = None, limits: QueryLimits | None = None, stop: Event | None = None
) -> QueryResult:
    """The result of `query` with its rows in chunks; setting `stop` ends the query."""
    if not is_text(sql):
        raise UsageError("the query contains bytes that are not text", advice="write it in UTF-8")
    meter = Meter(limits or QueryLimits(), stop)
    has_duckdb = importlib.util.find_spec("duckdb") is not None
    if engine == "duckdb" and not has_duckdb:
        raise MissingToolError("this needs duckdb", advice="pip install 'wavewright[sql]', or --engine sqlite")
    file_names = stored_names(run, (has_duckdb and relations_in(sql)) or words_of(sql))
    if file_names and engine == "duckdb":
        what = f"{', '.join(file_names.by_name) or 'sqlite_master'}: what files store is read by SQLite"
        raise UsageError(what, advice=f"leave out --engine duckdb; wavewright's own views are {OUR_PREFIX}top, ...")
    if engine == "sqlite" or file_names or not has_duckdb:
        return sqlite_query(run, sql, meter, file_names)
    return duckdb_query(run, sql, meter, file_names)
