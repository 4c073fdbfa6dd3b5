"""Bytes that the waves of a kernel touch at least once, over all workgroups.

Requests of lanes are no traffic of memory: rows that all workgroups read, and bytes that a wave reads again, are served
by caches. What a workgroup touches follows from the lane addresses of its waves (`_touched`); whether the next
workgroup touches other bytes follows from the terms of its addresses (`address_terms`): accesses with the same base are
a group, and a group is of one workgroup alone or shared by all (`_sharing`). Everything has a lower and an upper bound.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import polars as pl

from wavewright import _core
from wavewright.analysis.trace.code.accesses import accesses
from wavewright.analysis.trace.lanes import EVALUATED_FAMILIES
from wavewright.analysis.trace.lanes.address_terms import (
    ARGUMENT,
    MEMORY,
    WORK_ITEM,
    WORKGROUP,
    Registers,
    Terms,
    added,
    split_text,
)
from wavewright.analysis.trace.lanes.evaluated import (
    LaneOptions,
    lanes_of_waves,
    path_evaluator,
    paths_of,
    row_rules,
    start_of,
)
from wavewright.analysis.trace.lanes.start import StartState
from wavewright.codeobj.targets import family_of
from wavewright.errors import WavewrightError
from wavewright.model.trace import ThreadTrace

_MOST_PATHS: Final = 4  #: Paths that are followed, those of most executed instructions; of others nothing is certain.
_MOST_STEPS: Final = 60_000  #: Instructions of the followed paths, all together, at most.
_MOST_ACCESSES: Final = 30_000  #: Executions of memory instructions of a path, at all places of a workgroup, at most.
_WORK_ITEM_ID: Final = "v0@start"  #: Symbol of the id x in the first vector register.
_LANES: Final = 64  # addresses of an execution, as the evaluator returns them
_LARGEST_WORKGROUP: Final = 1024  # work-items
_AXES: Final = ("workgroup x", "workgroup y", "workgroup z")


@dataclass(frozen=True)
class Footprint:
    """Bytes that are touched, lower and upper bound each."""

    own_bytes_per_wave: tuple[float, float]  #: That no other workgroup touches.
    shared_bytes: tuple[float, float]  #: That all workgroups touch, once.
    requested_bytes_per_wave: float  #: By active lanes, as far as those are known.
    written_bytes_per_wave: float  #: Of the requests: stores.
    assumptions: tuple[str, ...]

    def total_bytes(self, wave_count: float) -> tuple[float, float]:
        """Of a dispatch with a number of waves; the upper bound is what its lanes request, if nothing is known."""
        bounds = zip(self.own_bytes_per_wave, self.shared_bytes, strict=True)
        low, high = (per_wave * wave_count + once for per_wave, once in bounds)
        return low, min(high, self.requested_bytes_per_wave * wave_count)


@dataclass(frozen=True)
class _PathAccess:
    """One execution of a memory instruction on a path."""

    position: int  #: On the path.
    is_store: bool
    is_load: bool  #: Neither of both: an atomic.
    bytes_per_lane: int
    terms: Terms | None  #: Of the address; None = a way of addressing that is not followed.


class _Movement(NamedTuple):
    """Data that a code row moves between registers and memory."""

    direction: str
    bytes_per_lane: int


def footprint(trace: ThreadTrace, target: str, options: LaneOptions | None = None) -> Footprint | None:
    """The footprint of the traced waves, as a mean over their paths; None = the code of this GPU is not followed."""
    if family_of(target) not in EVALUATED_FAMILIES:
        return None
    options = options or LaneOptions(target=target)
    try:
        return _footprint(trace, target, options)
    except WavewrightError:  # sizes or arguments that do not fit the kernel: `lanes` says so
        return None


def _footprint(trace: ThreadTrace, target: str, options: LaneOptions) -> Footprint | None:
    paths = paths_of(trace).with_columns(length=pl.col("rows").list.len())
    paths = paths.filter(pl.col("length") > 0).sort(pl.col("length") * pl.col("wave_count"), descending=True)
    wave_count = int(paths["wave_count"].sum())
    if not wave_count:
        return None
    lanes = lanes_of_waves(trace)
    parts: list[tuple[float, Footprint]] = []  # share of the waves that took a path, and what they touched
    steps = 0
    evaluator = path_evaluator(trace, target, options, row_rules(trace, target, options.rules, lanes), lanes)
    vector = accesses(trace.code).filter(pl.col("space").is_in(["memory", "flat"])).drop_nulls("bytes_per_lane")
    columns = vector.select("row", "direction", "bytes_per_lane").iter_rows()
    movements = {row: _Movement(direction, size) for row, direction, size in columns}
    for number, (kernel, waves, rows) in enumerate(paths.select("kernel", "wave_count", "rows").iter_rows()):
        steps += len(rows)
        if number >= _MOST_PATHS or steps > _MOST_STEPS:
            part = _unknown(rows, movements, lanes)
        else:
            start = start_of(trace, target, options, kernel, lanes)
            part = _of_path(trace, start, evaluator, rows, movements, lanes)
        parts.append((waves / wave_count, part))

    def mean(numbers: Iterable[float]) -> float:
        return float(sum(share * number for (share, _), number in zip(parts, numbers, strict=True)))

    low, high = (mean(part.own_bytes_per_wave[bound] for _, part in parts) for bound in (0, 1))
    # What waves on different paths share may be the same bytes, or different ones.
    shared = max(part.shared_bytes[0] for _, part in parts), sum(part.shared_bytes[1] for _, part in parts)
    requested = mean(part.requested_bytes_per_wave for _, part in parts)
    notes = tuple(dict.fromkeys(note for _, part in parts for note in part.assumptions))
    return Footprint((low, high), shared, requested, mean(part.written_bytes_per_wave for _, part in parts), notes)


def _unknown(rows: Iterable[int], movements: dict[int, _Movement], lanes: int) -> Footprint:
    """The footprint of a path of which only the requests are known."""
    executed = [movements[row] for row in rows if row in movements]
    request_bytes = float(sum(size for _, size in executed) * lanes)
    store_bytes = float(sum(size for direction, size in executed if direction == "store") * lanes)
    return Footprint((0.0, request_bytes), (0.0, 0.0), request_bytes, store_bytes, ())


def _of_path(
    trace: ThreadTrace,
    start: StartState,
    evaluator: _core.LaneEvaluator,
    rows: Sequence[int],
    movements: dict[int, _Movement],
    lanes: int,
) -> Footprint:
    """The footprint of one workgroup whose waves all take this path, divided by its waves."""
    roles = {number: ARGUMENT if axis is None else _AXES[axis] for number, axis in start.roles.items()}
    registers = Registers(roles, is_complete=bool(roles))
    path_accesses = _followed(trace, registers, rows, movements)
    # of a workgroup of unknown size two waves are compared: the others are as far apart
    wave_count = start.wave_count if start.is_sized or start.wave_count < _LARGEST_WORKGROUP // lanes else 2
    if len(path_accesses) * wave_count > _MOST_ACCESSES:
        return _unknown(rows, movements, lanes)
    positions = {access.position for access in path_accesses}
    ranges, places = _touched(evaluator, start, rows, positions, wave_count)
    if not places:
        return _unknown(rows, movements, lanes)
    lane_counts = {position: sum(map(len, lanes_of_places)) / places for position, lanes_of_places in ranges.items()}
    request_bytes = [access.bytes_per_lane * lane_counts.get(access.position, lanes) for access in path_accesses]
    stores = sum(size for access, size in zip(path_accesses, request_bytes, strict=True) if access.is_store)
    groups = _groups(path_accesses, registers)
    ranges |= _linear_ranges(groups, ranges, registers, places, lanes)
    of_one_wave = {position: of_places[:1] for position, of_places in ranges.items()}  # a workgroup has one at least
    bounds_own, bounds_shared = [0.0, 0.0], [0.0, 0.0]
    for group in groups:
        low, high = _group_bytes(group, ranges, registers, places, lanes)
        sharing = _sharing(group, registers, ranges if start.is_sized else of_one_wave)
        bounds = bounds_own if sharing.is_own else bounds_shared
        bounds[0] += low if sharing.is_certain else 0.0
        bounds[1] += high
    own, shared = (bounds_own[0] / places, bounds_own[1] / places), (bounds_shared[0], bounds_shared[1])
    return Footprint(own, shared, float(sum(request_bytes)), float(stores), _assumptions(registers))


def _followed(
    trace: ThreadTrace, registers: Registers, rows: Sequence[int], movements: dict[int, _Movement]
) -> list[_PathAccess]:
    """Accesses of a path with the terms of their addresses."""
    texts, writes = (trace.code[name].fill_null("").to_list() for name in ("text", "writes"))
    path_accesses = []
    for position, row in enumerate(rows):
        if row < 0:
            continue
        if row not in movements:
            registers.execute(texts[row], writes[row])
            continue
        direction, size = movements[row]
        is_store, is_load = direction == "store", direction in ("load", "load to LDS")
        terms = _address(registers, texts[row], is_store=is_store)
        path_accesses.append(_PathAccess(position, is_store, is_load, size, terms))
        registers.load_vectors(row, position, writes[row])
    return path_accesses


def _address(registers: Registers, text: str, *, is_store: bool) -> Terms | None:
    """The terms of an address: of a buffer resource + scalar offset + vector offset, else vector + scalar address."""
    mnemonic, operands = split_text(text)
    if not operands:
        return None
    last, _, modifiers = operands[-1].partition(" ")
    operands = [*operands[:-1], last]
    if mnemonic.startswith("buffer"):
        resource = next((at for at, word in enumerate(operands) if word.startswith("s[")), None)
        if resource is None or resource + 1 >= len(operands) or "idxen" in modifiers:
            return None
        terms = added(registers.read(operands[resource]), registers.read(operands[resource + 1]))
        if "offen" in modifiers and resource:
            terms = added(terms, registers.read(operands[resource - 1]))
    else:
        address = 0 if is_store else 1  # loads name their destination first
        if address >= len(operands) or not operands[address].startswith("v"):
            return None
        terms = registers.read(operands[address])
        if operands[-1].startswith("s["):
            terms = added(terms, registers.read(operands[-1]))
    offset = next((word[7:] for word in modifiers.split() if word.startswith("offset:")), "0")
    return added(terms, registers.read(offset))


def _groups(path_accesses: Sequence[_PathAccess], registers: Registers) -> list[list[_PathAccess]]:
    """Accesses with the same base: the same terms, but for the constant and what differs between lanes."""
    groups: dict[object, list[_PathAccess]] = defaultdict(list)
    for access in path_accesses:
        key = None if access.terms is None else (access.is_store, frozenset(_base(access.terms, registers).items()))
        groups[key if key is not None else ("unknown", access.position)].append(access)
    return list(groups.values())


def _base(terms: Terms, registers: Registers) -> Terms:
    """The terms that all lanes of a wave have in common, but for the constant."""
    return {
        product: count
        for product, count in terms.items()
        if product and not any(WORK_ITEM in registers.origins[symbol] for symbol in product)
    }


def _touched(
    evaluator: _core.LaneEvaluator, start: StartState, rows: Sequence[int], positions: set[int], wave_count: int
) -> tuple[dict[int, list[np.ndarray]], int]:
    """Position on the path -> addresses of the active lanes, at each place that takes it; the number of such places."""
    ranges: dict[int, list[np.ndarray]] = defaultdict(list)
    path = pl.Series(rows, dtype=pl.Int32)
    place_count = 0
    for place in range(wave_count):
        result = evaluator.run(start.wave, place, path, 0, keeps_executions=True)
        if result["contradiction_row"] >= 0:
            continue  # waves at this place take another path
        place_count += 1
        table = pl.DataFrame(result["executions"]).select("position", "active", "is_known")
        addresses = pl.DataFrame(result["execution_addresses"])["address"].to_numpy().reshape(-1, _LANES)
        for lane_addresses, (position, active, is_known) in zip(addresses, table.iter_rows(), strict=True):
            if is_known and position in positions:
                ranges[position].append(lane_addresses[[lane for lane in range(_LANES) if active >> lane & 1]])
    return {position: found for position, found in ranges.items() if len(found) == place_count}, place_count


def _group_bytes(
    group: Sequence[_PathAccess], ranges: dict[int, list[np.ndarray]], registers: Registers, places: int, lanes: int
) -> tuple[float, float]:
    """Distinct bytes of the accesses of one base by the waves of a workgroup: at least and at most."""
    by_terms: dict[object, list[_PathAccess]] = defaultdict(list)
    for access in group:
        by_terms[frozenset((access.terms or {}).items())].append(access)
    if any(access.position not in ranges for access in group):
        request_bytes = float(sum(same[0].bytes_per_lane for same in by_terms.values()) * lanes * places)
        terms = group[0].terms or {}
        if not group[0].is_store or WORK_ITEM not in registers.origins_of(terms):
            return 0.0, request_bytes
        registers.lanes_assumed = True  # two lanes that write the same bytes would race
        return request_bytes, request_bytes
    # constants may be a part of the base that the evaluator does not know: not merged, the bytes are at most so many
    return _covered(group, ranges), sum(_covered(same, ranges) for same in by_terms.values())


def _lane_terms(access: _PathAccess, registers: Registers) -> Terms:
    terms = access.terms or {}
    return {p: n for p, n in terms.items() if any(WORK_ITEM in registers.origins[symbol] for symbol in p)}


def _linear_ranges(
    groups: Iterable[Sequence[_PathAccess]],
    ranges: dict[int, list[np.ndarray]],
    registers: Registers,
    places: int,
    lanes: int,
) -> dict[int, list[np.ndarray]]:
    """Addresses of all lanes where only the mask is not known: those are the id of the work-item times a number."""
    linear = {}
    for group in groups:
        is_known = all(access.position in ranges for access in group)
        if is_known or any(_lane_terms(access, registers).keys() != {(_WORK_ITEM_ID,)} for access in group):
            continue
        registers.lanes_assumed = True
        for access in group:
            stride, constant = _lane_terms(access, registers)[_WORK_ITEM_ID,], (access.terms or {}).get((), 0)
            of_places = (np.arange(place * lanes, (place + 1) * lanes) for place in range(places))
            linear[access.position] = [constant + stride * items for items in of_places]
    return linear


def _covered(executions: Iterable[_PathAccess], ranges: dict[int, list[np.ndarray]]) -> float:
    starts = [(address, access.bytes_per_lane) for access in executions for address in ranges[access.position]]
    return float(_union(np.concatenate([a for a, _ in starts]), np.concatenate([a + size for a, size in starts])))


def _union(start: np.ndarray, end: np.ndarray) -> int:
    """Bytes that ranges cover together."""
    if not start.size:
        return 0
    order = np.argsort(start)
    start, reach = start[order], np.maximum.accumulate(end[order])
    gaps = start[1:] > reach[:-1]
    return int(reach[-1] - start[0] - (start[1:][gaps] - reach[:-1][gaps]).sum())


class _Sharing(NamedTuple):
    """The workgroups that touch the bytes of a group."""

    is_own: bool  #: Of one workgroup alone; else all workgroups touch them.
    is_certain: bool  #: If not, the lower bound is 0.


def _sharing(group: Sequence[_PathAccess], registers: Registers, ranges: dict[int, list[np.ndarray]]) -> _Sharing:
    terms = group[0].terms
    if terms is None or not (group[0].is_store or group[0].is_load):
        return _Sharing(is_own=True, is_certain=False)
    origins = registers.origins_of(terms)
    if MEMORY in origins:
        return _Sharing(is_own=True, is_certain=False)
    if WORKGROUP not in origins:
        return _Sharing(is_own=False, is_certain=True)
    if group[0].is_store:
        return _Sharing(is_own=True, is_certain=True)  # two workgroups that write the same bytes would race
    id_terms = _workgroup_terms(_base(terms, registers), registers)
    if id_terms is None or registers.workgroup_symbols - {symbol for product in id_terms for symbol in product}:
        return _Sharing(is_own=True, is_certain=False)  # workgroups that differ in the other ids share the bytes
    strides = [abs(count) for product, count in id_terms.items() if len(product) == 1]
    if len(strides) < len(id_terms):
        registers.strides_assumed = True  # of an argument: rows of a matrix
        return _Sharing(is_own=True, is_certain=True)
    return _Sharing(is_own=True, is_certain=len(id_terms) == 1 and strides[0] >= _extent(group, ranges))


def _workgroup_terms(base: Terms, registers: Registers) -> Terms | None:
    """Terms with ids of workgroups, by themselves or times arguments; None = in another form, or there are none."""
    terms = {p: n for p, n in base.items() if any(WORKGROUP in registers.origins[symbol] for symbol in p)}
    symbols = {symbol for product in terms for symbol in product} - registers.workgroup_symbols
    return terms if terms and all(registers.origins[symbol] <= {ARGUMENT} for symbol in symbols) else None


def _extent(group: Sequence[_PathAccess], ranges: dict[int, list[np.ndarray]]) -> float:
    places = [(address, access) for access in group for address in ranges.get(access.position, ()) if address.size]
    if not places or any(access.position not in ranges for access in group):
        return float("inf")
    return float(max(a.max() + access.bytes_per_lane for a, access in places) - min(a.min() for a, _ in places))


def _assumptions(registers: Registers) -> tuple[str, ...]:
    notes = ["workgroups do not write the same bytes"]
    if registers.guesses:
        names = ", ".join(sorted(registers.guesses))
        notes.append(f"{names} {'hold ids' if len(registers.guesses) > 1 else 'holds the id'} of the workgroup")
    if registers.lanes_assumed:
        notes.append("all lanes are active where nothing tells them")
    if registers.strides_assumed:
        notes.append("rows that workgroups read, a stride of an argument apart, do not overlap")
    return tuple(notes)
