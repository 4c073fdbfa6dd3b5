"""Our model of how rocprofv3 reads input files, against AMD's scripts of six releases, file by file."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.amd_script import SCRIPTS, AmdScript, old_and_new
from tests.sampling import every_third, examples
from tests.unit.capture.inputs.traps import EXTRA, FILES
from wavewright.capture.inputs.files import input_of
from wavewright.capture.inputs.reading import Reading, key_of, reader_of, reading_of
from wavewright.capture.rocprofv3.options import all_options
from wavewright.capture.rocprofv3.releases import assumed

#: What was done: whether it was refused, and the variables of each run.
Did = tuple[bool, list[dict[str, str]]]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "extra.yaml").write_text(EXTRA, encoding="utf-8")
    return tmp_path


def variables(values: dict[str, str]) -> dict[str, str]:
    """Those of the profiler, but for those that name libraries."""
    return {
        key: value
        for key, value in values.items()
        if key.startswith(("ROCPROF", "ROCTX")) and key != "ROCPROF_ATT_LIBRARY_PATH"
    }


def by_amd(script: AmdScript, name: str, text: str) -> Did:
    Path(name).write_text(text, encoding="utf-8", newline="")
    outcome = script.run(["-i", name, "--", "program", "a b"])
    runs = [variables(values) for _, values in outcome.runs]
    if any("\0" in value for run in runs for value in run.values()):  # which ends a real script in a traceback
        return True, []
    return outcome.status != 0, runs


def reading(release: str, name: str, text: str) -> Reading:
    contents = {"extra.yaml": EXTRA}
    file = input_of(text.encode(), name)
    return reading_of(file, reader_of(assumed(release)), cwd=str(Path.cwd()), contents=contents.get)


def by_us(release: str, name: str, text: str) -> Did:
    result = reading(release, name, text)
    return result.refusal is not None, [variables(run.variables) for run in result.runs]


@pytest.mark.first_case
@pytest.mark.parametrize("release", every_third(SCRIPTS))
def test_every_trap_is_read_as_by_the_script(release: str, scripts: dict[str, AmdScript]) -> None:
    different = {}
    for name, (suffix, text) in FILES.items():
        amd, ours = by_amd(scripts[release], f"input{suffix}", text), by_us(release, f"input{suffix}", text)
        if amd != ours:
            different[name] = (amd, ours)
    assert different == {}


#: Keys that depend on the machine, or would read from a descriptor of the test.
_APART = frozenset(
    [
        "help",
        "list_avail",
        "list_metrics",
        "pid",
        "attach_duration_msec",
        "attach_children",
        "rocm_root",
        "mpi_world_rank_variable",
        "mpi_world_size_variable",
        "profile_mpi_ranks",
        "sdk_version",
        "sdk_soversion",
        "replay_mode",
        "extra_counters",
        "att_library_path",
    ]
)
_FILE_KEYS = ("pmc_groups", "pmc_group_interval", "perfetto_fill_policy", "ompt_trace_operations", "unknown_key")
_VALUES: tuple[object, ...] = (
    *(True, False, None, 0, 1, -1, 1.5, "0", "x", "no", "", "0x5", "rocpd", {}, {"a": 1}),
    *([], ["a"], ["a", "b"], [1], [None], [""], ["1:2:1"], ["rocpd"], [["a"]], [["a"], ["b"]]),
)


@pytest.mark.parametrize("release", SCRIPTS)
def test_any_key_with_any_value_is_read_as_by_the_script(release: str, scripts: dict[str, AmdScript]) -> None:
    keys = [*(key_of(option) for option in all_options().values()), *_FILE_KEYS]
    keys = [key for key in keys if key not in _APART]
    rng = random.Random(release)
    for _ in range(examples(250)):
        jobs = []
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            job = {key: rng.choice(_VALUES) for key in rng.sample(keys, rng.randint(1, 4))}
            more = {"pmc": ["A"]} if rng.random() < 0.5 else {}
            jobs.append(job | more | ({"advanced_thread_trace": True} if rng.random() < 0.4 else {}))
        text = json.dumps({"jobs": jobs})
        assert by_amd(scripts[release], "input.json", text) == by_us(release, "input.json", text), text


@pytest.mark.parametrize("release", old_and_new(SCRIPTS))
@pytest.mark.parametrize(
    "name",
    ["seed 3", "NUL", *(pytest.param(each, marks=pytest.mark.slow) for each in ("passes", "second refused"))],
)
def test_a_process_of_its_own_does_the_same(
    release: str, name: str, scripts: dict[str, AmdScript], shared: Path
) -> None:
    suffix, text = FILES[name]
    Path(f"input{suffix}").write_text(text, encoding="utf-8")
    stub = shared / "data/rocprofv3-tree/stubs/stub_app.py"
    words = [sys.executable, str(scripts[release].path), "-i", f"input{suffix}", "--", sys.executable, str(stub)]
    environment = {"PATH": os.environ["PATH"], "STUB_RECORD": "seen.jsonl"}
    done = subprocess.run(words, env=environment, capture_output=True, check=False)
    seen = Path("seen.jsonl")
    lines = seen.read_text(encoding="utf-8").splitlines() if seen.exists() else []
    runs = [variables(json.loads(line)["env"]) for line in lines]
    assert (done.returncode != 0, runs) == by_us(release, f"input{suffix}", text)


def test_jobs_without_counters_are_dropped_from_7_13_on() -> None:
    suffix, text = FILES["passes and a trace"]
    assert reading("7.11", f"i{suffix}", text).dropped == ()
    assert reading("7.13", f"i{suffix}", text).dropped == (2,)
    assert [run.folder for run in reading("7.13", f"i{suffix}", text).runs] == [
        str(Path.cwd() / "pass_1"),
        str(Path.cwd() / "pass_2"),
    ]


def test_a_decoder_folder_is_taken_from_a_list() -> None:
    text = json.dumps({"jobs": [{"advanced_thread_trace": True, "att_library_path": ["/opt/decoder"]}]})
    [run] = reading("7.14", "input.json", text).runs
    assert run.variables["ROCPROF_ATT_LIBRARY_PATH"] == "/opt/decoder"
