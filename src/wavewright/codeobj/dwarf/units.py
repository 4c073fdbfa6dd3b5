"""Units of `.debug_info`: headers, abbreviations, and the few values that scopes need (DWARF 5, section 7.5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from wavewright.codeobj.dwarf.forms import (
    DW_FORM_ADDR,
    DW_FORM_IMPLICIT_CONST,
    DW_FORM_LINE_STRP,
    DW_FORM_REF_ADDR,
    DW_FORM_RNGLISTX,
    DW_FORM_SEC_OFFSET,
    DW_FORM_STRP,
    Budget,
    DwarfError,
    FormContext,
    fixed_length,
    read_form,
    skip_form,
    sleb,
    uleb,
)
from wavewright.codeobj.dwarf.line_program import PATH_BYTES, initial_length
from wavewright.codeobj.elf import string_at

DW_TAG_INLINED_SUBROUTINE, DW_TAG_SUBPROGRAM = 0x1D, 0x2E
DW_AT_NAME, DW_AT_STMT_LIST, DW_AT_LOW_PC, DW_AT_HIGH_PC, DW_AT_COMP_DIR = 0x03, 0x10, 0x11, 0x12, 0x1B
DW_AT_ABSTRACT_ORIGIN, DW_AT_SPECIFICATION, DW_AT_RANGES = 0x31, 0x47, 0x55
DW_AT_CALL_FILE, DW_AT_CALL_LINE, DW_AT_LINKAGE_NAME = 0x58, 0x59, 0x6E
DW_AT_MIPS_LINKAGE_NAME = 0x2007  # what DWARF 2 and 3 producers call the linkage name
DW_AT_STR_OFFSETS_BASE, DW_AT_ADDR_BASE, DW_AT_RNGLISTS_BASE = 0x72, 0x73, 0x74

_ATTRIBUTES_OF_SCOPES = frozenset(
    {
        *(DW_AT_NAME, DW_AT_STMT_LIST, DW_AT_LOW_PC, DW_AT_HIGH_PC, DW_AT_COMP_DIR, DW_AT_ABSTRACT_ORIGIN),
        *(DW_AT_SPECIFICATION, DW_AT_RANGES, DW_AT_CALL_FILE, DW_AT_CALL_LINE, DW_AT_LINKAGE_NAME),
        *(DW_AT_STR_OFFSETS_BASE, DW_AT_ADDR_BASE, DW_AT_RNGLISTS_BASE, DW_AT_MIPS_LINKAGE_NAME),
    }
)
_UNIT_COMPILE, _UNIT_SKELETON, _UNIT_SPLIT_COMPILE, _UNIT_TYPES = 1, 4, 5, (2, 6)
_STRX_FORMS = frozenset({0x1A, 0x25, 0x26, 0x27, 0x28, 0x1F02})  # strx, strx1 to strx4, GNU_str_index
_ADDRX_FORMS = frozenset({0x1B, 0x29, 0x2A, 0x2B, 0x2C, 0x1F01})  # addrx, addrx1 to addrx4, GNU_addr_index
_MAX_ABBREVIATION_VALUES = 1 << 20  # budgets of one code object: real ones stay far below
_MAX_RANGES = 1 << 20
_MAX_ENTRIES = 4_000_000
_MAX_FUNCTIONS = 1_000_000  # inlined copies included
_MAX_NAME_BYTES = 1 << 26
_MASK64 = (1 << 64) - 1

Value = tuple[int, "int | bytes"]  # form and raw value
Ranges = list[tuple[int, int]]  # [begin, end) addresses


class Abbreviation(NamedTuple):
    """Layout of the entries of one kind. `skip_bytes` is their length where it is always the same."""

    tag: int
    has_children: bool
    attributes: tuple[tuple[int, int, int], ...]  # attribute, form, implicit constant
    skip_bytes: int | None


@dataclass
class Unit:
    """One unit: [start, end) in `.debug_info`, and the bases that its indexed forms count from."""

    start: int
    entries: int  # offset of its first entry
    end: int
    context: FormContext
    abbreviations: dict[int, Abbreviation]
    comp_dir: str = ""
    stmt_list: int | None = None
    low_pc: int = 0
    ranges: Ranges = field(default_factory=list)
    str_offsets_base: int = 0
    addr_base: int = 0
    rnglists_base: int = 0


class DebugInfo:
    """`.debug_info` and the sections it refers to, read within budgets."""

    def __init__(self, sections: Mapping[str, bytes]) -> None:
        self.sections = sections
        self.data = sections.get(".debug_info", b"")
        self.problem = ""
        self._tables: dict[tuple[int, FormContext], dict[int, Abbreviation]] = {}
        self._abbreviation_values = Budget(_MAX_ABBREVIATION_VALUES, "abbreviations")
        self._range_entries = Budget(_MAX_RANGES, "address ranges")
        self._name_bytes = Budget(_MAX_NAME_BYTES, "bytes of names")
        self.entries = Budget(_MAX_ENTRIES, "debug entries")
        self.functions = Budget(_MAX_FUNCTIONS, "functions")

    def units(self) -> list[Unit]:
        """All units that describe code; `problem` says where reading stopped early."""
        units = []
        at = 0
        while at + 4 <= len(self.data):
            try:
                unit, next_at = self._unit(at)
                if unit is not None:
                    units.append(unit)
            except (DwarfError, IndexError, ValueError) as error:
                self.problem = f"unit at {at:#x}: {error}"
                break
            at = next_at
        return units

    def _unit(self, start: int) -> tuple[Unit | None, int]:
        data = self.data
        length, at, offset_size = initial_length(data, start)
        end = min(at + length, len(data))
        version = int.from_bytes(data[at : at + 2], "little")
        at += 2
        if not 2 <= version <= 5:
            raise DwarfError(f"version {version} is not known")
        kind = data[at] if version >= 5 else _UNIT_COMPILE
        if kind in _UNIT_TYPES:
            return None, end
        # The address size is before the offset of the abbreviations from version 5 on, and behind it before.
        offset_at = at + 2 if version >= 5 else at
        address_size = data[at + 1] if version >= 5 else data[at + offset_size]
        abbreviations_at = int.from_bytes(data[offset_at : offset_at + offset_size], "little")
        at = offset_at + offset_size + (version < 5)
        if kind in (_UNIT_SKELETON, _UNIT_SPLIT_COMPILE):
            at += 8  # the id of its split part
        context = FormContext(offset_size, address_size, version)
        unit = Unit(start, at, end, context, self._abbreviations(abbreviations_at, context))
        self._read_root(unit)
        return unit, end

    def _abbreviations(self, at: int, context: FormContext) -> dict[int, Abbreviation]:
        known_table = self._tables.get((at, context))
        if known_table is not None:
            return known_table
        data = self.sections.get(".debug_abbrev", b"")
        table: dict[int, Abbreviation] = {}
        self._tables[at, context] = table
        while True:
            code, at = uleb(data, at)
            if code == 0:
                return table
            tag, at = uleb(data, at)
            has_children, at = bool(data[at]), at + 1
            attributes = []
            while True:
                self._abbreviation_values.spend()
                attribute, at = uleb(data, at)
                form, at = uleb(data, at)
                constant = 0
                if form == DW_FORM_IMPLICIT_CONST:
                    constant, at = sleb(data, at)
                if attribute == 0 and form == 0:
                    break
                attributes.append((attribute, form, constant))
            lengths = [fixed_length(form, context) for _, form, _ in attributes]
            skip = None if None in lengths else sum(length for length in lengths if length)
            table[code] = Abbreviation(tag, has_children, tuple(attributes), skip)

    def _read_root(self, unit: Unit) -> None:
        code, at = uleb(self.data, unit.entries)
        if code not in unit.abbreviations:
            return
        values, _ = self.values(unit, unit.abbreviations[code], at)
        unit.str_offsets_base = number_of(values.get(DW_AT_STR_OFFSETS_BASE)) or 8  # else behind the section's header
        unit.addr_base = number_of(values.get(DW_AT_ADDR_BASE)) or 8
        unit.rnglists_base = number_of(values.get(DW_AT_RNGLISTS_BASE)) or 12
        unit.comp_dir = self.string(unit, values.get(DW_AT_COMP_DIR))
        if DW_AT_STMT_LIST in values:
            unit.stmt_list = number_of(values[DW_AT_STMT_LIST])
        unit.low_pc = self.address(unit, values.get(DW_AT_LOW_PC)) or 0
        unit.ranges = self.ranges(unit, values)

    def values(self, unit: Unit, abbreviation: Abbreviation, at: int) -> tuple[dict[int, Value], int]:
        """The attributes of an entry that scopes need, and the position behind the entry."""
        values: dict[int, Value] = {}
        data, context = self.data, unit.context
        for attribute, form, constant in abbreviation.attributes:
            if attribute in _ATTRIBUTES_OF_SCOPES:
                if form == DW_FORM_IMPLICIT_CONST:
                    values[attribute] = (form, constant)
                    continue
                value, at = read_form(data, at, form, context)
                values[attribute] = (form, value)
            else:
                at = skip_form(data, at, form, context)
        return values, at

    def skip(self, unit: Unit, abbreviation: Abbreviation, at: int) -> int:
        """Position behind an entry whose values do not matter."""
        for _, form, _ in abbreviation.attributes:
            at = skip_form(self.data, at, form, unit.context)
        return at

    def string(self, unit: Unit, value: Value | None) -> str:
        """Text of a string attribute."""
        if value is None:
            return ""
        form, raw = value
        if isinstance(raw, bytes):
            return raw.decode("utf-8", "replace")
        if form in _STRX_FORMS:
            size = unit.context.offset_size
            at = unit.str_offsets_base + raw * size
            raw = int.from_bytes(self.sections.get(".debug_str_offsets", b"")[at : at + size], "little")
        elif form not in (DW_FORM_STRP, DW_FORM_LINE_STRP):
            return ""
        table = ".debug_line_str" if form == DW_FORM_LINE_STRP else ".debug_str"
        text = string_at(self.sections.get(table, b""), raw, PATH_BYTES)
        self._name_bytes.spend(len(text))
        return text

    def address(self, unit: Unit, value: Value | None) -> int | None:
        """Address behind an address attribute; None for a constant or nothing."""
        if value is None:
            return None
        form, raw = value
        if form == DW_FORM_ADDR and isinstance(raw, int):
            return raw
        return self._indexed_address(unit, raw) if form in _ADDRX_FORMS and isinstance(raw, int) else None

    def _indexed_address(self, unit: Unit, index: int) -> int:
        size = unit.context.address_size
        at = unit.addr_base + index * size
        return int.from_bytes(self.sections.get(".debug_addr", b"")[at : at + size], "little")

    def reference(self, unit: Unit, value: Value | None) -> int | None:
        """Offset in `.debug_info` of the entry that a reference leads to."""
        if value is None or isinstance(value[1], bytes):
            return None
        return value[1] if value[0] == DW_FORM_REF_ADDR else unit.start + value[1]

    def ranges(self, unit: Unit, values: dict[int, Value]) -> Ranges:
        """Addresses that an entry covers."""
        range_list = values.get(DW_AT_RANGES)
        if range_list is not None:
            form, raw = range_list
            if isinstance(raw, bytes):
                return []
            return self._range_list_v5(unit, form, raw) if unit.context.version >= 5 else self._range_list(unit, raw)
        low = self.address(unit, values.get(DW_AT_LOW_PC))
        high = values.get(DW_AT_HIGH_PC)
        if low is None or high is None or isinstance(high[1], bytes):
            return []
        end = self.address(unit, high)
        end = (low + high[1]) & _MASK64 if end is None else end
        return [(low, end)] if low < end else []

    def _range_list(self, unit: Unit, at: int) -> Ranges:
        data, size = self.sections.get(".debug_ranges", b""), unit.context.address_size
        base, ranges = unit.low_pc, []
        highest = (1 << 8 * size) - 1
        while at + 2 * size <= len(data):
            self._range_entries.spend()
            begin = int.from_bytes(data[at : at + size], "little")
            end = int.from_bytes(data[at + size : at + 2 * size], "little")
            at += 2 * size
            if begin == end == 0:
                break
            if begin == highest:
                base = end
            elif begin < end:
                ranges.append(((base + begin) & _MASK64, (base + end) & _MASK64))
        return ranges

    def _range_list_v5(self, unit: Unit, form: int, raw: int) -> Ranges:
        data, size = self.sections.get(".debug_rnglists", b""), unit.context.address_size
        at = raw
        if form == DW_FORM_RNGLISTX:
            width = unit.context.offset_size
            entry = unit.rnglists_base + raw * width
            at = unit.rnglists_base + int.from_bytes(data[entry : entry + width], "little")
        elif form != DW_FORM_SEC_OFFSET:
            return []
        base = unit.low_pc
        ranges: Ranges = []
        while True:
            self._range_entries.spend()
            kind, at = data[at], at + 1
            operands = []
            for operand in _RANGE_OPERANDS.get(kind, ""):
                if operand == "a":
                    value, at = int.from_bytes(data[at : at + size], "little"), at + size
                else:
                    value, at = uleb(data, at)
                    value = self._indexed_address(unit, value) if operand == "x" else value
                operands.append(value)
            if kind in _RANGE_BASES:
                base = operands[0]
                continue
            if len(operands) < 2:
                return ranges  # end of list, or a kind of the future
            begin, end = operands
            if kind in _RANGE_LENGTHS:
                end += begin
            elif kind in _RANGE_OFFSETS:
                begin, end = base + begin, base + end
            if begin < end:
                ranges.append((begin & _MASK64, end & _MASK64))


# Kinds of `.debug_rnglists` entries (DWARF 5, section 7.25): operands are a = address, x = index of one, u = number.
_RANGE_OPERANDS = {1: "x", 2: "xx", 3: "xu", 4: "uu", 5: "a", 6: "aa", 7: "au"}
_RANGE_BASES = (1, 5)
_RANGE_LENGTHS = (3, 7)
_RANGE_OFFSETS = (4,)


def number_of(value: Value | None) -> int:
    """A constant or offset attribute as a number, 0 where there is none."""
    return value[1] if value is not None and isinstance(value[1], int) else 0
