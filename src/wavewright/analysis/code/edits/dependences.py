"""Order that rows of a block must keep, with the reasons; and moves that keep it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from wavewright.analysis.code.edits.code_rows import EXEC_BITS, VECTOR_BITS, CodeRow, named, numbers_in
from wavewright.analysis.code.edits.webs import FIRST_VIRTUAL
from wavewright.codeobj.registers import FIRST_VECTOR


class Edge(NamedTuple):
    """One row must stay before another."""

    before: int  #: Row of the code.
    row: int
    kind: str  #: reads, overwrites, memory, LDS, barrier, order or end.
    register: str = ""

    @property
    def words(self) -> str:
        """Reason in a few words."""
        reasons = {
            "reads": f"row {self.row} reads {self.register}, which row {self.before} writes",
            "overwrites": f"row {self.row} overwrites {self.register}, which row {self.before} uses",
            "writes": f"rows {self.before} and {self.row} both write {self.register}",
            "memory": f"rows {self.before} and {self.row} may touch the same memory (--assume disjoint)",
            "LDS": f"rows {self.before} and {self.row} may touch the same bytes of LDS (--assume disjoint)",
            "barrier": f"row {max(self.before, self.row)} and a barrier keep their order",
            "order": f"rows {self.before} and {self.row} keep their place",
            "end": "the branch stays last",
        }
        return reasons[self.kind]


@dataclass(frozen=True)
class Assumptions:
    """Facts that the user states and the code does not prove."""

    disjoint: frozenset[tuple[int, int]] = frozenset()  #: Pairs of rows that never touch the same bytes.
    readonly: bool = False  #: No store of the kernel changes what its loads read.
    padded: bool = False  #: Loads may read past the end.

    def are_disjoint(self, first: int, other: int) -> bool:
        """True if two rows are said to touch different bytes."""
        return (first, other) in self.disjoint or (other, first) in self.disjoint


@dataclass
class Dependences:
    """Edges between the places of a block's rows; `edges[j][i]` = why the row at i stays before the one at j."""

    rows: Sequence[CodeRow]
    edges: list[dict[int, Edge]]
    used: set[tuple[int, int]] = field(default_factory=set)  #: Pairs that only an assumption or proof sets free.

    def broken(self, order: Sequence[int]) -> Edge | None:
        """The first edge that an order breaks."""
        done_places: set[int] = set()
        for at in order:
            for before, edge in self.edges[at].items():
                if before not in done_places:
                    return edge
            done_places.add(at)
        return None

    def ancestors(self, at: int) -> set[int]:
        """Places that must stay before one, directly or not; itself included."""
        closure, queue = set(), [at]
        while queue:
            place = queue.pop()
            if place not in closure:
                closure.add(place)
                queue += self.edges[place]
        return closure

    def descendants(self, at: int) -> set[int]:
        """Places that must stay behind one; itself included."""
        closure = {at}
        for place in range(at + 1, len(self.rows)):
            if not closure.isdisjoint(self.edges[place]):
                closure.add(place)
        return closure


def dependences(
    rows: Sequence[CodeRow],
    assumptions: Assumptions,
    live_out: int,
    apart: Collection[tuple[int, int]] = frozenset(),
    *,
    has_stores: bool = True,
) -> Dependences:
    """Edges of a block without waits and padding.

    `apart` are pairs of LDS rows that were seen to be disjoint; without stores in the whole kernel before the block
    ends, loads from memory may pass its barriers.
    """
    loads_pass = assumptions.readonly or not has_stores
    dead = _dead_writes(rows, live_out)
    edges: list[dict[int, Edge]] = [{} for _ in rows]
    answer = Dependences(rows, edges)
    for at, row in enumerate(rows):
        for place in range(at):
            kind, register = _why(rows, place, at, dead, loads_pass=loads_pass)
            if kind in ("memory", "LDS"):
                pair = (rows[place].row, row.row)
                if assumptions.are_disjoint(*pair) or (kind == "LDS" and (pair in apart or pair[::-1] in apart)):
                    answer.used.add(pair)
                    continue
            if kind:
                edges[at][place] = Edge(rows[place].row, row.row, kind, register)
    return answer


def edge_between(before: CodeRow, row: CodeRow, assumptions: Assumptions, *, loads_pass: bool) -> Edge | None:
    """Reason why a row stays before another that may be executed in another iteration."""
    kind, register = _why((before, row), 0, 1, (0, 0), loads_pass=loads_pass or assumptions.readonly)
    if not kind or (kind in ("memory", "LDS") and assumptions.are_disjoint(before.row, row.row)):
        return None
    return Edge(before.row, row.row, kind, register)


def _why(rows: Sequence[CodeRow], place: int, at: int, dead: Sequence[int], *, loads_pass: bool) -> tuple[str, str]:
    """Kind of the edge between two places, and its register; both empty = the rows may change their order."""
    before, row = rows[place], rows[at]
    if before.writes & row.reads:
        return "reads", _shown(before.writes & row.reads)
    if before.reads & row.writes:
        return "overwrites", _shown(before.reads & row.writes)
    both = before.writes & row.writes & ~(dead[place] & dead[at])
    if both:
        return "writes", _shown(both)
    if row.is_control:
        return "end", ""
    if before.is_fence or row.is_fence:
        return "order", ""
    if before.is_barrier or row.is_barrier:
        return ("barrier", "") if _is_held(before, row, loads_pass=loads_pass) else ("", "")
    return _aliased(before, row)


def _is_held(before: CodeRow, row: CodeRow, *, loads_pass: bool) -> bool:
    """True if a barrier holds the other row: all that others can see, and what others may have written."""
    if before.is_barrier and row.is_barrier:
        return True
    other = row if before.is_barrier else before
    if loads_pass and other.class_name in ("vmem_load", "smem_load") and not other.is_coherent:
        return False
    return bool(other.counters) and other.class_name != "lds_cross_lane"


def _aliased(before: CodeRow, row: CodeRow) -> tuple[str, str]:
    if not (before.counters and row.counters) or not (before.is_store or row.is_store):
        return "", ""
    is_flat = before.is_flat or row.is_flat
    if not is_flat and before.is_lds and row.is_lds and not (before.is_to_lds and row.is_to_lds):
        return "LDS", ""
    return ("memory", "") if is_flat or (before.is_memory and row.is_memory) else ("", "")


def _shown(registers: int) -> str:
    number = numbers_in(registers)[0]
    if number >= FIRST_VIRTUAL:
        return named(1 << (number - FIRST_VIRTUAL) % 2048) if number else ""
    return named(1 << number) if number < FIRST_VECTOR * 6 else "a register"


def _dead_writes(rows: Sequence[CodeRow], live_out: int) -> list[int]:
    """Registers of each row's writes that nobody reads: two such writes may swap."""
    dead = []
    live = live_out
    partly_written = VECTOR_BITS if any(row.writes & EXEC_BITS for row in rows) else 0  # other lanes keep their values
    for row in reversed(rows):
        dead.append(row.writes & ~live)
        live = live & ~(row.writes & ~partly_written) | row.reads
    return dead[::-1]


def moved_up(deps: Dependences, order: Sequence[int], at: int, places: int | None = None) -> list[int]:
    """A row, with what it needs, earlier: past at most `places` rows that it does not need."""
    return _moved(order[::-1], at, deps.ancestors(at), places)[::-1]


def moved_down(deps: Dependences, order: Sequence[int], at: int, places: int | None = None) -> list[int]:
    """A row, with what needs it, later: past at most `places` rows that do not need it."""
    return _moved(order, at, deps.descendants(at), places)


def _moved(order: Sequence[int], at: int, bound: set[int], places: int | None) -> list[int]:
    """Move a row, with the later rows that are `bound` to it, past at most `places` of the others."""
    start = order.index(at)
    moved_rows: list[int] = []
    passed_rows: list[int] = []
    for place, each in enumerate(order[start:], start):
        if each in bound:
            moved_rows.append(each)
        elif places is not None and len(passed_rows) >= places:
            return [*order[:start], *passed_rows, *moved_rows, *order[place:]]
        else:
            passed_rows.append(each)
    return [*order[:start], *passed_rows, *moved_rows]


def first_of_all(deps: Dependences, order: Sequence[int], places: Iterable[int]) -> list[int]:
    """Some rows with all that they need before everything else."""
    ancestors = set[int]().union(*map(deps.ancestors, places))
    return sorted(order, key=lambda each: each not in ancestors)  # a stable sort: both parts keep their order
