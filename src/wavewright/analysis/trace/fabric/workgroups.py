"""Memory accesses of any workgroup of a dispatch, traced or not.

Its ids and the arguments are certain when its waves start, so they can be walked through the code: a wave goes where
its branches lead, and the traced way where nothing certain tells a branch. Arguments that are pointers and that nobody
gave get addresses far apart, by assumption (`Workgroups.place_pointers`): then different buffers have different lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from math import ceil, prod
from typing import Final

import numpy as np
import polars as pl

from wavewright import _core
from wavewright.analysis.trace.lanes import evaluated
from wavewright.analysis.trace.lanes.reasons import reason_text
from wavewright.analysis.trace.lanes.start import StartState
from wavewright.codeobj.code_object import Kernel
from wavewright.model.trace import ThreadTrace

Ids = tuple[int, int, int]

_LANES: Final = 64  # addresses of an execution, as the evaluator returns them
_MOST_STEPS: Final = 400_000  #: Instructions of one wave that are evaluated at most.
_MOST_INSTRUCTIONS: Final = 12_000_000  #: Instructions of all waves of a dispatch that are evaluated at most.
_MOST_PATHS: Final = 4  #: Traced paths, the longest first, along which the walk of a wave is tried.
_MOST_POINTERS: Final = 64  #: Arguments that get addresses by assumption, at most.
_POINTER_BYTES: Final = 8
_POINTER_STEP: Final = 1 << 40  #: Bytes between the buffers of two pointers, and their alignment, by assumption.
# cpp/include/wavewright/evaluate.hpp: Space none and lds, Direction, ReasonKind none
_NOT_GLOBAL: Final = (0, 1)
LOAD, STORE, ATOMIC, LOAD_TO_LDS = range(4)
_NO_REASON: Final = 0


class OutOfBudgetError(Exception):
    """More instructions would have to be evaluated than anybody would wait for."""


@dataclass(frozen=True)
class Accesses:
    """Executions of memory instructions by the waves of one workgroup, wave after wave: arrays by execution."""

    row: np.ndarray  #: Code row.
    place: np.ndarray  #: Place of the wave in its workgroup.
    position: np.ndarray  #: On the path of its wave.
    barriers: np.ndarray  #: Barriers that its wave passed before.
    is_known: np.ndarray  #: Whether the addresses of all active lanes are certain.
    active: np.ndarray  #: A bit for each lane; 0 = not known.
    address: np.ndarray  #: [executions x lanes], in bytes.
    kind: np.ndarray  #: Why it is not known: ReasonKind of the evaluator.
    detail: np.ndarray  #: Detail of the reason: a row, an offset, ...
    stopped_rows: tuple[int, ...]  #: Rows behind which nothing tells where a wave goes.
    assumed_branch_count: int  #: Branches that went the traced way because nothing certain tells them.
    is_as_traced: bool  #: Whether one of its waves goes a traced way.
    step_count: int = 0  #: Instructions of its waves.

    @property
    def first(self) -> np.ndarray:
        """The address of the first active lane of each execution; of lane 0 where none is active."""
        lowest_bit = self.active & (~self.active + np.uint64(1))
        lane = np.log2(np.maximum(lowest_bit, np.uint64(1)).astype(np.float64)).astype(np.int64)
        first: np.ndarray = self.address[np.arange(len(lane)), lane]
        return first

    def active_lanes(self, numbers: np.ndarray) -> np.ndarray:
        """[executions x lanes]: whether a lane is active in each of some executions."""
        bits = self.active[numbers][:, None] >> np.arange(_LANES, dtype=np.uint64)
        is_active: np.ndarray = bits % np.uint64(2) == 1
        return is_active

    def of_place(self, place: int) -> Accesses:
        """The executions of the wave at a place."""
        is_there = self.place == place
        values = ((column.name, getattr(self, column.name)) for column in fields(self))
        return replace(self, **{name: value[is_there] for name, value in values if isinstance(value, np.ndarray)})

    def key(self) -> bytes:
        """Equal for workgroups that do the same at addresses that differ by one number for each execution."""
        is_certain = self.active_lanes(np.arange(len(self.active))) & self.is_known[:, None]
        relative = np.where(is_certain, self.address - self.first[:, None], 0)
        parts = (self.row, self.place, self.barriers, self.is_known, self.active, relative)
        return b"".join(np.ascontiguousarray(part).tobytes() for part in parts) + repr(self.stopped_rows).encode()


@dataclass
class Workgroups:
    """The workgroups of the dispatch of a trace."""

    trace: ThreadTrace
    evaluator: _core.LaneEvaluator
    start: StartState
    kernel: Kernel | None
    paths: tuple[pl.Series, ...]  #: Rows of the traced paths, the longest first.
    counts: Ids  #: Workgroups in x, y and z.
    space: np.ndarray  #: By code row: Space of the evaluator.
    direction: np.ndarray  #: By code row: Direction of the evaluator.
    width_bytes: np.ndarray  #: By code row: bytes of one lane.
    is_barrier: np.ndarray  #: By code row.
    _usual_path: dict[int, int] = field(default_factory=dict)  #: Place of a wave -> the path that the last one went.
    _new_pointers: set[int] = field(default_factory=set)  #: Offsets of arguments that turned out to be pointers.
    pointers: dict[int, int] = field(default_factory=dict)  #: Offset of an argument -> address that is assumed.
    evaluated_count: int = 0  #: Waves walked so far.
    instruction_count: int = 0  #: Instructions walked so far, of `_MOST_INSTRUCTIONS`.

    @property
    def total(self) -> int:
        """Workgroups of the dispatch."""
        return prod(self.counts)

    def ids(self, numbers: np.ndarray) -> np.ndarray:
        """Ids of workgroups by their numbers, which count x first: three rows."""
        x, y, _ = self.counts
        return np.stack([numbers % x, numbers // x % y, numbers // x // y])

    def accesses(
        self, ids: Sequence[int], places: Sequence[int] | None = None, most_steps: int = _MOST_STEPS
    ) -> Accesses:
        """Accesses of one workgroup, or of its waves at some places; `most_steps` instructions of each at most.

        Notes which further arguments turn out to be pointers. Raises `OutOfBudgetError`: too much was evaluated
        already.
        """
        start = self.start.of_workgroup([int(number) for number in ids], self.pointers)
        places = range(self.start.wave_count) if places is None else places
        walks = [self._walk(start, place, most_steps) for place in places]
        tables = [self._executions(walk, place) for place, walk in zip(places, walks, strict=True)]
        columns = {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}
        base_pointers = {int(offset) for offset in np.unique(columns.pop("base_pointer")) if offset >= 0}
        self._new_pointers = base_pointers - self.pointers.keys()
        return Accesses(
            **columns,
            stopped_rows=tuple(sorted({walk["stopped_row"] for walk in walks if not walk["is_complete"]})),
            assumed_branch_count=sum(walk["assumed_branch_count"] for walk in walks),
            is_as_traced=any(walk["is_as_traced"] for walk in walks),
            step_count=sum(len(pl.DataFrame(walk["path"])) for walk in walks),
        )

    def _executions(self, walk: _core.LaneWalk, place: int) -> dict[str, np.ndarray]:
        """The arrays of `Accesses` for a walk, and `base_pointer`: offset of the argument that is a base; -1 = none."""
        rows = pl.DataFrame(walk["path"])["row"].to_numpy()
        table = pl.DataFrame(walk["executions"])
        position = table["position"].to_numpy()
        row, barriers_before = rows[position], np.cumsum(self.is_barrier[rows])[position]
        # Addresses from an unknown base cannot be compared with those of other workgroups: they are not known here.
        is_known = (table["is_known"].to_numpy() == 1) & (table["has_base"].to_numpy() == 0)
        columns = {
            "row": row,
            "place": np.full(len(row), place),
            "position": position,
            "barriers": barriers_before,
            "is_known": is_known,
            "active": np.where(is_known, table["active"].to_numpy(), 0),
            "address": pl.DataFrame(walk["execution_addresses"])["address"].to_numpy().reshape(-1, _LANES),
            **{name: table[name].to_numpy() for name in ("kind", "detail", "base_pointer")},
        }
        is_in_memory = ~np.isin(self.space[row], _NOT_GLOBAL)
        return {name: column[is_in_memory] for name, column in columns.items()}

    def place_pointers(self) -> None:
        """Give addresses far apart to the pointers among the arguments that nobody gave.

        A walk shows which further arguments are used as bases: not every code object declares the kinds of arguments.
        """
        arguments = self.start.arguments
        offsets = [argument.offset_bytes for argument in arguments.arguments]
        offsets = [offset for offset in offsets if arguments.is_pointer(offset)]
        self._new_pointers = {offset for offset in offsets if arguments.bytes_at(offset, _POINTER_BYTES) is None}
        while self._new_pointers and len(self.pointers) + len(self._new_pointers) <= _MOST_POINTERS:
            for offset in sorted(self._new_pointers):
                self.pointers[offset] = _POINTER_STEP * (len(self.pointers) + 1)
            self.accesses((0, 0, 0))

    def reason(self, kind: int, detail: int) -> str:
        """A reason of the evaluator as a clause."""
        if kind == _NO_REASON:  # the lanes are certain relative to a base, and the base is not
            return "depends on a pointer that is loaded from memory"
        return reason_text(kind, detail, self.trace.code["text"].fill_null("").to_list(), self.start.arguments)

    def _walk(self, start: _core.WaveStart, place: int, most_steps: int) -> _core.LaneWalk:
        """The walk of the wave at a place: along a traced path that it goes to its end, if there is one.

        The path of the wave before is tried first. Where none fits, a walk that comes to its end is the best.
        """
        best = None
        usual = self._usual_path.get(place, 0)
        for number in (usual, *(other for other in range(min(_MOST_PATHS, len(self.paths))) if other != usual)):
            if self.instruction_count > _MOST_INSTRUCTIONS:
                raise OutOfBudgetError
            walk = self.evaluator.walk(start, place, self.paths[number], most_steps)
            self.evaluated_count += 1
            self.instruction_count += len(pl.DataFrame(walk["path"]))
            best = walk if best is None or (walk["is_complete"] and not best["is_complete"]) else best
            if walk["is_complete"] and walk["is_as_traced"]:
                self._usual_path[place] = number
                return walk
        return best  # type: ignore[return-value]


def workgroups_of(
    trace: ThreadTrace, target: str, options: evaluated.LaneOptions, kernel: int | None
) -> Workgroups | None:
    """The workgroups of a kernel's dispatch; None = the size of its grid or of its workgroups is not known."""
    lanes = evaluated.lanes_of_waves(trace)
    rules = evaluated.row_rules(trace, target, options.rules, lanes)
    paths = evaluated.paths_of(trace).filter(pl.col("kernel").eq_missing(pl.lit(kernel, pl.UInt32)))
    paths = paths.filter(pl.col("rows").list.len() > 0).sort(pl.col("rows").list.len(), descending=True)
    size = evaluated.dispatch_size(trace, options, kernel)
    start = evaluated.start_of(trace, target, options, kernel, lanes)
    group = size.workgroup_size or (start.workgroup_size if start.is_sized else None)
    if size.grid_size is None or group is None or paths.is_empty():
        return None
    x, y, z = (ceil(grid / items) for grid, items in zip(size.grid_size, group, strict=True))
    space, direction, width_bytes = (
        rules.frame[name].to_numpy().astype(np.int64) for name in ("space", "direction", "width_bytes")
    )
    return Workgroups(
        trace=trace,
        evaluator=evaluated.path_evaluator(trace, target, options, rules, lanes),
        start=start,
        kernel=None if kernel is None else trace.compiled_kernel(kernel),
        paths=tuple(pl.Series(rows, dtype=pl.Int32) for rows in paths["rows"].to_list()),
        counts=(x, y, z),
        space=space,
        direction=direction,
        width_bytes=width_bytes,
        is_barrier=trace.code["text"].fill_null("").str.contains(r"^s_barrier(_wait)?\b").to_numpy(),
    )
