"""Names that LLVM prints, which stand in its C++ sources and in no record.

Names of registers, messages and formats are asked for: LLVM's disassembler prints every number (`llvm-mc`). Lists of
records that print in a way of their own are read from the sources.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from tools.isa.subtargets import COLUMNS, family

if TYPE_CHECKING:
    from pathlib import Path

    from tools.isa.model import Record

_PRINTER = "MCTargetDesc/AMDGPUInstPrinter.cpp"
_BASE_INFO = "Utils/AMDGPUBaseInfo.cpp"
_RECORD = re.compile(r"AMDGPU::(V_\w+)")
_REFUSAL = re.compile(r"^<stdin>:(\d+):\d+: warning: invalid instruction encoding", re.MULTILINE)
_HWREG = re.compile(r"hwreg\((HW_REG_\w+)")
_FORMAT = re.compile(r"format:\S+")
_EXPORT = re.compile(r"exp(?:ort)? (\w+)")
_VERSION = re.compile(r"UC_VERSION_\w+")
#: Names of sendmsg depend on these bits; the others are ignored where there is a name.
_MESSAGE_BITS = {"gfx9": 10, "gfx10": 10}
_MESSAGE_BITS_GFX11 = 8

Disassemble = Callable[[str, Sequence[bytes]], list[str]]


class SourceError(ValueError):
    """LLVM's sources have another form than this tool was written for."""


def disassemble(target: str, words: Sequence[bytes], program: str = "llvm-mc-22") -> list[str]:
    """LLVM's text of each instruction; empty where it refuses."""
    lines = "".join("[" + ",".join(f"0x{byte:02x}" for byte in word) + "]\n" for word in words)
    done = subprocess.run(
        [program, "-disassemble", "-triple=amdgcn-amd-amdhsa", f"-mcpu={target}"],
        input=lines,
        capture_output=True,
        text=True,
        check=True,
    )
    refused = {int(line) for line in _REFUSAL.findall(done.stderr)}
    texts = iter([" ".join(line.split()) for line in done.stdout.splitlines() if line.strip()])
    answers = ["" if line in refused else next(texts, "") for line in range(1, len(words) + 1)]
    if next(texts, None) is not None:
        raise SourceError(f"{program} printed more instructions for {target} than it was given")
    return answers


def names(records: Sequence[Record], sources: Path, dims: Mapping[int, str], ask: Disassemble) -> dict[str, object]:
    """All names, by what they name; the keys are those of `../shared/data/isa/names.json`."""
    formats_by_family = {family(target): _formats(records, target, ask) for target in COLUMNS}
    formats = {key: value for key, value in formats_by_family.items() if value}
    exports = {target: _exports(records, target, ask) for target in COLUMNS}
    all_exports: dict[str, str] = {}
    for by_number in exports.values():
        all_exports |= by_number
    return {
        "hwreg": _group({target: _hwregs(records, target, ask) for target in COLUMNS}),
        "sendmsg_imm16": _group({target: _messages(records, target, ask) for target in COLUMNS}),
        "tbuffer_format": {key: {n: text for n, text in value.items() if text} for key, value in formats.items()},
        "tbuffer_format_default": {key: [n for n, text in value.items() if not text] for key, value in formats.items()},
        "exp_target": all_exports,
        "exp_targets": _group(exports),
        "s_version": _versions(records, ask),
        "image_dim": {str(number): name for number, name in sorted(dims.items())},
        "records": _special_records(records, sources),
    }


def _find(records: Iterable[Record], target: str, mnemonics: Collection[str]) -> Record | None:
    return next((r for r in records if r.mnemonic in mnemonics and target in r.targets), None)


def _ask_field(
    record: Record, field: str, target: str, ask: Disassemble, numbers: Iterable[int], fixed: int = 0
) -> dict[str, str]:
    """Number in a field -> LLVM's text of the instruction that has it."""
    parts = dict(record.layout)[field]
    words = {}
    for number in numbers:
        word = record.value | fixed
        for part in parts:
            word |= ((number >> part.low) & ((1 << (part.high - part.low + 1)) - 1)) << part.word_low
        words[str(number)] = word.to_bytes(record.size_bytes, "little")
    return dict(zip(words, ask(target, list(words.values())), strict=True))


def _hwregs(records: Sequence[Record], target: str, ask: Disassemble) -> dict[str, str]:
    record = _find(records, target, {"s_getreg_b32"})
    if record is None:
        raise SourceError(f"{target} has no s_getreg_b32")
    texts = _ask_field(record, "simm16", target, ask, range(64), fixed=31 << 11)
    return {number: match[1] for number, text in texts.items() if (match := _HWREG.search(text))}


def _messages(records: Sequence[Record], target: str, ask: Disassemble) -> dict[str, str]:
    record = _find(records, target, {"s_sendmsg"})
    if record is None:
        raise SourceError(f"{target} has no s_sendmsg")
    bits = _MESSAGE_BITS.get(family(target), _MESSAGE_BITS_GFX11)
    texts = _ask_field(record, "simm16", target, ask, range(1 << bits))
    printed = {number: text.partition(" ")[2] for number, text in texts.items()}
    return {number: text for number, text in printed.items() if text.startswith("sendmsg(MSG_")}


def _formats(records: Sequence[Record], target: str, ask: Disassemble) -> dict[str, str]:
    record = _find(records, target, {"tbuffer_load_format_x"})
    if record is None:
        return {}
    bits = max(part.high for part in dict(record.layout)["format"]) + 1
    texts = _ask_field(record, "format", target, ask, range(1 << bits))
    matches = {number: _FORMAT.search(text) for number, text in texts.items() if text}
    return {n: match[0] if match else "" for n, match in matches.items() if not match or "[" in match[0]}


def _exports(records: Sequence[Record], target: str, ask: Disassemble) -> dict[str, str]:
    record = _find(records, target, {"exp", "export"})
    if record is None:
        return {}
    texts = _ask_field(record, "tgt", target, ask, range(64), fixed=1)
    targets = {number: match[1] for number, text in texts.items() if (match := _EXPORT.match(text))}
    return {number: name for number, name in targets.items() if not name.startswith("invalid")}


def _versions(records: Sequence[Record], ask: Disassemble) -> dict[str, str]:
    record = _find(records, "gfx1201", {"s_version"})
    if record is None:
        raise SourceError("gfx1201 has no s_version")
    texts = _ask_field(record, "simm16", "gfx1201", ask, range(256))
    return {number: match[0] for number, text in texts.items() if (match := _VERSION.search(text))}


def _group(by_target: Mapping[str, dict[str, str]]) -> list[dict[str, object]]:
    """Targets with the same names together."""
    groups: list[tuple[dict[str, str], list[str]]] = []
    for target, by_number in by_target.items():
        same = next((group for group in groups if group[0] == by_number), None)
        if same is None:
            groups.append((by_number, [target]))
        else:
            same[1].append(target)
    return [{"targets": targets, "names": by_number} for by_number, targets in groups if by_number]


def _special_records(records: Sequence[Record], sources: Path) -> dict[str, list[str]]:
    printer = (sources / _PRINTER).read_text(encoding="utf-8")
    info = (sources / _BASE_INFO).read_text(encoding="utf-8")
    with_modifiers = _between(printer, "::printOperandAndFPInputMods(", "::printDPP8(")
    return {
        "vcc_after_dst": _records_in(printer, "::printVOPDst(", "printDefaultVccOperand(false"),
        "vcc_after_src1": _records_in(
            printer, "// Print default vcc/vcc_lo operand of v_cndmask_b32_e32.", "getNamedOperandIdx("
        ),
        "vcc_after_src1_mods": _RECORD.findall(with_modifiers),
        "cvt_fp8": _records_in(info, "bool isCvt_F32_Fp8_Bf8_e64(", "}"),
        "permlane16": _records_in(info, "bool isPermlane16(", "}"),
        # isAsyncStore, isTensorStore: lists of pseudo instructions, whose records have these mnemonics
        "th_store": [r.name for r in records if r.mnemonic.startswith(("tensor_store", "global_store_async"))],
    }


def _records_in(source: str, start: str, end: str) -> list[str]:
    names = _RECORD.findall(_between(source, start, end))
    if not names:
        raise SourceError(f"no record is named between {start!r} and {end!r} in LLVM's sources")
    return names


def _between(source: str, start: str, end: str) -> str:
    first = source.find(start)
    last = source.find(end, first + len(start))
    if first < 0 or last < 0:
        raise SourceError(f"LLVM's sources have no {start!r} followed by {end!r}")
    return source[first:last]
