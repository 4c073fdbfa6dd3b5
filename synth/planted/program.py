"""Kernels for the machine model: instruction texts with labels, made into a listing, and who takes which branch."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from dataclasses import dataclass, field

from synth.kernel import KernelImage

Decision = Callable[[int, int, int], bool]
"""Whether a branch is taken: (workgroup, wave of the workgroup, how often this wave was here before)."""

_ENTRY = 0x1000
# Encodings of 8 bytes; gfx12's vector memory takes 12. Good enough for cache lines: texts are never encoded.
_LONG = re.compile(r"s_load|s_buffer|ds_|global_|buffer_|scratch_|flat_|v_mfma|v_wmma|v_lshl_add_u64|\w+_e64 ")
_LONGER = re.compile(r"global_|scratch_")
# An ELF header and nothing else: it tells the GPU (EF_AMDGPU_MACH in e_flags); the listing beside it is the code.
_ELF = struct.Struct("<4s5B7x2HI3QI6H")
_MACHINE_AMDGPU, _ABI_HSA, _ABI_VERSION, _SHARED = 224, 64, 4, 3
_MACH = {"gfx942": 0x4C, "gfx1201": 0x4E}


@dataclass(frozen=True)
class Program:
    """A kernel and its control flow; `decisions` are by the address of the branch."""

    image: KernelImage
    decisions: dict[int, Decision] = field(repr=False)


@dataclass
class Assembler:
    """Collects a kernel's instructions.

    >>> code = Assembler("gfx942")
    >>> with_loop = code.add("s_mov_b32 s0, 0").label("again").add("v_add_u32_e32 v1, v2, v3")
    >>> with_loop.loop("again", trips=3).add("s_endpgm").build("demo").image.listing.decode().splitlines()[-2]
    '0x1008\\t4\\ts_cbranch_scc1 65534'
    """

    target: str
    _texts: list[str] = field(default_factory=list)
    _labels: dict[str, int] = field(default_factory=dict)
    _branches: dict[int, tuple[str, Decision]] = field(default_factory=dict)

    def add(self, *texts: str) -> Assembler:
        """Instructions in a row."""
        self._texts += texts
        return self

    def label(self, name: str) -> Assembler:
        """The place that branches call `name`."""
        self._labels[name] = len(self._texts)
        return self

    def branch(self, label: str, decision: Decision) -> Assembler:
        """A conditional branch."""
        self._branches[len(self._texts)] = (label, decision)
        return self.add("s_cbranch_scc1")

    def loop(self, label: str, trips: int) -> Assembler:
        """The branch at the end of a loop that runs `trips` times."""
        return self.branch(label, lambda _workgroup, _wave, count: count % trips != trips - 1)

    def build(self, name: str) -> Program:
        """The listing, with branch offsets in words as the hardware counts them."""
        addresses = [_ENTRY]
        for text in self._texts:
            addresses.append(addresses[-1] + _bytes(text, self.target))
        lines = []
        for number, text in enumerate(self._texts):
            address, size, shown_text = addresses[number], addresses[number + 1] - addresses[number], text
            if number in self._branches:
                to = addresses[self._labels[self._branches[number][0]]]
                shown_text = f"{text} {(to - address - 4) // 4 % (1 << 16)}"
            lines.append(f"{address:#x}\t{size}\t{shown_text}\n")
        listing = "".join(lines).encode()
        decisions = {addresses[number]: decision for number, (_, decision) in self._branches.items()}
        image = KernelImage(name, self.target, listing, _ENTRY, elf_header(self.target))
        return Program(image, decisions)


def elf_header(target: str) -> bytes:
    """The code object of a kernel that exists as text only."""
    about = (_SHARED, _MACHINE_AMDGPU, 1, 0, 0, 0, _MACH[target], _ELF.size, 0, 0, 0, 0, 0)
    return _ELF.pack(b"\x7fELF", 2, 1, 1, _ABI_HSA, _ABI_VERSION, *about)


def _bytes(text: str, target: str) -> int:
    if target.startswith("gfx12") and _LONGER.match(text):
        return 12
    return 8 if _LONG.match(text) else 4
