"""Packs LLVM's records into small arrays of numbers (`Packed`), which `tools/isa/emit.py` writes as C++.

Everything is sorted or numbered by its contents, so that the result depends on the records alone and not on who read
them or in which order.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from tools.isa import kinds

if TYPE_CHECKING:
    from tools.isa.model import FieldPart, Isa, Record

T = TypeVar("T", bound=Hashable)

#: Where the value of an operand comes from, when it is no field (numbers below are fields).
TIED = 0x100
ZERO = 0x200
LITERAL = 0x201
ABSENT = 0x202


class Pool(Generic[T]):
    """Distinct values, numbered in the order in which they came."""

    def __init__(self, values: Iterable[T] = ()) -> None:
        self.values: list[T] = []
        self._numbers: dict[T, int] = {}
        for value in values:
            self.number(value)

    def number(self, value: T) -> int:
        """The number of a value, a new one if need be."""
        number = self._numbers.setdefault(value, len(self.values))
        if number == len(self.values):
            self.values.append(value)
        return number


@dataclass(frozen=True)
class PackedTemplate:
    """Text with an operand's position in place of its name, and its operands (name, kind)."""

    pieces: tuple[str | int, ...]
    operands: tuple[tuple[int, int], ...]
    out_count: int


@dataclass(frozen=True)
class PackedTraits:
    """Traits that records which behave alike have in common, as bits."""

    flags: int
    encoding: int
    uses: int
    defs: int


@dataclass(frozen=True)
class PackedForm:
    """A template and where its operands come from."""

    template: int
    sources: tuple[int, ...]


@dataclass(frozen=True)
class PackedRecord:
    """Numbers of the parts of a record."""

    name: str
    namespace: int
    size_bytes: int
    mask: int
    value: int
    mnemonic: int
    form: int
    traits: int
    columns: int


@dataclass(frozen=True)
class PackedImage:
    """Sizes of an image record; `variants` are bits: data dwords - 1 + 8 x place of the address dwords."""

    record: int
    encoding: str
    data_dwords: int
    address_dwords: int
    properties: tuple[int, ...]
    sizes: int


@dataclass
class Packed:
    """All arrays."""

    isa: Isa
    columns: list[str]
    namespaces: Pool[str]
    names: Pool[str]
    kinds: Pool[kinds.OperandKind]
    fields: Pool[tuple[FieldPart, ...]] = field(default_factory=Pool)
    masks: Pool[int] = field(default_factory=Pool)
    mnemonics: Pool[str] = field(default_factory=Pool)
    templates: Pool[PackedTemplate] = field(default_factory=Pool)
    forms: Pool[PackedForm] = field(default_factory=Pool)
    traits: Pool[PackedTraits] = field(default_factory=Pool)
    records: list[PackedRecord] = field(default_factory=list)
    images: list[PackedImage] = field(default_factory=list)
    image_sizes: Pool[tuple[tuple[int, int], ...]] = field(default_factory=Pool)


IMAGE_PROPERTIES = ("NumExtraArgs", "Gradients", "G16", "Coordinates", "LodOrClampOrMip", "BVH", "A16")


def pack(isa: Isa) -> Packed:
    """Packs all tables; raises ValueError for anything that the decoder would not know."""
    by_type = {operand.name: kinds.operand_kind(operand) for operand in isa.operand_types}
    records = sorted(isa.records, key=lambda record: (record.name, record.decoder_namespace, record.value))
    operands = [operand for record in records for operand in record.outs + record.ins]
    packed = Packed(
        isa=isa,
        columns=sorted(isa.features, key=_column_order),
        namespaces=Pool(sorted({record.decoder_namespace for record in records})),
        names=Pool(sorted({operand.name for operand in operands})),
        kinds=Pool(sorted({by_type[operand.type] for operand in operands})),
    )
    _check_table_order(packed)
    special = _special_records(isa)
    for record in records:
        packed.records.append(_pack_record(packed, record, by_type, special))
    _pack_images(packed)
    return packed


def _column_order(target: str) -> tuple[int, str]:
    return len(target), target


def _check_table_order(packed: Packed) -> None:
    tables = {name.split("+")[0] for order in kinds.TABLE_ORDER.values() for _, names in order for name in names}
    if unknown := set(packed.namespaces.values) - tables:
        raise ValueError(f"no family looks into the decoder tables {sorted(unknown)}")
    for name in sorted(tables):
        packed.namespaces.number(name)


def _special_records(isa: Isa) -> dict[str, frozenset[str]]:
    lists = cast("dict[str, list[str]]", isa.names["records"])
    if set(lists) != set(kinds.SPECIAL):
        raise ValueError(f"lists of special records: {sorted(lists)}, expected {sorted(kinds.SPECIAL)}")
    return {key: frozenset(value) for key, value in lists.items()}


def _pack_record(
    packed: Packed, record: Record, by_type: dict[str, kinds.OperandKind], special: dict[str, frozenset[str]]
) -> PackedRecord:
    if record.value & ~record.mask:
        raise ValueError(f"{record.name}: value bits outside of the mask")
    form = PackedForm(_pack_template(packed, record, by_type), _sources(packed, record, by_type))
    return PackedRecord(
        name=record.name,
        namespace=packed.namespaces.number(record.decoder_namespace),
        size_bytes=record.size_bytes,
        mask=packed.masks.number(record.mask),
        value=record.value,
        mnemonic=packed.mnemonics.number(record.mnemonic),
        form=packed.forms.number(form),
        traits=packed.traits.number(_traits(record, special)),
        columns=sum(1 << packed.columns.index(target) for target in record.targets),
    )


def _pack_template(packed: Packed, record: Record, by_type: dict[str, kinds.OperandKind]) -> int:
    operands = record.outs + record.ins
    names = [operand.name for operand in operands]
    pieces: list[str | int] = []
    for name, text in re.findall(r"\$\{?(\w+)\}?|([^$]+)", record.template):
        if text:
            pieces.append(text)
        elif name in names:
            pieces.append(names.index(name))
        else:
            raise ValueError(f"{record.name}: the text names {name}, which is no operand")
    for place, operand in enumerate(operands):
        has_source = by_type[operand.type].print in ("float_source", "integer_source")
        if has_source and names[place + 1 : place + 2] != [operand.name.removesuffix("_modifiers")]:
            raise ValueError(f"{record.name}: no source behind {operand.name}")
    packed_operands = tuple(
        (packed.names.number(operand.name), packed.kinds.number(by_type[operand.type])) for operand in operands
    )
    return packed.templates.number(PackedTemplate(tuple(pieces), packed_operands, len(record.outs)))


def _sources(packed: Packed, record: Record, by_type: dict[str, kinds.OperandKind]) -> tuple[int, ...]:
    fields = dict(record.layout)
    names = [operand.name for operand in record.outs + record.ins]
    ties = re.findall(r"\$(\w+) = \$(\w+)", record.constraints)
    tied = {second: first for first, second in ties} | dict(ties)
    sources = []
    for operand in record.outs + record.ins:
        other = tied.get(operand.name)
        if operand.name in fields:
            sources.append(packed.fields.number(fields[operand.name]))
        elif other in fields and other in names:
            sources.append(TIED + names.index(other))
        elif operand.name == "immX":
            sources.append(LITERAL)
        elif operand.name.endswith("modifiers") or not by_type[operand.type].is_register:
            sources.append(ZERO)
        else:
            sources.append(ABSENT)
    return tuple(sources)


def _traits(record: Record, special: dict[str, frozenset[str]]) -> PackedTraits:
    words = {_known(kinds.FLAGS, flag, record.name) for flag in record.flags}
    words |= {key for key, names in special.items() if record.name in names}
    words |= {bit for pattern, bit in kinds.NAME_PATTERNS.items() if re.search(pattern, record.name.upper())}
    if record.wave_size:
        words.add(kinds.WAVE_SIZES[record.wave_size])
    return PackedTraits(
        flags=_bits(kinds.FLAG_BITS, words),
        encoding=_bits(kinds.ENCODINGS, set(record.encoding)),
        uses=_implicit(record.implicit_uses, record.name),
        defs=_implicit(record.implicit_defs, record.name),
    )


def _implicit(registers: tuple[str, ...], where: str) -> int:
    order = [bit for bit in kinds.IMPLICIT.values() if bit]
    return _bits(order, {_known(kinds.IMPLICIT, register, where) for register in registers})


def _known(words: dict[str, str | None], word: str, where: str) -> str | None:
    if word not in words:
        raise ValueError(f"{where}: unknown word {word}")
    return words[word]


def _bits(order: Iterable[str], words: set[str | None] | set[str]) -> int:
    order = list(order)
    return sum(1 << order.index(word) for word in words if word is not None)


def _pack_images(packed: Packed) -> None:
    numbers = {record.name: number for number, record in enumerate(packed.records)}
    for image in sorted(packed.isa.image_records, key=lambda image: numbers[image.name]):
        base = packed.isa.image_bases[image.base]
        packed.images.append(
            PackedImage(
                record=numbers[image.name],
                encoding=image.encoding,
                data_dwords=image.data_dwords,
                address_dwords=image.address_dwords,
                properties=tuple(base[key] for key in IMAGE_PROPERTIES),
                sizes=packed.image_sizes.number(packed.isa.image_sizes.get((image.base, image.encoding), ())),
            )
        )
