"""Damaged code objects: an answer, with losses or notes, or one clear error."""

from __future__ import annotations

import random

import pytest

from synth.kernels import kernel_path
from wavewright.analysis.code.kernel import kernel_code
from wavewright.analysis.code.object_overview import code_overview
from wavewright.codeobj.code_object import CodeObject
from wavewright.errors import WavewrightError
from wavewright.readers.code import ObjectPlace
from wavewright.words.code.kernel import kernel_report

_MOST_KERNELS = 3


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tiled_gemm", "divergent"])
@pytest.mark.parametrize("target", ["gfx942", "gfx1100", "gfx1201"])
def test_flipped_bytes(name: str, target: str) -> None:
    whole = kernel_path(name, target).read_bytes()
    dice = random.Random(f"{name} {target}")
    looked = 0
    for _ in range(20):
        data = bytearray(whole)
        for _ in range(dice.choice((1, 4, 64))):
            data[dice.randrange(64, len(data))] = dice.randrange(256)
        try:
            code_object = CodeObject.from_bytes(bytes(data))
        except WavewrightError:
            continue
        overview = code_overview([ObjectPlace(0, code_object)]).kernels
        for kernel in code_object.kernels[:_MOST_KERNELS]:
            code = kernel_code(code_object, kernel)
            assert code.rows.height > 0 or code.losses
            assert list(kernel_report(code, overview.row(0, named=True), limit=9, width=80))
            used = dict(code.registers.select("kind", "used").iter_rows())
            for kind, peak in code.registers.select("kind", "peak").iter_rows():
                assert (peak or 0) <= (used[kind] or 0) + 16  # values that the hardware gives count without being named
            looked += 1
    assert looked > 5


@pytest.mark.parametrize("keep", [0.3, 0.6, 0.9])
def test_cut_files(keep: float) -> None:
    whole = kernel_path("tiled_gemm", "gfx942").read_bytes()
    try:
        code_object = CodeObject.from_bytes(whole[: int(len(whole) * keep)])
    except WavewrightError:
        return
    for kernel in code_object.kernels:
        code = kernel_code(code_object, kernel)
        assert code.rows.height > 0 or code.losses


def test_random_code() -> None:
    """Words that no compiler wrote, in place of the kernel's code."""
    path = kernel_path("tiled_gemm", "gfx942")
    code_object = CodeObject.read(path)
    kernel = code_object.kernels[0]
    start = path.read_bytes().index(code_object.bytes_at(kernel.address or 0, 16))
    dice = random.Random(5)
    for _ in range(20):
        data = bytearray(path.read_bytes())
        data[start : start + kernel.size] = dice.randbytes(kernel.size)
        damaged = CodeObject.from_bytes(bytes(data))
        code = kernel_code(damaged, damaged.kernels[0])
        assert sum(code.rows["size"].to_list()) >= kernel.size - 4
