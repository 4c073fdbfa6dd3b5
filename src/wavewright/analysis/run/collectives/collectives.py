"""Collectives: kernels that ranks run together, with what was recorded about each: name, group, sequence, bytes."""

from __future__ import annotations

import polars as pl

from wavewright.analysis.run.calls.markers import Markers
from wavewright.analysis.run.collectives.rccl_calls import around_kernels, rccl_calls
from wavewright.analysis.run.measures.statistics import is_timed
from wavewright.facts.element_bytes import ELEMENT_BYTES
from wavewright.model.run import Run

_NAMES = "(?i)nccl|rccl|all_?reduce|all_?gather|all_?to_?all|reduce_?scatter|cross_device_reduce"
#: Kind of a collective -> how it is called; the first that fits.
_KINDS = {
    "reduce-scatter": "(?i)reduce_?scatter",
    "all-reduce": "(?i)all_?reduce|cross_device_reduce",
    "all-gather": "(?i)all_?gather",
    "all-to-all": "(?i)all_?to_?all",
    "broadcast": "(?i)broadcast|bcast",
    "send/receive": "(?i)send|recv|receive|point_?to_?point",
    "barrier": "(?i)barrier",
    "reduce": "(?i)reduce",
    "gather": "(?i)gather",
    "scatter": "(?i)scatter",
}
#: Collectives that no rank leaves before the last one has arrived. Of broadcast, reduce and the like one may.
SYNCHRONIZING = ("all-reduce", "reduce-scatter", "all-gather", "all-to-all", "barrier")
POINT_TO_POINT = "send/receive"
#: As PyTorch records them beside the kernel.
_PROPERTIES = {
    "collective": "Collective name",
    "in_count": "In msg nelems",
    "out_count": "Out msg nelems",
    "group_size": "Group size",
    "dtype": "dtype",
    "group_name": "Process Group Name",
    "group_ranks": "Process Group Ranks",
    "sequence": "Seq",
}
_WHOLE = ("in_count", "out_count", "group_size", "sequence")
CALL_COLUMNS = {
    "process": pl.UInt32,
    "thread": pl.UInt32,
    "agent": pl.UInt32,
    "correlation": pl.Int64,
    "name": pl.String,
    "start_ns": pl.Int64,
    "end_ns": pl.Int64,
    "properties": pl.String,
}


def is_collective(column: str) -> pl.Expr:
    """True if a kernel of this name talks to other ranks.

    >>> import polars as pl
    >>> pl.DataFrame({"name": ["ncclDevKernel_Generic_1", "gemm"]}).select(is_collective("name")).to_series().to_list()
    [True, False]
    """
    return pl.col(column).cast(pl.String).str.contains(_NAMES)


def kind_of(collective: pl.Expr, kernel: pl.Expr) -> pl.Expr:
    """The kind of a collective from its recorded name, else from the name of its kernel; null = neither tells.

    >>> import polars as pl
    >>> pl.select(kind_of(pl.lit("_allgather_base"), pl.lit("ncclDevKernel_Generic"))).item()
    'all-gather'
    """
    kind = pl.lit(None, pl.String)
    for name, pattern in reversed(_KINDS.items()):
        of_kernel = pl.lit(value=False) if name == POINT_TO_POINT else kernel.str.contains(pattern)  # SendRecv: any
        fits = pl.when(collective.is_null()).then(of_kernel).otherwise(collective.str.contains(pattern))
        kind = pl.when(fits).then(pl.lit(name)).otherwise(kind)
    return kind


#: Kinds that move (n - 1) / n of the data over the links of each of n ranks, and how often (nccl-tests); others once.
_BUS_FACTORS = {"all-reduce": 2, "all-gather": 1, "reduce-scatter": 1, "all-to-all": 1}


def bus_factor(count: pl.Expr) -> pl.Expr:
    """Bus bandwidth over algorithm bandwidth of a collective of this `kind` among `count` ranks.

    >>> import polars as pl
    >>> pl.select(kind=pl.lit("all-reduce")).select(bus_factor(pl.lit(4))).item()
    1.5
    """
    moved = pl.col("kind").replace_strict(_BUS_FACTORS, default=None, return_dtype=pl.Int64)
    return pl.coalesce(moved * (count - 1) / count, 1.0)


def collective_calls(dispatches: pl.DataFrame) -> pl.DataFrame:
    """The dispatches of collectives among `dispatches` that have possible times: the columns of `CALL_COLUMNS`.

    >>> import polars as pl
    >>> rows = {"process": [0, 0], "thread": [0, 0], "agent": [0, 0], "correlation": [1, 2], "properties": [None, None]}
    >>> rows |= {"name": ["gemm", "rcclKernel"], "start_ns": [0, 5], "end_ns": [4, 9]}
    >>> collective_calls(pl.DataFrame(rows)).select("name", "start_ns").rows()
    [('rcclKernel', 5)]
    """
    names = dispatches.select(pl.col("name").unique()).filter(is_collective("name")).to_series()
    chosen = dispatches.filter(is_timed() & pl.col("name").is_in(names.implode()))
    more = ["row"] if "row" in dispatches.columns else []
    return chosen.select(*more, *(pl.col(name).cast(dtype) for name, dtype in CALL_COLUMNS.items()))


def described(run: Run, calls: pl.DataFrame) -> pl.DataFrame:
    """The calls with what was recorded of them: beside the kernel (PyTorch), or as the RCCL call that launched it.

    New columns: `collective`, `kind`, `group`, `sequence`, `in_bytes`, `out_bytes`, `group_size`; null = not recorded.
    """
    text = {name: pl.col("properties").str.json_path_match(f"$['{key}']") for name, key in _PROPERTIES.items()}
    calls = calls.with_columns(**text).with_columns(pl.col(_WHOLE).cast(pl.Int64, strict=False))
    size = pl.col("dtype").str.to_lowercase().replace_strict(ELEMENT_BYTES, default=None, return_dtype=pl.Int64)
    group = pl.concat_str("group_name", "group_ranks", separator=" ", ignore_nulls=True)
    calls = calls.with_columns(
        group=pl.when(group.str.len_bytes() > 0).then(group),
        in_bytes=_product(pl.col("in_count"), size),
        out_bytes=_product(pl.col("out_count"), size),
    ).drop("in_count", "out_count", "dtype", "group_name", "group_ranks", "properties")
    if calls["collective"].null_count():
        calls = _from_rccl(run, calls)
    return calls.with_columns(kind=kind_of(pl.col("collective"), pl.col("name")))


def _product(count: pl.Expr, size: pl.Expr) -> pl.Expr:
    """The bytes of a count of elements; null where it is impossible."""
    return pl.when(count.is_between(0, 1 << 58)).then(count * size)


def _from_rccl(run: Run, calls: pl.DataFrame) -> pl.DataFrame:
    """With the RCCL call around the launch of each kernel, where nothing was recorded with the kernel itself."""
    markers = Markers(run, "RCCL")
    if markers.is_empty:
        return calls
    around = around_kernels(rccl_calls(run), markers.times_of_launches(calls))
    is_unnamed = calls["collective"].is_null()
    columns = ["collective", "group", "in_bytes", "out_bytes", "group_size"]
    both = calls.hstack(around.select(pl.col(name).alias(f"{name}_called") for name in columns))
    return both.with_columns(
        pl.when(is_unnamed).then(f"{name}_called").otherwise(name).alias(name) for name in columns
    ).drop(f"{name}_called" for name in columns)
