"""What we say about input files: every trap by its key and sentence, and what a job wants."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.amd_script import SCRIPTS
from tests.unit.capture.inputs.traps import EXTRA, FILES
from wavewright.capture.inputs.explanation import Explanation, explain
from wavewright.capture.inputs.files import input_of
from wavewright.capture.inputs.findings import Finding, Level
from wavewright.capture.inputs.reading import reader_of, reading_of
from wavewright.capture.rocprofv3.releases import assumed
from wavewright.capture.wanted import Counters, Discovery, RunTrace, Samples, ThreadTraces

CONTENTS = {"extra.yaml": EXTRA}


def explained(name: str, release: str = "7.14") -> Explanation:
    suffix, text = FILES[name]
    return explain(
        input_of(text.encode(), f"input{suffix}"), assumed(release), program=("app", "1"), contents=CONTENTS.get
    )


def of_jobs(jobs: Any, release: str = "7.14") -> Explanation:
    return explain(input_of(json.dumps({"jobs": jobs}).encode(), "input.json"), assumed(release), program=("app",))


def all_findings(explanation: Explanation) -> list[Finding]:
    return [*explanation.findings, *(finding for job in explanation.jobs for finding in job.findings)]


def test_the_input_of_seed_3_traces_the_coldest_launch() -> None:
    explanation = explained("seed 3", "7.2")
    [job] = explanation.jobs
    assert job.is_run
    assert job.folder == "kernel_trace_output"
    sentences = {finding.key: finding for finding in reversed(job.findings)}
    launches = sentences["kernel_iteration_range"]
    assert launches.sentence == "launches 1, 3 and 4 of each kernel are traced: the first is the coldest"
    assert launches.remedy == 'leave 1 away: "3 4"'
    assert "24 MiB for each" in sentences["att_buffer_size"].sentence
    assert "same names" in sentences["output_file"].sentence
    [wanted] = job.wanted
    assert wanted == ThreadTraces(
        program=("app", "1"),
        extra=("--truncate-kernels", "--sys-trace"),
        kernel_regex="pa_decode",
        launches=(1, 3, 4),
        target_cu=1,
        simds=15,
        se_mask=15,
        buffer_bytes=96 << 20,
    )


def test_the_input_of_seed_1_traces_two_launches() -> None:
    [job] = explained("seed 1", "7.2").jobs
    assert "launches 6 and 8 of each kernel are traced" in [finding.sentence for finding in job.findings]
    assert any("brackets do not mean skip" in finding.sentence for finding in job.findings)


def test_rocm_6_2_reads_no_jobs() -> None:
    explanation = explained("one thread trace", "6.2")
    assert explanation.is_refused
    assert not any(job.is_run for job in explanation.jobs)


def test_rocm_6_3_has_no_thread_traces() -> None:
    [job] = explained("one thread trace", "6.3").jobs
    assert job.is_run
    assert not job.is_as_meant
    assert job.findings[0].key == "advanced_thread_trace"
    assert "ROCm 7.0 has it first" in job.findings[0].sentence


#: (file, release) -> level, key and a part of the sentence that must be said.
SAID = {
    ("beside jobs", "7.2"): (Level.ERROR, "GlobalParameters", "beside `jobs` nothing is read"),
    ("several thread traces", "7.13"): (Level.ERROR, "pmc", "left out without a word"),
    ("several thread traces", "7.14"): (Level.ERROR, "jobs", "nothing is run, and rocprofv3 ends with status 0"),
    ("passes and a trace", "7.14"): (Level.ERROR, "pmc", "left out without a word"),
    ("launches from 0", "7.0"): (Level.NOTE, "kernel_iteration_range", "0 never matches"),
    ("launches as numbers", "7.0"): (Level.ERROR, "kernel_iteration_range", "only texts can be joined"),
    ("one launch as a number", "6.3"): (Level.ERROR, "kernel_iteration_range", "not a list of texts"),
    ("launch 0 as a number", "7.0"): (Level.ERROR, "kernel_iteration_range", "counts as not given"),
    ("one thread trace", "7.0"): (Level.WARNING, "kernel_iteration_range", "only launch 1 is traced"),
    ("serialized", "7.0"): (Level.ERROR, "att_serialize_all", "cannot be set in a file"),
    ("target only", "7.13"): (Level.ERROR, "att_perfcounter_target_only", "cannot be set in a file"),
    ("target only", "7.11"): (Level.ERROR, "att_perfcounter_target_only", "ROCm 7.13 has it first"),
    ("unit of the period", "7.0"): (Level.ERROR, "collection_period_unit", "cannot be set in a file"),
    ("preload", "6.3"): (Level.ERROR, "preload", "cannot be set in a file"),
    ("period as a text", "7.14"): (Level.ERROR, "collection_period", "is not delay:time:repeat"),
    ("yaml sexagesimal", "7.14"): (Level.ERROR, "collection_period", "the number 4803"),
    ("format as a text", "7.0"): (Level.ERROR, "output_format", "is read as c, s, v"),
    ("counter as a text", "6.3"): (Level.ERROR, "pmc", "asks for the counters S, Q, _"),
    ("decoder as a text", "7.2"): (Level.ERROR, "att_library_path", "each of its letters is taken for a folder"),
    ("SIMD 0", "7.2"): (Level.ERROR, "att_simd_select", "SIMD 3"),
    ("GPU 0", "7.2"): (Level.ERROR, "att_gpu_index", "all GPUs are traced"),
    ("SE mask 0", "7.2"): (Level.ERROR, "att_shader_engine_mask", "0x1"),
    ("buffer with a unit", "7.2"): (Level.ERROR, "att_buffer_size", "not a number"),
    ("parameters without att", "7.2"): (Level.ERROR, "att_target_cu", "without advanced_thread_trace"),
    ("trace as a text", "7.2"): (Level.WARNING, "advanced_thread_trace", "every text counts as yes"),
    ("counters in the trace as a list", "7.2"): (Level.ERROR, "att_perfcounters", "brackets and all"),
    ("counters in the trace, small letters", "7.2"): (Level.WARNING, "att_perfcounters", "capitals"),
    ("counters in the trace with pmc", "7.2"): (Level.ERROR, "att_perfcounters", "exclude each other"),
    ("consecutive", "7.0"): (Level.ERROR, "att_consecutive_kernels", "ROCm 7.1 has it first"),
    ("typo", "7.2"): (Level.ERROR, "kernel_itaration_range", "there is no such key"),
    ("dashes", "7.2"): (Level.ERROR, "process-sync", "written with _"),
    ("sampling", "7.2"): (Level.ERROR, "output_format", "holds no PC samples"),
    ("sampling not allowed", "7.2"): (Level.ERROR, "pc_sampling_beta_enabled", "needs pc_sampling_beta_enabled"),
    ("sampling only allowed", "7.2"): (Level.ERROR, "pc_sampling_beta_enabled", "not asked for"),
    ("stats alone", "6.3"): (Level.ERROR, "stats", "nothing is traced"),
    ("stats with counters", "6.3"): (Level.ERROR, "stats", "nothing is traced"),
    ("stats of a trace", "7.2"): (Level.ERROR, "output_format", "holds no tables of totals"),
    ("log unknown", "7.2"): (Level.ERROR, "log_level", "none of fatal"),
    ("definitions missing", "7.2"): (Level.ERROR, "extra_counters", "cannot be read"),
    ("echo", "7.2"): (Level.ERROR, "echo", "is not run"),
    ("Perfetto policy", "7.2"): (Level.ERROR, "perfetto_buffer_fill_policy", "perfetto_fill_policy"),
    ("nothing", "7.2"): (Level.ERROR, "", "records nothing"),
    ("job text", "7.2"): (Level.ERROR, "jobs", "not a map of keys"),
    ("yaml no jobs", "7.2"): (Level.ERROR, "jobs", "there is no `jobs`"),
    ("no jobs", "7.2"): (Level.ERROR, "jobs", "nothing is run"),
    ("yaml key on", "7.2"): (Level.ERROR, "True", "not a text"),
    ("yaml twice", "7.2"): (Level.ERROR, "kernel_trace", "the last one counts"),
    ("json metrics", "7.2"): (Level.ERROR, "metrics", "does nothing"),
    ("one pass", "6.2"): (Level.ERROR, "metrics", "there is no `metrics`"),
    ("text", "7.14"): (Level.WARNING, "", "deprecated"),
    ("text with a comment of counters", "7.11"): (Level.ERROR, "pmc", "a pass without counters"),
    ("text of rocprof", "7.2"): (Level.ERROR, "", "gpu: 0"),
    ("text with commas", "7.2"): (Level.WARNING, "pmc", "commas"),
    ("text with the other extension", "7.2"): (Level.ERROR, "", ".text is not known"),
    ("groups", "7.2"): (Level.NOTE, "pmc_groups", "take turns"),
    ("groups", "6.3"): (Level.ERROR, "pmc_groups", "needs ROCm 7.0"),
    ("second refused", "7.2"): (Level.ERROR, "", "stops before it"),
}


@pytest.mark.parametrize(("name", "release"), SAID)
def test_every_trap_is_said(name: str, release: str) -> None:
    level, key, part = SAID[name, release]
    findings = all_findings(explained(name, release))
    assert any((f.level, f.key) == (level, key) and part in f.sentence for f in findings), findings


@pytest.mark.parametrize("release", SCRIPTS)
def test_an_explanation_says_what_the_script_does(release: str) -> None:
    for name, (suffix, text) in FILES.items():
        file = input_of(text.encode(), f"input{suffix}")
        reading = reading_of(file, reader_of(assumed(release)), contents=CONTENTS.get)
        explanation = explained(name, release)
        assert explanation.is_refused == (reading.refusal is not None), name
        runs = [run for run in reading.runs if run.job is not None]
        assert [job.number for job in explanation.jobs if job.is_run] == [run.job for run in runs], name
        assert [job.variables for job in explanation.jobs if job.is_run] == [run.variables for run in runs], name
        for job in explanation.jobs:
            assert job.is_run or job.findings == () or job.findings[0].level is Level.ERROR, name
            assert all(finding.sentence for finding in job.findings), name
        if explanation.is_refused or not reading.runs:
            assert any(finding.level is Level.ERROR for finding in all_findings(explanation)), name


@pytest.mark.parametrize("name", ["one pass", "passes", "launches as texts", "everything", "definitions", "folders"])
def test_nothing_is_wrong_with_a_good_file(name: str) -> None:
    explanation = explained(name)
    assert not any(finding.level is Level.ERROR for finding in all_findings(explanation))
    assert all(job.is_as_meant for job in explanation.jobs)


@pytest.mark.parametrize(
    ("pattern", "part"),
    [
        ("(?:a|b)", "(?: is read as the text"),
        ("(foo|foobar)<", "write the longer one first"),
        ("(a", "does not take the regex"),
        (r"gemm\b", "letter b"),
    ],
)
def test_traps_of_the_regex_engine(pattern: str, part: str) -> None:
    findings = all_findings(of_jobs([{"pmc": ["A"], "kernel_include_regex": pattern}], "7.2"))
    assert any(f.level is Level.ERROR and f.key == "kernel_include_regex" and part in f.sentence for f in findings)


def test_truncated_names_have_no_templates() -> None:
    job = {"pmc": ["A"], "kernel_include_regex": "gemm<float>", "truncate_kernels": True}
    assert any("truncate_kernels cuts" in finding.sentence for finding in all_findings(of_jobs([job])))
    assert not any("cuts" in f.sentence for f in all_findings(of_jobs([job | {"truncate_kernels": False}])))
    [repaired] = of_jobs([job]).jobs[0].wanted
    assert repaired.extra == ()
    [as_written] = of_jobs([job | {"kernel_include_regex": "^gemm$"}]).jobs[0].wanted
    assert as_written.extra == ("--truncate-kernels",)


@pytest.mark.parametrize(
    "more",
    [
        {"att_buffer_size": "0x1000"},
        {"att_shader_engine_mask": "0x0"},
        {"att_target_cu": 16},
        {"att_simd_select": "0x1f"},
        {"att_perfcounter_ctrl": 3},
        {"att_perfcounters": " ".join(f"SQ_{at}" for at in range(9)), "att_perfcounter_ctrl": 3},
    ],
)
def test_limits_of_the_tool(more: dict[str, Any]) -> None:
    findings = all_findings(of_jobs([{"advanced_thread_trace": True} | more]))
    assert any(f.level is Level.ERROR and "the tool ends the program" in f.sentence for f in findings)


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
    wanted = [job.wanted for job in of_jobs(jobs, "7.11").jobs]
    assert wanted == [
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
    [job] = explained("definitions").jobs
    [wanted] = job.wanted
    assert isinstance(wanted, Counters)
    assert wanted.definitions == EXTRA


def test_an_unknown_release_is_read_by_its_options() -> None:
    suffix, text = FILES["several thread traces"]
    nameless = replace(assumed("7.13"), rocm_version="")
    explanation = explain(input_of(text.encode(), f"i{suffix}"), nameless)
    assert not any(job.is_run for job in explanation.jobs)
    assert explanation.release == "7.13"
