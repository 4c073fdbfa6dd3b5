"""Real recordings handed over to pandas, Arrow, polars, Hatchet and Pipit: nothing is lost on the way."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import pytest

from tests.kit.opened import open_run
from wavewright.model.run_tables import RUN

if TYPE_CHECKING:
    from pathlib import Path

RUNS = (
    "rpd/matmul_result.rpd",
    "att-mi300x-bmm/c01/raw/28_results.db",
    "kineto-amd/gaunernst_bert-small-uncased__1016001.json.gz",
)


@pytest.mark.parametrize("run", RUNS)
def test_every_table_in_every_form(shared: Path, run: str) -> None:
    pytest.importorskip("pandas", reason="pandas is not installed")
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    document = open_run(shared / "data" / run)
    polars, arrow, pandas = document.to_polars(), document.to_arrow(), document.to_pandas()
    assert set(RUN) <= set(polars) == set(arrow) == set(pandas)
    for name, frame in polars.items():
        assert arrow[name].num_rows == len(pandas[name]) == frame.height
        assert list(pandas[name].columns) == arrow[name].column_names == frame.columns
    kernels = pandas["dispatches"]
    assert (kernels["end_ns"] - kernels["start_ns"]).sum() == (
        document.dispatches["end_ns"] - document.dispatches["start_ns"]
    ).sum()
    assert kernels["name"].astype(str).to_list() == document.dispatches["name"].to_list()


@pytest.mark.parametrize("run", RUNS)
def test_gpu_time_is_all_in_the_call_tree(shared: Path, run: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip("hatchet", reason="hatchet is not installed")
        from wavewright.export.run.hatchet import to_hatchet

        document = open_run(shared / "data" / run)
        frame = to_hatchet(document).dataframe
    work = [document.dispatches.select("start_ns", "end_ns"), document.copies.select("start_ns", "end_ns")]
    assert frame["gpu_time"].sum() == sum(int((part["end_ns"] - part["start_ns"]).sum()) for part in work)
    regions = document.regions
    assert frame[frame["type"] == "region"]["count"].sum() == regions.height
    assert frame[frame["type"] == "region"]["time (inc)"].sum() == (regions["end_ns"] - regions["start_ns"]).sum()


@pytest.mark.parametrize("run", RUNS)
def test_every_event_is_entered_and_left(shared: Path, run: str) -> None:
    pytest.importorskip("pandas", reason="pandas is not installed")
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from wavewright.export.run.pipit import to_pipit

    document = open_run(shared / "data" / run)
    frame = to_pipit(document)
    counts = frame["Event Type"].value_counts()
    ranges = document.regions.height + document.dispatches.height + document.copies.height
    assert counts.get("Enter", 0) == counts.get("Leave", 0) == ranges
    assert counts.get("Instant", 0) == document.samples.height
    assert frame["Timestamp (ns)"].is_monotonic_increasing
