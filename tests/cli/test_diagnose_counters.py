"""The verb diagnose on counter captures, and on traces with counters beside them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import wavewright
from synth.counter_capture import CounterCapture, write_counter_csv, write_counters
from synth.kernel_work import KernelWork
from tests.cli.conftest import Run
from tests.cli.in_process import call
from tests.kit.closing_counters import closing
from tests.kit.made_limits import limited


@pytest.fixture
def counters(tmp_path: Path) -> Path:
    folder = tmp_path / "counters"
    works = limited()
    chosen = tuple(works[name] for name in ("memory bandwidth", "VALU throughput", "LDS bank conflicts"))
    write_counters(folder, CounterCapture("gfx942", chosen, jitter=0.0, with_channels=False))
    return folder


def test_text_says_the_limit_of_each_kernel(run: Run, counters: Path) -> None:
    done = run("diagnose", counters)
    assert (done.returncode, done.stderr) == (0, "")
    assert "3 kernels, 6 dispatches on gfx942 MI300X" in done.stdout
    assert (
        "memory bandwidth is at its limit: memory bandwidth at 90.0 % of its theoretical peak (4,792 of 5,325 GB/s;"
        in done.stdout
    )
    assert "LDS bandwidth is at its limit, with LDS bank conflicts" in done.stdout


def test_top_is_said_aloud(run: Run, counters: Path) -> None:
    done = run("diagnose", counters, "--top", "1")
    assert "showing 1 of 3 kernels" in done.stdout
    assert json.loads(run("diagnose", counters, "--top", "1", "--json").stdout)["kernel_count"] == 3


def test_json_has_every_limiter_with_its_evidence(run: Run, counters: Path) -> None:
    answer = json.loads(run("diagnose", counters, "--json").stdout)
    assert len(answer["kernels"]) == 3
    kernel = next(one for one in answer["kernels"] if one["kernel_name"] == "memory bandwidth")
    assert kernel["limits"] == ["memory bandwidth"]
    found = kernel["limiters"][0]
    assert (found["verdict"], found["confidence"]) == ("at limit", "high")
    assert found["evidence"][0]["threshold"] == "from 50 %, strongly from 80 %"
    assert answer["losses"] == []


def test_csv_has_a_row_per_kernel_and_limiter(run: Run, counters: Path) -> None:
    done = run("diagnose", counters, "--csv")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("kernel,kernel_name,duration_share,limiter,kind,verdict,confidence,reason")
    assert sum(",at limit," in line for line in lines) == 4


def test_a_partial_capture_names_the_next_pass(run: Run, tmp_path: Path) -> None:
    write_counter_csv(tmp_path, CounterCapture("gfx942"), passes=[["SQ_WAVES", "TCC_HIT", "TCC_MISS"]])
    done = run("diagnose", tmp_path, "--top", "1")
    assert done.returncode == 0
    assert "not decided" in done.stdout
    line = next(line for line in run("diagnose", tmp_path, "--json").stdout.splitlines() if '"plan"' in line)
    command = json.loads("{" + line.strip().rstrip(",") + "}")["plan"].split()
    planned = run(*command[1:])
    assert planned.returncode == 0, planned.stderr
    assert '"pmc": [' in planned.stdout


def test_a_capture_that_does_not_name_its_gpu(run: Run, tmp_path: Path) -> None:
    write_counter_csv(tmp_path, CounterCapture("gfx942"), passes=[["SQ_ACTIVE_INST_VALU", "GRBM_GUI_ACTIVE"]])
    (tmp_path / "pass_1" / "out_agent_info.csv").unlink()
    unknown = run("diagnose", tmp_path)
    assert unknown.returncode == 0
    assert "nothing here names the GPU" in unknown.stdout
    known = json.loads(run("diagnose", tmp_path, "--target", "MI300X", "--json").stdout)
    assert known["target"] == "gfx942"
    verdicts = {one["name"]: one["verdict"] for one in known["kernels"][0]["limiters"]}
    assert verdicts["VALU throughput"] == "excluded"


def test_a_kernel_that_is_not_there(run: Run, counters: Path) -> None:
    done = run("diagnose", counters, "--kernel", "nothing")
    assert done.returncode == 2
    assert "no kernel 'nothing' in this capture" in done.stderr


@pytest.mark.slow
def test_a_trace_with_counters_of_its_kernel(run: Run, capture: Path, tmp_path: Path) -> None:
    trace = wavewright.open(capture)
    assert isinstance(trace, wavewright.ThreadTrace)
    name = trace.kernels["demangled"][0]
    write_counters(tmp_path / "pmc", CounterCapture("gfx942", (closing(trace, KernelWork(name)),), with_channels=False))
    done = run("diagnose", capture, "--counters", tmp_path / "pmc")
    assert done.returncode == 0, done.stderr
    assert "reasons from the counters of 3 dispatches" in done.stdout
    answer = json.loads(run("diagnose", capture, "--counters", tmp_path / "pmc", "--json").stdout)
    assert answer["link"]["kernel_name"] == name
    assert any(finding["reasons"] for finding in answer["findings"])
    assert answer["counter_losses"] == []


def test_counters_of_another_kernel_are_not_used(run: Run, capture: Path, counters: Path) -> None:
    done = run("diagnose", capture, "--counters", counters)
    assert done.returncode == 0
    assert "the counters have no kernel" in done.stdout


def test_a_kernel_of_another_name_can_be_picked(run: Run, capture: Path, counters: Path) -> None:
    asked = ("diagnose", capture, "--counters", counters, "--counters-kernel", "VALU", "--json")
    answer = json.loads(run(*asked).stdout)
    assert answer["link"]["kernel_name"] == "VALU throughput"
    assert "other_kernel_name" in [caveat["name"] for caveat in answer["link"]["caveats"]]
    wrong = run("diagnose", capture, "--counters", counters, "--counters-kernel", "nothing")
    assert wrong.returncode == 2
    assert "no kernel 'nothing'" in wrong.stderr


def test_the_ideal_needs_counters(run: Run, capture: Path) -> None:
    done = run("diagnose", capture, "--ideal-gb", "1")
    assert done.returncode == 2
    assert "--ideal-gb needs --counters" in done.stderr


def test_help_is_about_both(run: Run) -> None:
    shown = run("diagnose", "--help").stdout
    for word in ("--counters", "--target", "--code-object", "--csv"):
        assert word in shown


def test_options_of_the_other_kind_are_refused_by_name(tmp_path: Path) -> None:
    write_counters(tmp_path, CounterCapture("gfx942", kernels=(KernelWork("k"),)))
    done = call("diagnose", tmp_path, "--se", "1")
    assert done.status == 2
    assert "--se does not apply to counter captures" in done.stderr
    done = call("compare", tmp_path, tmp_path, "--se", "1")
    assert "--se does not apply to counter captures" in done.stderr


def test_passes_beside_a_run_are_not_added_to_it(run: Run, tmp_path: Path) -> None:
    """The run has 8 short calls of one kernel and 1 long one; each of two passes counts both once."""
    header = '"Kind","Agent_Id","Queue_Id","Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp"\n'
    calls = [("long", 0, 4_000), *(("short", 5_000 + 2_000 * number, 1_500) for number in range(8))]
    rows = [f'"KERNEL_DISPATCH","Agent 1","1","{name}","{at}","{at}","{at + ns}"\n' for name, at, ns in calls]
    folder = tmp_path / "decode"
    folder.mkdir()
    (folder / "decode_kernel_trace.csv").write_text(header + "".join(rows))
    header = (
        '"Correlation_Id","Dispatch_Id","Agent_Id","Queue_Id","Process_Id","Thread_Id","Grid_Size","Kernel_Id",'
        '"Kernel_Name","Workgroup_Size","LDS_Block_Size","Scratch_Size","VGPR_Count","Accum_VGPR_Count","SGPR_Count",'
        '"Counter_Name","Counter_Value","Start_Timestamp","End_Timestamp"\n'
    )
    for counter in ("SQ_WAVES", "SQ_BUSY_CYCLES"):
        text = header + "".join(
            f'"{at}","{at}","Agent 1","1","7","7","1024","{at}","{name}","64","0","0","8","0","16","{counter}","9",'
            f'"{1_000_000 * at}","{1_000_000 * at + ns}"\n'
            for at, (name, ns) in enumerate((("long", 4_000), ("short", 1_500)), 1)
        )
        (folder / f"decode_{counter}_counter_collection.csv").write_text(text)
    top = run("top", folder, "--json")
    shares = {row["name"]: row["share"] for row in json.loads(top.stdout)["things"]["rows"]}
    assert shares == {"short": pytest.approx(12 / 16), "long": pytest.approx(4 / 16)}
    assert "2 passes of counters" in top.stdout
    limits = json.loads(run("diagnose", folder, "--target", "gfx942", "--json").stdout)["kernels"]
    assert [(kernel["kernel_name"], kernel["duration_share"]) for kernel in limits] == [("short", 0.75), ("long", 0.25)]
    text = run("diagnose", folder, "--target", "gfx942").stdout
    assert "75.0 % of the kernel time of the run; counted in 1 dispatch" in text
    assert json.loads(run("info", folder, "--json").stdout)
    alone = run("top", folder / "decode_SQ_WAVES_counter_collection.csv", "--json")
    assert {row["name"] for row in json.loads(alone.stdout)["things"]["rows"]} == {"long", "short"}
