"""Remedies of real kernels against what insight.md and the code say about them."""

from __future__ import annotations

from pathlib import Path

import pytest

import wavewright
from tests.conftest import SHARED
from wavewright.analysis.trace.diagnose.facts import facts
from wavewright.analysis.trace.diagnose.finding import Remedy
from wavewright.analysis.trace.diagnose.remedies import remedies_for
from wavewright.model.trace import ThreadTrace

pytestmark = pytest.mark.skipif(not (SHARED / "data").is_dir(), reason="../shared/data is not here")
MI350X, MI300X = SHARED / "data" / "uiout-mi350x-flydsl", SHARED / "data" / "att-mi300x-bmm"


def remedies(path: Path, stall_class: str) -> list[Remedy]:
    trace = wavewright.open(path)
    assert isinstance(trace, ThreadTrace)
    return list(remedies_for(facts(trace).views[stall_class]))


def test_the_unrolled_k_loop_needs_deeper_prefetch_and_more_waves() -> None:
    first, *_ = remedies(
        MI350X / "blockscale_preshuffle_gemm" / "big" / "ui_output_agent_14065_dispatch_120", "wait vector load"
    )
    assert first.name == "prefetch deeper"
    assert "never holds more than one wave" in first.text


def test_two_byte_loads_are_called_so_and_wider_ones_promise_nothing_alone() -> None:
    """c08: its successor with wide loads was slower."""
    (first, *others) = remedies(MI300X / "c08" / "ui_output_agent_13714_dispatch_3", "FLAT issue")
    assert first.text.startswith("2-byte accesses")
    assert "wider accesses alone" in first.text
    assert all("wider" not in other.text for other in others if other.text.startswith("dwordx4"))
    assert not any("scale" in remedy.text or "flat" in remedy.text for remedy in (first, *others))


@pytest.mark.parametrize(
    ("path", "can_preload"),
    [
        (MI350X / "layernorm" / "big" / "ui_output_agent_22257_dispatch_23", True),
        (SHARED / "golden" / "gfx1100" / "profile_gemm_run_0", False),
        (SHARED / "golden" / "gfx1200" / "profile_gemm_run_0", False),
    ],
)
def test_arguments_are_preloaded_where_the_gpu_can(path: Path, can_preload: bool) -> None:
    first, *_ = remedies(path, "wait scalar load")
    assert ("preload" in first.text) is can_preload
