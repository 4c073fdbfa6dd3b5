"""Two sides of a comparison by their call trees: the GPU time of operators that both have, whatever kernels they use.

The trees of all files of a side become one, nodes of both sides are paired (`tree_pairs`), and GPU work counts for the
nearest pair above it. A *pair* has the number of its node in the tree of the base; in arrays of nodes -1 = none.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from wavewright.analysis.common.noise import LEAST_CHANGE, RUN_FALSE_ALARMS, t_bound
from wavewright.analysis.run.compare.call_forest import NODES, WORK, CallForest, levels
from wavewright.analysis.run.compare.tree_pairs import NamedTree, mixed, paired
from wavewright.analysis.run.kernels.categories import category
from wavewright.analysis.run.measures.event_rows import first_label
from wavewright.model.schema import empty_frame, frame_of, packaged_specs

Ints = NDArray[np.int64]

_TABLES = packaged_specs(__package__, owner="RunComparison")
_NAMES = ("base_name", "name")  #: Names of a pair: of its nodes in the tree of the base and of the side.
_ROOT, UNLINKED = "run", "launch not known"
_ROOT_NODE, _UNLINKED_NODE, _FIRST_NODE = 0, 1, 2  #: Of the one tree of a side: two of its own, then those of files.
_TOO_NOISY = 0.25  #: With noise above this share of the base, a difference within it does not show equality.
_MOST_WITHOUT_NOISE = 0.05  #: An operator has no noise if pairs of unknown noise take more than this share of its time.
_NAMED_MAX = 4  #: Of several operators without a partner at one place, this many are named.


class Structure(NamedTuple):
    """One side against the base: tables of `RunComparison`."""

    operators: pl.DataFrame
    tree: pl.DataFrame
    kernel_pairs: pl.DataFrame
    most_gain_ns: float  #: Per unit: what the side would gain if it were as fast as the base where it is slower.


_EMPTY_TABLES = {name: empty_frame(_TABLES[name]) for name in ("operators", "tree", "kernel_pairs")}
EMPTY = Structure(**_EMPTY_TABLES, most_gain_ns=0.0)


def structure(
    number: int, forests: tuple[Sequence[CallForest], Sequence[CallForest]], steps: tuple[int, int]
) -> Structure:
    """The call trees of a side, by its number, against those of the base, per step of each; empty without operators."""
    if not all(any(forest.nodes.height for forest in side) for side in forests):
        return EMPTY
    base, side = _same_processes(_one_side(forests[0]), _one_side(forests[1]))
    base_tree, side_tree = _named_trees(base, side)
    partner = paired(base_tree, side_tree)
    pair = np.flatnonzero(partner >= 0)
    side_node = partner[pair]
    pair_of_side = np.full(side.nodes.height, -1, dtype=np.int64)
    pair_of_side[side_node] = pair
    base_owner = _owners(base_tree, np.where(partner >= 0, np.arange(base.nodes.height), -1))
    side_owner = _owners(side_tree, pair_of_side)
    base_work = base.work.with_columns(pair=base_owner[base.work["node"]], gpu_ns=pl.col("gpu_ns") / steps[0])
    side_work = side.work.with_columns(pair=side_owner[side.work["node"]], gpu_ns=pl.col("gpu_ns") / steps[1])
    above = np.where(base_tree.parent >= 0, base_owner[base_tree.parent], -1)

    def sums_of(work: pl.DataFrame, column: str) -> NDArray[np.number]:
        return np.bincount(work["pair"], weights=work[column], minlength=base.nodes.height)[pair]

    pairs = pl.DataFrame({
        "side": pl.repeat(number, len(pair), dtype=pl.Int64, eager=True),
        "pair": pair,
        "above": above[pair],
        "path": _paths(base_tree, side_tree, partner, above)[pair],
        "base_name": base.nodes["name"].gather(pair),
        "name": side.nodes["name"].gather(side_node),
        "shapes": base_tree.shapes[pair],
        "other_shape": base_tree.shapes[pair] != side_tree.shapes[side_node],
        "base_gpu_count": sums_of(base_work, "gpu_count"),
        "gpu_count": sums_of(side_work, "gpu_count"),
        "own_base_ns": sums_of(base_work, "gpu_ns"),
        "own_ns": sums_of(side_work, "gpu_ns"),
    }).with_columns(own_delta_ns=pl.col("own_ns") - pl.col("own_base_ns"))  # fmt: skip
    base_only = _without_partner(base.nodes, partner, base_owner, pairs, "base_only")
    side_only = _without_partner(side.nodes, pair_of_side, side_owner, pairs, "side_only")
    return Structure(
        _operators(pairs, base_only, side_only),
        _tree(pairs, base_tree, pair),
        _kernel_pairs(base_work, side_work, pairs),
        float(pairs["own_delta_ns"].clip(lower_bound=0).sum()),
    )


class _Side(NamedTuple):
    """The trees of all files of a side below one root."""

    nodes: pl.DataFrame  #: See `NODES`.
    work: pl.DataFrame  #: See `WORK`.


def _one_side(forests: Sequence[CallForest]) -> _Side:
    """The one tree of a side: files by the numbers of their ranks; work of no known launch is below a node of its own.

    Names of processes are `rank 9`, `rank 10`: by length first they are in the order of their numbers.
    """
    names = [forest.nodes["name"][0] if forest.nodes.height else "" for forest in forests]
    order = sorted(range(len(forests)), key=lambda place: (len(names[place]), names[place], place))
    first, nodes, work = _FIRST_NODE, [], []
    for forest in (forests[place] for place in order):
        parent = pl.when(pl.col("parent") < 0).then(_ROOT_NODE).otherwise(pl.col("parent") + first)
        nodes.append(forest.nodes.with_columns(parent=parent, depth=pl.col("depth") + 1))
        work.append(forest.work.with_columns(pl.col("node") + first))
        first += forest.nodes.height
    root = {"parent": -1, "size": first, "depth": 0, "name": _ROOT, "is_wrapper": False}
    unlinked = {"parent": _ROOT_NODE, "size": 1, "depth": 1, "name": UNLINKED, "is_wrapper": False}
    count, time_ns = (sum(getattr(forest, name) for forest in forests) for name in ("unlinked_count", "unlinked_ns"))
    unlinked_work = [(_UNLINKED_NODE, UNLINKED, count, time_ns)] if count else []
    unlinked_frame = pl.DataFrame(unlinked_work, schema=WORK.dtypes, orient="row")
    return _Side(pl.concat([frame_of(NODES, [root, unlinked]), *nodes]), pl.concat([unlinked_frame, *work]))


def _same_processes(base: _Side, side: _Side) -> tuple[_Side, _Side]:
    """Processes are the same by their ranks, where the sides have some in common; else by their order."""
    is_process = (pl.col("depth") == 1) & (pl.col("name") != UNLINKED)
    base_ranks, side_ranks = (nodes.filter(is_process)["name"] for nodes, _ in (base, side))
    are_unique = base_ranks.is_unique().all() and side_ranks.is_unique().all()
    if are_unique and set(base_ranks) & set(side_ranks):
        return base, side
    by_order = pl.concat_str(pl.lit("process "), pl.int_range(pl.len()).over(is_process) + 1)
    name = pl.when(is_process).then(by_order).otherwise("name")
    base, side = (_Side(nodes.with_columns(name=name), work) for nodes, work in (base, side))
    return base, side


def _named_trees(base: _Side, side: _Side) -> tuple[NamedTree, NamedTree]:
    """The trees of both sides as arrays, with equal numbers for equal texts."""

    def numbers(base_texts: pl.Series, side_texts: pl.Series) -> list[Ints]:
        both = pl.concat([base_texts, side_texts]).rank("dense").cast(pl.Int64).fill_null(-1).to_numpy()
        return [both[: len(base_texts)], both[len(base_texts) :]]

    names, shapes = (numbers(base.nodes[column], side.nodes[column]) for column in ("name", "shapes"))
    categories = numbers(*(work.select(category(pl.col("name"))).to_series() for _, work in (base, side)))
    trees = []
    for (nodes, work), *numbers_of_side in zip((base, side), names, shapes, categories, strict=True):
        columns = {column: nodes[column].to_numpy() for column in ("parent", "size", "depth", "is_wrapper")}
        first_work = np.searchsorted(work["node"].to_numpy(), np.arange(nodes.height + 1))
        name, shape, kind = numbers_of_side
        trees.append(NamedTree(name=name, shapes=shape, category=kind, first_work=first_work, **columns))
    return trees[0], trees[1]


def _owners(tree: NamedTree, own_nodes: Ints) -> Ints:
    """The pair that each node belongs to: its own, else that of the nearest node above that has one."""
    owner = own_nodes.copy()
    for level in levels(tree.depth)[1:]:
        owner[level] = np.where(own_nodes[level] >= 0, own_nodes[level], owner[tree.parent[level]])
    return owner


def _paths(base: NamedTree, side: NamedTree, partner: Ints, above: Ints) -> NDArray[np.uint64]:
    """A hash of the names from the root to each pair, of both sides: pairs with one hash are one row of the tree.

    The names of the side are mixed twice, so that a name at the base and the same one at the side do not cancel.
    """
    path = mixed(base.name.astype(np.uint64)) ^ mixed(mixed(side.name[partner].astype(np.uint64)))
    for level in levels(base.depth)[1:]:
        path[level] = mixed(path[above[level]] + path[level])
    return path


def _without_partner(nodes: pl.DataFrame, partner: Ints, owner: Ints, pairs: pl.DataFrame, column: str) -> pl.DataFrame:
    """The outermost nodes without a partner as text (`name (count), ...`), by the names of the pair around them."""
    parent = nodes["parent"].to_numpy()
    lone = np.flatnonzero((partner < 0) & (partner[parent] >= 0))
    rows = pl.DataFrame({"pair": owner[lone], "lone": nodes["name"].gather(lone)})
    rows = rows.join(pairs.select("pair", *_NAMES), on="pair")
    counts = rows.group_by(*_NAMES, "lone").len().sort("len", "lone", descending=[True, False])
    texts = pl.concat_str("lone", pl.lit(" ("), "len", pl.lit(")"))
    ellipsis = pl.when(pl.len() > _NAMED_MAX).then(pl.lit(", ...")).otherwise(pl.lit(""))
    return (
        counts.group_by(_NAMES)
        .agg(texts.head(_NAMED_MAX).str.join(", ").alias(column), ellipsis=ellipsis)
        .select(*_NAMES, pl.concat_str(column, "ellipsis").alias(column))
    )


def _operators(pairs: pl.DataFrame, base_only: pl.DataFrame, side_only: pl.DataFrame) -> pl.DataFrame:
    """The table `operators`: pairs by their names, with their noise and what only one side has below them."""
    busy = pairs.filter((pl.col("base_gpu_count") + pl.col("gpu_count")) > 0)
    rows = busy.group_by(*_NAMES, "side").agg(
        pl.col("base_gpu_count", "gpu_count").sum(),
        pair_count=pl.len(),
        base_ns=pl.col("own_base_ns").sum(),
        time_ns=pl.col("own_ns").sum(),
        other_shape_count=pl.col("other_shape").sum(),
    )
    for columns in (_noise(busy, rows.height), base_only, side_only):
        rows = rows.join(columns, on=_NAMES, how="left")
    delta = pl.col("time_ns") - pl.col("base_ns")
    has_base = pl.col("base_ns") > 0
    is_certain = pl.col("noise_ns") <= _TOO_NOISY * pl.col("base_ns")
    is_beyond_noise = delta.abs() > pl.col("noise_ns")
    status = first_label(
        ("new", pl.col("base_gpu_count") == 0),
        ("gone", pl.col("gpu_count") == 0),
        ("same", delta == 0),
        ("slower", is_beyond_noise & (delta > 0)),
        ("faster", is_beyond_noise),
        ("same", is_certain),
        otherwise="cannot tell",
    )
    rows = rows.with_columns(
        delta_ns=delta,
        status=status,
        change=pl.when(has_base).then(delta / pl.col("base_ns")),
        noise=pl.when(has_base).then(pl.col("noise_ns") / pl.col("base_ns")),
    )
    return _of_table("operators", rows.sort(-pl.col("delta_ns").abs(), *_NAMES))


def _noise(busy: pl.DataFrame, count: int) -> pl.DataFrame:
    """`noise_ns` per name: what its difference may be without a cause, by how the differences of equal pairs spread.

    Pairs are equal that have one path and one shape; where single ones take much of the time, no noise is known.
    """
    time = pl.max_horizontal("own_base_ns", "own_ns")
    groups = busy.group_by(*_NAMES, "shapes", "path", "other_shape").agg(
        number=pl.len(), variance=pl.col("own_delta_ns").var(), time=time.sum(), base=pl.col("own_base_ns").sum()
    )
    is_known = pl.col("variance").is_not_null()
    sums = groups.group_by(_NAMES).agg(
        variance=(pl.col("number") * pl.col("variance")).sum(),
        degrees=(pl.col("number") - 1).sum(),
        unknown=pl.col("time").filter(~is_known).sum(),
        time=pl.col("time").sum(),
        base=pl.col("base").sum(),
    )
    tail, figures = RUN_FALSE_ALARMS / max(count, 1), ("variance", "degrees", "unknown", "time", "base")
    bounds = [
        max(t_bound(tail, degrees) * sqrt(variance), LEAST_CHANGE * base)
        if degrees and unknown <= _MOST_WITHOUT_NOISE * time
        else None
        for variance, degrees, unknown, time, base in sums.select(figures).rows()
    ]
    return sums.select(_NAMES).with_columns(noise_ns=pl.Series(bounds, dtype=pl.Float64))


def _tree(pairs: pl.DataFrame, base: NamedTree, pair: Ints) -> pl.DataFrame:
    """The pairs by their paths of names, with the sums of everything below."""
    place = np.full(len(base.name), -1, dtype=np.int64)
    place[pair] = np.arange(len(pair))
    above = np.where(pairs["above"] >= 0, place[pairs["above"]], -1)
    depth = np.zeros(len(pair), dtype=np.int64)
    totals = [pairs[name].to_numpy().copy() for name in ("own_base_ns", "own_ns")]
    inner_levels = levels(base.depth[pair])[1:]
    for level in inner_levels:
        depth[level] = depth[above[level]] + 1
    for level in reversed(inner_levels):
        for total in totals:
            np.add.at(total, above[level], total[level])
    path = pairs["path"]
    rows = pairs.with_columns(
        above_path=pl.Series(np.where(above >= 0, path.to_numpy()[above], 0), dtype=pl.UInt64),
        depth=pl.Series(depth),
        base_ns=pl.Series(totals[0]),
        time_ns=pl.Series(totals[1]),
    )
    rows = (
        rows.group_by("path", maintain_order=True)
        .agg(
            pl.col("side", "above_path", "depth", *_NAMES).first(),
            pl.col("base_ns", "time_ns", "own_base_ns", "own_ns", "own_delta_ns").sum(),
            pair_count=pl.len(),
        )
        .with_row_index("node")
        .with_columns(delta_ns=pl.col("time_ns") - pl.col("base_ns"))
    )
    parents = rows.select(above_path="path", parent=pl.col("node").cast(pl.Int64))
    rows = rows.join(parents, on="above_path", how="left", maintain_order="left")
    rows = rows.filter(pl.col("base_ns") + pl.col("time_ns") > 0)
    return _of_table("tree", rows.with_columns(pl.col("parent").fill_null(-1)))


def _kernel_pairs(base: pl.DataFrame, side: pl.DataFrame, pairs: pl.DataFrame) -> pl.DataFrame:
    """Work of a pair by its order, where both sides have as many pieces; else by the order of those of a category."""
    heights = [frame.group_by("pair").len() for frame in (base, side)]
    alike = heights[0].join(heights[1], on=["pair", "len"]).select("pair", is_alike=pl.lit(value=True))
    key = ["pair", "kind", "place"]
    base_columns = {"base_name": "name", "base_gpu_count": "gpu_count", "base_ns": "gpu_ns"}
    side_columns = {"name": "name", "gpu_count": "gpu_count", "time_ns": "gpu_ns"}
    keyed_rows = []
    for frame, columns in ((base, base_columns), (side, side_columns)):
        rows = frame.join(alike, on="pair", how="left", maintain_order="left")
        kind = pl.when(pl.col("is_alike").is_null()).then(category(pl.col("name"))).fill_null("")
        rows = rows.with_columns(kind=kind).with_columns(place=pl.int_range(pl.len()).over("pair", "kind"))
        keyed_rows.append(rows.select(*key, **columns))
    both = keyed_rows[0].join(keyed_rows[1], on=key, how="full", coalesce=True)
    rows = both.join(pairs.select("pair", "side", operator="name"), on="pair")
    amounts = pl.col("base_gpu_count", "gpu_count", "base_ns", "time_ns")
    sums = rows.group_by("side", "operator", *_NAMES).agg(amounts.sum())
    sums = sums.with_columns(delta_ns=pl.col("time_ns") - pl.col("base_ns"))
    largest = pl.max_horizontal("base_ns", "time_ns")
    return _of_table("kernel_pairs", sums.sort(-largest, "operator", *_NAMES, nulls_last=True), keeps_names=True)


def _of_table(table: str, rows: pl.DataFrame, *, keeps_names: bool = False) -> pl.DataFrame:
    """The columns of a table; a name at the base that is the same is null."""
    if not keeps_names:
        rows = rows.with_columns(base_name=pl.when(pl.col("base_name") != pl.col("name")).then("base_name"))
    return rows.select(_TABLES[table].casts)


def other_names(kernel_pairs: pl.DataFrame) -> dict[str, str]:
    """Kernels of the base with the one kernel of the side that always does their work, and does no other."""
    both = kernel_pairs.drop_nulls("name").drop_nulls("base_name").group_by(_NAMES).agg(pl.col("base_gpu_count").sum())
    name_pairs = kernel_pairs.select(_NAMES).unique()
    has_one_partner = [name_pairs.drop_nulls(name).filter(pl.len().over(name) == 1).select(name) for name in _NAMES]
    rows = both.join(has_one_partner[0], on="base_name").join(has_one_partner[1], on="name")
    return dict(rows.filter(pl.col("base_name") != pl.col("name")).sort(_NAMES).select(_NAMES).rows())
