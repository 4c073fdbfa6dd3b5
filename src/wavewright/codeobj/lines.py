"""From an address to source lines: the innermost one, then the place of each call that was inlined around it."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from wavewright.codeobj.code_object import CodeObject
from wavewright.codeobj.dwarf.line_program import NO_LINE, LineProgram, LineRows, run_line_programs
from wavewright.codeobj.dwarf.scopes import ScopeMap, read_scopes
from wavewright.codeobj.dwarf.units import DebugInfo, Unit
from wavewright.model.losses import Loss

_SECTIONS = (
    *(".debug_line", ".debug_info", ".debug_abbrev", ".debug_str", ".debug_line_str", ".debug_str_offsets"),
    *(".debug_addr", ".debug_ranges", ".debug_rnglists"),
)
_MAX_LOSSES = 4
_MAX_ADDRESS = (1 << 64) - 1


class Frame(NamedTuple):
    """A place in the source: `line` 0 = unknown, `function` as in the debug information ("" = unknown)."""

    file: str
    line: int
    function: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line or '?'}"


class LineTable:
    """Source lines of one code object."""

    def __init__(
        self, sections: dict[str, bytes], text_ranges: tuple[tuple[int, int], ...], problems: Iterable[str] = ()
    ) -> None:
        self._problems = list(problems)
        self._starts = array("Q")
        self._files = array("I")
        self._lines = array("I")
        self._names: list[str] = []
        self._name_numbers: dict[str, int] = {}
        self._info = DebugInfo(sections)
        self._units = self._info.units()
        self._note(self._info.problem)
        self._scopes: dict[int, ScopeMap] = {}
        self._unit_ranges = sorted((b, e, i) for i, unit in enumerate(self._units) for b, e in unit.ranges)
        self._rangeless_units = [i for i, unit in enumerate(self._units) if not unit.ranges]
        self._unit_files: dict[int, list[str]] = {}  # stmt_list -> file names
        self._read_lines(sections, text_ranges)

    @property
    def losses(self) -> tuple[Loss, ...]:
        """Losses of reading; they grow while inlined calls are looked up."""
        return tuple(Loss("debug_lines", detail=problem) for problem in self._problems[:_MAX_LOSSES])

    def __len__(self) -> int:
        return len(self._starts)

    def chain_at(self, address: int) -> tuple[Frame, ...]:
        """The line at an ELF address and the calls inlined around it, innermost first; empty where none is known."""
        index = bisect_right(self._starts, address) - 1
        if index < 0 or self._files[index] == NO_LINE:
            return ()
        file, line = self._names[self._files[index]], self._lines[index]
        unit_scopes = self._unit_at(address)
        if unit_scopes is None:
            return (Frame(file, line),)
        unit, scopes = unit_scopes
        frames = []
        for scope in scopes.at(address):
            frames.append(Frame(file, line, scopes.name_of(scope.origin)))
            if scope.call_line is None:
                break
            file, line = self._file_of(unit, scope.call_file), scope.call_line
        return tuple(frames) or (Frame(file, line),)

    def _note(self, problem: str) -> None:
        if problem:
            self._problems.append(problem)

    def _read_lines(self, sections: dict[str, bytes], text_ranges: tuple[tuple[int, int], ...]) -> None:
        comp_dirs = {unit.stmt_list: unit.comp_dir for unit in self._units if unit.stmt_list is not None}
        sequences: list[tuple[int, int, int, LineRows, list[str]]] = []
        for program, rows, problem in run_line_programs(sections):
            self._note(problem)
            names = _paths(program, comp_dirs.get(program.offset, ""))
            self._unit_files[program.offset] = names
            sequences += ((*span, rows, names) for span in _sequences(rows, text_ranges))
        sequences.sort(key=lambda sequence: sequence[0])
        for _, first, last, rows, names in sequences:
            self._append(rows, first, last, names)

    def _append(self, rows: LineRows, first: int, last: int, names: list[str]) -> None:
        """Add one sequence, without what the ones before it cover: removed code may share addresses with others."""
        last_start = self._starts[-1] if self._starts else 0
        numbers = {NO_LINE: NO_LINE}
        for index in range(first, last + 1):
            address, file = rows.address[index], rows.file[index]
            if address < last_start:
                continue
            last_start = address
            if file not in numbers:
                numbers[file] = self._number_of(names[file]) if file < len(names) else NO_LINE
            self._starts.append(address)
            self._files.append(numbers[file])
            self._lines.append(rows.line[index])

    def _number_of(self, name: str) -> int:
        number = self._name_numbers.setdefault(name, len(self._names))
        if number == len(self._names):
            self._names.append(name)
        return number

    def _unit_at(self, address: int) -> tuple[Unit, ScopeMap] | None:
        index = bisect_right(self._unit_ranges, (address, _MAX_ADDRESS, 0)) - 1
        has_unit = index >= 0 and address < self._unit_ranges[index][1]
        for number in [self._unit_ranges[index][2]] if has_unit else self._rangeless_units:
            if number not in self._scopes:
                self._scopes[number], problem = read_scopes(self._info, self._units[number])
                self._note(problem)
            if any(True for _ in self._scopes[number].at(address)):
                return self._units[number], self._scopes[number]
        return None

    def _file_of(self, unit: Unit, number: int) -> str:
        names = self._unit_files.get(unit.stmt_list, []) if unit.stmt_list is not None else []
        return names[number] if number < len(names) else ""


def line_table(code_object: CodeObject) -> LineTable:
    """Source lines of a code object from its DWARF sections; an empty table where it has none.

    Debug information that is damaged gives the part that can be read, and a loss. Inlined calls are read unit by
    unit when an address in the unit is first asked for.
    """
    sections, problems = {}, []
    for name in _SECTIONS:
        section = code_object.elf.section_named(name)
        if section is not None:
            sections[name], problem = code_object.elf.bytes_of(section)
            problems.append(problem)
    return LineTable(sections, code_object.text_ranges, [problem for problem in problems if problem])


def _sequences(rows: LineRows, text_ranges: tuple[tuple[int, int], ...]) -> Iterator[tuple[int, int, int]]:
    """(Start address, first row, last row) of the sequences that lie in code; linkers leave removed ones behind."""
    first = 0
    starts = [start for start, _ in text_ranges]
    for last, file in enumerate(rows.file):
        if file != NO_LINE:
            continue
        begin = rows.address[first]
        index = bisect_right(starts, begin) - 1
        if index >= 0 and begin < sum(text_ranges[index]):
            yield begin, first, last
        first = last + 1


def _paths(program: LineProgram, comp_dir: str) -> list[str]:
    """Full names of a program's files; nothing is normalised, so that they equal what other tools show."""
    paths = []
    for directory, path in program.files:
        folder = program.directories[directory] if directory < len(program.directories) else ""
        for outer in (folder, comp_dir):
            is_relative = bool(path) and not path.startswith("/")
            path = f"{outer}/{path}" if outer and is_relative else path
        paths.append(path)
    return paths
