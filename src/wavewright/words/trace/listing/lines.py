"""The lines of a listing of code, and the arrows between the lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from wavewright.analysis.trace.listing import IsaListing
from wavewright.base.words import counted
from wavewright.words.kit.arrows import Arrow
from wavewright.words.kit.line_windows import ListingLine, line_ranges
from wavewright.words.trace.listing.measures import ListingRow, Measure

Pair = tuple[int, int]

_MAX_ENDS = 8  #: Rows shown because an arrow joins them with one in focus; more are folded.


@dataclass(frozen=True)
class IsaView:
    """The requested view of a listing."""

    arrows: str = "waits"  #: waits, branches or none.
    cost: str = "sum"  #: Cost in the columns latency and stall: sum, mean or max.
    top: int = 10  #: Number of the hottest rows that get a window.
    context: int = 3
    show_all: bool = False
    around: frozenset[int] = frozenset()  #: Windows around these rows (code.row) instead of the hottest.
    hint: str = ""  #: A last line.
    width: int = 120  #: Characters of a line.
    ascii_only: bool = False


def hottest(rows: Sequence[ListingRow], measure: Measure, top: int) -> list[int]:
    """Indexes of the hottest rows, hottest first."""
    order = sorted(range(len(rows)), key=lambda index: -measure.hot(rows[index]))
    return [index for index in order[:top] if measure.hot(rows[index]) > 0]


def focus(view: IsaView, rows: Sequence[ListingRow], measure: Measure) -> set[int]:
    """Indexes of the rows that the listing is about: the requested ones, else the hottest."""
    if view.around:
        return {index for index, row in enumerate(rows) if row["row"] in view.around}
    return set(hottest(rows, measure, view.top))


def contexts(
    pairs: Sequence[Pair], view: IsaView, rows: Sequence[ListingRow], chosen: AbstractSet[int]
) -> dict[int, int]:
    """Rows to show (by index) and how many around each: those in focus, and the other ends of their arrows."""
    if view.show_all:
        return {0: len(rows)}  # all rows are around the first
    index_of = {row["row"]: index for index, row in enumerate(rows)}
    windows: dict[int, int] = {}
    if view.arrows == "branches":
        windows |= {index_of[row]: 1 for pair in pairs for row in pair if row in index_of}
    else:
        in_focus = {rows[index]["row"] for index in chosen}
        end_counts: dict[int, int] = {}
        for row, other in (pair[::step] for pair in pairs for step in (1, -1)):
            if row in in_focus and other in index_of and end_counts.setdefault(row, 0) < _MAX_ENDS:
                end_counts[row] += 1
                windows[index_of[other]] = 0
    return windows | dict.fromkeys(chosen, view.context)


def isa_lines(
    rows: Sequence[ListingRow], windows: Mapping[int, int], loops: Sequence[ListingRow] = ()
) -> list[ListingLine]:
    """Return the lines of a listing: windows around rows (see `contexts`), folds, and headings."""
    addresses = {row["row"]: f"{row['address']:#x}" for row in rows if row["address"] is not None}
    loops_from: dict[int, list[ListingRow]] = {}  # first row -> loops
    loops_to: dict[int, list[ListingRow]] = {}  # last row -> loops
    for loop in loops:
        loops_from.setdefault(loop["first_row"], []).append(loop)
        loops_to.setdefault(loop["last_row"], []).append(loop)
    lines: list[ListingLine] = []
    function: str | None = ""
    for part in line_ranges(len(rows), windows):
        if part.is_folded:
            lines.append(ListingLine(part.begin, part.end))
            continue
        for index in range(part.begin, part.end):
            row, before = rows[index], rows[index - 1] if index else None
            if row["function"] != function:
                function = row["function"]
                lines.append(ListingLine(heading=function or "no function", is_name=True))
            elif before and row["row"] != before["row"] + 1:
                lines.append(ListingLine(heading=f"… {counted(row['row'] - before['row'] - 1, 'rows')} not chosen …"))
            opened = loops_from.get(row["row"], [])
            lines += [ListingLine(heading=_loop_heading(loop, addresses.get(loop["last_row"]))) for loop in opened]
            if lines and lines[-1].is_row and before and before.get("block") != row.get("block"):
                lines.append(ListingLine(heading=f"block {row['block']}"))
            lines.append(ListingLine(index, index + 1))
            ended = reversed(loops_to.get(row["row"], []))  # the innermost first
            lines += [ListingLine(heading=f"end of loop {loop['loop']}") for loop in ended]
    return lines


def _loop_heading(loop: ListingRow, end: str | None) -> str:
    """`end` is the address of its last row; None = that row is not listed."""
    times = "" if loop["taken_count"] is None else f": {counted(loop['taken_count'], 'times')} back"
    origin = f" from {end}" if times and end else ""
    inside = "" if loop["parent"] is None else f" in loop {loop['parent']}"
    return f"loop {loop['loop']}{inside}{times}{origin}"


def pairs_of(listing: IsaListing, view: IsaView) -> list[Pair]:
    """(head, tail) of every arrow that the view asks for, as rows; the most frequent first."""
    if view.arrows == "none":
        return []
    frame = listing.arrows if view.arrows == "waits" else listing.branches
    head, tail = ("wait_row", "producer_row") if view.arrows == "waits" else ("to_row", "from_row")
    ordered = frame.sort("count", head, tail, descending=[True, False, False])
    return list(ordered.select(head, tail).iter_rows())


def isa_arrows(
    pairs: Sequence[Pair],
    weights: Mapping[int, float],
    rows: Sequence[ListingRow],
    lines: Sequence[ListingLine],
    chosen: AbstractSet[int],
) -> list[Arrow]:
    """One arrow for each row that arrows point at, between lines; `weights` of rows say which matter most.

    An arrow into folded rows is left away, unless it comes from a row in focus.
    """
    line_of = {rows[index]["row"]: number for number, line in enumerate(lines) for index in range(line.begin, line.end)}
    in_focus = {rows[index]["row"] for index in chosen}
    tails: dict[int, set[int]] = {}
    for target, source in pairs:
        if source in line_of and target in line_of and (lines[line_of[target]].is_row or source in in_focus):
            tails.setdefault(target, set()).add(source)
    arrows = []
    for target, sources in tails.items():
        places = {line_of[source] for source in sources if source == target or line_of[source] != line_of[target]}
        if places:
            arrows.append(Arrow(line_of[target], tuple(sorted(places)), weights.get(target, 0.0)))
    return arrows
