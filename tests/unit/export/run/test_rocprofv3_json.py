"""rocprofv3's JSON, written and read again: the events are those of the run; a real file keeps its own words."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import polars as pl
import pytest

from synth import Workload, write_rocpd
from wavewright.export.run.rocprofv3_json import write_rocprofv3_json
from wavewright.model.run import Run
from wavewright.readers.run.inputs import open_run

EVENTS = {
    "dispatches": ["name", "start_ns", "end_ns", "dispatch_id", "lds_bytes", "scratch_bytes", "vgpr_count"]
    + [f"{size}_{axis}" for size in ("workgroup", "grid") for axis in "xyz"],
    "copies": ["name", "start_ns", "end_ns", "size_bytes"],
    "regions": ["name", "start_ns", "end_ns"],
}


def events(run: Run, table: str) -> pl.DataFrame:
    frame = run.read(table, [*EVENTS[table], "process", "thread"])
    pids, tids = run.read("processes", ["pid"]).to_series(), run.read("threads", ["tid"]).to_series()
    named = frame.with_columns(
        pl.col("name").cast(pl.String), pid=pids.gather(frame["process"]), tid=tids.gather(frame["thread"])
    )
    chosen = named.select(*EVENTS[table], "pid", "tid")
    return chosen.sort(chosen.columns)


@pytest.mark.first_case
@pytest.mark.parametrize("is_hostile", [False, True])
def test_events_are_read_again(tmp_path: Path, is_hostile: bool) -> None:
    write_rocpd(tmp_path / "run.db", Workload(dispatches=200, ranks=2, hostile_names=is_hostile))
    run = open_run(tmp_path / "run.db")
    written = write_rocprofv3_json(run, tmp_path / "run_results.json")
    again = open_run(tmp_path / "run_results.json")
    assert again.origins[0].format == "rocprofv3 JSON"
    assert events(again, "dispatches").equals(events(run, "dispatches"))
    assert events(again, "copies").equals(events(run, "copies"))
    assert written.counts["kernel_dispatch"] == run.count("dispatches") == 200
    names = set(events(run, "regions")["name"])
    assert set(events(again, "regions")["name"]) | set(again.read("samples", ["name"])["name"].cast(pl.String)) >= names


def test_a_real_file_keeps_its_names(shared: Path, tmp_path: Path) -> None:
    path = shared / "data/rocprofv3-json-mi350x/908_first8000_results.json.gz"
    theirs = json.loads(gzip.decompress(path.read_bytes()))["rocprofiler-sdk-tool"][0]
    write_rocprofv3_json(open_run(path), tmp_path / "again_results.json")
    [ours] = json.loads((tmp_path / "again_results.json").read_text())["rocprofiler-sdk-tool"]
    assert ours["agents"] == theirs["agents"]
    assert ours["metadata"]["pid"] == theirs["metadata"]["pid"]
    kernels = [
        {each["kernel_id"]: each["formatted_kernel_name"] for each in process["kernel_symbols"]}
        for process in (ours, theirs)
    ]
    for one, other in zip(*(each["buffer_records"]["kernel_dispatch"] for each in (ours, theirs)), strict=True):
        info, their_info = one["dispatch_info"], other["dispatch_info"]
        assert kernels[0][info.pop("kernel_id")] == kernels[1][their_info.pop("kernel_id")]
        assert info.items() <= their_info.items()
        assert one["start_timestamp"] == other["start_timestamp"]
        assert one["thread_id"] == other["thread_id"]
    operations = {each["kind"]: each["operations"] for each in ours["strings"]["buffer_records"]}
    assert operations["KERNEL_DISPATCH"] == ["KERNEL_DISPATCH_COMPLETE"]


def test_runs_of_other_formats(shared: Path, tmp_path: Path) -> None:
    """A Kineto trace has no numbers of dispatches, threads of launches only, and operators."""
    run = open_run(shared / "data/kineto-amd/sglang_Qwen3-8B_decode.json.gz")
    write_rocprofv3_json(run, tmp_path / "out_results.json")
    again = open_run(tmp_path / "out_results.json")
    for table in ("dispatches", "copies"):
        columns = ["name", "start_ns", "end_ns"]
        ours, theirs = (
            each.read(table, columns).with_columns(pl.col("name").cast(pl.String)).sort(columns)
            for each in (again, run)
        )
        assert ours.equals(theirs), table
    assert again.count("dispatches") == 555
