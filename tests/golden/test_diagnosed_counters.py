"""Diagnoses of real counter captures, and real traces with counters: verdicts that hold, and no wrong certainty."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import wavewright
from synth.counter_capture import CounterCapture, write_counters
from tests.kit.closing_counters import closing
from tests.kit.made_limits import limited
from wavewright import ThreadTrace
from wavewright.analysis.counters.l2 import l2
from wavewright.analysis.counters.limiters import KernelLimit, Limiters, limiters
from wavewright.analysis.trace.diagnose import diagnose
from wavewright.readers.counters import open_counters


def _verdicts(kernel: KernelLimit) -> dict[str, str]:
    return {one.name: one.verdict for one in kernel.limiters}


def _diagnosed(path: Path) -> Limiters:
    return limiters(open_counters(path))


@pytest.mark.some_cases(2)
@pytest.mark.parametrize("capture", ["path/MI100", "path/MI200", "path/MI300A_A1", "path/MI300X_A1", "vcopy/MI350"])
def test_a_vector_copy_waits_for_memory(shared: Path, capture: str) -> None:
    answer = _diagnosed(shared / "golden" / "compute" / "inputs" / capture)
    kernel = answer.kernels[0]
    verdicts = _verdicts(kernel)
    for name in ("matrix throughput", "VALU throughput", "LDS bandwidth", "divergence", "scratch spills", "atomics"):
        assert verdicts[name] == ("undecided" if (name, capture) == ("matrix throughput", "path/MI100") else "excluded")
    assert verdicts["uncoalesced access"] != "at limit"
    assert {"memory bandwidth", "latency", "L2 and memory latency"} & set(kernel.limits)
    assert kernel.confidence != "high"


def test_the_matrix_multiplication_is_near_the_limit_of_l1(shared: Path) -> None:
    path = shared / "data" / "pmc-mi300x-bmm"
    answer = _diagnosed(path)
    gemm, fill = answer.kernels
    assert gemm.kernel_name.startswith("void batched_matrix_multiplication")
    assert gemm.limits[0] == "L1 bandwidth"
    assert _verdicts(gemm)["matrix throughput"] == "excluded"
    assert _verdicts(fill)["memory bandwidth"] == "likely"
    hits = {row["kernel_name"]: row["hit_rate"] for row in l2(open_counters(path)).kernels.iter_rows(named=True)}
    assert 100 * hits[gemm.kernel_name] == pytest.approx(75.59, abs=0.005)
    shown = [item.value for one in gemm.limiters for item in one.evidence if item.quantity == "l2_hit_rate"]
    assert shown
    assert set(shown) == {100 * hits[gemm.kernel_name]}


def test_stopped_clocks_decide_nothing(shared: Path) -> None:
    answer = _diagnosed(shared / "data" / "gfx1201-counters-pcsampling" / "gl2c_724")
    for kernel in answer.kernels:
        found = next(one for one in kernel.limiters if one.name == "memory bandwidth")
        assert found.verdict == "undecided"
        assert "not counted" in found.reason or "not measured" in found.reason


def test_running_clocks_of_the_same_program_do(shared: Path) -> None:
    answer = _diagnosed(shared / "data" / "gfx1201-counters-pcsampling" / "gl2c_714_profstd")
    read = next(kernel for kernel in answer.kernels if kernel.kernel_name.startswith("read_f4"))
    assert _verdicts(read)["memory bandwidth"] == "excluded"


def test_metrics_that_another_tool_stored_are_judged(shared: Path) -> None:
    answer = _diagnosed(shared / "data" / "rocprofcompute-analysisdb" / "rocprof_compute_3kernels.db")
    assert len(answer.kernels) == 3
    first = _verdicts(answer.kernels[0])
    assert first["VALU throughput"] == "likely"
    assert first["matrix throughput"] == first["memory bandwidth"] == "excluded"


@pytest.mark.first_case
@pytest.mark.parametrize("name", ["synthetic/gfx908", "synthetic/gfx90a", "synthetic/gfx942", "synthetic/gfx950"])
def test_counters_that_are_made_up_claim_nothing_impossible(shared: Path, name: str) -> None:
    answer = _diagnosed(shared / "golden" / "compute" / "inputs" / name)
    for kernel in answer.kernels:
        for one in kernel.limiters:
            assert one.gain_share_max is None or 0 <= one.gain_share_max <= 1
            if one.verdict == "at limit":
                assert all(item.value is None or item.value <= 105 for item in one.evidence if item.role == "decides")


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["flash_attn_func", "softmax"])
def test_real_traces_get_reasons_from_counters_of_the_same_name(shared: Path, tmp_path: Path, kernel: str) -> None:
    folder = shared / "data" / "uiout-mi350x-flydsl" / kernel
    trace = wavewright.open(folder)
    assert isinstance(trace, ThreadTrace)
    name = f"{trace.kernels['name'][0]}.kd"
    work = replace(closing(trace, limited("gfx950")["memory bandwidth"]), name=name)
    write_counters(tmp_path, CounterCapture("gfx950", (work,)))
    answer = diagnose(trace, counters=open_counters(tmp_path))
    assert answer.link is not None
    assert answer.link.kernel_name == trace.kernels["name"][0]
    assert any(finding.kind in ("memory", "roof") for finding in answer.findings)
    told = {reason.quantity: reason for finding in answer.findings for reason in finding.reasons}
    assert told["memory_bandwidth"].verdict == "saturated"
    assert told["l2_hit_rate"].metric_id == "17.1.2"


@pytest.mark.slow
def test_counters_of_another_build_explain_what_they_do_not_contradict(shared: Path) -> None:
    """The folder's first trace has 144 memory instructions a wave, the counted kernel of the same name and grid 96."""
    trace_path, counters_path = shared / "data" / "att-mi300x-bmm", shared / "data" / "pmc-mi300x-bmm"
    trace = wavewright.open(trace_path)
    assert isinstance(trace, ThreadTrace)
    answer = diagnose(trace, counters=open_counters(counters_path))
    assert answer.link is not None
    assert answer.link.dispatch_count == 150
    assert "other_run" in {caveat.name for caveat in answer.link.caveats}
    told = {reason.quantity: reason for finding in answer.findings for reason in finding.reasons}
    assert told["l2_hit_rate"].value == pytest.approx(75.59, abs=0.005)
    assert told["l1_bandwidth"].verdict == "likely"
    assert not {"lines_per_access", "coalescing", "valu_busy", "lds_conflicts", "lds_busy"} & set(told)
