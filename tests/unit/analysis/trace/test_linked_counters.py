"""Counters of the same kernel give the findings of a thread trace their reasons; what does not fit is said."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import wavewright
from synth import Scenario, compiled, synthesize, write_capture
from synth.counter_capture import CounterCapture, write_counters
from synth.kernel_work import KernelWork
from tests.kit.closing_counters import closing
from tests.kit.made_limits import limited
from tests.kit.together import together
from wavewright import ThreadTrace
from wavewright.analysis.counters.l2 import l2
from wavewright.analysis.trace.diagnose import diagnose
from wavewright.analysis.trace.diagnose.balance import plain_names
from wavewright.errors import UsageError
from wavewright.model.counters import CounterSet
from wavewright.readers.counters import open_counters
from wavewright.words.trace.diagnose import diagnosis_report
from wavewright.writers.terminal.blocks import plain_text


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> ThreadTrace:
    """A matrix multiplication that waits for memory, LDS and matrix results."""
    folder = tmp_path_factory.mktemp("trace")
    scenario = Scenario(kernels=(compiled("tiled_gemm", "gfx942"),), workgroups=4, waves_per_workgroup=4, loop_trips=6)
    write_capture(synthesize(scenario), folder)
    opened = wavewright.open(folder)
    assert isinstance(opened, ThreadTrace)
    return opened


def _counters(folder: Path, *works: KernelWork, target: str = "gfx942") -> CounterSet:
    write_counters(folder, CounterCapture(target, works, jitter=0.0))
    return open_counters(folder)


def _named(trace: ThreadTrace, work: KernelWork) -> KernelWork:
    """The work under the name of the traced kernel, with its registers and instructions."""
    row = trace.kernels.row(0, named=True)
    return replace(closing(trace, work), name=row["demangled"], arch_vgprs=row["vgprs"] or 32, sgprs=row["sgprs"] or 32)


def test_memory_findings_get_the_numbers_of_l2(trace: ThreadTrace, tmp_path: Path) -> None:
    counters = _counters(tmp_path, _named(trace, limited()["memory bandwidth"]))
    answer = diagnose(trace, counters=counters)
    assert answer.link is not None
    assert answer.link.kernel_name == trace.kernels["demangled"][0]
    row = l2(counters).kernels.row(0, named=True)
    finding = next(f for f in answer.findings if f.name == "memory bandwidth")  # counted: at the roof
    by_quantity = {reason.quantity: reason for reason in finding.reasons}
    assert by_quantity["l2_hit_rate"].value == pytest.approx(100 * row["hit_rate"])
    assert by_quantity["read_32b"].value == pytest.approx(100 * row["read_32b_share"])
    bandwidth = by_quantity["memory_bandwidth"]
    assert bandwidth.value == pytest.approx(100 * row["peak_share"])
    assert bandwidth.verdict == "saturated"
    assert "4,792 of 5,325 GB/s" in bandwidth.text
    assert bandwidth.metric_id.startswith("2.1.")
    assert {"coalescing", "channel_imbalance", "l1_hit_rate", "over_fetch"} <= set(by_quantity)


def test_over_fetch_is_told_when_the_ideal_is(trace: ThreadTrace, tmp_path: Path) -> None:
    counters = _counters(tmp_path, _named(trace, limited()["memory bandwidth"]))
    read = l2(counters).kernels["read_bytes_mean"][0]
    answer = diagnose(trace, counters=counters, ideal_gb=read / 2e9)
    finding = next(f for f in answer.findings if f.name == "memory bandwidth")  # counted: at the roof
    told = next(reason for reason in finding.reasons if reason.quantity == "over_fetch")
    assert told.value == pytest.approx(2.0)
    assert told.verdict == "fetches too much"


def test_lds_findings_get_bank_conflicts(trace: ThreadTrace, tmp_path: Path) -> None:
    answer = diagnose(trace, counters=_counters(tmp_path, _named(trace, limited()["LDS bank conflicts"])))
    finding = next(f for f in answer.findings if "LDS" in f.name and "load to" not in f.name)
    conflicts = next(reason for reason in finding.reasons if reason.quantity == "lds_conflicts")
    assert conflicts.verdict == "at limit"
    assert conflicts.value == pytest.approx(100 * 0.5 / 0.85, abs=0.1)


def test_reasons_are_told_once_and_causes_come_first(trace: ThreadTrace, tmp_path: Path) -> None:
    counters = _counters(tmp_path, _named(trace, limited()["memory bandwidth"]))
    findings = diagnose(trace, counters=counters).findings
    quantities = [reason.quantity for finding in findings for reason in finding.reasons]
    assert len(quantities) == len(set(quantities))
    verdicts = [reason.verdict for reason in next(finding for finding in findings if len(finding.reasons) > 5).reasons]
    assert verdicts[0] in ("at limit", "saturated")
    assert verdicts.index("") > max(place for place, word in enumerate(verdicts) if word in ("at limit", "saturated"))
    fine = [place for place, word in enumerate(verdicts) if word in ("whole lines", "needed only", "not bound")]
    assert fine
    assert min(fine) > max(place for place, word in enumerate(verdicts) if not word)


def test_without_counters_there_are_no_reasons(trace: ThreadTrace) -> None:
    answer = diagnose(trace)
    assert answer.link is None
    assert not any(finding.reasons for finding in answer.findings)


def test_no_such_kernel_is_said_with_what_there_is(trace: ThreadTrace, tmp_path: Path) -> None:
    answer = diagnose(trace, counters=_counters(tmp_path, replace(limited()["latency"], name="another(int)")))
    assert answer.link is not None
    assert answer.link.kernel_name is None
    assert [caveat.name for caveat in answer.link.caveats] == ["no_counters_of_kernel"]
    assert "another(int)" in answer.link.caveats[0].sentence
    assert not any(finding.reasons for finding in answer.findings)
    assert answer.trust == diagnose(trace).trust


def test_several_kernels_that_fit_are_not_guessed_among(trace: ThreadTrace, tmp_path: Path) -> None:
    base = plain_names(trace.kernels["demangled"][0])[2]
    works = [replace(limited()["latency"], name=f"void {base}<{kind}>(int)") for kind in ("float", "double")]
    counters = _counters(tmp_path, *works)
    answer = diagnose(trace, counters=counters)
    assert answer.link is not None
    assert answer.link.kernel_name is None
    assert len(answer.link.candidates) == 2
    picked = diagnose(trace, counters=counters, kernel="double")
    assert picked.link is not None
    assert picked.link.kernel_name == f"void {base}<double>(int)"
    with pytest.raises(UsageError, match="no kernel 'nothing'"):
        diagnose(trace, counters=counters, kernel="nothing")


def test_arguments_and_suffixes_do_not_matter(trace: ThreadTrace, tmp_path: Path) -> None:
    base = plain_names(trace.kernels["demangled"][0])[1]
    answer = diagnose(trace, counters=_counters(tmp_path, replace(limited()["latency"], name=f"{base} (.kd)")))
    assert answer.link is not None
    assert answer.link.kernel_name is not None


def test_another_gpu_and_another_launch_are_caveats(trace: ThreadTrace, tmp_path: Path) -> None:
    other = replace(_named(trace, limited("gfx90a")["latency"]), arch_vgprs=200, waves_per_workgroup=16)
    answer = diagnose(trace, counters=_counters(tmp_path, other, target="gfx90a"))
    assert answer.link is not None
    said = {caveat.name: caveat.sentence for caveat in answer.link.caveats}
    assert "gfx942" in said["other_gpu"]
    assert "gfx90a" in said["other_gpu"]
    sentences = " ".join(caveat.sentence for caveat in answer.link.caveats if caveat.name == "other_launch")
    assert "vector registers, the counted one 200" in sentences
    assert "not used" in said["other_launch_counted"]
    assert answer.link.kernel_name is None
    assert not any(finding.reasons for finding in answer.findings)


def test_measured_bytes_replace_inferred_ones_of_the_same_code(trace: ThreadTrace, tmp_path: Path) -> None:
    work = _named(trace, limited()["memory bandwidth"])
    inferred, measured, foreign = (
        diagnose(trace, counters=counters).traffic
        for counters in (
            None,
            _counters(tmp_path / "same", work),
            _counters(tmp_path / "other", _named(trace, limited("gfx90a")["memory bandwidth"]), target="gfx90a"),
        )
    )
    assert inferred is not None
    assert measured is not None
    assert (inferred.evidence, measured.evidence) == ("requests", "counters")
    assert measured.level == "HBM"
    assert measured.bytes_per_second == pytest.approx((4.792e12, 4.792e12), rel=0.001)
    assert foreign == inferred  # counters of another GPU say nothing about this one


def test_reports_show_the_reasons(trace: ThreadTrace, tmp_path: Path) -> None:
    answer = diagnose(trace, counters=_counters(tmp_path, _named(trace, limited()["memory bandwidth"])))
    text = plain_text(diagnosis_report(answer, limit=9), 200)
    assert "Is the memory busy? yes" in text
    assert "reasons from the counters of 2 dispatches" in text


@together(
    "name, plain",
    [
        ("void ns::gemm<float, 4>(float const*, int) [clone .kd]", ("ns::gemm<float,4>", "ns::gemm")),
        ("vecCopy(double*, double*, int) (.kd)", ("vecCopy", "vecCopy")),
        ("__amd_rocclr_fillBufferAligned.kd", ("__amd_rocclr_fillBufferAligned",) * 2),
        ("void (anonymous namespace)::k<(type)13, 1>(int)", ("anonymous::k<(type)13,1>", "anonymous::k")),
        ("std::enable_if<true, void>::type foo<bar>(baz)", ("foo<bar>", "foo")),
        ("a<b<c>>::d<e>(f<g>)", ("a<b<c>>::d<e>", "a::d")),
        ("", ("", "")),
        ("weird>)(", ("weird>)(", "weird>)(")),
    ],
)
def test_names_without_what_differs_between_tools(name: str, plain: tuple[str, str]) -> None:
    assert plain_names(name)[1:] == plain


@pytest.mark.some_cases(1)
@pytest.mark.parametrize("factor", [0.0, 0.5, 2.0])
def test_a_counter_that_cannot_be_true_gives_no_reason(factor: float, trace: ThreadTrace, tmp_path: Path) -> None:
    """Coalescing and lookups per instruction divide by it; the bandwidth of the memory does not."""
    work = _named(trace, limited()["memory bandwidth"])
    counters = {**work.counters, "TA_TOTAL_WAVEFRONTS": factor * work.counters["TA_TOTAL_WAVEFRONTS"]}
    for faulty, caveat in ((work, "counters_close"), (replace(work, counters=counters), "impossible_counters")):
        answer = diagnose(trace, counters=_counters(tmp_path / caveat, faulty))
        assert answer.link is not None
        assert caveat in {each.name for each in answer.link.caveats}
        told = {reason.quantity for finding in answer.findings for reason in finding.reasons}
        assert "memory_bandwidth" in told
        assert ("lines_per_access" in told) == (faulty is work)
