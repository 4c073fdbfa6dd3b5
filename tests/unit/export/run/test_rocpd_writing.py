"""ROCpd files that are written: valid, complete, and read back as they were."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import polars as pl
import pytest

from tests.kit.run_equality import differences
from tests.kit.small_runs import small_run, small_source
from wavewright import UsageError
from wavewright.analysis.run.query import query
from wavewright.errors import WavewrightError
from wavewright.export.run.event_ids import EventIds
from wavewright.export.run.rocpd import write_rocpd
from wavewright.export.run.rocpd.sql_schema import VIEWS
from wavewright.model.run import MemorySource, Run
from wavewright.model.run_tables import RUN
from wavewright.model.schema import frame_of
from wavewright.readers.run.inputs import open_run

NOT_HELD = ("monitors", "frames")


def violations(path: Path) -> list[tuple[object, ...]]:
    with sqlite3.connect(path) as connection:
        return connection.execute("PRAGMA foreign_key_check").fetchall()


def rows_of_views(path: Path) -> dict[str, int]:
    with sqlite3.connect(path) as connection:
        return {name: len(connection.execute(f"SELECT * FROM {name}").fetchall()) for name in VIEWS}  # noqa: S608


def test_a_run_is_read_back_as_it_was(tmp_path: Path) -> None:
    whole = small_run()
    written = write_rocpd(whole, tmp_path / "run.db")
    back = open_run(written.path, show_secrets=True)
    assert differences(whole, back, NOT_HELD) == []
    assert violations(written.path) == []
    assert {name: written.counts[name] for name in ("dispatches", "regions", "counters")} == {
        "dispatches": 20,
        "regions": 60,
        "counters": 20,
    }
    assert sorted(loss.detail for loss in written.losses) == ["frames", "monitors"]


def test_all_views_work(tmp_path: Path) -> None:
    counts = rows_of_views(write_rocpd(small_run(), tmp_path / "run.db").path)
    assert counts["kernels"] == counts["memory_copies"] == counts["samples"] == counts["pmc_events"] == 20
    assert counts["regions"] == 60
    assert counts["processes"] == counts["threads"] == 2
    assert counts["top_kernels"] == 2
    assert counts["memory_allocations"] == 4


def test_summaries_say_what_the_views_of_every_run_say(tmp_path: Path) -> None:
    path = write_rocpd(small_run(), tmp_path / "run.db").path
    back = open_run(path)
    for view in ("kernel_summary", "kernel_summary_region", "memory_copy_summary", "memory_allocation_summary"):
        with sqlite3.connect(path) as connection:
            written = connection.execute(f"SELECT * FROM {view}").fetchall()  # noqa: S608 - our own names
        expected = query(back, f"SELECT * FROM {view}", engine="sqlite").rows()  # noqa: S608
        assert written, view
        assert [row[:3] for row in written] == [row[:3] for row in expected]
        for ours, theirs in zip(written, expected, strict=True):
            assert ours[3:] == pytest.approx(theirs[3:]), view


def test_the_same_run_twice_is_written_once(tmp_path: Path) -> None:
    both = Run([small_source("a.db"), small_source("b.db")])
    written = write_rocpd(both, tmp_path / "run.db")
    assert written.counts["dispatches"] == 20
    assert [loss.kind for loss in written.losses].count("duplicate_run") == 2


def test_runs_without_guid_get_one_of_their_content(tmp_path: Path) -> None:
    guids = []
    for name in ("a.db", "b.db"):
        source = small_source(name, guids=("", ""))
        path = write_rocpd(Run([source]), tmp_path / name).path
        guids.append(open_run(path).processes["guid"].to_list())
    assert guids[0] == guids[1]
    assert len(set(guids[0])) == 2
    assert all(len(guid) == 36 for guid in guids[0])


def test_a_poor_origin_gets_stand_ins(tmp_path: Path) -> None:
    """A format that knows names and times of dispatches and nothing else."""
    rows = [{"process": 0, "name": name, "start_ns": 10, "end_ns": 20} for name in ("a", "b", "a")]
    tables = {
        "processes": frame_of(RUN["processes"], [{"process": 0}]),
        "dispatches": frame_of(RUN["dispatches"], rows),
        "regions": frame_of(RUN["regions"], [{"process": 0, "name": "step", "domain": "MARKER", "start_ns": 5}]),
        "copies": frame_of(RUN["copies"], [{"name": "CopyHostToDevice", "start_ns": 5, "end_ns": 6}]),
    }
    path = write_rocpd(Run([MemorySource("poor.csv", "CSV", tables=tables)]), tmp_path / "run.db").path
    assert violations(path) == []
    back = open_run(path)
    assert back.dispatches["name"].to_list() == ["a", "b", "a"]
    assert back.dispatches["event"].n_unique() == 3
    assert back.regions.select("name", "domain").row(0) == ("step", "MARKER")
    counts = rows_of_views(path)
    assert (counts["kernels"], counts["regions"], counts["memory_copies"], counts["top_kernels"]) == (3, 1, 1, 2)


@pytest.mark.first_case
@pytest.mark.parametrize(
    "name", ["Robert'); DROP TABLE x;--", 'a"b`c', "nul\0inside", "line\nbreak\r\t\x1b[31m", "=1+1", "ü→🦊", ""]
)
def test_hostile_names_survive(tmp_path: Path, name: str) -> None:
    source = small_source()
    for table, column in (("symbols", "name"), ("dispatches", "name"), ("regions", "name"), ("arguments", "value")):
        dtype = RUN[table].dtypes[column]
        source.tables[table] = source.tables[table].with_columns(pl.lit(name).cast(dtype).alias(column))
    source.tables["processes"] = source.tables["processes"].with_columns(pl.lit(name).alias("command"))
    whole = Run([source])
    path = write_rocpd(whole, tmp_path / "run.db").path
    texts = {
        "regions.function",
        "regions.event_properties",
    }  # a marker without a text of its own is called like its function
    assert set(differences(whole, open_run(path, show_secrets=True), NOT_HELD)) <= texts
    assert violations(path) == []
    rows_of_views(path)


def test_events_that_collide_get_new_ids(tmp_path: Path) -> None:
    source = small_source()
    for table in ("dispatches", "copies"):  # as in formats that number calls and work each from 1
        frame = source.tables[table]
        source.tables[table] = frame.with_columns(pl.int_range(1, 11).append(pl.int_range(1, 11)).alias("event"))
    source.tables["counters"] = source.tables["counters"].with_columns(pl.col("event") - 40)
    path = write_rocpd(Run([source]), tmp_path / "run.db").path
    back = open_run(path)
    events = pl.concat(
        [back.read(table, ["process", "event"]) for table in ("dispatches", "copies", "regions", "samples")]
    )
    assert events.n_unique() == events.height
    assert back.counters.join(back.dispatches, on=["process", "event"], how="semi").height == 20
    assert back.arguments.join(back.regions, on=["process", "event"], how="semi").height == 20


def test_ids_of_events() -> None:
    ids = EventIds({"regions": pl.Series([7, 7, None]), "dispatches": pl.Series([7])})
    regions = (
        ids.of("regions", pl.Series([7, 7])).to_list() + ids.of("regions", pl.Series([None], dtype=pl.Int64)).to_list()
    )
    assert len({*regions, *ids.of("dispatches", pl.Series([7]))}) == 4


def test_dangling_rows_are_left_out_and_said(tmp_path: Path) -> None:
    source = small_source()
    source.tables["arguments"] = source.tables["arguments"].with_columns(pl.lit(9999, pl.Int64).alias("event"))
    written = write_rocpd(Run([source]), tmp_path / "run.db")
    assert written.counts["arguments"] == 0
    assert "dangling_rows" in [loss.kind for loss in written.losses]
    assert violations(written.path) == []


@pytest.mark.slow
def test_many_runs_have_one_view(tmp_path: Path) -> None:
    """SQLite allows 500 tables in one UNION."""
    sources = []
    for number in range(130):
        guid = f"00000000-0000-0000-0000-{number:012}"
        tables = {"processes": frame_of(RUN["processes"], [{"process": 0, "pid": number, "guid": guid}])}
        tables["dispatches"] = frame_of(RUN["dispatches"], [{"process": 0, "name": "k", "start_ns": 1, "end_ns": 3}])
        sources.append(MemorySource(f"{number}.db", "ROCpd", tables=tables))
    path = write_rocpd(Run(sources), tmp_path / "run.db").path
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT COUNT(*), SUM(end - start) FROM rocpd_kernel_dispatch").fetchone() == (
            130,
            260,
        )
        assert connection.execute("SELECT total_calls FROM top_kernels").fetchall() == [(130,)]


def test_nothing_is_replaced_unless_asked(tmp_path: Path) -> None:
    path = write_rocpd(small_run(), tmp_path / "run.db").path
    with pytest.raises(UsageError, match="--force"):
        write_rocpd(small_run(), path)
    assert write_rocpd(Run([]), path, force=True).rows == 0


def test_what_stops_the_reading_leaves_nothing(tmp_path: Path) -> None:
    class Broken(MemorySource):
        def chunks(self, table, columns):  # type: ignore[no-untyped-def]
            if table == "dispatches":
                what = "the disk is gone"
                raise WavewrightError(what)
            return super().chunks(table, columns)

    with pytest.raises(WavewrightError, match="the disk is gone"):
        write_rocpd(Run([Broken("x", "y", tables=small_source().tables)]), tmp_path / "run.db")
    assert list(tmp_path.iterdir()) == []
