"""Registers of instructions as data: LLVM's names and ours as the same words.

A word is a role, a register and how many follow: `dv4*2` (v4 and v5 are written), `uv28.l` (the low half is read),
`tv4` (read because it is tied to a result), `Dscc`, `Uexec*2` (implicit). Registers that hold no data of a program
(`null`, apertures, counters) have none.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

import polars as pl

from tools.isa.judge_cases import fixed_bits

if TYPE_CHECKING:
    from tools.isa.judge_cases import Vector
    from wavewright import _core

_TUPLE = re.compile(r"(VGPR|AGPR|SGPR|TTMP)(\d+)")
_BANKS = {"VGPR": "v", "AGPR": "a", "SGPR": "s", "TTMP": "ttmp"}
_OTHERS = {
    "VCC": "vcc_lo*2",
    "VCC_LO": "vcc_lo",
    "VCC_HI": "vcc_hi",
    "EXEC": "exec_lo*2",
    "EXEC_LO": "exec_lo",
    "EXEC_HI": "exec_hi",
    "M0": "m0",
    "SCC": "scc",
    "MODE": "mode",
    "FLAT_SCR": "flat_scratch_lo*2",
    "FLAT_SCR_LO": "flat_scratch_lo",
    "FLAT_SCR_HI": "flat_scratch_hi",
    "XNACK_MASK": "xnack_mask_lo*2",
    "XNACK_MASK_LO": "xnack_mask_lo",
    "XNACK_MASK_HI": "xnack_mask_hi",
    "SRC_SCC": "scc",
    "SRC_VCCZ": "vcc_lo*2",
    "SRC_EXECZ": "exec_lo*2",
}
_NO_DATA = re.compile(r"SGPR_NULL|SRC_(?!SCC|VCCZ|EXECZ)|LDS_DIRECT|ASYNCcnt|TENSORcnt|LDS_DMA|TMA|TBA")
_GENERATION = re.compile(r"_(?:vi|ci|gfxpre11|gfx9plus|gfx11plus)$")
_SPECIAL = (
    *((106, "vcc_lo"), (107, "vcc_hi"), (124, "m0"), (126, "exec_lo"), (127, "exec_hi"), (128, "scc")),
    *((129, "flat_scratch_lo"), (130, "flat_scratch_hi"), (131, "xnack_mask_lo"), (132, "xnack_mask_hi")),
    (133, "mode"),
)
_NULL = 125


def word_of_llvm(word: str) -> str:
    """`d:VGPR4_VGPR5` -> `dv4*2`; "" where the register holds no data.

    Examples
    --------
    >>> [word_of_llvm(word) for word in ("d:VGPR4_VGPR5", "t:VGPR50_HI16", "U:EXEC", "U:LDS_DIRECT")]
    ['dv4*2', 'tv50.h', 'Uexec_lo*2', '']
    """
    role, name = word.split(":")
    name = _GENERATION.sub("", name)
    if _NO_DATA.match(name):
        return ""
    half = {"_LO16": ".l", "_HI16": ".h"}.get(name[-5:], "")
    parts = _TUPLE.findall(name)
    if not parts:
        return role + _OTHERS[name.removesuffix("_LO16").removesuffix("_HI16")]
    return f"{role}{_BANKS[parts[0][0]]}{parts[0][1]}{half}" + (f"*{len(parts)}" if len(parts) > 1 else "")


def words_of_llvm(operands: str) -> str:
    """The operands of an answer as words, sorted."""
    return " ".join(sorted(filter(None, map(word_of_llvm, operands.split()))))


def expected(vector: Vector) -> str:
    """Answer that the core must give: LLVM's operands, except where these are not what the instruction does."""
    words = vector.registers.split()
    if not vector.wave64:  # the records name masks of waves of 64
        masks = ("vcc_lo*2", "exec_lo*2")
        words = [word.removesuffix("*2") if word[0] in "DU" and word[1:] in masks else word for word in words]
    if vector.text.startswith(("exp ", "export ")):
        words = [word for word in words if word[0] != "u" or re.search(rf"\b{word[1:]}\b", vector.text)]
        words = sorted(set(words))
    if f"{vector.record}_gfx9" in _record_names():  # LLVM takes the record of gfx8, which needs m0
        words = [word for word in words if word != "Um0"]
    results = {word[1:] for word in words if word[0] == "d"}  # the old value of some is there twice
    words = [word for word in words if word[0] != "u" or word[1:] not in results or _is_shown_twice(word, vector.text)]
    return " ".join(sorted(words))


def comparable(words: str) -> str:
    """Words without what LLVM and the core say differently.

    LLVM counts a `vcc` as implicit that its text shows, and ties to the neighbour of a result or to half of it; so of
    tied registers only the number is compared.
    """
    every = (word[0].lower() + word[1:] if word[1:].startswith("vcc") else word for word in words.split())
    return " ".join(sorted("t" if word[0] == "t" else word for word in every))


@cache
def _record_names() -> frozenset[str]:
    return frozenset(record.name for record in fixed_bits())


def _is_shown_twice(word: str, text: str) -> bool:
    parts = re.fullmatch(r"u([a-z]+)(\d+)(\.[lh])?(?:\*(\d+))?", word)
    if parts is None:
        return True
    bank, number, half, count = parts.groups()
    register_text = f"{bank}[{number}:{int(number) + int(count) - 1}]" if count else f"{bank}{number}{half or ''}"
    return len(re.findall(rf"(?<!\w){re.escape(register_text)}(?![\w.])", text)) > 1


def _register_name(number: int) -> str:
    if number < 106:
        return f"s{number}"
    if 108 <= number < 124:
        return f"ttmp{number - 108}"
    if number >= 256:
        return f"v{number - 256}" if number < 1280 else f"a{number - 1280}"
    return dict(_SPECIAL)[number]


def words_of_core(disassembly: _core.Disassembly, rows: int) -> list[str]:
    """The operands of every row of a disassembly as words, sorted."""
    words: list[list[str]] = [[] for _ in range(rows)]
    for row, number, count, role in pl.DataFrame(disassembly.operands).iter_rows():
        if number == _NULL:
            continue
        name = _register_name(number) + {16: ".l", 32: ".h"}.get(role & 48, "") + (f"*{count}" if count > 1 else "")
        if role & 2:
            words[row].append(("D" if role & 4 else "d") + name)
        if role & 1:
            words[row].append(("U" if role & 4 else "t" if role & 8 else "u") + name)
    return [" ".join(sorted(row)) for row in words]
