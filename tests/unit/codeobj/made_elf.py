"""ELF files made to measure: sections with any contents, and claims that need not be true."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from wavewright.codeobj.targets import TARGET_OF_MACH

MACH_OF_TARGET = {target: mach for mach, target in TARGET_OF_MACH.items()}
SECTION = struct.Struct("<IIQQQQIIQQ")
PROGBITS, SYMTAB, STRTAB, NOTE = 1, 2, 3, 7
CODE_FLAGS, DATA_FLAGS, COMPRESSED = 6, 2, 0x800


@dataclass
class Made:
    """A section; `claimed_size` lies about its length."""

    name: str
    contents: bytes
    type: int = PROGBITS
    flags: int = 0
    address: int = 0
    link: int = 0
    claimed_size: int | None = None


def symbol(name_offset: int, type_: int, section: int, address: int, size: int) -> bytes:
    return struct.pack("<IBBHQQ", name_offset, 0x10 | type_, 0, section, address, size)


def make_elf(
    sections: list[Made], *, target: str = "gfx942", machine: int = 224, section_count: int | None = None
) -> bytes:
    names = b"\0" + b"".join(section.name.encode() + b"\0" for section in sections) + b".shstrtab\0"
    sections = [*sections, Made(".shstrtab", names, STRTAB)]
    body, headers = bytearray(64), [bytes(SECTION.size)]
    for section in sections:
        size = len(section.contents) if section.claimed_size is None else section.claimed_size
        name = names.index(b"\0" + section.name.encode() + b"\0") + 1
        headers.append(
            SECTION.pack(name, section.type, section.flags, section.address, len(body), size, section.link, 0, 4, 0)
        )
        body += section.contents
    flags = MACH_OF_TARGET.get(target, 0)
    count = len(headers) if section_count is None else section_count
    body[:16] = b"\x7fELF\x02\x01\x01\x40\x04" + bytes(7)
    body[16:64] = struct.pack(
        "<HHIQQQIHHHHHH", 3, machine, 1, 0, 0, len(body), flags, 64, 56, 0, 64, count, len(headers) - 1
    )
    return bytes(body) + b"".join(headers)


def code_only(code: bytes, *, target: str = "gfx942", address: int = 0x1000) -> bytes:
    """An object with nothing but code."""
    return make_elf([Made(".text", code, flags=CODE_FLAGS, address=address)], target=target)


WAVE32_BIT = 1 << 10  # ENABLE_WAVEFRONT_SIZE32 of kernel_code_properties (LLVM's AMDGPUUsage, "Kernel Descriptor")


def functions_of(functions: dict[str, tuple[bytes, int | None]], *, target: str) -> bytes:
    """An object with functions, each its code and the lanes of its waves where it is a kernel."""
    code_at, kernels_at = 0x1000, 0x8000
    names, text, kernels, table = b"\0", b"", b"", bytes(24)
    for name, (code, lanes) in functions.items():
        table += symbol(len(names), 2, 1, code_at + len(text), len(code))
        names += name.encode() + b"\0"
        if lanes is not None:
            at = kernels_at + len(kernels)
            table += symbol(len(names), 1, 2, at, 64)
            names += name.encode() + b".kd\0"
            entry = struct.pack("<q", code_at + len(text) - at)
            properties = struct.pack("<H", WAVE32_BIT if lanes == 32 else 0)
            kernels += bytes(16) + entry + bytes(32) + properties + bytes(6)
        text += code
    sections = [
        Made(".text", text, flags=CODE_FLAGS, address=code_at),
        Made(".rodata", kernels, flags=DATA_FLAGS, address=kernels_at),
        Made(".symtab", table, SYMTAB, link=4),
        Made(".strtab", names, STRTAB),
    ]
    return make_elf(sections, target=target)
