"""The real ROCpd databases: their published figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from wavewright.readers.run.inputs import open_run

FIGURES = {
    "c01/raw/28_results.db": (151, 2_604_546, 629),
    "c02/raw/21_results.db": (301, 3_825_007, 624),
    "c03/raw/15_results.db": (301, 11_029_243, 623),
    "c08/raw/45_results.db": (301, 3_797_011, 624),
    "c09/raw/37_results.db": (301, 4_122_560, 624),
    "c10/raw/163_results.db": (301, 2_132_026, 624),
}
"""Database -> dispatches, sum of their durations in ns, regions."""


@pytest.mark.first_case
@pytest.mark.parametrize("name", FIGURES)
def test_kernels_regions_and_agents(name: str, shared: Path) -> None:
    run = open_run(shared / "data/att-mi300x-bmm" / name)
    kernels = run.dispatches
    found = (kernels.height, (kernels["end_ns"] - kernels["start_ns"]).sum(), run.regions.height)
    assert found == FIGURES[name]
    assert kernels["name"].n_unique() == 2
    assert run.agents["kind"].value_counts(sort=True).rows() == [("GPU", 8), ("CPU", 2)]
    assert set(run.regions["domain"]) == {"HIP"}
    assert run.losses.is_empty()


def test_two_processes_of_one_host(shared: Path) -> None:
    folder = shared / "data/att-mi300x-bmm"
    both = open_run(folder / "c08/raw/45_results.db", folder / "c09/raw/37_results.db")
    assert (both.dispatches["end_ns"] - both.dispatches["start_ns"]).sum() == 3_797_011 + 4_122_560
    assert both.processes["pid"].to_list() == [45, 37]
    assert both.dispatches["process"].value_counts(sort=True).sort("process")["count"].to_list() == [301, 301]
