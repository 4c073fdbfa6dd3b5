from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from synth.kernels import KERNELS, TARGETS, kernel_path, listing_path
from tests.kit.judges import llvm_library
from tests.unit.codeobj.made_elf import code_only, functions_of
from wavewright import _core
from wavewright.codeobj.code_object import CodeObject
from wavewright.codeobj.disassemble import disassemble
from wavewright.codeobj.libllvm.libraries import find_libraries
from wavewright.codeobj.listing import Row, parse_rows, read_listing
from wavewright.codeobj.targets import TARGET_OF_MACH

ROOT = Path(__file__).resolve().parents[3]
#: GPUs that have a table of their own.
COLUMNS = {
    *("gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx950"),
    *("gfx1010", "gfx1030", "gfx1100", "gfx1151", "gfx1201", "gfx1250"),
}


@pytest.fixture(params=["tables", "LLVM"])
def backend(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Our tables, and the judge."""
    monkeypatch.delenv("WAVEWRIGHT_LLVM", raising=False)
    if request.param == "tables":
        return "tables of "
    monkeypatch.setenv("WAVEWRIGHT_LLVM", llvm_library())
    return "libLLVM"


@pytest.mark.first_case
@pytest.mark.parametrize("target", TARGETS)
def test_listings_of_our_kernels(backend: str, target: str) -> None:
    for kernel in KERNELS:
        listing = disassemble(CodeObject.read(kernel_path(kernel, target)))
        assert listing.backend.startswith(backend)
        assert listing.losses == ()
        assert listing.tsv == listing_path(kernel, target).read_bytes()


@pytest.mark.first_case
def test_listings_of_the_goldens(backend: str, shared: Path) -> None:
    compared = 0
    for path in sorted((shared / "golden").glob("gfx*/*/*.elf")):
        target = path.parts[-3]
        listing = disassemble(CodeObject.read(path, target=target))
        assert listing.tsv == path.with_suffix(".isa.tsv").read_bytes(), path
        assert listing.losses == ()
        compared += 1
    assert compared == 14


@pytest.mark.first_case
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


@pytest.mark.parametrize("target", ["gfx1030", "gfx1100", "gfx1201"])
def test_each_kernel_in_the_form_of_its_wave_size(backend: str, target: str) -> None:
    """LLVM's text of the same words with -mattr=+wavefrontsize64 and without, looked up with llvm-mc 22."""
    words = {"gfx1030": "040004d401050200", "gfx1100": "040014d401050200", "gfx1201": "040014d401050200"}
    compare = bytes.fromhex(words[target])
    functions: dict[str, tuple[bytes, int | None]] = {
        "wide": (compare, 64),
        "narrow": (compare, 32),
        "any": (compare, None),
    }
    listing = disassemble(CodeObject.from_bytes(functions_of(functions, target=target)))
    assert listing.backend.startswith(backend)
    assert [row.text for row in listing.rows()] == [
        "v_cmp_gt_f32_e64 s[4:5], v1, v2",
        "v_cmp_gt_f32_e64 s4, v1, v2",
        "v_cmp_gt_f32_e64 s4, v1, v2",
    ]


def test_a_word_that_llvm_dies_of_costs_that_word(monkeypatch: pytest.MonkeyPatch) -> None:
    words = bytes.fromhex("000080bf" + "8b0ff7e9648c97ff" + "000080bf")  # LLVM 22: SIGSEGV
    monkeypatch.setenv("WAVEWRIGHT_LLVM", llvm_library())
    listing = disassemble(CodeObject.from_bytes(code_only(words)))
    assert all("failed on the word at" in loss.message for loss in listing.losses)
    assert [row.text for row in listing.rows() if row.text.startswith("s_nop")] == ["s_nop 0", "s_nop 0"]
    monkeypatch.delenv("WAVEWRIGHT_LLVM")
    ours = disassemble(CodeObject.from_bytes(code_only(words)))
    assert ours.losses == ()
    assert sum(row.size for row in ours.rows()) == len(words)


def test_a_gpu_without_a_table_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """gfx1154 is no GPU that LLVM 22 knows; by its number it is next to gfx1151."""
    monkeypatch.delenv("WAVEWRIGHT_LLVM", raising=False)
    words = bytes.fromhex("000080bf" + "040014d401050200")
    listing = disassemble(CodeObject.from_bytes(code_only(words, target="unknown"), target="gfx1154"))
    assert [row.text for row in listing.rows()] == ["s_nop 0", "v_cmp_gt_f32_e64 s4, v1, v2"]
    assert listing.backend == "tables of gfx1151"
    (loss,) = listing.losses
    assert loss.kind == "nearest_table"
    assert "gfx1154, so that of gfx1151 was used" in loss.message


def test_a_gpu_that_only_llvm_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WAVEWRIGHT_LLVM", raising=False)
    code = CodeObject.from_bytes(code_only(bytes.fromhex("000080bf"), target="gfx803"))
    listing = disassemble(code)
    if find_libraries({}):
        assert [row.text for row in listing.rows()] == ["s_nop 0"]
        assert listing.backend.startswith("libLLVM")
        assert listing.losses == ()
    else:
        assert listing.tsv == b""
        assert [loss.kind for loss in listing.losses] == ["no_disassembler"]


NO_PROCESS = """
import sys
from tests.unit.codeobj.made_elf import code_only, functions_of
from wavewright import _core
from wavewright.codeobj.code_object import CodeObject
from wavewright.codeobj.disassemble import disassemble

def stop(event, arguments):
    if event in ("subprocess.Popen", "os.posix_spawn", "os.fork", "os.forkpty", "os.exec", "os.system"):
        raise RuntimeError(event)

sys.addaudithook(stop)
for target in sys.argv[1:]:
    words = bytes.fromhex("000080bf" "efbeadde" "000080bf")
    listing = disassemble(CodeObject.from_bytes(code_only(words, target=target)))
    assert listing.rows()[0].text == "s_nop 0", target
    assert listing.losses == (), target
    print(listing.backend.split()[-1])
"""


@pytest.mark.slow
def test_no_process_is_started() -> None:
    """For every GPU whose instructions the tables have; also where words are no instructions."""
    exact = {target for target in TARGET_OF_MACH.values() if (_core.isa_nearest(target) or ("", False))[1]}
    assert exact >= {*_core.isa_targets()} >= COLUMNS
    environment = {name: value for name, value in os.environ.items() if name != "WAVEWRIGHT_LLVM"}
    command = [sys.executable, "-c", NO_PROCESS, *sorted(exact)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert {*done.stdout.split()} == {*_core.isa_targets()}


def test_where_a_library_is_looked_for(tmp_path: Path) -> None:
    assert find_libraries({"WAVEWRIGHT_LLVM": str(tmp_path / "missing")}) == []
    assert find_libraries({"WAVEWRIGHT_LLVM": str(tmp_path)}) == []
    (tmp_path / "lib").mkdir()
    (tmp_path / "bin").mkdir()
    for name in ("lib/libLLVM.so.18.1", "lib/libLLVM.so.20.1", "lib/libLLVM-21.so", "bin/llvm-objdump"):
        (tmp_path / name).write_bytes(b"")
    both = [str(tmp_path / "lib/libLLVM-21.so"), str(tmp_path / "lib/libLLVM.so.20.1")]
    assert find_libraries({"WAVEWRIGHT_LLVM": str(tmp_path)}) == both
    (tmp_path / "objdump-of-it").symlink_to(tmp_path / "bin" / "llvm-objdump")
    assert find_libraries({"WAVEWRIGHT_LLVM": str(tmp_path / "objdump-of-it")}) == both
    assert find_libraries({"WAVEWRIGHT_LLVM": both[1]}) == both[1:]
    assert find_libraries({"ROCM_PATH": str(tmp_path)})[:2] == both


def test_importing_stays_light() -> None:
    program = (
        "import sys, wavewright.codeobj as c; print([m for m in ('polars','msgspec','ctypes') if m in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
