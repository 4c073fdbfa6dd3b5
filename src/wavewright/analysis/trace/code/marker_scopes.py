"""Marker scopes over time: the markers of shader data, matched like brackets."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import polars as pl

from wavewright.model.answer import once_per_trace
from wavewright.model.schema import THREAD_TRACE, packaged_spec
from wavewright.model.trace import ThreadTrace

_LEAVES, _ENTERS, _FIRST = 1, 2, 4
_SLOT = ("se", "cu", "simd", "slot")
_KINDS = {1: "function", 2: "scope", 3: "point"}
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
    for row in _moments(trace).iter_rows():
        book.read(*row)
    book.close_all_slots()
    scopes = pl.DataFrame(book.scopes, schema=SCOPES.dtypes, orient="row").sort(
        "start_cycles", "depth", maintain_order=True
    )
    stacks = pl.DataFrame(
        [(number, *stack) for number, stack in enumerate(book.stacks)], schema=STACKS.dtypes, orient="row"
    )
    changes = pl.DataFrame(book.changes, schema={**_CHANGES, "stack": pl.UInt32}, orient="row")
    return MarkerScopes(scopes, stacks, changes, book.orphan_count)


def _moments(trace: ThreadTrace) -> pl.DataFrame:
    """Markers and ends of waves in the order of time; ends have no flags and come first at equal times."""
    payloads = pl.col("record_kind") != 0
    columns = ["marker_kind", "flags", "name", "location"]
    markers = trace.markers.filter(~payloads).select(*_SLOT, "time_cycles", *columns)
    slots = markers.select(_SLOT).unique()
    ends = trace.waves.join(slots, on=_SLOT, how="semi").select(
        *_SLOT,
        pl.col("end_cycles").alias("time_cycles"),
        *(pl.lit(None, markers.schema[column]).alias(column) for column in columns),
    )
    both = pl.concat([ends, markers])
    return both.sort("time_cycles", maintain_order=True)


Slot = tuple[int, int, int, int]


@dataclass
class _Open:
    begin: int
    kind: str
    name: str
    location: str | None
    stack: int = 0


@dataclass
class _Book:
    """The open scopes of every slot, and all closed ones."""

    scopes: list[tuple[Any, ...]] = field(default_factory=list)
    changes: list[tuple[int, ...]] = field(default_factory=list)
    stacks: list[tuple[int | None, str | None, str | None]] = field(default_factory=lambda: [(None, None, None)])
    orphan_count: int = 0
    _numbers: dict[tuple[int, str, str], int] = field(default_factory=dict)
    _open: dict[Slot, list[_Open]] = field(default_factory=dict)
    _too_deep: dict[Slot, int] = field(default_factory=dict)
    _last: dict[Slot, int] = field(default_factory=dict)

    def read(
        self, se: int, cu: int, simd: int, slot: int, time: int, kind: int | None, flags: int | None,
        name: str | None, location: str | None,
    ) -> None:  # fmt: skip
        """Take one marker, or, without flags, the end of a wave."""
        place = (se, cu, simd, slot)
        scopes = self._open.setdefault(place, [])
        before = scopes[-1].stack if scopes else 0
        if flags is None or flags & _FIRST:
            self._close_all(place, time if flags is None else self._last.get(place, time))
        if flags is not None:
            self._last[place] = time
            self._take(place, _Open(time, _KINDS.get(kind or 0, "unknown"), name or "(no name)", location), flags)
        after = scopes[-1].stack if scopes else 0
        if after != before:
            self.changes.append((*place, time, after))

    def _take(self, place: Slot, scope: _Open, flags: int) -> None:
        scopes = self._open[place]
        if scope.kind == "point" or not flags & (_LEAVES | _ENTERS):
            scope.stack = scopes[-1].stack if scopes else 0
            self._close(place, scope, scope.begin, len(scopes), is_open=False)
            return
        if flags & _LEAVES:
            self._leave(place, scope.begin)
        if flags & _ENTERS:
            self._enter(place, scope)

    def _enter(self, place: Slot, scope: _Open) -> None:
        scopes = self._open[place]
        if len(scopes) >= MOST_DEPTH:
            self._too_deep[place] = self._too_deep.get(place, 0) + 1
            return
        around = scopes[-1].stack if scopes else 0
        key = (around, scope.kind, scope.name)
        if key not in self._numbers:
            self._numbers[key] = len(self.stacks)
            self.stacks.append(key)
        scope.stack = self._numbers[key]
        scopes.append(scope)

    def _leave(self, place: Slot, time: int) -> None:
        scopes = self._open[place]
        if self._too_deep.get(place, 0):
            self._too_deep[place] -= 1
        elif scopes:
            self._close(place, scopes.pop(), time, len(scopes), is_open=False)
        else:
            self.orphan_count += 1

    def _close_all(self, place: Slot, time: int) -> None:
        scopes = self._open[place]
        while scopes:
            self._close(place, scopes.pop(), time, len(scopes), is_open=True)
        self._too_deep[place] = 0

    def close_all_slots(self) -> None:
        """The trace is over."""
        for place in self._open:
            self._close_all(place, self._last.get(place, 0))

    def _close(self, place: Slot, scope: _Open, end: int, depth: int, *, is_open: bool) -> None:
        last = max(end, scope.begin)
        self.scopes.append(
            (*place, scope.begin, last, depth, scope.kind, scope.name, scope.location, is_open, scope.stack)
        )
