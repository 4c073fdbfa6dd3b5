"""`wavewright states` as a user sees it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import wavewright
from synth import Scenario, compiled, synthesize, write_capture
from tests.cli.conftest import Run
from wavewright.model.document import Document
from wavewright.page.payloads import ask


def test_text_says_states_pipes_residency_and_clock(run: Run, capture: Path) -> None:
    told = run("states", capture, environment={"COLUMNS": "120"})
    assert told.returncode == 0, told.stderr
    _, first, *others = told.stdout.splitlines()
    assert first.startswith("waves spend ") and "EXEC" in first
    assert any(line.startswith("shader clock ") and "SE 1 +" in line for line in others[:2])
    for part in ("share of wave-cycles per state", "waves per state over time", "busy time of pipes", "saxpy"):
        assert part in told.stdout
    assert max(map(len, told.stdout.splitlines())) <= 120


def test_exec_issue_and_busy_are_told_apart(run: Run, capture: Path) -> None:
    told = run("states", capture, environment={"COLUMNS": "80"}).stdout
    lines = told.splitlines()
    assert any(line.startswith("  EXEC counts the gaps between instructions") for line in lines)
    share = next(float(line.split()[3]) for line in lines if line.startswith("  instructions issue in "))
    assert 0 < share < float(lines[1].split()[2])
    assert "  issue: an instruction goes to the pipe; busy: it occupies it (all passes)" in lines


def test_json_has_definitions_units_and_bins(run: Run, capture: Path) -> None:
    told = run("states", capture, "--json", "--bins", 10)
    answer = json.loads(told.stdout)
    states = answer["states"]
    assert states["bin_count"] <= 10
    assert "wave-cycles" in states["definition"]
    assert sum(row["share"] for row in states["total"]["rows"]) == pytest.approx(1)
    assert states["clocks"]["is_aligned"] is True
    assert {row["pipe"] for row in answer["utilization"]["pipes"]["rows"]} >= {"VALU", "VMEM", "SCALAR"}
    assert answer["residency"]["kernels"]["rows"][0]["start_count"] > 0


def test_one_shader_engine_only(run: Run, capture: Path) -> None:
    whole, part = (json.loads(run("states", capture, "--json", *se).stdout)["states"] for se in ((), ("--se", 1)))
    assert {row["se"] for row in part["by_engine"]["rows"]} == {1}
    assert part["clocks"]["offsets"] == whole["clocks"]["offsets"]
    starts = [
        next(row["start_cycles"] for row in each["over_time"]["rows"] if row["se"] == 1) for each in (whole, part)
    ]
    assert starts[0] == starts[1]


def test_time_counts_on_the_common_clock_as_in_the_page(run: Run, capture: Path) -> None:
    whole = json.loads(run("states", capture, "--json").stdout)["states"]
    assert len(set(whole["clocks"]["offsets"].values())) > 1, "else a clock that is forgotten would not be seen"
    begin, end = (whole["start_cycles"] + part * (whole["end_cycles"] - whole["start_cycles"]) // 5 for part in (2, 3))
    told = json.loads(run("states", capture, "--json", "--time", f"{begin}:{end}").stdout)
    document = Document(0, "", "", lambda: wavewright.open(capture))
    shown = json.loads(ask(document, "summary", {"begin": str(begin), "end": str(end)}).content)
    assert shown["states"] == told["states"]["total"]["rows"]
    assert shown["pipes"]["bubble_share"] == told["utilization"]["bubble_share"]


def test_a_stretch_of_time(run: Run, capture: Path) -> None:
    whole = json.loads(run("states", capture, "--json", "--se", 0).stdout)["states"]
    begins = sorted({row["start_cycles"] for row in whole["over_time"]["rows"]})
    middle = begins[len(begins) // 2]
    part = json.loads(run("states", capture, "--json", "--se", 0, "--time", f":{middle}").stdout)["states"]
    assert part["end_cycles"] == middle
    cycles = [sum(row["cycles_total"] for row in answer["total"]["rows"]) for answer in (part, whole)]
    assert 0 < cycles[0] < cycles[1]


@pytest.fixture
def counted(tmp_path: Path) -> Path:
    """A small raw capture with eight counters."""
    folder = tmp_path / "counted"
    kernel = compiled("saxpy", "gfx942")
    write_capture(synthesize(Scenario(kernels=(kernel,), realtime_pairs=2, counters=True)), folder)
    return folder


def test_counters_are_hinted_at_and_shown_when_asked(run: Run, counted: Path) -> None:
    assert "--counters" in run("states", counted).stdout
    names = "SQ_BUSY_CU_CYCLES,SQ_VALU_MFMA_BUSY_CYCLES,SQ_ACTIVE_INST_VALU"
    told = run("states", counted, "--counter-names", names).stdout
    assert "VALU_util" in told and "hardware utilization" in told and "counter7" in told
    answer = json.loads(run("states", counted, "--counters", "--json").stdout)
    assert answer["sampled_counters"]["names_are_known"] is False
    assert len(answer["sampled_counters"]["totals"]["rows"]) == 8
    assert answer["derived"]["summary"]["rows"][0]["name"] == "SHADER_MHZ"


def test_definitions_from_a_file(run: Run, counted: Path, tmp_path: Path) -> None:
    definitions = tmp_path / "mine.def"
    definitions.write_text("double := 2 * sum[counter0, axis=[SE, CU]]\nwrong := GONE\n")
    told = run("states", counted, "--derived", definitions)
    assert told.returncode == 0
    assert "double" in told.stdout
    assert "no value: wrong: unknown name GONE (line 2, column 10)" in told.stdout


@pytest.mark.parametrize(
    ("text", "said"), [(b"a := (1", "1:6: a: '(' was never closed"), (b"\xff\xfe", "the definitions cannot be read")]
)
def test_definitions_that_cannot_be_read(run: Run, counted: Path, tmp_path: Path, text: bytes, said: str) -> None:
    definitions = tmp_path / "mine.def"
    definitions.write_bytes(text)
    told = run("states", counted, "--derived", definitions)
    assert told.returncode == 2
    assert said in told.stderr
    assert "Traceback" not in told.stderr


def test_numpy_is_imported_for_counters_only(capture: Path) -> None:
    code = (
        "import sys; from wavewright.cli import _group; _group(sys.argv[1:], standalone_mode=False);"
        "assert 'numpy' not in sys.modules"
    )
    command = [sys.executable, "-c", code, "states", str(capture)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_counters_of_a_decoded_directory_equal_those_of_the_raw_capture(
    run: Run, counted: Path, tmp_path: Path
) -> None:
    assert run("decode", counted, "-o", tmp_path / "decoded").returncode == 0
    raw, decoded = (
        json.loads(run("states", path, "--counters", "--json").stdout) for path in (counted, tmp_path / "decoded")
    )
    for part, tables in (("sampled_counters", ("totals", "by_cu", "curves")), ("derived", ("summary", "curves"))):
        for table in tables:
            assert raw[part][table] == decoded[part][table], table
    assert raw["states"]["total"] == decoded["states"]["total"]
    assert raw["utilization"]["pipes"] == decoded["utilization"]["pipes"]
    assert raw["residency"]["engine_curves"] == decoded["residency"]["engine_curves"]
    assert decoded["sampled_counters"]["names_are_known"] is False  # numbers are no names
