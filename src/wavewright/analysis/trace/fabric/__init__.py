"""Bytes that leave the XCDs of a dispatch, and the orders of its workgroups that would save some.

From lane addresses alone: the accesses of all workgroups follow from their ids and the arguments (`workgroups`,
`alike`), the lines that each XCD touches from where workgroups run (`line_sets`, `mappings`), and what caches of
limited size lose from simulated orders of waves (`orders`, `traced_order`). Bytes are claimed, never time: what a byte
less gains depends on the bandwidth that a kernel reaches already. docs/reference/traffic.md explains the numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, Final

import numpy as np
import polars as pl

from wavewright.analysis.common.occupancy.limits import Resources, limits, resources_of
from wavewright.analysis.trace.fabric import line_sets
from wavewright.analysis.trace.fabric.alike import AllWorkgroups, all_workgroups
from wavewright.analysis.trace.fabric.line_sets import Ranges, Requests, TooScatteredError, Touched
from wavewright.analysis.trace.fabric.mappings import TODAY, Mapping, mappings
from wavewright.analysis.trace.fabric.orders import EXTREMES, ORDERS, Interval, Machine, interval, work_of
from wavewright.analysis.trace.fabric.traced_order import TRACED_BY_ASSUMPTION, traced_requests
from wavewright.analysis.trace.fabric.workgroups import ATOMIC, Ids, OutOfBudgetError, Workgroups, workgroups_of
from wavewright.analysis.trace.lanes import target_of
from wavewright.analysis.trace.lanes.evaluated import LaneOptions, paths_of
from wavewright.analysis.trace.selection import check_whole_waves
from wavewright.base.toml import packaged
from wavewright.errors import UnsupportedError, UsageError
from wavewright.facts.gpus.chiplets import CacheFacts, caches_of, xcd_count
from wavewright.facts.gpus.facts import of
from wavewright.model.answer import Answer
from wavewright.model.schema import empty_frame
from wavewright.model.trace import ThreadTrace

_LEAST_SAVED_SHARE: Final = 0.01  #: A mapping that saves a smaller share of the bytes read is not called better.
_MOST_LOOKUPS: Final = 3_000_000  #: Simulated lookups of L1 for all mappings beside today's, the best and the user's.
_RUNS: Final = 3  #: Simulations of such a mapping: without limits, and in the two extreme orders of waves.
_POINTER_BYTES: Final = 8
_GIVEN: Final = "given"  #: Name of the order of the user.
_DENSE_SHARE: Final = 0.9  #: Where less of the bytes from first to last is stored, a stride may be wrong.
_MOST_WORKGROUPS: Final = 4_000_000  #: Orders of more workgroups would take too much memory.
_PROBLEMS: Final[dict[str, str]] = packaged("problems.toml", __package__)


@dataclass(frozen=True)
class TrafficOptions:
    """Facts that the user knows beyond the capture."""

    lanes: LaneOptions = field(default_factory=LaneOptions)
    product: str = ""  #: MI300A, ...; empty = the usual one of the traced target.
    partition: str = ""  #: SPX, DPX, ...: over how many XCDs a dispatch goes round.
    order: tuple[int, ...] = ()  #: A mapping of the user: the number of the work of each launched workgroup.
    only_today: bool = False  #: Whether other mappings, and orders of waves, are left out.


@dataclass(frozen=True, kw_only=True)
class FabricTraffic(Answer, package=__package__):
    """Traffic of one dispatch between its L2 caches and the fabric."""

    mappings: pl.DataFrame
    arrays: pl.DataFrame
    rows: pl.DataFrame
    reasons: pl.DataFrame
    workgroups: pl.DataFrame
    fits: pl.DataFrame  #: Empty unless there were alternatives.
    target: str
    problem: str  #: Why there are no numbers; empty = there are.
    confidence: str  #: Of the facts about the caches: counter-proven, published or hypothesis; empty = there are none.
    evidence: str
    xcd_count: int
    line_bytes: int
    counts: Ids  #: Workgroups in x, y and z.
    evaluated_count: int = 0  #: Waves that were evaluated; the others follow from them.
    checked_count: int = 0  #: Workgroups drawn at random that agree with what follows.
    known_share: float = 0.0  #: Of the accesses; below 1 all bytes are at least so many.
    read_bytes: int = 0  #: From the fabric, in today's order, with caches that lose nothing: the lower bound.
    unavoidable_bytes: int = 0  #: That any order reads.
    write_bytes: int = 0  #: To the fabric.
    #: Of L2, over the orders of waves that were simulated and the traced one; None = none was simulated.
    hit_rate: tuple[float, float] | None = None
    simulated_count: int = 0  #: Workgroups of the simulation.
    read_request_count: float | None = None  #: From the vector L1 to L2; None = not counted for this GPU.
    write_request_count: float | None = None
    traced_count: int = 0  #: Workgroups whose accesses were followed in the traced order.
    #: From the vector L1 to L2, if all workgroups ask as those traced do, least and most; None = not followed.
    traced_read_requests: tuple[float, float] | None = None
    #: Of L2, with these requests and what L2 misses in the orders tried.
    traced_hit_rate: tuple[float, float] | None = None
    overlapping_bytes: int = 0  #: That several workgroups store.
    #: From HBM, where the Infinity Cache starts empty, over the orders of waves; None = no bound above.
    hbm_read_bytes: tuple[int, int | None] = (0, None)
    fits_infinity_cache: bool | None = None  #: Whether all that is touched fits; None = there is no such cache.
    best_mapping: str = ""  #: That reads fewest bytes; empty = nothing to win.
    notes: tuple[str, ...] = ()

    @property
    def replicated_bytes(self) -> int:
        """Bytes read because several XCDs read the same lines."""
        return self.read_bytes - self.unavoidable_bytes

    def without_numbers(self, problem: str) -> FabricTraffic:
        """The answer without what follows from addresses."""
        facts = {name: getattr(self, name) for name in ("xcd_count", "counts", "line_bytes", "confidence", "evidence")}
        return no_traffic(self.target, problem, **facts)


def fabric_traffic(
    trace: ThreadTrace, options: TrafficOptions | None = None, *, rows: pl.Series | None = None
) -> FabricTraffic:
    """The traffic of the traced dispatch.

    Raises `UsageError`: an argument, a size or an order does not fit the kernel, or the trace is a part of its waves'
    time.
    """
    check_whole_waves(trace)
    options = options or TrafficOptions()
    try:
        target = target_of(trace, options.lanes)
    except UnsupportedError as error:
        return no_traffic("", error.what)
    caches = caches_of(target)
    if caches is None:
        return no_traffic(target, f"nobody has told the caches of {target} here")
    xcds = xcd_count(options.product or target, options.partition)
    paths = paths_of(trace).with_columns(work=pl.col("rows").list.len() * pl.col("wave_count"))
    if not paths["work"].sum():
        return no_traffic(target, "no wave has instructions", caches)
    kernel = paths.sort("work", descending=True)["kernel"][0]
    workgroups = workgroups_of(trace, target, options.lanes, kernel)
    if workgroups is None or not workgroups.start.registers:
        return no_traffic(target, _PROBLEMS["no_grid"] if workgroups is None else _PROBLEMS["no_code"], caches)
    if workgroups.total > _MOST_WORKGROUPS:
        return no_traffic(target, _PROBLEMS["too_many"].format(most=_MOST_WORKGROUPS), caches, workgroups, xcds)
    try:
        workgroups.place_pointers()
        everything = all_workgroups(workgroups)
        if not everything.groups:
            return no_traffic(target, _PROBLEMS["too_long"], caches, workgroups, xcds)
        return _Sets(workgroups, everything, caches, xcds).answer(options, rows)
    except OutOfBudgetError:
        return no_traffic(target, _PROBLEMS["too_long"], caches, workgroups, xcds)
    except TooScatteredError:
        return no_traffic(target, _PROBLEMS["too_scattered"], caches, workgroups, xcds)


def no_traffic(
    target: str,
    problem: str,
    caches: CacheFacts | None = None,
    dispatch: Workgroups | None = None,
    xcds: int = 1,
    **facts: object,
) -> FabricTraffic:
    """The answer with empty tables; `facts` are the fields that are known all the same."""
    known = {
        **{name: empty_frame(table) for name, table in FabricTraffic.tables.items()},
        "xcd_count": xcds,
        "counts": dispatch.counts if dispatch else (0, 0, 0),
        "evaluated_count": dispatch.evaluated_count if dispatch else 0,
        "line_bytes": caches.line_bytes if caches else 0,
        "confidence": caches.confidence if caches else "",
        "evidence": caches.evidence if caches else "",
    }
    return FabricTraffic(target=target, problem=problem, **known | facts)  # type: ignore[arg-type]


class _Sets:
    """Sets of lines of a dispatch, and the answer that is made of them."""

    def __init__(self, workgroups: Workgroups, everything: AllWorkgroups, caches: CacheFacts, xcds: int) -> None:
        self.workgroups, self.everything, self.caches, self.xcds = workgroups, everything, caches, xcds
        self.line = caches.line_bytes
        self.bases, self.names = _arrays(workgroups)
        self.parts = line_sets.touched(everything.groups, workgroups, self.bases)
        self.loads = line_sets.by_array(self.parts, is_store=False)
        self.stores = line_sets.by_array(self.parts, is_store=True)
        self.today = next(mappings(workgroups.counts, xcds))
        self.unit_counts = line_sets.UnitCounts()
        stored_bytes = {array: line_sets.units(parts, unit=1) for array, parts in self.stores.items()}
        self.stored = {array: _byte_count_and_extent(ranges) for array, ranges in stored_bytes.items()}
        self._is_on_xcd: dict[str, list[np.ndarray]] = {}  #: Name of a mapping -> by XCD: which workgroups run on it.

    def answer(self, options: TrafficOptions, rows: pl.Series | None) -> FabricTraffic:
        """All of it, unless the self-check finds that the addresses cannot be."""
        known_share, reasons = self._known_share_and_reasons()
        checked_count = self.everything.checked_count
        facts = {"reasons": reasons, "known_share": known_share, "checked_count": checked_count, "notes": self._notes()}
        arrays, problem = self._array_frame(), ""
        written_bytes = int(arrays["written_bytes"].sum())
        if not self.parts:
            problem = reasons["reason"][0] if reasons.height else "no access of memory was executed"
        elif not any(group.accesses.is_as_traced for group in self.everything.groups):
            problem = _PROBLEMS["not_traced"]
        elif (stored_bytes := self._stored_bytes()) > written_bytes:
            facts |= {"overlapping_bytes": stored_bytes - written_bytes}
            problem = _PROBLEMS["overlap"].format(share=_share(stored_bytes - written_bytes, stored_bytes))
        if not problem:
            facts |= {"arrays": arrays, "rows": self._row_frame(rows)}
            facts |= self._traffic(options, int(arrays["unavoidable_bytes"].sum()), written_bytes, known_share)
        return no_traffic(self.caches.target, problem, self.caches, self.workgroups, self.xcds, **facts)

    def _traffic(
        self, options: TrafficOptions, unavoidable: int, written_bytes: int, known_share: float
    ) -> dict[str, Any]:
        """The fields of the answer that follow from the lines of all workgroups."""
        table = self._mapping_frame(options)
        best = table.sort("read_bytes", maintain_order=True).row(0, named=True)
        requests = self._requests()
        infinity_bytes = self.caches.infinity_cache_bytes
        fits = None if infinity_bytes is None else unavoidable + written_bytes <= infinity_bytes
        infinity_lines = infinity_bytes // self.line if infinity_bytes and not fits else 0
        machine = _machine(self.workgroups, self.caches, self.xcds, infinity_lines, options.product)
        table, bounds = (table, None) if options.only_today else self._with_intervals(table, options, machine)
        xcds, no_reuse = self.today.xcds(self.xcds), empty_frame(FabricTraffic.tables["workgroups"])
        facts = {
            "mappings": table,
            "workgroups": line_sets.workgroup_reuse(self.workgroups, self.parts, self.line, xcds, no_reuse),
            "read_bytes": int(table["read_bytes"][0]),
            "unavoidable_bytes": unavoidable,
            "write_bytes": self._write_bytes(),
            "read_request_count": requests.reads if requests else None,
            "write_request_count": requests.writes if requests else None,
            "fits_infinity_cache": fits,
            "hbm_read_bytes": (unavoidable, unavoidable if fits else table["most_bytes"][0]),
            "best_mapping": best["mapping"] if best["saved_share"] >= _LEAST_SAVED_SHARE else "",
        }
        if bounds is None:
            return facts
        hit_rates = list(bounds.hit_rate)
        if requests and known_share == 1:
            stored_lines = written_bytes // self.line
            least, most = table["lines_count"][0] + stored_lines, table["most_bytes"][0] / self.line + stored_lines
            hit_rates.append(1 - least / sum(requests))
            traced_facts = self._in_traced_order(requests, least, most, machine)
            hit_rates += traced_facts.get("traced_hit_rate", ())
            facts |= traced_facts
        facts |= {"hit_rate": (min(hit_rates), max(hit_rates)), "simulated_count": bounds.simulated_count}
        if bounds.hbm_lines is not None:
            low, high = (lines * self.line for lines in bounds.hbm_lines)
            facts |= {"hbm_read_bytes": (max(unavoidable, low), max(unavoidable, high))}
        return facts

    def _in_traced_order(
        self, requests: Requests, least_misses: float, most_misses: float, machine: Machine | None
    ) -> dict[str, Any]:
        """The fields that follow from the accesses in the traced order, where they can be followed.

        The least hit rate has most misses of few requests, the best one fewest misses of many.
        """
        means = machine and traced_requests(self.workgroups, self.everything.groups, machine)
        if not means:
            return {}
        fewest, most = (mean * self.workgroups.total for mean in means.of_dispatch)
        combinations = ((most_misses, fewest), (least_misses, most))
        return {
            "traced_count": means.workgroup_count,
            "traced_read_requests": (fewest, most),
            "traced_hit_rate": tuple(1 - misses / (reads + requests.writes) for misses, reads in combinations),
            "notes": (*self._notes(), TRACED_BY_ASSUMPTION),
        }

    def _stored_bytes(self) -> int:
        """Bytes that workgroups store, each for itself: more than all together, if they store to the same bytes."""
        total = 0
        for group in self.everything.groups:
            ranges = [part.ranges for part in self.parts if part.is_store and part.group is group]
            if ranges:
                starts, ends = map(np.concatenate, zip(*ranges, strict=True))
                total += len(group.numbers) * line_sets.count(line_sets.merged(starts, ends))
        return total

    def _count(self, parts: Sequence[Touched], mapping: Mapping | None = None, unit: int | None = None) -> int:
        """Units (None = lines) that the XCDs of a mapping touch, added up over XCDs; without a mapping once each."""
        unit = unit or self.line
        if mapping is None:
            return self.unit_counts.count(parts, unit, None)
        if mapping.name not in self._is_on_xcd:
            xcds = mapping.xcds(self.xcds)
            self._is_on_xcd[mapping.name] = [xcds == xcd for xcd in range(self.xcds)]
        return sum(self.unit_counts.count(parts, unit, is_on_xcd) for is_on_xcd in self._is_on_xcd[mapping.name])

    def _candidates(self, options: TrafficOptions) -> list[Mapping]:
        candidates, order = list(mappings(self.workgroups.counts, self.xcds)), options.order
        if options.only_today:
            return candidates[:1]
        if order:
            if sorted(order) != list(range(self.workgroups.total)):
                problem = f"the order is not a permutation of the {self.workgroups.total:,} workgroups"
                raise UsageError(problem, advice="one line for each workgroup: launched number, number of its work")
            candidates.insert(1, Mapping(_GIVEN, np.array(order, np.int64), "as given"))
        return candidates

    def _with_intervals(
        self, table: pl.DataFrame, options: TrafficOptions, machine: Machine | None
    ) -> tuple[pl.DataFrame, Interval | None]:
        """The mappings with what they read at most, and what orders of waves change in today's.

        Today's, the best and the user's are always simulated, further ones that save bytes within a budget of lookups.
        """
        workgroups, intervals = self.workgroups, dict[str, Interval]()
        facts = (workgroups.direction, workgroups.width_bytes, self.caches, workgroups.total)
        work = work_of(self.everything.groups, *facts) if machine is not None else None
        orders = {mapping.name: mapping.order for mapping in self._candidates(options)}
        by_bytes = table.sort("read_bytes", maintain_order=True)["mapping"].to_list()
        always = [name for name in (TODAY, by_bytes[0], _GIVEN) if name in orders]
        savers = set(table.filter(pl.col("saved_share") > 0)["mapping"])
        lookups_left = _MOST_LOOKUPS
        for name in dict.fromkeys([*always, *(name for name in by_bytes if name in savers)]):
            if work is None or machine is None or (name not in always and lookups_left < 0):
                continue
            bounds = interval(work, machine, orders[name], tuple(ORDERS) if name == TODAY else EXTREMES)
            if bounds is not None:
                intervals[name] = bounds
            if name not in always:
                lookups_left -= _RUNS * int(work.lookups_of(machine, orders[name])[-1])
        most = [intervals[name].refetched_share[1] if name in intervals else None for name in table["mapping"]]
        lines = pl.Series(most, dtype=pl.Float64) * table["read_bytes"] + table["read_bytes"]
        return table.with_columns(most_bytes=lines.round().cast(pl.Int64)), intervals.get(TODAY)

    def _mapping_frame(self, options: TrafficOptions) -> pl.DataFrame:
        unavoidable = sum(self._count(parts) for parts in self.loads.values())
        today = sum(self._count(parts, self.today) for parts in self.loads.values())
        rows = []
        for mapping in self._candidates(options):
            lines = sum(self._count(parts, mapping) for parts in self.loads.values())
            saved_share = 1 - lines / today if today else 0.0
            replicated_bytes = (lines - unavoidable) * self.line
            rows.append((mapping.name, mapping.formula, lines, lines * self.line, replicated_bytes, saved_share, None))
        return pl.DataFrame(rows, schema=FabricTraffic.tables["mappings"].dtypes, orient="row")

    def _array_frame(self) -> pl.DataFrame:
        rows = []
        for array in sorted(self.loads.keys() | self.stores.keys()):
            reads = self._count(self.loads.get(array, []), self.today)
            once = self._count(self.loads.get(array, []))
            byte_count, extent = self.stored.get(array, (0, 0))
            share = byte_count / extent if extent else None
            name = self.names[array] if array >= 0 else "memory below every argument"
            rows.append((name, reads * self.line, once * self.line, reads / once if once else None, byte_count, share))
        return pl.DataFrame(rows, schema=FabricTraffic.tables["arrays"].dtypes, orient="row")

    def _row_frame(self, row_choice: pl.Series | None) -> pl.DataFrame:
        code = self.workgroups.trace.code.select("row", "text", "file", "line")
        parts = line_sets.touched(self.everything.groups, self.workgroups, self.bases, by_row=True)
        lane_bytes: dict[int, int] = {}
        for group in self.everything.groups:
            accesses = group.accesses
            lane_counts = np.array([int(mask).bit_count() for mask in accesses.active], np.int64)
            sizes = np.where(accesses.is_known, lane_counts * self.workgroups.width_bytes[accesses.row], 0)
            for row, size in zip(accesses.row.tolist(), sizes.tolist(), strict=True):
                lane_bytes[row] = lane_bytes.get(row, 0) + size * len(group.numbers)
        rows = []
        for row, array, is_store in sorted({(part.row, part.array, part.is_store) for part in parts}):
            of_row = [part for part in parts if (part.row, part.array, part.is_store) == (row, array, is_store)]
            fabric, once = self._count(of_row, self.today), self._count(of_row)
            name = self.names[array] if array >= 0 else ""
            direction = "store" if is_store else "load"
            rows.append((row, name, direction, lane_bytes[row], fabric * self.line, once * self.line))
        names = ("row", "array", "direction", "requested_bytes", "fabric_bytes", "distinct_bytes")
        dtypes = FabricTraffic.tables["rows"].dtypes
        frame = pl.DataFrame(rows, schema={name: dtypes[name] for name in names}, orient="row")
        frame = frame.join(code, on="row", how="left", maintain_order="left").select(list(dtypes))
        frame = frame if row_choice is None else frame.filter(pl.col("row").is_in(row_choice.implode()))
        return frame.sort("fabric_bytes", descending=True, maintain_order=True)

    def _write_bytes(self) -> int:
        piece = self.caches.write_request_bytes or self.line
        return piece * self._count([part for part in self.parts if part.is_store], self.today, piece)

    def _requests(self) -> Requests | None:
        """Requests of all workgroups; None = not counted for this GPU."""
        line, piece = self.caches.read_request_bytes, self.caches.write_request_bytes
        if line is None or piece is None:
            return None
        total = np.zeros(2)
        for group in self.everything.groups:
            total += np.array(line_sets.requests(group, self.workgroups, line, piece)) * len(group.numbers)
        return Requests(float(total[0]), float(total[1]))

    def _known_share_and_reasons(self) -> tuple[float, pl.DataFrame]:
        """Share of the accesses that is known, and the reasons of the others."""
        known_count = access_count = 0
        texts = self.workgroups.trace.code["text"].fill_null("").to_list()
        reasons: dict[tuple[int, str], int] = {}
        for group in self.everything.groups:
            accesses = group.accesses
            is_atomic = self.workgroups.direction[accesses.row] == ATOMIC
            certain = accesses.is_known & ~is_atomic
            known_count += int(certain.sum()) * len(group.numbers)
            access_count += len(certain) * len(group.numbers)
            for number in np.flatnonzero(~certain):
                row = int(accesses.row[number])
                reason = self.workgroups.reason(int(accesses.kind[number]), int(accesses.detail[number]))
                reason = "an atomic, which L2 executes" if is_atomic[number] else reason
                reasons[row, reason] = reasons.get((row, reason), 0) + 1
            for row in accesses.stopped_rows:
                reasons[row, "nothing certain tells which way this branch goes"] = 1
        unknown = self.everything.unknown_count
        if unknown:
            reasons[-1, f"{unknown:,} workgroups are moved by their ids in no simple way"] = unknown
        share = known_count / access_count if access_count else 0.0
        rows = [
            (row, texts[row] if 0 <= row < len(texts) else "", reason, executions)
            for (row, reason), executions in sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
        ]
        frame = pl.DataFrame(rows, schema=FabricTraffic.tables["reasons"].dtypes, orient="row")
        return share * (1 - unknown / self.workgroups.total), frame

    def _notes(self) -> tuple[str, ...]:
        notes = ["assumed: pointers point to different buffers, and L2 is empty when the dispatch starts"]
        if any(group.accesses.assumed_branch_count for group in self.everything.groups):
            notes.append("assumed: where nothing certain tells a branch, all workgroups go the way that was traced")
        notes += self.workgroups.start.arguments.assumptions
        for array, (byte_count, extent) in self.stored.items():
            if byte_count < _DENSE_SHARE * extent:
                notes.append(
                    f"{self.names[array]} is stored with gaps ({_share(byte_count, extent)} from its first to its "
                    "last): padding, or a stride or a size that is too large"
                )
        return tuple(notes)


def _machine(
    workgroups: Workgroups, caches: CacheFacts, xcds: int, infinity_lines: int, product: str
) -> Machine | None:
    """The CUs of an XCD and the workgroups that fit on one; None = not known."""
    arch = of(product or caches.target)
    kernel = workgroups.kernel
    size = workgroups.start.workgroup_size
    if kernel is None or not arch.product.cu_count or arch.has_wgp_mode:
        return None
    try:
        limit = limits(arch, resources_of(kernel, Resources(workgroup_size=prod(size))))
    except UsageError:
        return None
    fitting_count = min(limiter.waves_per_group for limiter in limit.limiters) // workgroups.start.wave_count
    cus = arch.product.cu_count // max(arch.product.xcds_per_partition.values(), default=1)
    return Machine(caches, xcds, cus, max(1, fitting_count), infinity_lines)


def _byte_count_and_extent(ranges: Ranges) -> tuple[int, int]:
    """Bytes in ranges, and those from the first to the last."""
    return line_sets.count(ranges), int(ranges[1][-1] - ranges[0][0]) if ranges[0].size else 0


def _share(part: int, total: int) -> str:
    return f"{100 * part / total:.0f} %"


def _arrays(workgroups: Workgroups) -> tuple[np.ndarray, list[str]]:
    """Addresses at which arrays start, in order, and the names of their arguments."""
    arguments = workgroups.start.arguments
    addresses = dict(workgroups.pointers)
    for argument in arguments.arguments:
        offset = argument.offset_bytes
        pointer = arguments.bytes_at(offset, _POINTER_BYTES) if arguments.is_pointer(offset) else None
        if pointer is not None and not argument.is_hidden:
            addresses[offset] = int.from_bytes(pointer, "little")
    ordered = sorted(addresses.items(), key=lambda place: place[1])
    return np.array([address for _, address in ordered], np.int64), [arguments.name_at(at) for at, _ in ordered]
