from __future__ import annotations

import os
import struct
import subprocess
import zlib
from pathlib import Path

import pytest

from synth.containers import offload_bundle
from synth.kernels import KERNELS, TARGETS, kernel_path, source_paths
from tests.kit.judges import llvm_program
from tests.kit.processor import processor_s
from tests.kit.together import together
from tests.unit.codeobj.made_elf import (
    CODE_FLAGS,
    COMPRESSED,
    DATA_FLAGS,
    MACH_OF_TARGET,
    NOTE,
    STRTAB,
    SYMTAB,
    Made,
    code_only,
    make_elf,
    symbol,
)
from wavewright.base.compression import zstd_library
from wavewright.codeobj.code_object import CodeObject
from wavewright.codeobj.lines import line_table
from wavewright.errors import NotATraceError, UnsupportedError, UsageError, WavewrightError

NOPS = bytes.fromhex("000080bf") * 16


@together("target", TARGETS)
@together("kernel", KERNELS)
def test_own_kernels_name_their_target_and_kernel(kernel: str, target: str) -> None:
    code = CodeObject.read(kernel_path(kernel, target))
    assert code.target == target
    assert code.losses == ()
    assert len(code.kernels) == 1
    assert source_paths(kernel)[0].stem in code.kernels[0].name
    assert code.kernels[0].wave_size == (64 if target.startswith("gfx9") else 32)
    assert code.kernels[0].workgroup_size_max == 256
    function = code.function_at(code.kernels[0].address or 0)
    assert function is not None
    assert function.name == code.kernels[0].name
    assert code.function_at(function.end - 4) == function


def test_functions_without_a_size_reach_to_the_next_one() -> None:
    names = b"\0first\0second\0"
    table = symbol(1, 2, 1, 0x1000, 0) + symbol(7, 2, 1, 0x1010, 0)
    sections = [
        Made(".text", NOPS, flags=CODE_FLAGS, address=0x1000),
        Made(".symtab", bytes(24) + table, SYMTAB, link=3),
        Made(".strtab", names, STRTAB),
    ]
    functions = CodeObject.from_bytes(make_elf(sections)).functions
    assert [(f.name, f.address, f.size) for f in functions] == [("first", 0x1000, 16), ("second", 0x1010, 48)]


@pytest.mark.parametrize("path", ["gfx1100/profile_sync_run_0", "gfx1200/profile_handwritten_run_0"])
def test_hand_assembled_objects_with_empty_header_fields(shared: Path, path: str) -> None:
    file = shared / "golden" / path / "code_object_0.elf"
    code = CodeObject.read(file, target="gfx1100")
    assert code.target == "gfx1100"
    assert code.text_ranges[0][0] == 256
    assert code.losses == ()
    unnamed = CodeObject.read(file)
    assert unnamed.target is None
    assert "does not say for which GPU" in unnamed.losses[0].message


def test_numbers_of_targets_are_those_of_llvm(tmp_path: Path) -> None:
    readelf = llvm_program("llvm-readelf")
    for target, mach in MACH_OF_TARGET.items():
        file = tmp_path / f"{mach}.elf"
        file.write_bytes(code_only(NOPS, target=target))
        shown = subprocess.run([readelf, "-h", file], capture_output=True, text=True, check=True).stdout
        assert f"{mach:#x}, {target}" in shown


def test_the_target_may_come_from_the_metadata_alone() -> None:
    import msgspec

    note = msgspec.msgpack.encode({"amdhsa.target": "amdgcn-amd-amdhsa--gfx1399:xnack+", "amdhsa.kernels": []})
    contents = struct.pack("<III", 7, len(note), 32) + b"AMDGPU\0\0" + note + bytes(-len(note) % 4)
    elf = make_elf([Made(".note", contents, NOTE, flags=DATA_FLAGS)], target="unknown")
    assert CodeObject.from_bytes(elf).target == "gfx1399"


def test_marker_names(tmp_path: Path) -> None:
    assert CodeObject.read(kernel_path("divergent", "gfx942")).funcmap_text.startswith(b"K:divergent\nU:1:classify\n")
    assert CodeObject.read(kernel_path("saxpy", "gfx942")).funcmap_text == b""


def test_a_bundle_with_one_device_is_unwrapped(tmp_path: Path) -> None:
    elf = kernel_path("saxpy", "gfx942").read_bytes()
    bundle = tmp_path / "bundle.co"
    bundle.write_bytes(offload_bundle([("host-x86_64-unknown-linux--", b""), ("hipv4-amdgcn-amd-amdhsa--gfx942", elf)]))
    assert CodeObject.read(bundle).kernels == CodeObject.read(kernel_path("saxpy", "gfx942")).kernels


def test_a_bundle_with_several_devices_wants_a_choice() -> None:
    devices = [
        (f"hipv4-amdgcn-amd-amdhsa--{target}", kernel_path("saxpy", target).read_bytes())
        for target in ("gfx942", "gfx1100")
    ]
    with pytest.raises(UsageError, match=r"2 code objects; choose one of 0: gfx942, 1: gfx1100"):
        CodeObject.from_bytes(offload_bundle(devices))
    chosen = CodeObject.from_bytes(offload_bundle(devices), target="gfx1100")
    assert chosen.target == "gfx1100"
    assert "it holds 2 code objects (gfx942, gfx1100); that for gfx1100 was read" in chosen.losses[0].message


@together(
    "data, error, said",
    [
        (b"", NotATraceError, "it is empty"),
        (b"PK\x03\x04", NotATraceError, "starts with 504b0304"),
        (b"\x7fELF\x02\x01", NotATraceError, "ends inside the ELF header"),
        (b"\x7fELF\x01\x01" + bytes(100), UnsupportedError, "not 64-bit little-endian"),
        (make_elf([], machine=62), UnsupportedError, "for x86-64 without code for an AMD GPU"),
        (b"CCOB" + bytes(100), NotATraceError, "packed bundle of version 0"),
        (b"__CLANG_OFFLOAD_BUNDLE__", NotATraceError, "the bundle ends early"),
        (b"__CLANG_OFFLOAD_BUNDLE__" + bytes(8), NotATraceError, "without code for an AMD GPU"),
        (b"__CLANG_OFFLOAD_BUNDLE__" + b"\xff" * 64, NotATraceError, "claims 18,446,744,073,709,551,615 entries"),
    ],
)
def test_what_is_no_code_object_says_so(data: bytes, error: type[WavewrightError], said: str) -> None:
    with pytest.raises(error, match=said):
        CodeObject.from_bytes(data, where="some.out")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(NotATraceError, match="no such file"):
        CodeObject.read(tmp_path / "missing.out")
    with pytest.raises(NotATraceError, match="not a regular file"):
        CodeObject.read(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(NotATraceError, match="not a regular file"):
        CodeObject.read(tmp_path / "pipe")


def test_lying_sizes_keep_what_is_there() -> None:
    code = CodeObject.from_bytes(
        make_elf([Made(".text", NOPS, flags=CODE_FLAGS, address=0x1000, claimed_size=1 << 60)])
    )
    assert code.text_ranges[0][0] == 0x1000
    assert any("claims 1,152,921,504,606,846,976 bytes" in loss.message for loss in code.losses)


def test_a_huge_section_count_is_cut() -> None:
    code = CodeObject.from_bytes(make_elf([Made(".text", NOPS, flags=CODE_FLAGS)], section_count=0xFFF0))
    assert any("65,520 section headers claimed" in loss.message for loss in code.losses)
    assert code.text_ranges == ((0, 64),)


def test_overlapping_everything_stays_cheap() -> None:
    """Thousands of sections that all claim the same megabyte must not cost gigabytes."""
    blob = os.urandom(1 << 20)
    sections = [Made(".text", blob, flags=CODE_FLAGS, address=0x1000)]
    sections += [
        Made(".text", b"", type_, flags=CODE_FLAGS, address=0x1000 + index, claimed_size=1 << 20)
        for index in range(2000)
        for type_ in (1, NOTE)
    ]
    started = processor_s()
    code = CodeObject.from_bytes(make_elf(sections))
    assert sum(size for _, size in code.text_ranges) < 2 << 20
    assert len(code.losses) <= 8
    assert code.functions == ()
    assert code.kernels == ()
    assert processor_s() - started < 10


def test_symbol_names_that_overlap_are_bounded() -> None:
    names = b"A" * (1 << 16)  # no end: every name would be 16 KiB
    table = b"".join(symbol(1, 2, 1, 0x1000, 4) for _ in range(20_000))
    sections = [
        Made(".text", NOPS, flags=CODE_FLAGS, address=0x1000),
        Made(".symtab", table, SYMTAB, link=3),
        Made(".strtab", names, STRTAB),
    ]
    code = CodeObject.from_bytes(make_elf(sections))
    assert any("overlap beyond measure" in loss.message for loss in code.losses)


@together(
    "claimed, body, said",
    [
        (1 << 40, zlib.compress(b"x"), "outside the limits"),
        (0, zlib.compress(b"x"), "outside the limits"),
        (100, zlib.compress(b"x" * 50), "has 50 of 100 bytes"),
        (100, b"garbage", "cannot be decompressed"),
    ],
)
def test_compressed_sections_that_lie(claimed: int, body: bytes, said: str) -> None:
    contents = struct.pack("<IIQQ", 1, 0, claimed, 1) + body
    sections = [Made(".text", NOPS, flags=CODE_FLAGS), Made(".debug_line", contents, flags=COMPRESSED)]
    table = line_table(CodeObject.from_bytes(make_elf(sections)))
    assert said in table.losses[0].message


def test_debug_sections_packed_with_zstd_are_read() -> None:
    contents = struct.pack("<IIQQ", 2, 0, 5000, 1) + zstd_library().compress(b"y" * 5000)
    sections = [Made(".text", NOPS, flags=CODE_FLAGS), Made(".debug_str", contents, flags=COMPRESSED)]
    code = CodeObject.from_bytes(make_elf(sections))
    assert code.section_bytes(".debug_str") == b"y" * 5000
    section = code.elf.section_named(".debug_str")
    assert section is not None
    for end in range(len(contents) - 24):
        cut = Made(".debug_str", contents[: 24 + end], flags=COMPRESSED)
        elf = CodeObject.from_bytes(make_elf([sections[0], cut])).elf
        assert "cannot be decompressed" in elf.bytes_of(elf.sections[2])[1]


def test_a_compression_bomb_stops_at_its_claim() -> None:
    body = zlib.compress(bytes(1 << 26), 9)
    contents = struct.pack("<IIQQ", 1, 0, 1000, 1) + body
    code = CodeObject.from_bytes(make_elf([Made(".sqtt_funcmap", contents, flags=COMPRESSED)]))
    assert len(code.funcmap_text) == 1000


def test_unreadable_metadata_is_a_loss() -> None:
    contents = struct.pack("<III", 7, 5, 32) + b"AMDGPU\0\0" + b"\xdd\xff\xff\xff\xff" + bytes(3)
    code = CodeObject.from_bytes(make_elf([Made(".text", NOPS, flags=CODE_FLAGS), Made(".note", contents, NOTE)]))
    assert any("metadata note cannot be read" in loss.message for loss in code.losses)
    assert code.kernels == ()
