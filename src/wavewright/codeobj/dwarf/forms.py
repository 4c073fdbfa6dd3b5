"""Attribute forms: how long they are and how they are read (DWARF 5, section 7.5.6)."""

from __future__ import annotations

from typing import NamedTuple

_MAX_LEB_BYTES = 10  # enough for 64 bits

DW_FORM_ADDR, DW_FORM_BLOCK2, DW_FORM_BLOCK4, DW_FORM_STRING = 0x01, 0x03, 0x04, 0x08
DW_FORM_BLOCK, DW_FORM_BLOCK1, DW_FORM_SDATA, DW_FORM_STRP = 0x09, 0x0A, 0x0D, 0x0E
DW_FORM_REF_ADDR, DW_FORM_INDIRECT, DW_FORM_SEC_OFFSET, DW_FORM_EXPRLOC = 0x10, 0x16, 0x17, 0x18
DW_FORM_LINE_STRP, DW_FORM_IMPLICIT_CONST, DW_FORM_RNGLISTX = 0x1F, 0x21, 0x23

# Fixed lengths in bytes -> forms. Offsets are 4 or 8 bytes long by the unit's format, addresses by its header.
_FORMS_BY_LENGTH = {
    0: (0x19, 0x21),  # flag_present, implicit_const
    1: (0x0B, 0x0C, 0x11, 0x25, 0x29),  # data1, flag, ref1, strx1, addrx1
    2: (0x05, 0x12, 0x26, 0x2A),  # data2, ref2, strx2, addrx2
    3: (0x27, 0x2B),  # strx3, addrx3
    4: (0x06, 0x13, 0x1C, 0x28, 0x2C),  # data4, ref4, ref_sup4, strx4, addrx4
    8: (0x07, 0x14, 0x20, 0x24),  # data8, ref8, ref_sig8, ref_sup8
    16: (0x1E,),  # data16
}
_FIXED = {form: length for length, forms in _FORMS_BY_LENGTH.items() for form in forms}
_OFFSETS = frozenset({0x0E, 0x17, 0x1D, 0x1F, 0x1F20, 0x1F21})  # strp, sec_offset, strp_sup, line_strp, GNU alt
_ULEBS = frozenset({0x0F, 0x15, 0x1A, 0x1B, 0x22, 0x23, 0x1F01, 0x1F02})  # udata, ref_udata, *x, GNU index
_BLOCK_LENGTHS = {DW_FORM_BLOCK1: 1, DW_FORM_BLOCK2: 2, DW_FORM_BLOCK4: 4}


class DwarfError(Exception):
    """The debug information contradicts itself; what was read before it stays valid."""


class Budget:
    """A ceiling for something hostile input can multiply; spending beyond it raises DwarfError."""

    def __init__(self, amount: int, what: str) -> None:
        self.amount = self.left = amount
        self.what = what

    def spend(self, amount: int = 1) -> None:
        """Take from what is left."""
        self.left -= amount
        if self.left < 0:
            raise DwarfError(f"more than {self.amount:,} {self.what}")


class FormContext(NamedTuple):
    """Sizes that the lengths of forms depend on, in bytes."""

    offset_size: int
    address_size: int
    version: int


def uleb(data: bytes, at: int) -> tuple[int, int]:
    """An unsigned LEB128 number and the position after it."""
    value = shift = 0
    for position in range(at, at + _MAX_LEB_BYTES):
        byte = data[position]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position + 1
        shift += 7
    raise DwarfError(f"a number at {at:#x} does not end")


def sleb(data: bytes, at: int) -> tuple[int, int]:
    """A signed LEB128 number and the position after it."""
    value, end = uleb(data, at)
    bits = 7 * (end - at)
    return (value - (1 << bits) if value >> (bits - 1) & 1 else value), end


def fixed_length(form: int, context: FormContext) -> int | None:
    """Length of a form in bytes where it does not depend on the contents."""
    if form in _OFFSETS:
        return context.offset_size
    if form == DW_FORM_ADDR:
        return context.address_size
    if form == DW_FORM_REF_ADDR:
        return context.offset_size if context.version > 2 else context.address_size
    return _FIXED.get(form)


def skip_form(data: bytes, at: int, form: int, context: FormContext) -> int:
    """Position behind a value."""
    length = fixed_length(form, context)
    if length is not None:
        return at + length
    if form in _ULEBS or form == DW_FORM_SDATA:
        return uleb(data, at)[1]
    if form == DW_FORM_STRING:
        return data.index(b"\0", at) + 1
    if form in (DW_FORM_BLOCK, DW_FORM_EXPRLOC):
        size, at = uleb(data, at)
        return at + size
    if form in _BLOCK_LENGTHS:
        width = _BLOCK_LENGTHS[form]
        return at + width + int.from_bytes(data[at : at + width], "little")
    if form == DW_FORM_INDIRECT:
        actual, at = uleb(data, at)
        if actual != DW_FORM_INDIRECT:
            return skip_form(data, at, actual, context)
    raise DwarfError(f"unknown attribute form {form:#x}")


def read_form(data: bytes, at: int, form: int, context: FormContext) -> tuple[int | bytes, int]:
    """A value as a number (or the bytes of a string or block) and the position after it."""
    length = fixed_length(form, context)
    if length is not None:
        if at + length > len(data):
            raise DwarfError(f"a value at {at:#x} is past the end")
        return int.from_bytes(data[at : at + length], "little"), at + length
    if form in _ULEBS:
        return uleb(data, at)
    if form == DW_FORM_SDATA:
        return sleb(data, at)
    end = skip_form(data, at, form, context)
    return data[at : end - 1 if form == DW_FORM_STRING else end], end
