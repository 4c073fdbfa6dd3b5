"""Files that we write mean the same as our commands, to AMD's scripts of six releases, in every form."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from tests.amd_script import SCRIPTS, AmdScript
from wavewright.capture.inputs.explanation import explain
from wavewright.capture.inputs.files import input_of
from wavewright.capture.inputs.findings import Level
from wavewright.capture.inputs.writing import WrittenInput, form_of, input_from, jobs_text
from wavewright.capture.plans.commands import commands_of
from wavewright.capture.rocprofv3.releases import assumed
from wavewright.capture.wanted import Counters, Discovery, RunTrace, Samples, ThreadTraces, Wanted
from wavewright.errors import UsageError

APP = ("program", "a b")
TRICKY = r"^void gemm<\(4, \"x\"\)>: #\[no\]$"
COUNTERS = Counters(program=APP, passes=(("SQ_WAVES", "GRBM_COUNT"), ("TCC_HIT_sum",)))
#: What is wanted -> the first release that can do it.
WANTED: dict[str, tuple[Wanted, str]] = {
    "passes": (COUNTERS, "6.2"),
    "one pass": (replace(COUNTERS, passes=(("SQ_WAVES",),)), "6.2"),
    "passes of a kernel": (replace(COUNTERS, kernel_regex=TRICKY, exclude_regex="no", launches=(2, 5, 6, 7)), "6.3"),
    "passes with definitions": (replace(COUNTERS, definitions="rocprofiler-sdk:\n  counters: []\n"), "7.0"),
    "passes with more": (replace(COUNTERS, extra=("--kernel-rename", "--log-level", "info")), "6.3"),
    "discovery": (Discovery(program=APP), "6.3"),
    "run": (RunTrace(program=APP), "6.3"),
    "thread trace": (ThreadTraces(program=APP), "7.0"),
    "thread trace in a window": (
        ThreadTraces(
            program=APP, kernel_regex=TRICKY, launches=(7, 8), target_cu=0, simds=0, se_mask=0x11, buffer_bytes=1 << 28
        ),
        "7.0",
    ),
    "thread trace with counters": (
        ThreadTraces(program=APP, counters=("SQ_WAVES", "SQ_INSTS:0x3"), counter_period=3, serialize_all=True),
        "7.0",
    ),
    "thread trace with activity": (ThreadTraces(program=APP, activity=8), "7.0"),
    "thread trace of the target": (
        ThreadTraces(program=APP, counters=("SQ_WAVES",), counter_period=2, target_only=True, consecutive=3),
        "7.13",
    ),
    "samples": (Samples(program=APP, method="host_trap", unit="time", interval=100), "7.0"),
}
CASES = [
    (name, release)
    for name, (_, first) in WANTED.items()
    for release in SCRIPTS
    if list(SCRIPTS).index(release) >= list(SCRIPTS).index(first)
]
_IGNORED = ("ROCPROF_OUTPUT_PATH", "ROCPROF_ATT_LIBRARY_PATH", "ROCPROF_OUTPUT_LIST_METRICS_FILE")


def variables(values: dict[str, str]) -> dict[str, str]:
    return {key: value for key, value in values.items() if key.startswith(("ROCPROF", "ROCTX")) and key not in _IGNORED}


def by_words(script: AmdScript, wanted: Wanted, folder: Path) -> list[dict[str, str]]:
    runs = []
    installation = replace(assumed(script.rocm), decoder_folder=str(script.root / "lib"))
    for command in commands_of(wanted, installation, folder=str(folder), environment={}):
        for path, content in command.files.items():
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).write_bytes(content)
        outcome = script.run(list(command.words[1:]))
        assert outcome.status == 0, outcome.stderr
        runs += [variables(values) for _, values in outcome.runs]
    return runs


def written(wanted: Wanted, release: str, form: str, folder: Path) -> WrittenInput:
    commands = commands_of(wanted, assumed(release), folder=str(folder), environment={})
    return input_from(commands, assumed(release), form, comments=["made by a test"], definitions_path="extra.yaml")


@pytest.mark.parametrize(("name", "release"), CASES)
def test_a_file_means_what_the_command_means(
    name: str, release: str, scripts: dict[str, AmdScript], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    wanted, _ = WANTED[name]
    truth = by_words(scripts[release], wanted, tmp_path / "raw")
    for form in ("json", "yaml", *(("txt",) if isinstance(wanted, Counters) else ())):
        given = written(wanted, release, form, tmp_path / "raw")
        Path(f"input.{form}").write_text(given.text, encoding="utf-8")
        if given.definitions:
            Path("extra.yaml").write_text(given.definitions, encoding="utf-8")
        outcome = scripts[release].run(["-i", f"input.{form}", *given.options, "--", *APP])
        assert outcome.status == 0, (form, given, outcome.stderr)
        assert [words for words, _ in outcome.runs] == [list(APP)] * len(truth)
        assert [variables(values) for _, values in outcome.runs] == truth, form


@pytest.mark.parametrize("name", [name for name, (_, first) in WANTED.items() if first != "7.13"])
def test_one_file_is_for_all_releases(
    name: str, scripts: dict[str, AmdScript], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Written for 7.11, read by every release that can do it; formats aside, which each release chooses."""
    monkeypatch.chdir(tmp_path)
    wanted, first = WANTED[name]
    given = written(wanted, "7.11", "json", tmp_path / "raw")
    Path("input.json").write_text(given.text, encoding="utf-8")
    Path("extra.yaml").write_text(given.definitions, encoding="utf-8")
    results = {}
    for release in list(SCRIPTS)[list(SCRIPTS).index(first) :]:
        outcome = scripts[release].run(["-i", "input.json", *given.options, "--", *APP])
        assert outcome.status == 0, outcome.stderr
        results[release] = [
            {
                key: value
                for key, value in variables(values).items()
                if key.startswith(("ROCPROF_KERNEL_FILTER", "ROCPROF_COUNTERS", "ROCPROF_ATT", "ROCPROF_PC"))
            }
            for _, values in outcome.runs
        ]
    assert all(result == results["7.11"] for result in results.values()), results
    assert results["7.11"]


@pytest.mark.parametrize("name", [name for name, (_, first) in WANTED.items() if first != "7.13"])
def test_what_we_write_we_explain_without_errors(name: str, tmp_path: Path) -> None:
    wanted, _ = WANTED[name]
    given = written(wanted, "7.14", "json", tmp_path)
    explanation = explain(input_of(given.text.encode(), "input.json"), assumed("7.14"), program=APP)
    errors = [f for job in explanation.jobs for f in job.findings if f.level is Level.ERROR]
    assert errors == []
    [read, *rest] = [each for job in explanation.jobs for each in job.wanted]
    assert type(read) is type(wanted)
    if isinstance(wanted, Counters):
        assert tuple(names for each in (read, *rest) for names in each.passes) == wanted.passes  # type: ignore[attr-defined]


def test_yaml_says_the_same_as_json() -> None:
    jobs: list[dict[str, Any]] = [
        {"pmc": ["NO", "1e3", "0x10", "2025-01-01"], "kernel_include_regex": TRICKY, "truncate_kernels": False},
        {"pmc": ["on"], "output_file": "null", "att_target_cu": "010"},
    ]
    assert yaml.safe_load(jobs_text(jobs, "yaml", comments=["a\nb: [", "#"])) == json.loads(jobs_text(jobs, "json"))


def test_what_a_file_cannot_say_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nothing but counters"):
        written(Discovery(program=APP), "7.0", "txt", tmp_path)
    with pytest.raises(UsageError, match="reads nothing but counters"):
        written(Discovery(program=APP), "6.2", "json", tmp_path)
    with pytest.raises(UsageError, match="only those with counters"):
        jobs_text([{"kernel_trace": True}, {"pmc": ["A"]}], "json")
    with pytest.raises(UsageError, match="extension"):
        form_of(Path("input.cfg"))
    assert "deprecated" in written(COUNTERS, "7.13", "txt", tmp_path).notes[0]
    assert written(COUNTERS, "7.11", "txt", tmp_path).notes == ()
