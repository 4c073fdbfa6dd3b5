"""The words that runtime and profiler write into trace registers (spec_gfx9 section 3, spec_rdna section 7).

Both families carry the same words; only the tokens around them differ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from synth.plan import AgentInfo, CodeObjectChange, Dispatch

USERDATA2, USERDATA3 = 0xC342, 0xC343
ENABLE = 0x434F5200  # "\0ROC"
_AGENT_INFO, _CODE_OBJECT, _REALTIME, _REALTIME_LOW = 6, 4, 5, 7
_WORD = (1 << 32) - 1

# Compute registers
DISPATCH_INITIATOR = 0x00
_NUM_THREADS = (0x07, 0x08, 0x09)
_PGM_LOW, _PGM_HIGH = 0x0C, 0x0D
_RSRC1, _RSRC2 = 0x12, 0x13

# The parts of a code-object marker: header type -> which word follows.
_SIZE_LOW, _ADDRESS_LOW, _ADDRESS_HIGH, _SIZE_HIGH, _ID_LOW, _ID_HIGH, _TAIL = 1, 2, 3, 4, 5, 6, 0


def agent_info(info: AgentInfo) -> list[int]:
    """Words for USERDATA2 that switch the stream on and describe the agent."""
    words = [ENABLE]
    if info.realtime_khz:
        words.append(_AGENT_INFO | info.realtime_khz << 12)
    if info.counter_interval_cycles:
        words.append(_AGENT_INFO | 1 << 8 | info.counter_interval_cycles << 12)
    return words


def code_object_change(change: CodeObjectChange) -> list[int]:
    """Words for USERDATA2 that announce a load or unload; the last one is the one that counts."""
    placed = change.code_object
    parts = [(_SIZE_LOW, placed.size), (_SIZE_HIGH, placed.size >> 32)]
    parts += [(_ADDRESS_LOW, placed.load_address), (_ADDRESS_HIGH, placed.load_address >> 32)]
    if not change.legacy_id:
        parts += [(_ID_LOW, placed.id), (_ID_HIGH, placed.id >> 32)]
    legacy = placed.id << 2 if change.legacy_id else 0
    parts.append((_TAIL, legacy | change.from_start << 1 | change.unload))
    return [word for kind, value in parts for word in (_CODE_OBJECT | kind << 8, value & _WORD)]


def realtime(ticks: int, age: int) -> list[int]:
    """Words for USERDATA3: an older full sample and the fresh low half; `age` is the ticks between them."""
    older = ticks - age
    return [_REALTIME, older & _WORD, older >> 32, ticks & _WORD]


def realtime_low(ticks: int) -> list[int]:
    """Words for USERDATA3 that renew only the low half."""
    return [_REALTIME_LOW, ticks & _WORD]


def compute_registers(dispatch: Dispatch) -> list[tuple[int, int]]:
    """(register, value) writes that set a kernel up, without the one that starts it."""
    address = (dispatch.code_object.load_address + dispatch.kernel.entry) >> 8
    res = dispatch.resources
    flag = [res.flags >> bit & 1 for bit in range(4)]
    rsrc1 = res.vgpr_granules | res.sgpr_granules << 7 | flag[0] << 10 | flag[1] << 11 | flag[2] << 14
    rsrc2 = flag[3] | res.user_sgprs << 1 | res.lds_granules << 15
    return [
        (_PGM_LOW, address & _WORD),
        (_PGM_HIGH, address >> 32),
        *zip(_NUM_THREADS, dispatch.workgroup_size, strict=True),
        (_RSRC1, rsrc1),
        (_RSRC2, rsrc2),
    ]
