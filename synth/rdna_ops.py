"""INST op codes of the RDNA streams: code, category and cycles by kind and stream version (spec_rdna 9.2)."""

from __future__ import annotations

from typing import NamedTuple

from synth.isa import Kind

SMEM, SALU, VMEM, FLAT, LDS, VALU, JUMP, NEXT, IMMED = range(1, 10)
MESSAGE = 11


class Op(NamedTuple):
    """An op code: what it reports and how many cycles it occupies its unit."""

    code: int
    category: int
    cycles: int
    double_rate: bool = False  # cycles are multiplied by the header's double-precision rate


TAKEN, NOT_TAKEN = Op(3, JUMP, 1), Op(4, NEXT, 1)
BARRIER_CODE = 19  # waits by itself, so the wave is never reported as ready for it
VALU_SHORT = Op(10, VALU, 1)  # version 5: what VALU_INST stands for, where VALU_INST cannot be used

_COMMON = {
    Kind.SALU: Op(0, SALU, 1),
    Kind.SALU_EXEC: Op(0, SALU, 1),
    Kind.SALU_FLOAT: Op(0, SALU, 1),
    Kind.SMEM: Op(1, SMEM, 1),
    Kind.JUMP: TAKEN,
    Kind.REGISTER_JUMP: Op(5, SALU, 1),
    Kind.MESSAGE: Op(9, MESSAGE, 1),
    Kind.TRANSCENDENTAL: Op(11, VALU, 4),
    Kind.VALU_WIDE: Op(13, VALU, 2),
    Kind.MATRIX: Op(14, VALU, 4),
    Kind.BARRIER: Op(BARRIER_CODE, IMMED, 1),
    Kind.LDS_LOAD: Op(41, LDS, 1),
    Kind.LDS_STORE: Op(43, LDS, 2),
    Kind.BUFFER_LOAD: Op(47, VMEM, 1),
    Kind.BUFFER_STORE: Op(50, VMEM, 2),
}
_GFX10 = _COMMON | {
    Kind.VALU_WIDE: Op(13, VALU, 2, double_rate=True),
    Kind.MATRIX: Op(14, VALU, 4, double_rate=True),
    Kind.DOUBLE: Op(16, VALU, 1, double_rate=True),
    Kind.FLAT_LOAD: Op(30, FLAT, 1),
    Kind.FLAT_STORE: Op(32, FLAT, 3),
    Kind.GLOBAL_LOAD: Op(35, VMEM, 1),
    Kind.GLOBAL_STORE: Op(38, VMEM, 3),
}
_GFX11 = _COMMON | {
    Kind.SALU_EXEC: Op(114, SALU, 1),
    Kind.DOUBLE: Op(10, VALU, 1, double_rate=True),
    Kind.FLAT_LOAD: Op(28, FLAT, 2),
    Kind.FLAT_STORE: Op(31, FLAT, 5),
    Kind.GLOBAL_LOAD: Op(33, VMEM, 1),
    Kind.GLOBAL_STORE: Op(36, VMEM, 2),
}
_GFX12 = _GFX11 | {
    Kind.SALU_FLOAT: Op(152, SALU, 3),
    Kind.DOUBLE: Op(146, VALU, 1, double_rate=True),
    Kind.MATRIX: Op(141, VALU, 16),
    Kind.BARRIER_SIGNAL: Op(122, MESSAGE, 1),
    Kind.BARRIER_WAIT: Op(BARRIER_CODE, IMMED, 1),
}
_GFX1250 = _GFX12 | {
    Kind.DOUBLE: Op(16, VALU, 32),
    Kind.MATRIX: Op(176, VALU, 32),
}
OPS = {1: _GFX10, 2: _GFX10, 3: _GFX11, 4: _GFX12, 5: _GFX1250}

# "Other SIMD" op codes: category -> (op code of the shortest, its cycles, longest cycles), by stream version.
OTHER_SIMD = {
    3: {LDS: (80, 1, 5), FLAT: (85, 2, 6), VMEM: (90, 1, 12)},
    4: {LDS: (80, 1, 5), FLAT: (85, 2, 6), VMEM: (188, 1, 34)},
    5: {LDS: (80, 1, 5), FLAT: (85, 2, 6), VMEM: (188, 1, 34)},
}


def double_precision_rate(header_field: int, stream_version: int) -> int:
    """The factor behind the header's rate field; version 5 has none."""
    if stream_version >= 5:
        return 1
    rate = header_field & (15 if stream_version < 3 else 7)
    return 1 << (rate - 1) if rate else 1


def op_of(kind: Kind, stream_version: int, *, is_taken: int) -> Op | None:
    """The op code of a kind, or None where it has none in this version."""
    if kind == Kind.BRANCH:
        return TAKEN if is_taken else NOT_TAKEN
    return OPS[stream_version].get(kind)
