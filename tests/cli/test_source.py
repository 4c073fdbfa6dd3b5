"""Verb source: the code or its source with costs and arrows."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from synth import Scenario, compiled, synthesize, write_capture
from synth import kernels as made_kernels
from tests.cli.conftest import Run
from tests.kit.sampling import every_third

SOURCES = Path(made_kernels.__file__).parent / "sources"
COLOURS_OFF = {"COLUMNS": "120"}


@pytest.fixture(scope="module")
def gemm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A capture of a small matrix multiplication with a loop."""
    folder = tmp_path_factory.mktemp("gemm")
    scenario = Scenario(kernels=(compiled("tiled_gemm", "gfx942"),), workgroups=2, waves_per_workgroup=4, loop_trips=4)
    write_capture(synthesize(scenario), folder)
    return folder


def test_without_source_text_it_lists_instructions(run: Run, gemm: Path) -> None:
    done = run("source", gemm, environment=COLOURS_OFF)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[2].startswith("hottest: s_waitcnt vmcnt(1) at 0x1814")
    (load,) = [line for line in lines if "global_load_dword v11" in line]
    (wait,) = [line for line in lines[3:] if "s_waitcnt vmcnt(1)" in line]
    lane = load.index("╭")
    assert wait[lane] == "╰"
    assert "tiled_gemm.hip:18" in wait
    assert any(line.endswith("--all shows every row") for line in lines)


def test_with_source_text_it_lists_lines(run: Run, gemm: Path) -> None:
    done = run("source", gemm, "--source-root", SOURCES, environment=COLOURS_OFF)
    (line,) = [line for line in done.stdout.splitlines() if "tile_a[y][x] = a[row" in line]
    assert line.split()[0] == "18"
    assert "wait vector load" in line
    assert "↳ device.hpp:16  __builtin_amdgcn_s_barrier();" in done.stdout
    assert "hottest: tiled_gemm.hip:18" in done.stdout


def test_modes_can_be_forced(run: Run, gemm: Path) -> None:
    assert "instruction" in run("source", gemm, "--isa", "--source-root", SOURCES).stdout
    forced = run("source", gemm, "--source").stdout
    assert "its text is not here; --source-root DIR" in forced
    assert "/wavewright/kernels/tiled_gemm.hip" in forced


def test_innermost_lines(run: Run, gemm: Path) -> None:
    answer = json.loads(run("source", gemm, "--source", "--frame", "innermost", "--json").stdout)
    assert {file["file"].rsplit("/", 1)[-1] for file in answer["files"]["rows"]} == {"tiled_gemm.hip", "device.hpp"}
    assert answer["attribution"] == "innermost"


def test_json_has_the_whole_listing(run: Run, gemm: Path) -> None:
    answer = json.loads(run("source", gemm, "--isa", "--json").stdout)
    assert answer["schema_version"] == 1
    rows = answer["rows"]["rows"]
    assert answer["rows"]["row_count"] == len(rows) > 300
    wait = max(rows, key=lambda row: row["exposed_cycles_total"])
    assert wait["text"] == "s_waitcnt vmcnt(1)"
    (arrow,) = [arrow for arrow in answer["arrows"]["rows"] if arrow["wait_row"] == wait["row"]]
    assert rows[arrow["producer_row"]]["text"].startswith("global_load_dword v11")
    assert arrow["count"] == wait["hit_count"]
    (back,) = [edge for edge in answer["branches"]["rows"] if edge["to_row"] < edge["from_row"]]
    assert rows[back["from_row"]]["text"].startswith("s_cbranch_scc0")


def test_one_iteration_of_one_wave(run: Run, gemm: Path) -> None:
    answer = json.loads(run("source", gemm, "--iteration", "2", "--wave", "1", "--json").stdout)
    assert (answer["wave"], answer["iteration"]) == (1, 2)
    assert {row["hit_count"] for row in answer["rows"]["rows"]} == {0, 1}
    assert "by wave 1, their execution 2" in run("source", gemm, "--iteration", "2", "--wave", "1").stdout


def test_branches(run: Run, gemm: Path) -> None:
    shown = run("source", gemm, "--arrows", "branches", environment=COLOURS_OFF).stdout
    (branch,) = [line for line in shown.splitlines() if "s_cbranch_scc0" in line]
    assert branch.startswith("╰─")
    assert any(line.startswith("╭▶") for line in shown.splitlines())


def test_around_and_function(run: Run, gemm: Path) -> None:
    shown = run("source", gemm, "--around", "0x1814", "--context", "0", "--arrows", "none").stdout
    assert sum("0x18" in line for line in shown.splitlines()[3:]) == 1
    assert run("source", gemm, "--function", "gemm").returncode == 0
    wrong = run("source", gemm, "--function", "nothing_like_it")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "functions: tiled_gemm" in wrong.stderr
    assert run("source", gemm, "--around", "0xffffff").returncode == 2


def test_everything(run: Run, gemm: Path) -> None:
    shown = run("source", gemm, "--all").stdout
    assert "…" not in "".join(line for line in shown.splitlines() if "of the cycles" in line)
    assert "s_endpgm" in shown


def test_chosen_lines_only(run: Run, gemm: Path) -> None:
    shown = run("source", gemm, "--isa", "--line", "18", "--all", environment=COLOURS_OFF).stdout
    assert "rows not chosen" in shown
    rows = [line for line in shown.splitlines() if "tiled_gemm.hip:" in line]
    assert rows
    assert all("tiled_gemm.hip:18" in line for line in rows)


@pytest.mark.parametrize("arguments", every_third([("--isa",), ("--source",)]))
def test_a_terminal_without_unicode(program: Run, gemm: Path, arguments: tuple[str, ...]) -> None:
    done = program("source", gemm, *arguments, environment={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.isascii()
    assert "# stall" in done.stdout


def test_a_source_root_that_is_not_there(run: Run, gemm: Path) -> None:
    assert run("source", gemm, "--source-root", gemm / "nothing").returncode == 2


def test_pc_samples(run: Run, shared: Path) -> None:
    done = run("source", shared / "data" / "pcsampling-rcv", "--top", "2", environment=COLOURS_OFF)
    assert done.returncode == 0
    assert "852 sampled: 4,690 samples" in done.stdout
    assert "stalled mostly by: barrier" in done.stdout
    answer = json.loads(run("source", shared / "data" / "pcsampling-rcv", "--json").stdout)
    assert answer["sample_count"] == 4690
    lines = run("source", shared / "data" / "pcsampling-rcv", "--source", environment=COLOURS_OFF).stdout
    assert "hottest: kernel.cpp:552: 846 samples" in lines
    assert "pipe stall" in lines


@pytest.mark.slow
def test_the_demo_keeps_the_source_of_its_kernel(run: Run, tmp_path: Path) -> None:
    for arguments, line in (((), "tile_a[y][x] = a["), (("--prefetch",), "tile_a[y][x] = next_a;")):
        folder = tmp_path / f"demo{len(arguments)}"
        assert run("demo", "--keep", folder, *arguments).returncode == 0
        shown = run("source", folder, "--source-root", folder / "src").stdout
        assert line in shown


def test_a_reader_that_has_seen_enough_is_no_failure(gemm: Path) -> None:
    command = f"{sys.executable} -m wavewright source {gemm} --all | head -2"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "rows" in done.stdout
