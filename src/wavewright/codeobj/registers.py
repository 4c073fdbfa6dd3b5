"""Registers of instructions: their numbers in the core, and their names as LLVM spells them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

import polars as pl

# cpp/include/wavewright/isa.hpp: Role and Register.
READS, WRITES, IMPLICIT, TIED, LOW_HALF, HIGH_HALF = (1 << bit for bit in range(6))  #: Bits of a role.
SGPR_COUNT: Final = 106
VCC, M0, NULL, EXEC, SCC, MODE = 106, 124, 125, 126, 128, 133
FIRST_VECTOR: Final = 256  #: v0; registers from here on have a value for each lane.
FIRST_AGPR, END_OF_AGPRS = 1280, 1536

#: Files of numbered registers: first number, first behind the last, name.
_FILES: Final = (
    (0, SGPR_COUNT, "s"), (108, 124, "ttmp"), (FIRST_VECTOR, FIRST_AGPR, "v"), (FIRST_AGPR, END_OF_AGPRS, "a"),
)  # fmt: skip
#: Number of the low half -> name: pairs of registers with a name of their own.
_PAIRS: Final = {VCC: "vcc", EXEC: "exec", 129: "flat_scratch", 131: "xnack_mask"}
_SINGLES: Final = {M0: "m0", NULL: "null", SCC: "scc", MODE: "mode"}
_SPELLED: Final = re.compile(r"(ttmp|[vsa])(?:(\d{1,4})(?:\.[lh])?|\[(\d{1,4}):(\d{1,4})\])")


class Uses(NamedTuple):
    """Registers that an instruction writes and reads, named or not, as numbers of the core; and its class."""

    writes: frozenset[int]
    reads: frozenset[int]
    class_name: str


class RowUses:
    """The registers and the class of each row of a code table; rows of which nothing is known have none."""

    def __init__(self, code: pl.DataFrame) -> None:
        self._writes, self._reads = (
            code.select(pl.concat_str(name, f"implicit_{name}", separator=" ", ignore_nulls=True)).to_series().to_list()
            for name in ("writes", "reads")
        )
        self._classes = code["class"].fill_null("").to_list()

    def __getitem__(self, row: int) -> Uses:
        return Uses(registers(self._writes[row]), registers(self._reads[row]), self._classes[row])


@lru_cache(maxsize=1 << 12)
def registers(text: str) -> frozenset[int]:
    """The registers of a text of the code table, one number for each dword of them.

    >>> sorted(registers("v[1:2] vcc_hi s7 v9.l")) == [7, 107, 257, 258, 265]
    True
    """
    numbers: set[int] = set()
    for word in text.split():
        numbers.update(numbers_of(word))
    return frozenset(numbers)


def numbers_of(word: str) -> range:
    """The registers of one word of the code table, one number for each dword of them; none where it names none.

    >>> numbers_of("v[4:7]"), numbers_of("vcc_hi"), numbers_of("off")
    (range(260, 264), range(107, 108), range(0, 0))
    """
    match = _SPELLED.fullmatch(word)
    if match:
        start, end = next((start, end) for start, end, name in _FILES if name == match[1])
        first = start + int(match[2] or match[3])
        return range(first, min(start + int(match[4]) + 1 if match[4] else first + 1, end))
    for number, name in _PAIRS.items():
        halves = {name: (0, 2), f"{name}_lo": (0, 1), f"{name}_hi": (1, 2)}
        if word in halves:
            return range(number + halves[word][0], number + halves[word][1])
    return next((range(number, number + 1) for number, name in _SINGLES.items() if name == word), range(0))


def spelled(register: int, count: int, role: int = 0) -> str:
    """A register as LLVM writes it.

    >>> spelled(256 + 4, 4), spelled(VCC, 2), spelled(EXEC, 1), spelled(256 + 7, 1, 32)
    ('v[4:7]', 'vcc', 'exec_lo', 'v7.h')
    """
    for start, end, name in _FILES:
        if start <= register < end:
            first = register - start
            half = ".l" if role & LOW_HALF else ".h" if role & HIGH_HALF else ""
            return f"{name}{first}{half}" if count == 1 else f"{name}[{first}:{first + count - 1}]"
    if register in _SINGLES:
        return _SINGLES[register]
    low = register if register in _PAIRS else register - 1
    return _PAIRS[low] if count > 1 else f"{_PAIRS[low]}_{'lo' if register == low else 'hi'}"
