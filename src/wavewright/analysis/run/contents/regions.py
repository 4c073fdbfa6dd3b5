"""Tree of the regions of a run: their CPU time and the GPU work that they launched, with and without regions below."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import polars as pl

from wavewright.analysis.common.shares import share_of
from wavewright.analysis.run.calls.call_trees import Nodes, call_tree
from wavewright.analysis.run.measures.trees import LAYER, folded, inherited, merged_trees, with_inclusive
from wavewright.analysis.run.select.choice_rules import name_pattern
from wavewright.model.answer import Answer
from wavewright.model.run import Run

#: Orders of siblings, and the columns that they are by.
SORTS: dict[str, str] = {"gpu": "gpu_total_ns", "cpu": "total_ns", "self": "self_ns", "calls": "call_count"}
PYTHON = "PYTHON"  #: Domain of frames of Python.
#: Domains of calls of a runtime: what launched their work is a region around them.
RUNTIMES = ("HIP", "HSA", "CUDA", "TOOL", "OTHER")
_DERIVED = ("path", "total_share", "self_share", "mean_ns", "gpu_share")  #: Columns of a tree in its order.
_LONGEST_PATH = 1_000  #: Last characters of a path that are stored: trees from untrusted files can be deep.


@dataclass(frozen=True, eq=False)
class Regions(Answer, package=__package__):
    """The tree of regions."""

    tree: pl.DataFrame
    launchers: pl.DataFrame
    callers: pl.DataFrame
    domains: pl.DataFrame
    region_count: int
    thread_count: int
    process_count: int
    unlinked_gpu_ns: int  #: GPU time whose launch is not among the regions.
    crossing_count: int  #: Regions that outlast their parent.
    untimed_count: int  #: Regions without a possible length; they are left out.


@dataclass(frozen=True, eq=False, repr=False)
class PartialRegions:
    """The contribution of one run."""

    tree: pl.DataFrame
    patterns: frozenset[str]  #: Names with * in place of numbers.
    domains: dict[str, int]
    thread_count: int
    process_count: int
    unlinked_gpu_ns: int
    untimed_count: int


def partial_regions(run: Run, *, domains: tuple[str, ...] = (), layers: bool = False) -> PartialRegions:
    """The contribution of one run.

    With `domains`, only regions of these domains or categories are nodes, with `layers` only modules of PyTorch; work
    launched by other calls counts for the node around them.
    """
    nodes = Nodes()
    if layers:
        nodes = Nodes(is_node=_is_layer)
    elif domains:
        nodes = Nodes(("category",), partial(_is_of, domains=domains))
    call_trees = call_tree(run, nodes)
    return PartialRegions(
        tree=call_trees.tree,
        patterns=call_trees.patterns,
        domains=call_trees.domains,
        thread_count=call_trees.thread_count,
        process_count=run.read("processes", ["process"]).height,
        unlinked_gpu_ns=call_trees.unlinked_gpu_ns,
        untimed_count=call_trees.untimed_count,
    )


def _is_layer(piece: pl.DataFrame) -> pl.Expr:
    values = piece["name"].unique().cast(pl.String).drop_nulls()
    return pl.col("name").is_in(values.filter(values.str.starts_with(LAYER)).cast(pl.Categorical).implode())


def _is_of(piece: pl.DataFrame, domains: tuple[str, ...]) -> pl.Expr:
    """True if rows are of one of the domains or categories, whatever the case."""
    upper_domains = [domain.upper() for domain in domains]
    conditions = []
    for column in ("domain", "category"):
        values = piece[column].unique().cast(pl.String).drop_nulls()
        chosen = values.filter(values.str.to_uppercase().is_in(upper_domains))
        conditions.append(pl.col(column).is_in(chosen.cast(pl.Categorical).implode()).fill_null(value=False))
    return pl.any_horizontal(conditions)


def combine_regions(partials: Sequence[PartialRegions], *, sort: str | None = None) -> Regions:
    """The combined result of all runs; siblings by one of `SORTS`, None = by GPU time where work was launched."""
    patterns = frozenset().union(*(part.patterns for part in partials))
    trees = [part.tree.with_columns(folded(part.tree["name"], patterns)[0]) for part in partials]
    full_tree = with_inclusive(merged_trees(trees))
    domains: Counter[str] = Counter()
    for part in partials:
        domains.update(part.domains)
    tree = _ordered(full_tree, sort, _Whole(full_tree))
    return Regions(
        tree=tree,
        launchers=_launchers(full_tree),
        callers=pl.DataFrame(schema=Regions.tables["callers"].dtypes),
        domains=pl.DataFrame(
            sorted(domains.items(), key=lambda item: (-item[1], item[0])),
            schema=Regions.tables["domains"].dtypes,
            orient="row",
        ),
        region_count=int(tree["call_count"].sum()),
        thread_count=sum(part.thread_count for part in partials),
        process_count=sum(part.process_count for part in partials),
        unlinked_gpu_ns=sum(part.unlinked_gpu_ns for part in partials),
        crossing_count=int(tree["crossing_count"].sum()),
        untimed_count=sum(part.untimed_count for part in partials),
    )


class _Whole:
    """Wholes of shares: the CPU time and the GPU time of all roots."""

    def __init__(self, tree: pl.DataFrame) -> None:
        roots = tree.filter(pl.col("depth") == 0)
        self.cpu_ns, self.gpu_ns = int(roots["total_ns"].sum()), int(roots["gpu_total_ns"].sum())


def _ordered(tree: pl.DataFrame, sort: str | None, whole: _Whole) -> pl.DataFrame:
    """The rows of an answer: in their order, with shares."""
    by = SORTS[sort or ("gpu" if whole.gpu_ns else "cpu")]
    rows = _walked(tree, by).with_columns(
        total_share=share_of(pl.col("total_ns"), pl.lit(whole.cpu_ns)),
        self_share=share_of(pl.col("self_ns"), pl.lit(whole.cpu_ns)),
        mean_ns=share_of(pl.col("total_ns"), pl.col("call_count") - pl.col("replayed_count")),
        gpu_share=share_of(pl.col("gpu_total_ns"), pl.lit(whole.gpu_ns)),
    )
    return rows.select(Regions.tables["tree"].names)


def _launchers(tree: pl.DataFrame) -> pl.DataFrame:
    """GPU time by the regions that launched it."""
    domain = pl.col("domain").fill_null("?")
    is_runtime = domain.is_in(RUNTIMES)
    is_operator = ~is_runtime & ~domain.is_in((PYTHON, "MARKER"))
    # The nearest operator around a launch, else the nearest frame of Python, else anything but a call of a runtime.
    choices = (is_operator, domain == PYTHON, ~is_runtime)
    nearest = pl.coalesce(*(inherited(tree, is_launcher) for is_launcher in choices), pl.col("node"))
    launching = tree.select("gpu_count", "gpu_ns", node=nearest).filter(pl.col("gpu_count") > 0)
    launching = launching.group_by("node").agg(pl.all().sum())
    names = tree.select("node", "name", "domain")
    keys = ["name", "domain"]
    sums = launching.join(names, on="node").group_by(keys).agg(pl.col("gpu_count", "gpu_ns").sum())
    calls = tree.group_by(keys).agg(pl.col("call_count", "self_ns").sum())
    rows = sums.join(calls, on=keys, nulls_equal=True).sort("gpu_ns", "name", descending=[True, False])
    share = share_of(pl.col("gpu_ns"), pl.col("gpu_ns").sum())
    return rows.with_columns(gpu_share=share).select(Regions.tables["launchers"].names)


def named_regions(answer: Regions, name: str, *, sort: str | None = None) -> Regions:
    """The regions whose name contains `name`, or matches `/REGEX/`, as roots, with all that is below them.

    Raises `UsageError` when the expression is not one.
    """
    pattern = name_pattern(name)
    tree = answer.tree.drop(_DERIVED)
    names = tree["name"].unique().drop_nulls()
    matching = names.filter([bool(pattern.search(text)) for text in names])
    is_named = pl.col("name").is_in(matching.implode())
    above = tree.select("node", nearest=inherited(tree, is_named))
    outer = tree.join(above.select(parent="node", around="nearest"), on="parent", how="left", maintain_order="left")
    roots = outer.filter(is_named & pl.col("around").is_null())
    # Below one of the roots is what is below a named node at all: the outermost of them is a root.
    below = tree.filter(above["nearest"].is_not_null())
    depth_of_root = dict(roots.select("node", "depth").iter_rows())
    depths: dict[int, int] = {}
    for node, parent, depth in below.select("node", "parent", "depth").sort("depth").iter_rows():
        depths[node] = depth if node in depth_of_root else depths[parent]
    shift = pl.Series([depths[node] for node in below["node"]], dtype=pl.Int64)
    is_root = pl.col("node").is_in(roots["node"].implode())
    subtree = below.with_columns(depth=pl.col("depth") - shift, parent=pl.when(is_root).then(-1).otherwise("parent"))
    merged = with_inclusive(merged_trees([subtree]))
    callers = roots.join(tree.select(parent="node", caller="name"), on="parent", how="left")
    sums = callers.group_by("name", "caller").agg(pl.col("call_count", "total_ns", "gpu_total_ns").sum())
    whole, chosen = _Whole(answer.tree), _Whole(merged)
    rows = _ordered(merged, sort, whole)
    return replace(
        answer,
        tree=rows,
        unlinked_gpu_ns=answer.unlinked_gpu_ns + whole.gpu_ns - chosen.gpu_ns,
        launchers=_launchers(merged),
        callers=sums.sort("gpu_total_ns", "total_ns", "name", "caller", descending=[True, True, False, False]).select(
            Regions.tables["callers"].names
        ),
        region_count=int(rows["call_count"].sum()),
        crossing_count=int(rows["crossing_count"].sum()),
    )


def folded_layers(answer: Regions, *, sort: str | None = None) -> Regions:
    """The tree with one node for modules of PyTorch that differ only in their number: `nn.Module: DecoderLayer_*`."""
    name = pl.col("name")
    is_layer = name.str.starts_with(LAYER)
    name_of_kind = pl.when(is_layer).then(name.str.replace(r"_\d+$", "_*")).otherwise(name)
    tree = answer.tree.with_columns(name_of_kind.alias("name"))
    if tree["name"].equals(answer.tree["name"], null_equal=True):
        return answer
    merged = with_inclusive(merged_trees([tree.drop(_DERIVED)]))
    rows = _ordered(merged, sort, _Whole(answer.tree))
    return replace(answer, tree=rows, launchers=_launchers(merged))


def _walked(tree: pl.DataFrame, by: str) -> pl.DataFrame:
    """The nodes in depth-first order: every node after its parent, siblings by a column."""
    rows = tree.sort(by, "total_ns", "name", descending=[True, True, False]).select("node", "parent", "name")
    children: dict[int, list[tuple[int, str]]] = {}
    for node, parent, name in rows.iter_rows():
        children.setdefault(parent, []).append((node, name or "?"))
    order: list[int] = []
    paths: list[str] = []
    waiting = [(node, name) for node, name in reversed(children.get(-1, []))]
    while waiting:
        node, path = waiting.pop()
        order.append(node)
        paths.append(path)
        waiting += [(below, f"{path}/{name}"[-_LONGEST_PATH:]) for below, name in reversed(children.get(node, []))]
    number = dict(zip(order, range(len(order)), strict=True)) | {-1: -1}
    parents = [number[parent] for parent in tree["parent"].gather(order)]
    return tree[order].with_columns(
        node=pl.int_range(len(order), dtype=pl.Int64),
        parent=pl.Series(parents, dtype=pl.Int64),
        path=pl.Series(paths, dtype=pl.String),
    )


def regions(run: Run, *, domains: tuple[str, ...] = (), layers: bool = False, sort: str | None = None) -> Regions:
    """The tree of all regions of the run, or of the regions of some `domains` (MARKER, HIP, ...), or of modules."""
    return combine_regions([partial_regions(part, domains=domains, layers=layers) for part in run.parts], sort=sort)
