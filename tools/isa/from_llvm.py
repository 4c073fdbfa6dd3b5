"""The tables from LLVM's sources: `llvm-tblgen --print-records` on AMDGPU.td, and what only the C++ sources say.

The source package is Debian's `llvm-toolchain-22` (`apt-get source --download-only llvm-toolchain-22`); of the archive
only `llvm/lib/Target/AMDGPU` and `llvm/include` are needed.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tools.isa.instructions import columns_of, convert, flag_bits, is_decoded
from tools.isa.model import ImageRecord, Isa, OperandType, Record, TargetGroup
from tools.isa.print_names import Disassemble, disassemble, names
from tools.isa.records import TableRecord, read_records
from tools.isa.subtargets import COLUMNS, Subtargets, family

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

#: The release whose text the tables print, and the archive of its sources.
LLVM_VERSION = "22.1.8"
ARCHIVE_SHA256 = "b49b9277aef97616320b2da259e1f8174c65b0ce2fbe2e8629644a97693402fe"
TARGET_FOLDER = Path("llvm/lib/Target/AMDGPU")
_IMAGE_PROPERTIES = (
    *("Store", "Atomic", "AtomicX2", "Sampler", "Gather4", "NumExtraArgs", "Gradients", "G16", "Coordinates"),
    *("LodOrClampOrMip", "HasD16", "MSAA", "BVH", "A16", "NoReturn", "PointSampleAccel"),
)
_OPERAND_KINDS = ("RegisterClass", "RegisterOperand")
_VERSION = re.compile(r"LLVM version (\d+\.\d+\.\d+)")


class ToolError(ValueError):
    """LLVM's program or archive is of another release than the tables."""


@dataclass
class _Reading:
    """Results of one pass over the records."""

    subtargets: Subtargets = field(default_factory=Subtargets)
    instructions: list[TableRecord] = field(default_factory=list)
    operands: dict[str, TableRecord] = field(default_factory=dict)
    image_bases: dict[str, dict[str, int]] = field(default_factory=dict)
    image_sizes: dict[tuple[str, str], set[tuple[int, int]]] = field(default_factory=dict)
    image_dims: dict[int, tuple[str, int, int, int]] = field(default_factory=dict)
    images: dict[str, ImageRecord] = field(default_factory=dict)
    flag_bits: dict[str, int] = field(default_factory=dict)


def load(source: Path, archive: Path | None = None, tblgen: str = "llvm-tblgen-22", mc: str = "llvm-mc-22") -> Isa:
    """The tables from a folder with LLVM's sources.

    Parameters
    ----------
    source
        The folder that has `llvm/lib/Target/AMDGPU`.
    archive
        The archive that the folder was unpacked from; its SHA-256 is checked.
    """
    if archive is not None:
        check_archive(archive)
    check_version(tblgen)
    check_version(mc)
    with printed_records(source, tblgen) as lines:
        return build(lines, source, lambda target, words: disassemble(target, words, mc))


def check_archive(archive: Path) -> None:
    """Refuses an archive that is not the one that the committed tables were made from."""
    with archive.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != ARCHIVE_SHA256:
        raise ToolError(f"{archive} has the SHA-256 {digest}; LLVM {LLVM_VERSION} has {ARCHIVE_SHA256}")


def check_version(program: str) -> None:
    """Refuses a program of another LLVM."""
    answer = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    match = _VERSION.search(answer)
    if match is None or match[1] != LLVM_VERSION:
        raise ToolError(f"{program} is of LLVM {match[1] if match else '?'}; the tables are made with {LLVM_VERSION}")


@contextmanager
def printed_records(source: Path, tblgen: str) -> Iterator[Iterable[str]]:
    """The lines that TableGen prints, while it prints them."""
    folder = source / TARGET_FOLDER
    command = [tblgen, "--print-records", "-I", str(folder), "-I", str(source / "llvm/include"), "AMDGPU.td"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        if process.stdout is None:
            raise ToolError(f"{tblgen} has no output")
        yield process.stdout
    if process.returncode != 0:
        raise ToolError(f"{tblgen} ended with {process.returncode}")


def build(lines: Iterable[str], source: Path, ask: Disassemble) -> Isa:
    """The tables from records as text; `ask` is LLVM's disassembler."""
    reading = _read(lines)
    records = _records(reading)
    dims = {number: dim[0] for number, dim in reading.image_dims.items()}
    decoded = {record.name for record in records}
    subtargets = reading.subtargets
    return Isa(
        llvm_version=LLVM_VERSION,
        records=records,
        operand_types=_operand_types(records, reading.operands),
        features={
            column: tuple(sorted(subtargets.features(column, subtargets.wave_sizes(column)[0]))) for column in COLUMNS
        },
        target_groups=tuple(_target_groups(reading)),
        names=names(records, source / TARGET_FOLDER, dims, ask),
        image_records=tuple(image for name, image in reading.images.items() if name in decoded),
        image_bases=dict(sorted(reading.image_bases.items())),
        image_sizes={key: tuple(sorted(sizes)) for key, sizes in sorted(reading.image_sizes.items())},
        image_dims=reading.image_dims,
    )


def _read(lines: Iterable[str]) -> _Reading:
    reading = _Reading()
    stream = iter(lines)
    # The classes come first. The reader of one section would swallow the head of the next, so it stops at InstSI.
    reading.flag_bits = flag_bits(next(r for r in read_records(stream, {"InstSI"}, "Classes") if r.name == "InstSI"))
    classes = {"Instruction", "DAGOperand", "MIMGBaseOpcode", "AMDGPUDimProps", *reading.subtargets.classes}
    for record in read_records(stream, classes):
        if "Instruction" in record.classes:
            _take_instruction(reading, record)
        elif "DAGOperand" in record.classes:
            reading.operands[record.name] = record
        elif "MIMGBaseOpcode" in record.classes:
            reading.image_bases[record.name] = {name: record.number(name) for name in _IMAGE_PROPERTIES}
        elif "AMDGPUDimProps" in record.classes:
            coordinates, gradients, array = (record.number(name) for name in ("NumCoords", "NumGradients", "DA"))
            reading.image_dims[record.number("Encoding")] = (record.text("AsmSuffix"), coordinates, gradients, array)
        else:
            reading.subtargets.add(record)
    return reading


def _take_instruction(reading: _Reading, record: TableRecord) -> None:
    if "MIMGEncoding" in record.fields:
        base, encoding = record.raw("BaseOpcode"), record.raw("MIMGEncoding")
        sizes = (record.number("VDataDwords"), record.number("VAddrDwords"))
        reading.image_sizes.setdefault((base, encoding), set()).add(sizes)
        reading.images[record.name] = ImageRecord(record.name, base, encoding, *sizes)
    if is_decoded(record):
        reading.instructions.append(record)


def _records(reading: _Reading) -> tuple[Record, ...]:
    records = []
    for record in reading.instructions:
        columns, wave_size = columns_of(record, COLUMNS, reading.subtargets)
        if columns:
            records.append(convert(record, reading.flag_bits, columns, wave_size))
    return tuple(records)


def _operand_types(records: Sequence[Record], operands: dict[str, TableRecord]) -> tuple[OperandType, ...]:
    used = {operand.type for record in records for operand in (*record.outs, *record.ins)}

    def word(record: TableRecord, name: str) -> str:
        return record.fields.get(name, "-").strip('"').replace("?", "") or "-"

    types = []
    for name in sorted(used):
        record = operands[name]
        types.append(
            OperandType(
                name=name,
                kind=next((kind for kind in _OPERAND_KINDS if kind in record.classes), "Operand"),
                register_class=word(record, "RegClass"),
                value_type=word(record, "Type"),
                print_method=word(record, "PrintMethod"),
                decoder_method=word(record, "DecoderMethod"),
                operand_type=word(record, "OperandType"),
            )
        )
    return tuple(types)


def _target_groups(reading: _Reading) -> Iterator[TargetGroup]:
    """Targets with the same records together, and the column that is the nearest to each group."""
    subtargets = reading.subtargets
    decoded: dict[str, set[tuple[str, int]]] = {target: set() for target in subtargets.targets()}
    for record in reading.instructions:
        namespace, predicates = record.text("DecoderNamespace"), record.references("Predicates")
        for target, names_of_target in decoded.items():
            names_of_target |= {
                (record.name, size)
                for size in subtargets.wave_sizes(target)
                if subtargets.decodes(target, size, namespace, predicates)
            }
    groups: dict[frozenset[tuple[str, int]], list[str]] = {}
    for target, names_of_target in decoded.items():
        groups.setdefault(frozenset(names_of_target), []).append(target)
    for names_of_group, targets in groups.items():
        relatives = [column for column in COLUMNS if family(column) == family(targets[0])]
        nearest = min(relatives, key=lambda column: len(names_of_group ^ decoded[column]))
        yield TargetGroup(
            column=next((column for column in COLUMNS if column in targets), None),
            targets=tuple(targets),
            nearest=nearest,
            missing_there=len({name for name, _ in names_of_group - decoded[nearest]}),
            extra_there=len({name for name, _ in decoded[nearest] - names_of_group}),
        )
