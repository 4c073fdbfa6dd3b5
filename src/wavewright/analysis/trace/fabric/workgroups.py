"""Memory accesses of any workgroup: its waves go where their branches lead, from its ids and arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from math import ceil, prod
from typing import Final

import numpy as np
import polars as pl

from wavewright import _core
from wavewright.analysis.trace.lanes.evaluated import (
    LaneOptions,
    dispatch_size,
    lanes_of_waves,
    path_evaluator,
    paths_of,
    row_rules,
    start_of,
)
from wavewright.analysis.trace.lanes.reasons import reason_text
from wavewright.analysis.trace.lanes.start import StartState
from wavewright.codeobj.code_object import Kernel
from wavewright.model.trace import ThreadTrace

Ids = tuple[int, int, int]

_LANES: Final = 64  # addresses of an execution, as the evaluator returns them
_MOST_STEPS: Final = 400_000  #: Instructions of one wave.
_MOST_INSTRUCTIONS: Final = 12_000_000  #: That are evaluated for one dispatch.
_MOST_PATHS: Final = 4  #: Traced ones that a wave is compared with, the longest first.
_MOST_POINTERS: Final = 64
_POINTER_BYTES: Final = 8
_POINTER_STEP: Final = 1 << 40  #: Bytes between the buffers of two pointers, and their alignment, by assumption.
_NOT_GLOBAL: Final = (0, 1)  # cpp/include/wavewright/evaluate.hpp: Space none and lds
LOAD, STORE, ATOMIC, LOAD_TO_LDS = range(4)  # Direction


class OutOfBudgetError(Exception):
    """More instructions would have to be evaluated than anybody would wait for."""


@dataclass(frozen=True)
class Accesses:
    """Executions of memory instructions by the waves of one workgroup, wave after wave."""

    row: np.ndarray  #: Of the code.
    place: np.ndarray  #: Of the wave in its workgroup.
    position: np.ndarray  #: On the path of its wave.
    barriers: np.ndarray  #: Barriers that its wave passed before.
    is_known: np.ndarray
    active: np.ndarray  #: A bit for each lane.
    address: np.ndarray  #: Of each lane, in bytes.
    kind: np.ndarray  #: Why not: ReasonKind of the evaluator,
    detail: np.ndarray  #: and its detail.
    stopped_rows: tuple[int, ...]  #: Rows behind which nothing tells where a wave goes.
    branch_counts: tuple[int, int, int]  #: Conditional branches; of these certain ones; those that went the traced way.
    is_as_traced: bool  #: Whether one of its waves goes a traced way.
    step_count: int = 0  #: Instructions of its waves.

    @property
    def first(self) -> np.ndarray:
        """The address of the first active lane of each execution."""
        lowest = self.active & (~self.active + np.uint64(1))
        number = np.log2(np.maximum(lowest, np.uint64(1)).astype(np.float64)).astype(np.int64)
        first: np.ndarray = self.address[np.arange(len(number)), number]
        return first

    def active_lanes(self, numbers: np.ndarray) -> np.ndarray:
        """[executions x lanes]: whether a lane is active in each of some executions."""
        is_active: np.ndarray = (self.active[numbers][:, None] >> np.arange(_LANES, dtype=np.uint64)) & np.uint64(
            1
        ) == 1
        return is_active

    def of_place(self, place: int) -> Accesses:
        """Those of the wave at a place."""
        is_there = self.place == place
        values = ((each.name, getattr(self, each.name)) for each in fields(self))
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
    paths: tuple[pl.Series, ...]  #: That the trace has, the longest first.
    counts: Ids  #: Workgroups in x, y and z.
    space: np.ndarray  #: By code row: Space of the evaluator,
    direction: np.ndarray  #: Direction,
    width_bytes: np.ndarray  #: bytes of one lane,
    is_barrier: np.ndarray  #: and whether it is a barrier.
    _usual_path: dict[int, int] = field(default_factory=dict)  #: Of the wave at each place.
    _found: set[int] = field(default_factory=set)  #: Offsets of arguments that turned out to be pointers.
    pointers: dict[int, int] = field(default_factory=dict)  #: Offset of an argument -> address that is assumed.
    evaluated_count: int = 0  #: Waves,
    instruction_count: int = 0  #: and their instructions.

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

        Raises `OutOfBudgetError`: too much was evaluated already.
        """
        start = self.start.of_workgroup([int(each) for each in ids], self.pointers)
        places = range(self.start.wave_count) if places is None else places
        walks = [self._walk(start, place, most_steps) for place in places]
        frames, stops, branches = [], [], np.zeros(3, np.int64)
        for place, walk in zip(places, walks, strict=True):
            rows = pl.DataFrame(walk["path"])["row"].to_numpy()
            table = pl.DataFrame(walk["executions"])
            position = table["position"].to_numpy()
            row, is_barrier = rows[position], self.is_barrier[rows]
            addresses = pl.DataFrame(walk["execution_addresses"])["address"].to_numpy().reshape(-1, _LANES)
            in_memory = ~np.isin(self.space[row], _NOT_GLOBAL)
            known_bases = (table["is_known"].to_numpy() == 1) & (table["has_base"].to_numpy() == 0)
            columns = (
                row, np.full(len(row), place), position, np.cumsum(is_barrier)[position], known_bases,
                np.where(known_bases, table["active"].to_numpy(), 0), addresses, table["kind"].to_numpy(),
                table["detail"].to_numpy(), table["base_pointer"].to_numpy(),
            )  # fmt: skip
            frames.append([column[in_memory] for column in columns])
            if not walk["is_complete"]:
                stops.append(walk["stopped_row"])
            branches += [walk[f"{kind}branch_count"] for kind in ("", "checked_", "assumed_")]  # type: ignore[literal-required]
        *columns_of_all, base_pointer = (np.concatenate(parts) for parts in zip(*frames, strict=True))
        self._found = {int(offset) for offset in np.unique(base_pointer) if offset >= 0} - self.pointers.keys()
        as_traced = any(walk["is_as_traced"] for walk in walks)
        branch_counts = tuple(int(each) for each in branches)
        steps = sum(len(pl.DataFrame(walk["path"])) for walk in walks)
        return Accesses(*columns_of_all, tuple(sorted(set(stops))), branch_counts, as_traced, steps)  # type: ignore[arg-type,call-arg]

    def place_pointers(self) -> None:
        """Give the pointers among the arguments that nobody gave addresses far apart."""
        arguments = self.start.arguments
        places = [each.offset_bytes for each in arguments.arguments if arguments.is_pointer(each.offset_bytes)]
        self._found = {place for place in places if arguments.bytes_at(place, _POINTER_BYTES) is None}
        while self._found and len(self.pointers) + len(self._found) <= _MOST_POINTERS:
            for offset in sorted(self._found):
                self.pointers[offset] = _POINTER_STEP * (len(self.pointers) + 1)
            self.accesses((0, 0, 0))

    def reason(self, kind: int, detail: int) -> str:
        """A reason of the evaluator as a clause."""
        texts = self.trace.code["text"].fill_null("").to_list()
        if kind == 0:
            return "depends on a pointer that is loaded from memory"
        return reason_text(kind, detail, (0, 0), texts, self.start.arguments)

    def _walk(self, start: _core.WaveStart, place: int, most_steps: int) -> _core.LaneWalk:
        """The walk of the wave at a place: along a traced path that it goes to its end, if there is one."""
        best = None
        usual = self._usual_path.get(place, 0)
        for number in (usual, *(each for each in range(min(_MOST_PATHS, len(self.paths))) if each != usual)):
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


def workgroups_of(trace: ThreadTrace, target: str, options: LaneOptions, kernel: int | None) -> Workgroups | None:
    """The workgroups of a kernel's dispatch; None = the size of its grid or of its workgroups is not known."""
    lanes = lanes_of_waves(trace)
    rules = row_rules(trace, target, options.rules, lanes)
    paths = paths_of(trace).filter(pl.col("kernel").eq_missing(pl.lit(kernel, pl.UInt32)))
    paths = paths.filter(pl.col("rows").list.len() > 0).sort(pl.col("rows").list.len(), descending=True)
    size = dispatch_size(trace, options, kernel)
    start = start_of(trace, target, options, kernel, lanes)
    group = size.workgroup_size or (start.fields["workgroup"] if start.is_sized else None)
    if size.grid_size is None or group is None or paths.is_empty():
        return None
    x, y, z = (ceil(grid / each) for grid, each in zip(size.grid_size, group, strict=True))
    names = ("space", "direction", "width_bytes")
    space, direction, width = (rules.frame[name].to_numpy().astype(np.int64) for name in names)
    return Workgroups(
        trace,
        path_evaluator(trace, target, options, rules, lanes),
        start,
        None if kernel is None else trace.compiled_kernel(kernel),
        tuple(pl.Series(rows, dtype=pl.Int32) for rows in paths["rows"].to_list()),
        (x, y, z),
        space,
        direction,
        width,
        trace.code["text"].fill_null("").str.contains(r"^s_barrier(_wait)?\b").to_numpy(),
    )
