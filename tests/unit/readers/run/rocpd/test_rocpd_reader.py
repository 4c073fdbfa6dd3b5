"""What the ROCpd reader makes of odd, old, new, merged and damaged files."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.kit.together import together
from tests.unit.readers.run.rocpd.small_rocpd import GUID, OTHER, SmallRocpd
from wavewright.readers.run.event_rows import Lookup, LookupBuilder
from wavewright.readers.run.rocpd.environment import rank_of
from wavewright.readers.run.rocpd.layout import VERSIONS, stored_tables, suffix_of


@pytest.fixture
def file(tmp_path: Path) -> SmallRocpd:
    return SmallRocpd(tmp_path / "run.db")


def kinds(frame: pl.DataFrame) -> dict[str, int]:
    return dict(frame.select("kind", "count").iter_rows())


def test_a_kernel_with_everything(file: SmallRocpd) -> None:
    file.add("event", id=1, category_id=1, stack_id=5, parent_stack_id=4, correlation_id=3)
    file.kernel(event_id=1, region_name_id=1, grid_size_x=64, extdata='{"a": 1}')
    run = file.run()
    (row,) = run.dispatches.to_dicts()
    assert row["name"] == "gemm"
    assert (row["process"], row["thread"], row["agent"], row["symbol"], row["queue"]) == (0, 0, 0, 0, None)
    assert (row["start_ns"], row["end_ns"], row["grid_x"], row["properties"]) == (10, 15, 64, '{"a": 1}')
    assert (row["event"], row["correlation"], row["parent_correlation"], row["external_correlation"]) == (1, 5, 4, 3)
    assert row["graph_exec"] is None
    assert run.agents["cu_count"].to_list() == [304]
    assert run.processes.select("pid", "rank", "guid", "node").rows() == [(77, 3, GUID, 0)]
    assert run.losses.is_empty()


def test_environment_is_masked_unless_asked_for(file: SmallRocpd) -> None:
    assert file.run().environment.rows() == [(0, "RANK", "***"), (0, "TOKEN", "***")]
    assert file.run(show_secrets=True).environment["value"].to_list() == ["3", "secret"]


@together(
    "environment, rank",
    [
        ({"OMPI_COMM_WORLD_RANK": "2", "SLURM_PROCID": "0"}, 2),
        ({"FLUX_TASK_RANK": "7"}, 7),
        ({"RANK": "-1"}, None),
        ({"RANK": "x", "SLURM_PROCID": "99999999999"}, None),
        ({}, None),
    ],
)
def test_rank(environment: dict[str, str], rank: int | None) -> None:
    assert rank_of(environment) == rank


def test_markers_have_their_text_and_calls_their_function(file: SmallRocpd) -> None:
    for number, text in enumerate(['{"message":"step \\"1\\""}', '{"message": 5}', "{broken", None], 1):
        file.region(number, 9, {"id": number, "category_id": 4, "extdata": text}, name_id=5)
    file.region(5, 9, {"id": 5, "category_id": 2, "extdata": '{"message":"not a marker"}'}, name_id=3)
    regions = file.run().regions
    assert regions["name"].to_list() == ['step "1"', *["roctxRangePushA"] * 3, "hipLaunchKernel"]
    assert regions["function"].to_list() == [*["roctxRangePushA"] * 4, "hipLaunchKernel"]
    assert regions["domain"].to_list() == ["MARKER"] * 4 + ["HIP"]


@pytest.mark.parametrize("text", ['{"message":"\\ud800"}', '{"message":1}', '["message"]', '{"message":' + "[" * 9000])
def test_markers_whose_text_is_none(file: SmallRocpd, text: str) -> None:
    file.region(1, 9, {"id": 1, "category_id": 4, "extdata": text}, name_id=5)
    assert file.run().regions["name"].to_list() == ["roctxRangePushA"]


def test_lower_case_categories(file: SmallRocpd) -> None:
    file.add("string", id=40, string="rocm_hip_api")
    file.region(1, 2, {"id": 1, "category_id": 40}, name_id=3)
    assert file.run().regions.select("category", "domain").rows() == [("rocm_hip_api", "HIP")]


def test_unsound_times_count_as_calls_without_time(file: SmallRocpd) -> None:
    times = [(10, 12), (10, 5), (10, 0), (10, None), (-(2**62), 2**62 + 5), (1, 2**62)]
    for number, (start, end) in enumerate(times, 1):
        file.kernel(start, end, id=number)
    run = file.run()
    kernels = run.dispatches
    assert (kernels["end_ns"] - kernels["start_ns"]).to_list() == [2, 0, 0, 0, 0, 0]
    assert kinds(run.losses) == {"backward_times": 1, "unfinished_events": 2, "overflowing_times": 2}
    assert run.read("dispatches", ["end_ns"]).height == 6
    assert run.losses.height == 3  # read twice, lost once


def test_ids_with_holes_and_ids_that_lead_nowhere(file: SmallRocpd) -> None:
    for event, name in ((1000, 3), (5, 3), (7_000_000_000, 99)):
        file.region(1, 2, {"id": event, "category_id": 2, "stack_id": event * 2}, name_id=name)
    file.kernel(agent_id=44, kernel_id=6, event_id=6)
    run = file.run()
    assert run.regions["correlation"].to_list() == [2000, 10, 14_000_000_000]
    assert run.regions["name"].to_list() == ["hipLaunchKernel", "hipLaunchKernel", None]
    assert run.dispatches.select("agent", "name", "correlation").rows() == [(None, "gemm", None)]
    lost = run.losses.filter(pl.col("kind") == "dangling_rows")["message"].to_list()
    assert len(lost) == 3  # regions.name, regions.function, dispatches.agent
    assert any("dispatches.agent" in message for message in lost)


def test_runs_of_one_file_keep_their_ids_apart(tmp_path: Path) -> None:
    first, second = SmallRocpd(tmp_path / "two.db"), None
    first.kernel(agent_id=4)
    first.database.commit()
    second = SmallRocpd(tmp_path / "two.db", OTHER)
    second.database.execute(f'UPDATE "rocpd_info_kernel_symbol{second.suffix}" SET display_name = ?', ("other",))  # noqa: S608 - ours
    second.kernel(agent_id=4)
    run = second.run()
    assert run.dispatches.select("process", "agent", "symbol", "name").rows() == [
        (0, 0, 0, "gemm"),
        (1, 1, 1, "other"),
    ]
    assert run.processes["guid"].to_list() == [GUID, OTHER]


@pytest.mark.parametrize("guids", [(GUID,), (GUID, OTHER)])
def test_tables_without_suffix(tmp_path: Path, guids: tuple[str, ...]) -> None:
    file = SmallRocpd(tmp_path / "plain.db", suffix="")
    file.kernel()
    if len(guids) > 1:  # tables that somebody copied together: ids repeat, only the guid tells them apart
        database = file.database
        for table in ("info_process", "info_agent", "info_kernel_symbol", "kernel_dispatch"):
            columns = ", ".join(f'"{name}"' for name in file.tables[table].names[2:])
            database.execute(f'CREATE TABLE copy AS SELECT * FROM "rocpd_{table}"')  # noqa: S608 - ours
            database.execute(f'DROP TABLE "rocpd_{table}"')
            database.execute(f'CREATE TABLE "rocpd_{table}" AS SELECT * FROM copy')  # noqa: S608 - ours
            database.execute("DROP TABLE copy")
            statement = (
                f'INSERT INTO "rocpd_{table}" (id, guid, {columns}) SELECT id, ?, {columns} FROM "rocpd_{table}"'  # noqa: S608 - ours
            )
            database.execute(statement, (OTHER,))
    run = file.run()
    assert run.processes["guid"].to_list() == list(guids)
    assert run.dispatches["process"].to_list() == list(range(len(guids)))
    assert run.dispatches["symbol"].to_list() == list(range(len(guids)))


def test_views_are_not_believed(file: SmallRocpd) -> None:
    file.kernel()
    file.database.execute("CREATE VIEW rocpd_kernel_dispatch AS SELECT 1 AS id, 2 AS start, 3 AS end")
    file.database.execute("CREATE VIEW kernels AS SELECT * FROM nowhere")
    assert file.run().dispatches["start_ns"].to_list() == [10]


def test_missing_tables_are_told_and_the_rest_is_read(file: SmallRocpd) -> None:
    file.region(1, 2, {"id": 1, "category_id": 2}, name_id=3)
    for table in ("string", "event", "kernel_dispatch", "memory_copy"):
        file.database.execute(f'DROP TABLE "rocpd_{table}{file.suffix}"')
    run = file.run()
    assert run.dispatches.is_empty()
    assert run.regions.select("name", "category", "start_ns").rows() == [(None, None, 1)]
    assert {"rocpd_string", "rocpd_event", "rocpd_kernel_dispatch"} <= set(
        run.losses["message"][0].partition("lacks ")[2].split(", ")
    )


def test_schema_4_draft_finds_places_through_tracks(file: SmallRocpd) -> None:
    run = file.suffix
    for table, columns in {
        "track": "id INTEGER PRIMARY KEY, guid, nid, pid, tid, agent_id, queue_id, stream_id, name_id, extdata",
        "region": "id INTEGER PRIMARY KEY, guid, track_id, start, end, name_id, event_id, extdata",
        "kernel_dispatch": "id INTEGER PRIMARY KEY, guid, track_id, kernel_id, dispatch_id, start, end, event_id",
        "sample": "id INTEGER PRIMARY KEY, guid, track_id, timestamp, name_id, event_id, extdata",
        "info_category": "id INTEGER PRIMARY KEY, guid, name",
    }.items():
        file.database.execute(f'DROP TABLE IF EXISTS "rocpd_{table}{run}"')
        file.database.execute(f'CREATE TABLE "rocpd_{table}{run}" ({columns})')
    file.add("info_category", id=3, name="HIP_RUNTIME_API")
    file.add("track", id=12, nid=9, pid=77, tid=78, agent_id=4)
    file.add("event", id=1, category_id=3, stack_id=5)
    file.add("region", id=1, track_id=12, start=1, end=4, name_id=3, event_id=1)
    file.add("sample", id=1, track_id=12, timestamp=8, name_id=3, event_id=1)
    file.add("kernel_dispatch", id=1, track_id=12, kernel_id=6, dispatch_id=1, start=2, end=3, event_id=1)
    document = file.run()
    assert document.regions.select("process", "thread", "category", "name").rows() == [
        (0, 0, "HIP_RUNTIME_API", "hipLaunchKernel")
    ]
    assert document.dispatches.select("process", "thread", "agent", "correlation").rows() == [(0, 0, 0, 5)]
    assert document.samples.select("process", "thread", "name", "time_ns").rows() == [(0, 0, "hipLaunchKernel", 8)]


def test_counters_of_dispatches_and_of_moments(tmp_path: Path) -> None:
    file = SmallRocpd(tmp_path / "run.db", version="3.0.3")
    file.add("info_pmc", id=70, nid=9, pid=77, agent_id=4, name="SQ_WAVES", symbol="W", is_derived=0)
    file.add("track", id=1, nid=9, pid=77)
    file.add("event", id=1)
    file.add("event", id=2)
    file.add("sample", id=50, track_id=1, timestamp=1234)
    file.add("sample", id=51, track_id=1, timestamp=2345, event_id=2)
    file.add("pmc_event", event_id=1, pmc_id=70, value=8.0, xcc=1)
    file.add("pmc_event", event_id=1, sample_id=50, pmc_id=70, value=9.0)
    file.add("pmc_event", event_id=2, pmc_id=70, value=10.0)
    counters = file.run().counters
    assert counters.select("process", "counter", "time_ns", "value", "xcc").rows() == [
        (0, 0, None, 8.0, 1),
        (0, 0, 1234, 9.0, None),
        (0, 0, 2345, 10.0, None),
    ]


def test_arguments_of_several_processes_follow_their_call(file: SmallRocpd) -> None:
    file.add("info_process", id=90, nid=9, pid=90)
    file.region(1, 2, {"id": 1}, name_id=3)
    file.region(3, 4, {"id": 2}, name_id=3, pid=90)
    for event in (2, 1, 8):
        file.add("arg", event_id=event, position=0, type="int", name="n", value="1")
    assert file.run().arguments["process"].to_list() == [1, 0, None]


def test_tables_of_drafts_are_extras(file: SmallRocpd) -> None:
    file.database.execute(f'CREATE TABLE "rocpd_hip_event{file.suffix}" (id INTEGER, guid TEXT, cost REAL, what)')
    file.add("hip_event", id=1, cost=2.5, what="wait")
    run = file.run()
    assert run.extra_names == ["rocpd_hip_event"]
    assert run.table("rocpd_hip_event").rows() == [(0, 1, GUID, 2.5, "wait")]


def test_tables_can_be_read_at_the_same_time(file: SmallRocpd) -> None:
    file.kernel(5, 1)
    file.region(5, 1, {"id": 1}, name_id=3)
    run = file.run()
    pieces = zip(run.chunks("dispatches", ["end_ns"]), run.chunks("regions", ["end_ns"]), strict=True)
    assert [(a["end_ns"][0], b["end_ns"][0]) for a, b in pieces] == [(5, 5)]
    assert [row["message"].split("(")[1].split(")")[0] for row in run.losses.to_dicts()] == ["dispatches", "regions"]


def test_only_what_is_asked_for_is_read(file: SmallRocpd, monkeypatch: pytest.MonkeyPatch) -> None:
    file.kernel()
    run = file.run()
    read: dict[str, tuple[str, ...]] = {}
    database = run.origins[0].database  # type: ignore[attr-defined]
    chunks = database.chunks

    def noted(table: str, columns: dict[str, Any], **rows: int) -> Iterator[pl.DataFrame]:
        read[table.removesuffix(suffix_of(GUID))] = (*columns,)
        return chunks(table, columns, **rows)  # type: ignore[no-any-return]

    monkeypatch.setattr(database, "chunks", noted)
    run.read("dispatches", ["start_ns", "name"])
    assert read == {
        "rocpd_kernel_dispatch": ("id", "start", "kernel_id"),
        "rocpd_info_kernel_symbol": ("id", "display_name", "kernel_name"),
    }
    read.clear()
    assert run.read("copies", ["start_ns", "correlation"]).is_empty()
    assert read == {"rocpd_memory_copy": ("id",)}  # it is empty: no events are read for it


@together("ids", [[3, 4, 5], [5, 3, 4], [1, None, 9], [4, 4, 2], []])
def test_lookup_finds_the_first_row_of_an_id(ids: list[int | None]) -> None:
    keys = [None, *range(-1, 12), 2**62, -(2**63), 2**63 - 1]
    expected = [ids.index(key) if key in ids and key is not None else None for key in keys]
    assert Lookup.of(pl.Series(ids, dtype=pl.Int64)).rows(pl.Series(keys, dtype=pl.Int64)).to_list() == expected


def test_lookup_of_pieces() -> None:
    builder = LookupBuilder()
    for piece in ([1, 2], [3, 4], [7, 9]):
        builder.add(pl.Series(piece))
    assert builder.done().rows(pl.Series([1, 4, 5, 9])).to_list() == [0, 3, None, 5]


def test_layout_of_all_versions() -> None:
    names = [set(stored_tables(version)) for version in VERSIONS]
    assert all(one <= other for one, other in pairwise(names))
    assert len(names[0]) == 20
    for version in VERSIONS:
        seen: set[str] = set()
        for table in stored_tables(version).values():
            assert {column.target for column in table.columns if column.target} <= seen | {table.name}
            seen.add(table.name)
    assert stored_tables("3")["info_agent"].columns[4].choices == ("CPU", "GPU")
    assert stored_tables("3.0.1")["info_agent"].columns[4].choices == ("CPU", "GPU", "NIC")


def test_a_rank_of_thousands_of_digits_is_none() -> None:
    """Python refuses to make an integer of them."""
    assert rank_of(dict.fromkeys(("SLURM_PROCID", "PMIX_RANK"), "1" * 5000)) is None
