"""Functions, also inlined ones, by address: the scopes of one unit as a flat, sorted map."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import NamedTuple

from wavewright.codeobj.dwarf.forms import DwarfError, uleb
from wavewright.codeobj.dwarf.units import (
    DW_AT_ABSTRACT_ORIGIN,
    DW_AT_CALL_FILE,
    DW_AT_CALL_LINE,
    DW_AT_LINKAGE_NAME,
    DW_AT_MIPS_LINKAGE_NAME,
    DW_AT_NAME,
    DW_AT_SPECIFICATION,
    DW_TAG_INLINED_SUBROUTINE,
    DW_TAG_SUBPROGRAM,
    DebugInfo,
    Unit,
    Value,
    number_of,
)

_MAX_DEPTH = 512  # functions inlined into each other; damage could make a circle
_NO_SCOPE = 0xFFFF_FFFF  # in the array of indices; -1 & _NO_SCOPE is it too
_MAX_REFERENCES = 8  # from an entry to the one that names its function
_FUNCTION_TAGS = frozenset({DW_TAG_SUBPROGRAM, DW_TAG_INLINED_SUBROUTINE})


class Scope(NamedTuple):
    """A function (`call_line` None), or one place where a function was inlined into `parent`."""

    parent: int  # index of the enclosing scope, -1 = none
    origin: int  # offset of the entry that names the function
    call_file: int
    call_line: int | None


class Names(NamedTuple):
    """Attributes of an entry that lead to the name of its function."""

    name: str
    origin: int | None  # entry that says it instead


@dataclass
class ScopeMap:
    """Scopes of one unit, and for each range of addresses the innermost one."""

    scopes: list[Scope] = field(default_factory=list)
    names: dict[int, Names] = field(default_factory=dict)
    starts: array[int] = field(default_factory=lambda: array("Q"))
    innermost: array[int] = field(default_factory=lambda: array("I"))

    def at(self, address: int) -> Iterator[Scope]:
        """Scopes around an address, innermost first."""
        index = bisect_right(self.starts, address) - 1
        scope = self.innermost[index] if index >= 0 else _NO_SCOPE
        steps = _MAX_DEPTH
        while scope != _NO_SCOPE and steps:
            yield self.scopes[scope]
            scope = self.scopes[scope].parent & _NO_SCOPE
            steps -= 1

    def name_of(self, origin: int) -> str:
        """Name of a function, followed through the entries that refer to it."""
        for _ in range(_MAX_REFERENCES):
            names = self.names.get(origin)
            if names is None:
                return ""
            if names.name or names.origin is None:
                return names.name
            origin = names.origin
        return ""


def read_scopes(info: DebugInfo, unit: Unit) -> tuple[ScopeMap, str]:
    """Scopes of a unit, and a sentence where reading stopped early."""
    scopes = ScopeMap()
    intervals: list[tuple[int, int, int, int]] = []  # begin, end, depth, scope
    problem = ""
    try:
        _walk(info, unit, scopes, intervals)
    except (DwarfError, IndexError, ValueError) as error:
        problem = f"unit at {unit.start:#x}: {error}"
    _flatten(scopes, intervals)
    return scopes, problem


def _walk(info: DebugInfo, unit: Unit, scopes: ScopeMap, intervals: list[tuple[int, int, int, int]]) -> None:
    data, at, end = info.data, unit.entries, unit.end
    enclosing_scopes: list[int] = []  # scope that each open entry belongs to
    abbreviations = unit.abbreviations
    while at < end:
        offset = at
        code, at = data[at], at + 1
        if code == 0:
            if not enclosing_scopes:
                return
            enclosing_scopes.pop()
            continue
        if code >= 0x80:
            code, at = uleb(data, offset)
        info.entries.left -= 1  # this loop runs millions of times: the budget is looked at below
        abbreviation = abbreviations.get(code)
        if abbreviation is None:
            raise DwarfError(f"abbreviation {code} is not declared")
        scope = enclosing_scopes[-1] if enclosing_scopes else -1
        if abbreviation.tag in _FUNCTION_TAGS:
            info.functions.spend()
            values, at = info.values(unit, abbreviation, at)
            ranges = info.ranges(unit, values)
            scopes.names[offset] = _names(info, unit, values)
            if ranges:
                parent = scope if abbreviation.tag == DW_TAG_INLINED_SUBROUTINE else -1
                call_line = number_of(values.get(DW_AT_CALL_LINE)) if parent >= 0 else None
                scope = len(scopes.scopes)
                scopes.scopes.append(Scope(parent, offset, number_of(values.get(DW_AT_CALL_FILE)), call_line))
                intervals += ((begin, stop, len(enclosing_scopes), scope) for begin, stop in ranges)
        elif abbreviation.skip_bytes is not None:  # lexical blocks too: their function covers their addresses
            at += abbreviation.skip_bytes
        else:
            at = info.skip(unit, abbreviation, at)
        if abbreviation.has_children:
            enclosing_scopes.append(scope)
        if info.entries.left < 0:
            info.entries.spend()


def _names(info: DebugInfo, unit: Unit, values: dict[int, Value]) -> Names:
    candidates = (values.get(attribute) for attribute in (DW_AT_LINKAGE_NAME, DW_AT_MIPS_LINKAGE_NAME, DW_AT_NAME))
    name = next((text for text in (info.string(unit, value) for value in candidates) if text), "")
    return Names(name, info.reference(unit, values.get(DW_AT_ABSTRACT_ORIGIN) or values.get(DW_AT_SPECIFICATION)))


def _flatten(scopes: ScopeMap, intervals: list[tuple[int, int, int, int]]) -> None:
    """Sweep over all interval ends; at each, the deepest interval still open is the innermost scope."""
    intervals.sort()
    edges = sorted({edge for begin, end, _, _ in intervals for edge in (begin, end)})
    open_intervals: list[tuple[int, int, int]] = []  # -depth, scope, end
    following = 0
    for edge in edges:
        while following < len(intervals) and intervals[following][0] == edge:
            _, end, depth, scope = intervals[following]
            heappush(open_intervals, (-depth, scope, end))
            following += 1
        while open_intervals and open_intervals[0][2] <= edge:
            heappop(open_intervals)
        scopes.starts.append(edge)
        scopes.innermost.append(open_intervals[0][1] if open_intervals else _NO_SCOPE)
