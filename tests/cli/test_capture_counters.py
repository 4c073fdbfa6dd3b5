"""`capture counters` from panels to one joined capture, with AMD's script and a program that leaves counters."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.cli.in_process import call
from tests.kit.amd_script import AmdScript

#: Stands for the program and AMD's tool: writes the counters that it is asked for, for three launches of two kernels.
PROGRAM = """
import csv, os, pathlib, sys
names = os.environ["ROCPROF_COUNTERS"].removeprefix("pmc: ").split()
names = [name for name in names if name not in os.environ.get("LACKING", "").split()]
prefix = os.environ["ROCPROF_OUTPUT_FILE_NAME"].replace("%pid%", str(os.getpid()))
path = pathlib.Path(os.environ["ROCPROF_OUTPUT_PATH"]) / f"{prefix}_counter_collection.csv"
if sys.argv[1:] == ["too many"] and len(names) > 2:
    sys.stderr.write("F20260101 12:00:00.000001 77 tool.cpp:9] Could not construct profile cfg: "
                     "Request exceeds the capabilities of the hardware to collect\\n")
    sys.exit(134)
path.parent.mkdir(parents=True, exist_ok=True)
with path.open("w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["Correlation_Id", "Dispatch_Id", "Agent_Id", "Queue_Id", "Process_Id", "Thread_Id", "Grid_Size",
                     "Kernel_Id", "Kernel_Name", "Workgroup_Size", "LDS_Block_Size", "Scratch_Size", "VGPR_Count",
                     "Accum_VGPR_Count", "SGPR_Count", "Counter_Name", "Counter_Value", "Start_Timestamp",
                     "End_Timestamp"])
    for dispatch in range(1, 7):
        for at, name in enumerate(names):
            value = 0 if sys.argv[1:] == ["zeros"] else 100 * dispatch + at + 1
            writer.writerow([dispatch, dispatch, "Agent 4", 1, os.getpid(), 1, 4096, dispatch % 2, f"k{dispatch % 2}",
                             256, 0, 0, 32, 0, 32, name, value, 1000 * dispatch, 1000 * dispatch + 500])
"""


@pytest.fixture(scope="module")
def rocm(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> AmdScript:
    return AmdScript(shared, tmp_path_factory.mktemp("rocm") / "7.14", "7.14")


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return path


def capture(rocm: AmdScript, *words: object) -> list[object]:
    """Words of a capture with the script of the tree, on whatever GPU there is."""
    return [
        "capture",
        *words[:-1],
        "--rocprofv3",
        rocm.path,
        "--gpu",
        "any",
        "-o",
        "out",
        "--",
        sys.executable,
        *words[-1],
    ]  # type: ignore[misc]


def test_passes_are_run_joined_and_opened(rocm: AmdScript, program: Path) -> None:
    names = "SQ_WAVES,SQ_INSTS_VALU," + ",".join(f"TCC_{name}_sum" for name in ("HIT", "MISS", "REQ", "READ", "WRITE"))
    done = call(*capture(rocm, "counters", "--target", "gfx942", "--pmc", names, [program]))
    assert done.status == 0, done.stderr
    opened = call("counters", "out", "--target", "gfx942", "--json")
    assert opened.status == 0, opened.stderr
    raw = call("counters", "out", "--target", "gfx942", "--panel", "raw", "--json")
    for name in names.replace("_sum", "").split(","):
        assert name in raw.stdout
    assert len(list(Path("out").rglob("*counter_collection.csv"))) == 2


def test_what_is_missing_is_named(rocm: AmdScript, program: Path) -> None:
    words = ("counters", "--target", "gfx942", "--pmc", "SQ_WAVES,TCC_HIT_sum", "--env", "LACKING=TCC_HIT_sum")
    done = call(*capture(rocm, *words, "--attempts", "1", [program]))
    assert done.status == 1
    assert "TCC_HIT_sum" in done.stdout + done.stderr
    assert "incomplete" in done.stdout + done.stderr


def test_zeros_everywhere_are_not_a_capture(rocm: AmdScript, program: Path) -> None:
    words = ("counters", "--target", "gfx1100", "--pmc", "SQ_WAVES,GL2C_HIT", "--attempts", "1")
    done = call(*capture(rocm, *words, [program, "zeros"]))
    assert done.status == 1
    assert "not counted" in done.stdout + done.stderr
    assert "perf-level" in done.stdout + done.stderr


@pytest.mark.slow
def test_too_many_for_the_hardware_are_split_and_taken_again(rocm: AmdScript, program: Path) -> None:
    words = ("counters", "--target", "gfx942", "--pmc", "SQ_WAVES,SQ_INSTS_VALU,SQ_INSTS_SALU,SQ_INSTS_LDS")
    done = call(*capture(rocm, *words, [program, "too many"]))
    assert done.status == 0, done.stdout + done.stderr
    assert "smaller passes" in done.stdout + done.stderr
    verdicts = [json.loads(Path(f"out/attempts/{n}/judgement.json").read_text())["verdict"] for n in (1, 2)]
    assert verdicts == ["refused", "good"]


@pytest.mark.slow
def test_an_input_file_is_run_job_by_job(rocm: AmdScript, program: Path) -> None:
    Path("in.yaml").write_text("jobs:\n- pmc: SQ_WAVES\n- pmc: [TCC_HIT_sum]\n  kernel_include_regex: k1\n")
    done = call(*capture(rocm, "-i", "in.yaml", [program]))
    assert done.status == 0, done.stderr
    assert "is a text where a list is needed" in " ".join(done.stderr.split())
    assert sorted(path.name for path in Path("out").iterdir()) == ["capture_1", "capture_2"]
    for name in ("capture_1", "capture_2"):
        assert call("counters", f"out/{name}", "--target", "gfx942").status == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--pmc", "SQ_WAVES"], "--target"),
        (["--target", "gfx942", "--pmc", "SQ_WAEVS"], "SQ_WAVES"),
        (["--target", "gfx942", "--panel", "nothing"], "no panel"),
        (["--target", "gfx1", "--pmc", "SQ_WAVES"], "gfx1"),
        (["--target", "gfx942", "--pmc", " , "], "no counter"),
        (["--target", "gfx942", "--pmc", "SQ_WAVES", "--kernel", "a", "--regex", "b"], "--regex"),
    ],
)
def test_mistakes_are_one_sentence(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = call("capture", "counters", *words, "--dry-run", "--rocm-version", "7.2", "--", "./app")
    assert done.status == 2
    assert said in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_dry_run_shows_each_pass() -> None:
    words = ("--target", "MI300X", "--panel", "l2", "--dry-run", "--rocm-version", "7.2", "--json")
    planned = json.loads(call("capture", "counters", *words, "--", "./app").stdout.splitlines()[0])
    assert len(planned["commands"]) == 10
    assert all(command["words"][1] == "--pmc" for command in planned["commands"])
