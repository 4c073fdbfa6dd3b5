"""SQL of the page: the rows of `wavewright query`, bounded, stoppable, and nothing but reading."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import polars as pl
import pytest

from synth import Workload, write_rocpd_ranks
from tests.kit.small_runs import small_run
from wavewright.analysis.run.contents.views import VIEWS
from wavewright.analysis.run.query import query
from wavewright.analysis.run.query.result import QueryLimits
from wavewright.errors import UsageError
from wavewright.model.document import Document
from wavewright.page.payloads import ask
from wavewright.page.questions import questions_about
from wavewright.page.run import sql
from wavewright.readers.opening import open as open_path

ENDLESS = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT COUNT(*) FROM t"
FAR = 1_700_000_000_000_000_000


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Document:
    folder = tmp_path_factory.mktemp("run")
    write_rocpd_ranks(folder, Workload(dispatches=400, ranks=2, nodes=2, clock_offset_ns=FAR))
    return Document(0, "run", str(folder), lambda: open_path(folder))


@pytest.fixture
def small() -> Document:
    return Document(0, "small", "", small_run)


def _asked(document: Document, text: str, **given: str) -> dict:
    return json.loads(ask(document, "run_sql", {"sql": text, **given}).content)


@pytest.mark.slow
def test_every_example_gives_the_rows_of_the_command(document: Document) -> None:
    for text in sql.EXAMPLES.values():
        truth, shown = query(document.run, text), _asked(document, text)
        assert [column["name"] for column in shown["columns"]] == truth.columns
        assert shown["row_count"] == truth.height
        is_ordered = "ORDER BY" in text
        if is_ordered and truth.height and truth["name" if "name" in truth.columns else "start"].n_unique() > 1:
            assert shown["rows"][0][0] in (truth.row(0)[0], str(truth.row(0)[0]))


def test_numbers_beyond_those_of_javascript_are_exact(document: Document) -> None:
    shown = _asked(document, "SELECT MAX(start) AS last, COUNT(*) AS n FROM kernels")
    last, count = shown["rows"][0]
    assert int(last) == query(document.run, "SELECT MAX(start) AS last FROM kernels").item() > FAR
    assert isinstance(last, str)
    assert count == 400
    assert [column["is_number"] for column in shown["columns"]] == [True, True]


def test_only_the_first_rows_are_sent_and_all_are_counted(document: Document, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql, "MOST_ROWS", 7)
    shown = _asked(document, "SELECT * FROM kernels")
    assert (len(shown["rows"]), shown["row_count"]) == (7, 400)
    monkeypatch.setattr(sql, "MOST_BYTES", 1000)
    long = _asked(document, "SELECT repeat('x', 400) AS x FROM kernels")
    assert (len(long["rows"]) < 4, long["row_count"]) == (True, 400)
    empty = _asked(document, "SELECT name FROM kernels WHERE name = ''")
    assert (empty["rows"], empty["row_count"], empty["columns"][0]["name"]) == ([], 0, "name")


def test_rows_that_are_sent_have_no_hole(small: Document, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second of three pieces is cut by its bytes: rows of the third one would stand behind a hole."""
    pieces = [pl.DataFrame({"x": [f"{row:03}{'x' * 97}" for row in rows]}) for rows in (range(4), range(4, 8), (8,))]
    result = SimpleNamespace(engine="made", pieces=iter(pieces))
    monkeypatch.setattr(sql, "run_query", lambda *_args, **_options: result)
    monkeypatch.setattr(sql, "MOST_BYTES", int(pieces[0].estimated_size() * 1.8))
    shown = _asked(small, "SELECT x FROM t")
    assert [row[0][:3] for row in shown["rows"]] == ["000", "001", "002", "003", "004", "005"]
    assert shown["row_count"] == 9


def test_a_part_of_the_time_has_the_rows_of_that_part(document: Document) -> None:
    count = "SELECT COUNT(*) AS n FROM kernels"
    whole, part = _asked(document, count), _asked(document, count, begin="0", end="1")
    assert whole["rows"][0][0] == 400
    assert part["rows"][0][0] < 10


def test_an_error_says_where(small: Document) -> None:
    with pytest.raises(UsageError, match="nme") as error:
        _asked(small, "SELECT name,\n  nme FROM kernels")
    assert error.value.where == "line 2, column 3"
    with pytest.raises(UsageError, match="kernels") as error:
        _asked(small, "  SELECT name FRM kernels, 2")
    assert error.value.where == "line 1, column 19"


@pytest.mark.parametrize(
    "hostile",
    [
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM glob('/*')",
        "COPY (SELECT 1) TO '/tmp/wavewright-was-here'",
        "ATTACH '/tmp/wavewright-was-here.db' AS other",
        "INSTALL httpfs",
        "SELECT 1; DROP VIEW kernels",
        "CREATE TABLE x AS SELECT 1",
        "SET enable_external_access = true",
        "PRAGMA database_list",
        "SELECT load_extension('x')",
        "SELECT * FROM 'https://example.com/x.parquet'",
        "",
        "\0",
        "--",
        "SELECT '" + "x" * 5000,
    ],
)
def test_nothing_but_the_run_can_be_read(small: Document, hostile: str) -> None:
    with pytest.raises(UsageError):
        _asked(small, hostile)


def test_a_query_that_never_ends_is_ended(small: Document, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql, "LIMITS", QueryLimits(seconds=0.3))
    with pytest.raises(UsageError, match=r"longer than 0\.3 seconds"):
        _asked(small, ENDLESS)


@pytest.mark.first_case
@pytest.mark.parametrize("way", ["next", "stop"])
def test_a_query_is_stopped_by_the_next_one_or_by_the_user(small: Document, way: str) -> None:
    with ThreadPoolExecutor(1) as pool:
        endless = pool.submit(_asked, small, ENDLESS)
        time.sleep(1)
        if way == "next":
            assert _asked(small, "SELECT 1 AS n")["rows"] == [[1]]
        else:
            ask(small, "run_sql_stop", {})
        with pytest.raises(UsageError, match="stopped"):
            endless.result(timeout=600)


def test_the_schema_lists_views_and_tables_with_meanings(small: Document) -> None:
    schema = json.loads(ask(small, "run_sql_schema", {}).content)
    by_name = {relation["name"]: relation for relation in schema["relations"]}
    assert set(VIEWS) | {"run.dispatches"} <= set(by_name)
    name, kind, unit, meaning = next(each for each in by_name["kernels"]["columns"] if each[0] == "duration")
    assert (name, kind, unit, bool(meaning)) == ("duration", "BIGINT", "ns", True)
    assert schema["limits"]["rows"] == QueryLimits().rows
    # An exported page has no engine.
    assert not any(
        list(questions_about("run")[each].held(small)) for each in ("run_sql", "run_sql_stop", "run_sql_schema")
    )
