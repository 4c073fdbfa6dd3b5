"""Kernel descriptors: the 64 bytes at `NAME.kd` from which the hardware is set up.

Field positions and register granules: AMDGPUUsage of LLVM, "Kernel Descriptor" and "compute_pgm_rsrc1..3".
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import NamedTuple

from wavewright.base.toml import packaged
from wavewright.codeobj.targets import family_of

DESCRIPTOR_BYTES = 64
_ALL = frozenset({"gfx9", "gfx10", "gfx11", "gfx12", "gfx1250"})


class _Field(NamedTuple):
    name: str
    offset: int  # of its little-endian word in the descriptor, bytes
    word: str  # struct format of that word
    low_bit: int
    bits: int
    families: frozenset[str] = _ALL


_FACTS = packaged("descriptors.toml", __package__)
#: What a kernel can ask to have in its first scalar registers -> how many it takes.
USER_SGPRS: dict[str, int] = _FACTS["user_sgprs"]
_PROPERTIES = 56  #: Byte of the word of properties.
_FIELDS = (
    *(
        _Field(name, offset, word, low_bit, bits, frozenset(families[0]) if families else _ALL)
        for name, offset, word, low_bit, bits, *families in _FACTS["fields"]
    ),
    *(_Field(f"user_{name}", _PROPERTIES, "<H", bit, 1) for bit, name in enumerate(USER_SGPRS)),
)

# gfx90a and its successors have one register file for both kinds of vector registers: accumulation registers
# follow the others at accum_offset. gfx908 has two files of equal size.
_UNIFIED_FILE = frozenset({"gfx90a", "gfx942", "gfx950", "gfx9-4-generic"})
_TWIN_FILE = frozenset({"gfx908"})
_SGPRS_FROM_GFX10 = 128  # the hardware gives every wave the same number
_ACCUM_OFFSET_GRANULE = 4


@dataclass(frozen=True)
class Descriptor:
    """A kernel's resources as the hardware allocates them (rocprofv3 reports the same numbers)."""

    fields: dict[str, int]
    vgprs: int
    agprs: int
    sgprs: int
    wave_size: int

    def __getitem__(self, name: str) -> int:
        return self.fields[name]


def read_descriptor(data: bytes, target: str) -> Descriptor:
    """Decode the 64 bytes of a descriptor for `target`; a field that its family lacks is absent.

    Raises `ValueError`: fewer than 64 bytes.
    """
    if len(data) < DESCRIPTOR_BYTES:
        raise ValueError(f"a kernel descriptor has {DESCRIPTOR_BYTES} bytes, not {len(data)}")
    family = family_of(target) or "gfx9"
    fields = {f.name: _bits(data, f) for f in _FIELDS if family in f.families}
    wave_size = 32 if fields.get("wave32") else 64
    register_count = (fields["vgpr_granules"] + 1) * _vgpr_granule(target, family, wave_size)
    vgprs, agprs = register_count, 0
    if target in _UNIFIED_FILE:
        vgprs = (fields["accum_offset_granules"] + 1) * _ACCUM_OFFSET_GRANULE
        agprs = max(0, register_count - vgprs)
    elif target in _TWIN_FILE:
        agprs = register_count
    sgprs = (fields["sgpr_granules"] // 2 + 1) * 16 if family == "gfx9" else _SGPRS_FROM_GFX10
    return Descriptor(fields, vgprs, agprs, sgprs, wave_size)


def _bits(data: bytes, field: _Field) -> int:
    (word,) = struct.unpack_from(field.word, data, field.offset)
    return int(word) if field.bits == 64 else (int(word) >> field.low_bit) & ((1 << field.bits) - 1)


def _vgpr_granule(target: str, family: str, wave_size: int) -> int:
    if family == "gfx9":
        return 8 if target in _UNIFIED_FILE else 4
    if family == "gfx1250":
        return 16
    return 8 if wave_size == 32 else 4
