"""Code objects inside clang's offload bundles (`__CLANG_OFFLOAD_BUNDLE__`)."""

from __future__ import annotations

import struct

from wavescope.errors import NotATraceError, UnsupportedError, UsageError

_MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
_COMPRESSED_MAGIC = b"CCOB"
_MAX_ENTRIES = 1024
_MAX_ID_BYTES = 4096
_ENTRY = struct.Struct("<QQQ")  # offset, size, length of the id that follows


def unbundle(data: bytes, where: str = "", target: str | None = None) -> bytes:
    """The one device code object of a bundle; anything that is not a bundle comes back as it is.

    Raises
    ------
    UsageError
        Several device code objects, and `target` does not select one of them.
    UnsupportedError
        A compressed bundle.
    NotATraceError
        A bundle without device code.

    Examples
    --------
    >>> unbundle(b"\\x7fELF...")
    b'\\x7fELF...'
    """
    if data.startswith(_COMPRESSED_MAGIC):
        command = "clang-offload-bundler --unbundle --type=o --targets=TARGET --output=OUT"
        advice = f"unpack it: {command} --input={where or 'FILE'}"
        raise UnsupportedError("a compressed offload bundle, not a plain code object", where=where, advice=advice)
    if not data.startswith(_MAGIC):
        return data
    devices = {name: contents for name, contents in _entries(data) if "amdgcn" in name and contents}
    if target is not None:
        devices = {name: contents for name, contents in devices.items() if target in name} or devices
    if not devices:
        raise NotATraceError("an offload bundle without code for an AMD GPU", where=where)
    if len(devices) > 1:
        what = f"an offload bundle with {len(devices)} device code objects: {', '.join(devices)}"
        raise UsageError(what, where=where, advice="extract one of them with clang-offload-bundler --unbundle")
    return next(iter(devices.values()))


def _entries(data: bytes) -> list[tuple[str, bytes]]:
    entries = []
    at = len(_MAGIC) + 8
    (count,) = struct.unpack_from("<Q", data.ljust(at, b"\0"), len(_MAGIC))
    for _ in range(min(count, _MAX_ENTRIES)):
        if at + _ENTRY.size > len(data):
            break
        offset, size, id_size = _ENTRY.unpack_from(data, at)
        at += _ENTRY.size
        if id_size > _MAX_ID_BYTES:
            break
        name = data[at : at + id_size].decode("utf-8", "replace")
        entries.append((name, data[offset : offset + size]))
        at += id_size
    return entries
