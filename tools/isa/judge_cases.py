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


@dataclass(frozen=True)
class FixedBits:
    """What is fixed in the word of a record, and which table columns have the record."""

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
