"""Line-number programs (DWARF 5, section 6.2): bytes -> rows of (address, file, line) in arrays."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from wavewright.codeobj.dwarf.forms import (
    DW_FORM_LINE_STRP,
    DW_FORM_STRP,
    Budget,
    DwarfError,
    FormContext,
    read_form,
    sleb,
    uleb,
)
from wavewright.codeobj.elf import string_at

NO_LINE = 0xFFFF_FFFF  # file number of a row that ends a sequence: no code from its address on
MAX_ROWS = 4_000_000  # of all programs together: 64 MB of arrays
_MAX_TABLE_VALUES = 1 << 20
_MAX_NAME_BYTES = 1 << 26  # of all file names together; one name may stand behind a 4-byte reference
PATH_BYTES = 4096  #: Of a name of a file or function.
_MASK64 = (1 << 64) - 1
_LNCT_PATH, _LNCT_DIRECTORY = 1, 2
_LNS_COPY, _LNS_ADVANCE_PC, _LNS_ADVANCE_LINE, _LNS_SET_FILE = 1, 2, 3, 4
_LNS_CONST_ADD_PC, _LNS_FIXED_ADVANCE_PC = 8, 9
_LNE_END_SEQUENCE, _LNE_SET_ADDRESS = 1, 2


@dataclass
class LineRows:
    """Rows of sequences, one after the other; `file` counts in the program's own list, NO_LINE ends a sequence."""

    address: array[int] = field(default_factory=lambda: array("Q"))
    file: array[int] = field(default_factory=lambda: array("I"))
    line: array[int] = field(default_factory=lambda: array("I"))


@dataclass
class LineProgram:
    """One program: where it starts in `.debug_line`, its files as (directory, name), and its code."""

    offset: int
    version: int
    directories: list[str]
    files: list[tuple[int, str]]
    code_start: int
    code_end: int
    minimum_instruction_bytes: int
    line_base: int
    line_range: int
    opcode_lengths: bytes  # operands of each standard opcode, from opcode 1 on


class _Reader:
    """Reads the headers of all programs of one object, within common budgets."""

    def __init__(self, sections: Mapping[str, bytes]) -> None:
        self.sections = sections
        self.data = sections.get(".debug_line", b"")
        self.values = Budget(_MAX_TABLE_VALUES, "entries in file tables")
        self.name_bytes = Budget(_MAX_NAME_BYTES, "bytes of file names")

    def header(self, start: int) -> LineProgram:
        """The header at an offset; its `code_end` is where the next one starts."""
        data = self.data
        length, at, offset_size = initial_length(data, start)
        end = min(at + length, len(data))
        version = int.from_bytes(data[at : at + 2], "little")
        at += 2
        if not 2 <= version <= 5:
            raise DwarfError(f"version {version} is not known")
        address_size = 8
        if version >= 5:
            address_size = data[at]
            at += 2  # address size and segment selector size
        header_length = int.from_bytes(data[at : at + offset_size], "little")
        at += offset_size
        code_start = min(at + header_length, end)
        unit = data[at]
        at += 2 if version >= 4 else 1  # maximum operations per instruction: always 1 here
        line_base = int.from_bytes(data[at + 1 : at + 2], "little", signed=True)
        line_range, opcode_base = data[at + 2], data[at + 3]
        if line_range == 0 or opcode_base == 0:
            raise DwarfError("a line range or opcode base of zero")
        lengths = data[at + 4 : at + 3 + opcode_base]
        at += 3 + opcode_base
        if version >= 5:
            context = FormContext(offset_size, address_size, version)
            entries, at = self._table_v5(at, context)
            directories, files = [name for _, name in entries], self._table_v5(at, context)[0]
        else:
            directories, files = self._tables_v2(at, code_start)
        return LineProgram(start, version, directories, files, code_start, end, unit, line_base, line_range, lengths)

    def _tables_v2(self, at: int, end: int) -> tuple[list[str], list[tuple[int, str]]]:
        """Directory 0 is the unit's, file 0 does not exist: both lists start with an empty entry."""
        data = self.data
        directories, files = [""], [(0, "")]
        while at < end and data[at]:
            stop = data.index(b"\0", at, end)
            directories.append(_text(data[at:stop]))
            at = stop + 1
        at += 1
        while at < end and data[at]:
            stop = data.index(b"\0", at, end)
            directory, behind = uleb(data, stop + 1)
            files.append((directory, _text(data[at:stop])))
            at = uleb(data, uleb(data, behind)[1])[1]  # modification time and length
        return directories, files

    def _table_v5(self, at: int, context: FormContext) -> tuple[list[tuple[int, str]], int]:
        data = self.data
        formats = []
        count, at = data[at], at + 1
        for _ in range(count):
            content, at = uleb(data, at)
            form, at = uleb(data, at)
            formats.append((content, form))
        count, at = uleb(data, at)
        entries: list[tuple[int, str]] = []
        for _ in range(count if formats else 0):
            directory, name = 0, ""
            self.values.spend(len(formats))
            for content, form in formats:
                value, at = read_form(data, at, form, context)
                if content == _LNCT_PATH:
                    name = self._name(value, form)
                elif content == _LNCT_DIRECTORY and isinstance(value, int):
                    directory = value
            entries.append((directory, name))
        return entries, at

    def _name(self, value: int | bytes, form: int) -> str:
        if isinstance(value, int):
            table = {DW_FORM_LINE_STRP: ".debug_line_str", DW_FORM_STRP: ".debug_str"}.get(form, "")
            name = string_at(self.sections.get(table, b""), value, PATH_BYTES)
        else:
            name = _text(value)
        self.name_bytes.spend(len(name))
        return name


def run_line_programs(sections: Mapping[str, bytes]) -> Iterator[tuple[LineProgram, LineRows, str]]:
    """Every program of `.debug_line` with its rows, and a sentence where it had to stop early."""
    reader = _Reader(sections)
    at, rows_left = 0, MAX_ROWS
    while at + 4 <= len(reader.data) and rows_left > 0:
        try:
            program = reader.header(at)
        except (DwarfError, IndexError, ValueError) as error:
            nothing = LineProgram(at, 0, [], [], at, at, 1, 0, 1, b"")
            yield nothing, LineRows(), f"line program at {at:#x}: {_reason(error)}"
            return
        rows = LineRows()
        problem = ""
        try:
            _run(reader.data, program, rows, rows_left)
        except (DwarfError, IndexError) as error:
            problem = f"line program at {at:#x}: {_reason(error)}"
        rows_left -= len(rows.address)
        yield program, rows, problem if rows_left > 0 else f"more than {MAX_ROWS:,} line rows"
        at = program.code_end


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, DwarfError) else "it ends too early"


def initial_length(data: bytes, at: int) -> tuple[int, int, int]:
    """Length of a unit, the start of the rest of it, and the bytes of its offsets: of 32- and 64-bit DWARF."""
    length = int.from_bytes(data[at : at + 4], "little")
    if length == 0xFFFF_FFFF:
        return int.from_bytes(data[at + 4 : at + 12], "little"), at + 12, 8
    return length, at + 4, 4


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _run(data: bytes, program: LineProgram, rows: LineRows, limit: int) -> None:
    """Run a program. One loop without calls for the frequent opcodes: this is where the time goes."""
    at, end = program.code_start, program.code_end
    opcode_base = len(program.opcode_lengths) + 1
    line_base, line_range = program.line_base, program.line_range
    unit = program.minimum_instruction_bytes
    const_add = (255 - opcode_base) // line_range * unit
    add_address, add_file, add_line = rows.address.append, rows.file.append, rows.line.append
    address, file, line = 0, 1, 1
    while at < end and len(rows.address) < limit:
        opcode = data[at]
        at += 1
        if opcode >= opcode_base:
            special_opcode = opcode - opcode_base
            address += special_opcode // line_range * unit
            line += line_base + special_opcode % line_range
            add_address(address & _MASK64)
            add_file(file)
            add_line(line & 0xFFFF_FFFF)
        elif opcode == 0:
            length, at = uleb(data, at)
            if length and at < end and data[at] == _LNE_SET_ADDRESS:
                address = int.from_bytes(data[at + 1 : at + min(length, 9)], "little")
            elif length and at < end and data[at] == _LNE_END_SEQUENCE:
                add_address(address & _MASK64)
                add_file(NO_LINE)
                add_line(0)
                address, file, line = 0, 1, 1
            at += length
        elif opcode == _LNS_COPY:
            add_address(address & _MASK64)
            add_file(file)
            add_line(line & 0xFFFF_FFFF)
        elif opcode == _LNS_ADVANCE_PC:
            delta, at = uleb(data, at)
            address += delta * unit
        elif opcode == _LNS_ADVANCE_LINE:
            delta, at = sleb(data, at)
            line += delta
        elif opcode == _LNS_SET_FILE:
            file, at = uleb(data, at)
            file = min(file, NO_LINE - 1)
        elif opcode == _LNS_CONST_ADD_PC:
            address += const_add
        elif opcode == _LNS_FIXED_ADVANCE_PC:
            address += int.from_bytes(data[at : at + 2], "little")
            at += 2
        else:  # column, flags, basic blocks, and opcodes of the future: only their operands matter
            for _ in range(program.opcode_lengths[opcode - 1]):
                at = uleb(data, at)[1]
