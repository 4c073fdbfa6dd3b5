"""Token layouts of the RDNA streams by stream version (spec_rdna sections 2.2, 4, 6).

Versions: 1, 2 = gfx10, 3 = gfx11, 4 = gfx12, 5 = gfx1250. Each version is the previous one with some tokens replaced.
"""

from __future__ import annotations

from synth.layout import BitRange, Layout

Tokens = dict[str, Layout]


def _token(name: str, pattern: str, bits: int, delta: BitRange | None = None, **fields: BitRange) -> Layout:
    """`pattern` is written most significant bit first, as in the specification."""
    return Layout(name, bits, int(pattern, 2), len(pattern), ({"delta": delta} if delta else {}) | fields)


def _set(*layouts: Layout) -> Tokens:
    return {layout.name: layout for layout in layouts}


_V1 = _set(
    _token(
        "HEADER", "0010001", 64, version=(7, 12), simd=(13, 14), wgp=(15, 17), sa=(19, 19), dp_rate=(28, 31),
        dp_derate=(33, 35), double_buffer=(43, 43), exclude_barrier=(59, 59),
    ),
    _token("INST", "010", 20, (4, 6), half=(7, 7), slot=(8, 12), op=(13, 19)),
    _token("VALU_INST", "011", 12, (3, 5), half=(6, 6), slot=(7, 11)),
    _token("IMM_ONE", "1101", 12, (4, 6), slot=(7, 11)),
    _token("IMMEDIATE", "00100", 24, (5, 7), mask=(8, 23)),
    _token("WAVE_READY", "10100", 24, (5, 7), mask=(8, 23)),
    _token("NEW_PC", "0100001", 64, (8, 10), slot=(11, 15), pc=(16, 61)),
    _token(
        "WAVE_START", "01100", 32, (5, 6), sa=(7, 7), simd=(8, 9), wgp=(10, 12), slot=(13, 17), pipe=(21, 22),
        me=(23, 23), count=(25, 31),
    ),
    _token("WAVE_ALLOC", "00101", 20, (5, 7)),
    _token("WAVE_END", "10101", 20, (5, 7), sa=(8, 8), simd=(9, 10), wgp=(11, 13), slot=(15, 19)),
    _token(
        "SHADER_DATA", "00110", 52, (5, 7), sa=(8, 8), simd=(9, 10), wgp=(11, 13), masked=(14, 14), slot=(15, 19),
        value=(20, 51),
    ),
    _token(
        "SHADER_DATA_SHORT", "10110", 28, (5, 7), sa=(8, 8), simd=(9, 10), wgp=(11, 13), masked=(14, 14),
        slot=(15, 19), value=(20, 27),
    ),
    _token("UTIL_COUNTER", "0110001", 64, (7, 8)),
    _token("TIME", "1000", 8, (4, 7)),
    _token(
        "MISC", "1010001", 24, (7, 15), packet_lost=(16, 16), gc_rinse=(17, 17), stall_begin=(20, 20),
        stall_end=(21, 21), didt_begin=(22, 22), didt_end=(23, 23),
    ),
    _token("EVENT", "01100001", 24, (8, 10), bop=(11, 11), type=(12, 13), pipe=(14, 15), me=(16, 17), id=(18, 23)),
    _token("EVENT_SYNC", "11100001", 32, (8, 10)),
    _token(
        "REG", "1001", 64, (4, 6), pipe=(7, 8), me=(9, 10), context=(12, 14), cs=(15, 15), address=(16, 31),
        data=(32, 63),
    ),
    _token("REG_INIT", "1110001", 64, (7, 9), vmid=(10, 13), pipe=(14, 15), me=(16, 17), type=(18, 19), data=(20, 51)),
    _token("TIMESTAMP", "0000001", 64, type=(14, 15), value=(16, 63)),
    _token("ALU_EXEC", "1110", 8, (4, 5), source=(6, 7)),
    _token("VMEM_EXEC", "1111", 8, (4, 5), source=(6, 7)),
)  # fmt: skip

_V3 = _V1 | _set(
    _token(
        "MISC", "1010001", 24, (7, 15), spm_sample=(16, 16), gc_rinse=(17, 17), stall_begin=(20, 20),
        stall_end=(21, 21), didt_begin=(22, 22), didt_end=(23, 23),
    ),
    _token("UTIL_COUNTER", "0110001", 48, (7, 8)),
    _token("TIMESTAMP", "0000001", 48, lost=(8, 8), realtime=(9, 9), value=(12, 47)),
)  # fmt: skip

_WAVE_START_V4: dict[str, BitRange] = {
    "sa": (7, 7), "simd": (8, 9), "wgp": (10, 13), "slot": (15, 19), "pipe": (20, 21), "me": (22, 22),
    "count": (25, 31),
}  # fmt: skip
_SHADER_DATA_V4: dict[str, BitRange] = {"sa": (10, 10), "simd": (11, 12), "wgp": (13, 16), "slot": (17, 21)}

_V4 = _V3 | _set(
    _token("INST", "010", 20, (3, 5), half=(6, 6), slot=(7, 11), op=(12, 19)),
    _token("SHADER_DATA", "0000110", 56, (7, 9), **_SHADER_DATA_V4, value=(22, 53), privileged=(54, 55)),
    _token("SHADER_DATA_SHORT", "1000110", 32, (7, 9), **_SHADER_DATA_V4, value=(22, 29), privileged=(30, 31)),
    _token("EXEC_POPCOUNT1", "1100110", 24, (7, 9)),
    _token("EXEC_POPCOUNT3", "010110", 48, (6, 8)),
    # The reader drops the first 8 bits of this token before it looks at its fields.
    _token("NEW_PC", "0100001", 72, (8, 10), slot=(11, 15), pc=(16, 70)),
    _token("WAVE_START", "01100", 32, (5, 6), **_WAVE_START_V4),
    _token("WAVE_START_EXT", "11100", 40, (5, 6), **_WAVE_START_V4, lds=(32, 32), workgroup=(33, 37)),
    _token("WAVE_ALLOC", "00101", 24, (5, 7)),
    _token("WAVE_END", "10101", 20, (5, 7), sa=(8, 8), simd=(9, 10), wgp=(11, 14), slot=(15, 19)),
    _token("TIMESTAMP", "0000001", 64, realtime=(7, 7), lost=(8, 8), value=(12, 63)),
)  # fmt: skip

_V5 = {name: layout for name, layout in _V4.items() if name not in ("ALU_EXEC", "VMEM_EXEC")} | _set(
    _token(
        "HEADER", "0010001", 64, version=(7, 12), simd=(13, 14), wgp=(15, 18), sa=(19, 19), double_buffer=(43, 43),
        half_rate_transcendental=(60, 60),
    ),
    _token("INST", "0010", 24, (4, 5), slot=(7, 11), op=(12, 20)),
    _token("VALU_INST", "011", 8, choice=(4, 7)),
    _token("IMM_ONE", "1101", 16, (7, 9), slot=(10, 14)),
    _token("WAVE_END", "1000001", 24, (7, 9), sa=(10, 10), simd=(11, 12), wgp=(13, 16), slot=(17, 21)),
    _token("LDS_CONFIG", "00100110", 24, (8, 9)),
    _token(
        "MISC", "1010001", 24, (7, 9), spm_sample=(10, 10), gc_rinse=(11, 11), stall_begin=(13, 13),
        stall_end=(14, 14), didt_begin=(15, 15), didt_end=(16, 16), cluster_first=(17, 17), cluster_last=(18, 18),
        cluster=(19, 22),
    ),
    _token("TIME", "1110", 8, (4, 7)),
    _token("MEDIUM_TIME", "10100110", 16, (8, 15)),
)  # fmt: skip

TOKENS: dict[int, Tokens] = {1: _V1, 2: _V1, 3: _V3, 4: _V4, 5: _V5}

# A TIME token stands for this many cycles more than its field says.
TIME_BIAS = {1: 4, 2: 4, 3: 4, 4: 4, 5: 1}

# Version 5's 8-bit VALU_INST: its `choice` field names a time step and a place in the list of recently used waves.
SHORT_VALU_DELTA = (1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 1, 2)
SHORT_VALU_PLACE = (0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 4, 4)
# By place: time step -> value of `choice`.
SHORT_VALU_CHOICES = tuple(
    {SHORT_VALU_DELTA[k]: k for k, place in enumerate(SHORT_VALU_PLACE) if place == wanted}
    for wanted in range(max(SHORT_VALU_PLACE) + 1)
)
RECENT_WAVES = 6
RECENT_OPS = range(10, 15)  # INST op codes that also make their wave the most recent one


EVENT_IDS = {"cs_partial_flush": 0x07, "bottom_of_pipe": 0x28, "cache_flush": 0x04, "trace_flush": 0x36}
TRACE_FINISH_ID = 0x37  # EVENT.id of what stops a trace; no record
REG_INIT_DISPATCH = 2
TIMESTAMP_STEP, TIMESTAMP_REALTIME = 1, 2  # TIMESTAMP.type of versions 1 and 2

# MISC field by event name.
MISC_EVENTS = {
    "trace_stall_begin": "stall_begin",
    "trace_stall_end": "stall_end",
    "didt_stall_begin": "didt_begin",
    "didt_stall_end": "didt_end",
    "gc_rinse": "gc_rinse",
    "spm_sample": "spm_sample",
}
