from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from synth.counter_capture import CounterCapture, write_counters
from tests.cli.in_process import call


def passes_of(text: str) -> list[list[str]]:
    return [job["pmc"] for job in json.loads(text)["jobs"]]


@pytest.mark.parametrize("target", ["gfx908", "gfx90a", "gfx942", "gfx950", "MI300A"])
def test_the_passes_are_printed_as_input_of_rocprofv3(target: str) -> None:
    done = call("counters", "--plan", "--target", target)
    assert done.status == 0, done.stderr
    passes = passes_of(done.stdout)
    assert len(passes) > 5
    for names in passes:
        assert len({name for name in names if name.startswith("TCC_")}) <= 4
        assert len({name for name in names if name.startswith(("SQ_", "SQC_"))}) <= 8
    assert f"{len(passes)} passes on" in done.stderr


def test_panels_and_metrics_are_chosen() -> None:
    done = call("counters", "--plan", "--target", "gfx942", "--metric", "17.1.2")
    assert passes_of(done.stdout) == [["GRBM_GUI_ACTIVE", "SQ_WAVES", "TCC_HIT_sum", "TCC_MISS_sum"]]
    narrow = call("counters", "--plan", "--target", "gfx942", "--panel", "l2")
    every = call("counters", "--plan", "--target", "gfx942", "--all")
    assert len(passes_of(narrow.stdout)) < len(passes_of(every.stdout))
    assert "TCC_HIT[127]" in every.stdout


def test_files_are_written_with_what_they_need(tmp_path: Path) -> None:
    output = tmp_path / "plan.json"
    done = call("counters", "--plan", "--target", "MI300X", "--panel", "waves", "--kernel", "gemm", "-o", output)
    assert done.status == 0, done.stderr
    assert json.loads(output.read_text())["jobs"][0]["kernel_include_regex"] == "gemm"
    assert (tmp_path / "plan.counters.yaml").is_file()
    assert f"rocprofv3 -i {output} -E {tmp_path / 'plan.counters.yaml'}" in done.stdout
    assert call("counters", "--plan", "--target", "MI300X", "-o", output).status == 2
    assert call("counters", "--plan", "--target", "MI300X", "-o", output, "--force").status == 0


def test_json_is_one_object_that_holds_the_files_too() -> None:
    answer = json.loads(call("counters", "--plan", "--target", "gfx90a", "--panel", "lds", "--json").stdout)
    assert answer["passes"]["row_count"] == len(passes_of(answer["files"]["input"]))
    assert answer["capture_command"].startswith("rocprofv3 -i counters.json -E counters.counters.yaml")
    assert {row["metric_id"] for row in answer["metrics"]["rows"]} > {"12.1.0"}
    table = call("counters", "--plan", "--target", "gfx90a", "--panel", "lds", "--csv").stdout
    assert table.splitlines()[0].split(",")[:3] == ["pass", "counter", "spelled"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--plan"], "which GPU"),
        (["--plan", "--target", "gfx1"], "gfx1"),
        (["--plan", "--target", "gfx942", "--panel", "nothing"], "no panel"),
        (["--plan", "--target", "gfx942", "--metric", "no such"], "no metric"),
        (["--plan", "--target", "gfx942", "--kernel", "0"], "rank"),
        (["--plan", "--target", "gfx942", "-o", "plan.cfg"], "extension"),
        (["--plan", "--target", "gfx942", "--by", "kernel"], "--by"),
        (["--max-passes", "3"], "--plan"),
        ([], "no capture"),
    ],
)
def test_what_cannot_be_planned_is_one_sentence(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = call("counters", *arguments)
    assert done.status == 2
    assert said in done.stderr
    assert not list(tmp_path.iterdir())


def test_an_earlier_capture_tells_gpu_and_kernel(tmp_path: Path) -> None:
    write_counters(tmp_path / "run", CounterCapture("gfx942"))
    done = call("counters", tmp_path / "run", "--plan", "--panel", "18.2", "--kernel", "0")
    assert done.status == 0, done.stderr
    job = json.loads(done.stdout)["jobs"][0]
    longest = json.loads(call("counters", tmp_path / "run", "--json").stdout)["kernels"]["rows"][0]["kernel_name"]
    assert re.search(job["kernel_include_regex"], longest)
    assert "TCC_HIT[127]" in job["pmc"]
    assert call("counters", tmp_path / "run", "--plan", "--kernel", "99").status == 2


def test_fewer_passes_keep_the_most_useful_ones() -> None:
    whole = json.loads(call("counters", "--plan", "--target", "gfx942", "--json").stdout)
    few = json.loads(call("counters", "--plan", "--target", "gfx942", "--max-passes", "4", "--json").stdout)
    assert few["passes"]["row_count"] == len(passes_of(few["files"]["input"])) == 4
    measured = [sum(row["is_measured"] for row in answer["metrics"]["rows"]) for answer in (few, whole)]
    assert measured[1] / 3 < measured[0] < measured[1]
    left_out = [row for row in few["metrics"]["rows"] if row["reason"] == "left out for fewer passes"]
    assert left_out
    assert all(not row["is_measured"] for row in left_out)
    assert call("counters", "--plan", "--target", "gfx942", "--max-passes", "99").status == 0
