"""Collectives: kernels that ranks run together, with the recorded name, group, sequence number and bytes of each.

Kernels are recognised by their names. `kinds.toml` has the kinds with the factors of their bus bandwidth (as nccl-tests
defines it), `properties.toml` the names under which PyTorch records a collective beside its kernel.
"""

from __future__ import annotations

import polars as pl

from wavewright.analysis.run.calls.markers import Markers
from wavewright.analysis.run.collectives.rccl_calls import around_kernels, rccl_calls
from wavewright.analysis.run.measures.statistics import is_timed
from wavewright.facts.loader import packaged
from wavewright.model.run import Run
from wavewright.model.schema import packaged_spec

_COLLECTIVE_NAMES = "(?i)nccl|rccl|all_?reduce|all_?gather|all_?to_?all|reduce_?scatter|cross_device_reduce"
_ELEMENT_BYTES: dict[str, int] = packaged("collective_types.toml")["element_bytes"]
_KINDS = packaged("kinds.toml", __package__)
#: Kinds of which no rank ends before the last one has started.
SYNCHRONIZING = tuple(kind for kind, facts in _KINDS.items() if facts.get("is_synchronizing"))
#: Kinds whose buffers may differ in size from rank to rank.
KINDS_WITH_UNEQUAL_SIZES = tuple(kind for kind, facts in _KINDS.items() if facts.get("has_own_sizes"))
POINT_TO_POINT = "send/receive"
_PROPERTY_KEYS = packaged("properties.toml", __package__)  #: Our column -> key of what PyTorch records.
_INTEGER_PROPERTIES = ("in_count", "out_count", "group_size", "sequence")
#: Larger counts of elements are impossible. Times 16 bytes, the largest type, this one still fits into Int64.
_ELEMENTS_MAX = 1 << 58
CALL_TABLE = packaged_spec(__package__, "calls")


def names_collective(column: str) -> pl.Expr:
    """True if the column has the name of a kernel that communicates with other ranks."""
    return pl.col(column).cast(pl.String).str.contains(_COLLECTIVE_NAMES)


def is_communication(kernels: pl.DataFrame) -> pl.Expr:
    """True for rows of `kernels` that communicate with other ranks.

    It matches each distinct `name` once: runs have millions of dispatches of few kernels.
    """
    names = kernels.select(pl.col("name").unique()).filter(names_collective("name").fill_null(value=False))["name"]
    return pl.col("name").is_in(names.implode())


def kind_of(collective: pl.Expr, kernel: pl.Expr) -> pl.Expr:
    """The kind of a collective from its recorded name, else from the name of its kernel; null = neither tells.

    >>> pl.select(kind_of(pl.lit("_allgather_base"), pl.lit("ncclDevKernel_Generic"))).item()
    'all-gather'
    """
    kind = pl.lit(None, pl.String)
    for name, facts in reversed(_KINDS.items()):  # the outermost condition is that of the first kind, which goes first
        pattern = facts["pattern"]
        # RCCL runs all-to-all, gather and scatter as kernels named SendRecv, too: such a name tells no kind.
        by_kernel = pl.lit(value=False) if name == POINT_TO_POINT else kernel.str.contains(pattern)
        fits = pl.when(collective.is_null()).then(by_kernel).otherwise(collective.str.contains(pattern))
        kind = pl.when(fits).then(pl.lit(name)).otherwise(kind)
    return kind


def bus_factor(count: pl.Expr) -> pl.Expr:
    """Bus bandwidth over algorithm bandwidth of the collectives in column `kind` among `count` ranks.

    1 where `kinds.toml` has no factor for the kind: all of the data goes over the links of each rank once.

    >>> pl.select(kind=pl.lit("all-reduce")).select(bus_factor(pl.lit(4))).item()
    1.5
    """
    factors = {kind: facts.get("bus_factor") for kind, facts in _KINDS.items()}
    passes = pl.col("kind").replace_strict(factors, default=None, return_dtype=pl.Int64)
    return pl.coalesce(passes * (count - 1) / count, 1.0)


def collective_calls(dispatches: pl.DataFrame) -> pl.DataFrame:
    """The dispatches of collectives that have possible times: `row` and the columns of `CALL_TABLE`."""
    return dispatches.filter(is_timed() & is_communication(dispatches)).select("row", *CALL_TABLE.casts)


def described(run: Run, calls: pl.DataFrame) -> pl.DataFrame:
    """The calls with what was recorded of them: beside the kernel (PyTorch), or as the RCCL call that launched it.

    New columns: `collective`, `kind`, `group`, `sequence`, `in_bytes`, `out_bytes`, `group_size`; null = not recorded.
    """
    text = {name: pl.col("properties").str.json_path_match(f"$['{key}']") for name, key in _PROPERTY_KEYS.items()}
    calls = calls.with_columns(**text).with_columns(pl.col(_INTEGER_PROPERTIES).cast(pl.Int64, strict=False))
    size = pl.col("dtype").str.to_lowercase().replace_strict(_ELEMENT_BYTES, default=None, return_dtype=pl.Int64)
    group = pl.concat_str("group_name", "group_ranks", separator=" ", ignore_nulls=True)
    calls = calls.with_columns(
        group=pl.when(group.str.len_bytes() > 0).then(group),
        in_bytes=_byte_count(pl.col("in_count"), size),
        out_bytes=_byte_count(pl.col("out_count"), size),
    ).drop("in_count", "out_count", "dtype", "group_name", "group_ranks", "properties")
    if calls["collective"].null_count():
        calls = _from_rccl(run, calls)
    return calls.with_columns(kind=kind_of(pl.col("collective"), pl.col("name")))


def _byte_count(count: pl.Expr, size: pl.Expr) -> pl.Expr:
    """The bytes of elements of a size; null where the count is negative, or so large that the bytes overflow Int64."""
    return pl.when(count.is_between(0, _ELEMENTS_MAX)).then(count * size)


def _from_rccl(run: Run, calls: pl.DataFrame) -> pl.DataFrame:
    """The calls with the RCCL call around their launch, where the kernel has no recorded name of its collective.

    What is recorded beside such a kernel goes before what the RCCL call tells.
    """
    markers = Markers(run, "RCCL")
    if markers.is_empty:
        return calls
    around = around_kernels(rccl_calls(run), markers.times_of_launches(calls))
    is_unnamed = calls["collective"].is_null()
    columns = ["collective", "group", "in_bytes", "out_bytes", "group_size"]
    both = calls.hstack(around.select(pl.col(name).alias(f"{name}_called") for name in columns))
    return both.with_columns(
        pl.when(is_unnamed).then(pl.coalesce(name, f"{name}_called")).otherwise(name).alias(name) for name in columns
    ).drop(f"{name}_called" for name in columns)
