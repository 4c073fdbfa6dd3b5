"""The disassembler in the core on whole code objects, against listings that LLVM and AMD's tools made."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from synth.kernels import BUILDS, LANE_TARGETS, kernel_path, listing_path
from wavewright import _core
from wavewright.codeobj.code_object import CodeObject
from wavewright.codeobj.listing import parse_rows, read_listing


def _tsv(code: CodeObject, target: str) -> bytes:
    """All functions of a code object: as listings, every function begins a row."""
    nearest = _core.isa_nearest(target)
    assert nearest is not None
    parts, chunks = bytearray(), []
    for address, size in code.text_ranges:
        starts = sorted({address, *(f.address for f in code.functions if address <= f.address < address + size)})
        for start, end in zip(starts, [*starts[1:], address + size], strict=True):
            chunks.append((start, len(parts), len(parts) + end - start, False))
            parts += code.bytes_at(start, end - start)
    return _core.disassemble(bytes(parts), chunks, nearest[0], False).tsv


@pytest.mark.parametrize("target", LANE_TARGETS)
def test_listings_of_our_kernels(target: str) -> None:
    for kernel in [kernel for kernel, built_for in BUILDS if built_for == target]:
        listing = _tsv(CodeObject.read(kernel_path(kernel, target)), target)
        assert listing == listing_path(kernel, target).read_bytes()


def test_listings_of_the_goldens(shared: Path) -> None:
    compared = 0
    for path in sorted((shared / "golden").glob("gfx*/*/*.elf")):
        target = path.parts[-3]
        assert _tsv(CodeObject.read(path, target=target), target) == path.with_suffix(".isa.tsv").read_bytes(), path
        compared += 1
    assert compared == 14


def test_every_row_of_the_official_code_json(shared: Path) -> None:
    compared = 0
    for capture in sorted((shared / "data" / "att-mi300x-bmm").iterdir()):
        ours = {}
        for path in capture.glob("raw/*.out"):
            rows, _ = parse_rows(_tsv(CodeObject.read(path), "gfx942"))
            ours[int(path.stem.rsplit("_", 1)[1])] = {row.address: row for row in rows}
        for path in capture.glob("ui_output_*/code.json"):
            for number in {row[4] for row in json.loads(path.read_bytes())["code"] or []}:
                for row in parse_rows(read_listing(path, number))[0]:
                    assert ours[number][row.address] == row
                    compared += 1
    assert compared == 15_392


def test_instruction_counts_of_other_objects(shared: Path) -> None:
    """The counts that ../shared/data/INDEX.md gives."""
    expected = {
        "gfx942/triton_poi_fused_relu_0.hsaco": 343,
        "gfx942/unified_memory.co": 292,
        "gfx950/f4gemm_192x256.co": 1823,
        "gfx950/fwd_hd128_bf16_causal.co": 3037,
        "gfx90a/gpuReadWrite_kernels.hsaco": 295,
        "gfx1030/gpuReadWrite_kernels.hsaco": 83,
    }
    folder = shared / "data" / "codeobj"
    counts = {name: _tsv(CodeObject.read(folder / name), name.partition("/")[0]).count(b"\n") for name in expected}
    assert counts == expected
