"""Values that are born and die in a block: only true dependences bind them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from wavewright.analysis.code.edits.code_rows import EXEC_BITS, VGPR_BITS, CodeRow, bits, numbers_in
from wavewright.codeobj.registers import FIRST_VECTOR

FIRST_VIRTUAL: Final = 4096  #: Number of the first register that is none of the hardware's.
_ROOM: Final = 2048  #: Virtual registers of a value; the offset in them is the number of its register in the code.
_TOKEN: Final = re.compile(r"\bv(?:(\d{1,4})\b(?!\.)|\[(\d{1,4}):(\d{1,4})\])")


@dataclass(frozen=True)
class _WebToken:
    """A vector register of a text."""

    begin: int
    end: int
    first: int
    count: int

    @property
    def numbers(self) -> range:
        return range(FIRST_VECTOR + self.first, FIRST_VECTOR + self.first + self.count)


@dataclass(frozen=True)
class RenamedRow:
    """A row whose renamed values have virtual registers."""

    row: CodeRow  #: With virtual registers among what it reads and writes.
    read_webs: dict[int, int]  #: Register that it reads -> its value.
    written_webs: dict[int, int]


@dataclass(frozen=True)
class Webs:
    """A block with virtual registers; place of a row in `rows` -> which values it uses."""

    rows: list[RenamedRow]
    registers: dict[int, list[int]]  #: Value -> its registers in the code.
    live_out: int  #: Registers that are read behind the block, as bits.


def webs(rows: Sequence[CodeRow], live_out: int) -> Webs:
    """Rename all values of a block that can be; `rows` have no waits and no padding.

    A value is kept where it lives into or out of the block, is an accumulator of a matrix instruction or merged into
    an old value, or where the text does not say which word stands for it. Where lanes are switched on and off inside
    the block, a write leaves the values of some lanes, so all registers are kept.
    """
    if any(row.writes & EXEC_BITS for row in rows):
        return Webs([RenamedRow(row, {}, {}) for row in rows], {}, live_out)
    definitions = _WebDefinitions(rows, live_out)
    renamed_rows: list[RenamedRow] = []
    registers: dict[int, set[int]] = {}
    for at, row in enumerate(rows):
        sources = definitions.sources[at].items()
        reads = {number: definitions.root(source) for number, source in sources if definitions.is_free(source)}
        written = numbers_in(row.writes & VGPR_BITS) if definitions.is_free(at) else ()
        writes = dict.fromkeys(written, definitions.root(at))
        for number, web in (*reads.items(), *writes.items()):
            registers.setdefault(web, set()).add(number)
        renamed_rows.append(RenamedRow(_virtual(row, reads, writes), reads, writes))
    return Webs(renamed_rows, {web: sorted(numbers) for web, numbers in registers.items()}, live_out)


def _virtual(row: CodeRow, reads: dict[int, int], writes: dict[int, int]) -> CodeRow:
    if not reads and not writes:
        return row
    return replace(
        row,
        reads=row.reads & ~bits(reads) | bits(_number(web, number) for number, web in reads.items()),
        writes=row.writes & ~bits(writes) | bits(_number(web, number) for number, web in writes.items()),
    )


def _number(web: int, register: int) -> int:
    return FIRST_VIRTUAL + web * _ROOM + register


class _WebDefinitions:
    """Definitions of vector registers joined by the operands that read them together; a definition is a place."""

    def __init__(self, rows: Sequence[CodeRow], live_out: int) -> None:
        self._parents = list(range(len(rows)))
        self._fixed: set[int] = set()
        self._writers = [bool(row.writes & VGPR_BITS) for row in rows]
        self.sources: list[dict[int, int]] = []  #: By place: register that is read -> place that wrote it.
        self._tokens = [tokens_of(row.text) for row in rows]
        last: dict[int, int] = {}
        for at, row in enumerate(rows):
            self._read(at, row, last)
            if row.writes & VGPR_BITS and not has_plain_destination(row):
                self._fixed.add(at)
            for number in numbers_in(row.writes & VGPR_BITS):
                last[number] = at
        for number, at in last.items():
            if live_out >> number & 1:
                self._fixed.add(at)
        self._roots = {self.root(at) for at in self._fixed}

    def _read(self, at: int, row: CodeRow, last: dict[int, int]) -> None:
        sources: dict[int, int] = {}
        tokens = self._tokens[at]
        explicit: set[int] = set()
        is_plain = has_plain_destination(row)
        for place, token in enumerate(tokens):
            if (place == 0 and is_plain) or not row.reads & bits(token.numbers):
                continue
            explicit.update(token.numbers)
            places = [last.get(number) for number in token.numbers]
            places_known = [each for each in places if each is not None]
            for other in places_known[1:]:
                self._join(places_known[0], other)
            if len(places_known) != len(places) or (row.is_matrix and place == len(tokens) - 1):
                self._fixed.update(places_known)  # partly from outside of the block, or an accumulator
            if not is_plain and row.writes & bits(token.numbers):
                self._fixed.update(places_known)  # the text names the result by the same word
            both = zip(token.numbers, places, strict=True)
            sources.update({number: each for number, each in both if each is not None})
        for number in numbers_in(row.reads & VGPR_BITS):
            if number not in explicit:  # merged into the old value, or not in the text
                self._fixed.add(at)
                self._fixed.update([last[number]] if number in last else [])
        self.sources.append(sources)

    def _join(self, first: int, other: int) -> None:
        self._parents[self.root(other)] = self.root(first)

    def root(self, at: int) -> int:
        """The definition that stands for all that are joined with one."""
        while self._parents[at] != at:
            self._parents[at] = self._parents[self._parents[at]]
            at = self._parents[at]
        return at

    def is_free(self, at: int) -> bool:
        """True if a value can be renamed."""
        return self._writers[at] and self.root(at) not in self._roots


def tokens_of(text: str) -> list[_WebToken]:
    """Vector registers of a text."""
    tokens = []
    for match in _TOKEN.finditer(text):
        first = int(match[1] or match[2])
        count = int(match[3]) - first + 1 if match[3] else 1
        tokens.append(_WebToken(match.start(), match.end(), first, max(1, count)))
    return tokens


def has_plain_destination(row: CodeRow) -> bool:
    """True if the first word of the text stands for all that a row writes into vector registers, and is not read."""
    tokens = tokens_of(row.text)
    writes = row.writes & VGPR_BITS
    if not tokens or row.is_matrix or not writes or "v_swap" in row.text or row.text.startswith("v_dual"):
        return False
    return bits(tokens[0].numbers) == writes


@dataclass(frozen=True)
class Allocation:
    """A block with registers of the hardware again."""

    rows: list[CodeRow]
    highest: int  #: Vector registers in use: the highest number plus one.
    moved_values: int  #: Values that live in other registers than before.


def allocate(block: Webs, order: Sequence[int], vgpr_count: int, most: int) -> Allocation | None:
    """Give the values registers in a new order; None where `most` are too few.

    Values get their own registers where those are free, else registers of other renamed values, else new ones above
    `vgpr_count`. A register that the block does not name may live through it, so it is never occupied.
    """
    if list(order) == sorted(order):  # values that are joined hold all of their registers: as written they may overlap
        return Allocation([_placed(row, {}) for row in block.rows], vgpr_count, 0)
    spans: dict[int, tuple[int, int]] = {}
    for place, at in enumerate(order):
        row = block.rows[at]
        for web in (*row.read_webs.values(), *row.written_webs.values()):
            first, last = spans.get(web, (place, place))
            spans[web] = (min(first, place), max(last, place))
    value_registers = {number for web in spans for number in block.registers[web]}
    spans_taken = _kept_spans([block.rows[at].row for at in order], value_registers, block.live_out)
    shifts: dict[int, int] = {}
    highest = vgpr_count
    for web in sorted(spans, key=lambda each: (spans[each], each)):
        shift = _free_shift(block.registers[web], spans[web], value_registers, spans_taken, vgpr_count, most)
        if shift is None:
            return None
        shifts[web] = shift
        for number in block.registers[web]:
            spans_taken.setdefault(number + shift, []).append((*spans[web], shift))
            highest = max(highest, number + shift - FIRST_VECTOR + 1)
    rows = [_placed(block.rows[at], shifts) for at in order]
    return Allocation(rows, highest, sum(shift != 0 for shift in shifts.values()))


def _kept_spans(
    rows: Sequence[CodeRow], value_registers: set[int], live_out: int
) -> dict[int, list[tuple[int, int, int]]]:
    """Places at which registers of renamed values hold values that stay: first, last, 0."""
    spans: dict[int, list[tuple[int, int, int]]] = {}
    begins: dict[int, int] = dict.fromkeys(value_registers, -1)
    ends: dict[int, int] = {}
    mask = bits(value_registers)
    for place, row in enumerate(rows):
        for number in numbers_in(row.reads & mask):
            ends[number] = place
        for number in numbers_in(row.writes & mask & ~row.reads):
            if number in ends:
                spans.setdefault(number, []).append((begins[number], ends[number], 0))
            begins[number], ends[number] = place, place
    for number, end in ends.items():
        last = len(rows) if live_out >> number & 1 else end
        spans.setdefault(number, []).append((begins[number], last, 0))
    return spans


def _free_shift(
    registers: Sequence[int],
    span: tuple[int, int],
    value_registers: set[int],
    spans_taken: dict[int, list[tuple[int, int, int]]],
    vgpr_count: int,
    most: int,
) -> int | None:
    """Distance that the registers of a value move; its pairs stay at even registers."""
    first, count = registers[0] - FIRST_VECTOR, registers[-1] - registers[0] + 1

    def is_free(number: int, shift: int) -> bool:
        if number - FIRST_VECTOR < vgpr_count and number not in value_registers:
            return False
        for begin, end, other_shift in spans_taken.get(number, ()):
            meets = end == span[0] or begin == span[1]  # one instruction reads the one and writes the other
            is_as_before = meets and shift == other_shift == 0
            if not (end < span[0] or begin > span[1] or is_as_before):
                return False
        return True

    step = 1 if count == 1 else 2
    candidates: list[int] = [first, *range(first % step, max(0, most - count) + 1, step)]
    for base in candidates:
        if base + count <= most and all(is_free(FIRST_VECTOR + base + at, base - first) for at in range(count)):
            return base - first
    return None


def _placed(renamed_row: RenamedRow, shifts: dict[int, int]) -> CodeRow:
    """A row with registers of the hardware in its text and in what it reads and writes."""
    row, read_webs, written_webs = renamed_row.row, renamed_row.read_webs, renamed_row.written_webs
    if not read_webs and not written_webs:
        return row
    pieces, at = [], 0
    is_plain = bool(written_webs) or has_plain_destination(row)  # the first word is a destination
    for place, token in enumerate(tokens_of(row.text)):
        token_webs = written_webs if place == 0 and is_plain else read_webs
        shift = shifts.get(token_webs.get(token.numbers[0], -1), 0)
        first, last = token.first + shift, token.first + token.count - 1 + shift
        pieces += [row.text[at : token.begin], f"v{first}" if token.count == 1 else f"v[{first}:{last}]"]
        at = token.end
    real = (1 << FIRST_VIRTUAL) - 1
    reads = row.reads & real | bits(number + shifts.get(web, 0) for number, web in read_webs.items())
    writes = row.writes & real | bits(number + shifts.get(web, 0) for number, web in written_webs.items())
    return replace(row, text="".join(pieces) + row.text[at:], reads=reads, writes=writes)
