"""Make tests/data/isa: the fixed bits of all records, and one instruction of every record with LLVM's text.

usage: python -m tools.isa.judge_vectors LLVM_SOURCE [OLD_VECTORS.tsv]   (needs LLVM 22 and its headers)

Rows of OLD_VECTORS (target, hex, size_bytes, record, text) are taken over after LLVM was asked again.
"""

from __future__ import annotations

import gzip
import random
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tools.isa.from_llvm import load
from tools.isa.judge_cases import DATA, Vector
from tools.isa.judge_llvm import WINDOW_BYTES, Answer, ask_operands, wave_sizes
from tools.isa.judge_registers import words_of_llvm

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tools.isa.model import Isa, Record

ROUNDS = 24
NOTE = (
    "# {what}\n# Facts produced by running LLVM {version} (the LLVM Project, https://llvm.org; licensed under\n"
    "# Apache-2.0 WITH LLVM-exception, see licenses/LLVM.txt). Made by tools/isa/judge_vectors.py.\n"
)
_REGISTERS = ("vdst", "vdata", "vaddr", "addr", "data", "vsrc")
_SCALARS = ("sdst", "sbase", "sdata", "srsrc", "ssamp", "saddr", "soffset", "rsrc", "samp")
_DPP_CONTROLS = (0x1B, 0x101, 0x111, 0x121, 0x140, 0x141, 0x150, 0x153)
_DPP8 = (0xE9, 0xEA)
_EXEC = 126


def records_of(isa: Isa, column: str, *, wave64: bool) -> list[Record]:
    """The records that a wave of that size can have."""
    sizes = (0, 64 if wave64 else 32)
    return [record for record in isa.records if column in record.targets and record.wave_size in sizes]


def instruction(record: Record, draw: random.Random, turn: int) -> bytes:
    """A likely valid instruction of a record: later turns are more careful."""
    word = record.value
    for field, parts in record.layout:
        width = max(part.high for part in parts) + 1
        value = _field_value(field, width, draw, turn) & (1 << width) - 1
        for part in parts:
            bits = value >> part.low & (1 << part.high - part.low + 1) - 1
            word |= bits << part.word_low
    if "EXEC" in record.implicit_defs and not record.outs and "VOP3" in record.encoding:
        word |= _EXEC & ~record.mask  # LLVM refuses others, though the field is no operand
    literal = draw.randrange(70, 1 << 31).to_bytes(4, "little")
    return (word.to_bytes(record.size_bytes, "little") + literal).ljust(WINDOW_BYTES, b"\0")[:WINDOW_BYTES]


def _field_value(field: str, width: int, draw: random.Random, turn: int) -> int:
    if field.startswith(_REGISTERS):
        return draw.randrange(min(1 << width, 200)) & (~1 if turn < 9 else ~3)
    if field.startswith("src") and field.endswith("modifiers"):
        return draw.getrandbits(width) if turn < 4 else 0
    if field in ("src0_sel", "src1_sel", "dst_sel"):
        return draw.randrange(7)
    if field.startswith("src"):
        scalar = draw.randrange(96) & ~3
        vector = 256 + (draw.randrange(200) & ~3) if width > 8 else scalar
        return draw.choice((scalar, vector, 128 + draw.randrange(80))) if turn < 6 else vector
    if field in _SCALARS:
        return draw.randrange(96) & ~7 if width >= 7 else draw.getrandbits(width)
    if field == "fi" and width == 9:
        return draw.choice(_DPP8)
    if field == "dpp_ctrl":
        return draw.choice(_DPP_CONTROLS)
    if field == "dst_unused":
        return draw.randrange(3)
    return draw.getrandbits(width) if turn < 7 else 0


def new_vectors(isa: Isa, column: str, without: frozenset[str], *, wave64: bool) -> Iterator[Vector]:
    """One valid instruction of every record that is not in `without`, where one can be drawn."""
    draw = random.Random(f"{column} {wave64}")  # noqa: S311  the same vectors every time
    missing = {record.name: record for record in records_of(isa, column, wave64=wave64) if record.name not in without}
    for turn in range(ROUNDS):
        names = list(missing)
        windows = [instruction(missing[name], draw, turn) for name in names]
        for name, window, answer in zip(names, windows, _ask(column, windows, wave64=wave64), strict=True):
            if answer.record == name and "/*" not in answer.text:
                yield _vector(column, window, answer, wave64=wave64)
                del missing[name]
    print(f"{column} wave64={wave64}: no vector for {len(missing)}: {' '.join(sorted(missing)[:8])}", file=sys.stderr)


def as_wave64(vectors: Sequence[Vector]) -> Iterator[Vector]:
    """The vectors of one column whose text is another in waves of 64."""
    windows = [vector.code.ljust(WINDOW_BYTES, b"\0") for vector in vectors]
    for vector, answer in zip(vectors, _ask(vectors[0].column, windows, wave64=True), strict=True):
        if answer.size == len(vector.code) and answer.text != vector.text and "/*" not in answer.text:
            yield _vector(vector.column, vector.code, answer, wave64=True)


def confirmed(vectors: Sequence[Vector]) -> Iterator[Vector]:
    """Vectors of one column that LLVM gives again; another text is an error."""
    windows = [vector.code.ljust(WINDOW_BYTES, b"\0") for vector in vectors]
    for vector, answer in zip(vectors, _ask(vectors[0].column, windows, wave64=False), strict=True):
        if (answer.size, answer.text) != (len(vector.code), vector.text):
            raise SystemExit(f"LLVM has another text now: {vector} {answer}")
        yield _vector(vector.column, vector.code, answer, wave64=vector.column.startswith("gfx9"))


def _vector(column: str, window: bytes, answer: Answer, *, wave64: bool) -> Vector:
    registers = words_of_llvm(answer.operands)
    return Vector(column, wave64, window[: answer.size], answer.record, answer.text, registers)


def _ask(column: str, windows: Sequence[bytes], *, wave64: bool) -> list[Answer]:
    return ask_operands(column, b"".join(windows), wave64=wave64)


def old_vectors(path: Path) -> dict[str, list[Vector]]:
    """The vectors of a file by column."""
    by_column: dict[str, list[Vector]] = {}
    for line in path.read_text().splitlines():
        if not line.startswith(("#", "target\t")):
            column, code, _, record, text = line.split("\t")
            by_column.setdefault(column, []).append(
                Vector(column, code=bytes.fromhex(code), wave64=False, record=record, text=text, registers="")
            )
    return by_column


def all_vectors(isa: Isa, old: dict[str, list[Vector]]) -> Iterator[Vector]:
    """Vectors of all columns and of the wave sizes that they have."""
    for column in isa.features:
        is_gfx9 = column.startswith("gfx9")
        vectors = list(confirmed(old[column])) if column in old else []
        vectors += new_vectors(isa, column, frozenset(vector.record for vector in vectors), wave64=is_gfx9)
        yield from vectors
        if len(wave_sizes(column)) > 1:
            wave64 = list(as_wave64(vectors))
            have = frozenset(vector.record for vector in (*vectors, *wave64))
            yield from wave64
            yield from new_vectors(isa, column, have, wave64=True)


def write(name: str, what: str, version: str, lines: Iterable[str]) -> None:
    """A compressed table; the same lines give the same bytes."""
    text = NOTE.format(what=what, version=version) + "".join(f"{line}\n" for line in lines)
    with (DATA / name).open("wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        packed.write(text.encode("ascii"))


def main() -> None:
    """Read the tables and write both files."""
    write_all(load(Path(sys.argv[1])), Path(sys.argv[2]) if len(sys.argv) > 2 else None)


def write_all(isa: Isa, old_file: Path | None) -> None:
    """Write both files from tables."""
    old = old_vectors(old_file) if old_file is not None else {}
    records = (
        f"{record.name}\t{record.size_bytes}\t{record.mask:x}\t{record.value:x}\t{','.join(record.targets)}"
        for record in isa.records
    )
    title = "The fixed bits of every record of LLVM's AMDGPU instruction tables, and the targets that have it."
    write("records.tsv.gz", title, isa.llvm_version, ("record\tsize_bytes\tmask\tvalue\ttargets", *records))
    rows = (
        "\t".join((v.column, "64" if v.wave64 else "32", v.code.hex(), v.record, v.registers, v.text))
        for v in all_vectors(isa, old)
    )
    title = "One random instruction of every record and target, as LLVM's disassembler prints it (blanks joined)."
    write("vectors.tsv.gz", title, isa.llvm_version, ("target\twave\thex\trecord\tregisters\ttext", *rows))


if __name__ == "__main__":
    main()
