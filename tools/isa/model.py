"""Model of LLVM's AMDGPU records for the disassembler, between whoever reads them and whoever packs them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FieldPart:
    """Bits [high:low] of a field, which stand in the instruction word from bit `word_low` on."""

    high: int
    low: int
    word_low: int


@dataclass(frozen=True)
class Operand:
    """A named operand and its type (`OperandType.name`)."""

    name: str
    type: str


@dataclass(frozen=True)
class Record:
    """One encoded form of an instruction (`V_ADD_F32_e64_gfx11`)."""

    decoder_namespace: str
    name: str
    size_bytes: int
    #: Fixed bits of the little-endian instruction word.
    mask: int
    value: int
    mnemonic: str
    #: Assembly text behind the mnemonic, with `$operand` in it.
    template: str
    outs: tuple[Operand, ...]
    ins: tuple[Operand, ...]
    #: Field of the word -> its parts. A field has the name of the operand that it encodes.
    layout: tuple[tuple[str, tuple[FieldPart, ...]], ...]
    encoding: tuple[str, ...]
    targets: tuple[str, ...]
    flags: tuple[str, ...]
    implicit_uses: tuple[str, ...]
    implicit_defs: tuple[str, ...]
    #: TableGen's constraints: `$vdst = $src2`.
    constraints: str
    #: 32 or 64: the record is there in code of this wave size only; 0: in both.
    wave_size: int = 0


@dataclass(frozen=True)
class OperandType:
    """An operand class: how it is decoded and printed."""

    name: str
    kind: str
    register_class: str
    value_type: str
    print_method: str
    decoder_method: str
    operand_type: str


@dataclass(frozen=True)
class TargetGroup:
    """Targets with the same decodable records; `nearest` is the column that serves them."""

    column: str | None
    targets: tuple[str, ...]
    nearest: str
    missing_there: int
    extra_there: int


@dataclass(frozen=True)
class ImageRecord:
    """Sizes of an image instruction's record."""

    name: str
    base: str
    encoding: str
    data_dwords: int
    address_dwords: int


@dataclass(frozen=True)
class Isa:
    """All tables."""

    llvm_version: str
    records: tuple[Record, ...]
    operand_types: tuple[OperandType, ...]
    #: Column -> LLVM's features.
    features: dict[str, tuple[str, ...]]
    target_groups: tuple[TargetGroup, ...]
    #: Names that instructions print: the keys of names.json (hwreg, sendmsg_imm16, exp_target, ...).
    names: dict[str, object]
    image_records: tuple[ImageRecord, ...]
    #: Base opcode -> its properties.
    image_bases: dict[str, dict[str, int]]
    #: (base, encoding) -> (data dwords, address dwords) that exist.
    image_sizes: dict[tuple[str, str], tuple[tuple[int, int], ...]]
    #: Encoding of a dimension -> (name, coordinates, gradients, array).
    image_dims: dict[int, tuple[str, int, int, int]]
