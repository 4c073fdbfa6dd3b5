"""CUs with work: counted in engines that have waves, extended to the GPU only where nothing contradicts it."""

from __future__ import annotations

import pytest

from wavewright.analysis.trace.diagnose.gpu_fill import Filling, Machine, Vacancy
from wavewright.analysis.trace.diagnose.grid_findings import Evenness, grid_findings
from wavewright.analysis.trace.diagnose.remedies import CaptureFacts
from wavewright.facts import gpus


def filled(engine_count: int, traced_engine_count: int, cu_count: float) -> Filling:
    """Each engine has one unit with work."""
    return Filling(
        engine_count=engine_count,
        traced_engine_count=traced_engine_count,
        wave_count=4 * engine_count,
        early_wave_count=0,
        traced_wave_count=4,
        span_cycles_mean=1000.0,
        wave_cycles_mean=900.0,
        used_cu_count=engine_count,
        cu_count=cu_count,
        mean_share=1.0,
        empty_simd_share=0.0,
        round_count=1.0,
        vacancy=Vacancy(0.0, 0.0, 0.0, 0.0, 0),
    )


@pytest.mark.parametrize(
    ("target", "filling", "verdict"),
    [
        ("gfx942", filled(2, 2, 19), "About 32 of 304 CUs have work"),  # MI300X: 32 engines like the two
        ("gfx942", filled(1, 4, 9.5), "About 1 of 10 CUs of 1 shader engine with waves have work"),
        ("gfx1201", filled(1, 1, 8), "About 4 of 32 WGPs have work"),
        ("gfx1200", filled(4, 4, 32), "About 4 of 32 WGPs of 4 shader engines with waves have work"),  # facts: two
    ],
)
def test_units_with_work(target: str, filling: Filling, verdict: str) -> None:
    arch = gpus.of(target)
    (finding,) = grid_findings(
        filling, 0.0, Machine(arch, arch.product, 2e9, is_certain=True), CaptureFacts(), lambda: Evenness(None)
    )
    assert finding.verdict == verdict
    assert ("traced without a wave" in finding.reason) == (filling.traced_engine_count > filling.engine_count)


def test_a_full_engine_is_silent() -> None:
    assert not grid_findings(filled(8, 8, 8), 0.0, None, CaptureFacts(), lambda: Evenness(None))
