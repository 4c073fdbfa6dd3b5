"""The readers of ROCpd and RPD give back the truth of synthetic runs."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from synth import Sums, SyntheticRun, Workload, write_rocpd, write_rocpd_ranks, write_rpd
from synth.rpd import COPY_OPERATIONS
from wavewright.model.run import Run
from wavewright.readers.run.inputs import open_run

RUNS = {
    "one rank": Workload(dispatches=300),
    "many ranks": Workload(dispatches=900, ranks=5, nodes=2, gpus=4, graphs=True, clock_offset_ns=7_000_000_000),
    "same pids": Workload(dispatches=400, ranks=3, nodes=3, same_pids=True, threads=1, streams=1),
    "hostile names": Workload(dispatches=900, hostile_names=True, target="gfx1201"),
}


def sums_of(frame: pl.DataFrame, *keys: str) -> dict[object, Sums]:
    duration = pl.col("end_ns") - pl.col("start_ns")
    rows = frame.group_by(pl.col(keys).cast(pl.String)).agg(
        pl.len(), duration.sum(), duration.min().alias("min"), duration.max().alias("max")
    )
    return {row[: len(keys)] if len(keys) > 1 else row[0]: Sums(*row[len(keys) :]) for row in rows.rows()}


def check(document: Run, run: SyntheticRun, *, copy_names: dict[str, str]) -> None:
    truth = run.total
    assert {table: document.read(table).height for table in truth.counts} == dict(truth.counts)
    assert sums_of(document.dispatches, "name") == truth.kernels
    copies = {copy_names.get(name, name): sums for name, sums in truth.copies.items()}
    assert sums_of(document.copies, "name") == copies
    assert sums_of(document.regions, "domain", "name") == truth.regions
    assert document.copies["size_bytes"].sum() == sum(truth.copied_bytes.values())
    marks = document.samples.group_by(pl.col("name").cast(pl.String)).len()
    assert dict(marks.iter_rows()) == dict(truth.marks)
    assert document.losses.is_empty()
    times = [document.dispatches["end_ns"].max(), document.regions["end_ns"].max(), document.copies["end_ns"].max()]
    assert max(int(str(time)) for time in times) == truth.end_ns


@pytest.mark.first_case
@pytest.mark.parametrize("schema", ["3", "3.0.3"])
@pytest.mark.parametrize("name", RUNS)
def test_rocpd(tmp_path: Path, name: str, schema: str) -> None:
    workload = RUNS[name]
    run = write_rocpd(tmp_path / "run.db", workload, schema=schema)
    document = open_run(str(run.paths[0]))
    check(document, run, copy_names={})
    assert sums_of(document.allocations, "level", "type") == run.total.allocations
    values = document.counters.join(document.counter_info, on="counter").group_by("name").agg(pl.col("value").sum())
    assert dict(values.iter_rows()) == dict(run.total.counters)
    assert document.processes["rank"].to_list() == list(range(workload.ranks))
    assert "secret" not in "".join(document.environment["value"])


def test_rocpd_of_many_files(tmp_path: Path) -> None:
    run = write_rocpd_ranks(tmp_path, RUNS["many ranks"])
    document = open_run(*map(str, run.paths))
    check(document, run, copy_names={})
    for part, truth in zip(document.parts, run.ranks, strict=True):
        assert sums_of(part.dispatches, "name") == truth.kernels


@pytest.mark.first_case
@pytest.mark.parametrize("schema", [2, 3])
@pytest.mark.parametrize("name", RUNS)
def test_rpd(tmp_path: Path, name: str, schema: int) -> None:
    run = write_rpd(tmp_path / "run.rpd", RUNS[name], schema=schema)
    check(open_run(str(run.paths[0])), run, copy_names=COPY_OPERATIONS)
