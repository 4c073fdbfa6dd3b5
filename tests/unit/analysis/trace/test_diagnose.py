"""The plan: the largest exposed class leads, findings rest on rows, remedies fit, caveats are told."""

from __future__ import annotations

import tarfile
from pathlib import Path

import polars as pl
import pytest

import wavescope
from synth import Scenario, compiled, family_of, synthesize, write_capture
from tests.unit.export.made_traces import made, one_wave
from wavescope import ThreadTrace
from wavescope.analysis.trace.costs.exposure import row_costs
from wavescope.analysis.trace.diagnose import Diagnosis, diagnose
from wavescope.analysis.trace.stalls import stalls
from wavescope.report.trace.diagnose import diagnosis_markdown, headline


def exposed_by_class(trace: ThreadTrace) -> dict[str, float]:
    """Exposed stall of every class, spelled out: a row's exposed stall is shared by the stalls of its classes."""
    costs = {row["row"]: row for row in row_costs(trace).iter_rows(named=True)}
    sums: dict[str, float] = {}
    for row in stalls(trace).by_row.iter_rows(named=True):
        if row["row"] in costs and row["stall_cycles_total"]:
            cost = costs[row["row"]]
            part = cost["exposed_stall_cycles_total"] * row["stall_cycles_total"] / cost["stall_cycles_total"]
            sums[row["class"]] = sums.get(row["class"], 0.0) + part
    return sums


@pytest.fixture(scope="module", params=["gfx942", "gfx1100", "gfx1201"])
def synthetic(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ThreadTrace:
    folder = tmp_path_factory.mktemp("capture")
    kernel = compiled("tiled_gemm", request.param)
    scenario = Scenario(
        family=family_of(request.param), kernels=(kernel,), workgroups=4, waves_per_workgroup=4, loop_trips=6
    )
    write_capture(synthesize(scenario), folder)
    return wavescope.open(folder)


def check(trace: ThreadTrace, answer: Diagnosis) -> None:
    exposed = exposed_by_class(trace)
    assert answer.findings[0].name == max(exposed, key=lambda name: exposed[name])
    ranked = [finding for finding in answer.findings if finding.kind not in ("occupancy", "mapping", "fetch")]
    assert [f.exposed_cycles_total for f in ranked] == sorted((f.exposed_cycles_total for f in ranked), reverse=True)
    for finding in ranked:
        assert finding.exposed_cycles_total == pytest.approx(exposed[finding.name], abs=finding.row_count)
        assert 0 <= finding.gain_share_max <= 1
        assert finding.evidence[0].exposed_cycles_total >= finding.evidence[-1].exposed_cycles_total
        covered = {row for remedy in finding.remedies for row in remedy.rows}
        assert {item.row for item in finding.evidence} <= covered or not finding.remedies
    assert sum(finding.gain_share_max for finding in ranked) <= 1 + 1e-9


def test_synthetic_traces(synthetic: ThreadTrace) -> None:
    answer = diagnose(synthetic)
    check(synthetic, answer)
    texts = dict(synthetic.code.select("row", "text").iter_rows())
    for finding in answer.findings:
        for item in finding.evidence:
            assert item.row < 0 or item.text == texts[item.row]


def test_markdown_has_every_finding(synthetic: ThreadTrace) -> None:
    answer = diagnose(synthetic)
    page = diagnosis_markdown(answer, name="x")
    assert page.count("\n## ") == len(answer.findings) + 1
    assert f"{answer.findings[0].exposed_cycles_total:,}" in page


def test_hostile_names_do_not_become_markdown() -> None:
    code = made([one_wave()]).code.with_columns(
        text=pl.lit("s_waitcnt `<script>|"), file=pl.lit("/src/<img src=x>.py"), line=pl.lit(3, pl.UInt32)
    )
    page = diagnosis_markdown(diagnose(made([one_wave()], code=code)), name="<b>|`")
    assert "<b>" not in page
    assert "<img" not in page.replace("\\<", "")


def test_nothing_to_diagnose() -> None:
    answer = diagnose(made([]))
    assert (answer.trust.cycles, answer.findings) == ("do not use", ())
    assert headline(answer) == "nothing to diagnose: the trace has no instructions"


EXPECTED = {
    "blockscale_preshuffle_gemm/big": ("wait vector load", {"few_waves", "too_short"}),
    "flash_attn_func/big": ("wait load to LDS", set()),
    "fused_rope_cache/big": ("wait scalar load", {"few_waves", "too_short"}),
    "hgemm_splitk/big": ("wait load to LDS", set()),
    "layernorm/big": ("wait scalar load", set()),
    "moe_blockscale/big": ("wait vector load", {"few_waves"}),
    "moe_gemm/big": ("wait vector load", {"early_exits"}),
    "pa/big": ("wait scalar load", {"early_exits", "unlike_other_cus"}),
    "preshuffle_gemm/big": ("wait vector load", set()),
    "vec_add/big": ("wait vector load", set()),
}


@pytest.mark.parametrize("kernel", EXPECTED)
def test_real_directories(shared: Path, tmp_path: Path, kernel: str) -> None:
    path = min((shared / "data" / "uiout-mi350x-flydsl" / kernel).iterdir())
    if path.suffix == ".xz":
        with tarfile.open(path) as archive:
            archive.extractall(tmp_path)  # noqa: S202  # our own data
        path = next(tmp_path.iterdir())
    trace = wavescope.open(path)
    answer = diagnose(trace)
    check(trace, answer)
    name, caveats = EXPECTED[kernel]
    assert answer.findings[0].name == name
    assert caveats <= {caveat.name for caveat in answer.trust.caveats}


def test_empty_real_directory(shared: Path) -> None:
    path = next((shared / "data" / "att-mi300x-bmm" / "c10").glob("ui_output_*_dispatch_3"))
    answer = diagnose(wavescope.open(path))
    assert answer.trust.cycles == "do not use"
    assert answer.trust.caveats[0].name == "no_waves"
