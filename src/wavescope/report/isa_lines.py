"""What stands on each line of a listing of code, and the arrows between the lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wavescope.report.arrows import Arrow
from wavescope.report.folding import stretches

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wavescope.analysis.listing import IsaListing

__all__ = [
    "IsaView",
    "Line",
    "contexts",
    "cycles_of",
    "exposed_of",
    "focus",
    "hottest",
    "isa_arrows",
    "isa_lines",
    "parts_of",
]

Row = dict[str, Any]

_MAX_ENDS = 8
"""Rows shown because an arrow joins them with one in focus; more are folded."""


@dataclass(frozen=True)
class IsaView:
    """What of a listing to show, and how.

    Examples
    --------
    >>> IsaView(show_all=True).cost
    'sum'
    """

    arrows: str = "waits"
    """waits, branches or none."""
    cost: str = "sum"
    """sum, mean or max: what the columns latency and stall hold."""
    top: int = 10
    """Windows around so many of the hottest rows."""
    context: int = 3
    show_all: bool = False
    around: frozenset[int] = frozenset()
    """Windows around these rows (code.row) instead of the hottest."""
    hint: str = ""
    """A last line."""


@dataclass(frozen=True)
class Line:
    """A line: one row, or several that are folded, or a heading."""

    begin: int = 0
    """Index of the first row that the line stands for."""
    end: int = 0
    heading: str = ""

    @property
    def is_row(self) -> bool:
        """Whether the line shows a row."""
        return self.end - self.begin == 1

    @property
    def is_fold(self) -> bool:
        """Whether the line stands for several rows."""
        return self.end - self.begin > 1


def cycles_of(row: Row) -> int:
    """All cycles of a row: latency and idle."""
    total: int = row["latency_cycles_total"] + row["idle_cycles_total"]
    return total


def exposed_of(row: Row) -> int:
    """Cycles of a row that nothing hid; all of them where that is not known."""
    exposed: int | None = row["exposed_cycles_total"]
    return cycles_of(row) if exposed is None else exposed


def parts_of(row: Row) -> dict[str, int]:
    """The parts of a row's heat bar, which add up to `cycles_of`."""
    latency, stall, idle = (row[f"{name}_cycles_total"] for name in ("latency", "stall", "idle"))
    if row["exposed_cycles_total"] is None:
        return {"stall": stall, "issue": latency - stall, "idle": idle}
    shown = {name: row[f"exposed_{name}_cycles_total"] for name in ("stall", "issue", "idle")}
    return {**shown, "hidden": latency + idle - sum(shown.values())}


def hottest(rows: Sequence[Row], top: int) -> list[int]:
    """Indexes of the rows with the most exposed cycles, hottest first."""
    order = sorted(range(len(rows)), key=lambda index: -exposed_of(rows[index]))
    return [index for index in order[:top] if exposed_of(rows[index]) > 0]


def focus(view: IsaView, rows: Sequence[Row]) -> set[int]:
    """Indexes of the rows that the listing is about: those asked for, else the hottest."""
    if view.around:
        return {index for index, row in enumerate(rows) if row["row"] in view.around}
    return set(hottest(rows, view.top))


def contexts(listing: IsaListing, view: IsaView, rows: Sequence[Row]) -> dict[int, int]:
    """Rows to show (by index) and how many around each: those in focus, and the other ends of their arrows."""
    if view.show_all:
        return {0: len(rows)}
    index_of = {row["row"]: index for index, row in enumerate(rows)}
    chosen = focus(view, rows)
    windows: dict[int, int] = {}
    if view.arrows == "branches":
        ends = {row for pair in listing.branches.select("from_row", "to_row").iter_rows() for row in pair}
        windows |= {index_of[row]: 1 for row in ends if row in index_of}
    elif view.arrows == "waits":
        at = {rows[index]["row"] for index in chosen}
        found: dict[int, int] = {}
        pairs = listing.arrows.sort("count", descending=True).select("wait_row", "producer_row").iter_rows()
        for one, other in (pair[::step] for pair in pairs for step in (1, -1)):
            if one in at and other in index_of and found.setdefault(one, 0) < _MAX_ENDS:
                found[one] += 1
                windows[index_of[other]] = 0
    return windows | dict.fromkeys(chosen, view.context)


def isa_lines(rows: Sequence[Row], windows: Mapping[int, int]) -> list[Line]:
    """The lines of a listing: windows around rows (see `contexts`), folds, and names of functions."""
    lines: list[Line] = []
    function: str | None = ""
    for part in stretches(len(rows), windows):
        if part.is_folded:
            lines.append(Line(part.begin, part.end))
            continue
        for index in range(part.begin, part.end):
            if rows[index]["function"] != function:
                function = rows[index]["function"]
                lines.append(Line(heading=function or "no function"))
            elif index and rows[index]["row"] != rows[index - 1]["row"] + 1:
                lines.append(Line(heading=f"… {rows[index]['row'] - rows[index - 1]['row'] - 1:,} rows not chosen …"))
            lines.append(Line(index, index + 1))
    return lines


def isa_arrows(listing: IsaListing, view: IsaView, rows: Sequence[Row], lines: Sequence[Line]) -> list[Arrow]:
    """One arrow for each waiting row (or branch target), between lines; weighed by the stall at its head.

    An arrow into folded rows is left away, unless it comes from a row in focus.
    """
    if view.arrows == "none":
        return []
    frame = listing.arrows if view.arrows == "waits" else listing.branches
    tail, head = ("producer_row", "wait_row") if view.arrows == "waits" else ("from_row", "to_row")
    line_of = {rows[index]["row"]: number for number, line in enumerate(lines) for index in range(line.begin, line.end)}
    stall_of = {row["row"]: row["stall_cycles_total"] for row in rows}
    in_focus = {rows[index]["row"] for index in focus(view, rows)}
    tails: dict[int, set[int]] = {}
    for source, target in frame.select(tail, head).iter_rows():
        if source in line_of and target in line_of and (lines[line_of[target]].is_row or source in in_focus):
            tails.setdefault(target, set()).add(source)
    arrows = []
    for target, sources in tails.items():
        places = {line_of[source] for source in sources if source == target or line_of[source] != line_of[target]}
        if places:
            weight = stall_of[target] if view.arrows == "waits" else len(sources)
            arrows.append(Arrow(line_of[target], tuple(sorted(places)), weight))
    return arrows
