"""`wavewright disassemble` as a user calls it: files with code, and no trace."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import wavewright
from synth.kernels import kernel_path
from tests.cli.conftest import Run
from tests.cli.in_process import call
from wavewright.analysis.code.kernel import KernelCode
from wavewright.analysis.code.object_overview import CodeOverview
from wavewright.codeobj.code_object import CodeObject
from wavewright.errors import UsageError

GEMM = kernel_path("tiled_gemm", "gfx942")


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An offload bundle of two kernels for three GPUs, made by hand after clang's description of the format."""
    parts = [
        (f"hipv4-amdgcn-amd-amdhsa--{target}", kernel_path(name, target).read_bytes())
        for name, target in (("saxpy", "gfx942"), ("tiled_gemm", "gfx942"), ("saxpy", "gfx1100"))
    ]
    head = b"__CLANG_OFFLOAD_BUNDLE__" + len(parts).to_bytes(8, "little")
    at = len(head) + sum(24 + len(name) for name, _ in parts)
    body = b""
    for name, code in parts:
        head += b"".join(n.to_bytes(8, "little") for n in (at + len(body), len(code), len(name))) + name.encode()
        body += code
    path = tmp_path_factory.mktemp("bundle") / "kernels.hsaco"
    path.write_bytes(head + body)
    return path


def test_a_file_with_several_kernels_is_listed(bundle: Path) -> None:
    done = call("disassemble", bundle)
    assert done.status == 0, done.stderr
    assert done.stdout.startswith("3 kernels in 3 code objects for gfx1100, gfx942\n")
    assert len(re.findall(r"blas::saxpy", done.stdout)) == 2
    answer = json.loads(call("disassemble", bundle, "--json").stdout)
    assert [row["target"] for row in answer["objects"]["rows"]] == ["gfx942", "gfx942", "gfx1100"]
    gemm = answer["kernels"]["rows"][1]
    assert (gemm["vgprs"], gemm["vgprs_used"], gemm["sgprs_used"], gemm["waves_per_simd_limit"]) == (48, 46, 19, 8)


def test_a_kernel_is_chosen_by_name_pattern_gpu_and_number(bundle: Path) -> None:
    for choice in (
        ("--kernel", "tiled_gemm"),
        ("--kernel", "^tiled.*"),
        ("--object", "1"),
        ("--target", "gfx942", "--kernel", "gemm"),
    ):
        done = call("disassemble", bundle, *choice, "--json")
        assert json.loads(done.stdout)["kernel"] == "tiled_gemm", done.stderr
    both = json.loads(call("disassemble", bundle, "--kernel", "saxpy", "--json").stdout)
    assert [row["object"] for row in both["kernels"]["rows"]] == [0, 2]


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (("--kernel", "no such"), "tiled_gemm"),
        (("--object", "9"), "0: gfx942"),
        (("--target", "gfx90a"), "gfx1100"),
        (("--kernel", "gemm", "--loop", "7"), "loops 0 to 0"),
    ],
)
def test_what_is_not_there(bundle: Path, options: tuple[str, ...], word: str) -> None:
    done = call("disassemble", bundle, *options)
    assert done.status == 2
    assert word in done.stderr


def test_a_kernel() -> None:
    """Numbers of the listing and of the summary; 42 registers are live at the last LDS load, by hand."""
    done = call("disassemble", GEMM)
    assert done.status == 0, done.stderr
    assert done.stdout.startswith("tiled_gemm on gfx942, waves of 64\n")
    assert re.search(r"18ac +42 +10 .*ds_read2_b32 v\[32:33\], v5 offset0:13 offset1:14 +◀ most live", done.stdout)
    assert re.search(r"1814 .*s_waitcnt vmcnt\(1\) +6 rows after 17ec", done.stdout)
    assert re.search(r"197c .*s_cbranch_scc0 65432 +→ 17e0", done.stdout)
    assert "8 waves per SIMD fit, bound by the hardware" in done.stdout
    assert re.search(r"VGPR +48 +46 +46 +42 ", done.stdout)
    assert re.search(r"loop 0 +0x17e0 +76 ", done.stdout)


def test_parts_of_the_listing() -> None:
    assert "s_endpgm" not in call("disassemble", GEMM, "--summary").stdout
    assert "s_load_dwordx4" not in call("disassemble", GEMM, "--loop", "0").stdout
    few = call("disassemble", GEMM, "--rows", "0:3").stdout
    assert "s_barrier" not in few.partition("waves per SIMD")[0]
    assert "tiled_gemm.hip:22" in call("disassemble", GEMM, "--source").stdout
    assert re.search(r"user_sgprs +\d", call("disassemble", GEMM, "--summary", "--descriptor").stdout)


def test_a_launch_that_is_known_better() -> None:
    """64 KiB of LDS: one workgroup of four waves per CU, one wave per SIMD; two need half of it."""
    done = call("disassemble", GEMM, "--summary", "--lds", "65536", "--workgroup", "256")
    assert "1 wave per SIMD fits, bound by LDS" in done.stdout
    assert "2 waves per SIMD need at most 32,768 bytes of LDS per workgroup" in done.stdout


def test_json_has_all_rows() -> None:
    answer = json.loads(call("disassemble", GEMM, "--json").stdout)
    assert answer["rows"]["row_count"] == len(answer["rows"]["rows"]) == 128
    assert answer["registers"]["rows"][0] == {
        "kind": "vgprs",
        "allocated": 48,
        "compiler": 46,
        "used": 46,
        "peak": 42,
        "row_count": 3,
        "first_row": answer["peak_row"],
    }
    assert answer["resources"]["lds_bytes"] == 2112
    assert answer["descriptor"]["workgroup_id_x"] == 1


@pytest.mark.parametrize("width", [40, 80, 100, 160])
def test_lines_fit(run: Run, width: int) -> None:
    done = run("disassemble", GEMM, environment={"COLUMNS": str(width), "NO_COLOR": "1"})
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= width
    assert "\x1b" not in done.stdout


def test_hostile_names(tmp_path: Path) -> None:
    """A kernel's name that would command the terminal is printed as escapes."""
    evil = b"til\x1b[2J\x07mm"
    data = GEMM.read_bytes().replace(b"tiled_gemm", evil)
    path = tmp_path / "evil.co"
    path.write_bytes(data)
    assert evil.decode() in {kernel.name for kernel in CodeObject.read(path).kernels}
    for options in ((), ("--json",), ("--csv",), ("--kernel", "nothing")):
        done = call("disassemble", path, *options)
        assert "\x1b" not in done.stdout + done.stderr


def test_python() -> None:
    overview, code = wavewright.disassemble(GEMM), wavewright.disassemble(GEMM, "tiled_gemm")
    assert isinstance(overview, CodeOverview)
    assert isinstance(code, KernelCode)
    assert code.loops.height == 1
    with pytest.raises(UsageError, match="no kernel is called"):
        wavewright.disassemble(GEMM, "other")
