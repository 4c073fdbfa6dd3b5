"""The counters of each pass as vectors over the chosen dispatches."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import polars as pl

from wavewright.model.counters import CounterSet

_SMALL_VALUES = 1 << 18  #: Frames of at most as many values are copied whole, larger ones column by column.
_CHANNEL = re.compile(r"(.+)\[(\d+)\]")


class PassColumns:
    """One pass: which counters it has, and their values in the dispatches `numbers`; NaN = not measured."""

    def __init__(self, frame: pl.DataFrame, numbers: Any) -> None:
        self._frame = frame
        pass_dispatches = frame["dispatch"].to_numpy()
        #: Row of the frame for each dispatch, -1 = it has none; None = its rows are the dispatches in their order.
        self._rows: Any = None
        if not len(pass_dispatches):
            self._rows = np.full(len(numbers), -1)
        elif not np.array_equal(pass_dispatches, numbers):
            order = np.argsort(pass_dispatches, kind="stable")
            place = np.minimum(np.searchsorted(pass_dispatches[order], numbers), len(pass_dispatches) - 1)
            self._rows = np.where(pass_dispatches[order][place] == numbers, order[place], -1)
        self._vectors: dict[str, Any] = {}  # Column -> its values, of columns that were asked for.
        self._matrix: Any = None  # A small frame as an array, with a row for each column.
        self._row_of_name: dict[str, int] = {}  # Column -> its row of the matrix.
        self.names = frozenset(frame.columns) - {"dispatch"}
        self.channels: dict[str, list[int]] = {}  # Counter -> its channels, in order.
        for name in frame.columns:
            if name.endswith("]") and (match := _CHANNEL.fullmatch(name)):
                self.channels.setdefault(match[1], []).append(int(match[2]))
        for channels in self.channels.values():
            channels.sort()

    def load(self, names: Iterable[str]) -> None:
        """Take these columns over at once, which is faster than one by one."""
        new_names = [name for name in dict.fromkeys(names) if name in self.names and name not in self._vectors]
        if new_names:
            self._vectors.update(zip(new_names, self.vectors(new_names), strict=True))

    def vector(self, name: str) -> Any:
        """One column."""
        if name not in self._vectors:
            self.load([name])
        return self._vectors[name]

    def vectors(self, names: list[str]) -> Any:
        """Several columns, one below the other; they are not cached."""
        values = self._values_of(names)
        if self._rows is None:
            return values
        if not values.shape[1]:
            return np.full((len(names), len(self._rows)), np.nan)
        return np.where(self._rows >= 0, values[:, self._rows], np.nan)

    def _values_of(self, names: list[str]) -> Any:
        """Columns of the frame; a small frame is taken over whole, because each call into it costs more."""
        if self._frame.height * self._frame.width > _SMALL_VALUES:
            values = np.empty((len(names), self._frame.height))
            for row, name in enumerate(names):  # one by one: together they would be in memory several times
                values[row] = self._frame.get_column(name).to_numpy()
            return values
        if self._matrix is None:
            self._row_of_name = {name: place for place, name in enumerate(self._frame.columns)}
            self._matrix = self._frame.to_numpy().T
        return self._matrix[[self._row_of_name[name] for name in names]]


class Columns:
    """All passes over the chosen dispatches; `frames` stand in for those of the capture."""

    def __init__(self, counters: CounterSet, numbers: Any, *, frames: Mapping[int, pl.DataFrame] | None = None) -> None:
        self.numbers = numbers  #: Values of `dispatches.dispatch`.
        measured = counters.measured if frames is None else frames
        self.passes = {number: PassColumns(frame, numbers) for number, frame in sorted(measured.items())}
        rows = counters.passes
        self.name_of: dict[int, str] = dict(zip(rows["pass"], rows["name"].fill_null(""), strict=True))
        self.joined: set[int] = set(rows.filter("is_joined")["pass"])

    @property
    def highest_channel(self) -> int:
        """Number of the last L2 channel that a counter was measured of; -1 = there is none."""
        lists = [channels for columns in self.passes.values() for channels in columns.channels.values()]
        return max((channels[-1] for channels in lists), default=-1)
