"""The plan: gains are intervals that fit into the time, findings rest on rows, caveats are told."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest

import wavewright
from synth import Scenario, compiled, family_of, synthesize, write_capture
from tests.kit.made_traces import made, one_wave
from wavewright import ThreadTrace
from wavewright.analysis.trace.diagnose import Diagnosis, diagnose
from wavewright.model.blocks import readable
from wavewright.words.trace.diagnose import diagnosis_report, verdict
from wavewright.writers.markdown.blocks import markdown_of


@pytest.fixture(scope="module", params=["gfx942", "gfx1100", "gfx1201"])
def synthetic(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ThreadTrace:
    folder = tmp_path_factory.mktemp("capture")
    kernel = compiled("tiled_gemm", request.param)
    scenario = Scenario(
        family=family_of(request.param), kernels=(kernel,), workgroups=4, waves_per_workgroup=4, loop_trips=6
    )
    write_capture(synthesize(scenario), folder)
    return wavewright.open(folder)


def check(answer: Diagnosis) -> None:
    for finding in answer.findings:
        assert 0 <= finding.gain_share_min <= finding.gain_share_max <= 1
        cycles = [item.cycles_total for item in finding.evidence]
        assert cycles == sorted(cycles, reverse=True)
        assert sum(cycles) <= finding.stall_cycles_total <= answer.wave_cycles_total
        alone = [cause.gain_share_max for cause in finding.causes]
        assert alone == sorted(alone, reverse=True)
        assert max(alone, default=0) <= finding.gain_share_max + 0.01 or any(roof.is_limit for roof in answer.roofs)
    for basis in ("traced SIMDs", "dispatch"):
        assert sum(finding.gain_share_max for finding in answer.findings if finding.gain_basis == basis) <= 1 + 1e-9


@pytest.mark.first_case
def test_synthetic_traces(synthetic: ThreadTrace) -> None:
    answer = diagnose(synthetic)
    check(answer)
    assert answer.findings
    texts = dict(synthetic.code.select("row", "text").iter_rows())
    for finding in answer.findings:
        for item in finding.evidence:
            assert item.row < 0 or item.text == texts[item.row]


@pytest.mark.first_case
def test_markdown_has_every_finding(synthetic: ThreadTrace) -> None:
    answer = diagnose(synthetic)
    page = markdown_of(readable(diagnosis_report(answer, limit=len(answer.findings))))
    assert all(finding.verdict in page for finding in answer.findings), page


def test_hostile_names_do_not_become_markdown() -> None:
    code = made([one_wave()]).code.with_columns(
        text=pl.lit("s_waitcnt `<script>|"), file=pl.lit("/src/<img src=x>.py"), line=pl.lit(3, pl.UInt32)
    )
    page = markdown_of(readable(diagnosis_report(diagnose(made([one_wave()], code=code)), limit=9)))
    assert "<img" not in page.replace("\\<", "")


def test_nothing_to_diagnose() -> None:
    answer = diagnose(made([]))
    assert (answer.trust.cycles, answer.findings) == ("do not use", ())
    assert verdict(answer) == "Nothing to diagnose: the trace has no instructions"


@pytest.mark.parametrize("target", ["gfx942", "gfx1201"])
def test_a_trace_without_its_code_is_not_called_free_of_causes(tmp_path: Path, target: str) -> None:
    scenario = Scenario(family=family_of(target), kernels=(compiled("tiled_gemm", target),), workgroups=2)
    write_capture(synthesize(scenario), tmp_path)
    for code_object in tmp_path.glob("*code_object*"):
        code_object.unlink()
    sentence = verdict(diagnose(wavewright.open(tmp_path)))
    assert re.fullmatch(r"Nothing to diagnose: ([1-9][\d,]*) of \1 instructions have no known PC", sentence)


def test_rows_only() -> None:
    trace = made([one_wave()])
    rows = trace.code["row"].head(1)
    assert sum(f.gain_share_max for f in diagnose(trace, rows=rows).findings) <= sum(
        f.gain_share_max for f in diagnose(trace).findings
    )


CAVEATS = {
    "blockscale_preshuffle_gemm/big": {"few_waves", "too_short"},
    "fused_rope_cache/big": {"few_waves", "too_short"},
    "moe_blockscale/big": {"few_waves"},
    "moe_gemm/big": {"early_exits"},
    "pa/big": {"early_exits", "unlike_other_cus"},
    "vec_add/big": set(),
}


@pytest.mark.some_cases(2)
@pytest.mark.parametrize("kernel", CAVEATS)
def test_real_directories(shared: Path, kernel: str) -> None:
    """What is found first is in tests/golden/judgement."""
    path = min((shared / "data" / "uiout-mi350x-flydsl" / kernel).iterdir())
    answer = diagnose(wavewright.open(path))
    check(answer)
    assert CAVEATS[kernel] <= {caveat.name for caveat in answer.trust.caveats}


def test_empty_real_directory(shared: Path) -> None:
    path = next((shared / "data" / "att-mi300x-bmm" / "c10").glob("ui_output_*_dispatch_3"))
    answer = diagnose(wavewright.open(path))
    assert answer.trust.cycles == "do not use"
    assert answer.trust.caveats[0].name == "no_waves"
