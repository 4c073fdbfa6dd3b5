"""Marker scopes over time: the markers of shader data, matched like brackets.

A kernel writes a marker where it enters or leaves a scope. A *stack* is a path of scopes that are open at a time, from
the outermost to the innermost, known by number; 0 = none is open.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import polars as pl

from wavewright.model.answer import once_per_trace
from wavewright.model.schema import THREAD_TRACE, packaged_spec
from wavewright.model.trace import ThreadTrace

_LEAVES, _ENTERS, _FIRST = 1, 2, 4  # bits of markers.flags
_SLOT = ("se", "cu", "simd", "slot")
_KINDS = {1: "function", 2: "scope", 3: "point"}  #: Of markers.marker_kind.
MOST_DEPTH = 64  #: Scopes nested deeper are not opened: their time belongs to the scope around them.

SCOPES = packaged_spec(__package__, "scopes")
STACKS = packaged_spec(__package__, "stacks")
_CHANGES = {name: THREAD_TRACE["markers"].dtypes[name] for name in (*_SLOT, "time_cycles")}


@dataclass(frozen=True)
class MarkerScopes:
    """Scopes with their times, paths of scopes, and when which path began to be open in a slot."""

    scopes: pl.DataFrame
    stacks: pl.DataFrame
    #: One moment at which the path of open scopes of a slot became another: se, cu, simd, slot, time_cycles, stack.
    changes: pl.DataFrame
    orphan_count: int  #: Markers that leave a scope when none is open: their start was not traced.


@once_per_trace
def marker_scopes(trace: ThreadTrace) -> MarkerScopes:
    """The scopes that the markers of each wave slot open and close, in cycles of their shader engine.

    A marker that leaves closes the innermost open scope, one that enters opens a scope, one that does both closes
    first. The first marker of a wave, and the end of the wave, close everything that was left open.
    """
    book = _Book()
    slots: dict[tuple[int, ...], _MarkerSlot] = {}
    for se, cu, simd, number, *moment in _moments(trace).iter_rows():
        place = (se, cu, simd, number)
        if place not in slots:
            slots[place] = _MarkerSlot(place, book)
        slots[place].read(*moment)
    for slot in slots.values():
        slot.close_all()
    scopes = pl.DataFrame(book.scopes, schema=SCOPES.dtypes, orient="row")
    scopes = scopes.sort("start_cycles", "depth", maintain_order=True)
    numbered = [(number, *stack) for number, stack in enumerate(book.stacks)]
    changes = pl.DataFrame(book.changes, schema={**_CHANGES, "stack": pl.UInt32}, orient="row")
    return MarkerScopes(scopes, pl.DataFrame(numbered, schema=STACKS.dtypes, orient="row"), changes, book.orphan_count)


def _moments(trace: ThreadTrace) -> pl.DataFrame:
    """Markers and ends of waves in the order of time; ends have no flags and come first at equal times."""
    columns = ("marker_kind", "flags", "name", "location")
    is_payload = pl.col("record_kind") != 0
    markers = trace.markers.filter(~is_payload).select(*_SLOT, "time_cycles", *columns)
    nothing = {column: pl.lit(None, markers.schema[column]) for column in columns}
    waves = trace.waves.join(markers.select(_SLOT).unique(), on=_SLOT, how="semi")
    ends = waves.select(*_SLOT, time_cycles="end_cycles", **nothing)
    return pl.concat([ends, markers]).sort("time_cycles", maintain_order=True)


@dataclass
class _Scope:
    """An open scope."""

    start: int  #: Cycles.
    kind: str
    name: str
    location: str | None
    stack: int = 0  #: The path that ends with it.


@dataclass
class _Book:
    """The closed scopes of all slots, the paths of scopes and the changes between them."""

    scopes: list[tuple[Any, ...]] = field(default_factory=list)  #: Rows of `SCOPES`.
    changes: list[tuple[int, ...]] = field(default_factory=list)  #: Rows of `MarkerScopes.changes`.
    #: By number: the path around, and kind and name of the innermost scope; the first one is empty.
    stacks: list[tuple[int | None, str | None, str | None]] = field(default_factory=lambda: [(None, None, None)])
    orphan_count: int = 0
    _numbers: dict[tuple[int, str, str], int] = field(default_factory=dict)

    def stack_inside(self, around: int, scope: _Scope) -> int:
        """The number of the path that a scope continues."""
        key = (around, scope.kind, scope.name)
        if key not in self._numbers:
            self._numbers[key] = len(self.stacks)
            self.stacks.append(key)
        return self._numbers[key]


class _MarkerSlot:
    """A wave slot with its open scopes, the outermost first."""

    def __init__(self, place: tuple[int, ...], book: _Book) -> None:
        self._place, self._book = place, book
        self._open: list[_Scope] = []
        self._too_deep_count = 0
        self._last_time: int | None = None

    @property
    def _stack(self) -> int:
        return self._open[-1].stack if self._open else 0

    def read(self, time: int, kind: int | None, flags: int | None, name: str | None, location: str | None) -> None:
        """Take one marker, or, without flags, the end of a wave."""
        before = self._stack
        if flags is None or flags & _FIRST:
            self.close_all(time if flags is None or self._last_time is None else self._last_time)
        if flags is not None:
            self._last_time = time
            self._take(_Scope(time, _KINDS.get(kind or 0, "unknown"), name or "(no name)", location), flags)
        if self._stack != before:
            self._book.changes.append((*self._place, time, self._stack))

    def _take(self, scope: _Scope, flags: int) -> None:
        if scope.kind == "point" or not flags & (_LEAVES | _ENTERS):
            scope.stack = self._stack
            self._close(scope, scope.start, is_open=False)
            return
        if flags & _LEAVES:
            if self._too_deep_count:
                self._too_deep_count -= 1
            elif self._open:
                self._close(self._open.pop(), scope.start, is_open=False)
            else:
                self._book.orphan_count += 1
        if flags & _ENTERS:
            if len(self._open) >= MOST_DEPTH:
                self._too_deep_count += 1
            else:
                scope.stack = self._book.stack_inside(self._stack, scope)
                self._open.append(scope)

    def close_all(self, time: int | None = None) -> None:
        """Close everything that is open at a time; None = that of the last marker: the trace is over."""
        end = time if time is not None else self._last_time or 0
        while self._open:
            self._close(self._open.pop(), end, is_open=True)
        self._too_deep_count = 0

    def _close(self, scope: _Scope, end: int, *, is_open: bool) -> None:
        names = (len(self._open), scope.kind, scope.name, scope.location, is_open, scope.stack)
        self._book.scopes.append((*self._place, scope.start, max(end, scope.start), *names))
