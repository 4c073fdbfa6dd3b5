"""Real recordings handed over to pandas, Arrow, polars, Hatchet and Pipit: nothing is lost on the way."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import pytest

from wavescope.model.run_tables import PROFILE
from wavescope.readers.run.inputs import open_profile

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
    profile = open_profile(shared / "data" / run)
    polars, arrow, pandas = profile.to_polars(), profile.to_arrow(), profile.to_pandas()
    assert set(PROFILE) <= set(polars) == set(arrow) == set(pandas)
    for name, frame in polars.items():
        assert arrow[name].num_rows == len(pandas[name]) == frame.height
        assert list(pandas[name].columns) == arrow[name].column_names == frame.columns
    kernels = pandas["kernels"]
    assert (kernels["end_ns"] - kernels["begin_ns"]).sum() == (
        profile.kernels["end_ns"] - profile.kernels["begin_ns"]
    ).sum()
    assert kernels["name"].astype(str).to_list() == profile.kernels["name"].to_list()


@pytest.mark.parametrize("run", RUNS)
def test_gpu_time_is_all_in_the_call_tree(shared: Path, run: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip("hatchet", reason="hatchet is not installed")
        from wavescope.export.run.hatchet import to_hatchet

        profile = open_profile(shared / "data" / run)
        frame = to_hatchet(profile).dataframe
    work = [profile.kernels.select("begin_ns", "end_ns"), profile.copies.select("begin_ns", "end_ns")]
    assert frame["gpu_time"].sum() == sum(int((part["end_ns"] - part["begin_ns"]).sum()) for part in work)
    regions = profile.regions
    assert frame[frame["type"] == "region"]["count"].sum() == regions.height
    assert frame[frame["type"] == "region"]["time (inc)"].sum() == (regions["end_ns"] - regions["begin_ns"]).sum()


@pytest.mark.parametrize("run", RUNS)
def test_every_event_is_entered_and_left(shared: Path, run: str) -> None:
    pytest.importorskip("pandas", reason="pandas is not installed")
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from wavescope.export.run.pipit import to_pipit

    profile = open_profile(shared / "data" / run)
    frame = to_pipit(profile)
    counts = frame["Event Type"].value_counts()
    ranges = profile.regions.height + profile.kernels.height + profile.copies.height
    assert counts.get("Enter", 0) == counts.get("Leave", 0) == ranges
    assert counts.get("Instant", 0) == profile.samples.height
    assert frame["Timestamp (ns)"].is_monotonic_increasing
