"""Two sides of a comparison by their call trees: the GPU time of operators that both have, whatever kernels they use.

The trees of all files of a side become one, nodes of both sides are paired (`tree_pairs`), and GPU work counts for the
nearest pair above it.
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
_ROOT, UNLINKED = "run", "launch not known"
_TOO_NOISY = 0.25  #: Share; noise from which on a difference within it is no sign that nothing changed.
_MOST_WITHOUT_NOISE = 0.05  #: Share of the time of an operator of which no noise is known, up to which it has one.
_MOST_NAMES = 4  #: Operators without a partner that are named.


class Structure(NamedTuple):
    """One side against the base: tables of `RunComparison`."""

    operators: pl.DataFrame
    tree: pl.DataFrame
    kernel_pairs: pl.DataFrame
    most_gain_ns: float  #: Per unit: what the side would gain if it were as fast as the base where it is slower.


EMPTY = Structure(
    empty_frame(_TABLES["operators"]), empty_frame(_TABLES["tree"]), empty_frame(_TABLES["kernel_pairs"]), 0.0
)


def structure(
    number: int, forests: tuple[Sequence[CallForest], Sequence[CallForest]], steps: tuple[int, int]
) -> Structure:
    """The call trees of a side, by its number, against those of the base, per step of each; empty without operators."""
    if not all(any(forest.nodes.height for forest in side) for side in forests):
        return EMPTY
    (base, base_work), (side, side_work) = _same_processes(*(_one_tree(each) for each in forests))
    trees = _trees(base, base_work, side, side_work)
    partner = paired(*trees)
    pair = np.flatnonzero(partner >= 0)
    back = np.full(side.height, -1, dtype=np.int64)
    back[partner[pair]] = pair
    owners = [
        _owners(tree, partners)
        for tree, partners in zip(trees, (np.where(partner >= 0, np.arange(base.height), -1), back), strict=True)
    ]
    work = [
        frame.with_columns(pair=pl.Series(owner[frame["node"]]), gpu_ns=pl.col("gpu_ns") / count)
        for frame, owner, count in zip((base_work, side_work), owners, steps, strict=True)
    ]
    sums = [
        np.bincount(frame["pair"], weights=frame[column], minlength=base.height)
        for frame in work
        for column in ("gpu_ns", "gpu_count")
    ]
    above = np.where(trees[0].parent >= 0, owners[0][trees[0].parent], -1)
    pairs = pl.DataFrame(
        {"pair": pair, "above": above[pair], "own_base_ns": sums[0][pair], "base_gpu_count": sums[1][pair]}
        | {"own_ns": sums[2][pair], "gpu_count": sums[3][pair], "path": _paths(trees, partner, above)[pair]}
        | {"other_shape": (trees[0].shapes[pair] != trees[1].shapes[partner[pair]]), "shapes": trees[0].shapes[pair]}
    ).with_columns(
        base_name=base["name"].gather(pair),
        name=side["name"].gather(partner[pair]),
        side=pl.lit(number, pl.Int64),
        own_delta_ns=pl.col("own_ns") - pl.col("own_base_ns"),
    )
    only = [_only(base, partner, owners[0], pairs, "base_only"), _only(side, back, owners[1], pairs, "side_only")]
    return Structure(
        _operators(pairs, only),
        _tree(pairs, trees[0], pair),
        _kernel_pairs(work[0], work[1], pairs),
        float(pairs["own_delta_ns"].clip(lower_bound=0).sum()),
    )


def _one_tree(forests: Sequence[CallForest]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The trees of all files of a side below one root, by the numbers of their ranks; and work of no known launch."""
    names = [forest.nodes["name"][0] if forest.nodes.height else "" for forest in forests]
    order = sorted(range(len(forests)), key=lambda at: (len(names[at]), names[at], at))
    first, nodes, work = 2, [], []
    for forest in (forests[at] for at in order):
        is_top = pl.col("parent") < 0
        nodes.append(
            forest.nodes.with_columns(
                parent=pl.when(is_top).then(0).otherwise(pl.col("parent") + first), depth=pl.col("depth") + 1
            )
        )
        work.append(forest.work.with_columns(pl.col("node") + first))
        first += forest.nodes.height
    head = [{"parent": -1, "size": first, "depth": 0, "name": _ROOT, "is_wrapper": False}]
    head.append({"parent": 0, "size": 1, "depth": 1, "name": UNLINKED, "is_wrapper": False})
    top = frame_of(NODES, head)
    count, time = (sum(getattr(each, name) for each in forests) for name in ("unlinked_count", "unlinked_ns"))
    unlinked_row = pl.DataFrame([(1, UNLINKED, count, time)] if count else [], schema=WORK.dtypes, orient="row")
    return pl.concat([top, *nodes]), pl.concat([unlinked_row, *work])


_Side = tuple[pl.DataFrame, pl.DataFrame]


def _same_processes(base: _Side, side: _Side) -> tuple[_Side, _Side]:
    """Processes are the same by their ranks, where the sides have some in common; else by their order."""
    is_process = (pl.col("depth") == 1) & (pl.col("name") != UNLINKED)
    ranks = [nodes.filter(is_process)["name"] for nodes, _ in (base, side)]
    if all(each.is_unique().all() for each in ranks) and set(ranks[0]) & set(ranks[1]):
        return base, side
    by_order = pl.concat_str(pl.lit("process "), pl.int_range(pl.len()).over(is_process) + 1)
    name = pl.when(is_process).then(by_order).otherwise("name")
    return (base[0].with_columns(name=name), base[1]), (side[0].with_columns(name=name), side[1])


def _trees(
    base: pl.DataFrame, base_work: pl.DataFrame, side: pl.DataFrame, side_work: pl.DataFrame
) -> tuple[NamedTree, NamedTree]:
    """Both trees, with equal numbers for equal texts."""

    def numbers(first: pl.Series, second: pl.Series) -> list[Ints]:
        every = pl.concat([first, second]).rank("dense").cast(pl.Int64).fill_null(-1).to_numpy()
        return [every[: len(first)], every[len(first) :]]

    names, shapes = (numbers(base[column], side[column]) for column in ("name", "shapes"))
    kinds = numbers(*(frame.select(category(pl.col("name"))).to_series() for frame in (base_work, side_work)))

    def tree(at: int, nodes: pl.DataFrame, work: pl.DataFrame) -> NamedTree:
        parent, size, depth, is_wrapper = (nodes[name].to_numpy() for name in ("parent", "size", "depth", "is_wrapper"))
        first_work = np.searchsorted(work["node"].to_numpy(), np.arange(nodes.height + 1))
        return NamedTree(names[at], shapes[at], parent, size, depth, is_wrapper, kinds[at], first_work)

    return tree(0, base, base_work), tree(1, side, side_work)


def _owners(tree: NamedTree, own_nodes: Ints) -> Ints:
    """The pair that each node belongs to: its own, else that of the nearest node above that has one."""
    owner = own_nodes.copy()
    for level in levels(tree.depth)[1:]:
        owner[level] = np.where(own_nodes[level] >= 0, own_nodes[level], owner[tree.parent[level]])
    return owner


def _paths(trees: tuple[NamedTree, NamedTree], partner: Ints, above: Ints) -> NDArray[np.uint64]:
    """A number for the names from the root to each pair, of both sides."""
    path = mixed(trees[0].name.astype(np.uint64)) ^ mixed(mixed(trees[1].name[partner].astype(np.uint64)))
    for level in levels(trees[0].depth)[1:]:
        path[level] = mixed(path[above[level]] + path[level])
    return path


def _only(nodes: pl.DataFrame, partner: Ints, owner: Ints, pairs: pl.DataFrame, column: str) -> pl.DataFrame:
    """Names of what has no partner, with their numbers, by the names of the pair around them."""
    parent = nodes["parent"].to_numpy()
    lone = np.flatnonzero((partner < 0) & (partner[parent] >= 0))
    rows = pl.DataFrame({"pair": owner[lone], "lone": nodes["name"].gather(lone)}).join(
        pairs.select("pair", *_NAMES), on="pair"
    )
    counts = rows.group_by(*_NAMES, "lone").len().sort("len", "lone", descending=[True, False])
    texts = pl.concat_str("lone", pl.lit(" ("), "len", pl.lit(")"))
    more = pl.when(pl.len() > _MOST_NAMES).then(pl.lit(", ...")).otherwise(pl.lit(""))
    return (
        counts.group_by(_NAMES)
        .agg(texts.head(_MOST_NAMES).str.join(", ").alias(column), more=more)
        .select(*_NAMES, pl.concat_str(column, "more").alias(column))
    )


_NAMES = ("base_name", "name")


def _operators(pairs: pl.DataFrame, only: Sequence[pl.DataFrame]) -> pl.DataFrame:
    busy = pairs.filter((pl.col("base_gpu_count") + pl.col("gpu_count")) > 0)
    rows = busy.group_by(*_NAMES, "side").agg(
        pl.col("base_gpu_count", "gpu_count").sum(),
        pair_count=pl.len(),
        base_ns=pl.col("own_base_ns").sum(),
        time_ns=pl.col("own_ns").sum(),
        other_shape_count=pl.col("other_shape").sum(),
    )
    rows = rows.join(_noise(busy, rows.height), on=_NAMES, how="left")
    for names in only:
        rows = rows.join(names, on=_NAMES, how="left")
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
    """Per name what its difference may be without a cause, by how the differences of equal pairs spread."""
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
    tail = RUN_FALSE_ALARMS / max(count, 1)
    bounds = [
        max(t_bound(tail, degrees) * sqrt(variance), LEAST_CHANGE * base)
        if degrees and unknown <= _MOST_WITHOUT_NOISE * time
        else None
        for variance, degrees, unknown, time, base in sums.select(
            "variance", "degrees", "unknown", "time", "base"
        ).rows()
    ]
    return sums.select(_NAMES).with_columns(noise_ns=pl.Series(bounds, dtype=pl.Float64))


def _tree(pairs: pl.DataFrame, base: NamedTree, pair: Ints) -> pl.DataFrame:
    """The pairs by their paths of names, with the sums of everything below."""
    place = np.full(len(base.name), -1, dtype=np.int64)
    place[pair] = np.arange(len(pair))
    above = np.where(pairs["above"] >= 0, place[pairs["above"]], -1)
    depth = np.zeros(len(pair), dtype=np.int64)
    totals = [pairs[name].to_numpy().copy() for name in ("own_base_ns", "own_ns")]
    every = levels(base.depth[pair])
    for level in every[1:]:
        depth[level] = depth[above[level]] + 1
    for level in reversed(every[1:]):
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
    keyed_rows = []
    for frame, ends in ((base, "base_"), (side, "")):
        rows = frame.join(alike, on="pair", how="left", maintain_order="left")
        kind = pl.when(pl.col("is_alike").is_null()).then(category(pl.col("name"))).fill_null("")
        rows = rows.with_columns(kind=kind).with_columns(at=pl.int_range(pl.len()).over("pair", "kind"))
        shown = {f"{ends}name": "name", f"{ends}gpu_count": "gpu_count", f"{ends}ns" if ends else "time_ns": "gpu_ns"}
        keyed_rows.append(rows.select("pair", "kind", "at", **shown))
    both = keyed_rows[0].join(keyed_rows[1], on=["pair", "kind", "at"], how="full", coalesce=True)
    rows = both.join(pairs.select("pair", "side", operator="name"), on="pair")
    sums = rows.group_by("side", "operator", *_NAMES).agg(
        pl.col("base_gpu_count", "gpu_count", "base_ns", "time_ns").sum()
    )
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
    of_all = kernel_pairs.select("base_name", "name")
    partners = [
        of_all.drop_nulls(name).unique().group_by(name).agg(count=pl.len()).filter(pl.col("count") == 1).select(name)
        for name in _NAMES
    ]
    rows = both.join(partners[0], on="base_name").join(partners[1], on="name")
    return dict(rows.filter(pl.col("base_name") != pl.col("name")).sort(_NAMES).select(_NAMES).rows())
