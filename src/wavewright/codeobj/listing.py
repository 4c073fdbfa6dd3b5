"""Listings: the one interchange format for disassembly, lines of `address TAB size TAB text` (`*.isa.tsv`).

A decoded capture's `code.json` (docs/formats/ui_output.md) is a listing too: it is read into the same form.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import zip_longest
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from wavewright.base.files import read_regular
from wavewright.errors import NotATraceError
from wavewright.model.losses import Loss

_ROW = re.compile(rb"(0[xX][0-9a-fA-F]+|[0-9]+)\t(0[xX][0-9a-fA-F]+|[0-9]+)\t([^\r\n]*)\r?")
_MAX_NUMBER = (1 << 64) - 1
_INSTRUCTION_BYTES = (4, 8, 12, 16, 20)
_COLUMNS = {"ISA": 0, "Codeobj": 4, "Vaddr": 5}  # and where they are when there is no header


class Row(NamedTuple):
    """One instruction: ELF address, size in bytes, text."""

    address: int
    size: int
    text: str


@dataclass(frozen=True)
class Listing:
    """The disassembly of one code object.

    `backend` says who made the text: "tables of gfx942", "libLLVM 22.1.8", both joined by " + ", or "none".
    """

    tsv: bytes
    backend: str = "none"
    losses: tuple[Loss, ...] = ()

    def rows(self) -> list[Row]:
        """The readable rows in their order."""
        return parse_rows(self.tsv)[0]


def parse_rows(tsv: bytes) -> tuple[list[Row], int]:
    """Rows of a listing, and how many lines are not rows."""
    rows = []
    unreadable = 0
    for line in tsv.split(b"\n"):
        match = _ROW.fullmatch(line)
        if match:
            rows.append(Row(_number(match[1]), _number(match[2]), match[3].decode("utf-8", "replace")))
        elif line.strip():
            unreadable += 1
    return rows, unreadable


def _number(digits: bytes) -> int:
    return int(digits, 16 if digits[1:2] in (b"x", b"X") else 10)


def is_listing(path: str | PathLike[str]) -> bool:
    """True if a file is a listing and not a code object, by its name.

    >>> is_listing("kernel.isa.tsv"), is_listing("ui/code.json"), is_listing("kernel.co")
    (True, True, False)
    """
    return Path(path).suffix.lower() in (".tsv", ".json")


def read_listing(path: str | PathLike[str], code_object: int = 0, data: bytes | None = None) -> bytes:
    """A listing as TSV: a `*.isa.tsv` file as it is, or the rows of one code object in a `code.json`.

    `code_object` is an id in `code.json` (0 = the only one there); a row there that cannot be read becomes a line that
    is no row, so that whoever takes the listing counts it. `data` is the content of a file that is in memory only.
    Raises `NotATraceError`: the file cannot be read, is no listing, or has no row of this code object.
    """
    file = Path(path)
    try:
        data = read_regular(file) if data is None else data
    except OSError as error:
        raise NotATraceError(f"cannot be read: {error.strerror}", where=str(file)) from error
    if data.lstrip()[:1] == b"{":
        return _from_code_json(data, str(file), code_object)
    if data.strip() and not any(_ROW.fullmatch(line) for line in data.splitlines()):
        advice = "a listing has lines of: address TAB size TAB text"
        raise NotATraceError("not a listing: no line can be read", where=str(file), advice=advice)
    return data


def _from_code_json(data: bytes, where: str, object_id: int) -> bytes:
    try:
        document = msgspec.json.decode(data)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise NotATraceError(f"not a code.json: {error}", where=where) from error
    if not isinstance(document.get("code") or [], list):
        raise NotATraceError("not a code.json: its code is not a list of rows", where=where)
    column = _columns(document.get("header"))
    texts: dict[int, dict[int, str]] = {}
    unreadable = 0
    for row in document.get("code") or ():
        fields = _read_row(row, column)
        if fields is None:
            unreadable += 1
        elif not fields[0].startswith(";"):  # label rows name the kernel that follows
            text, code_object, address = fields
            texts.setdefault(code_object, {}).setdefault(address, text)
    chosen_id = next(iter(texts)) if object_id == 0 and len(texts) == 1 else object_id
    if chosen_id not in texts:
        ids = ", ".join(map(str, sorted(texts))) or "none"
        raise NotATraceError(f"no rows of code object {object_id}; those it has: {ids}", where=where)
    return _tsv_of(texts[chosen_id]) + b"unreadable row\n" * unreadable


def _columns(header: Any) -> dict[str, int]:
    """Position of each column: the header is a list in some writers and one string in others."""
    names = header.split(",") if isinstance(header, str) else header if isinstance(header, list) else ()
    indices = {name.strip(): index for index, name in enumerate(names) if isinstance(name, str)}
    return {name: indices.get(name, index) for name, index in _COLUMNS.items()}


def _read_row(row: Any, column: dict[str, int]) -> tuple[str, int, int] | None:
    if not isinstance(row, list) or len(row) <= max(column.values()):
        return None
    text, code_object, address = (row[column[name]] for name in _COLUMNS)
    if not isinstance(text, str) or not isinstance(code_object, int) or not isinstance(address, int):
        return None
    if not (0 <= address <= _MAX_NUMBER and 0 <= code_object <= _MAX_NUMBER):
        return None
    return " ".join(text.split()), code_object, address


def _tsv_of(texts: dict[int, str]) -> bytes:
    """A row's size is the distance to the next one; the last before a gap is an `s_endpgm` or a branch: 4 bytes."""
    addresses = sorted(texts)
    lines = []
    for address, behind in zip_longest(addresses, addresses[1:], fillvalue=0):
        size = behind - address if behind - address in _INSTRUCTION_BYTES else 4
        lines.append(f"{address}\t{size}\t{texts[address]}\n")
    return "".join(lines).encode("utf-8", "replace")
