"""Writers of what code objects are kept in, for tests: bundles, packed bundles, files of the host, `ar` archives."""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING

from wavewright.base.compression import zstd_library

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

BUNDLE_MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
X86_64, AARCH64 = 62, 183
_METHODS = {"zlib": 0, "zstd": 1}


def hip_entry(target: str) -> str:
    """The id that clang gives the code of a GPU."""
    return f"hipv4-amdgcn-amd-amdhsa--{target}"


def offload_bundle(entries: Sequence[tuple[str, bytes]], alignment: int = 8) -> bytes:
    """A bundle of entries: id and content."""
    table_size = len(BUNDLE_MAGIC) + 8 + sum(24 + len(name.encode()) for name, _ in entries)
    table = BUNDLE_MAGIC + struct.pack("<Q", len(entries))
    body = b""
    for name, content in entries:
        body += bytes(-(table_size + len(body)) % alignment)
        table += struct.pack("<QQQ", table_size + len(body), len(content), len(name.encode())) + name.encode()
        body += content
    return table + body


def packed_bundle(
    bundle: bytes,
    *,
    version: int = 3,
    packing: str = "zstd",
    method: int | None = None,
    claimed_size: int | None = None,
    claimed_total: int | None = None,
) -> bytes:
    """A packed bundle (CCOB); the claims need not be true."""
    packed = zlib.compress(bundle) if packing == "zlib" else zstd_library().compress(bundle)
    size = len(bundle) if claimed_size is None else claimed_size
    number = _METHODS[packing] if method is None else method
    layout = {1: "<HHIQ", 2: "<HHIIQ", 3: "<HHQQQ"}[min(max(version, 1), 3)]
    total = 4 + struct.calcsize(layout) + len(packed) if claimed_total is None else claimed_total
    sizes = (size,) if version == 1 else (total, size)
    header = struct.pack(layout, version, number, *sizes, zlib.crc32(bundle))
    return b"CCOB" + header + bytes(packed)


def host_elf(sections: Mapping[str, bytes], *, machine: int = X86_64, alignment: int = 4096) -> bytes:
    """A 64-bit little-endian ELF file with these sections and a table of names."""
    names = b"\0" + b"".join(name.encode() + b"\0" for name in sections) + b".shstrtab\0"
    contents = [*sections.items(), (".shstrtab", names)]
    body = bytearray(64)
    headers = [bytes(64)]
    for name, content in contents:
        body += bytes(-len(body) % alignment)
        at = names.index(b"\0" + name.encode() + b"\0") + 1
        headers.append(struct.pack("<IIQQQQIIQQ", at, 1, 2, 0, len(body), len(content), 0, 0, alignment, 0))
        body += content
    body[:16] = b"\x7fELF\x02\x01\x01" + bytes(9)
    count = len(headers)
    body[16:64] = struct.pack("<HHIQQQIHHHHHH", 3, machine, 1, 0, 0, len(body), 0, 64, 56, 0, 64, count, count - 1)
    return bytes(body) + b"".join(headers)


def ar_archive(members: Mapping[str, bytes], *, bsd: bool = False) -> bytes:
    """An archive with long names as GNU's or BSD's archiver writes them, and a symbol table."""
    archive = b"!<arch>\n" + (b"" if bsd else _ar_member("/", bytes(4)))
    long_names = b"".join(name.encode() + b"/\n" for name in members)
    if not bsd:
        archive += _ar_member("//", long_names)
    for name, content in members.items():
        raw = name.encode()
        if bsd:
            archive += _ar_member(f"#1/{len(raw)}", raw + content)
        elif len(raw) < 16:
            archive += _ar_member(f"{name}/", content)
        else:
            archive += _ar_member(f"/{long_names.index(raw + b'/')}", content)
    return archive


def _ar_member(name: str, content: bytes) -> bytes:
    header = f"{name:<16}{0:<12}{0:<6}{0:<6}{644:<8}{len(content):<10}`\n".encode()
    return header + content + b"\n" * (len(content) & 1)


def offload_binary(image: bytes, target: str, *, kind: int = 1) -> bytes:
    """LLVM's container of one image (llvm/Object/OffloadBinary.h)."""
    strings = [("triple", "amdgcn-amd-amdhsa"), ("arch", target)]
    texts = [text.encode() + b"\0" for pair in strings for text in pair]
    strings_at = 32 + 40
    texts_at = strings_at + 16 * len(strings)
    offsets = [texts_at + sum(map(len, texts[:number])) for number in range(len(texts))]
    image_at = -(-(texts_at + sum(map(len, texts))) // 8) * 8
    size = -(-(image_at + len(image)) // 8) * 8
    head = b"\x10\xff\x10\xad" + struct.pack("<IQQQ", 1, size, 32, 40)
    head += struct.pack("<HHIQQQQ", kind, 4, 0, strings_at, len(strings), image_at, len(image))
    head += struct.pack(f"<{len(offsets)}Q", *offsets) + b"".join(texts)
    return (head.ljust(image_at, b"\0") + image).ljust(size, b"\0")
