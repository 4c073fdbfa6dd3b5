"""Collectives: kernels that ranks run together, with what was recorded about each: name, group, sequence, bytes.

Kernels are recognised by their names; kinds and the factors of their bus bandwidth are in `kinds.toml`.
"""

from __future__ import annotations

import polars as pl

from wavewright.analysis.run.calls.markers import Markers
from wavewright.analysis.run.collectives.rccl_calls import around_kernels, rccl_calls
from wavewright.analysis.run.measures.statistics import is_timed
from wavewright.facts.loader import packaged
from wavewright.model.run import Run
from wavewright.model.schema import packaged_spec

_NAMES = "(?i)nccl|rccl|all_?reduce|all_?gather|all_?to_?all|reduce_?scatter|cross_device_reduce"
_ELEMENT_BYTES: dict[str, int] = packaged("collective_types.toml")["element_bytes"]
_KINDS = packaged("kinds.toml", __package__)
#: Kinds that no rank leaves before the last one has arrived.
SYNCHRONIZING = tuple(kind for kind, facts in _KINDS.items() if facts.get("is_synchronizing"))
#: Kinds whose buffers may differ from rank to rank.
OF_OWN_SIZES = tuple(kind for kind, facts in _KINDS.items() if facts.get("has_own_sizes"))
POINT_TO_POINT = "send/receive"
_PROPERTIES = packaged("properties.toml", __package__)  #: What PyTorch records beside the kernel.
_WHOLE = ("in_count", "out_count", "group_size", "sequence")
CALLS = packaged_spec(__package__, "calls")


def is_collective(column: str) -> pl.Expr:
    """True if a kernel of this name talks to other ranks."""
    return pl.col(column).cast(pl.String).str.contains(_NAMES)


def is_communication(kernels: pl.DataFrame) -> pl.Expr:
    """True for kernels that talk to other ranks, by their `name`; every distinct name is looked at once."""
    names = kernels.select(pl.col("name").unique()).filter(is_collective("name").fill_null(value=False))["name"]
    return pl.col("name").is_in(names.implode())


def kind_of(collective: pl.Expr, kernel: pl.Expr) -> pl.Expr:
    """The kind of a collective from its recorded name, else from the name of its kernel; null = neither tells.

    >>> pl.select(kind_of(pl.lit("_allgather_base"), pl.lit("ncclDevKernel_Generic"))).item()
    'all-gather'
    """
    kind = pl.lit(None, pl.String)
    for name, facts in reversed(_KINDS.items()):
        pattern = facts["pattern"]
        of_kernel = pl.lit(value=False) if name == POINT_TO_POINT else kernel.str.contains(pattern)  # SendRecv: any
        fits = pl.when(collective.is_null()).then(of_kernel).otherwise(collective.str.contains(pattern))
        kind = pl.when(fits).then(pl.lit(name)).otherwise(kind)
    return kind


def bus_factor(count: pl.Expr) -> pl.Expr:
    """Bus bandwidth over algorithm bandwidth of a collective of this `kind` among `count` ranks.

    >>> pl.select(kind=pl.lit("all-reduce")).select(bus_factor(pl.lit(4))).item()
    1.5
    """
    factors = {kind: facts.get("bus_factor") for kind, facts in _KINDS.items()}
    moved = pl.col("kind").replace_strict(factors, default=None, return_dtype=pl.Int64)
    return pl.coalesce(moved * (count - 1) / count, 1.0)


def collective_calls(dispatches: pl.DataFrame) -> pl.DataFrame:
    """The dispatches of collectives that have possible times: `row` and the columns of `CALLS`."""
    return dispatches.filter(is_timed() & is_communication(dispatches)).select("row", *CALLS.casts)


def described(run: Run, calls: pl.DataFrame) -> pl.DataFrame:
    """The calls with what was recorded of them: beside the kernel (PyTorch), or as the RCCL call that launched it.

    New columns: `collective`, `kind`, `group`, `sequence`, `in_bytes`, `out_bytes`, `group_size`; null = not recorded.
    """
    text = {name: pl.col("properties").str.json_path_match(f"$['{key}']") for name, key in _PROPERTIES.items()}
    calls = calls.with_columns(**text).with_columns(pl.col(_WHOLE).cast(pl.Int64, strict=False))
    size = pl.col("dtype").str.to_lowercase().replace_strict(_ELEMENT_BYTES, default=None, return_dtype=pl.Int64)
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
    """The calls with the RCCL call around their launch, where nothing was recorded with the kernel itself."""
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
