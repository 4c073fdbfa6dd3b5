"""Costs as a tree: from files over inlined lines, from functions over loops, or from scopes, down to instructions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import polars as pl

from wavewright.analysis.code.control_flow import blocks
from wavewright.analysis.trace.code.attribution import place_of
from wavewright.analysis.trace.code.control_flow import loop_of_rows, taken_jumps
from wavewright.analysis.trace.code.control_flow import loops as code_loops
from wavewright.analysis.trace.code.marker_scopes import marker_scopes
from wavewright.analysis.trace.costs.row_costs import row_costs
from wavewright.errors import UsageError
from wavewright.model.answer import Answer, once_per_trace
from wavewright.model.executions import is_execution
from wavewright.model.schema import SAMPLE_COUNTS
from wavewright.model.trace import ThreadTrace

#: Levels of each: file, lines, instruction | function, loops, block, instruction | marker scopes | scopes, then source.
TREES = ("source", "code", "scopes", "scope_source")

SMALLEST_SHARE = 1e-5  #: Siblings below this share of the whole are put together.
MOST_LINES = 64  #: Lines of an inline chain that get a frame of their own, from the outside.

_MEASURES = (
    "hit_count",
    "latency_cycles_total",
    "stall_cycles_total",
    "idle_cycles_total",
    "exposed_latency_cycles_total",
    "exposed_idle_cycles_total",
    "sample_count",
)
#: Places among `_MEASURES` of those whose sum is the size of a frame (a trace has either cycles or samples).
_SIZE = [_MEASURES.index(name) for name in ("latency_cycles_total", "idle_cycles_total", "sample_count")]


class _Label(NamedTuple):
    """Kind and name of a frame, and its place; None = that does not apply to its kind."""

    kind: str
    name: str
    file: str | None = None
    line: int | None = None
    row: int | None = None


@dataclass(frozen=True)
class Flame(Answer, package=__package__):
    """A tree of costs."""

    tree: str
    frames: pl.DataFrame
    merged_count: int  #: Frames that were put together because they are small, with all below them.
    frame_count: int  #: Frames before that, without the whole.


@once_per_trace
def flame(trace: ThreadTrace, tree: str = "source") -> Flame:
    """The tree of costs of the whole trace; `tree` is one of `TREES`.

    Raises `UsageError` when there is no such tree.
    """
    if tree not in TREES:
        raise UsageError(f"no tree {tree[:40]!r}", advice=f"trees: {', '.join(TREES)}")
    costs = _Tree()
    if tree == "source":
        _grow(costs, trace, _costs_by_row(trace), {0: 0})
    elif tree == "code":
        _grow_code(costs, trace)
    else:
        below = _grow_stacks(costs, trace, alone=tree == "scopes")
        if tree == "scope_source":
            _grow(costs, trace, _costs_by_stack(trace), below)
    costs.add_up()
    numbers, merged = costs.without_small_ones()
    return Flame(tree, costs.table(numbers, merged), sum(merged.values()), len(costs.parents) - 1)


@dataclass
class _Tree:
    """Frames by number; a child has a larger number than its parent."""

    parents: list[int] = field(default_factory=lambda: [-1])
    depths: list[int] = field(default_factory=lambda: [0])
    labels: list[_Label] = field(default_factory=lambda: [_Label("all", "all")])
    measures: list[list[float]] = field(default_factory=lambda: [[0.0] * len(_MEASURES)])  #: In the order of _MEASURES.
    #: What counts as executions of a frame, where that is not the sum of what is below it.
    counts: dict[int, int] = field(default_factory=dict)
    _numbers: dict[tuple[int, str, str], int] = field(default_factory=dict)

    def child(
        self,
        parent: int,
        kind: str,
        name: str,
        file: str | None = None,
        line: int | None = None,
        row: int | None = None,
    ) -> int:
        """The frame of that kind and name below a frame, made when it is not there."""
        key = (parent, kind, name)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.parents)
            self.parents.append(parent)
            self.depths.append(self.depths[parent] + 1)
            self.labels.append(_Label(kind, name, file, line, row))
            self.measures.append([0.0] * len(_MEASURES))
        return number

    def add(self, number: int, costs: tuple[float, ...]) -> None:
        """Give costs to a frame."""
        sums = self.measures[number]
        for at, cost in enumerate(costs):
            sums[at] += cost

    def add_up(self) -> None:
        """Add the costs of every frame to those of its parent."""
        for number in range(len(self.parents) - 1, 0, -1):
            self.add(self.parents[number], tuple(self.measures[number]))

    def without_small_ones(self) -> tuple[list[int], dict[int, int]]:
        """Numbers of the frames that stay; and, of those that stand for small siblings, frame -> number of these."""
        smallest = self._size(0) * SMALLEST_SHARE
        small: dict[int, list[int]] = {}
        for number in range(1, len(self.parents)):
            if self._size(number) < smallest:
                small.setdefault(self.parents[number], []).append(number)
        gone: set[int] = set()
        merged: dict[int, int] = {}
        for siblings in small.values():
            if len(siblings) > 1:
                first, *others = siblings
                for other in others:
                    self.add(first, tuple(self.measures[other]))
                merged[first] = len(siblings)
                gone.update(others)
        remaining = []
        for number, parent in enumerate(self.parents):
            if parent in gone or parent in merged:
                gone.add(number)
                merged.pop(number, None)
            elif number not in gone:
                remaining.append(number)
        return remaining, {number: count for number, count in merged.items() if number not in gone}

    def _size(self, number: int) -> float:
        """Latency and idle cycles, or samples."""
        return sum(self.measures[number][at] for at in _SIZE)

    def table(self, nodes: list[int], merged: dict[int, int]) -> pl.DataFrame:
        """The frames that stay, numbered anew."""
        numbers = {-1: -1} | {old: new for new, old in enumerate(nodes)}
        rows = []
        for old in nodes:
            label = _Label("smaller", f"({merged[old]:,} smaller)") if old in merged else self.labels[old]
            place = (numbers[old], numbers[self.parents[old]], self.depths[old])
            hits, *others = self.measures[old]
            rows.append((*place, *label, float(self.counts.get(old, 0)) or hits, *others))
        labels = dict(list(Flame.tables["frames"].dtypes.items())[:8])
        frame = pl.DataFrame(rows, schema=labels | dict.fromkeys(_MEASURES, pl.Float64), orient="row")
        return frame.with_columns(pl.col("hit_count", "sample_count").round().cast(pl.Int64))


def _grow(tree: _Tree, trace: ThreadTrace, costs: pl.DataFrame, below: dict[int, int]) -> None:
    """Add files, lines and instructions; `costs` are of pairs of `stack` and `row`, `below` the frames of stacks."""
    places = dict(trace.code.select("row", "inline_chain").iter_rows())
    texts = dict(trace.code.select("row", "text").iter_rows())
    lines: dict[tuple[int, str | None], int] = {}
    for stack, row, *measures in costs.iter_rows():
        key = (stack, places.get(row))
        if key not in lines:
            lines[key] = _line(tree, below[stack], key[1])
        tree.add(tree.child(lines[key], "instruction", texts.get(row) or f"row {row}", row=row), tuple(measures))


def _grow_code(tree: _Tree, trace: ThreadTrace) -> None:
    """Add functions, loops, blocks and instructions, for which no debug line is needed."""
    code = trace.code.sort("row")
    names = dict(trace.kernels.select("name", "demangled").iter_rows())
    places = code.select("code_object", "function", "text").rows()
    graph = blocks(code, taken_jumps(trace))
    spans = graph.blocks.select("first_row", "last_row").rows()
    block_of, loop_of = graph.by_row["block"].to_list(), loop_of_rows(trace).to_list()
    loops = {row["loop"]: row for row in code_loops(trace).iter_rows(named=True)}
    parents: dict[tuple[int, int | None], int] = {}
    first_rows = {place[:2]: row for row, place in reversed(list(enumerate(places)))}
    for _, row, *measures in _costs_by_row(trace).iter_rows():
        if not 0 <= row < len(places):
            tree.add(tree.child(0, "smaller", f"row {row}"), tuple(measures))
            continue
        key = (block_of[row], loop_of[row])
        if key not in parents:
            place = places[row][:2]
            name = place[1] or "[no function]"
            parent = tree.child(0, "function", names.get(name) or name, row=first_rows[place])
            for loop in _around(loops, loop_of[row]):
                label = f"loop {loop['loop']}: rows {loop['first_row']} to {loop['last_row']}"
                parent = tree.child(parent, "loop", label, row=loop["first_row"])
            first, last = spans[block_of[row]]
            parents[key] = tree.child(parent, "block", f"rows {first} to {last}", row=first)
        tree.add(tree.child(parents[key], "instruction", places[row][2] or f"row {row}", row=row), tuple(measures))


def _around(loops: Mapping[int, dict[str, Any]], innermost: int | None) -> list[dict[str, Any]]:
    """The loops around a row, from the outside."""
    around: list[dict[str, Any]] = []
    while innermost is not None:
        around.append(loops[innermost])
        innermost = loops[innermost]["parent"]
    return around[::-1]


def _line(tree: _Tree, parent: int, chain: str | None) -> int:
    """The frame of the innermost line of a chain."""
    if chain is None:
        return tree.child(parent, "file", "[no source location]")
    frames = chain.split(" -> ")
    file, _ = place_of(frames[-1])
    number = tree.child(parent, "file", file, file)
    # from the outside; of a very deep chain the outermost lines and the innermost
    shown = [*frames[:-MOST_LINES:-1], frames[0]] if len(frames) > MOST_LINES else reversed(frames)
    for frame in shown:
        file, line = place_of(frame)
        number = tree.child(number, "line", frame, file, line)
    return number


def _costs_by_row(trace: ThreadTrace) -> pl.DataFrame:
    """`stack` (0), `row` and `_MEASURES` of every row that cost anything."""
    samples = trace.samples.select("row", sample_count=pl.sum_horizontal(SAMPLE_COUNTS))
    return (
        row_costs(trace)
        .with_columns(exposed_latency_cycles_total=_exposed_latency())
        .join(samples, on="row", how="full", coalesce=True)
        .sort("row")
        .select(pl.lit(0).alias("stack"), "row", pl.col(_MEASURES).fill_null(0).cast(pl.Float64))
        .filter(pl.sum_horizontal(_MEASURES) > 0)
    )


def _exposed_latency() -> pl.Expr:
    return pl.col("exposed_stall_cycles_total") + pl.col("exposed_issue_cycles_total")


def _costs_by_stack(trace: ThreadTrace) -> pl.DataFrame:
    """`stack`, `row` and `_MEASURES` of pairs that ran; a gap belongs to the instruction after it (`row_costs`)."""
    slot = ["se", "cu", "simd", "slot"]
    end = pl.col("time_cycles") + pl.col("duration_cycles")
    changes = marker_scopes(trace).changes.sort("time_cycles", maintain_order=True)
    parts = (
        trace.instructions.with_columns(is_execution=is_execution())
        .filter(pl.col("row") >= 0)
        .join(trace.waves.select("wave", *slot, "start_cycles"), on="wave", maintain_order="left")
        .with_columns(free_from=pl.max_horizontal(end.cum_max().shift(1).over("wave"), "start_cycles"))
        .sort("time_cycles", maintain_order=True)
        .join_asof(changes, on="time_cycles", by=slot, strategy="backward", check_sortedness=False)
        .group_by(pl.col("stack").fill_null(0), "row")
        .agg(
            hit_count=pl.col("is_execution").sum().cast(pl.Int64),
            latency_cycles_total=pl.col("duration_cycles").cast(pl.Int64).sum(),
            stall_cycles_total=pl.col("stall_cycles").cast(pl.Int64).sum(),
            idle_cycles_total=(pl.col("time_cycles") - pl.col("free_from")).clip(lower_bound=0).sum(),
        )
    )
    whole = row_costs(trace).select(
        "row",
        exposed_latency=_exposed_latency(),
        exposed_idle="exposed_idle_cycles_total",
        latency="latency_cycles_total",
        idle="idle_cycles_total",
    )
    shares = {}
    for part in ("latency", "idle"):
        share = pl.col(f"exposed_{part}") * pl.col(f"{part}_cycles_total") / pl.col(part)
        shares[f"exposed_{part}_cycles_total"] = share.fill_nan(0)
    return (
        parts.join(whole, on="row", how="left")
        .with_columns(sample_count=pl.lit(0), **shares)
        .sort("stack", "row")
        .select("stack", "row", pl.col(_MEASURES).cast(pl.Float64).fill_null(0))
    )


def _grow_stacks(tree: _Tree, trace: ThreadTrace, *, alone: bool) -> dict[int, int]:
    """Add the paths of marker scopes, with their times if there is nothing else; return the frame of every stack."""
    markers = marker_scopes(trace)
    below = {0: 0}
    for number, parent, kind, name in markers.stacks.iter_rows():
        if parent is not None:
            below[number] = tree.child(below[parent], kind, name)
    if not alone:
        if trace.instructions.height and len(below) > 1:
            below[0] = tree.child(0, "scope", "[no scope]")
        return below
    length = pl.col("end_cycles") - pl.col("start_cycles")
    inside = (
        markers.scopes.filter(pl.col("kind") != "point")
        .group_by("stack")
        .agg(pl.len().alias("count"), length.sum().alias("cycles"))
        .sort("stack")
    )
    parents = dict(markers.stacks.select("stack", "parent").iter_rows())
    self_cycles = dict(inside.select("stack", "cycles").iter_rows())
    for stack, cycles in list(self_cycles.items()):
        if parents[stack]:
            self_cycles[parents[stack]] = self_cycles.get(parents[stack], 0) - cycles
    for stack, count, _ in inside.iter_rows():
        cycles = float(max(self_cycles[stack], 0))
        tree.add(below[stack], tuple(cycles if name == "latency_cycles_total" else 0.0 for name in _MEASURES))
        tree.counts[below[stack]] = count
    return below
