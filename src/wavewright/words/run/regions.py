"""The tree of regions, for the terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import polars as pl

from wavewright.analysis.run.contents.regions import PYTHON, RUNTIMES, Regions
from wavewright.analysis.run.measures.trees import LAYER, inherited
from wavewright.base.words import counted, duration, percent, truncation
from wavewright.model.blocks import GAP, AnyBlock, Cell, Table, headline, sentence
from wavewright.words.kit.brief_names import brief
from wavewright.words.kit.declared_tables import declared_table

_FOLDERS = re.compile(r"^\S*/(?=[^/\s]+\(\d+\): )")  #: Of the file of a frame: `model.py(359): forward` stays.
_NAME_LINES = 10  #: Rows of the table by name below a tree.
_CALLERS = 5  #: Callers of regions that were chosen by name.
_ALMOST_ALL = 0.98  #: Share of a frame's CPU time from which on the frame below it has practically all of it.


def regions_report(
    answer: Regions,
    *,
    limit: int = 20,
    depth: int | None = None,
    min_share: float = 0.01,
    sort: str | None = None,
    frames: bool = False,
) -> Iterator[AnyBlock]:
    """The report of `wavewright regions`: the `limit` largest nodes of the tree, at most `depth` levels deep.

    Left out are nodes below `min_share` of the time and, unless `frames` is set, frames and calls that add nothing.
    """
    by = sort or ("gpu" if _gpu_ns(answer) else "cpu")
    yield headline(_verdict(answer, by))
    if answer.crossing_count:
        late = f"{counted(answer.crossing_count, 'regions')} end after their parent"
        yield sentence((f"{late}; they are shown next to it, not inside it", "yellow"))
    if answer.untimed_count:
        yield sentence((f"{counted(answer.untimed_count, 'regions')} without a possible length are left out", "yellow"))
    if not answer.tree.height:
        return
    yield GAP
    if by in ("gpu", "cpu"):
        yield _tree_table(_Shown(answer, by, depth, min_share, frames=frames), limit=limit)
        yield GAP
    if answer.callers.height:
        yield declared_table("run/regions/caller", answer.callers, limit=_CALLERS, region=_region, caller=_caller)
        yield GAP
    if by == "gpu" and answer.launchers.height:
        yield declared_table("run/regions/launcher", answer.launchers, limit=min(limit, _NAME_LINES), region=_region)
    else:
        table = "calls" if by == "calls" else "self"
        row_limit = limit if by in ("self", "calls") else min(limit, _NAME_LINES)
        yield declared_table(f"run/regions/{table}", _by_name(answer, by), limit=row_limit, region=_region)


def folded_report(answer: Regions, *, limit: int = 20) -> Iterator[AnyBlock]:
    """The same with equal layers of a model as one."""
    from wavewright.analysis.run.contents.regions import folded_layers

    return regions_report(folded_layers(answer), limit=limit)


def _gpu_ns(answer: Regions) -> int:
    return int(answer.launchers["gpu_ns"].sum())


def _verdict(answer: Regions, by: str) -> str:
    if not answer.tree.height:
        return "no regions were recorded; rocprofv3 --hip-trace and --marker-trace record them"
    counts = f"{counted(answer.region_count, 'regions')} of {counted(answer.thread_count, 'threads')}"
    gpu = _gpu_ns(answer)
    unlinked = answer.unlinked_gpu_ns
    other = f"; {percent(unlinked / (gpu + unlinked))} of all GPU time was not launched in them" if unlinked else ""
    if by == "gpu" and answer.launchers.height:
        name, share = answer.launchers.select("name", "gpu_share").row(0)
        lead = "most of it in" if (share or 0.0) > 0.5 else "the largest part in"
        return (
            f"{counts} launched {duration(gpu)} of GPU time, {lead} {brief(_shown_name(name))}: {percent(share)}{other}"
        )
    total = int(answer.tree.filter(pl.col("depth") == 0)["total_ns"].sum())
    heaviest = _by_name(answer, "self").row(0, named=True)
    return (
        f"{counts} take {duration(total)} of CPU time; largest self time: {brief(_shown_name(heaviest['name']))}, "
        f"{percent(heaviest['share'])} of it{other}"
    )


class _Shown:
    """The nodes of a tree that are worth a line, largest first cut; `indent` counts the shown nodes above each."""

    def __init__(self, answer: Regions, by: str, depth: int | None, min_share: float, *, frames: bool) -> None:
        self.by, self.min_share = by, min_share
        self.column = "gpu_total_ns" if by == "gpu" else "total_ns"
        rows = answer.tree if depth is None else answer.tree.filter(pl.col("depth") < depth)
        self.frame_count = 0
        if not frames:
            is_passing = _is_passing(answer.tree, by)
            self.frame_count = rows.filter(is_passing.gather(rows["node"])).height
            rows = rows.filter(~is_passing.gather(rows["node"]))
        whole = int(answer.tree.filter(pl.col("depth") == 0)[self.column].sum())
        is_large = pl.col(self.column) >= min_share * whole
        self.idle = answer.tree.filter((pl.col("depth") == 0) & (pl.col("gpu_total_ns") == 0)) if by == "gpu" else None
        self.rows = rows.filter(is_large)
        self.parents = answer.tree["parent"].to_list()

    def first(self, limit: int) -> pl.DataFrame:
        """The largest nodes, in the order of the tree."""
        rows = self.rows.sort(self.column, "node", descending=[True, False]).head(limit).sort("node")
        indents: dict[int, int] = {}
        for node in rows["node"]:
            above = self.parents[node]
            while above >= 0 and above not in indents:
                above = self.parents[above]
            indents[node] = indents[above] + 1 if above >= 0 else 0
        return rows.with_columns(indent=pl.Series(list(indents.values()), dtype=pl.Int64))

    @property
    def title(self) -> str:
        """Words about what is left out."""
        parts = []
        if self.frame_count:
            parts.append(f"without {counted(self.frame_count, 'frames and calls')} that add nothing (--frames)")
        if self.min_share:
            parts.append(f"nodes from {percent(self.min_share)} on")
        if self.idle is not None and self.idle.height:
            parts.append(f"{counted(self.idle.height, 'roots')} without GPU work left out (--sort cpu)")
        return "; ".join(parts)


def _is_passing(tree: pl.DataFrame, by: str) -> pl.Series:
    """True if nodes add nothing: frames of Python whose GPU work (or time) is that of one region below or of the region
    above, and, for GPU work, calls of a runtime that launched all of what is above.
    """
    column, least = ("gpu_total_count", 1.0) if by == "gpu" else ("total_ns", _ALMOST_ALL)
    is_frame = ((pl.col("domain") == PYTHON) & ~pl.col("name").str.starts_with(LAYER)).fill_null(value=False)
    is_call = (pl.col("domain").is_in(RUNTIMES) if by == "gpu" else pl.lit(value=False)).fill_null(value=False)
    # below: the most of one child; above: the amount of the nearest node around it that is no frame
    largest = tree.filter(~is_call).group_by(node="parent").agg(below=pl.col(column).max())
    rows = tree.join(largest, on="node", how="left", maintain_order="left").with_columns(
        around=pl.when(is_frame).then(inherited(tree, ~is_frame)).otherwise("parent")
    )
    above = tree.select(around="node", above=column)
    rows = rows.join(above, on="around", how="left", maintain_order="left")
    is_of_below = is_frame & (pl.col("below").fill_null(0) >= pl.col(column) * least)
    is_of_above = (is_frame | is_call) & (pl.col(column) >= pl.col("above") * least).fill_null(value=False)
    return rows.select((is_of_below | is_of_above) & (pl.col(column) > 0)).to_series()


def _tree_table(shown: _Shown, *, limit: int) -> Table:
    rows = shown.first(limit)
    size = truncation(rows.height, shown.rows.height, "nodes")
    title = "; ".join(part for part in (size, shown.title) if part)
    region = lambda row: Cell(_shown_name(row["name"]), level=int(row["indent"]))  # noqa: E731
    return declared_table(f"run/regions/{shown.by}", rows, title=title, region=region)


def _shown_name(name: str | None) -> str:
    """A name in a table; of frames of Python without the folders: `model.py(359): forward`."""
    return brief(_FOLDERS.sub("", name) if name else name, 200)


def _region(row: dict[str, Any]) -> str:
    return _shown_name(row["name"])


def _caller(row: dict[str, Any]) -> str:
    return _shown_name(row["caller"]) if row["caller"] else "-"


def _by_name(answer: Regions, by: str) -> pl.DataFrame:
    """CPU time without regions below, and GPU time launched, per name, whatever the path."""
    keys = ["name", "domain"]
    sums = answer.tree.group_by(keys).agg(pl.col("call_count", "self_ns").sum(), share=pl.col("self_share").sum())
    launched = answer.launchers.select(*keys, "gpu_ns")
    sums = sums.join(launched, on=keys, how="left", nulls_equal=True)
    column = "call_count" if by == "calls" else "self_ns"
    return sums.sort(column, "name", descending=[True, False], nulls_last=True)
