"""Captures from plan to verdict behind AMD's own script, with a program that plays AMD's tool."""

from __future__ import annotations

import hashlib
import json
import shutil
import stat
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from synth.profiler_output import KERNEL
from synth.rocm_tree import SCRIPTS, make_rocm_tree
from tests.conftest import SHARED
from tests.unit.capture.made_captures import Bench, installation_of
from wavewright.capture.gpus.locks import holder_of, lock_path
from wavewright.capture.jobs.capture_run import take
from wavewright.capture.jobs.folder import JobFolder
from wavewright.capture.jobs.plan import Plan
from wavewright.capture.jobs.result import stored_result
from wavewright.capture.judgement import Verdict
from wavewright.capture.kinds import Counters, Discovery, ThreadTraces
from wavewright.capture.machines.machine import Machine
from wavewright.capture.machines.runner import Limits
from wavewright.errors import BusyError, MissingToolError, OutputError, UsageError, WavewrightError

SAXPY: dict[str, Any] = {"kernel": "saxpy", "launches": (7, 8)}


def test_a_good_capture_is_taken_once_and_written_down(bench: Bench) -> None:
    result = bench.take(bench.job(**SAXPY))
    assert (result.verdict, len(result.attempts), len(bench.runs)) == (Verdict.GOOD, 1, 1)
    assert bench.stored_names == ["planned", "started", "ended", "judged", "finished"]
    folder = bench.folder / "out"
    assert (folder / "result").readlink() == Path("attempts/1")
    assert [each.launch for each in result.dispatches] in ([7, 8], [8, 7])
    assert result.best is not None
    assert result.best.judgement.noise_share is not None
    assert result.trace().waves.height == result.dispatches[0].wave_count
    command = json.loads((folder / "attempts/1/command.json").read_text())
    assert command["versions"]["rocm"] == bench.tree.rocm
    assert command["gpu"]["unique_id"] == "GPU-000000000000abc1"
    program = Path(bench.job().recording.program[0])
    assert command["program"]["sha256"] == hashlib.sha256(program.read_bytes()).hexdigest()
    machine = json.loads((folder / "machine.json").read_text())
    assert machine["versions"]["wavewright"]
    assert json.loads((folder / "job.json").read_text())["wanted"]["launches"] == [7, 8]
    assert stored_result(folder) == result
    for name in ("job.json", "result.json", "attempts/1/command.json"):  # they hold the values of --env
        assert stat.S_IMODE((folder / name).stat().st_mode) == 0o600


@pytest.mark.some_cases(2)
@pytest.mark.parametrize("name", ["attempts", "attempts/1/stdout.txt", "attempts/1/raw", ".lock"])
def test_a_folder_with_links_of_a_stranger_is_not_gone_on_with(bench: Bench, name: str) -> None:
    job = bench.job(**SAXPY)
    bench.take(job)
    place, outside = bench.folder / "out" / name, bench.folder / "outside"
    place.rename(outside) if place.exists() else outside.touch()
    place.symlink_to(outside)
    for how in ({"resume": True}, {"force": True}):
        with pytest.raises(WavewrightError):
            bench.take(job, **how)
    assert outside.exists()


def test_the_gpu_of_a_capture_is_the_only_one_that_the_program_sees(bench: Bench) -> None:
    bench.take(bench.job(**SAXPY))
    variables = bench.runs[0]["env"]
    assert variables["ROCR_VISIBLE_DEVICES"] == "0"
    assert "HIP_VISIBLE_DEVICES" not in variables


#: The oldest releases have no thread traces.
KINDS = [("discover", rocm) for rocm in SCRIPTS] + [("att", rocm) for rocm in SCRIPTS if not rocm.startswith("6")]
FAST = (("discover", "6.2"), ("att", "7.14"))


@pytest.mark.first_case
@pytest.mark.parametrize(
    ("kind", "rocm"), [pytest.param(*each, marks=() if each in FAST else pytest.mark.slow) for each in KINDS]
)
def test_the_printed_command_is_what_is_run(tmp_path: Path, trace_templates: Path, rocm: str, kind: str) -> None:
    """The line of a dry run, given to a shell, hands the program the same words and variables as the capture does."""
    tree = make_rocm_tree(tmp_path / "rocm", rocm, shared=SHARED if SHARED.is_dir() else None)
    noisy = {"HSA_TOOLS_LIB": "x.so", "HIP_VISIBLE_DEVICES": "3", "ROCPROF_STATS": "1", "B": "it's a $HOME\n"}
    bench = Bench(tmp_path / "bench", tree, trace_templates, variables=noisy)
    fields = {**SAXPY, "variables": {"C": "d e"}} if kind == "att" else {"variables": {"C": "d e"}}
    job = bench.job(ThreadTraces if kind == "att" else Discovery, **fields)
    plan = Plan(job=job, machine=bench.machine, installation=installation_of(tree))
    [command] = plan.commands(bench.folder / "out")
    subprocess.run(["sh", "-c", command.line], env=bench.variables, check=True)
    shutil.rmtree(bench.folder / "out")
    bench.take(job)
    stored = json.loads((bench.folder / "out/attempts/1/command.json").read_text())["commands"]
    assert [each["words"] for each in stored] == [list(command.words)]
    by_hand, taken = bench.runs
    assert taken["argv"] == by_hand["argv"]
    assert taken["cwd"] == by_hand["cwd"]
    ours = ("WAVEWRIGHT_JOB",)
    by_shell = ("PWD", "OLDPWD", "_", "SHLVL")
    seen = [
        {key: value for key, value in run["env"].items() if key not in (*ours, *by_shell)} for run in (by_hand, taken)
    ]
    assert seen[0] == seen[1]
    assert set(ours) <= set(taken["env"])
    assert "HSA_TOOLS_LIB" not in seen[0]


@pytest.mark.slow
def test_a_truncated_trace_is_taken_again_until_the_buffer_is_large_enough(bench: Bench) -> None:
    bench.steering["needed_bytes"] = 300 << 20
    result = bench.take(bench.job(**SAXPY))
    assert [each.judgement.verdict for each in result.attempts] == [Verdict.TRUNCATED, Verdict.GOOD]
    assert result.best is not None
    assert result.best.number == 2
    sizes = [int(run["env"]["ROCPROF_ATT_PARAM_BUFFER_SIZE"], 0) for run in bench.runs]
    assert sizes[0] < 300 << 20 <= sizes[1]
    assert (bench.folder / "out/result").readlink() == Path("attempts/2")
    assert (bench.folder / "out/attempts/1/raw").is_dir()
    assert result.best.why
    assert bench.named("retry")[0]["why"] == result.best.why


@pytest.mark.slow
def test_an_empty_trace_is_taken_again_until_the_shader_engines_fit(bench: Bench) -> None:
    bench.steering["busy_engines"] = [13]
    result = bench.take(bench.job(**SAXPY))
    verdicts = [each.judgement.verdict for each in result.attempts]
    assert verdicts[:-1] == [Verdict.EMPTY] * (len(verdicts) - 1)
    assert verdicts[-1] is Verdict.GOOD
    masks = [int(run["env"]["ROCPROF_ATT_PARAM_SHADER_ENGINE_MASK"], 0) for run in bench.runs]
    assert not masks[0] >> 13 & 1
    assert masks[-1] >> 13 & 1


@pytest.mark.slow
def test_attempts_are_bounded_and_the_best_of_them_is_kept(bench: Bench) -> None:
    bench.steering["needed_bytes"] = 1 << 60
    result = bench.take(bench.job(**SAXPY, attempts=2))
    assert len(bench.runs) == len(result.attempts) == 2
    assert result.verdict is Verdict.TRUNCATED
    assert not result.is_good


def test_without_a_kernel_a_discovery_chooses_it_and_two_warm_launches(bench: Bench) -> None:
    result = bench.take(bench.job())
    assert result.verdict is Verdict.GOOD
    assert len(bench.runs) == 2
    recording = result.attempts[0].recording
    assert isinstance(recording, ThreadTraces)
    assert recording.kernel == KERNEL
    first, second = recording.launches
    assert second == first + 1
    assert first > 2
    assert bench.stored_names[:3] == ["discovery started", "discovery ended", "discovered"]
    assert (bench.folder / "out/discovery/1/raw").is_dir()


def test_a_discovery_that_shows_no_kernel_is_the_verdict(bench: Bench) -> None:
    bench.steering |= {"kernels": [], "status": 3}
    result = bench.take(bench.job())
    assert result.verdict is Verdict.FAILED
    assert result.attempts[0].judgement.reasons[0].startswith("discovery: ")
    assert len(bench.runs) == 1


def test_a_kernel_that_did_not_run_is_named_with_those_that_did(bench: Bench) -> None:
    with pytest.raises(UsageError, match="no kernel that ran matches the name 'gemm'"):
        bench.take(bench.job(kernel="gemm"))


@pytest.mark.slow
def test_clean_keeps_the_raw_data_of_the_best_attempt_only(bench: Bench) -> None:
    bench.steering["needed_bytes"] = 300 << 20
    bench.take(bench.job(**SAXPY), clean=True)
    attempts = bench.folder / "out/attempts"
    assert not (attempts / "1/raw").exists()
    assert (attempts / "1/stderr.txt").exists()
    assert (attempts / "2/raw").is_dir()


# --- folders ---


def test_a_folder_of_a_capture_is_not_overwritten_but_replaced_or_gone_on_with(bench: Bench) -> None:
    job = bench.job(**SAXPY)
    first = bench.take(job)
    with pytest.raises(UsageError, match="a capture is here already"):
        bench.take(job)
    assert len(bench.runs) == 1
    again = bench.take(job, resume=True)
    assert again == first
    assert len(bench.runs) == 1
    assert len(bench.named("note")) == 1
    other = replace(job, recording=replace(job.recording, launches=(5, 6)))
    with pytest.raises(UsageError, match="of another job"):
        bench.take(other, resume=True)
    replaced = bench.take(other, force=True)
    assert len(bench.runs) == 2
    assert replaced.job.id != first.job.id
    assert stored_result(bench.folder / "out").job.id == replaced.job.id


def test_a_folder_with_something_else_stays_as_it_is(bench: Bench) -> None:
    job = bench.job(**SAXPY)
    (bench.folder / "file").write_text("mine")
    with pytest.raises(UsageError, match="this is none"):
        bench.take(job, "file")
    (bench.folder / "full").mkdir()
    (bench.folder / "full" / "thesis.tex").write_text("mine")
    for how in ({}, {"resume": True}, {"force": True}):
        with pytest.raises(UsageError, match="holds no capture"):
            bench.take(job, "full", **how)
    assert [path.name for path in (bench.folder / "full").iterdir()] == ["thesis.tex"]
    assert not bench.runs


def test_a_folder_that_cannot_be_made_is_one_sentence(bench: Bench) -> None:
    job = bench.job(**SAXPY)
    (bench.folder / "file").touch()
    with pytest.raises(OutputError, match="cannot create a folder of the capture: Not a directory"):
        bench.take(job, "file/out")
    with pytest.raises(OutputError, match="cannot create a folder of the capture: "):
        bench.take(job, "/proc/wavewright-capture")
    assert not bench.runs


class AlmostFull:
    """A machine whose disk has little room."""

    def __init__(self, machine: Machine, free: int) -> None:
        self._machine = machine
        self._free = free

    def free_bytes(self, path: str) -> int | None:
        return self._free

    def __getattr__(self, name: str) -> Any:
        return getattr(self._machine, name)


def test_nothing_begins_on_a_full_disk(bench: Bench) -> None:
    machine: Any = AlmostFull(bench.machine, 1 << 20)
    job = bench.job(**SAXPY)
    how: dict[str, Any] = {"installation": installation_of(bench.tree)}
    with pytest.raises(OutputError, match=r"only 1\.05 MB are free"):
        take(job, bench.folder / "out", machine=machine, **how)
    assert not bench.runs
    machine = AlmostFull(bench.machine, 100 << 20)
    result = take(job, bench.folder / "out", machine=machine, resume=True, say=bench.events.append, **how)
    assert result.is_good
    assert "are free, and full buffers of this capture would be" in bench.named("note")[0]["text"]


# --- programs ---


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        ("./nothing", "the program './nothing' does not exist"),
        ("no-such-program", "the program 'no-such-program' does not exist"),
        ("./plain", "the program './plain' is not executable"),
    ],
)
def test_a_program_that_cannot_be_run_is_said_before_anything_runs(bench: Bench, word: str, sentence: str) -> None:
    (bench.folder / "plain").touch(0o644)
    job = bench.job(**SAXPY)
    job = replace(job, recording=replace(job.recording, program=(word,), cwd=str(bench.folder)))
    with pytest.raises(UsageError) as caught:
        bench.take(job)
    assert sentence in str(caught.value)
    assert not bench.events


def test_a_program_that_fails_is_run_once(bench: Bench) -> None:
    bench.steering |= {"status": 3, "stderr": "no such model\n"}
    result = bench.take(bench.job(**SAXPY))
    assert result.verdict is Verdict.FAILED
    assert result.attempts[0].ending is not None
    assert result.attempts[0].ending.status == 3
    assert len(bench.runs) == 1


def test_hostile_bytes_and_floods_end_up_bounded_and_harmless(bench: Bench) -> None:
    bench.steering |= {"stdout": list(b"\x1b]0;owned\x07\xff\x00" * 100), "flood_bytes": 50_000_000, "status": 9}
    limits = Limits(seconds=60, grace_seconds=3, output_bytes=100_000)
    result = bench.take(bench.job(**SAXPY, limits=limits))
    attempt = result.attempts[0]
    assert attempt.ending is not None
    assert attempt.ending.dropped_bytes > 49_000_000
    assert (attempt.folder / "stdout.txt").stat().st_size < 101_000
    for path in (bench.folder / "out").rglob("*.json"):
        assert b"\x1b" not in path.read_bytes()
        assert b"\\u001b" not in path.read_bytes()


def test_children_that_are_left_are_ended_and_counted(bench: Bench) -> None:
    bench.steering |= {"children": 2, "daemons": 1}
    limits = Limits(seconds=30, grace_seconds=0.2)
    result = bench.take(bench.job(**SAXPY, limits=limits))
    assert result.verdict is Verdict.GOOD
    assert result.attempts[0].ending is not None
    assert result.attempts[0].ending.left_behind == 3


@pytest.fixture
def hanging(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """The program does not end, and an hour has passed as soon as it is at work."""
    bench.steering |= {"seconds": 10_000, "stdout": "at work\n"}
    printed = bench.folder / "out/attempts/1/stdout.txt"

    def now() -> float:
        return time.monotonic() + 3600 * (printed.exists() and b"at work" in printed.read_bytes())

    monkeypatch.setattr("wavewright.capture.machines.runner.time", SimpleNamespace(monotonic=now, sleep=time.sleep))
    return bench


def test_a_program_that_hangs_is_stopped_and_its_data_are_judged(hanging: Bench) -> None:
    """The tool writes its data at SIGINT: what came in time counts."""
    result = hanging.take(hanging.job(**SAXPY, limits=Limits(seconds=3000, grace_seconds=1000), attempts=1))
    assert result.attempts[0].ending is not None
    assert result.attempts[0].ending.stopped == "timeout"
    assert result.dispatches


def test_a_program_that_ignores_every_signal_is_killed(hanging: Bench) -> None:
    hanging.steering["ignores"] = ["SIGINT", "SIGTERM"]
    result = hanging.take(hanging.job(**SAXPY, limits=Limits(seconds=3000, grace_seconds=0.3), attempts=1))
    assert result.verdict is Verdict.HUNG
    assert result.attempts[0].ending is not None
    assert result.attempts[0].ending.status == -9


@pytest.mark.slow
def test_a_hang_is_tried_again_once_after_a_pause(bench: Bench) -> None:
    bench.steering |= {"seconds": 100, "on_interrupt": False}
    result = bench.take(bench.job(**SAXPY, limits=Limits(seconds=1, grace_seconds=3)))
    assert [each.judgement.verdict for each in result.attempts] == [Verdict.HUNG, Verdict.HUNG]
    assert bench.pauses == [10.0]


# --- GPUs ---


def _holder(bench: Bench) -> object:
    host = bench.machine.identity.hostname
    return holder_of(lock_path(bench.folder / "locks", host, "0000:01:00.0"))


def test_the_gpu_is_locked_while_it_is_used_and_free_afterwards_however_it_ends(bench: Bench) -> None:
    seen: list[object] = []

    def say(event: dict[str, Any]) -> None:
        if event["event"] == "started":
            seen.append(_holder(bench))
            raise KeyboardInterrupt

    job = bench.job(**SAXPY)
    how: dict[str, Any] = {"machine": bench.machine, "installation": installation_of(bench.tree)}
    with pytest.raises(KeyboardInterrupt):
        take(job, bench.folder / "out", say=say, **how)
    assert seen[0] is not None
    assert _holder(bench) is None
    assert bench.take(job, resume=True).is_good
    assert _holder(bench) is None


def test_a_gpu_that_somebody_has_is_not_taken(bench: Bench) -> None:
    from wavewright.capture.gpus.choice import reserved

    with reserved("auto", bench.machine), pytest.raises(BusyError):
        bench.take(bench.job(**SAXPY))
    assert not bench.runs
    assert bench.take(bench.job(**SAXPY), resume=True).is_good


def test_a_machine_without_gpu_says_so_and_any_does_not_look(bench: Bench) -> None:
    shutil.rmtree(bench.folder / "nodes")
    with pytest.raises(MissingToolError, match="no GPU that the driver shows"):
        bench.take(bench.job(**SAXPY))
    job = replace(bench.job(**SAXPY), gpu="any")
    assert bench.take(job, "other").is_good
    assert "ROCR_VISIBLE_DEVICES" not in bench.runs[0]["env"]


def test_without_rocprofv3_nothing_is_run(bench: Bench) -> None:
    bench.variables["PATH"] = "/usr/bin:/bin"
    with pytest.raises(MissingToolError, match="rocprofv3"):
        take(bench.job(**SAXPY), bench.folder / "out", machine=bench.machine)
    assert bench.runs == []  # neither the program nor a profiler was started


def test_clocks_that_jump_change_nothing(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    jumps = iter(range(10**9, 0, -(10**5)))  # each look at the clock is 100,000 s earlier than the one before
    monkeypatch.setattr(time, "time", lambda: float(next(jumps)))
    assert bench.take(bench.job(**SAXPY)).is_good


def test_an_unknown_job_folder_has_no_result(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no job is here"):
        stored_result(tmp_path)
    (tmp_path / "job.json").write_text('{"wanted": {"kind": "att", "program": 5}}')
    with pytest.raises(WavewrightError):
        stored_result(tmp_path)
    assert JobFolder(tmp_path).numbered("discovery") == {}
    assert [path.name for path in tmp_path.iterdir()] == ["job.json"]


# --- other kinds ---


def _counter_files(folder: Path) -> Path:
    columns = (
        "Correlation_Id,Dispatch_Id,Agent_Id,Queue_Id,Process_Id,Thread_Id,Grid_Size,Kernel_Id,Kernel_Name,"
        "Workgroup_Size,LDS_Block_Size,Scratch_Size,VGPR_Count,Accum_VGPR_Count,SGPR_Count,Counter_Name,"
        "Counter_Value,Start_Timestamp,End_Timestamp"
    )
    rows = [
        f'{number},{number},"Agent 4",1,7,7,1024,11,"{KERNEL}",256,0,0,32,0,48,"{name}",9,{number}000,{number}900'
        for name in ("SQ_WAVES", "GRBM_COUNT")
        for number in (1, 2)
    ]
    path = folder / "files" / "PREFIX_counter_collection.csv"
    path.parent.mkdir()
    path.write_text("\n".join([columns, *rows]) + "\n")
    return path.parent


def test_counters_are_taken_pass_by_pass_and_joined(bench: Bench) -> None:
    bench.steering |= {"files": str(_counter_files(bench.folder)), "stdout": "counted\n"}
    result = bench.take(bench.job(Counters, passes=(("SQ_WAVES",), ("GRBM_COUNT",))))
    assert [run["env"]["ROCPROF_COUNTERS"] for run in bench.runs] == ["pmc: SQ_WAVES", "pmc: GRBM_COUNT"]
    folder = bench.folder / "out/attempts/1"
    assert (folder / "stdout.txt").read_text() == "counted\ncounted\n"
    assert {path.name for path in (folder / "raw").iterdir()} == {"pass_1", "pass_2"}
    assert [(each["pass"], each["passes"]) for each in bench.named("ended")] == [(1, 2), (2, 2)]
    assert result.best is not None
    assert result.best.judgement.is_kept
    assert set(result.counters().counters["counter"].unique()) >= {"SQ_WAVES", "GRBM_COUNT"}


@pytest.mark.slow
def test_definitions_of_counters_are_there_when_the_program_runs(bench: Bench) -> None:
    bench.steering |= {"files": str(_counter_files(bench.folder))}
    bench.take(bench.job(Counters, passes=(("SQ_WAVES",),), definitions="rocprofiler-sdk: {}\n"))
    assert bench.runs[0]["env"]["ROCPROF_EXTRA_COUNTERS_CONTENTS"].strip() == "rocprofiler-sdk: {}"


def test_without_amds_decoder_an_empty_file_stands_for_it(tmp_path: Path, trace_templates: Path) -> None:
    shared = SHARED if SHARED.is_dir() else None
    tree = make_rocm_tree(tmp_path / "rocm", shared=shared, has_decoder=False)
    bench = Bench(tmp_path / "bench", tree, trace_templates)
    result = bench.take(bench.job(**SAXPY))
    assert result.is_good
    [stand_in] = (bench.folder / "out/attempts/1/raw").rglob("librocprof-trace-decoder.so")
    assert stand_in.stat().st_size == 0


def test_placeholders_are_listed_and_cleaned(bench: Bench) -> None:
    from synth.profiler_output import write_placeholder

    write_placeholder(bench.folder / "files", 5)
    bench.steering["files"] = str(bench.folder / "files")
    job = bench.job(**SAXPY)
    result = bench.take(job)
    assert [each.dispatch for each in result.placeholders] == [5]
    bench.take(job, resume=True, clean=True)
    raw = result.raw
    assert not list(raw.glob("ui_output*"))
    assert not list(raw.glob("stats_ui_output*"))
    assert list(raw.rglob("*.att"))


@pytest.mark.slow
def test_a_disk_that_becomes_full_is_one_sentence_and_the_job_can_be_resumed(bench: Bench) -> None:
    """By the limit of file sizes of the taker: a file that cannot be written."""
    from dataclasses import asdict

    script = """
import json, resource, signal, sys
from pathlib import Path
from wavewright.capture.rocprofv3.releases import Installation
from wavewright.capture.machines.machine import Machine
from wavewright.capture.jobs.folder import converted
from wavewright.capture.jobs.job import Job
from wavewright.capture.jobs.capture_run import take
from wavewright.errors import WavewrightError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
given = json.loads(sys.argv[1])
def say(event):
    if event["event"] == "planned":
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
try:
    take(converted(given["job"], Job), Path(given["folder"]), machine=Machine(variables=given["variables"]),
         installation=converted(given["installation"], Installation), say=say)
except WavewrightError as error:
    print(type(error).__name__, error)
"""
    job = bench.job(**SAXPY)
    installation = asdict(installation_of(bench.tree))
    given = {
        "job": job.as_json(),
        "folder": str(bench.folder / "out"),
        "variables": bench.variables,
        "installation": installation | {"options": sorted(installation["options"])},
    }
    done = subprocess.run([sys.executable, "-c", script, json.dumps(given)], capture_output=True, text=True)
    assert done.stdout.startswith("OutputError ")
    assert "cannot write the" in done.stdout
    assert len(done.stdout.splitlines()) == 1
    assert _holder(bench) is None
    assert bench.take(job, resume=True).is_good
