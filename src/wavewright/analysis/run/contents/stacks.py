"""Recorded call stacks of calls as a tree of frames: the places in the source that made them."""

from __future__ import annotations

import polars as pl

from wavewright.analysis.run.calls.call_trees import gpu_times
from wavewright.analysis.run.contents.regions import PartialRegions
from wavewright.analysis.run.measures.statistics import is_timed
from wavewright.analysis.run.measures.trees import SUMS, empty_tree, merged_trees
from wavewright.model.run import Run

_FRAME = "FRAME"  #: Domain of the frames.
_OF_ALL_FRAMES = ("call_count", "total_ns", "min_ns", "max_ns", "gpu_length_ns")  #: Times of a call in all its frames.
_BETWEEN = "\x1f"  #: Between the frames of a stack.
_DEEPEST = 500  #: Only this many outermost frames of a stack count: stacks from untrusted files can be endless.


def partial_stacks(run: Run) -> PartialRegions:
    """The calls of one run by their call stacks; the call itself is the innermost node.

    Files without recorded stacks (`rocpd_stackframe` of RPD) have none.
    """
    stacks = _stacks(run)
    calls = _calls(run).join(stacks, on=["process", "event"])
    times = gpu_times(run)
    sums = times.drop_nulls("correlation").group_by("process", "correlation")
    gpu_length = pl.col("end").max() - pl.col("begin").min()
    work = sums.agg(gpu_ns=pl.col("length").sum(), gpu_count=pl.len().cast(pl.Int64), gpu_length_ns=gpu_length)
    calls = calls.join(work, on=["process", "correlation"], how="left")
    lengths = pl.col("length")
    leaves = calls.group_by("stack", "name", "domain").agg(
        call_count=pl.len().cast(pl.Int64),
        total_ns=lengths.sum(),
        min_ns=lengths.min(),
        max_ns=lengths.max(),
        **{name: pl.col(name).sum() for name in ("gpu_ns", "gpu_count", "gpu_length_ns")},
    )
    tree = merged_trees([_chain(row) for row in leaves.sort("stack", "name").iter_rows(named=True)])
    return PartialRegions(
        tree=tree,
        patterns=frozenset(),
        domains={str(domain): count for domain, count in calls.group_by("domain").len().iter_rows()},
        thread_count=calls["thread"].n_unique(),
        process_count=run.read("processes", ["process"]).height,
        unlinked_gpu_ns=int(times["length"].sum()) - int(tree["gpu_ns"].sum()),
        untimed_count=0,
    )


def _stacks(run: Run) -> pl.DataFrame:
    """`process`, `event` and the frames of each call from the outermost on, in one text."""
    name = pl.col("name").cast(pl.String).fill_null("?").str.replace_all(_BETWEEN, " ", literal=True)
    frames = run.read("frames", ["process", "event", "depth", "name"]).drop_nulls("event")
    ordered = frames.with_columns(name).sort("depth", descending=True, maintain_order=True)
    joined = pl.col("name").head(_DEEPEST).str.join(_BETWEEN)
    return ordered.group_by("process", "event").agg(stack=joined)


def _calls(run: Run) -> pl.DataFrame:
    columns = ["process", "thread", "event", "correlation", "name", "domain", "start_ns", "end_ns"]
    regions = run.read("regions", columns).filter(is_timed())
    texts = [pl.col(column).cast(pl.String) for column in ("name", "domain")]
    # A file may have several rows for one call: the first counts.
    calls = regions.unique(["process", "event"], keep="first", maintain_order=True)
    length = pl.col("end_ns") - pl.col("start_ns")
    return calls.select("process", "thread", "event", "correlation", *texts, length=length)


def _chain(leaf: dict[str, object]) -> pl.DataFrame:
    """The frames of one stack, each below the one before, and the call at the end."""
    names = [*str(leaf["stack"]).split(_BETWEEN), leaf["name"]]
    of_all = dict.fromkeys(SUMS, 0) | {name: leaf[name] for name in _OF_ALL_FRAMES} | {"domain": _FRAME}
    rows = [of_all | {"node": n, "parent": n - 1, "name": name, "depth": n} for n, name in enumerate(names)]
    rows[-1] |= {name: leaf[name] for name in ("domain", "gpu_ns", "gpu_count")} | {"self_ns": leaf["total_ns"]}
    return pl.DataFrame(rows, schema=empty_tree().schema)
