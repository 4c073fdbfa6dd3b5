"""Token layouts and codes of the gfx9 stream (spec_gfx9 sections 1.2, 2.1, 2.3, 2.6)."""

from __future__ import annotations

from enum import IntEnum

from synth.layout import BitRange, Layout

CYCLES_PER_DELTA = 4
MAX_MISC_DELTA = 255
SLOTS = 10

HEADER = Layout(
    "HEADER",
    64,
    0,
    0,
    {"legacy": (0, 12), "version": (13, 15), "simd_mask": (16, 19), "target_cu": (20, 24), "se": (26, 31)}
    | {"double_buffer": (32, 32)},
)
LEGACY_VERSION = 0x11

_WAVE: dict[str, BitRange] = {"sh": (5, 5), "cu": (6, 9), "slot": (10, 13), "simd": (14, 15)}
_INST: dict[str, BitRange] = {"slot": (5, 8), "simd": (9, 10)}


def _token(name: str, nibble: int, size: int, fields: dict[str, BitRange]) -> Layout:
    return Layout(name, size, nibble, 4, {"delta": (4, 4)} | fields)


MISC = Layout("MISC", 16, 0, 4, {"delta": (4, 11), "sh": (12, 12), "type": (13, 15)})
TIMESTAMP = Layout("TIMESTAMP", 64, 1, 4, {"time": (16, 63)})
REG = _token(
    "REG", 2, 64, {"pipe": (5, 6), "me": (7, 8), "type": (10, 12), "write": (15, 15), "address": (16, 31)}
    | {"data": (32, 63)},
)  # fmt: skip
WAVE_START = _token(
    "WAVE_START", 3, 32, _WAVE | {"pipe": (16, 17), "me": (18, 19), "count": (22, 28), "workgroup": (29, 31)}
)
WAVE_ALLOC = _token("WAVE_ALLOC", 4, 16, _WAVE)
REG_CS_PRIVILEGED = _token("REG_CSPRIV", 5, 48, {"pipe": (5, 6), "me": (7, 8), "address": (9, 15), "data": (16, 47)})
WAVE_END = _token("WAVE_END", 6, 16, _WAVE)
EVENT = _token("EVENT", 7, 16, {"sh": (5, 5), "stage": (6, 8), "type": (10, 15)})
EVENT_CS = _token("EVENT_CS", 8, 16, EVENT.fields)
EVENT_GFX1 = _token("EVENT_GFX1", 9, 16, EVENT.fields)
INST = _token("INST", 10, 16, _INST | {"type": (11, 15)})
INST_PC = _token("INST_PC", 11, 64, _INST | {"error": (15, 15), "pc": (16, 63)})
INST_USERDATA = _token("INST_USERDATA", 12, 48, _WAVE | {"value": (16, 47)})
ISSUE = _token("ISSUE", 13, 32, {"simd": (5, 6)} | {f"slot{i}": (8 + 2 * i, 9 + 2 * i) for i in range(SLOTS)})
PERF = _token(
    "PERF", 14, 64, {"sh": (5, 5), "cu": (6, 9), "bank": (10, 11), "value0": (12, 24), "value1": (25, 37)}
    | {"value2": (38, 50), "value3": (51, 63)},
)  # fmt: skip
REG_CS = _token("REG_CS", 15, 48, REG_CS_PRIVILEGED.fields)

# By the low nibble of a token's first byte.
TOKENS = (
    MISC, TIMESTAMP, REG, WAVE_START, WAVE_ALLOC, REG_CS_PRIVILEGED, WAVE_END, EVENT, EVENT_CS, EVENT_GFX1, INST,
    INST_PC, INST_USERDATA, ISSUE, PERF, REG_CS,
)  # fmt: skip


class Misc(IntEnum):
    """MISC.type."""

    TIME = 0
    TIME_RESET = 1
    PACKET_LOST = 2
    SURFACE_SYNC = 3
    STALL_BEGIN = 4
    STALL_END = 5


class IssueState(IntEnum):
    """State of one slot in an ISSUE token."""

    STALL = 1
    INST = 2
    IMMED = 3


class InstType(IntEnum):
    """INST.type."""

    SMEM_RD = 0
    SALU_32 = 1
    VMEM_RD = 2
    VMEM_WR = 3
    FLAT_WR = 4
    VALU_32 = 5
    LDS = 6
    PC = 7
    JUMP = 12
    NEXT = 13
    FLAT_RD = 14
    MESSAGE = 15
    VALU_64 = 18
    VALU_MATRIX = 28


REGISTER_TYPE_USERDATA = 3
FLUSH_REGISTER = 0x7F  # a compute register "nowhere": writing FLUSH_VALUE stands for a CS partial flush
FLUSH_VALUE = 7
