"""What speaks against input files, compared with AMD's scripts, and what a job wants."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.kit.amd_script import SCRIPTS, AmdScript
from tests.unit.capture.inputs.traps import EXTRA, FILES
from wavewright.capture.inputs.checks import CheckedFile, Level, checked
from wavewright.capture.inputs.files import input_of
from wavewright.capture.inputs.jobs import recordings_of
from wavewright.capture.kinds import Counters, Discovery, RunTrace, Samples, ThreadTraces
from wavewright.capture.rocprofv3.releases import assumed

#: Not looked for: a line `pmc:` without counters in ROCm 6.2, and a file of definitions that does not exist.
NOT_LOOKED_FOR = frozenset({"text without counters", "definitions missing"})


def checks_of(name: str, release: str = "7.14") -> CheckedFile:
    suffix, text = FILES[name]
    return checked(input_of(text.encode(), f"input{suffix}"), assumed(release))


@pytest.mark.first_case
@pytest.mark.parametrize("release", SCRIPTS)
def test_what_a_script_refuses_or_drops_is_said(
    release: str, scripts: dict[str, AmdScript], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("extra.yaml").write_text(EXTRA, encoding="utf-8")
    missed = set()
    for name, (suffix, text) in FILES.items():
        Path(f"input{suffix}").write_text(text, encoding="utf-8", newline="")
        outcome = scripts[release].run(["-i", f"input{suffix}", "--", "program"])
        file = checks_of(name, release)
        if file.is_good and (outcome.status != 0 or len(outcome.runs) != len(file.jobs)):
            missed.add(name)
    assert missed <= NOT_LOOKED_FOR


def test_the_input_of_seed_3_traces_the_coldest_launch() -> None:
    file = checks_of("seed 3", "7.2")
    assert file.is_good
    [job] = file.jobs
    sentences = {finding.key: finding for finding in job.findings}
    launches = sentences["kernel_iteration_range"]
    assert launches.level is Level.WARNING
    assert launches.remedy == 'write "3 4"'
    assert "same names" in sentences["output_file"].sentence
    assert recordings_of(job.keys, ("app", "1"), lambda _: None) == (
        ThreadTraces(
            program=("app", "1"),
            extra=("--truncate-kernels", "--sys-trace"),
            kernel_regex="pa_decode",
            launches=(1, 3, 4),
            target_cu=1,
            simds=15,
            se_mask=15,
            buffer_bytes=96 << 20,
        ),
    )


#: (file, release) -> key and a part of the sentence of an error.
SAID = {
    ("beside jobs", "7.2"): ("GlobalParameters", "beside `jobs` nothing is read"),
    ("several thread traces", "7.13"): ("pmc", "left out without a word"),
    ("launches as numbers", "7.0"): ("kernel_iteration_range", "something else than texts"),
    ("launch 0 as a number", "7.0"): ("kernel_iteration_range", "counts as not given"),
    ("serialized", "7.0"): ("att_serialize_all", "cannot be set in a file"),
    ("target only", "7.11"): ("att_perfcounter_target_only", "ROCm 7.13 has it first"),
    ("counter as a text", "6.3"): ("pmc", "letter by letter"),
    ("decoder as a text", "7.2"): ("att_library_path", "letter by letter"),
    ("SIMD 0", "7.2"): ("att_simd_select", "counts as not given"),
    ("buffer with a unit", "7.2"): ("att_buffer_size", "not a number"),
    ("typo", "7.2"): ("kernel_itaration_range", "there is no such key"),
    ("sampling not allowed", "7.2"): ("", "must be enabled"),
    ("stats alone", "6.3"): ("", "nothing that it could sum up"),
    ("nothing", "7.2"): ("", "records nothing"),
    ("parameters without att", "7.2"): ("att_target_cu", "without advanced_thread_trace"),
    ("sampling", "7.2"): ("output_format", "nor PC samples"),
    ("job text", "7.2"): ("jobs", "no list of jobs"),
    ("no jobs", "7.2"): ("jobs", "nothing is run"),
    ("yaml twice", "7.2"): ("kernel_trace", "the last one counts"),
    ("one pass", "6.2"): ("metrics", "below `metrics`"),
    ("text with a comment of counters", "7.11"): ("pmc", "a pass without counters"),
    ("text of rocprof", "7.2"): ("", "gpu: 0"),
}


@pytest.mark.parametrize(("name", "release"), SAID)
def test_every_trap_is_said(name: str, release: str) -> None:
    file = checks_of(name, release)
    findings = [*file.findings, *(finding for job in file.jobs for finding in job.findings)]
    key, part = SAID[name, release]
    assert any(f.level is Level.ERROR and f.key == key and part in f.sentence for f in findings), findings
    assert not file.is_good


def test_what_jobs_want() -> None:
    app = ("app",)
    jobs: list[Any] = [
        {"pmc": "SQ_WAVES, GRBM_COUNT", "kernel_exclude_regex": "x", "kernel_rename": True},
        {"pmc": [["A"], ["B"]], "kernel_iteration_range": [2, 3]},
        {"pmc_groups": [["A", "B"], ["C"]]},
        {"advanced_thread_trace": True, "att_simd_select": 0, "att_buffer_size": "96MB", "att_serialize_all": True},
        {"pc_sampling_beta_enabled": True, "pc_sampling_method": "stochastic", "pc_sampling_interval": "1024"},
        {"kernel_trace": True, "stats": True, "output_format": "csv"},
        {"kernel_trace": True, "hip_trace": True, "collection_period": ["1:2:1"]},
        {"sys_trace": True, "kernel_trace": False},
        {"advanced_thread_trace": True, "pmc": ["A"]},
        {"stats": True},
        {"advanced_thread_trace": True, "kernel_iteration_range": "nonsense"},
    ]
    recording = [recordings_of(job, app, lambda _: None) for job in jobs]
    assert recording == [
        (Counters(program=app, extra=("--kernel-rename",), exclude_regex="x", passes=(("SQ_WAVES", "GRBM_COUNT"),)),),
        (Counters(program=app, launches=(2, 3), passes=(("A",), ("B",))),),
        (Counters(program=app, passes=(("A", "B"), ("C",))),),
        (ThreadTraces(program=app, simds=0, buffer_bytes=96 << 20, serialize_all=True),),
        (Samples(program=app, method="stochastic", interval=1024),),
        (Discovery(program=app),),
        (RunTrace(program=app, parts=("kernel", "hip"), extra=("--collection-period", "1:2:1")),),
        (RunTrace(program=app),),
        (ThreadTraces(program=app), Counters(program=app, passes=(("A",),))),
        (),
        (),
    ]


def test_definitions_of_counters_go_along() -> None:
    [job] = checks_of("definitions").jobs
    [recording] = recordings_of(job.keys, ("app",), {"extra.yaml": EXTRA}.get)
    assert isinstance(recording, Counters)
    assert recording.definitions == EXTRA
