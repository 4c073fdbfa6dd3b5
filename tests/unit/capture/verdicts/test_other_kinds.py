"""Verdicts about discoveries, PC samples and traces of runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from synth import Workload, write_rocpd, write_rpd
from synth.pc_samples import SampledRun, write_samples
from synth.profiler_output import write_kernel_stats, write_kernel_trace
from tests.unit.capture.verdicts.attempts import WELL, attempt_in, attempt_of, ended
from wavewright.capture.judgement import Verdict
from wavewright.capture.kinds import Discovery, Recording, RunTrace, Samples
from wavewright.capture.verdicts import judge

DISCOVERY = Discovery(program=("app",))
SAMPLES = Samples(program=("app",), method="stochastic", unit="cycles", interval=1 << 20)
RUN = RunTrace(program=("app",))
NOT_SUPPORTED = (
    "E20260602 10:30:58.454084 1390 tool.cpp:1] Given PC sampling configuration is not supported on any of the agents\n"
)


@pytest.mark.parametrize("recording", [DISCOVERY, SAMPLES, RUN])
def test_nothing_was_written(tmp_path: Path, recording: Recording) -> None:
    attempt = attempt_in(tmp_path)
    assert judge(recording, WELL, attempt).verdict is Verdict.NO_DISPATCH
    assert judge(recording, ended(1), attempt).verdict is Verdict.FAILED
    assert judge(recording, ended(-9, stopped="timeout"), attempt).verdict is Verdict.HUNG
    assert judge(recording, ended(-2, stopped="interrupted"), attempt).verdict is Verdict.INTERRUPTED


# Discoveries


def test_a_discovery_names_kernels(tmp_path: Path) -> None:
    attempt = attempt_in(tmp_path)
    write_kernel_trace(attempt / "raw", [("gemm", 4096)] * 9 + [("fill", 64)], prefix="100/discover")
    write_kernel_stats(attempt / "raw", {"gemm": (9, 20_000), "fill": (1, 20_000)}, prefix="100/discover")
    judgement = judge(DISCOVERY, WELL, attempt)
    assert judgement.verdict is Verdict.GOOD
    assert judgement.reasons == ("2 kernels with 10 launches.",)


def test_a_discovery_without_kernels(tmp_path: Path) -> None:
    attempt = attempt_in(tmp_path)
    write_kernel_trace(attempt / "raw", [])
    assert judge(DISCOVERY, WELL, attempt).verdict is Verdict.NO_DISPATCH


def test_a_discovery_of_a_program_that_failed_later_is_kept_with_a_caution(tmp_path: Path) -> None:
    attempt = attempt_in(tmp_path)
    write_kernel_trace(attempt / "raw", [("gemm", 4096)] * 9)
    judgement = judge(DISCOVERY, ended(3), attempt)
    assert judgement.verdict is Verdict.GOOD
    assert any("ended with status 3" in reason for reason in judgement.reasons)


def test_a_discovery_that_is_garbage(tmp_path: Path) -> None:
    attempt = attempt_in(tmp_path)
    (attempt / "raw" / "1_kernel_trace.csv").write_bytes(b'"Kind","Agent_Id"\n' + b"\xff\x00" * 500)
    assert judge(DISCOVERY, WELL, attempt).verdict is Verdict.NO_DISPATCH


def test_real_discoveries(shared: Path, tmp_path: Path) -> None:
    source = shared / "data" / "rocprofv3-mi350x-flydsl" / "vec_add"
    attempt = attempt_of(tmp_path, *sorted(source.glob("discover_*.csv")))
    judgement = judge(DISCOVERY, WELL, attempt)
    assert judgement.verdict is Verdict.GOOD
    assert judgement.reasons == ("15 kernels with 68 launches.",)  # INDEX.md


# Samples


@pytest.mark.parametrize("form", ["csv", "json"])
def test_samples(tmp_path: Path, form: str) -> None:
    attempt = attempt_in(tmp_path)
    write_samples(SampledRun(sample_count=900), attempt / "raw" / "100", form=form)
    judgement = judge(SAMPLES, WELL, attempt)
    assert judgement.verdict is Verdict.GOOD
    assert judgement.reasons[0].startswith("900 samples")
    assert len(judgement.reasons) == 1


def test_few_samples_are_a_caution(tmp_path: Path) -> None:
    attempt = attempt_in(tmp_path)
    write_samples(SampledRun(sample_count=60), attempt / "raw")
    judgement = judge(SAMPLES, WELL, attempt)
    assert judgement.verdict is Verdict.GOOD
    assert "mostly chance" in judgement.reasons[1]


def test_samples_in_json_that_is_too_large_to_parse_are_not_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wavewright.capture.verdicts.other_kinds.PARSED_BYTES_MAX", 100)
    attempt = attempt_in(tmp_path)
    write_samples(SampledRun(sample_count=900), attempt / "raw", form="json")
    judgement = judge(SAMPLES, WELL, attempt)
    assert judgement.verdict is Verdict.GOOD
    (reason,) = judgement.reasons
    assert reason.startswith("PC samples were written (")


def test_rows_of_a_table_that_is_too_large_to_parse_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wavewright.capture.verdicts.other_kinds.PARSED_BYTES_MAX", 100)
    attempt = attempt_in(tmp_path)
    write_samples(SampledRun(sample_count=900), attempt / "raw", form="csv")
    assert judge(SAMPLES, WELL, attempt).reasons[0].startswith("900 samples")


def test_a_table_without_samples_is_empty(tmp_path: Path) -> None:
    attempt = attempt_in(tmp_path)
    write_samples(SampledRun(sample_count=60), attempt / "raw")
    (path,) = (attempt / "raw").glob("*_pc_sampling_*.csv")
    path.write_text(path.read_text(encoding="utf-8").splitlines()[0] + "\n", encoding="utf-8")
    assert judge(SAMPLES, WELL, attempt).verdict is Verdict.EMPTY


def test_sampling_that_no_gpu_offers_is_refused(tmp_path: Path) -> None:
    attempt = attempt_in(tmp_path, stderr=NOT_SUPPORTED)
    judgement = judge(SAMPLES, ended(1), attempt)
    assert judgement.verdict is Verdict.REFUSED
    assert [cause.number for cause in judgement.causes] == [26]
    assert "rocprofv3-avail" in judgement.advice


# Runs


def test_a_run_as_rocpd(tmp_path: Path) -> None:
    attempt = attempt_in(tmp_path)
    (attempt / "raw" / "100").mkdir()
    write_rocpd(attempt / "raw" / "100" / "run_results.db", Workload(dispatches=200))
    judgement = judge(RUN, WELL, attempt)
    assert judgement.verdict is Verdict.GOOD
    assert "200 dispatches of kernels" in judgement.reasons[0]


def test_a_run_as_rpd(tmp_path: Path) -> None:
    attempt = attempt_in(tmp_path)
    write_rpd(attempt / "raw" / "trace.rpd", Workload(dispatches=200))
    assert judge(RunTrace(program=("app",)), WELL, attempt).verdict is Verdict.GOOD


def test_a_run_without_kernels(tmp_path: Path) -> None:
    attempt = attempt_in(tmp_path)
    write_kernel_trace(attempt / "raw", [])
    assert judge(RUN, WELL, attempt).verdict is Verdict.NO_DISPATCH


def test_a_damaged_database(tmp_path: Path) -> None:
    attempt = attempt_in(tmp_path)
    (attempt / "raw" / "1_results.db").write_bytes(b"SQLite format 3\x00" + b"\xff" * 4000)
    assert judge(RUN, WELL, attempt).verdict is Verdict.FAILED


def test_a_real_run(shared: Path, tmp_path: Path) -> None:
    attempt = attempt_of(tmp_path, shared / "data" / "att-mi300x-bmm" / "c01" / "raw" / "28_results.db")
    judgement = judge(RUN, WELL, attempt)
    assert judgement.verdict is Verdict.GOOD
    assert "151 dispatches of kernels" in judgement.reasons[0]
    assert "629 calls and ranges" in judgement.reasons[0]
