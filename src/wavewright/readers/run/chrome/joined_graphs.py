"""GPU work of replayed graphs, joined with the nodes that were captured.

A launch is joined as a whole or not at all: only if every piece of its GPU work has a node. The graph is, in this
order, one with the same names in the same order; one with the same names, whose repeated names are paired by
occurrence; one in which all of them are found in order, with at most 2 nodes, or 1 %, left over; one with graphs as
nodes, which are put in place. Of several graphs that fit, those of the same file or rank count, then the smallest
whose batch holds that of the step; where they still differ in shapes, the launch stays without operators.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from wavewright.model.losses import Loss
from wavewright.readers.run.chrome.captured_graphs import CHILD, LAYER, CapturedGraphs, graph_launches, replayed_name

_KEY = ["process", "correlation"]
_CHILD_CODE = -2
_UNKNOWN_CODE = -1
_LEAST_MISSING, _MISSING_SHARE = 2, 0.01
_MOST_TRIED = 64  #: Graphs that are compared with one odd sequence of names: there may be thousands of graphs.
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_SIZES = [f"{size}_{axis}" for size in ("grid", "block") for axis in "xyz"]
#: Tokens of a step, as vLLM and SGLang write them into the marker around it.
_TOKENS = (r"^execute_(\d{1,9})_context", r"^step\[\w+ bs=(\d{1,9})(?: toks=\d+)?\b.*\]$")


@dataclass(frozen=True)
class _Match:
    """The nodes of one sequence of GPU work."""

    graphs: tuple[int, ...]  #: Every graph that fits.
    nodes: NDArray[np.int64] | None  #: The node of each, relative to the first of its graph; None = in order.
    way: str
    gaps: tuple[int, ...] = ()  #: Nodes without GPU work.
    absolute: bool = False  #: True if `nodes` are of all graphs together: other graphs were put in place of nodes.


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
    steps = steps.drop_nulls("tokens").select("process", "tokens", begin="start_ns", until="end_ns").sort("begin")
    rows = calls.sort("start_ns").join_asof(
        steps, left_on="start_ns", right_on="begin", by="process", check_sortedness=False
    )
    is_inside = pl.col("start_ns") <= pl.col("until")
    return rows.sort("launch").select("launch", *_KEY, "start_ns", tokens=pl.when(is_inside).then("tokens"))


def _work(kinds: dict[str, pl.DataFrame], launches: pl.DataFrame) -> pl.DataFrame:
    """GPU work of the replays by launch, in the order of the graph where that is recorded, else of time."""
    parts = []
    for table in ("dispatches", "copies"):
        frame = kinds[table].with_row_index("row")
        rows = frame.join(launches.select("launch", *_KEY), on=_KEY)
        is_set = rows["cat"].cast(pl.String) == "gpu_memset" if "cat" in rows.columns else None
        name = replayed_name(pl.col("name").cast(pl.String)) if table == "dispatches" else pl.lit("copy")
        if is_set is not None:
            name = pl.when(is_set).then(pl.lit("set")).otherwise(name)
        node = pl.col("graph_node") & 0xFFFFFFFF
        parts.append(
            rows.select("launch", "row", "start_ns", "end_ns", node=node, name=name, is_copy=pl.lit(table == "copies"))
        )
    work = pl.concat(parts)
    is_numbered = (pl.col("node").is_not_null() & (pl.col("node").n_unique() == pl.len())).all().over("launch")
    order = pl.when(is_numbered).then("node").otherwise(0)
    return work.with_columns(order=order, is_numbered=is_numbered).sort("launch", "order", "start_ns", "is_copy", "row")


class _Captured:
    """All captured graphs: their names as numbers, and the first node of each."""

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
        labels = _mixed(self.nodes["label"].to_numpy(), places)
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(labels, dtype=np.uint64)])
        #: What the nodes of a graph work on: graphs of equal names that differ in it are for other batches.
        self.works = (sums[self.begins[1:]] - sums[self.begins[:-1]]).tolist()

    def code(self, names: pl.Series) -> NDArray[np.int64]:
        """The numbers of names; of those that no node has, -1."""
        rows = names.rename("name").to_frame().join(self._codes, on="name", how="left", maintain_order="left")
        return rows["code"].fill_null(_UNKNOWN_CODE).to_numpy().copy()

    def of(self, graph: int) -> NDArray[np.int64]:
        """The names of a graph."""
        return self.codes[self.begins[graph] : self.begins[graph + 1]]


def _labels(nodes: pl.DataFrame, calls: pl.DataFrame) -> pl.Series:
    """A number per node for its operator and the shapes and types of that operator's inputs."""
    text = pl.col("event_properties")
    parts = [text.str.json_path_match(f"$['{key}']").fill_null("") for key in ("Input Dims", "Input type")]
    is_operator = pl.col("domain").cast(pl.String) == "OPERATOR"
    label = pl.when(is_operator).then(pl.concat_str([pl.col("name").cast(pl.String).fill_null(""), *parts]))
    rows = calls.select("call", "parent", label=label)
    places = nodes.select("call", label=pl.lit(None, pl.String))
    while places["call"].drop_nulls().len():
        at = places.join(rows, on="call", how="left", maintain_order="left", suffix="_here")
        places = at.select(
            call=pl.when(pl.col("label").is_null() & pl.col("label_here").is_null()).then("parent"),
            label=pl.coalesce("label", "label_here"),
        )
    return places["label"].hash().reinterpret(signed=True).fill_null(0)


def _mixed(values: NDArray[np.int64], places: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Hashes of values at places; the sum over a sequence of them stands for the sequence."""
    x = (values.astype(np.uint64) + np.uint64(7)) * _GOLDEN
    x ^= (places.astype(np.uint64) + np.uint64(1)) * np.uint64(0xC2B2AE3D27D4EB4F)
    x ^= x >> np.uint64(29)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    return x ^ (x >> np.uint64(32))


def _match_all(contents: _Captured, launches: pl.DataFrame, work: pl.DataFrame) -> tuple[pl.DataFrame, list[Loss]]:
    """The work with `node` (of all nodes of all graphs; -1 = none) and `how` it was matched; and losses."""
    owner = work["launch"].to_numpy()
    begins = np.flatnonzero(np.concatenate([[True], owner[1:] != owner[:-1]])).astype(np.int64)
    ends = np.append(begins[1:], owner.size)
    numbers = owner[begins]  # of the launches that have work
    codes = contents.code(work["name"])
    finder = _Finder(contents)
    matches = [finder.match(codes[a:b]) for a, b in zip(begins.tolist(), ends.tolist(), strict=True)]
    tokens = launches["tokens"].to_list()
    choice, losses = _choice(contents, matches, [tokens[number] for number in numbers.tolist()])
    nodes = np.full(owner.size, -1, np.int64)
    way = np.zeros(owner.size, np.int8)
    is_numbered = work["is_numbered"].to_numpy()
    for match, graph, a, b in zip(matches, choice, begins.tolist(), ends.tolist(), strict=True):
        if match is None or graph < 0:
            continue
        first = 0 if match.absolute else contents.begins[graph]
        nodes[a:b] = first + (np.arange(b - a) if match.nodes is None else match.nodes)
        way[a:b] = _WAYS.index("graph id" if match.way == "exact" and is_numbered[a] else match.way)
    losses += _left_over(contents, work, matches, choice, begins, ends, codes)
    with_nodes = work.with_columns(node=pl.Series(nodes), how=pl.Series(_WAYS).gather(pl.Series(way, dtype=pl.UInt32)))
    return with_nodes.with_columns(how=pl.when(pl.col("node") >= 0).then("how")), losses


_WAYS = ["exact", "graph id", "by occurrence", "by subsequence", "with child graphs"]


class _Finder:
    """The graphs that fit a sequence of names; each sequence is looked for once."""

    def __init__(self, contents: _Captured) -> None:
        self._captured = contents
        self._found: dict[bytes, _Match | None] = {}
        self._exact: dict[bytes, list[int]] = {}
        self._names: dict[bytes, list[int]] = {}
        self._children: list[int] = []
        for graph in range(len(contents.sizes)):
            codes = contents.of(graph)
            if (codes == _CHILD_CODE).any():
                self._children.append(graph)
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
                return _Match(tuple(graphs), None, "exact")
            if graphs := self._names.get(np.sort(codes).tobytes()):
                graph = self._captured.of(graphs[0])
                alike = tuple(self._exact[graph.tobytes()])
                return _Match(alike, _by_occurrence(codes, graph), "by occurrence")
            if match := self._subsequence(codes):
                return match
        return self._with_children(codes)

    def _subsequence(self, codes: NDArray[np.int64]) -> _Match | None:
        lengths = np.diff(self._captured.begins)
        surplus = lengths - codes.size
        surplus_max = np.maximum(_LEAST_MISSING, np.ceil(lengths * _MISSING_SHARE))
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
        contents = self._captured
        for graph in self._children[:_MOST_TRIED]:
            of_file = np.flatnonzero(contents.files == contents.files[graph]).tolist()
            others = [other for other in of_file if other not in self._children]
            at, nodes = 0, list[int]()
            for node, code in enumerate(contents.of(graph).tolist()):
                if code == _CHILD_CODE:
                    fits = [g for g in others if np.array_equal(codes[at : at + contents.of(g).size], contents.of(g))]
                    if not fits:
                        break
                    child = max(fits, key=lambda g: contents.of(g).size)
                    nodes += range(int(contents.begins[child]), int(contents.begins[child + 1]))
                    at += contents.of(child).size
                elif at < codes.size and codes[at] == code:
                    nodes.append(int(contents.begins[graph]) + node)
                    at += 1
                else:
                    break
            else:
                if at == codes.size:
                    return _Match((graph,), np.array(nodes, np.int64), "with child graphs", absolute=True)
        return None


def _by_occurrence(codes: NDArray[np.int64], graph: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each name the node where it occurs as often before."""
    nodes = np.empty(codes.size, np.int64)
    nodes[np.argsort(codes, kind="stable")] = np.argsort(graph, kind="stable")
    return nodes


def _embedded(codes: NDArray[np.int64], graph: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """The nodes in which all names are found in order, the first that fit; None = they are not."""
    nodes, at, names = [], 0, graph.tolist()
    for code in codes.tolist():
        while at < len(names) and names[at] != code:
            at += 1
        if at == len(names):
            return None
        nodes.append(at)
        at += 1
    return np.array(nodes, np.int64)


def _choice(
    contents: _Captured, matches: Sequence[_Match | None], tokens: Sequence[int | None]
) -> tuple[list[int], list[Loss]]:
    """One graph per launch (-1 = none), and losses where that is not certain."""
    choice, uncertain, open_count = [], 0, 0
    windows = {file: np.flatnonzero(contents.files == file).tolist() for file in set(contents.files.tolist())}
    at = 0
    while at < len(matches):
        match = matches[at]
        graphs = _of_batch(contents, match.graphs, tokens[at]) if match else []
        if not graphs:
            choice.append(-1)
            open_count += match is not None
            at += 1
            continue
        row = windows[int(contents.files[graphs[0]])]
        span = matches[at : at + len(row)]
        if len(span) == len(row) and all(m is None or g in m.graphs for m, g in zip(span, row, strict=True)):
            choice += [-1 if m is None else g for m, g in zip(span, row, strict=True)]
            at += len(row)
            continue
        choice.append(graphs[0])
        uncertain += len(graphs) > 1
        at += 1
    losses = [Loss("graph_batch_unknown", open_count)] if open_count else []
    return choice, [*losses, *([Loss("graph_place_unknown", uncertain)] if uncertain else [])]


def _of_batch(contents: _Captured, graphs: Sequence[int], tokens: int | None) -> list[int]:
    """The graphs that fit a step with this number of tokens; none where they work on different shapes."""
    first = [g for g in graphs if contents.files[g] == contents.files[graphs[0]]]
    if len({contents.works[g] for g in graphs}) == 1:
        return first
    sizes = {size for g in graphs if (size := contents.sizes[g]) is not None}
    large_enough = [size for size in sizes if tokens is not None and size >= tokens]
    if not large_enough or any(contents.sizes[g] is None for g in graphs):
        return []
    of_size = [g for g in graphs if contents.sizes[g] == min(large_enough)]
    of_size = [g for g in of_size if contents.files[g] == contents.files[of_size[0]]]
    return of_size if len({contents.works[g] for g in of_size}) == 1 else []


def _left_over(
    contents: _Captured,
    work: pl.DataFrame,
    matches: Sequence[_Match | None],
    choice: Sequence[int],
    begins: NDArray[np.int64],
    ends: NDArray[np.int64],
    codes: NDArray[np.int64],
) -> list[Loss]:
    """Losses: replays that were not joined, and those that were joined with less than equality."""
    losses = []
    lengths = (work["end_ns"] - work["start_ns"]).fill_null(0).to_numpy()
    open_ = [n for n, graph in enumerate(choice) if graph < 0]
    if open_:
        count = int(sum(ends[n] - begins[n] for n in open_))
        share = sum(int(lengths[begins[n] : ends[n]].sum()) for n in open_) / max(int(lengths.sum()), 1)
        misses = [n for n in open_ if matches[n] is None]
        reason = _difference(contents, work, codes, int(begins[misses[0]]), int(ends[misses[0]])) if misses else ""
        losses.append(Loss("graph_unjoined", count, detail=f"{100 * share:.1f} % of the time of graphs{reason}"))
    hows = Counter(m.way for m, graph in zip(matches, choice, strict=True) if m and graph >= 0)
    if hows["by occurrence"]:
        losses.append(Loss("graph_order", hows["by occurrence"]))
    gaps = [(m, g) for m, g in zip(matches, choice, strict=True) if m and g >= 0 and m.gaps]
    if gaps:
        match, graph = gaps[0]
        name = contents.names[int(contents.of(graph)[match.gaps[0]])]
        detail = f"node {match.gaps[0]} of {contents.of(graph).size}, {name[:80]}"
        losses.append(Loss("graph_node_missing", sum(len(m.gaps) for m, _ in gaps), detail=detail))
    return losses


def _difference(contents: _Captured, work: pl.DataFrame, codes: NDArray[np.int64], a: int, b: int) -> str:
    """The first difference of a launch from the captured graph with the longest equal start."""
    best, same = -1, -1
    for graph in range(len(contents.sizes)):
        names = contents.of(graph)
        length = min(names.size, b - a)
        differences = np.flatnonzero(names[:length] != codes[a : a + length])
        begin = int(differences[0]) if differences.size else length
        if begin > same:
            best, same = graph, begin
    names = contents.of(best)
    if same >= min(names.size, b - a):
        return f": {b - a:,} kernels of a graph of {names.size:,}"
    here, there = work["name"][a + same], contents.names[int(names[same])] if names[same] >= 0 else "a graph"
    return f": kernel {same} is {here[:60]}, captured was {there[:60]}"


def _unjoined(kinds: dict[str, pl.DataFrame], work: pl.DataFrame) -> JoinedGraphs:
    total = sum(int((kinds[name]["end_ns"] - kinds[name]["start_ns"]).sum() or 0) for name in ("dispatches", "copies"))
    share = int((work["end_ns"] - work["start_ns"]).sum() or 0) / max(total, 1)
    loss = Loss("graph_closed", work.height, detail=f"{100 * share:.1f} %")
    return JoinedGraphs(kinds["dispatches"], kinds["copies"], pl.DataFrame(), [loss])


def _applied(
    kinds: dict[str, pl.DataFrame], contents: _Captured, work: pl.DataFrame, losses: list[Loss]
) -> JoinedGraphs:
    """The tables of GPU work with their nodes, and the calls that nodes were captured in, once per process."""
    rows = work.filter(pl.col("node") >= 0)
    sizes = [pl.col(name).alias(f"{name}_of_node") for name in _SIZES]
    nodes = contents.nodes.with_row_index("node_row").select(
        pl.col("node_row").cast(pl.Int64), *sizes, "graph", "call", node_of_graph="node"
    )
    rows = rows.drop("name").join(nodes, left_on="node", right_on="node_row", how="left", maintain_order="left")
    process = pl.concat(
        kinds[name].select("process").with_row_index("row").with_columns(is_copy=pl.lit(name == "copies"))
        for name in ("dispatches", "copies")
    )
    rows = rows.join(process, on=["row", "is_copy"], how="left", maintain_order="left")
    pairs = rows.select("process", "graph").unique().sort("process", "graph")
    names = kinds["regions"]["name"].unique().cast(pl.String).drop_nulls()
    calls = pairs.join(contents.calls, on="graph").sort("process", "call")
    if names.str.starts_with(LAYER).any():
        outer = calls.filter("is_outer").select("process", parent="call", is_above=True)
        calls = calls.join(outer, on=["process", "parent"], how="left").with_columns(
            parent=pl.when(~pl.col("is_above").fill_null(value=False)).then("parent")
        )
        calls = calls.filter(~pl.col("is_outer"))
    calls = calls.sort("process", "call").with_row_index("graph_call")
    numbers = calls.select("process", "call", "graph_call")
    above = numbers.rename({"call": "parent", "graph_call": "parent_call"})
    calls = calls.join(above, on=["process", "parent"], how="left", maintain_order="left")
    rows = rows.join(numbers, on=["process", "call"], how="left", maintain_order="left")
    tables = {}
    for name in ("dispatches", "copies"):
        of_table = rows.filter(pl.col("is_copy") == (name == "copies"))
        places = of_table.select(
            *(f"{name}_of_node" for name in _SIZES), "row", "graph_call", "node_of_graph", graph_match="how"
        )
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
