"""Replays of a trace with another order of a block, as intervals of the gain.

The native core (cpp/include/wavewright/edit_replay.hpp) replays the waves in several modes, which differ in how long
memory and LDS take: the interval goes from the slowest mode to the fastest, widened by the error of the model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import polars as pl

from wavewright import _core
from wavewright.analysis.code.edits.block_orders import LegalOrder
from wavewright.analysis.code.edits.code_rows import CodeRow
from wavewright.analysis.code.edits.wider_loads import dwords_of
from wavewright.analysis.trace.code.accesses import accesses
from wavewright.analysis.trace.diagnose.replay import prepared
from wavewright.analysis.trace.selection import whole_of
from wavewright.analysis.trace.waits.wait_producers import COUNTERS, free_wait_cycles, port_rules, wait_rules
from wavewright.base.once import once
from wavewright.codeobj.registers import FIRST_VECTOR
from wavewright.errors import UsageError
from wavewright.model.trace import ThreadTrace

#: Names of the modes of the native core (`EditMode` of cpp/include/wavewright/edit_replay.hpp), in its order.
MODES: Final = (
    "latencies kept",
    "latencies typical",
    "latencies hidden",
    "first come",
    "queue refitted",
    "queue refitted, first come",
    "longest queue",
)
_MIDDLE: Final = 1  #: Place among `MODES` of the mode that `about` is of.
MODEL_ERROR: Final = 0.01  #: Intervals are this much wider on both sides: the model's own error on planted traces.
#: Who gets a contended port next is not known in another order: this share of the time of contention may change hands.
_ARBITRATION_SHARE: Final = 0.1
#: Where a replay with queues is so much slower than one without, a queue may take all of the gain.
_SATURATION: Final = 0.1
LEAST_GAIN: Final = 0.01  #: No smaller gain is called certain.
_DWORD: Final = 4  #: Bytes of a dword.
_UNITS: Final = {"memory": 0, "scratch": 0, "flat": 0, "lds": 1}  #: Space -> the queue that serves it.
#: Cycles from the issue of a result to that of its reader, beyond the port: AMD's ISA documents, gfx9.
_SAME_ACCUMULATOR, _MATRIX_RESULT, _RESULT, _BEFORE_MATRIX = 4, 12, 4, 8


@dataclass(frozen=True)
class GainInterval:
    """Gain of an edit in shares of the recorded time; positive = faster."""

    low: float  #: In the slowest mode, less the error of the model.
    high: float  #: In the fastest mode, and the error.
    about: float  #: With latencies that are typical of each row.
    is_extrapolated: bool  #: Fewer operations are in flight at a wait than in any recorded execution.
    execution_count: int  #: Of the block; of more waves: waves that start earlier.
    lacking_sample_count: int  #: Loads that move, or that new waits are for, whose latency was never seen by itself.
    low_end: str = ""  #: The mode, or the rule, that the low end is of; empty = both ends are the recorded time.
    high_end: str = ""

    @property
    def is_certain(self) -> bool:
        """True if even the lower end is a gain that can be told."""
        return self.low >= LEAST_GAIN and not (self.lacking_sample_count or self.is_extrapolated)


@dataclass(frozen=True)
class Queue:
    """The queue of memory or LDS as fitted to the trace."""

    unit: str  #: memory or LDS.
    cycles_per_dword: float  #: Of service, that explain the latencies best.
    most_cycles_per_dword: float  #: More would contradict latencies that were seen.
    sample_count: int  #: Latencies.
    is_identified: bool  #: Whether latencies differ far less with it than without.


_IDENTIFIED_SHARE: Final = 0.5  #: An identified queue leaves at most this share of the spread of latencies.
_FEW_SAMPLES: Final = 16  #: A queue is identified from at least so many latencies.


class EditedTrace:
    """The traced waves of one trace, ready to be replayed with edits."""

    def __init__(self, trace: ThreadTrace) -> None:
        full_trace = whole_of(trace)[0]
        ports = port_rules(full_trace)
        rules = row_rules(full_trace)
        self._replays: list[_core.EditReplay] = []
        self._waves: list[Mapping[str, pl.Series]] = []
        self.instruction_count = 0
        causes: set[str] = set()
        for part in trace.each_part():
            ready = prepared(part, trace, ())
            self.instruction_count += ready.instruction_count
            causes |= set(ready.causes)
            try:
                self._waves.append(ready.waves)
                recorded = (ready.instructions, ready.waves, ready.barriers)
                self._replays.append(_core.EditReplay(*recorded, ports, rules, free_wait_cycles(trace)))
            except ValueError as error:
                raise UsageError(str(error), advice="hotspots and waits need no replay") from error
        self.recorded_cycles = sum(replay.recorded_cycles for replay in self._replays)
        self.causes = frozenset(causes)  #: Of stalls and gaps.

    def identity_errors(self) -> list[float]:
        """By mode: how far the replay of the recorded order is from the recorded time, as a share."""
        sums = [sum(parts) for parts in zip(*(replay.as_recorded().cycles for replay in self._replays), strict=True)]
        return [cycles / max(1, self.recorded_cycles) - 1 for cycles in sums]

    def queues(self) -> list[Queue]:
        """Queues of memory and LDS, of the part with most samples."""
        best = max(self._replays, key=lambda replay: sum(s.sample_count for s in replay.servers), default=None)
        answer = []
        for unit, server in zip(("memory", "LDS"), best.servers if best else (), strict=False):
            is_explained = server.spread <= _IDENTIFIED_SHARE * server.spread_without
            is_identified = server.fitted_cycles > 0 and server.sample_count >= _FEW_SAMPLES and is_explained
            answer.append(Queue(unit, server.fitted_cycles, server.most_cycles, server.sample_count, is_identified))
        return answer

    @property
    def is_memory_identified(self) -> bool:
        """True if the trace says how fast memory serves operations."""
        return any(queue.is_identified for queue in self.queues() if queue.unit == "memory")

    def gain(self, order: LegalOrder, code_block: Sequence[CodeRow], *, bound: float = 1.0) -> GainInterval:
        """The interval of what a block in a new order gains; at most `bound`."""
        rows = _rows_of_edit(order.rows, code_block, order.joined)
        around = [[_row_around(row) for row in part] for part in (order.prologue, order.epilogue)]
        first, last = code_block[0].row, code_block[-1].row
        is_same = [row.text for row in order.rows] == [row.text for row in code_block] and not order.prologue
        times = [replay.edited(first, last, rows, *around) for replay in self._replays]
        return self._interval(times, bound, is_same=is_same)

    def gain_of_waves(self, more: int) -> GainInterval:
        """The interval of what room for more waves on every SIMD gains; executions are the waves that start earlier."""
        return self._interval([replay.with_more_waves(more) for replay in self._replays], 1.0, is_same=False)

    def _interval(self, parts: Sequence[_core.EditTimes], bound: float, *, is_same: bool) -> GainInterval:
        executions = sum(part.execution_count for part in parts)
        if is_same or not self.recorded_cycles:
            return GainInterval(0.0, 0.0, 0.0, False, executions, 0)  # noqa: FBT003 - fields in their order
        cycles = [sum(of_mode) for of_mode in zip(*(part.cycles for part in parts), strict=True)]
        times = [total / self.recorded_cycles for total in cycles]
        more_traffic = max(part.traffic_share for part in parts)
        slowest, low_end = max(zip(times, MODES, strict=True))
        if more_traffic > 0 and 1 + more_traffic > slowest:
            slowest, low_end = 1 + more_traffic, "bytes of memory that it moves more"
        fastest, high_end = min(zip(times, MODES, strict=True))
        error = MODEL_ERROR + _ARBITRATION_SHARE * max(replay.contention_share for replay in self._replays)
        high = 1 - fastest + error
        if high > max(bound, 0.0):
            high, high_end = max(bound, 0.0), "replay without all stalls of the block"
        low = min(1 - slowest - error, high)
        if slowest - times[_MIDDLE] > _SATURATION and -error < low:
            low, low_end = -error, "longest queue, which may take all"
        about = min(max(1 - times[_MIDDLE], low), high)
        is_extrapolated = any(part.is_extrapolated for part in parts)
        lacking_count = sum(part.lacking_sample_count for part in parts)
        return GainInterval(low, high, about, is_extrapolated, executions, lacking_count, low_end, high_end)

    def one_execution(self, order: LegalOrder, code_block: Sequence[CodeRow]) -> list[list[tuple[int, int, int]]]:
        """One execution of a block by the median wave, as recorded and in a new order: rows with start and end.

        The wave is the median one by its lifetime, the execution the one in the middle; a row lasts from the issue of
        the instruction before it to its own, -1 is a row that was put in. Nothing where rows are issued ahead.
        """
        first, last = code_block[0].row, code_block[-1].row
        rows = _rows_of_edit(order.rows, code_block, order.joined)
        for replay, waves in zip(self._replays, self._waves, strict=True):
            lifetimes = waves["end_cycles"] - waves["start_cycles"]
            for wave in lifetimes.arg_sort().to_list()[lifetimes.len() // 2 :]:
                recorded_issues = replay.recorded_issues(wave)
                starts = [at for at, issue in enumerate(recorded_issues) if issue.row == first]
                if order.prologue or not starts:
                    continue
                middle = len(starts) // 2
                to_end = [issue.row for issue in recorded_issues[starts[middle] :]]
                if last not in to_end:  # the wave left the block, or its record ends there
                    continue
                length = to_end.index(last) + 1
                more = len(rows) - len(code_block)
                edited_issues = replay.edited_issues(wave, first, last, rows)
                return [
                    _spans(recorded_issues, starts[middle], length),
                    _spans(edited_issues, starts[middle] + middle * more, length + more),
                ]
        return []


def _spans(issues: Sequence[_core.EditedIssue], at: int, count: int) -> list[tuple[int, int, int]]:
    part = issues[max(0, at - 1) : at + count]
    zero = part[0].issue_cycles
    return [(issue.row, before.issue_cycles - zero, issue.issue_cycles - zero) for before, issue in pairwise(part)]


def _rows_of_edit(
    listing: Sequence[CodeRow], code_block: Sequence[CodeRow], rows_of_wider: Mapping[int, Sequence[int]]
) -> list[_core.EditRow]:
    """A listing as the native core takes it; `code_block` is the block as it is."""
    kept_rows = kept_waits(listing, code_block)
    moved_rows = _moved_rows(listing, code_block)
    last_writers: dict[int, int] = {}
    around = {register: place for place, row in enumerate(listing) for register in _registers(row.writes)}
    rows: list[_core.EditRow] = []
    texts = {row.row: row.text for row in code_block}
    for place, row in enumerate(listing):
        is_moved = row.row in moved_rows
        joined = rows_of_wider.get(row.row, ()) if row.row >= 0 else ()
        rows.append(
            _core.EditRow(
                row=kept_rows.get(place, row.row),
                is_ahead=bool(row.ahead),
                is_moved=is_moved,
                is_wait=row.is_wait,
                padding_states=row.states if row.is_nop else 0,
                waits=_waits_of(row),
                edges=_edges(place, listing, last_writers, around) if is_moved else [],
                dwords=sum(dwords_of(texts[part]) for part in joined),
                joined=joined,
            )
        )
        for register in _registers(row.writes):
            last_writers[register] = place
    return rows


def _row_around(row: CodeRow) -> _core.EditRow:
    """A row before or behind a loop."""
    number, padding = max(row.row, -1), row.states if row.is_nop else 0
    return _core.EditRow(row=number, is_moved=True, is_wait=row.is_wait, padding_states=padding, waits=_waits_of(row))


def _waits_of(row: CodeRow) -> list[_core.EditWait]:
    return [_core.EditWait(counter=COUNTERS.index(name), value=value) for name, value in row.waits if name in COUNTERS]


def _edges(
    place: int, listing: Sequence[CodeRow], last_writers: dict[int, int], around: dict[int, int]
) -> list[_core.EditEdge]:
    """Results that a moved row needs before it can issue, of rows other than loads."""
    row = listing[place]
    edges: dict[tuple[int, bool], _core.EditEdge] = {}
    for register in _registers(row.reads):
        is_around = register not in last_writers
        producer = last_writers.get(register, around.get(register))
        if producer is None or listing[producer].counters:
            continue
        cycles, adds_port = _cycles_between(listing[producer], row)
        edge = _core.EditEdge(producer=producer, is_around=is_around, cycles=cycles, adds_port=adds_port)
        edges[producer, is_around] = edge
    return list(edges.values())


def _cycles_between(before: CodeRow, row: CodeRow) -> tuple[int, bool]:
    """Cycles from one issue to that of a reader of its result, and whether the port's time comes to them."""
    if before.is_matrix:
        is_chain = row.is_matrix and before.writes == row.writes
        return (_SAME_ACCUMULATOR if is_chain else _MATRIX_RESULT), True
    return (_BEFORE_MATRIX if row.is_matrix and not before.text.startswith("s_") else _RESULT), False


def _registers(bits: int) -> list[int]:
    """One number for each register of bits; of vector registers the first of each operand is enough."""
    numbers = []
    while bits:
        low = bits & -bits
        number = low.bit_length() - 1
        numbers.append(number)
        bits ^= low
        if number >= FIRST_VECTOR:  # the others of a tuple have the same writer, or are checked by legality
            run = low << 1
            while bits & run:
                bits ^= run
                run <<= 1
    return numbers


def kept_waits(listing: Sequence[CodeRow], code_block: Sequence[CodeRow]) -> dict[int, int]:
    """Places of derived waits and padding that stand before the same row as in the code, with their rows."""
    before = _derived_before(code_block)
    now = _derived_before(listing)
    kept_rows: dict[int, int] = {}
    for row, places in now.items():
        old = before.get(row, [])
        if [listing[place].text for place in places] == [code_block[place].text for place in old]:
            kept_rows.update({place: code_block[was].row for place, was in zip(places, old, strict=True)})
    return kept_rows


def _derived_before(rows: Sequence[CodeRow]) -> dict[int, list[int]]:
    derived_places: dict[int, list[int]] = {}
    places: list[int] = []
    for place, row in enumerate(rows):
        if row.is_derived:
            places.append(place)
        else:
            derived_places[row.row] = places
            places = []
    return derived_places


def _moved_rows(listing: Sequence[CodeRow], code_block: Sequence[CodeRow]) -> set[int]:
    """Rows that another row stands before than in the code."""
    old, new = ([row.row for row in rows if not row.is_derived] for rows in (code_block, listing))
    before = dict(zip(old[1:], old, strict=False))
    return {row for earlier, row in zip([None, *new], new, strict=False) if before.get(row) != earlier}


def row_rules(trace: ThreadTrace) -> dict[str, object]:
    """Per code row what the native core must know beyond the waits (`EditRules`)."""

    def make() -> dict[str, object]:
        code = trace.code.sort("row")
        rows = code.select("row", "text").join(accesses(code), on="row", how="left", maintain_order="left")
        unit = pl.col("space").replace_strict(_UNITS, default=-1, return_dtype=pl.Int32).fill_null(-1)
        dwords = (pl.col("bytes_per_lane").fill_null(_DWORD) / _DWORD).ceil().clip(1, 255).cast(pl.UInt8)
        mnemonic = pl.col("text").fill_null("").str.extract(r"^(\S*)").rank("dense").cast(pl.UInt32)
        is_store = pl.col("direction").is_in(["store", "atomic"]).fill_null(value=False).cast(pl.UInt8)
        return wait_rules(trace) | rows.select(unit=unit, dwords=dwords, is_store=is_store, key=mnemonic).to_dict()

    return once(trace.answers, ("edit rules",), make)
