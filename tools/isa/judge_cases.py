"""Windows of bytes to ask a disassembler about: records with random free bits, and random bytes."""

from __future__ import annotations

import gzip
import random
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from tools.isa.judge_llvm import WINDOW_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

DATA = Path(__file__).resolve().parents[2] / "tests" / "data" / "isa"
#: Codes of sources: a literal of 32 bits, of 64.
LITERAL_CODES = (255, 255, 254)
#: Literals that inline constants could have said, and their neighbours: integers, numbers of 16, 32 and 64 bits, pairs.
EDGES = (
    *(0, 1, 44, 64, 65, 0x80, 0xC0, 0xF0, 0xFFFFFFFF, 0xFFFFFFF0, 0xFFFFFFEF, 0xFFFF, 0xFFF0, 0xFFEF, 0x8000),
    *(0x3C00, 0xBC00, 0x3800, 0x4400, 0x3118, 0x3F80, 0x3F00, 0x3E22, 0x3E23, 0x3C003C00, 0x3C000000, 0x10001, 0x10000),
    *(0x3F800000, 0xBF800000, 0x40800000, 0x3E22F983, 0x3FC45F30, 0x6DC9C882, 0x3FF00000, 0xBFE00000, 0x40100000),
    *(0x80000000, 0x7FFFFFFF, 0xFFFF0000, 0x12345678),
)


@dataclass(frozen=True)
class FixedBits:
    """Fixed bits in the word of a record, and the table columns that have the record."""

    name: str
    size_bytes: int
    mask: int
    value: int
    columns: frozenset[str]


@dataclass(frozen=True)
class Vector:
    """The bytes of an instruction and LLVM's text for it."""

    column: str
    wave64: bool
    code: bytes
    record: str
    text: str
    #: Words as judge_registers.py has them, sorted.
    registers: str


@cache
def fixed_bits() -> tuple[FixedBits, ...]:
    """All records, from tests/data/isa/records.tsv.gz."""
    return tuple(
        FixedBits(name, int(size), int(mask, 16), int(value, 16), frozenset(columns.split(",")))
        for name, size, mask, value, columns in _rows("records.tsv.gz")
    )


@cache
def vectors() -> tuple[Vector, ...]:
    """All vectors, from tests/data/isa/vectors.tsv.gz."""
    return tuple(
        Vector(column, wave == "64", bytes.fromhex(code), record, text, registers)
        for column, wave, code, record, registers, text in _rows("vectors.tsv.gz")
    )


def fills(column: str, count: int, seed: int = 1) -> Iterator[bytes]:
    """Every record of a column `count` times, with random bits where it has none of its own."""
    draw = random.Random(f"{column} {seed}")  # noqa: S311  the same cases every time
    for record in fixed_bits():
        if column in record.columns:
            for _ in range(count):
                word = record.value | draw.getrandbits(8 * record.size_bytes) & ~record.mask
                tail = draw.randbytes(8)
                yield (word.to_bytes(record.size_bytes, "little") + tail).ljust(WINDOW_BYTES, b"\0")[:WINDOW_BYTES]


def edges(column: str, count: int, seed: int = 1) -> Iterator[bytes]:
    """Every record of a column with few or many bits, or a literal that an inline constant could have said."""
    draw = random.Random(f"{column} edges {seed}")  # noqa: S311  the same cases every time
    for record in fixed_bits():
        if column in record.columns:
            bits = 8 * record.size_bytes
            for turn in range(count):
                some = draw.getrandbits(bits) & draw.getrandbits(bits) & draw.getrandbits(bits)
                filling = some if turn % 4 < 2 else ~some if turn % 4 == 2 else draw.getrandbits(bits)
                if turn % 4 != 2:
                    filling = _with_literal_code(filling, record.size_bytes, draw)
                word = record.value | filling & (1 << bits) - 1 & ~record.mask
                tail = b"".join(draw.choice(EDGES).to_bytes(4, "little") for _ in range(2))
                yield (word.to_bytes(record.size_bytes, "little") + tail).ljust(WINDOW_BYTES, b"\0")[:WINDOW_BYTES]


def _with_literal_code(filling: int, size_bytes: int, draw: random.Random) -> int:
    """Bits in which one of the sources is a literal: the first of short forms, any of VOP3."""
    at, width = (32 + 9 * draw.randrange(3), 9) if size_bytes == 8 else (draw.choice((0, 8)), 8)
    return filling & ~((1 << width) - 1 << at) | draw.choice(LITERAL_CODES) << at


def windows(column: str, count: int, seed: int = 1) -> Iterator[bytes]:
    """Random bytes."""
    draw = random.Random(f"{column} windows {seed}")  # noqa: S311  the same cases every time
    for _ in range(count):
        yield draw.randbytes(WINDOW_BYTES)


def _rows(name: str) -> Iterator[list[str]]:
    with gzip.open(DATA / name, "rt", encoding="ascii") as file:
        lines = (line.rstrip("\n") for line in file if not line.startswith("#"))
        next(lines)  # names of the columns
        for line in lines:
            yield line.split("\t")
