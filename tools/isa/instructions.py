"""From TableGen's records of instructions to those that the disassembler's tables hold."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tools.isa.model import FieldPart, Operand, Record
from tools.isa.records import Dag, RecordError, TableRecord

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tools.isa.subtargets import Subtargets

_ENCODINGS = (
    *("SOP1", "SOP2", "SOPC", "SOPK", "SOPP", "VOP1", "VOP2", "VOPC", "VOP3", "VOP3P", "VINTRP", "SDWA", "DPP"),
    *("MUBUF", "MTBUF", "SMRD", "MIMG", "VIMAGE", "VSAMPLE", "EXP", "FLAT", "DS", "LDSDIR", "VINTERP", "VOPD3"),
)
_FLAGS = (
    *("VM_CNT", "EXP_CNT", "LGKM_CNT", "TENSOR_CNT", "ASYNC_CNT", "SALU", "VALU", "TRANS", "IsMAI", "IsWMMA"),
    *("IsSWMMAC", "IsDOT", "IsAtomicRet", "IsAtomicNoRet", "FlatGlobal", "FlatScratch", "ScalarStore", "D16Buf"),
    *("Gather4", "GWS", "IsPacked", "isBranch", "isTerminator", "isBarrier", "isCall", "isReturn"),
    *("isIndirectBranch", "mayLoad", "mayStore", "IsNeverUniform", "VOP3_OPSEL", "IsSingle", "FPClamp", "IntClamp"),
    *("ClampLo", "ClampHi", "WQM", "DisableWQM"),
)
_NOT_DECODED = ("isPseudo", "isCodeGenOnly", "isAsmParserOnly")
_FIELD_BIT = re.compile(r"(\w+)(?:\{(\d+)\})?$")
_MNEMONIC = re.compile(r"\s*([^\s$]+)(.*)", re.DOTALL)
#: `v_cmpx_o_f16{_e32}`: a part that only one of the syntax variants has; ours, the first, has it.
_VARIANT = re.compile(r"\{(\w+)\}(?!\w)")


def flag_bits(instruction_class: TableRecord) -> dict[str, int]:
    """Bits of the flags in `TSFlags`, from the record of the class InstSI.

    The flags must be read from TSFlags: a record can set a field of the same name after TSFlags was made of it.
    """
    parts = instruction_class.bits("TSFlags")
    return {name: at for at, name in enumerate(parts) if name not in ("0", "1", "?")}


def is_decoded(record: TableRecord) -> bool:
    """True if the record stands in a decoder table of the GCN targets."""
    if record.fields.get("Namespace") != '"AMDGPU"' or any(record.flag(name) for name in _NOT_DECODED):
        return False
    return bool(record.text("DecoderNamespace")) and "Inst" in record.fields


def convert(record: TableRecord, bits: dict[str, int], targets: Iterable[str], wave_size: int) -> Record:
    """The tables' record of an instruction; `bits` are those of `flag_bits`."""
    mask, value, layout = _encoding(record.bits("Inst"))
    mnemonic, template = _split_text(record)
    flags = record.bits("TSFlags")

    def has(name: str) -> bool:
        return flags[bits[name]] == "1" if name in bits else record.fields.get(name) == "1"

    return Record(
        decoder_namespace=record.text("DecoderNamespace"),
        name=record.name,
        size_bytes=record.number("Size"),
        mask=mask,
        value=value,
        mnemonic=mnemonic,
        template=template,
        outs=_operands(record, "OutOperandList"),
        ins=_operands(record, "InOperandList"),
        layout=layout,
        encoding=tuple(name for name in _ENCODINGS if has(name)),
        targets=tuple(targets),
        flags=tuple(name for name in _FLAGS if has(name)),
        implicit_uses=tuple(record.references("Uses")),
        implicit_defs=tuple(record.references("Defs")),
        constraints=record.text("Constraints"),
        wave_size=wave_size,
    )


def columns_of(record: TableRecord, columns: Iterable[str], subtargets: Subtargets) -> tuple[tuple[str, ...], int]:
    """The columns that decode a record, and the wave size that all of them need for it (0: none)."""
    namespace, predicates = record.text("DecoderNamespace"), record.references("Predicates")
    decoding = []
    needs: set[int] = set()
    for column in columns:
        possible = subtargets.wave_sizes(column)
        usable = tuple(size for size in possible if subtargets.decodes(column, size, namespace, predicates))
        if usable:
            decoding.append(column)
        if usable and len(possible) > 1:  # a column with one wave size has no code of the other
            needs.add(0 if usable == possible else usable[0])
    if len(needs) > 1:
        raise RecordError(f"record {record.name} needs different wave sizes on {', '.join(decoding)}")
    return tuple(decoding), next(iter(needs), 0)


def _encoding(parts: list[str]) -> tuple[int, int, tuple[tuple[str, tuple[FieldPart, ...]], ...]]:
    """Fixed bits, their values, and where the fields stand; an expression that TableGen left is a bit of no meaning."""
    mask = value = 0
    places: dict[str, list[tuple[int, int]]] = {}
    for at, part in enumerate(parts):
        if part in ("0", "1"):
            mask |= 1 << at
            value |= int(part) << at
        elif match := _FIELD_BIT.match(part):
            places.setdefault(match[1], []).append((int(match[2] or 0), at))
    layout = tuple((name, _runs(sorted(bits))) for name, bits in sorted(places.items()))
    return mask, value, layout


def _runs(bits: list[tuple[int, int]]) -> tuple[FieldPart, ...]:
    """Bits (number in the field, number in the word) as runs of neighbours."""
    runs: list[list[int]] = []  # lowest and highest bit of the field, lowest bit of the word
    for index, at in bits:
        if runs and runs[-1][1] + 1 == index and runs[-1][2] + (index - runs[-1][0]) == at:
            runs[-1][1] = index
        else:
            runs.append([index, index, at])
    return tuple(FieldPart(high=high, low=low, word_low=at) for low, high, at in runs)


def _split_text(record: TableRecord) -> tuple[str, str]:
    text = record.text("AsmString")
    if "${" not in text:
        text = _VARIANT.sub(r"\1", text)
    match = _MNEMONIC.match(text)
    return (match[1], match[2]) if match else (text, "")


def _operands(record: TableRecord, name: str) -> tuple[Operand, ...]:
    dag = record.dag(name)
    if dag is None:
        raise RecordError(f"record {record.name} has no {name}")
    operands = []
    for value, operand in dag.arguments:
        if isinstance(value, Dag):
            raise RecordError(f"{name} of record {record.name} has operands in operands")
        operands.append(Operand(operand, value))
    return tuple(operands)
