from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from synth.kernels import KERNELS, TARGETS, kernel_path, listing_path
from tests.unit.codeobj.made_elf import code_only
from wavescope.codeobj.code_object import CodeObject
from wavescope.codeobj.disassemble import disassemble
from wavescope.codeobj.listing import Row, parse_rows, read_listing
from wavescope.codeobj.llvm import Tool, find_tools


def _library() -> str | None:
    return next((tool.path for tool in find_tools({}) if tool.is_library), None)


@pytest.fixture(params=["library", "program"])
def backend(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each disassembler alone."""
    found = _library() if request.param == "library" else shutil.which("llvm-objdump-22")
    if found is None:
        pytest.skip(f"no LLVM {request.param} here (apt-get install llvm-22)")
    monkeypatch.setenv("WAVESCOPE_LLVM", found)
    return "libLLVM" if request.param == "library" else "llvm-objdump"


@pytest.mark.parametrize("target", TARGETS)
def test_own_listings_are_what_each_backend_gives(backend: str, target: str) -> None:
    for kernel in KERNELS:
        listing = disassemble(CodeObject.read(kernel_path(kernel, target)))
        assert listing.backend.startswith(backend)
        assert listing.losses == ()
        assert listing.tsv == listing_path(kernel, target).read_bytes()


def test_listings_of_the_goldens(backend: str, shared: Path) -> None:
    compared = 0
    for path in sorted((shared / "golden").glob("gfx*/*/*.elf")):
        target = path.parts[-3]
        listing = disassemble(CodeObject.read(path, target=target))
        assert listing.tsv == path.with_suffix(".isa.tsv").read_bytes(), path
        assert listing.losses == ()
        compared += 1
    assert compared == 14


def test_every_row_of_the_official_code_json(backend: str, shared: Path) -> None:
    compared = 0
    for capture in sorted((shared / "data" / "att-mi300x-bmm").iterdir()):
        ours: dict[int, dict[int, Row]] = {}
        for path in capture.glob("raw/*.out"):
            listing = disassemble(CodeObject.read(path))
            assert listing.losses == ()
            ours[int(path.stem.rsplit("_", 1)[1])] = {row.address: row for row in listing.rows()}
        for path in capture.glob("ui_output_*/code.json"):
            for number in {row[4] for row in json.loads(path.read_bytes())["code"] or []}:
                for row in parse_rows(read_listing(path, number))[0]:
                    assert ours[number][row.address] == row
                    compared += 1
    assert compared == 15_392


def test_instruction_counts_of_other_objects(backend: str, shared: Path) -> None:
    """The counts that ../shared/data/INDEX.md gives."""
    expected = {
        "gfx942/triton_poi_fused_relu_0.hsaco": 343,
        "gfx942/unified_memory.co": 292,
        "gfx950/f4gemm_192x256.co": 1823,
        "gfx950/fwd_hd128_bf16_causal.co": 3037,
        "gfx90a/gpuReadWrite_kernels.hsaco": 295,
        "gfx1030/gpuReadWrite_kernels.hsaco": 83,
    }
    counts = {name: len(disassemble(CodeObject.read(shared / "data" / "codeobj" / name)).rows()) for name in expected}
    assert counts == expected


def test_ranges_restrict_to_functions(backend: str) -> None:
    code = CodeObject.read(kernel_path("divergent", "gfx942"))
    everything = disassemble(code).rows()
    assert len(code.functions) == 2
    for function in code.functions:
        rows = disassemble(code, ranges=[(function.address, function.size)]).rows()
        assert rows == [row for row in everything if function.address <= row.address < function.end]
    assert disassemble(code, ranges=[(1 << 40, 64)]).tsv == b""
    overlapping = [(start - 1000, size + 2000) for start, size in code.text_ranges] * 2
    assert disassemble(code, ranges=overlapping).rows() == everything


def test_malformed_words_become_data_and_branches_stay_plain(backend: str) -> None:
    words = ["f38b0000", "ffffffff", "bf800000", "bf85fff8", "00000000"]
    code = b"".join(bytes.fromhex(word)[::-1] for word in words) + b"\xde\xad\xbe"
    rows = disassemble(CodeObject.from_bytes(code_only(code))).rows()
    assert [(row.address, row.size, row.text) for row in rows] == [
        (0x1000, 4, ".long 0xf38b0000"),
        (0x1004, 4, ".long 0xffffffff"),
        (0x1008, 4, "s_nop 0"),
        (0x100C, 4, "s_cbranch_scc1 65528"),
        (0x1010, 4, "v_cndmask_b32_e32 v0, s0, v0, vcc"),
    ]


@pytest.mark.parametrize("target", ["gfx942", "gfx950", "gfx1100", "gfx1201", "gfx1250"])
def test_random_words_give_the_same_rows_in_both(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import random

    library, program = _library(), shutil.which("llvm-objdump-22")
    if library is None or program is None:
        pytest.skip("needs libLLVM and llvm-objdump-22 (apt-get install llvm-22)")
    code = CodeObject.from_bytes(code_only(random.Random(target).randbytes(1 << 14), target=target))
    listings = []
    for path in (library, program):
        monkeypatch.setenv("WAVESCOPE_LLVM", path)
        listings.append(disassemble(code))
    # LLVM 22 really dies of some words (0xe9f70f8b on gfx942); each costs that word and no more.
    losses = (*listings[0].losses, *listings[1].losses)
    assert all("failed on the word at" in loss.message for loss in losses)
    assert listings[0].rows() == listings[1].rows()
    assert sum(row.size for row in listings[0].rows()) == 1 << 14


def test_the_search_prefers_what_was_named(tmp_path: Path) -> None:
    assert find_tools({"WAVESCOPE_LLVM": str(tmp_path / "missing")}) == []
    assert find_tools({"WAVESCOPE_LLVM": str(tmp_path)}) == []
    (tmp_path / "lib").mkdir()
    (tmp_path / "bin").mkdir()
    for name in ("lib/libLLVM.so.18.1", "lib/libLLVM.so.20.1", "lib/libLLVM-21.so", "bin/llvm-objdump"):
        (tmp_path / name).write_bytes(b"")
    assert find_tools({"WAVESCOPE_LLVM": str(tmp_path)}) == [
        Tool(str(tmp_path / "lib/libLLVM-21.so"), is_library=True),
        Tool(str(tmp_path / "lib/libLLVM.so.20.1"), is_library=True),
        Tool(str(tmp_path / "bin/llvm-objdump"), is_library=False),
    ]
    assert find_tools({"ROCM_PATH": str(tmp_path)})[0].path == str(tmp_path / "lib/libLLVM-21.so")


def test_importing_stays_light() -> None:
    program = (
        "import sys, wavescope.codeobj as c; print([m for m in ('polars','msgspec','ctypes') if m in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
