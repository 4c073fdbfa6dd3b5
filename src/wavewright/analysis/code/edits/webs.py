"""Renaming of vector registers in a block, so that only true dependences bind the order of its rows.

A web is a value that is born and dies in the block: all rows that write it, joined by the operands that read them
together. `webs` gives each web virtual registers of its own; `allocate` gives the webs registers of the hardware again
for a new order of the rows. A row is named by its place in the block, and a web by the place of one row that writes it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from wavewright.analysis.code.edits.code_rows import EXEC_BITS, VGPR_BITS, CodeRow, bits, numbers_in
from wavewright.codeobj.registers import FIRST_VECTOR

_FIRST_VIRTUAL: Final = 4096  #: Number of the first register that is none of the hardware's.
_REGISTERS_PER_WEB: Final = 2048  #: Virtual ones; the offset in them is the number of the register in the code.
_WORD: Final = re.compile(r"\bv(?:(\d{1,4})\b(?!\.)|\[(\d{1,4}):(\d{1,4})\])")


class _RegisterWord(NamedTuple):
    """A word of a text that names vector registers, such as v[4:7]."""

    start: int  #: Letters of the text.
    end: int
    first: int  #: Its first register, from v0.
    register_count: int

    @property
    def numbers(self) -> range:
        return range(FIRST_VECTOR + self.first, FIRST_VECTOR + self.first + self.register_count)


@dataclass(frozen=True)
class RenamedRow:
    """A row whose renamed values have virtual registers."""

    row: CodeRow  #: With virtual registers among what it reads and writes.
    read_webs: dict[int, int]  #: Register that it reads -> its web; registers that keep their values are absent.
    written_webs: dict[int, int]


@dataclass(frozen=True)
class Webs:
    """A block with virtual registers."""

    rows: list[RenamedRow]
    registers: dict[int, list[int]]  #: Web -> its registers in the code.
    live_out: int  #: Registers that are read behind the block, as bits.


def webs(rows: Sequence[CodeRow], live_out: int) -> Webs:
    """Rename all values of a block that can be; `rows` have no waits and no padding.

    A value keeps its registers where it lives into or out of the block, is an accumulator of a matrix instruction or
    merged into an old value, or where the text does not say which word stands for it. Where lanes are switched on and
    off inside the block, a write leaves the values of some lanes, so all registers are kept.
    """
    if any(row.writes & EXEC_BITS for row in rows):
        return Webs([RenamedRow(row, {}, {}) for row in rows], {}, live_out)
    definitions = _WebDefinitions(rows, live_out)
    renamed_rows: list[RenamedRow] = []
    registers: dict[int, set[int]] = {}
    for place, row in enumerate(rows):
        sources = definitions.sources[place].items()
        read_webs = {number: definitions.root(source) for number, source in sources if definitions.is_free(source)}
        written_numbers = numbers_in(row.writes & VGPR_BITS) if definitions.is_free(place) else ()
        written_webs = dict.fromkeys(written_numbers, definitions.root(place))
        for number, web in (*read_webs.items(), *written_webs.items()):
            registers.setdefault(web, set()).add(number)
        renamed_rows.append(RenamedRow(_with_virtual(row, read_webs, written_webs), read_webs, written_webs))
    return Webs(renamed_rows, {web: sorted(numbers) for web, numbers in registers.items()}, live_out)


def _with_virtual(row: CodeRow, read_webs: dict[int, int], written_webs: dict[int, int]) -> CodeRow:
    if not read_webs and not written_webs:
        return row
    return replace(
        row,
        reads=row.reads & ~bits(read_webs) | bits(_virtual(web, number) for number, web in read_webs.items()),
        writes=row.writes & ~bits(written_webs) | bits(_virtual(web, number) for number, web in written_webs.items()),
    )


def _virtual(web: int, register: int) -> int:
    return _FIRST_VIRTUAL + web * _REGISTERS_PER_WEB + register


def hardware_register(number: int) -> int:
    """The register of the code that a virtual one stands for; others as they are."""
    return number if number < _FIRST_VIRTUAL else (number - _FIRST_VIRTUAL) % _REGISTERS_PER_WEB


class _WebDefinitions:
    """The rows that write vector registers, in sets of those that are one web (union-find: `root` names the set)."""

    def __init__(self, rows: Sequence[CodeRow], live_out: int) -> None:
        self.sources: list[dict[int, int]] = []  #: By place: register that is read -> place of the row that wrote it.
        self._parents = list(range(len(rows)))
        self._writes_vectors = [bool(row.writes & VGPR_BITS) for row in rows]
        self._fixed: set[int] = set()  # places of rows whose values keep their registers
        last_writes: dict[int, int] = {}
        for place, row in enumerate(rows):
            self.sources.append(self._join_sources(place, row, last_writes))
            if row.writes & VGPR_BITS and not has_plain_destination(row):
                self._fixed.add(place)
            last_writes |= dict.fromkeys(numbers_in(row.writes & VGPR_BITS), place)
        self._fixed |= {place for number, place in last_writes.items() if live_out >> number & 1}
        self._fixed_roots = {self.root(place) for place in self._fixed}

    def _join_sources(self, place: int, row: CodeRow, last_writes: dict[int, int]) -> dict[int, int]:
        """Join the rows that wrote each operand of a row; register that it reads -> place of the row that wrote it."""
        sources: dict[int, int] = {}
        named_registers: set[int] = set()
        words = register_words(row.text)
        is_plain = has_plain_destination(row)
        for word in words[1:] if is_plain else words:
            if not row.reads & bits(word.numbers):
                continue  # a destination
            named_registers.update(word.numbers)
            writers = {number: last_writes[number] for number in word.numbers if number in last_writes}
            for writer in writers.values():
                self._parents[self.root(writer)] = self.root(next(iter(writers.values())))
            is_from_outside = len(writers) < word.register_count
            is_accumulator = row.is_matrix and word is words[-1]
            is_result_too = not is_plain and bool(row.writes & bits(word.numbers))  # the text has one word for both
            if is_from_outside or is_accumulator or is_result_too:
                self._fixed.update(writers.values())
            sources |= writers
        unnamed_registers = numbers_in(row.reads & VGPR_BITS & ~bits(named_registers))
        if unnamed_registers:  # its result is merged into the old value, or an operand is not in the text
            self._fixed.update([place, *(last_writes[number] for number in unnamed_registers if number in last_writes)])
        return sources

    def root(self, place: int) -> int:
        """The place that stands for all that are joined with one."""
        while self._parents[place] != place:
            self._parents[place] = self._parents[self._parents[place]]  # shortens the way for the next question
            place = self._parents[place]
        return place

    def is_free(self, place: int) -> bool:
        """True if the value that a row writes can be renamed."""
        return self._writes_vectors[place] and self.root(place) not in self._fixed_roots


def register_words(text: str) -> list[_RegisterWord]:
    """The words of a text that name vector registers."""
    words = []
    for match in _WORD.finditer(text):
        first = int(match[1] or match[2])
        count = int(match[3]) - first + 1 if match[3] else 1
        words.append(_RegisterWord(match.start(), match.end(), first, max(1, count)))
    return words


def has_plain_destination(row: CodeRow) -> bool:
    """True if the first word of the text stands for all that a row writes into vector registers, and is not read."""
    words = register_words(row.text)
    writes = row.writes & VGPR_BITS
    if not words or row.is_matrix or not writes or "v_swap" in row.text or row.text.startswith("v_dual"):
        return False
    return bits(words[0].numbers) == writes


@dataclass(frozen=True)
class Allocation:
    """A block with registers of the hardware again."""

    rows: list[CodeRow]
    highest: int  #: Vector registers in use: the highest number plus one.
    moved_values: int  #: Values that live in other registers than before.


def allocate(block: Webs, order: Sequence[int], vgpr_count: int, most: int) -> Allocation | None:
    """Give the webs registers for a new order of places; None where `most` registers are too few.

    Webs get their own registers where those are free, else registers of other webs, else new ones above `vgpr_count`,
    which the kernel uses. A register that the block does not name may live through it, so it is never occupied.
    """
    if list(order) == sorted(order):  # a web holds all of its registers all the time: as written they may overlap
        return Allocation([_placed(row, {}) for row in block.rows], vgpr_count, 0)
    lives: dict[int, _WebLife] = {}  # of the webs
    for time, place in enumerate(order):
        row = block.rows[place]
        for web in (*row.read_webs.values(), *row.written_webs.values()):
            lives[web] = _WebLife(lives.get(web, _WebLife(time, time)).start, time)
    registers = _RegisterFile(block, order, lives, vgpr_count, most)
    shifts: dict[int, int] = {}
    highest = vgpr_count
    for web in sorted(lives, key=lambda web: (lives[web], web)):
        shift = registers.free_shift(block.registers[web], lives[web])
        if shift is None:
            return None
        shifts[web] = shift
        for number in block.registers[web]:
            registers.lives.setdefault(number + shift, []).append(lives[web]._replace(shift=shift))
            highest = max(highest, number + shift - FIRST_VECTOR + 1)
    rows = [_placed(block.rows[place], shifts) for place in order]
    return Allocation(rows, highest, sum(shift != 0 for shift in shifts.values()))


class _WebLife(NamedTuple):
    """The times of a value in a new order: the first and the last row of the order that uses it.

    -1 = it comes from before the block; the number of rows = it is read behind the block.
    """

    start: int
    end: int
    shift: int = 0  #: By how many registers it was moved.


class _RegisterFile:
    """The vector registers that webs may get, with the lives of the values in them (`lives`)."""

    def __init__(
        self, block: Webs, order: Sequence[int], lives: dict[int, _WebLife], vgpr_count: int, most: int
    ) -> None:
        self._vgpr_count, self._most = vgpr_count, most
        self._registers_of_webs = {number for web in lives for number in block.registers[web]}
        self.lives = self._kept_lives([block.rows[place].row for place in order], block.live_out)

    def _kept_lives(self, rows: Sequence[CodeRow], live_out: int) -> dict[int, list[_WebLife]]:
        """Lives of the values that keep registers which webs have, too."""
        lives: dict[int, list[_WebLife]] = {}
        starts: dict[int, int] = dict.fromkeys(self._registers_of_webs, -1)
        ends: dict[int, int] = {}
        mask = bits(self._registers_of_webs)
        for time, row in enumerate(rows):
            for number in numbers_in(row.reads & mask):
                ends[number] = time
            for number in numbers_in(row.writes & mask & ~row.reads):
                if number in ends:
                    lives.setdefault(number, []).append(_WebLife(starts[number], ends[number]))
                starts[number], ends[number] = time, time
        for number, end in ends.items():
            last = len(rows) if live_out >> number & 1 else end
            lives.setdefault(number, []).append(_WebLife(starts[number], last))
        return lives

    def free_shift(self, registers: Sequence[int], life: _WebLife) -> int | None:
        """By how many registers a value moves to free ones; of several, the first stays even. None = there are none."""
        first, count = registers[0] - FIRST_VECTOR, registers[-1] - registers[0] + 1
        step = 1 if count == 1 else 2
        for base in (first, *range(first % step, max(0, self._most - count) + 1, step)):
            new_life = life._replace(shift=base - first)
            numbers = range(FIRST_VECTOR + base, FIRST_VECTOR + base + count)
            if base + count <= self._most and all(self._is_free(number, new_life) for number in numbers):
                return new_life.shift
        return None

    def _is_free(self, number: int, life: _WebLife) -> bool:
        if number - FIRST_VECTOR < self._vgpr_count and number not in self._registers_of_webs:
            return False
        for other in self.lives.get(number, ()):
            meets = other.end == life.start or other.start == life.end  # one row reads the one and writes the other
            is_as_before = meets and life.shift == other.shift == 0
            if not (other.end < life.start or other.start > life.end or is_as_before):
                return False
        return True


def _placed(renamed_row: RenamedRow, shifts: dict[int, int]) -> CodeRow:
    """A row with registers of the hardware in its text and in what it reads and writes."""
    row, read_webs, written_webs = renamed_row.row, renamed_row.read_webs, renamed_row.written_webs
    if not read_webs and not written_webs:
        return row
    pieces, end = [], 0
    has_destination = bool(written_webs) or has_plain_destination(row)  # it is the first word
    for place, word in enumerate(register_words(row.text)):
        word_webs = written_webs if place == 0 and has_destination else read_webs
        web = word_webs.get(word.numbers[0])
        first = word.first + (shifts.get(web, 0) if web is not None else 0)
        last = first + word.register_count - 1
        pieces += [row.text[end : word.start], f"v{first}" if word.register_count == 1 else f"v[{first}:{last}]"]
        end = word.end
    hardware_bits = (1 << _FIRST_VIRTUAL) - 1
    reads = row.reads & hardware_bits | bits(number + shifts.get(web, 0) for number, web in read_webs.items())
    writes = row.writes & hardware_bits | bits(number + shifts.get(web, 0) for number, web in written_webs.items())
    return replace(row, text="".join(pieces) + row.text[end:], reads=reads, writes=writes)
