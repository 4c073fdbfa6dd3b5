"""The tables of an Omniprobe output, and how its words become ours."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from wavewright.base.bounds import integer_of
from wavewright.model.schema import packaged_spec

MAX_COUNT: Final = (1 << 63) - 1
_MAX_UINT32 = (1 << 32) - 1
_CLONE = " [clone .kd]"  # what demanglers make of the suffix `.kd`
_CACHED_NAMES = 1 << 12
#: Words for the direction of an access in reports, documents and messages.
KINDS: Final = {"read": "read", "write": "write", "read/write": "read_write", "readwrite": "read_write"}
ACCESSES: Final = packaged_spec(__package__, "accesses")
MESSAGES: Final = packaged_spec(__package__, "messages")
LANE_ADDRESSES: Final = packaged_spec(__package__, "lane_addresses")


@lru_cache(maxsize=_CACHED_NAMES)
def readable(text: bytes) -> str:
    """A name from the file, without the suffix of kernels; unprintable characters become question marks.

    >>> readable(b"copy(int*) [clone .kd]"), readable(bytes([27, 91, 255]))
    ('copy(int*)', '?[?')
    """
    name = text.decode("utf-8", "replace").replace("\ufffd", "?").removesuffix(_CLONE)
    return name if name.isprintable() else "".join(c if c.isprintable() else "?" for c in name)


def access_row(fields: dict[str, bytes], *, space: str, **others: Any) -> dict[str, Any] | None:
    """A row of `ACCESSES` from fields as written, and other columns; None where a number is missing or wrong."""
    is_lds = space == "lds"
    row: dict[str, Any] = {"space": space, "kind": KINDS.get(readable(fields.get("kind", b""))), **others}
    numbers = {"line": _MAX_UINT32, "column": _MAX_UINT32, "execution_count": MAX_COUNT, "ir_bytes": _MAX_UINT32}
    if is_lds:
        numbers |= {"bank_conflict_count": MAX_COUNT}
    else:
        numbers |= dict.fromkeys(("cache_lines_least_count", "cache_lines_used_count"), MAX_COUNT)
        numbers |= {"isa_bytes": _MAX_UINT32}
    for name, limit in numbers.items():
        number = count(fields.get(name, b""), limit)
        if number is None:
            return None
        row[name] = number
    file, mnemonic = readable(fields.get("file", b"")), readable(fields.get("isa_instruction", b""))
    row["file"] = None if not file or file == "<unknown source file>" else file
    row["isa_instruction"] = mnemonic or None
    row["isa_bytes"] = row.get("isa_bytes") or None  # 0 = not looked up
    return row


def count(digits: bytes, limit: int = MAX_COUNT) -> int | None:
    """A decimal number from 0 to `limit`; None = it is not one.

    >>> count(b"12"), count(b"-1"), count(b"300", 255)
    (12, None, None)
    """
    return integer_of(digits.decode("ascii", "replace"), below=limit + 1)
