from __future__ import annotations

import json
import shutil
from pathlib import Path

import polars as pl
import pytest

from tests.cli.conftest import Run

OUTPUT = "agent_1_dispatch_1"


def test_ui_output_by_default(run: Run, capture: Path, tmp_path: Path) -> None:
    done = run("decode", capture, "-o", tmp_path / "out")
    assert (done.returncode, done.stderr) == (0, "")
    folder = tmp_path / "out" / f"ui_output_{OUTPUT}"
    assert json.loads((folder / "filenames.json").read_text())["gfxip"] == 9
    assert (tmp_path / "out" / f"stats_ui_output_{OUTPUT}.csv").is_file()
    assert "dispatch 1: 16 waves" in done.stdout.replace("\n", " ")


def test_parquet(run: Run, capture: Path, tmp_path: Path) -> None:
    done = run("decode", capture, "-o", tmp_path, "--format", "parquet", "--json")
    summary = json.loads(done.stdout)["dispatches"][0]
    table = pl.read_parquet(Path(summary["output"]) / "instructions.parquet")
    assert table.height == summary["instructions"] > 0
    assert summary["unresolved"] == 0


def test_json(run: Run, capture: Path, tmp_path: Path) -> None:
    done = run("decode", capture, "-o", tmp_path, "--format", "json", "--json")
    summary = json.loads(done.stdout)["dispatches"][0]
    tables = json.loads(Path(summary["output"]).read_text())["tables"]
    assert len(tables["waves"]["wave"]) == summary["waves"] == 16


#: Text -> writes, reads, implicit_writes, implicit_reads, tied, access, counters; some instructions of the kernel.
OPERANDS = {
    "s_load_dwordx4 s[4:7], s[0:1], 0x8": ("s[4:7]", "s[0:1]", "", "", "", "load", "lgkmcnt"),
    "s_and_saveexec_b64 s[4:5], vcc": ("s[4:5]", "vcc", "exec scc", "exec", "", None, None),
    "v_cmp_gt_u32_e32 vcc, s3, v0": ("vcc", "s3 v0", "", "exec", "", None, None),
    "v_fmac_f32_e32 v6, s2, v7": ("v6", "v6 s2 v7", "", "exec mode", "v6", None, None),
    "global_load_dword v6, v[4:5], off": ("v6", "v[4:5]", "", "exec", "", "load", "vmcnt"),
    "global_store_dword v[4:5], v6, off": ("", "v[4:5] v6", "", "exec", "", "store", "vmcnt"),
    "s_endpgm": ("", "", "", "", "", None, None),
}
COLUMNS = ("writes", "reads", "implicit_writes", "implicit_reads", "tied", "access", "counters")


def _tables_of(run: Run, path: Path, out: Path) -> dict[str, dict[str, list[object]]]:
    done = run("decode", path, "-o", out, "--format", "json", "--json")
    assert done.returncode == 0, done.stderr
    tables: dict[str, dict[str, list[object]]] = json.loads(
        Path(json.loads(done.stdout)["dispatches"][0]["output"]).read_text()
    )["tables"]
    return tables


def test_registers_accesses_and_counters_of_the_code(run: Run, capture: Path, tmp_path: Path) -> None:
    """In JSON, in Parquet, and of a directory that was decoded before: the same columns."""
    code = _tables_of(run, capture, tmp_path / "raw")["code"]
    rows = dict(zip(code["text"], zip(*(code[name] for name in COLUMNS), strict=True), strict=True))
    assert {text: rows[text] for text in OPERANDS} == OPERANDS
    assert run("decode", capture, "-o", tmp_path / "decoded").returncode == 0
    decoded = _tables_of(run, tmp_path / "decoded" / f"ui_output_{OUTPUT}", tmp_path / "again")["code"]
    texts = dict(zip(decoded["text"], zip(*(decoded[name] for name in COLUMNS), strict=True), strict=True))
    assert {text: texts[text] for text in OPERANDS} == OPERANDS
    assert run("decode", capture, "-o", tmp_path, "--format", "parquet").returncode == 0
    (file,) = tmp_path.glob("*/code.parquet")
    stored = pl.read_parquet(file)
    assert {row[0]: row[1:] for row in stored.select("text", *COLUMNS).iter_rows() if row[0] in OPERANDS} == OPERANDS


def test_sql_over_the_code(run: Run, capture: Path, tmp_path: Path) -> None:
    """The tables are for any SQL; `wavewright query` is about runs, and says so."""
    duckdb = pytest.importorskip("duckdb")
    assert run("decode", capture, "-o", tmp_path, "--format", "parquet").returncode == 0
    (file,) = tmp_path.glob("*/code.parquet")
    sql = "SELECT access, counters, count(*) FROM read_parquet(?) WHERE access IS NOT NULL GROUP BY ALL ORDER BY ALL"
    rows = duckdb.execute(sql, [str(file)]).fetchall()
    assert rows == [("load", "lgkmcnt", 3), ("load", "vmcnt", 2), ("store", "vmcnt", 1)]
    done = run("query", file.parent, "SELECT access FROM code")
    assert done.returncode == 3
    assert "not a run" in done.stderr


def test_choice_of_shader_engines(run: Run, capture: Path, tmp_path: Path) -> None:
    done = run("decode", capture, "-o", tmp_path, "--se", 1, "--json")
    assert json.loads(done.stdout)["dispatches"][0]["shader_engines"] == 1
    assert run("decode", capture, "-o", tmp_path, "--se", 7).returncode == 2
    assert run("decode", capture, "-o", tmp_path, "--dispatch", 9).returncode == 2


def test_output_is_not_overwritten_unless_forced(run: Run, capture: Path, tmp_path: Path) -> None:
    assert run("decode", capture, "-o", tmp_path).returncode == 0
    again = run("decode", capture, "-o", tmp_path)
    assert again.returncode == 2
    assert "exists already" in again.stderr
    assert run("decode", capture, "-o", tmp_path, "--force").returncode == 0


def test_explicit_code_objects(run: Run, capture: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    code = next(capture.glob("*.out"))
    listing = next(capture.glob("*.isa.tsv"))
    for file in (code, listing):
        shutil.move(file, elsewhere / file.name)
    without = json.loads(run("decode", capture, "-o", tmp_path / "a", "--json").stdout)["dispatches"][0]
    assert without["unresolved"] == without["instructions"]
    assert "no_code_object" in {loss["kind"] for loss in without["losses"]}
    spec = f"{elsewhere / listing.name}:1"
    given = json.loads(run("decode", capture, "-o", tmp_path / "b", "--json", "--code-object", spec).stdout)
    assert given["dispatches"][0]["unresolved"] == 0


def test_strict(run: Run, capture: Path, tmp_path: Path) -> None:
    assert run("decode", capture, "-o", tmp_path / "whole", "--strict").returncode == 0
    trace = next(capture.glob("*_0_1.att"))
    trace.write_bytes(trace.read_bytes()[: trace.stat().st_size // 2 - 3])
    lenient = run("decode", capture, "-o", tmp_path / "lenient")
    assert lenient.returncode == 0
    assert "loss:" in lenient.stderr
    strict = run("decode", capture, "-o", tmp_path / "strict", "--strict")
    assert strict.returncode == 4
    assert (tmp_path / "strict" / f"ui_output_{OUTPUT}").is_dir()


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"abc", "3 bytes are too short"),
        (b"SQLite format 3\0" * 4, "a database"),
        (bytes.fromhex("1180000000000000"), "without payload"),
        (bytes.fromhex("9104000000000000") + bytes(64), "unknown generation"),
        (bytes(64), "not a thread trace"),
    ],
)
def test_what_is_no_trace(run: Run, tmp_path: Path, data: bytes, sentence: str) -> None:
    file = tmp_path / "se0.att"
    file.write_bytes(data)
    done = run("decode", file, "-o", tmp_path / "out")
    assert done.returncode == 3
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


def test_an_empty_file_is_an_empty_trace(run: Run, tmp_path: Path) -> None:
    (tmp_path / "se0.att").touch()
    done = run("decode", tmp_path / "se0.att", "-o", tmp_path / "out", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["dispatches"][0]["waves"] == 0


def test_one_bad_shader_engine_does_not_hide_the_others(run: Run, capture: Path, tmp_path: Path) -> None:
    next(capture.glob("*_0_1.att")).write_bytes(bytes(64))
    summary = json.loads(run("decode", capture, "-o", tmp_path, "--json").stdout)["dispatches"][0]
    assert summary["waves"] == 8
    assert [loss["se"] for loss in summary["losses"] if loss["kind"] == "unreadable_trace"] == [0]


@pytest.mark.parametrize("content", [b"", b"\x7fELF", b"\x7fELF" + bytes(60), b"text"])
def test_unreadable_code_objects(run: Run, capture: Path, tmp_path: Path, content: bytes) -> None:
    next(capture.glob("*.isa.tsv")).unlink()
    next(capture.glob("*.out")).write_bytes(content)
    done = run("decode", capture, "-o", tmp_path, "--json")
    assert done.returncode == 0, done.stderr
    kinds = {loss["kind"] for loss in json.loads(done.stdout)["dispatches"][0]["losses"]}
    assert "unreadable_code_object" in kinds


def test_the_wrong_code_object(run: Run, capture: Path, tmp_path: Path) -> None:
    from synth.kernels import kernel_path

    next(capture.glob("*.isa.tsv")).unlink()
    shutil.copy(kernel_path("reduction", "gfx1100"), next(capture.glob("*.out")))
    done = run("decode", capture, "-o", tmp_path, "--json")
    assert done.returncode == 0, done.stderr


def test_without_the_llvm_that_was_named(run: Run, capture: Path, tmp_path: Path) -> None:
    next(capture.glob("*.isa.tsv")).unlink()
    nothing = {"WAVEWRIGHT_LLVM": str(tmp_path / "missing"), "PATH": str(tmp_path)}
    done = run("decode", capture, "-o", tmp_path, "--json", environment=nothing)
    assert done.returncode == 0, done.stderr
    (dispatch,) = json.loads(done.stdout)["dispatches"]
    kinds = {loss["kind"] for loss in dispatch["losses"]}
    assert "llvm_not_used" in kinds
    assert not kinds & {"no_disassembler", "unknown_rows", "unresolved_pcs"}
