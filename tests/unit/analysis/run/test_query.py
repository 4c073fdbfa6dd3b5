"""SQL over runs: both engines agree, nothing but the run can be read, and only what is needed is loaded."""

from __future__ import annotations

import importlib.util
import json
import signal
from pathlib import Path

import polars as pl
import pytest

from synth import Workload, write_rocpd
from tests.cli.in_process import call
from tests.kit.together import together
from wavewright.analysis.run.contents.views import VIEWS
from wavewright.analysis.run.query import query, run_query
from wavewright.analysis.run.query.result import QueryLimits
from wavewright.errors import UsageError
from wavewright.model.run import MemorySource, Run
from wavewright.readers.run.inputs import open_run

ENGINES = ("duckdb", "sqlite")


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("query") / "run.db"
    write_rocpd(path, Workload(dispatches=200, ranks=2, gpus=2, hostile_names=True), schema="3.0.3")
    return path


@pytest.fixture(scope="module")
def run(database: Path) -> Run:
    return open_run(database)


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    if request.param == "duckdb":
        pytest.importorskip("duckdb")
    return str(request.param)


def rows(frame: pl.DataFrame) -> list[str]:
    return sorted(repr([float(f"{v:.12g}") if isinstance(v, float) else v for v in row]) for row in frame.rows())


@pytest.mark.slow
def test_engines_agree_on_every_view(run: Run) -> None:
    pytest.importorskip("duckdb")
    for view in VIEWS:
        first, second = (query(run, f"SELECT * FROM {view}", engine=engine) for engine in ENGINES)  # noqa: S608
        assert first.columns == second.columns == VIEWS[view].names
        assert rows(first) == rows(second), view


@pytest.mark.first_case
@together(
    "view",
    ["kernels", "top", "busy", "counters_collection", "events_args", "markers", "kernel_summary", "ktop", "copy"],
)
def test_views_of_nothing(view: str, engine: str) -> None:
    found = query(Run([]), f"SELECT * FROM {view}", engine=engine)  # noqa: S608 - ours
    assert found.columns == VIEWS[view].names
    assert found.is_empty()


def test_tables_of_the_run(run: Run, engine: str) -> None:
    found = query(run, "SELECT SUM(end_ns - start_ns) AS total, COUNT(*) AS n FROM run.dispatches", engine=engine)
    kernels = run.dispatches
    assert found.row(0) == ((kernels["end_ns"] - kernels["start_ns"]).sum(), kernels.height)
    copies = query(run, "SELECT * FROM run.copies", engine=engine)
    assert copies.columns == run.copies.columns


def test_markers_have_their_text(run: Run, engine: str) -> None:
    found = query(run, "SELECT name FROM markers", engine=engine)["name"].to_list()
    expected = [
        name for table in (run.regions, run.samples) for name in table.filter(pl.col("domain") == "MARKER")["name"]
    ]
    assert sorted(found) == sorted(expected)


@pytest.mark.first_case
@together(
    "sql",
    [
        "DELETE FROM kernels",
        "INSERT INTO run.nodes VALUES (1)",
        "UPDATE run.nodes SET node = 1",
        "CREATE TABLE x (a INTEGER)",
        "DROP VIEW kernels",
        "ATTACH '/tmp/x.db' AS other",
        "DETACH run",
        "COPY (SELECT 1) TO '/tmp/wavewright-query.csv'",
        "EXPORT DATABASE '/tmp/wavewright-query'",
        "PRAGMA database_list",
        "SET memory_limit = '1TB'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "CALL pragma_version()",
        "VACUUM INTO '/tmp/wavewright-query.db'",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM glob('/*')",
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM sniff_csv('/etc/passwd')",
        "SELECT getenv('HOME')",
        "SELECT load_extension('/tmp/x.so')",
        "SELECT readfile('/etc/passwd')",
        "SELECT writefile('/tmp/x', 'y')",
        "SELECT * FROM run",
        "SELECT 1; SELECT 2",
        "SELECT 1; DROP VIEW kernels",
        "SELEC 1",
        "SELECT nothing FROM kernels",
        "",
        ";",
        "-- nothing",
        "\0",
    ],
)
def test_what_is_no_question_about_the_run_is_refused(sql: str, engine: str, run: Run) -> None:
    with pytest.raises(UsageError) as refused:
        query(run, sql, engine=engine)
    assert "\n" not in refused.value.what
    assert not list(Path("/tmp").glob("wavewright-query*"))  # noqa: S108 - where a refused query wanted to write


def test_functions_of_sqlite_about_its_files_are_refused(run: Run) -> None:
    with pytest.raises(UsageError):
        query(run, "SELECT * FROM pragma_database_list", engine="sqlite")


def test_other_questions_are_answered(run: Run, engine: str) -> None:
    assert query(run, "SELECT 1 AS a, 2 AS a", engine=engine).columns == ["a", "a_1"]
    assert query(run, "SELECT 7 -- a comment", engine=engine).item() == 7
    assert query(run, "WITH t AS (SELECT pid FROM processes) SELECT COUNT(*) FROM t;", engine=engine).item() == 2
    assert query(run, "SELECT NULL AS x WHERE 1 = 0", engine=engine).columns == ["x"]
    assert query(run, "SELECT SUM(duration) * 1000000000000 AS big FROM kernels", engine=engine).height == 1


def test_questions_of_duckdb_about_names_and_shapes(run: Run) -> None:
    pytest.importorskip("duckdb")
    described = query(run, "DESCRIBE kernels", engine="duckdb")
    assert described["column_name"].to_list() == VIEWS["kernels"].names
    pids = ", ".join(map(str, run.processes["pid"]))
    turned = query(
        run,
        f"PIVOT (SELECT name, pid, duration FROM kernels) ON pid IN ({pids}) USING SUM(duration)",  # noqa: S608 - ours
        engine="duckdb",
    )
    assert turned.width == 1 + run.processes.height
    assert (
        turned.select(pl.sum_horizontal(pl.exclude("name").sum())).item()
        == (run.dispatches["end_ns"] - run.dispatches["start_ns"]).sum()
    )
    nested = query(
        run,
        "SELECT [1, NULL] AS a, {'k': 1} AS b, 1.5 AS c, INTERVAL 3 SECONDS AS d, 'x'::BLOB AS e, TRUE AS f",
        engine="duckdb",
    )
    assert nested.row(0) == ("[1, NULL]", "{'k': 1}", 1.5, "00:00:03", "x", True)


def test_extra_tables_can_be_queried(engine: str) -> None:
    extra = pl.DataFrame({"a": [3, 4], 'odd "name': ["x", None]})
    run = Run([MemorySource("x", "RPD", extras={"ext_callstack": extra})])
    found = query(run, 'SELECT SUM(a) AS a, MAX("odd ""name") AS b FROM run.ext_callstack', engine=engine)
    assert found.row(0) == (7, "x")
    assert query(run, "SELECT SUM(a) AS a FROM Ext_Callstack", engine=engine).item() == 7


def test_an_extra_table_does_not_hide_a_view_of_ours(engine: str) -> None:
    run = Run([MemorySource("x", "RPD", extras={"kernels": pl.DataFrame({"a": [3]})})])
    assert query(run, "SELECT COUNT(*) AS n FROM kernels", engine=engine).item() == 0
    assert query(run, "SELECT a FROM run.kernels", engine=engine).item() == 3


def test_only_needed_columns_are_loaded(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("duckdb")
    read: dict[str, list[str]] = {}
    whole = Run.read

    def noted(self: Run, table: str, columns: list[str] | None = None) -> pl.DataFrame:
        read[table] = columns or []
        return whole(self, table, columns)

    monkeypatch.setattr(Run, "read", noted)
    query(run, "SELECT name, SUM(duration) FROM kernels WHERE pid > 5 GROUP BY name", engine="duckdb")
    assert {table: set(columns) for table, columns in read.items()}["dispatches"] >= {
        "name",
        "start_ns",
        "end_ns",
        "process",
    }
    assert "properties" not in read["dispatches"]
    assert "regions" not in read


def test_a_runaway_query_can_be_stopped(run: Run, engine: str) -> None:
    endless = {
        "sqlite": "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT COUNT(*) FROM n",
        "duckdb": "SELECT SUM(a.range % (b.range + 1)) FROM range(1000000000) a, range(1000000000) b",
    }
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        with pytest.raises(KeyboardInterrupt):
            list(run_query(run, endless[engine], engine=engine).pieces)
    finally:
        signal.signal(signal.SIGALRM, before)


def test_huge_values_are_refused_by_sqlite(run: Run) -> None:
    with pytest.raises(UsageError, match="too big"):
        query(run, "SELECT LENGTH(ZEROBLOB(2000000000))", engine="sqlite")


@pytest.mark.slow
@pytest.mark.first_case
def test_verb_in_all_forms(database: Path, engine: str) -> None:
    sql = "SELECT name, COUNT(*) AS n FROM kernels GROUP BY name ORDER BY n DESC, name"
    text = call("query", database, sql, "--engine", engine, "--top", "2")
    assert text.status == 0
    assert text.stdout.startswith("showing 2 of ")
    table = call("query", database, sql, "--csv", "--engine", engine)
    found = json.loads(call("query", database, sql, "--json", "--engine", engine).stdout)
    assert found["engine"] == engine
    assert found["columns"] == ["name", "n"]
    assert pl.read_csv(table.stdout.encode()).height == found["row_count"] == len(found["rows"])
    assert sum(row["n"] for row in found["rows"]) == 200
    assert "\x1b" not in text.stdout
    cut = call("query", database, sql, "--csv", "--engine", engine, "--top", "1")
    assert pl.read_csv(cut.stdout.encode()).height == 1
    assert "showing 1 of" in cut.stderr


def test_verb_shows_wide_rows_one_below_the_other(database: Path) -> None:
    shown = call("query", database, "SELECT * FROM kernels")
    assert shown.stdout.startswith("showing 3 of 200 rows, 39 columns")
    assert "  dispatch_id          1" in shown.stdout


def test_verb_says_what_was_wrong(database: Path) -> None:
    refused = call("query", database, "DROP VIEW kernels")
    assert refused.status == 2
    assert "one SELECT is expected" in refused.stderr
    assert call("query", "/nowhere.db", "SELECT 1").status == 2


@together(
    "sql, meant",
    [
        ("SELECT nme FROM kernels", "did you mean name"),
        ("SELECT x.duraton FROM kernels x", "did you mean duration"),
        ("SELECT * FROM kernelz", "did you mean kernel, kernels"),
        ("SELECT * FROM run.dispatch", "did you mean run.dispatches"),
    ],
)
def test_refusals_say_what_may_have_been_meant(run: Run, engine: str, sql: str, meant: str) -> None:
    with pytest.raises(UsageError) as refusal:
        query(run, sql, engine=engine)
    assert refusal.value.advice.startswith(meant)
    if engine == "duckdb" and "nme" in sql:
        assert 'Candidate bindings: "name"' in str(refusal.value)


def test_verb_says_that_paths_come_first(database: Path) -> None:
    refused = call("query", "SELECT 1", database)
    assert refused.status == 2
    assert f"wavewright query {database} 'SELECT 1'" in refused.stderr


@pytest.mark.first_case
def test_events_have_the_rank_of_their_process(run: Run, engine: str) -> None:
    for view in ("kernels", "regions", "markers", "memory_copies", "memory_allocations", "api", "copy"):
        rows_by_rank = query(run, f"SELECT pid, rank FROM {view} GROUP BY pid, rank", engine=engine)  # noqa: S608
        processes = run.processes.select("pid", pl.col("rank").cast(pl.Int64)).rows()
        assert set(rows_by_rank.rows()) <= set(processes), view


def test_verb_answers_from_the_files_that_can_be_read(database: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.db").write_bytes(b"garbage")
    done = call("query", database, tmp_path / "bad.db", database, "SELECT COUNT(*) AS n FROM kernels", "--json")
    found = json.loads(done.stdout)
    assert found["rows"] == [{"n": 200}]  # the file that was named twice counts once
    assert {loss["kind"] for loss in found["losses"]} == {"unreadable_source"}


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT"
LONG = {"duckdb": "SELECT * FROM range(100000000000)", "sqlite": f"{ENDLESS} i FROM n"}
SLOW = {"duckdb": "SELECT count(*) FROM range(100000000000000)", "sqlite": f"{ENDLESS} count(*) FROM n"}
WIDE = {
    "duckdb": "SELECT repeat('x', 10000) FROM range(100000000000)",
    "sqlite": f"{ENDLESS} hex(zeroblob(5000)) FROM n",
}


@pytest.mark.parametrize(
    ("statements", "limits", "said"),
    [
        (LONG, QueryLimits(rows=50_000), "more than 50,000 rows; .*--max-rows"),
        (WIDE, QueryLimits(mib=3), "more than 3 MiB; .*--max-mib"),
        (SLOW, QueryLimits(seconds=0.1), "longer than 0.1 seconds; .*--max-seconds"),
    ],
)
def test_results_have_bounds(statements: dict[str, str], limits: QueryLimits, said: str, engine: str) -> None:
    with pytest.raises(UsageError, match=said):
        query(Run([]), statements[engine], engine=engine, limits=limits)


def test_bounds_that_are_met(engine: str) -> None:
    three = "SELECT 1 AS a UNION ALL SELECT 2 UNION ALL SELECT 3"
    limits = QueryLimits(rows=3, mib=1, seconds=600)
    assert query(Run([]), three, engine=engine, limits=limits)["a"].to_list() == [1, 2, 3]


def test_bounds_of_the_verb(database: Path, engine: str) -> None:
    done = call("query", database, LONG[engine], "--engine", engine, "--max-rows", 10)
    assert done.status == 2
    assert "the query returns more than 10 rows" in done.stderr
    assert "--max-rows" in done.stderr


def test_rows_without_pyarrow_are_the_same(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    statement = (
        "SELECT name, duration, sum(duration) OVER () AS total, start > 0 AS is_late, NULL AS nothing, "
        "1.5::DECIMAL(9, 2) AS fraction, DATE '2026-01-02' AS day, [1, 2] AS several FROM kernels"
    )
    expected = query(run, statement, engine="duckdb")
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "pyarrow" else find(name))
    assert query(run, statement, engine="duckdb").equals(expected)
