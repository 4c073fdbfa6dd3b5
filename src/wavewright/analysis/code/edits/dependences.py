"""Order that rows of a block must keep, with the reasons; and moves that keep it.

A place is the position of a row in the block. An edge from one place to a later one says why the row there stays behind
the row of the first; rows between which no path of edges leads may change their order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from wavewright.analysis.code.edits.code_rows import EXEC_BITS, VECTOR_BITS, CodeRow, named, numbers_in
from wavewright.analysis.code.edits.webs import hardware_register


class Edge(NamedTuple):
    """One row must stay before another."""

    before: int  #: Row of the code.
    row: int
    kind: str  #: Key of the reasons in `words`.
    register: str = ""  #: For the kinds that are about one.

    @property
    def words(self) -> str:
        """The reason, as a clause."""
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
    answer = Dependences(rows, [{} for _ in rows])
    for place, row in enumerate(rows):
        for place_before, before in enumerate(rows[:place]):
            edge = _edge(before, row, dead[place_before] & dead[place], loads_pass=loads_pass)
            if edge is None:
                continue
            pair = (before.row, row.row)
            is_apart = edge.kind == "LDS" and (pair in apart or pair[::-1] in apart)
            if is_apart or _is_assumed_away(edge, assumptions):
                answer.used.add(pair)
            else:
                answer.edges[place][place_before] = edge
    return answer


def edge_between(before: CodeRow, row: CodeRow, assumptions: Assumptions, *, loads_pass: bool) -> Edge | None:
    """Reason why a row stays before another that may be executed in another iteration."""
    edge = _edge(before, row, 0, loads_pass=loads_pass or assumptions.readonly)
    return None if edge is None or _is_assumed_away(edge, assumptions) else edge


def _is_assumed_away(edge: Edge, assumptions: Assumptions) -> bool:
    return edge.kind in ("memory", "LDS") and assumptions.are_disjoint(edge.before, edge.row)


def _edge(before: CodeRow, row: CodeRow, dead_writes: int, *, loads_pass: bool) -> Edge | None:
    """Why a row stays before a later one; None = they may change their order.

    Of several reasons the first counts: registers, which nothing can set free, then the place of control and fences,
    then memory. `dead_writes` are registers whose values nobody reads that either row writes.
    """
    kind, registers = "", 0
    if before.writes & row.reads:
        kind, registers = "reads", before.writes & row.reads
    elif before.reads & row.writes:
        kind, registers = "overwrites", before.reads & row.writes
    elif before.writes & row.writes & ~dead_writes:
        kind, registers = "writes", before.writes & row.writes & ~dead_writes
    elif row.is_control:
        kind = "end"
    elif before.is_fence or row.is_fence:
        kind = "order"
    elif before.is_barrier or row.is_barrier:
        kind = "barrier" if _is_held(before, row, loads_pass=loads_pass) else ""
    else:
        kind = _aliased_memory(before, row)
    return Edge(before.row, row.row, kind, _first_named(registers) if registers else "") if kind else None


def _is_held(before: CodeRow, row: CodeRow, *, loads_pass: bool) -> bool:
    """True if a barrier holds the other row: all that others can see, and what others may have written."""
    if before.is_barrier and row.is_barrier:
        return True
    other = row if before.is_barrier else before
    if loads_pass and other.class_name in ("vmem_load", "smem_load") and not other.is_coherent:
        return False
    return bool(other.counters) and other.class_name != "lds_cross_lane"


def _aliased_memory(before: CodeRow, row: CodeRow) -> str:
    """LDS or memory, of which two rows may touch the same bytes and one writes them; empty = they do not."""
    if not (before.counters and row.counters) or not (before.is_store or row.is_store):
        return ""
    is_flat = before.is_flat or row.is_flat
    if not is_flat and before.is_lds and row.is_lds and not (before.is_to_lds and row.is_to_lds):
        return "LDS"
    return "memory" if is_flat or (before.is_memory and row.is_memory) else ""


def _first_named(registers: int) -> str:
    """The first of some registers, as LLVM spells it; virtual ones as the code has them."""
    return named(1 << hardware_register(numbers_in(registers)[0]))


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
    for index, place in enumerate(order[start:], start):
        if place in bound:
            moved_rows.append(place)
        elif places is not None and len(passed_rows) >= places:
            return [*order[:start], *passed_rows, *moved_rows, *order[index:]]
        else:
            passed_rows.append(place)
    return [*order[:start], *passed_rows, *moved_rows]


def first_of_all(deps: Dependences, order: Sequence[int], places: Iterable[int]) -> list[int]:
    """Some rows with all that they need before everything else."""
    ancestors = set[int]().union(*map(deps.ancestors, places))
    return sorted(order, key=lambda place: place not in ancestors)  # a stable sort: both parts keep their order
