"""Registers, LDS and GPU from files beside a trace: matched, never guessed."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from synth.kernels import kernel_path
from wavewright.codeobj.code_object import CodeObject
from wavewright.errors import UsageError
from wavewright.model.schema import THREAD_TRACE, empty_frame
from wavewright.model.trace import ThreadTrace, TraceSource
from wavewright.readers.trace.resources import with_resources

CSV = {
    "Kind": "KERNEL_DISPATCH",
    "Agent_Id": "Agent 2",
    "Dispatch_Id": 7,
    "Kernel_Name": "saxpy",
    "LDS_Block_Size": 4096,
    "Scratch_Size": 0,
    "VGPR_Count": 24,
    "Accum_VGPR_Count": 8,
    "SGPR_Count": 32,
    "Workgroup_Size_X": 64,
    "Workgroup_Size_Y": 2,
    "Workgroup_Size_Z": 2,
}


def trace(*names: str, target: str | None = None, gfxip: int = 9) -> ThreadTrace:
    """A trace of dispatch 7 on agent 55 whose waves entered all kernels."""

    def rows(table: str, columns: dict[str, list[Any]]) -> pl.DataFrame:
        missing = empty_frame(THREAD_TRACE[table])
        frame = pl.DataFrame(columns, schema={name: missing.schema[name] for name in columns})
        return pl.concat([missing, frame], how="diagonal")

    count = list(range(len(names)))
    tables = {
        "kernels": rows("kernels", {"kernel": count, "name": list(names), "demangled": list(names)}),
        "waves": rows("waves", {"wave": count, "kernel": count}),
        "shader_engines": rows("shader_engines", {"se": [0], "gfxip": [gfxip]}),
    }
    return ThreadTrace(tables, TraceSource(path="x", agent=55, dispatch=7, target=target))


def write_csv(path: Path, *changes: dict[str, Any]) -> Path:
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, CSV, quoting=csv.QUOTE_NONNUMERIC)
        writer.writeheader()
        writer.writerows(CSV | change for change in changes)
    return path


def write_agents(path: Path, *names: str) -> Path:
    lines = ["Node_Id,Logical_Node_Id,Gfx_Target_Version,Name", '0,0,0,"AMD EPYC"']
    lines += [f'{n},{n},90500,"{name}"' for n, name in enumerate(names, 2)]
    path.write_text("\n".join(lines) + "\n")
    return path


def write_results(path: Path, **symbol: Any) -> Path:
    known = {"kernel_id": 3, "kernel_name": "saxpy.kd", "arch_vgpr_count": 48, "sgpr_count": 64} | symbol
    agents = [{"id": {"handle": 55}, "type": 2, "name": "gfx942"}, {"id": {"handle": 56}, "type": 2, "name": "gfx90a"}]
    record = {"dispatch_info": {"dispatch_id": 7, "kernel_id": 3, "workgroup_size": {"x": 8, "y": 8, "z": 1}}}
    tool = {"agents": agents, "kernel_symbols": [known], "buffer_records": {"kernel_dispatch": [record]}}
    path.write_bytes(gzip.compress(json.dumps({"rocprofiler-sdk-tool": [tool]}).encode()))
    return path


def only(trace: ThreadTrace) -> dict[str, Any]:
    (row,) = trace.kernels.to_dicts()
    return row


def test_a_kernel_trace(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "1_kernel_trace.csv", {"Dispatch_Id": 6, "VGPR_Count": 12}, {})
    told = with_resources(trace("saxpy"), [path])
    row = only(told)
    assert (row["vgprs"], row["agprs"], row["sgprs"], row["lds_bytes"], row["workgroup_size"]) == (24, 8, 32, 4096, 256)
    assert row["resource_origin"] == "1_kernel_trace.csv"
    assert told.losses.height == 0


def test_several_rows_of_a_name_that_disagree(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "k.csv", {"Dispatch_Id": 5, "VGPR_Count": 12}, {"Dispatch_Id": 6})
    told = with_resources(trace("saxpy"), [path])
    assert (only(told)["vgprs"], only(told)["sgprs"]) == (None, 32)
    assert "several vgprs of saxpy (12, 24)" in told.losses["message"][0]


def test_another_kernel_under_the_dispatch(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "k.csv", {"Kernel_Name": "other", "VGPR_Count": 99}, {"Dispatch_Id": 9})
    told = with_resources(trace("saxpy"), [path])
    assert only(told)["vgprs"] == 24
    assert "dispatch 7 is other in k.csv" in told.losses["message"][0]


def test_nothing_about_our_kernel(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "k.csv", {"Kernel_Name": "other"})
    with pytest.raises(UsageError, match="nothing here about the kernels of the trace: saxpy"):
        with_resources(trace("saxpy"), [path])


def test_signatures_match_whatever_the_spaces(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "k.csv", {"Kernel_Name": "void f<int>(int *) [clone .kd]"})
    assert only(with_resources(trace("void f<int>(int*)"), [path]))["vgprs"] == 24


def test_one_kind_of_gpu(tmp_path: Path) -> None:
    told = with_resources(trace("saxpy"), [write_agents(tmp_path / "agent_info.csv", "gfx950", "gfx950")])
    assert (told.source.target, told.source.target_origin) == ("gfx950", "agent_info.csv")


def test_several_gpus(tmp_path: Path) -> None:
    agents = write_agents(tmp_path / "agent_info.csv", "gfx950", "gfx942")
    told = with_resources(trace("saxpy"), [agents, write_csv(tmp_path / "k.csv", {})])
    assert told.source.target == "gfx950"  # the dispatch ran on Agent 2
    told = with_resources(trace("saxpy"), [agents, write_csv(tmp_path / "k.csv", {"Agent_Id": "Agent 3"})])
    assert told.source.target == "gfx942"
    (tmp_path / "k2.csv").write_text("Kernel_Name,VGPR_Count\nsaxpy,4\n")
    told = with_resources(trace("saxpy"), [agents, tmp_path / "k2.csv"])
    assert told.source.target is None
    assert "several GPUs are possible: gfx942, gfx950" in told.losses["message"][0]


def test_a_gpu_that_cannot_be(tmp_path: Path) -> None:
    paths = [write_agents(tmp_path / "agent_info.csv", "gfx1201"), write_csv(tmp_path / "k.csv", {})]
    told = with_resources(trace("saxpy"), paths)
    assert told.source.target is None
    assert "lists gfx1201, but the trace is of gfx9" in told.losses["message"][0]


def test_a_result_file_comes_before_a_kernel_trace(tmp_path: Path) -> None:
    paths = [write_csv(tmp_path / "k.csv", {}), write_results(tmp_path / "1_results.json.gz")]
    told = with_resources(trace("saxpy"), paths)
    row = only(told)
    assert (row["vgprs"], row["sgprs"], row["lds_bytes"]) == (48, 64, 4096)
    assert told.source.target == "gfx942"  # agent 55
    assert row["workgroup_size"] == 64


def test_a_code_object_comes_first(tmp_path: Path) -> None:
    code = kernel_path("saxpy", "gfx942")
    (kernel,) = CodeObject.read(code).kernels
    path = write_csv(tmp_path / "k.csv", {"Kernel_Name": kernel.name})
    told = with_resources(trace(kernel.name), [code, path])
    row = only(told)
    assert row["wave_size"] == 64
    assert row["vgprs"] == kernel.vgprs != 24
    assert (row["lds_bytes"], row["workgroup_size"]) == (4096, 256)  # as dispatched
    assert told.source.target == "gfx942"


def test_a_folder(tmp_path: Path) -> None:
    write_csv(tmp_path / "1_kernel_trace.csv", {})
    write_agents(tmp_path / "1_agent_info.csv", "gfx942")
    (tmp_path / "readme.csv").write_text("hello")
    told = with_resources(trace("saxpy"), [tmp_path])
    assert (only(told)["vgprs"], told.source.target) == (24, "gfx942")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("k_kernel_trace.csv", b""),
        ("k_kernel_trace.csv", b"a,b\n1,2\n"),
        ("k_kernel_trace.csv", b'Kernel_Name,VGPR_Count\n"saxpy,1\n'),
        ("k_kernel_trace.csv.gz", b"\x1f\x8bnothing"),
        ("k_kernel_trace.csv.gz", gzip.compress(b"Kernel_Name,VGPR_Count\nsaxpy,4\n", mtime=0)[:-9]),
        ("k_results.json", b'{"rocprofiler-sdk-tool":[{"agents":3}]}'),
        ("k_results.json", b"[" * 100_000),
        ("k.hsaco", b"\x7fELF" + bytes(60)),
    ],
)
def test_files_that_tell_nothing(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UsageError, match="nothing here about the kernels"):
        with_resources(trace("saxpy"), [tmp_path / name])
    write_csv(tmp_path / "good_kernel_trace.csv", {})
    told = with_resources(trace("saxpy"), [tmp_path])
    assert only(told)["vgprs"] == 24
    assert name in "".join(told.losses["message"].to_list())


@pytest.mark.parametrize("value", ["-1", "1e9", "99999999999", "", "0x20", "١٢"])
def test_numbers_that_are_none(tmp_path: Path, value: str) -> None:
    (tmp_path / "k.csv").write_text(f"Kernel_Name,VGPR_Count,SGPR_Count\nsaxpy,{value},16\n")
    row = only(with_resources(trace("saxpy"), [tmp_path / "k.csv"]))
    assert (row["vgprs"], row["sgprs"]) == (None, 16)
