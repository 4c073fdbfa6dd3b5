"""Which call launched which GPU work, and what else threads did: regions by what they are good for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl

    from wavescope.model.profile import Profile

__all__ = ["API_DOMAINS", "CAUSES", "cause_of", "launches", "outermost", "region_pieces"]

API_DOMAINS = ("HIP", "HSA", "RCCL", "NCCL", "CUDA", "ROCDECODE", "ROCJPEG", "RUNTIME")
"""Domains of calls into a runtime; all other regions (markers, operators, frames) say what the application did."""

CAUSES = {
    "synchronisation": r"(?i)synchronize|signal_wait|waitevent|wait_event|eventquery|streamquery",
    "allocation": r"(?i)malloc|free|alloc|hostregister|hostunregister|mempool|memory_pool",
    "copy call": r"(?i)memcpy|memset|memory_copy|async_copy|memory_fill|memprefetch",
    "loading code": r"(?i)module(load|unload|get)|code_object|executable|fatbinary|registerfunction|registervar",
    "launch call": r"(?i)launch|pushcallconfiguration|popcallconfiguration",
}
"""Kind of call -> names of functions of that kind; the first that fits."""


def region_pieces(profile: Profile, columns: Sequence[str]) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """Regions in pieces: calls into a runtime, and all others.

    Examples
    --------
    >>> from wavescope.model.profile import Profile
    >>> list(region_pieces(Profile([]), ["begin_ns"]))
    []
    """
    import polars as pl

    is_call = pl.col("domain").is_in(API_DOMAINS).fill_null(value=False)
    for piece in profile.chunks("regions", ["domain", *columns]):
        yield piece.filter(is_call).drop("domain"), piece.filter(~is_call).drop("domain")


def launches(calls: pl.DataFrame, work: pl.DataFrame) -> pl.DataFrame:
    """The calls that launched some of the `work`: `process`, `correlation`, `launch_begin_ns`, `launch_end_ns`,
    `launch_thread`; where several calls share the ids, the first to begin.

    Examples
    --------
    >>> import polars as pl
    >>> ids = {"process": [0], "correlation": [7]}
    >>> calls = pl.DataFrame(ids | {"thread": [3], "begin_ns": [1], "end_ns": [2]})
    >>> launches(calls, pl.DataFrame(ids)).rows()
    [(0, 7, 1, 2, 3)]
    """
    import polars as pl

    keys = ["process", "correlation"]
    wanted = work.select(keys).drop_nulls()
    found = calls.join(wanted, on=keys, how="semi").sort("begin_ns", "end_ns")
    return found.unique(keys, keep="first").select(
        *keys,
        launch_begin_ns=pl.col("begin_ns"),
        launch_end_ns=pl.col("end_ns"),
        launch_thread=pl.col("thread"),
    )


def outermost(calls: pl.DataFrame) -> pl.DataFrame:
    """The calls of every `thread` that no earlier call encloses, sorted; overlapping ends are cut.

    Examples
    --------
    >>> import polars as pl
    >>> calls = pl.DataFrame({"thread": [0, 0], "begin_ns": [0, 2], "end_ns": [9, 5]})
    >>> outermost(calls).rows()
    [(0, 0, 9)]
    """
    import polars as pl

    ordered = calls.sort("thread", "begin_ns", "end_ns", descending=[False, False, True])
    reached = pl.col("end_ns").cum_max().shift(1).over("thread").fill_null(pl.col("begin_ns"))
    return ordered.with_columns(pl.max_horizontal("begin_ns", reached).alias("begin_ns")).filter(
        pl.col("end_ns") > pl.col("begin_ns")
    )


def cause_of(name: pl.Expr) -> pl.Expr:
    """The kind of a call, from the name of its function.

    Examples
    --------
    >>> import polars as pl
    >>> pl.select(cause_of(pl.lit("hipStreamSynchronize"))).item()
    'synchronisation'
    """
    import polars as pl

    kind = pl.lit("other call")
    for cause, pattern in reversed(CAUSES.items()):
        kind = pl.when(name.str.contains(pattern)).then(pl.lit(cause)).otherwise(kind)
    return kind
