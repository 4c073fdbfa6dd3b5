"""Replays against figures of an outside reader, who wrote a replay of his own, and against the recording itself."""

from __future__ import annotations

from pathlib import Path

import pytest

import wavewright
from wavewright.analysis.trace.diagnose.replay import Removal, replay

FLYDSL = "data/uiout-mi350x-flydsl"
#: Kernel -> stall class -> share of the time that its removal saves (shared/reviews/insight.md, section 1).
REVIEWED = {
    "hgemm_splitk": {"wait atomic": 0.063, "barrier": 0.019, "wait load to LDS": 0.365},
    "moe_gemm": {"wait vector load": 0.540, "VMEM issue": 0.169, "barrier": 0.062},
    "moe_blockscale": {"VMEM issue": 0.359, "wait vector load": 0.310},
    "blockscale_preshuffle_gemm": {"wait vector load": 0.719, "barrier": 0.019},
}


def traces(shared: Path) -> list[Path]:
    decoded = sorted(path for path in (shared / FLYDSL).glob("*/*/ui_output*") if "softmax" not in path.parts)
    raw = sorted((shared / "data" / "att-mi300x-bmm").glob("*/raw"))
    return decoded + raw + sorted((shared / "golden").glob("gfx[19]*[05]*/profile_*"))


@pytest.mark.parametrize("kernel", REVIEWED)
def test_replays_of_the_review(shared: Path, kernel: str) -> None:
    trace = wavewright.open(min((shared / FLYDSL / kernel / "big").iterdir()))
    removals = {name: Removal(frozenset((name,))) for name in REVIEWED[kernel]}
    replayed = replay(trace, list(removals.values()))
    for name, share in REVIEWED[kernel].items():
        assert replayed.gain_share(removals[name]) == pytest.approx(share, rel=0.1), name


@pytest.mark.slow
def test_a_replay_without_a_change_is_the_recording(shared: Path) -> None:
    checked = 0
    for path in traces(shared):
        trace = wavewright.open(path)
        if not trace.instruction_count:
            continue
        replayed = replay(trace, [Removal(), Removal(keeps_latency=True)])
        assert abs(replayed.gain_share(Removal())) < 0.001, path
        assert abs(replayed.gain_share(Removal(keeps_latency=True))) < 0.02, path
        checked += 1
    assert checked > 30
