from __future__ import annotations

import json
import struct
import subprocess
from pathlib import Path

import pytest

from synth.kernels import KERNELS, TARGETS, kernel_path
from tests.kit.judges import llvm_program
from tests.kit.processor import processor_s
from wavewright.codeobj.code_object import CodeObject
from wavewright.codeobj.lines import LineTable, line_table

SOURCES = kernel_path("", "").parent.parent / "sources"
VARIANTS = ("-gdwarf-4", "-gdwarf-3", "-gdwarf-2", "-gdwarf-5 -gz=zlib", "-gline-tables-only", "-gdwarf64 -gdwarf-5")


@pytest.fixture(scope="module")
def symbolizer() -> str:
    return llvm_program("llvm-symbolizer")


def _expected(symbolizer: str, path: Path, addresses: list[int]) -> list[list[tuple[str, int]]]:
    command = [symbolizer, f"--obj={path}", "--output-style=JSON", "--functions=none"]
    shown = subprocess.run(command, input="\n".join(map(hex, addresses)), capture_output=True, text=True, check=True)
    answers = [json.loads(line)["Symbol"] for line in shown.stdout.splitlines()]
    return [[(frame["FileName"], frame["Line"]) for frame in frames if frame["FileName"]] for frames in answers]


def _compare(symbolizer: str, path: Path) -> int:
    code = CodeObject.read(path)
    table = line_table(code)
    addresses = [address for f in code.functions for address in range(f.address, f.end, 4)]
    ours = [[(frame.file, frame.line) for frame in table.chain_at(address)] for address in addresses]
    theirs = _expected(symbolizer, path, addresses)
    assert table.losses == ()
    assert [(hex(a), o) for a, o in zip(addresses, ours, strict=True)] == [
        (hex(a), t) for a, t in zip(addresses, theirs, strict=True)
    ]
    return max(map(len, ours))


@pytest.mark.first_case
@pytest.mark.parametrize("target", TARGETS)
def test_own_kernels_as_llvm_symbolizes_them(symbolizer: str, target: str) -> None:
    deepest = max(_compare(symbolizer, kernel_path(kernel, target)) for kernel in KERNELS)
    assert deepest >= 3


@pytest.mark.parametrize("options", VARIANTS)
def test_every_version_of_dwarf(symbolizer: str, tmp_path: Path, options: str) -> None:
    compiler = llvm_program("clang++")
    made = tmp_path / "made.co"
    flags = "-x hip --cuda-device-only --no-gpu-bundle-output -nogpuinc -nogpulib -std=c++20 -O3 --offload-arch=gfx942"
    command = [compiler, *flags.split(), *options.split(), "-o", str(made), str(SOURCES / "saxpy.hip")]
    subprocess.run(command, check=True, capture_output=True)
    assert _compare(symbolizer, made) >= 3


def test_a_capture_of_triton(symbolizer: str, shared: Path) -> None:
    path = shared / "data" / "codeobj" / "gfx942" / "triton_poi_fused_relu_0.hsaco"
    _compare(symbolizer, path)
    table = line_table(CodeObject.read(path))
    frames = [table.chain_at(address)[0] for address in range(0x1600, 0x1770, 4)]
    assert len({frame.file for frame in frames}) == 1
    assert {frame.line for frame in frames} <= {0, *range(31, 43)}


def text_of(table: LineTable, address: int) -> str:
    return " -> ".join(map(str, table.chain_at(address)))


def test_chains_read_from_the_inside_out() -> None:
    code = CodeObject.read(kernel_path("saxpy", "gfx942"))
    table = line_table(code)
    function = code.functions[0]
    chains = {text_of(table, address) for address in range(function.address, function.end, 4)}
    folder = "/wavewright/kernels/saxpy.hip"
    assert f"{folder}:7 -> {folder}:11 -> {folder}:16 -> {folder}:24" in chains
    deepest = max((table.chain_at(a) for a in range(function.address, function.end, 4)), key=len)
    assert [frame.function.rsplit("I", 1)[0] for frame in deepest][:2] == ["_ZN4blas5fusedEfff", "_ZN4blas4stepEfPKffj"]
    assert text_of(table, 0) == ""
    assert text_of(table, 1 << 60) == ""


def test_an_unknown_line_is_a_question_mark() -> None:
    from wavewright.codeobj.lines import Frame

    assert str(Frame("a.hip", 0)) == "a.hip:?"


# --- hostile debug information: each section is small, what it asks for is not -----------------------------------

LINE_HEADER = bytes([4, 1, 1, 0xFB, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1]) + b"\0a.c\0\0\0\0\0"
SET_ADDRESS_ZERO, END_SEQUENCE = b"\0\x09\x02" + bytes(8), b"\0\1\1"


def _unit(body: bytes) -> bytes:
    return struct.pack("<I", len(body)) + body


def _line_program(code: bytes) -> bytes:
    return _unit(struct.pack("<HI", 4, len(LINE_HEADER)) + LINE_HEADER + SET_ADDRESS_ZERO + code)


def _info(entries: bytes) -> bytes:
    return _unit(struct.pack("<HIB", 4, 0, 8) + b"\x01" + struct.pack("<QI", 0, 1 << 20) + entries)


ABBREVIATIONS = bytes(
    [
        *(1, 0x11, 1, 0x11, 1, 0x12, 6, 0, 0),  # unit: low_pc, high_pc
        *(2, 0x2E, 1, 0, 0),  # subprogram without anything
        *(3, 0x34, 0, 0, 0),  # a variable without anything: one byte each
        *(4, 0x1D, 1, 3, 0x0E, 0x11, 1, 0x12, 6, 0, 0),  # inlined: name, low_pc, high_pc
        *(5, 0x1D, 1, 0x31, 0x13, 0x11, 1, 0x12, 6, 0, 0),  # inlined: origin, low_pc, high_pc
        0,
    ]
)
SMALL_LINES = _line_program(b"\x14\x02\x80\x01" + END_SEQUENCE)
INLINED_ALL = struct.pack("<QI", 0, 1000)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sections", "said"),
    [
        ({".debug_line": _line_program(b"\x14" * (5 << 20))}, "more than 4,000,000 line rows"),
        ({".debug_line": _line_program(b"\x02" + b"\xff" * 64)}, "does not end"),
        ({".debug_line": b"\xff\xff\xff\xff" + b"\xff" * 20}, "version 65535"),
        ({".debug_line": SMALL_LINES[:-20]}, "ends too early"),
        (
            {
                ".debug_line": _unit(
                    struct.pack("<HBBI", 5, 8, 0, 100) + LINE_HEADER[:18] + bytes([1, 1, 0x19]) + b"\xff\xff\xff\x7f"
                )
            },
            "entries in file tables",
        ),
        ({".debug_info": _info(b"\x03" * (5 << 20)), ".debug_line": SMALL_LINES}, "more than 4,000,000 debug entries"),
        (
            {
                ".debug_info": _info((b"\x04" + bytes(4) + INLINED_ALL) * 40_000),
                ".debug_line": SMALL_LINES,
                ".debug_str": b"n" * 8192,
            },
            "bytes of names",
        ),
        ({".debug_info": _info(b"\x09"), ".debug_line": SMALL_LINES}, "abbreviation 9 is not declared"),
        (
            {
                ".debug_abbrev": bytes([1, 0x11, 0] + [3, 8] * 100 + [0, 0]) * 12_000 + b"\0",
                ".debug_info": b"".join(_unit(struct.pack("<HIB", 4, 203 * k, 8) + b"\x01") for k in range(100)),
            },
            "more than 1,048,576 abbreviations",
        ),
    ],
)
def test_hostile_debug_information_is_bounded(sections: dict[str, bytes], said: str) -> None:
    started = processor_s()
    table = LineTable({".debug_abbrev": ABBREVIATIONS, **sections}, ((0, 1 << 20),))
    table.chain_at(8)
    assert any(said in loss.message for loss in table.losses), [loss.message for loss in table.losses]
    assert processor_s() - started < 60


def test_names_that_refer_to_each_other_and_deep_nesting_end() -> None:
    info = _info((b"\x05" + struct.pack("<I", 24) + INLINED_ALL) * 5000)
    sections = {".debug_abbrev": ABBREVIATIONS, ".debug_info": info, ".debug_line": SMALL_LINES}
    chain = LineTable(sections, ((0, 1 << 20),)).chain_at(8)
    assert 100 < len(chain) <= 512
    assert {frame.function for frame in chain} == {""}
