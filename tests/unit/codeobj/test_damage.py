"""Code objects with flipped bits, odd values and missing ends: a result with losses, or one clear error."""

from __future__ import annotations

import random
from contextlib import suppress

import pytest

from synth.kernels import kernel_path
from tests.kit.together import together
from wavewright.codeobj.code_object import CodeObject
from wavewright.codeobj.lines import line_table
from wavewright.errors import WavewrightError

ODD_VALUES = (0, 1, 0x7F, 0xFFFF, 0x7FFF_FFFF, 0xFFFF_FFFF, 1 << 63, (1 << 64) - 1)


def _read_everything(data: bytes) -> None:
    with suppress(WavewrightError):
        code = CodeObject.from_bytes(data, where="damaged.out")
        lines = line_table(code)
        for start, size in code.text_ranges:
            for address in range(start, start + min(size, 2048), 64):
                lines.chain_at(address)
                code.function_at(address)
        assert all(loss.message for loss in (*code.losses, *lines.losses))
        assert all(kernel.name is not None for kernel in code.kernels)


@together("kernel", ["saxpy", "divergent", "tiled_gemm"])
@together("target", ["gfx942", "gfx1201"])
def test_cut_anywhere(kernel: str, target: str) -> None:
    data = kernel_path(kernel, target).read_bytes()
    for end in (*range(0, len(data), 97), *range(128)):
        _read_everything(data[:end])


@pytest.mark.some_cases(2)
@pytest.mark.parametrize("seed", range(4))
def test_damaged_anywhere(seed: int) -> None:
    rng = random.Random(seed)
    data = kernel_path("saxpy", rng.choice(("gfx942", "gfx1100", "gfx1201"))).read_bytes()
    for _ in range(400):
        damaged = bytearray(data)
        for _ in range(rng.choice((1, 2, 8, 32))):
            at = rng.randrange(len(damaged))
            if rng.random() < 0.6:
                damaged[at] ^= 1 << rng.randrange(8)
            else:
                width = rng.choice((1, 2, 4, 8))
                value = rng.choice(ODD_VALUES) & ((1 << 8 * width) - 1)
                damaged[at : at + width] = value.to_bytes(width, "little")
        _read_everything(bytes(damaged))
