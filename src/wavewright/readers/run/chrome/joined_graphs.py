"""GPU work of replayed graphs, joined with the nodes that were captured.

A launch is joined as a whole or not at all: only if every piece of its GPU work has a node. The graph is, in this
order, one with the same names in the same order; one with the same names, whose repeated names are paired by
occurrence; one in which all of them are found in order, with at most 2 nodes, or 1 %, left over; one with graphs as
nodes, which are put in place. Of several graphs that fit, those of the same file or rank count, then the smallest
whose batch holds that of the step; where they still differ in shapes, the launch stays without operators.

Stages: `_launches` and `_work` (what was replayed), `_Captured` (all graphs as one array of numbers), `_match_all`
(which graphs fit, and which of these it is), `_applied` (the columns of the tables). Names are compared as numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import polars as pl
from numpy.typing import NDArray

from wavewright.model.losses import Loss
from wavewright.readers.run.chrome.captured_graphs import CHILD, LAYER, CapturedGraphs, graph_launches, replayed_name
from wavewright.readers.run.chrome.events import SIZES

_KEY = ["process", "correlation"]
_CHILD_CODE = -2  #: In place of the number of a name: the node is a graph itself.
_UNKNOWN_CODE = -1  #: No captured node has the name.
#: A graph fits although nodes have no GPU work, up to this number or this share of its nodes, whichever is more.
_MISSING_MAX, _MISSING_SHARE_MAX = 2, 0.01
_MOST_TRIED = 64  #: A sequence that no graph has exactly is compared with so many at most, of perhaps thousands.
#: Tokens of a step, as vLLM and SGLang write them into the marker around it.
_TOKENS = (r"^execute_(\d{1,9})_context", r"^step\[\w+ bs=(\d{1,9})(?: toks=\d+)?\b.*\]$")
#: Values of `graph_match`; "graph id" = exact, and the trace has the order of the nodes itself.
_WAYS = ["exact", "graph id", "by occurrence", "by subsequence", "with child graphs"]


@dataclass(frozen=True)
class _Match:
    """The nodes of one sequence of GPU work."""

    graphs: tuple[int, ...]  #: Every graph that fits.
    nodes: NDArray[np.int64]  #: The node of each piece of work, counted from the first of its graph.
    way: str  #: Of `_WAYS`.
    gaps: tuple[int, ...] = ()  #: Nodes without GPU work.
    is_absolute: bool = False  #: `nodes` are of all graphs together: other graphs were put in place of nodes.


@dataclass
class _Replay:
    """The GPU work of one launch of a graph, and what was found for it."""

    rows: slice  #: Of the table of `_work`.
    codes: NDArray[np.int64]  #: The name of each row, as a number of `_Captured`.
    tokens: int | None  #: Of the step around it.
    match: _Match | None  #: None = no graph fits.
    graph: int = -1  #: The one of the graphs that fit which was replayed; -1 = none, or not known.


@dataclass(frozen=True)
class JoinedGraphs:
    """The tables of GPU work with what was found."""

    dispatches: pl.DataFrame
    copies: pl.DataFrame
    calls: pl.DataFrame  #: The table `graph_calls`.
    losses: list[Loss]


def joined_graphs(kinds: dict[str, pl.DataFrame], captures: Sequence[CapturedGraphs]) -> JoinedGraphs | None:
    """GPU work with the calls that it was captured in; None = no graph was replayed."""
    launches = _launches(kinds["regions"])
    work = _work(kinds, launches)
    if not work.height:
        return None
    if not captures:
        return _unjoined(kinds, work)
    contents = _Captured(captures)
    work, losses = _match_all(contents, launches, work)
    return _applied(kinds, contents, work, losses)


def _launches(regions: pl.DataFrame) -> pl.DataFrame:
    """The replays: `launch`, `process`, `correlation`, `start_ns`, and `tokens` of the step around each."""
    calls = graph_launches(regions).drop_nulls("correlation").unique(_KEY, keep="first", maintain_order=True)
    calls = calls.sort("process", "start_ns").with_row_index("launch").with_columns(pl.col("launch").cast(pl.Int64))
    name = pl.col("name").cast(pl.String)
    tokens = pl.coalesce(name.str.extract(pattern, 1) for pattern in _TOKENS).cast(pl.Int64, strict=False)
    steps = regions.filter(pl.col("domain").cast(pl.String) == "MARKER").with_columns(tokens=tokens)
    steps = steps.drop_nulls("tokens").select("process", "tokens", "start_ns", until="end_ns").sort("start_ns")
    rows = calls.sort("start_ns").join_asof(steps, on="start_ns", by="process", check_sortedness=False)
    is_inside = pl.col("start_ns") <= pl.col("until")
    return rows.sort("launch").select("launch", *_KEY, "start_ns", tokens=pl.when(is_inside).then("tokens"))


def _work(kinds: dict[str, pl.DataFrame], launches: pl.DataFrame) -> pl.DataFrame:
    """GPU work of the replays by launch, in the order of the graph where that is recorded, else of time."""
    parts = []
    columns = ("launch", "process", "row", "start_ns", "end_ns")
    for table in ("dispatches", "copies"):
        rows = kinds[table].with_row_index("row").join(launches.select("launch", *_KEY), on=_KEY)
        name = replayed_name(pl.col("name").cast(pl.String)) if table == "dispatches" else pl.lit("copy")
        if "cat" in rows.columns:
            name = pl.when(rows["cat"].cast(pl.String) == "gpu_memset").then(pl.lit("set")).otherwise(name)
        node = pl.col("graph_node") & 0xFFFFFFFF
        parts.append(rows.select(*columns, node=node, name=name, is_copy=pl.lit(table == "copies")))
    work = pl.concat(parts)
    is_numbered = (pl.col("node").is_not_null() & (pl.col("node").n_unique() == pl.len())).all().over("launch")
    order = pl.when(is_numbered).then("node").otherwise(0)
    return work.with_columns(order=order, is_numbered=is_numbered).sort("launch", "order", "start_ns", "is_copy", "row")


class _Captured:
    """All captured graphs, numbered through all files; their nodes are one array, in which `begins` finds a graph."""

    def __init__(self, captures: Sequence[CapturedGraphs]) -> None:
        self.captures = captures
        nodes, calls, graphs = [], [], []
        first_graph = first_call = 0
        for number, capture in enumerate(captures):
            graph, call = pl.col("graph") + first_graph, pl.col("call") + first_call
            nodes.append(capture.nodes.with_columns(graph, call))
            calls.append(capture.calls.with_columns(graph, call, pl.col("parent") + first_call))
            graphs.append(capture.graphs.with_columns(graph, file=pl.lit(number, pl.Int64)))
            first_graph += capture.graphs.height
            first_call += capture.calls.height
        self.calls, self.graphs = pl.concat(calls), pl.concat(graphs)
        in_order = pl.concat(nodes).sort("graph", "node")
        self.nodes = in_order.with_columns(label=_labels(in_order, self.calls))
        names = self.nodes["name"].unique(maintain_order=True)
        self.names = names.to_list()
        self._codes = pl.DataFrame({"name": names, "code": np.arange(names.len(), dtype=np.int64)})
        self.codes = self.code(self.nodes["name"])
        self.codes[(self.nodes["name"] == CHILD).to_numpy()] = _CHILD_CODE
        lengths = np.bincount(self.nodes["graph"].to_numpy(), minlength=first_graph).astype(np.int64)
        self.begins = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        self.files = self.graphs["file"].to_numpy()
        self.sizes: list[int | None] = self.graphs["size"].to_list()
        places = np.arange(self.nodes.height) - np.repeat(self.begins[:-1], lengths)
        hashes = _hashes_at(self.nodes["label"].to_numpy(), places)
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(hashes, dtype=np.uint64)])
        #: A hash of what the nodes of a graph work on: graphs of equal names that differ in it are for other batches.
        self.works = (sums[self.begins[1:]] - sums[self.begins[:-1]]).tolist()

    def code(self, names: pl.Series) -> NDArray[np.int64]:
        """The numbers of names; of those that no node has, -1."""
        rows = names.rename("name").to_frame().join(self._codes, on="name", how="left", maintain_order="left")
        return rows["code"].fill_null(_UNKNOWN_CODE).to_numpy().copy()

    def of(self, graph: int) -> NDArray[np.int64]:
        """The names of a graph, as numbers."""
        return self.codes[self.begins[graph] : self.begins[graph + 1]]


def _labels(nodes: pl.DataFrame, calls: pl.DataFrame) -> pl.Series:
    """A hash per node of its operator, the nearest around it, and the shapes and types of that operator's inputs."""
    text = pl.col("event_properties")
    parts = [text.str.json_path_match(f"$['{key}']").fill_null("") for key in ("Input Dims", "Input type")]
    is_operator = pl.col("domain").cast(pl.String) == "OPERATOR"
    label = pl.when(is_operator).then(pl.concat_str([pl.col("name").cast(pl.String).fill_null(""), *parts]))
    rows = calls.select("call", "parent", label=label)
    searches = nodes.select("call", label=pl.lit(None, pl.String))
    while searches["call"].drop_nulls().len():  # one call further up each time; null = the search has ended
        calls_above = searches.join(rows, on="call", how="left", maintain_order="left", suffix="_of_call")
        searches = calls_above.select(
            call=pl.when(pl.col("label").is_null() & pl.col("label_of_call").is_null()).then("parent"),
            label=pl.coalesce("label", "label_of_call"),
        )
    return searches["label"].hash().reinterpret(signed=True).fill_null(0)


def _hashes_at(values: NDArray[np.int64], places: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Hashes of values at places; the sum over a sequence of them stands for the sequence.

    The factors are the golden ratio (2^64 / phi), the second prime of xxHash64 and a factor of splitmix64.
    """
    hashes = (values.astype(np.uint64) + np.uint64(7)) * np.uint64(0x9E3779B97F4A7C15)
    hashes ^= (places.astype(np.uint64) + np.uint64(1)) * np.uint64(0xC2B2AE3D27D4EB4F)
    hashes ^= hashes >> np.uint64(29)
    hashes *= np.uint64(0xBF58476D1CE4E5B9)
    return hashes ^ (hashes >> np.uint64(32))


def _match_all(contents: _Captured, launches: pl.DataFrame, work: pl.DataFrame) -> tuple[pl.DataFrame, list[Loss]]:
    """The work with `node` (of all nodes of all graphs; -1 = none) and `how` it was matched; and losses."""
    launch, codes, tokens = work["launch"].to_numpy(), contents.code(work["name"]), launches["tokens"].to_list()
    starts = np.flatnonzero(np.concatenate([[True], launch[1:] != launch[:-1]])).tolist()
    slices = [slice(start, end) for start, end in pairwise([*starts, launch.size])]
    finder = _Finder(contents)
    replays = [_Replay(rows, codes[rows], tokens[launch[rows.start]], finder.match(codes[rows])) for rows in slices]
    losses = [*_choose(contents, replays), *_left_over(contents, work, replays)]
    nodes = np.full(work.height, -1, np.int64)
    ways = np.zeros(work.height, np.int8)
    is_numbered = work["is_numbered"].to_numpy()
    for replay in replays:
        match = replay.match
        if match and replay.graph >= 0:
            nodes[replay.rows] = match.nodes + (0 if match.is_absolute else contents.begins[replay.graph])
            is_by_id = match.way == "exact" and is_numbered[replay.rows.start]
            ways[replay.rows] = _WAYS.index("graph id" if is_by_id else match.way)
    way_of_row = pl.Series(_WAYS).gather(pl.Series(ways, dtype=pl.UInt32))
    with_nodes = work.with_columns(node=pl.Series(nodes), how=way_of_row)
    return with_nodes.with_columns(how=pl.when(pl.col("node") >= 0).then("how")), losses


class _Finder:
    """The graphs that fit a sequence of names; each sequence is looked for once."""

    def __init__(self, contents: _Captured) -> None:
        self._captured = contents
        self._found: dict[bytes, _Match | None] = {}
        self._exact: dict[bytes, list[int]] = {}
        self._names: dict[bytes, list[int]] = {}
        self._parents: list[int] = []
        for graph in range(len(contents.sizes)):
            codes = contents.of(graph)
            if (codes == _CHILD_CODE).any():
                self._parents.append(graph)
            self._exact.setdefault(codes.tobytes(), []).append(graph)
            self._names.setdefault(np.sort(codes).tobytes(), []).append(graph)

    def match(self, codes: NDArray[np.int64]) -> _Match | None:
        """The graphs and nodes of one launch; None = nothing fits."""
        text = codes.tobytes()
        if text not in self._found:
            self._found[text] = self._first_fit(codes)
        return self._found[text]

    def _first_fit(self, codes: NDArray[np.int64]) -> _Match | None:
        if not (codes < 0).any():
            if graphs := self._exact.get(codes.tobytes()):
                return _Match(tuple(graphs), np.arange(codes.size), "exact")
            if graphs := self._names.get(np.sort(codes).tobytes()):
                graph = self._captured.of(graphs[0])
                return _Match(tuple(self._exact[graph.tobytes()]), _by_occurrence(codes, graph), "by occurrence")
            if match := self._subsequence(codes):
                return match
        return self._with_children(codes)

    def _subsequence(self, codes: NDArray[np.int64]) -> _Match | None:
        lengths = np.diff(self._captured.begins)
        surplus = lengths - codes.size
        surplus_max = np.maximum(_MISSING_MAX, np.ceil(lengths * _MISSING_SHARE_MAX))
        candidates = np.flatnonzero((surplus > 0) & (surplus <= surplus_max))
        for graph in candidates[np.argsort(surplus[candidates], kind="stable")][:_MOST_TRIED].tolist():
            nodes = _embedded(codes, self._captured.of(graph))
            if nodes is None:
                continue
            same = self._exact[self._captured.of(graph).tobytes()]
            gaps = np.setdiff1d(np.arange(lengths[graph]), nodes)
            return _Match(tuple(same), nodes, "by subsequence", tuple(gaps.tolist()))
        return None

    def _with_children(self, codes: NDArray[np.int64]) -> _Match | None:
        """A graph with graphs as nodes: the work in their place is that of one of the other graphs of its file."""
        files = self._captured.files
        for parent in self._parents[:_MOST_TRIED]:
            of_file = np.flatnonzero(files == files[parent]).tolist()
            nodes = self._unfolded(parent, [graph for graph in of_file if graph not in self._parents], codes)
            if len(nodes) == codes.size:
                return _Match((parent,), np.array(nodes, np.int64), "with child graphs", is_absolute=True)
        return None

    def _unfolded(self, parent: int, children: Sequence[int], codes: NDArray[np.int64]) -> list[int]:
        """The nodes of the names, numbered through all graphs, of the names that `parent` has; empty where they differ.

        A node that is a graph stands for the longest of `children` that fits at its place.
        """
        contents = self._captured
        nodes: list[int] = []
        for node, code in enumerate(contents.of(parent).tolist(), start=int(contents.begins[parent])):
            names_left = codes[len(nodes) :]
            if code == _CHILD_CODE:
                pairs = ((child, contents.of(child)) for child in children)
                fits = [child for child, names in pairs if np.array_equal(names_left[: names.size], names)]
                if not fits:
                    return []
                child = max(fits, key=lambda graph: contents.of(graph).size)
                nodes += range(int(contents.begins[child]), int(contents.begins[child + 1]))
            elif names_left.size and names_left[0] == code:
                nodes.append(node)
            else:
                return []
        return nodes


def _by_occurrence(codes: NDArray[np.int64], graph: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each name the node where it occurs as often before: a stable sort puts the nth of a name beside the nth."""
    nodes = np.empty(codes.size, np.int64)
    nodes[np.argsort(codes, kind="stable")] = np.argsort(graph, kind="stable")
    return nodes


def _embedded(codes: NDArray[np.int64], graph: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """The nodes in which all names are found in order, the first that fit; None = they are not."""
    nodes, node, names = [], 0, graph.tolist()
    for code in codes.tolist():
        while node < len(names) and names[node] != code:
            node += 1
        if node == len(names):
            return None
        nodes.append(node)
        node += 1
    return np.array(nodes, np.int64)


def _choose(contents: _Captured, replays: Sequence[_Replay]) -> list[Loss]:
    """Set the graph of each replay; losses where that is not certain.

    Graphs of equal nodes are told apart by their order: where the next replays fit all graphs of a file, each the one
    at its place, these are their graphs.
    """
    place = uncertain_count = open_count = 0
    graphs_by_file = {file: np.flatnonzero(contents.files == file).tolist() for file in set(contents.files.tolist())}
    while place < len(replays):
        replay = replays[place]
        graphs = _of_batch(contents, replay.match.graphs, replay.tokens) if replay.match else []
        of_file = graphs_by_file[int(contents.files[graphs[0]])] if graphs else []
        next_pairs = list(zip(replays[place : place + len(of_file)], of_file, strict=False))
        if of_file and len(next_pairs) == len(of_file) and all(_may_be(after, graph) for after, graph in next_pairs):
            for after, graph in next_pairs:
                after.graph = graph if after.match else -1
            place += len(of_file)
            continue
        replay.graph = graphs[0] if graphs else -1
        open_count += not graphs and replay.match is not None
        uncertain_count += len(graphs) > 1
        place += 1
    counts = {"graph_batch_unknown": open_count, "graph_place_unknown": uncertain_count}
    return [Loss(reason, count) for reason, count in counts.items() if count]


def _may_be(replay: _Replay, graph: int) -> bool:
    return replay.match is None or graph in replay.match.graphs


def _of_batch(contents: _Captured, graphs: Sequence[int], tokens: int | None) -> list[int]:
    """The graphs, of one file, that fit a step with this number of tokens; none where they work on different shapes."""
    sizes = [size for graph in graphs if (size := contents.sizes[graph]) is not None]
    of_size = graphs
    if len({contents.works[graph] for graph in graphs}) > 1:
        large_enough = [size for size in sizes if tokens is not None and size >= tokens]
        if not large_enough or len(sizes) < len(graphs):
            return []
        of_size = [graph for graph in graphs if contents.sizes[graph] == min(large_enough)]
    of_file = [graph for graph in of_size if contents.files[graph] == contents.files[of_size[0]]]
    return of_file if len({contents.works[graph] for graph in of_file}) == 1 else []


def _left_over(contents: _Captured, work: pl.DataFrame, replays: Sequence[_Replay]) -> list[Loss]:
    """Losses: replays that were not joined, and those that were joined with less than equality."""
    losses = []
    unjoined_replays = [replay for replay in replays if replay.graph < 0]
    if unjoined_replays:
        lengths = (work["end_ns"] - work["start_ns"]).fill_null(0).to_numpy()
        count = sum(replay.codes.size for replay in unjoined_replays)
        share = sum(int(lengths[replay.rows].sum()) for replay in unjoined_replays) / max(int(lengths.sum()), 1)
        without_match = [replay for replay in unjoined_replays if replay.match is None]
        reason = _difference(contents, work, without_match[0]) if without_match else ""
        losses.append(Loss("graph_unjoined", count, detail=f"{100 * share:.1f} % of the time of graphs{reason}"))
    joined_matches = [(replay.match, replay.graph) for replay in replays if replay.match and replay.graph >= 0]
    if reordered_count := sum(match.way == "by occurrence" for match, _ in joined_matches):
        losses.append(Loss("graph_order", reordered_count))
    incomplete = [(match, graph) for match, graph in joined_matches if match.gaps]
    if incomplete:
        match, graph = incomplete[0]
        name = contents.names[int(contents.of(graph)[match.gaps[0]])]
        detail = f"node {match.gaps[0]} of {contents.of(graph).size}, {name[:80]}"
        losses.append(Loss("graph_node_missing", sum(len(match.gaps) for match, _ in incomplete), detail=detail))
    return losses


def _difference(contents: _Captured, work: pl.DataFrame, replay: _Replay) -> str:
    """The first difference of a replay from the captured graph with the longest equal start, in words."""
    nearest, equal_count = -1, -1
    for graph in range(len(contents.sizes)):
        names = contents.of(graph)
        length = min(names.size, replay.codes.size)
        differences = np.flatnonzero(names[:length] != replay.codes[:length])
        equal_start = int(differences[0]) if differences.size else length
        if equal_start > equal_count:
            nearest, equal_count = graph, equal_start
    names = contents.of(nearest)
    if equal_count >= min(names.size, replay.codes.size):
        return f": {replay.codes.size:,} kernels of a graph of {names.size:,}"
    own_name = work["name"][replay.rows.start + equal_count]
    captured_name = contents.names[int(names[equal_count])] if names[equal_count] >= 0 else "a graph"
    return f": kernel {equal_count} is {own_name[:60]}, captured was {captured_name[:60]}"


def _unjoined(kinds: dict[str, pl.DataFrame], work: pl.DataFrame) -> JoinedGraphs:
    """The tables as they are, and the loss that no capture is known."""
    total = sum(int((kinds[name]["end_ns"] - kinds[name]["start_ns"]).sum() or 0) for name in ("dispatches", "copies"))
    share = int((work["end_ns"] - work["start_ns"]).sum() or 0) / max(total, 1)
    loss = Loss("graph_closed", work.height, detail=f"{100 * share:.1f} %")
    return JoinedGraphs(kinds["dispatches"], kinds["copies"], pl.DataFrame(), [loss])


def _applied(
    kinds: dict[str, pl.DataFrame], contents: _Captured, work: pl.DataFrame, losses: list[Loss]
) -> JoinedGraphs:
    """The tables of GPU work with their nodes, and the calls that nodes were captured in, once per process."""
    rows = work.filter(pl.col("node") >= 0)
    sizes = [pl.col(name).alias(f"{name}_of_node") for name in SIZES]
    numbered_nodes = contents.nodes.with_row_index("node_row").cast({"node_row": pl.Int64})
    nodes = numbered_nodes.select("node_row", *sizes, "graph", "call", node_of_graph="node")
    rows = rows.drop("name").join(nodes, left_on="node", right_on="node_row", how="left", maintain_order="left")
    calls = rows.select("process", "graph").unique().join(contents.calls, on="graph")
    names = kinds["regions"]["name"].unique().cast(pl.String).drop_nulls()
    if names.str.starts_with(LAYER).any():  # the run has layers around its replays: those around the capture go
        outer = calls.filter("is_outer").select("process", parent="call", is_above=True)
        parent = pl.when(~pl.col("is_above").fill_null(value=False)).then("parent")
        calls = calls.join(outer, on=["process", "parent"], how="left").with_columns(parent=parent)
        calls = calls.filter(~pl.col("is_outer"))
    calls = calls.sort("process", "call").with_row_index("graph_call")
    numbers = calls.select("process", "call", "graph_call")
    above = numbers.rename({"call": "parent", "graph_call": "parent_call"})
    calls = calls.join(above, on=["process", "parent"], how="left", maintain_order="left")
    rows = rows.join(numbers, on=["process", "call"], how="left", maintain_order="left")
    tables = {}
    sizes_of_nodes = [f"{name}_of_node" for name in SIZES]
    for name in ("dispatches", "copies"):
        of_table = rows.filter(pl.col("is_copy") == (name == "copies"))
        places = of_table.select("row", "graph_call", "node_of_graph", *sizes_of_nodes, graph_match="how")
        frame = kinds[name].with_row_index("row").join(places, on="row", how="left", maintain_order="left")
        node = pl.coalesce("graph_node", "node_of_graph")
        tables[name] = frame.with_columns(_sizes_of_nodes(frame), graph_node=node).drop("row")
    return JoinedGraphs(tables["dispatches"], tables["copies"], calls, losses)


def _sizes_of_nodes(frame: pl.DataFrame) -> list[pl.Expr]:
    """Workgroups and grids of replayed kernels are those of the captured launch."""
    sizes = []
    for axis in "xyz" if "workgroup_x" in frame.columns else "":
        block, grid = (pl.col(f"{name}_{axis}_of_node") for name in ("block", "grid"))
        sizes += [pl.coalesce(f"workgroup_{axis}", block), pl.coalesce(f"grid_{axis}", grid * block)]
    return sizes
