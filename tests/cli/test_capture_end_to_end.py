"""Whole captures as a user takes them, without a GPU: AMD's script where it is at hand, a driver's topology that was
made up, and a program that leaves what AMD's tool would leave (`synth/profiled_program.py`)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from synth.pc_samples import SampledRun, write_samples
from synth.profiler_output import KERNEL, make_templates
from synth.rocm_tree import RocmTree, make_rocm_tree, steered
from synth.rocpd import write_rocpd
from synth.workload import Workload
from tests.cli.in_process import Done, call
from tests.conftest import SHARED

COPY = "__amd_rocclr_copyBuffer"
MI300X = {
    "cpu_cores_count": 0,
    "simd_count": 1216,
    "mem_banks_count": 1,
    "max_waves_per_simd": 8,
    "lds_size_in_kb": 64,
    "wave_front_size": 64,
    "array_count": 32,
    "simd_arrays_per_engine": 1,
    "cu_per_simd_array": 10,
    "simd_per_cu": 4,
    "gfx_target_version": 90402,
    "vendor_id": 4098,
    "device_id": 29857,
    "location_id": 256,
    "domain": 0,
    "drm_render_minor": 128,
    "unique_id": 81985529216486895,
    "num_xcc": 8,
}
"""The GPU as the driver describes it."""
KERNELS = [[COPY, 6, 9000, 1], [KERNEL, 12, 5000, 2432], ["finish", 3, 700, 20]]
Capture = Callable[..., Done]


@pytest.fixture(scope="module")
def rocm(tmp_path_factory: pytest.TempPathFactory) -> RocmTree:
    return make_rocm_tree(tmp_path_factory.mktemp("rocm"), shared=SHARED if SHARED.is_dir() else None)


@pytest.fixture(scope="module")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_templates(tmp_path_factory.mktemp("templates"))


@pytest.fixture
def capture(rocm: RocmTree, templates: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Capture:
    """Calls `wavewright capture KIND OPTIONS -- PROGRAM`; the program does what `steering` says."""
    node = tmp_path / "nodes" / "1"
    node.mkdir(parents=True)
    (node / "properties").write_text("".join(f"{name} {value}\n" for name, value in MI300X.items()), "ascii")
    (node / "gpu_id").write_text("4242\n", "ascii")
    monkeypatch.setenv("ROCPROFILER_KFD_TOPOLOGY", str(tmp_path / "nodes"))
    monkeypatch.setenv("WAVEWRIGHT_LOCK_DIR", str(tmp_path / "locks"))
    monkeypatch.setenv("COLUMNS", "80")
    (tmp_path / "locks").mkdir()
    monkeypatch.chdir(tmp_path)

    def start(kind: str, *options: object, **steering: Any) -> Done:
        settings = {"templates": str(templates), "kernels": KERNELS, "record": str(tmp_path / "record.jsonl")}
        words, variables = steered(tmp_path, **(settings | steering))
        told = [word for name, value in variables.items() for word in ("--env", f"{name}={value}")]
        return call("capture", kind, "--rocprofv3", rocm.rocprofv3, *told, *options, "--", *words)

    return start


def runs(tmp_path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (tmp_path / "record.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.slow
def test_discover(capture: Capture, tmp_path: Path) -> None:
    done = capture("discover", "-o", tmp_path / "d")
    assert done.status == 0, done.stderr
    assert "21 dispatches of 3 kernels" in done.stdout
    assert "suggested: blas::saxpy<64u>, launches 8 and 9 of 12" in done.stdout
    assert "> " in done.stdout
    assert f"wavewright capture att --discovery {tmp_path / 'd'}" in done.stdout.replace(" \\\n   ", "")
    assert max(map(len, done.stdout.splitlines()[:12])) <= 80
    plan = capture("att", "--discovery", tmp_path / "d", "--dry-run", "--json")
    words = json.loads(plan.stdout)["commands"][0]["words"]
    assert words[words.index("--kernel-iteration-range") + 1 :][:2] == ["8", "9"]
    assert len(runs(tmp_path)) == 1


@pytest.mark.slow
def test_att_finds_kernel_launches_and_buffer(capture: Capture, tmp_path: Path) -> None:
    """Nothing is told: a discovery, a truncated trace, a larger buffer, two launches."""
    done = capture("att", "-o", tmp_path / "a", needed_bytes=400 << 20)
    assert done.status == 0, done.stderr
    told = done.stderr.splitlines()
    assert told[0] == "discovery: blas::saxpy<64u>, launches 8 and 9 of 12"
    assert told[1].startswith("attempt 1: truncated: ")
    assert "attempt 2: a buffer of 512 MiB" in told
    assert any(line.startswith("attempt 2: good: ") for line in told)
    assert done.stdout.startswith("thread traces of profiled_program: good after 2 attempts")
    assert "2 traced dispatches" in done.stdout
    assert "less" in done.stdout and "is noise" in done.stdout
    assert f"wavewright diagnose {tmp_path / 'a'}" in done.stdout
    variables = [run["env"] for run in runs(tmp_path)]
    assert [each.get("ROCPROF_ATT_PARAM_BUFFER_SIZE") for each in variables[1:]] == [str(256 << 20), str(512 << 20)]
    assert [each["ROCR_VISIBLE_DEVICES"] for each in variables] == ["0"] * 3
    info = json.loads(call("info", tmp_path / "a", "--json").stdout)
    assert info["inputs"] == [str(tmp_path / "a" / "result" / "raw")]
    assert "blas::saxpy" in call("hotspots", tmp_path / "a").stdout


@pytest.mark.slow
def test_dry_run_is_what_runs(capture: Capture, tmp_path: Path) -> None:
    told = ("--kernel", "saxpy", "--launch", "8-9", "-o", tmp_path / "a")
    plan = json.loads(capture("att", *told, "--dry-run", "--json").stdout)["commands"][0]
    assert not (tmp_path / "record.jsonl").exists()
    assert capture("att", *told).status == 0
    stored = json.loads((tmp_path / "a" / "attempts" / "1" / "command.json").read_text("utf-8"))["commands"][0]
    assert stored["words"] == plan["words"]
    assert stored["line"] == plan["line"]
    (run,) = runs(tmp_path)
    assert run["argv"] == plan["words"][-2:]
    assert {name: run["env"][name] for name in plan["variables"]} == plan["variables"]


@pytest.mark.slow
def test_events_are_lines_of_json(capture: Capture, tmp_path: Path) -> None:
    done = capture("att", "-o", tmp_path / "a", "--json", needed_bytes=400 << 20)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    names = [event["event"] for event in events if event["event"] not in ("running", "note")]
    assert names[:3] == ["discovery started", "discovery ended", "discovered"]
    assert names[-2:] == ["finished", "result"]
    assert [event["verdict"] for event in events if event["event"] == "judged"] == ["truncated", "good"]
    result = events[-1]
    assert (result["verdict"], result["is_good"], result["attempts"]) == ("good", True, 2)
    assert result["next"][0] == f"wavewright diagnose {tmp_path / 'a'}"
    assert done.stderr == ""


@pytest.mark.slow
def test_what_is_not_good_ends_with_status_1(capture: Capture, tmp_path: Path) -> None:
    done = capture("att", "-o", tmp_path / "a", "--attempts", "2", busy_engines=[])
    assert done.status == 1
    assert "thread traces of profiled_program: empty after 2 attempts" in done.stdout
    assert "what to look at" not in done.stdout
    assert "   try " in done.stdout


def test_a_program_that_fails(capture: Capture, tmp_path: Path) -> None:
    done = capture("discover", "-o", tmp_path / "d", status=3, stderr="no such model \x1b[2J\n")
    assert done.status == 1
    assert "status 3" in done.stdout
    assert "\x1b" not in done.stdout + done.stderr
    assert str(tmp_path / "d" / "attempts" / "1" / "stderr.txt") in done.stdout.replace("\n", "").replace(" ", "")


@pytest.mark.slow
def test_a_folder_that_exists(capture: Capture, tmp_path: Path) -> None:
    assert capture("discover", "-o", tmp_path / "d").status == 0
    done = capture("discover", "-o", tmp_path / "d")
    assert done.status == 2
    assert "a capture is here already" in done.stderr
    assert "--resume" in done.stderr
    assert capture("discover", "-o", tmp_path / "d", "--resume").status == 0
    assert len(runs(tmp_path)) == 1, "it had finished: nothing is run again"
    assert capture("discover", "-o", tmp_path / "d", "--force").status == 0
    assert len(runs(tmp_path)) == 2
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("years of work", "utf-8")
    done = capture("discover", "-o", tmp_path / "mine", "--force")
    assert done.status == 2
    assert (tmp_path / "mine" / "thesis.tex").read_text("utf-8") == "years of work"


@pytest.mark.slow
def test_resuming_needs_no_program(capture: Capture, rocm: RocmTree, tmp_path: Path) -> None:
    """As after a kill: an attempt was started, and nobody wrote down its end."""
    assert capture("discover", "-o", tmp_path / "d").status == 0
    for name in ("result.json", "attempts/1/judgement.json", "attempts/1/ending.json"):
        (tmp_path / "d" / name).unlink()
    done = call("capture", "discover", "--rocprofv3", rocm.rocprofv3, "--resume", "-o", tmp_path / "d")
    assert done.status == 0, done.stderr
    assert len(runs(tmp_path)) == 2
    assert "suggested: blas::saxpy<64u>" in done.stdout
    done = call("capture", "discover", "--rocprofv3", rocm.rocprofv3, "--resume", "-o", tmp_path / "nothing")
    assert done.status == 2
    assert "no job is here" in done.stderr


def test_a_run_is_read_by_the_verbs_about_runs(capture: Capture, tmp_path: Path) -> None:
    files = tmp_path / "files"
    files.mkdir()
    write_rocpd(files / "PREFIX_results.db", Workload(dispatches=40))
    done = capture("run", "-o", tmp_path / "r", files=str(files), kernels=[])
    assert done.status == 0, done.stdout + done.stderr
    assert f"wavewright summary {tmp_path / 'r'}" in done.stdout
    assert call("summary", tmp_path / "r").status == 0
    assert call("top", tmp_path / "r", "--json").status == 0


def test_samples_are_read_by_the_verbs_about_kernels(capture: Capture, tmp_path: Path) -> None:
    files = tmp_path / "files"
    write_samples(SampledRun(), files, form="json", with_code=True)
    done = capture("samples", "-o", tmp_path / "s", files=str(files), kernels=[])
    assert done.status == 0, done.stdout + done.stderr
    assert f"wavewright hotspots {tmp_path / 's'}" in done.stdout
    assert call("hotspots", tmp_path / "s").status == 0


@pytest.mark.parametrize("below", ["a_file/capture", "a_file"])
def test_a_folder_that_cannot_be_made(capture: Capture, tmp_path: Path, below: str) -> None:
    (tmp_path / "a_file").write_text("something", "utf-8")
    done = capture("discover", "-o", tmp_path / below)
    assert done.status in (2, 74)
    assert "choose another" in done.stderr
    assert not (tmp_path / "record.jsonl").exists()


def test_no_gpu_and_no_profiler_leave_nothing(
    capture: Capture, tmp_path: Path, rocm: RocmTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "nodes" / "1" / "properties").write_text("cpu_cores_count 8\nsimd_count 0\n", "ascii")
    done = capture("discover", "-o", tmp_path / "d")
    assert done.status == 5
    assert "no GPU" in done.stderr
    assert not (tmp_path / "d").exists()
    done = call("capture", "discover", "--rocprofv3", tmp_path / "nothing", "-o", tmp_path / "d", "--", "true")
    assert done.status in (2, 5)
    assert not (tmp_path / "d").exists()
    assert capture("discover", "--gpu", "any", "-o", tmp_path / "d").status == 0


def test_a_program_that_does_not_exist(capture: Capture, rocm: RocmTree, tmp_path: Path) -> None:
    done = call("capture", "run", "--rocprofv3", rocm.rocprofv3, "-o", tmp_path / "r", "--", "./no-such-program")
    assert done.status == 2
    assert "'./no-such-program' does not exist" in done.stderr
    assert not (tmp_path / "r").exists()


def test_default_folders_are_named_after_program_and_rank(
    capture: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURM_PROCID", "3")
    assert capture("discover").status == 0
    (folder,) = tmp_path.glob("capture-*")
    assert folder.name.startswith("capture-profiled_program-2")
    assert folder.name.endswith("-rank3")
