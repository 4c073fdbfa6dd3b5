"""`wavewright.open` on everything that holds decoded traces: which one is read, and what is said about the others."""

from __future__ import annotations

import gc
import gzip
import io
import json
import os
import tarfile
from importlib.util import find_spec
from pathlib import Path

import polars as pl
import pytest

import wavewright
from synth import Scenario, compiled, synthesize, write_capture
from synth.kernels import kernel_path
from tests.kit.made_decoded import NAME, PLACEHOLDER, decoded_files, tar_xz, write_decoded, write_files, zipped
from wavewright.analysis.trace.costs.row_costs import row_totals
from wavewright.errors import MissingToolError, NotATraceError, UsageError
from wavewright.model.schema import THREAD_TRACE
from wavewright.readers.files.archive import ArchiveFolder
from wavewright.readers.opening import open_trace


def kinds(trace: wavewright.ThreadTrace) -> list[str]:
    return trace.losses["kind"].to_list()


def inside(name: str, files: dict[str, bytes] | None = None) -> dict[str, bytes]:
    return {f"{name}/{file}": data for file, data in (decoded_files() if files is None else files).items()}


def test_a_directory_and_every_file_in_it(tmp_path: Path) -> None:
    folder = write_decoded(tmp_path)
    trace = wavewright.open(folder)
    assert (trace.source.agent, trace.source.dispatch, trace.source.format) == (1, 1, "ui_output")
    assert trace.waves.height == 4
    assert kinds(trace) == []
    for name in ("code.json", "filenames.json", next(folder.glob("se0_sm*.json")).name):
        assert wavewright.open(folder / name).instructions.equals(trace.instructions)
    assert wavewright.open(str(folder) + "/").source.dispatch == 1


@pytest.mark.parametrize("top", ["", NAME + "/", f"run/deep/{NAME}/"])
@pytest.mark.parametrize("pack", [tar_xz, zipped])
def test_archives_are_the_same_as_directories(tmp_path: Path, top: str, pack: object) -> None:
    folder = write_decoded(tmp_path)
    files = {top + name: data for name, data in decoded_files().items()}
    packed = pack(tmp_path / f"{NAME}.archive", files)  # type: ignore[operator]
    trace, plain = wavewright.open(packed), wavewright.open(folder)
    for name in THREAD_TRACE:
        assert trace.table(name).equals(plain.table(name)), name
    assert (trace.source.agent, trace.source.dispatch) == (1, 1)


@pytest.mark.slow
def test_an_archive_does_not_stay_in_memory(tmp_path: Path) -> None:
    trace = wavewright.open(zipped(tmp_path / "a.zip", inside(NAME)))
    gc.collect()
    wave = next(data for name, data in decoded_files().items() if "_wv" in name)
    kept = [o for o in gc.get_objects() if isinstance(o, ArchiveFolder)]
    assert all(wave not in folder.files.values() for folder in kept)
    assert trace.sources["text"].null_count() == 0  # these are read when they are asked for


def test_a_tar_gz(tmp_path: Path) -> None:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as tar:
        tar.add(write_decoded(tmp_path), arcname="x")
    (tmp_path / "a.tgz").write_bytes(stream.getvalue())
    assert wavewright.open(tmp_path / "a.tgz").waves.height == 4


def several(parent: Path) -> Path:
    write_decoded(parent, "ui_output_agent_1_dispatch_1", waves=2)
    write_decoded(parent, "ui_output_agent_1_dispatch_3", waves=4)
    write_files(parent / "ui_output_agent_1_dispatch_2", PLACEHOLDER)
    return parent


def test_a_parent_with_several_dispatches(tmp_path: Path) -> None:
    trace = wavewright.open(several(tmp_path))
    assert (trace.source.dispatch, trace.source.dispatch_key, trace.source.other_dispatches) == (3, "3", ("1", "2"))
    note = trace.losses.filter(pl.col("kind") == "other_dispatches")
    assert note["count"].to_list() == [2]
    assert note["message"].to_list() == ["showing dispatch 3; 2 more dispatches here: 1, 2"]
    assert wavewright.open(tmp_path, dispatch=1).waves.height == 2


def test_without_a_manifest(tmp_path: Path) -> None:
    folder = write_decoded(tmp_path)
    (folder / "filenames.json").unlink()
    assert wavewright.open(tmp_path).waves.height == 4


def test_placeholders_are_said_not_raised(tmp_path: Path) -> None:
    several(tmp_path)
    trace = wavewright.open(tmp_path, dispatch=2)
    assert "placeholder" in kinds(trace)
    assert trace.waves.height == row_totals(trace).height == 0
    with pytest.raises(UsageError, match=r"no dispatch 9; there are: 1 \(blas::saxpy<64u>\), 2 \(no wave traced\), 3 "):
        wavewright.open(tmp_path, dispatch=9)


def test_an_archive_with_several_dispatches(tmp_path: Path) -> None:
    files = inside("run/ui_output_agent_1_dispatch_7") | inside("run/ui_output_agent_1_dispatch_8", PLACEHOLDER)
    trace = wavewright.open(zipped(tmp_path / "a.zip", files))
    assert (trace.source.dispatch, trace.source.other_dispatches) == (7, ("8",))
    assert trace.source.path.endswith("a.zip!run/ui_output_agent_1_dispatch_7")


def test_a_folder_of_archives(tmp_path: Path) -> None:
    tar_xz(tmp_path / "ui_output_agent_1_dispatch_1.tar.xz", inside("a", decoded_files(waves=2)))
    zipped(tmp_path / "ui_output_agent_1_dispatch_2.zip", decoded_files())
    trace = wavewright.open(tmp_path)
    assert (trace.source.dispatch, trace.waves.height) == (2, 4)
    assert "other_dispatches" in kinds(trace)


def test_the_same_dispatch_of_two_agents(tmp_path: Path) -> None:
    write_decoded(tmp_path, "ui_output_agent_1_dispatch_4", waves=2)
    write_decoded(tmp_path, "ui_output_agent_2_dispatch_4_after_fix")
    with pytest.raises(UsageError, match=r"2 dispatches are called 4; choose one with --dispatch: 4@1 .*, 4@2 "):
        wavewright.open(tmp_path, dispatch=4)
    trace = wavewright.open(tmp_path, dispatch="4@1")
    assert (trace.source.agent, trace.source.other_dispatches) == (1, ("4@2",))
    assert kinds(trace) == []  # it was asked for
    assert wavewright.open(tmp_path).source.agent == 2


def test_the_kernel_chooses_the_dispatch(tmp_path: Path) -> None:
    fill = "__amd_rocclr_fillBufferAligned"
    for number, name, waves in ((1, fill, 4), (3, "saxpy", 2)):
        files = decoded_files(waves=waves)
        occupancy = json.loads(files["occupancy.json"])
        occupancy["dispatches"] = dict.fromkeys(occupancy["dispatches"], name)
        files["occupancy.json"] = json.dumps(occupancy).encode()
        write_files(tmp_path / f"ui_output_agent_1_dispatch_{number}", files)
    assert wavewright.open(tmp_path).source.dispatch == 3  # the program's kernel, though the other is fuller
    assert wavewright.open(tmp_path, kernel="fillBuffer").source.dispatch == 1
    with pytest.raises(UsageError, match=rf"name contains 'gemm'; there are: 1 \({fill}\), 3 \(saxpy"):
        wavewright.open(tmp_path, kernel="gemm")


@pytest.fixture
def both(tmp_path: Path) -> Path:
    write_capture(synthesize(Scenario(kernels=(compiled("saxpy", "gfx942"),))), tmp_path / "host")
    for listing in (tmp_path / "host").glob("*.isa.tsv"):
        listing.unlink()
    return write_decoded(tmp_path).parent


@pytest.mark.parametrize("llvm", ["", "missing"])  # the code needs none
def test_raw_and_decoded(both: Path, monkeypatch: pytest.MonkeyPatch, llvm: str) -> None:
    monkeypatch.setenv("WAVEWRIGHT_LLVM", llvm and str(both / llvm))
    trace = wavewright.open(both)
    assert trace.source.format == "raw capture"
    assert "the raw traces were decoded" in trace.losses.filter(pl.col("kind") == "both_forms")["message"][0]
    assert wavewright.open(both / NAME).source.format == "ui_output"


def test_a_dispatch_that_only_was_decoded(both: Path) -> None:
    write_decoded(both, "ui_output_agent_1_dispatch_77")
    assert wavewright.open(both, dispatch=77).source.format == "ui_output"


def test_what_stands_beside_is_found(tmp_path: Path) -> None:
    folder = write_decoded(tmp_path)
    (name,) = wavewright.open(folder).kernels["name"].to_list()[-1:]
    host = tmp_path / "host"
    host.mkdir()
    table = f'Kernel_Name,Dispatch_Id,VGPR_Count,Workgroup_Size\n"{name}",1,40,64\n'
    (host / "1_kernel_trace.csv.gz").write_bytes(gzip.compress(table.encode()))
    (host / "1_agent_info.csv").write_text("Name,Gfx_Target_Version,Node_Id\ngfx942,90402,2\n")
    trace = wavewright.open(folder)
    ours = trace.kernels.filter(pl.col("name") == name)
    assert ours.select("vgprs", "workgroup_size", "resource_origin").row(0) == (40, 64, "1_kernel_trace.csv.gz")
    assert trace.source.target == "gfx942"


def test_strangers_beside_are_not_believed(tmp_path: Path) -> None:
    folder = write_decoded(tmp_path)
    other = tmp_path / "another_run"
    other.mkdir()
    (other / "1_agent_info.csv").write_text("Name,Gfx_Target_Version,Node_Id\ngfx90a,90010,2\n")
    (other / "1_kernel_trace.csv").write_text("Kernel_Name,Dispatch_Id,VGPR_Count\nsomething_else,1,40\n")
    trace = wavewright.open(folder)
    assert trace.source.target is None
    assert trace.kernels["vgprs"].drop_nulls().len() == 0


@pytest.mark.parametrize(
    ("name", "content", "error", "words"),
    [
        ("c.csv", b"Dispatch_Id,Counter_Name,Counter_Value\n1,SQ_WAVES,4\n", NotATraceError, "wavewright counters"),
        ("k.csv", b"Kernel_Name,VGPR_Count,Start_Timestamp\n", NotATraceError, "--resources"),
        ("a.csv", b"Name,Gfx_Target_Version\n", NotATraceError, "--resources"),
        ("r.json.gz", gzip.compress(b'{"rocprofiler-sdk-tool": []}', mtime=0), NotATraceError, "wavewright summary"),
        ("a.db", b"SQLite format 3\0" + bytes(84), NotATraceError, "not a readable SQLite database"),
        ("notes.txt", b"hello, world\n", NotATraceError, "not a format that wavewright reads"),
        ("code.json", b"{}", NotATraceError, "not a format that wavewright reads"),
    ],
)
def test_other_kinds_name_what_fits(
    tmp_path: Path, name: str, content: bytes, error: type[Exception], words: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(error, match=words):
        open_trace(tmp_path / name)


def test_pipes_are_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="neither a file nor a folder"):
        wavewright.open(tmp_path / "pipe")


def test_a_kernel_trace_beside_a_raw_capture(tmp_path: Path) -> None:
    write_capture(synthesize(Scenario(kernels=(compiled("saxpy", "gfx942"),))), tmp_path)
    (before,) = wavewright.open(tmp_path).kernels.to_dicts()
    table = f'Kernel_Name,VGPR_Count,LDS_Block_Size,Workgroup_Size\n"{before["name"]}",999,4096,128\n'
    (tmp_path / "1_kernel_trace.csv").write_text(table)
    (after,) = wavewright.open(tmp_path).kernels.to_dicts()
    assert after["vgprs"] == before["vgprs"] != 999  # the code object knows better
    assert (after["lds_bytes"], after["workgroup_size"]) == (4096, 128)
    assert after["resource_origin"] == "code object of the capture, 1_kernel_trace.csv"


def test_a_code_object_names_info() -> None:
    with pytest.raises(NotATraceError, match="wavewright info"):
        wavewright.open(kernel_path("saxpy", "gfx942"))


def test_an_archive_without_a_trace(tmp_path: Path) -> None:
    with pytest.raises(NotATraceError, match="no decoded trace in the archive"):
        wavewright.open(zipped(tmp_path / "a.zip", {"notes.txt": b"hello"}))
    with pytest.raises(NotATraceError, match=r"b\.zip/se0\.att: 5 bytes are too short for a thread trace"):
        wavewright.open(zipped(tmp_path / "b.zip", {"se0.att": b"hello"}))


def test_tables_in_other_forms(tmp_path: Path) -> None:
    trace = wavewright.open(write_decoded(tmp_path))
    counted = trace.sql("SELECT count(*) AS n, sum(stall_cycles) AS stalled FROM instructions WHERE row >= 0")
    assert counted["n"][0] == trace.instructions.height
    if find_spec("pyarrow") is None:
        with pytest.raises(MissingToolError, match=r"wavewright\[pandas\]"):
            trace.to_arrow()
    else:
        assert trace.to_arrow()["waves"].num_rows == 4
    if find_spec("pandas") is None:
        with pytest.raises(MissingToolError, match=r"wavewright\[pandas\]"):
            trace.to_pandas()
    elif find_spec("pyarrow"):
        assert len(trace.to_pandas()["instructions"]) == trace.instructions.height
