"""Verbs on decoded directories, archives, folders of many and Parquet: info says what it is, verbs read the fullest."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Run
from tests.kit.made_decoded import PLACEHOLDER, decoded_files, tar_xz, write_decoded, write_files

_COLUMNS = ("ISA", "_", "LineNumber", "Source", "Codeobj", "Vaddr", "Hit", "Latency", "Stall", "Idle")
_SAMPLED = ("PC_Issued", "PC_Stalled", "Stall_Reasons")
_ROW = ("s_waitcnt vmcnt(0)", 0, 1, "/a.py:4", 7, 256, 0, 0, 0, 0, 3, 5, [0, 0, 1, 4, 0, 0, 0, 0, 0, 0])
SAMPLES = {
    "filenames.json": b'{"version":"3.0.0","gfxip":9,"thread_trace":false,"pc_sampling":true,"wave_filenames":null}',
    "code.json": json.dumps({"version": "3.0.0", "header": _COLUMNS + _SAMPLED, "code": [_ROW]}).encode(),
}


def test_info_on_a_decoded_directory(run: Run, tmp_path: Path) -> None:
    folder = write_decoded(tmp_path)
    done = run("info", folder)
    assert (done.returncode, done.stderr) == (0, "")
    for words in (
        "decoded thread trace (ui_output), dispatch 1",
        "4 waves of SE 0",
        "wavewright diagnose",
        "--resources",
    ):
        assert words in done.stdout
    answer = json.loads(run("info", folder, "--json").stdout)
    assert answer["overview"]["waves"] == 4
    assert "registers and LDS" in answer["missing"]
    assert answer["dispatches"][0]["is_chosen"]


def test_info_on_a_folder_of_many(run: Run, tmp_path: Path) -> None:
    write_decoded(tmp_path, "ui_output_agent_1_dispatch_1")
    write_decoded(tmp_path, "ui_output_agent_1_dispatch_3", waves=2)
    write_files(tmp_path / "ui_output_agent_1_dispatch_2", PLACEHOLDER)
    done = run("info", tmp_path)
    assert done.returncode == 0
    assert "3 dispatches, 1 of them empty placeholder" in done.stdout
    assert [line.split()[0] for line in done.stdout.splitlines() if "empty placeholder" in line and line[0] == " "] == [
        "2"
    ]
    assert "Showing dispatch 1 (" in done.stdout
    assert "2 more dispatches here; use --dispatch or --kernel" in done.stdout
    rows = json.loads(run("info", tmp_path, "--dispatch", 3, "--json").stdout)["dispatches"]
    assert [(row["dispatch"], row["is_placeholder"], row["is_chosen"]) for row in rows] == [
        (1, False, False),
        (2, True, False),
        (3, False, True),
    ]


def test_info_on_a_placeholder(run: Run, tmp_path: Path) -> None:
    done = run("info", write_files(tmp_path / "ui_output_agent_1_dispatch_2", PLACEHOLDER))
    assert done.returncode == 0
    assert "placeholder" in done.stdout
    assert "next:   capture again" in done.stdout
    failed = run("stalls", tmp_path)
    assert failed.returncode == 2
    assert "dispatch 2 is an empty placeholder" in failed.stderr
    assert "wavewright info" in failed.stderr


def test_info_on_samples(run: Run, tmp_path: Path) -> None:
    done = run("info", write_files(tmp_path / "samples", SAMPLES))
    assert done.returncode == 0
    assert "8 PC samples" in done.stdout
    assert "wavewright hotspots" in done.stdout


def test_verbs_read_archives(run: Run, tmp_path: Path) -> None:
    packed = tar_xz(tmp_path / "a.tar.xz", {f"x/{name}": data for name, data in decoded_files().items()})
    folder = write_decoded(tmp_path / "plain")
    answers = [json.loads(run("stalls", path, "--json").stdout) for path in (packed, folder)]
    assert answers[0]["classes"] == answers[1]["classes"]
    assert f"wavewright diagnose {packed}  " in run("info", packed).stdout


def test_decode_converts(run: Run, tmp_path: Path) -> None:
    folder = write_decoded(tmp_path)
    write_files(tmp_path / "ui_output_agent_1_dispatch_2", PLACEHOLDER)
    done = run("decode", tmp_path, "-o", tmp_path / "tables", "--format", "parquet", "--json")
    assert [d["dispatch"] for d in json.loads(done.stdout)["dispatches"]] == [1]
    answers = [json.loads(run("stalls", path, "--json").stdout) for path in (tmp_path / "tables", folder)]
    assert answers[0]["classes"] == answers[1]["classes"]
    assert answers[0]["source"]["format"] == "parquet"


def test_decode_of_what_is_decoded(run: Run, tmp_path: Path) -> None:
    folder = write_decoded(tmp_path)
    done = run("decode", folder, "-o", tmp_path / "out")
    assert done.returncode == 2
    assert "decoded already" in done.stderr
    assert "--format parquet" in done.stderr
    done = run("decode", folder, "-o", tmp_path / "out", "--format", "parquet", "--amd")
    assert (done.returncode, "for raw traces" in done.stderr) == (2, True)


def test_resources(run: Run, tmp_path: Path) -> None:
    folder = write_decoded(tmp_path / "a")
    names = [row["name"] for row in json.loads(run("info", folder, "--json").stdout)["kernels"]["rows"]]
    table = tmp_path / "k.csv"
    table.write_text(f'Kernel_Name,VGPR_Count,LDS_Block_Size\n"{names[0]}",72,4096\n')
    done = run("info", folder, "--resources", table)
    assert "72 VGPRs, 4,096 B LDS (k.csv)" in done.stdout
    assert json.loads(run("occupancy", folder, "--resources", table, "--json").stdout)["source"]["dispatch"] == 1
    failed = run("stalls", folder, "--resources", tmp_path / "missing.csv")
    assert (failed.returncode, "no such file" in failed.stderr) == (2, True)


def test_kinds_that_do_not_fit(run: Run, tmp_path: Path) -> None:
    counters = tmp_path / "1_counter_collection.csv"
    counters.write_text("Dispatch_Id,Kernel_Name,Counter_Name,Counter_Value\n1,k,TCC_HIT_sum,5\n")
    for verb in ("stalls", "decode"):
        done = run(verb, counters)
        assert done.returncode == 3
        assert f"wavewright counters {counters}" in done.stderr
    assert "hardware counters" in run("info", counters).stdout
    folder = write_decoded(tmp_path)
    for path in (folder, folder / "code.json"):
        done = run("l2", path)
        assert (done.returncode, f"wavewright hotspots {path}" in done.stderr) == (3, True)


def test_sums_without_waves(run: Run, capture: Path, tmp_path: Path) -> None:
    """Many people copy code.json only: its sums answer what they can, and nobody says that no wave ran."""
    decoded, partial = tmp_path / "decoded", tmp_path / "partial"
    assert run("decode", capture, "-o", decoded).returncode == 0
    partial.mkdir()
    whole = next(decoded.glob("ui_output_*"))
    (partial / "code.json").write_bytes((whole / "code.json").read_bytes())
    for options in (("hotspots", "--sort", "stall"), ("stalls", "--classic")):
        few, everything = (json.loads(run(*options, path, "--json").stdout) for path in (partial, whole))
        assert few["stall_cycles_total"] == everything["stall_cycles_total"] > 0
    for verb in ("stalls", "waits", "diagnose"):
        done = run(verb, partial)
        said = done.stdout + done.stderr
        assert done.returncode in (0, 2)
        assert "missing" in said
        assert "no wave ran" not in said
