"""Timelines of the real directories: clocks, wave states, curves."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import polars as pl
import pytest

import wavewright
from wavewright.analysis.trace.clocks import alignment
from wavewright.analysis.trace.pipes.utilization import utilization
from wavewright.analysis.trace.waves.resident import kernel_residency
from wavewright.analysis.trace.waves.states import state_curves, states


@pytest.fixture(scope="module")
def decoded(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archived directories, unpacked."""
    folder = tmp_path_factory.mktemp("decoded")
    for kernel, name in (
        ("flash_attn_func", "ui_output_agent_38430_dispatch_44"),
        ("flash_attn_func", "ui_output_agent_55287_dispatch_44_after_loc_fix"),
    ):
        archive = shared / "data" / "uiout-mi350x-flydsl" / kernel / "big" / f"{name}.tar.xz"
        with tarfile.open(archive) as tar:
            tar.extractall(folder)  # noqa: S202 (our own archive)
    return folder


def find(folder: Path, agent: int) -> Path:
    return next(path for path in folder.rglob(f"ui_output_agent_{agent}_*") if path.is_dir())


def test_clocks_of_flash_attention(decoded: Path) -> None:
    found = alignment(wavewright.open(find(decoded, 55287)))
    assert found.offsets == {0: 0, 1: 751, 2: 1503, 3: 2211}
    assert found.clock_mhz == pytest.approx(2077.9, abs=0.05)


def test_states_of_flash_attention_under_their_right_names(decoded: Path) -> None:
    answer = states(wavewright.open(find(decoded, 38430)))
    shares = {state: round(100 * share, 1) for state, _, share in answer.total.rows()}
    assert shares == {"IDLE": 0.0, "EXEC": 42.3, "WAIT": 36.7, "STALL": 21.0}
    assert answer.over_time["cycles_total"].sum() == answer.total["cycles_total"].sum()
    assert answer.by_kernel["name"].unique().to_list() == ["flash_attn_func_kernel_0"]


def check_curves(directory: Path) -> None:
    curves = state_curves(wavewright.open(directory), per_se=False)
    for state in (1, 2, 3, 4):
        curve = curves.filter(pl.col("state") == state)
        file = directory / f"wstates{state}.json"
        official = json.loads(file.read_text()) if file.exists() else {"time": [], "state": []}
        assert curve["time_cycles"].to_list() == official["time"], directory
        assert curve["wave_count"].to_list() == official["state"], directory


def test_curves_equal_the_files(decoded: Path) -> None:
    check_curves(find(decoded, 38430))


@pytest.mark.slow
def test_curves_equal_the_files_of_every_directory_that_is_not_packed(shared: Path) -> None:
    found = [path for path in (shared / "data").glob("**/ui_output_agent_*") if path.is_dir()]
    traced = [path for path in found if (path / "wstates2.json").exists()]
    assert len(traced) >= 20
    for directory in traced:
        check_curves(directory)


def test_pipes_and_residency_of_flash_attention(decoded: Path) -> None:
    trace = wavewright.open(find(decoded, 38430))
    pipes = utilization(trace)
    shares = dict(pipes.pipes.select("pipe", "issue_share").rows())
    assert max(shares, key=lambda pipe: shares[pipe]) == "VALU"
    resident, issuing, bubbles = (
        pipes.bubbles[f"{name}_cycles_total"].sum() for name in ("resident", "issue", "bubble")
    )
    assert issuing + bubbles == resident
    residency = kernel_residency(trace)
    assert residency.kernels.select("start_count", "wave_count_max").rows() == [(256, 256)]
    assert residency.engines["wave_count_max"].to_list() == [64, 64, 64, 64]
