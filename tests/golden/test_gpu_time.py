"""How GPUs spend their time in real recordings, against the figures of the tools that made them."""

from __future__ import annotations

from pathlib import Path

import pytest

from wavescope.analysis.profile.busy import busy
from wavescope.analysis.profile.gaps import gaps
from wavescope.readers.profile_inputs import open_profile

RPD = {
    "matmul_result.rpd": (2, 183_918_056, 2_964_070_817, 0.062049),
    "mytrace.rpd.gz": (2, 416_625_081, 452_967_953, 0.919767),
}


@pytest.mark.parametrize("name", RPD)
def test_summed_durations_are_the_busy_figures_of_rpd(name: str, shared: Path) -> None:
    profile = open_profile(shared / "data" / "rpd" / name)
    (gpu,) = busy(profile).gpus.iter_rows(named=True)
    number, spent, wall, share = RPD[name]
    assert (gpu["gpu"], gpu["duration_sum_ns"], gpu["span_ns"]) == (number, spent, wall)
    assert gpu["duration_sum_share"] == pytest.approx(share, abs=1e-6)
    (idle,) = gaps(profile).gpus.iter_rows(named=True)
    assert idle["gap_ns"] + gpu["busy_ns"] == idle["span_ns"] == wall


def test_gaps_of_a_server_are_explained(shared: Path) -> None:
    answer = gaps(open_profile(shared / "data" / "rpd" / "mytrace.rpd.gz"))
    assert answer.causes["wait_ns"].sum() == answer.gpus["gap_ns"].sum()
    assert "unknown" not in answer.causes["cause"]
