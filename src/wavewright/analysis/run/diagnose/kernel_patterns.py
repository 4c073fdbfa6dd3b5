"""Patterns among the kernels of a run: tiny kernels, sequences to fuse or to record as graphs, underfilled launches.

Input is the work of the GPUs (`work_of`); output are sums by kernel and sequence, small enough to be merged.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from wavewright.analysis.run.diagnose.work import COMPUTE
from wavewright.analysis.run.kernels.categories import category
from wavewright.facts.library_kernels import is_runtime_kernel

TINY_NS = 10_000  #: Kernels are tiny if their mean duration is below this.
TINY_CALLS = 100  #: Tiny kernels count only if they have at least this many calls.
#: Kernels further apart than this are of two parts of a program: between them the host decides what to do next.
_APART_NS = 1_000_000
#: Categories of kernels that read and write each value about once: several in a row could be one kernel.
_SOFT = (
    *("elementwise", "normalisation", "softmax", "reduction", "copy"),
    *("embedding and index", "quantisation", "random"),
)
_MOST_NAMES = 16  #: A sequence is shown with its first names only.
GRAPH_LENGTH, GRAPH_TIMES = 20, 5  #: A sequence of so many kernels that comes so often could be a graph.
_MOST_KERNELS = 2_000  #: Only so many kernels of a run are passed on, those with most time.


@dataclass(frozen=True, eq=False, repr=False)
class KernelFacts:
    """Facts about the kernels of a run."""

    #: `place`, `name`, `calls`, `total_ns`, `max_ns`, `scratch_bytes`, `graph_calls`; `small_ns` and `lost_ns` of
    #: launches that do not fill the GPU, `workgroups` of the largest of them.
    kernels: pl.DataFrame
    fused: pl.DataFrame  #: Sequences to fuse: `place`, `names`, `length`, `times`, `total_ns`, `saved_ns`, `start_ns`.
    #: `place`, `calls`, `total_ns` of tiny kernels outside of graphs; `saved_ns` without what `fused` promises.
    tiny: pl.DataFrame


def kernel_facts(work: pl.DataFrame, cu_counts: dict[int, int]) -> KernelFacts:
    """The facts about computing kernels; `cu_counts` has the compute units of each GPU, where known."""
    kernels = work.filter(pl.col("kind") == COMPUTE).with_columns(duration_ns=pl.col("end_ns") - pl.col("start_ns"))
    is_graph = (pl.col("graph_exec").fill_null(0) != 0) | ~pl.col("is_first")
    kernels = kernels.with_columns(is_graph=is_graph, lost_ns=_lost(cu_counts, work.height), workgroups=_workgroups())
    sums = (
        kernels.group_by("place", "name", maintain_order=True)
        .agg(
            calls=pl.len().cast(pl.Int64),
            total_ns=pl.col("duration_ns").sum(),
            max_ns=pl.col("duration_ns").max(),
            scratch_bytes=pl.col("scratch_bytes").max(),
            graph_calls=pl.col("is_graph").sum().cast(pl.Int64),
            small_ns=pl.col("duration_ns").filter(pl.col("lost_ns") > 0).sum(),
            lost_ns=pl.col("lost_ns").sum(),
            workgroups=pl.col("workgroups").filter(pl.col("lost_ns") > 0).max(),
        )
        .with_columns(pl.col("name").cast(pl.String).fill_null("?"))
        .sort("total_ns", "name", descending=[True, False])
    )
    soft = soft_names(kernels["name"].unique())
    return KernelFacts(sums.head(_MOST_KERNELS), _fused(work, soft), _tiny(kernels, sums, soft))


def _workgroups() -> pl.Expr:
    """The workgroups of a launch; grids count work-items."""
    counts = [(pl.col(f"grid_{axis}") / pl.col(f"workgroup_{axis}").clip(1)).ceil().clip(1) for axis in "xyz"]
    return (counts[0] * counts[1].fill_null(1) * counts[2].fill_null(1)).cast(pl.Int64, strict=False)


def _lost(cu_counts: dict[int, int], height: int) -> pl.Expr:
    """The part of a kernel's time that it would not take on all compute units, where nothing runs beside it."""
    if not cu_counts or not height:
        return pl.lit(0, pl.Int64)
    units = pl.col("place").replace_strict(cu_counts, default=None, return_dtype=pl.Int64)
    reached = pl.col("end_ns").cum_max().shift(1).over("place")
    is_alone = (pl.col("start_ns") >= reached).fill_null(value=True)
    is_alone &= (pl.col("start_ns").shift(-1).over("place") >= pl.col("end_ns")).fill_null(value=True)
    part = pl.col("duration_ns") * (1 - _workgroups() / units)
    is_small = is_alone & (_workgroups() < units)
    return pl.when(is_small.fill_null(value=False)).then(part.cast(pl.Int64, strict=False)).otherwise(0).fill_null(0)


def _tiny(kernels: pl.DataFrame, sums: pl.DataFrame, soft: pl.Series) -> pl.DataFrame:
    """Kernels of few microseconds outside of graphs, and what is saved where several in a row become their longest."""
    small = sums.filter(pl.col("calls") >= TINY_CALLS, pl.col("total_ns") < TINY_NS * pl.col("calls"))
    names = small["name"].unique().cast(pl.Categorical)
    is_tiny = pl.col("name").is_in(names.implode()) & ~pl.col("is_graph") if len(names) else pl.lit(value=False)
    is_soft = pl.col("name").is_in(soft.implode()) if len(soft) else pl.lit(value=False)
    marked = kernels.select("place", "stream", "duration_ns", is_tiny=is_tiny, is_hard=~is_soft)
    starts = (pl.col("is_tiny") != pl.col("is_tiny").shift(1)).fill_null(value=True).cum_sum().over("place", "stream")
    series = marked.with_columns(series=starts).filter("is_tiny").group_by("place", "stream", "series")
    duration, hard = pl.col("duration_ns"), pl.col("duration_ns").filter("is_hard")
    saved_ns = hard.sum() - hard.max().fill_null(0)
    sums_of_series = series.agg(calls=pl.len().cast(pl.Int64), total_ns=duration.sum(), saved_ns=saved_ns)
    return sums_of_series.group_by("place").agg(pl.col("calls", "total_ns", "saved_ns").sum()).sort("place")


def soft_names(names: pl.Series) -> pl.Series:
    """Names of kernels that read and write each value about once, and could do so in one kernel.

    Kernels of the runtime are not among them: they are calls such as hipMemcpy, which no compiler fuses.
    """
    is_own = [not is_runtime_kernel(name or "") for name in names.cast(pl.String)]
    names = names.filter(pl.Series(is_own, dtype=pl.Boolean))
    kinds = pl.DataFrame({"name": names}).with_columns(kind=category(pl.col("name").cast(pl.String)))
    return kinds.filter(pl.col("kind").is_in(_SOFT))["name"]


def _fused(work: pl.DataFrame, soft: pl.Series) -> pl.DataFrame:
    """Sequences of `soft` kernels of one stream between others (products of matrices, attention, copies, ...).

    One kernel instead of a sequence takes at least as long as the longest of it: the rest is what fusion saves at most.
    A kernel that is repeated many times, as programs that measure it do, is no sequence.
    """
    is_soft = pl.col("name").is_in(soft.implode()) & (pl.col("kind") == COMPUTE) if len(soft) else pl.lit(value=False)
    rows = work.select("place", "stream", "name", "start_ns", "end_ns", is_soft=is_soft.fill_null(value=False))
    rows = rows.sort("place", "stream", "start_ns", maintain_order=True)
    by = ["place", "stream"]
    is_next = pl.col("start_ns") - pl.col("end_ns").shift(1) < _APART_NS
    is_on_stream = pl.all_horizontal(pl.col(name).eq_missing(pl.col(name).shift(1)) for name in by)
    is_next &= pl.col("is_soft").shift(1) & is_on_stream
    rows = rows.with_columns(series=(~is_next.fill_null(value=False)).cum_sum()).filter("is_soft")
    alike = rows.with_columns(alike=pl.struct("series", "name").rle_id()).with_columns(in_row=pl.len().over("alike"))
    rows = alike.filter(pl.col("in_row") <= _MOST_NAMES)  # a kernel that follows itself for longer is repeated
    length = pl.col("end_ns") - pl.col("start_ns")
    sequences = (
        rows.group_by("series", maintain_order=True)
        .agg(
            pl.col("place", "start_ns").first(),
            names=pl.col("name").cast(pl.String).head(_MOST_NAMES),
            length=pl.len().cast(pl.Int64),
            total_ns=length.sum(),
            saved_ns=length.sum() - length.max(),
        )
        .filter(pl.col("length") > 1)
    )
    return (
        sequences.group_by("place", "names", "length", maintain_order=True)
        .agg(pl.col("start_ns").first(), pl.col("total_ns", "saved_ns").sum(), times=pl.len().cast(pl.Int64))
        .sort("saved_ns", descending=True)
    )


def repeated(work: pl.DataFrame) -> pl.Series:
    """True for each row inside a sequence of `GRAPH_LENGTH` kernels that repeats, without graphs and readbacks.

    Sequences are known by a hash of their names and grids, which is combined from hashes of shorter sequences.
    """
    breaks = pl.col("is_copy") & (pl.col("direction") == "D2H") | ~pl.col("is_first")
    name = pl.col("name").to_physical().cast(pl.UInt64).fill_null(0)
    shape = pl.col("grid_x").fill_null(0).hash(seed=1) // 65_536
    # The hash of its row equals no other. Hashes lose 8 bits (// 256), so that 31 times one fits into 64 bits.
    own_hash, row_hash = (name + shape).hash(seed=3), pl.col("row").hash(seed=2)
    alone = pl.when(breaks.fill_null(value=False)).then(row_hash).otherwise(own_hash)
    rows = work.select("row", "place", "stream", hash=alone // 256).sort("place", "stream", "row", maintain_order=True)
    reach = 1  # kernels that each hash is of
    while reach < GRAPH_LENGTH:
        step = min(reach, GRAPH_LENGTH - reach)
        following = pl.col("hash").shift(-step).fill_null(0)
        rows = rows.with_columns(hash=(pl.col("hash") * 31 + following).hash(seed=4) // 256)
        reach += step
    is_repeated = rows.select((pl.len().over("hash") >= GRAPH_TIMES).cast(pl.UInt8)).to_series()
    inside = is_repeated.rolling_max(GRAPH_LENGTH, min_samples=1) > 0
    return rows.select("row", inside=inside).sort("row")["inside"]
