"""rocprofv3's CSV files out of runs: read back by our reader and by pandas."""

from __future__ import annotations

import csv
from pathlib import Path

import polars as pl
import pytest

from synth import SyntheticRun, Workload, write_rocpd, write_rocpd_ranks, write_rpd
from wavewright.errors import UsageError
from wavewright.export.run.csv import write_csv
from wavewright.model.run import MemorySource, Run
from wavewright.readers.run.inputs import open_run

RUN = Workload(dispatches=900, ranks=3, nodes=2, gpus=4, graphs=True, same_pids=True)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> SyntheticRun:
    return write_rocpd(tmp_path_factory.mktemp("run") / "run.db", RUN, schema="3.0.3")


@pytest.fixture(scope="module")
def folder(run: SyntheticRun, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_csv(open_run(str(run.paths[0])), tmp_path_factory.mktemp("out") / "csv").path


def header(path: Path) -> list[str]:
    with path.open(newline="") as stream:
        return next(csv.reader(stream))


EVENTS = {
    "dispatches": "process name start_ns end_ns dispatch_id correlation workgroup_x grid_y lds_bytes vgpr_count",
    "copies": "process name start_ns end_ns size_bytes correlation",
    "allocations": "process type level start_ns end_ns size_bytes address correlation",
    "regions": "process category domain name start_ns end_ns correlation",
    "samples": "process domain name time_ns correlation",
}


def rows(run: Run, table: str) -> list[tuple[object, ...]]:
    """Rows with the guid of their process; an address that is not known is 0 or null."""
    frame = run.read(table, EVENTS[table].split()).with_columns(pl.col(pl.Categorical).cast(pl.String))
    if "address" in frame.columns:
        frame = frame.with_columns(pl.col("address").replace(0, None))
    return sorted(frame.join(run.processes.select("process", "guid"), on="process").drop("process").rows(), key=repr)


@pytest.mark.first_case
@pytest.mark.parametrize("table", EVENTS)
def test_our_reader_gives_the_rows_back(run: SyntheticRun, folder: Path, table: str) -> None:
    before, after = open_run(str(run.paths[0])), open_run(str(folder))
    assert rows(after, table) == rows(before, table)
    assert set(after.processes["guid"]) == set(before.processes["guid"])


def test_counters_and_agents_come_back(run: SyntheticRun, folder: Path) -> None:
    after = open_run(str(folder))
    values = after.counters.join(after.counter_info.select("counter", "name"), on="counter")
    assert dict(values.group_by("name").agg(pl.col("value").sum()).iter_rows()) == dict(run.total.counters)
    gpus = after.agents.filter(kind="GPU")
    assert gpus["target"].unique().to_list() == ["gfx942"]
    assert gpus["cu_count"].unique().to_list() == [304]


def test_pandas_reads_numbers_as_numbers(run: SyntheticRun, folder: Path) -> None:
    pandas = pytest.importorskip("pandas")
    kernels = pandas.read_csv(folder / "out_kernel_trace.csv")
    assert len(kernels) == run.total.counts["dispatches"]
    total = int((kernels["End_Timestamp"] - kernels["Start_Timestamp"]).sum())
    assert total == sum(sums.total_ns for sums in run.total.kernels.values())
    assert kernels["Workgroup_Size_X"].dtype == "int64"
    for _, process in kernels.groupby("Guid"):
        assert process["Start_Timestamp"].is_monotonic_increasing
    copies = pandas.read_csv(folder / "out_memory_copy_trace.csv")
    assert int(copies["Copy_Bytes"].sum()) == sum(run.total.copied_bytes.values())


def test_columns_are_those_of_rocprofv3(folder: Path) -> None:
    assert header(folder / "out_hip_api_trace.csv") == [
        "Guid", "Domain", "Function", "Process_Id", "Thread_Id", "Correlation_Id", "Start_Timestamp", "End_Timestamp"
    ]  # fmt: skip
    assert header(folder / "out_kernel_trace.csv")[:10] == [
        "Guid", "Kind", "Agent_Id", "Queue_Id", "Stream_Id", "Thread_Id", "Dispatch_Id", "Kernel_Id", "Kernel_Name",
        "Correlation_Id",
    ]  # fmt: skip
    assert len(header(folder / "out_agent_info.csv")) == 1 + 53 + 1


def test_columns_of_real_files_are_kept(folder: Path, shared: Path) -> None:
    real = shared / "data" / "rocprofv3-mi350x-flydsl"
    for name in ("kernel_trace", "agent_info"):
        theirs = header(next(real.rglob(f"*_{name}.csv")))
        ours = header(folder / f"out_{name}.csv")
        assert [column for column in ours if column in theirs] == theirs


def test_texts_are_texts_for_spreadsheets(tmp_path: Path) -> None:
    path = write_rocpd(tmp_path / "run.db", Workload(dispatches=900, hostile_names=True)).paths[0]
    written = write_csv(open_run(str(path)), tmp_path / "csv")
    with (written.path / "out_kernel_trace.csv").open(newline="") as stream:
        names = {row["Kernel_Name"] for row in csv.DictReader(stream)}
    assert not [name for name in names if name.startswith(("=", "+", "-", "@", "\t", "\r"))]
    assert any(name.startswith("'=HYPERLINK") for name in names)
    assert any("\n" in name for name in names), "what is in a name stays in it"
    assert len(names) == len(open_run(str(path)).dispatches["name"].unique())


def test_rpd_and_what_has_no_place(tmp_path: Path) -> None:
    run = write_rpd(tmp_path / "run.rpd", Workload(dispatches=300, ranks=2))
    written = write_csv(open_run(str(run.paths[0])), tmp_path / "csv")
    left = {loss.detail: loss.count for loss in written.losses if loss.kind == "not_in_format"}
    assert left["monitors"] == run.total.counts["monitors"]
    after = open_run(str(written.path))
    assert after.dispatches.height == 300
    assert sorted(after.processes["pid"]) == [4000, 4064]


def test_runs_of_several_files_are_in_the_same_files(tmp_path: Path) -> None:
    run = write_rocpd_ranks(tmp_path / "ranks", RUN)
    written = write_csv(open_run(*map(str, run.paths)), tmp_path / "csv")
    assert written.counts["dispatches"] == 900
    after = open_run(str(written.path))
    assert after.dispatches.height == 900
    assert after.processes.height == 3
    assert after.agents.filter(kind="GPU").height == 3 * 4


def test_nothing_and_an_existing_folder(tmp_path: Path) -> None:
    empty = Run([MemorySource("x", "made")])
    assert [path.name for path in write_csv(empty, tmp_path / "a").path.iterdir()] == ["out_agent_info.csv"]
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "mine.txt").write_text("mine")
    with pytest.raises(UsageError):
        write_csv(empty, tmp_path / "b", force=True)
    write_csv(empty, tmp_path / "a", force=True)


def test_agents_of_processes_that_are_not_known(run: SyntheticRun, tmp_path: Path) -> None:
    document = open_run(str(run.paths[0]))
    agents = document.agents.with_columns(process=pl.lit(None, pl.UInt32), source=pl.lit(0, pl.UInt32))
    alone = Run([MemorySource(path="x", format="ROCpd", tables={"agents": agents.drop("source")})])
    written = write_csv(alone, tmp_path / "csv")
    assert written.counts["agents"] == agents.height
