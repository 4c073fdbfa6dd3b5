"""RCCL calls of threads with their arguments: which collective of how many bytes launched a kernel."""

from __future__ import annotations

import polars as pl

from wavewright.analysis.run.measures.event_rows import rows_where
from wavewright.facts.loader import packaged
from wavewright.model.run import Run

_THREAD = ("process", "thread")
_COUNTS = ("count", "sendcount", "recvcount")  #: Arguments that count elements; a function has one of them.
_ARGUMENTS = (*_COUNTS, "datatype", "comm", "nranks", "ndev")  #: Arguments that are read.
_TYPES = packaged("collective_types.toml")
_SIZES = _TYPES["element_bytes"] | {str(number): size for number, size in enumerate(_TYPES["rccl_type_bytes"])}
_ELEMENTS_MAX = 1 << 58  #: Larger counts of elements are impossible, and would overflow Int64 as bytes.


def rccl_calls(run: Run) -> pl.DataFrame:
    """The RCCL calls of a run: `process`, `thread`, `start_ns`, `end_ns`, `function`, `in_bytes` and `out_bytes`,
    `group` (the communicator) and `group_size`."""
    columns = ["process", "thread", "event", "domain", "name", "start_ns", "end_ns"]
    is_rccl = (pl.col("domain") == "RCCL") & (pl.col("end_ns") >= pl.col("start_ns"))
    calls = rows_where(run, "regions", columns, is_rccl)
    calls = calls.select(pl.exclude("domain", "name"), function=pl.col("name").cast(pl.String))
    calls = calls.join(_arguments(run, calls), on=["process", "event"], how="left", maintain_order="left")
    size = pl.col("datatype").str.to_lowercase().str.strip_prefix("nccl").replace_strict(_SIZES, default=None)
    count = pl.coalesce(pl.col(name).cast(pl.Int64, strict=False) for name in _COUNTS)
    amount = pl.when(count.is_between(0, _ELEMENTS_MAX)).then(count * size.cast(pl.Int64))
    communicators = _communicator_sizes(calls)
    used = calls.filter(pl.col("comm").is_not_null() & is_collective_call()).sort("start_ns", maintain_order=True)
    numbers = used.select("process", "comm").unique(maintain_order=True)
    numbers = numbers.with_columns(number=pl.int_range(pl.len()).over("process"))
    return (
        calls.join(communicators, on="process", how="left", maintain_order="left")
        .join(numbers, on=["process", "comm"], how="left", maintain_order="left")
        .with_columns(amount=amount, group=pl.format("communicator {}", "number"))
        .with_columns(in_bytes=_sized("AllToAll|ReduceScatter|Scatter"))
        .with_columns(out_bytes=_sized("AllToAll|AllGather|Gather"))
        .select(*_THREAD, "start_ns", "end_ns", "function", "group", "group_size", "in_bytes", "out_bytes")
    )


def is_collective_call() -> pl.Expr:
    """True if an RCCL `function` moves data."""
    function = pl.col("function").str
    moves = function.contains("(?i)reduce|gather|scatter|all_?to_?all|bcast|broadcast|send|recv")
    return moves & ~function.contains("(?i)group|redop|comm")


def _sized(whole: str) -> pl.Expr:
    """Bytes of a buffer: the counted amount, or times the ranks where the count is of the part of one rank."""
    is_whole = pl.col("function").str.contains(f"({whole})$")
    return pl.when(is_whole).then(pl.col("amount") * pl.col("group_size")).otherwise("amount")


def _arguments(run: Run, calls: pl.DataFrame) -> pl.DataFrame:
    """The arguments of the calls that tell sizes and communicators, one column each."""
    events = calls.select("process", "event").drop_nulls().unique()
    keys = {"process": pl.UInt32, "event": pl.Int64}
    pieces = [pl.DataFrame(schema=keys | {"name": pl.String, "value": pl.String})]
    for piece in run.chunks("arguments", ["process", "event", "name", "value"]) if events.height else ():
        text = piece.with_columns(pl.col("name", "value").cast(pl.String)).filter(pl.col("name").is_in(_ARGUMENTS))
        pieces.append(text.join(events, on=["process", "event"], how="semi"))
    value = pl.col("value")
    return (
        pl.concat(pieces)
        .group_by("process", "event")
        .agg(value.filter(pl.col("name") == name).first().alias(name) for name in _ARGUMENTS)
    )


def _communicator_sizes(calls: pl.DataFrame) -> pl.DataFrame:
    """Ranks of the communicators of a process, where all of them have as many: which one was made is not recorded."""
    size = pl.coalesce("nranks", "ndev").cast(pl.Int64, strict=False)
    one_size = pl.when(size.n_unique() == 1).then(size.first())
    return calls.filter(size > 0).group_by("process").agg(group_size=one_size)


def around_kernels(calls: pl.DataFrame, launches: pl.DataFrame) -> pl.DataFrame:
    """For every launch (`process`, `thread`, `start_ns`): `collective`, `group`, sizes of the call it happened in.

    Calls between ncclGroupStart and ncclGroupEnd are launched together: they count as one where they are of one kind
    and one kernel came of them; sizes of several kernels of a group are not known.
    """
    blocks = _blocks(calls)
    rows = launches.select(*_THREAD, time="start_ns").with_row_index("place").sort("time")
    inside = rows.join_asof(
        blocks.sort("first_ns"),
        left_on="time",
        right_on="first_ns",
        by=list(_THREAD),
        strategy="backward",
        check_sortedness=False,
    ).sort("place")
    is_inside = pl.col("time") <= pl.col("last_ns")
    is_single = pl.len().over("block") == 1
    names = ("collective", "group", "group_size")
    return inside.select(
        *(pl.when(is_inside).then(name).alias(name) for name in names),
        *(pl.when(is_inside & is_single).then(name).alias(name) for name in ("in_bytes", "out_bytes")),
    )


def _blocks(calls: pl.DataFrame) -> pl.DataFrame:
    """Calls, or groups of calls, one row each: a `block` from `first_ns` to `last_ns`, and what its calls share."""
    ordered = calls.sort(*_THREAD, "start_ns", -pl.col("end_ns"), nulls_last=True)
    reached = pl.col("end_ns").cum_max().shift(1).over(_THREAD)
    outer = ordered.filter((pl.col("start_ns") >= reached).fill_null(value=True))  # calls inside of calls count no more
    name = pl.col("function")
    change = pl.when(name == "ncclGroupStart").then(1).when(name == "ncclGroupEnd").then(-1).otherwise(0)
    level = change.cum_sum().over(_THREAD)
    outer = outer.with_columns(level=level)
    # A recording may begin inside a group: its end, below 0, opens nothing.
    depth = pl.col("level") - pl.min_horizontal(pl.lit(0), pl.col("level").cum_min().over(_THREAD))
    before = depth.shift(1).over(_THREAD).fill_null(0)
    outer = outer.with_columns(is_first=before == 0).with_columns(block=pl.col("is_first").cum_sum())
    moving = outer.with_columns(is_moving=is_collective_call())
    is_moving = pl.col("is_moving")
    one_kind = pl.col("function").filter(is_moving).n_unique() == 1
    one_group = pl.col("group").filter(is_moving).n_unique() == 1

    def first(column: str) -> pl.Expr:
        return pl.col(column).filter(is_moving).first()

    def total(column: str) -> pl.Expr:
        values = pl.col(column).filter(is_moving)
        return pl.when(one_kind & (values.null_count() == 0)).then(values.sum())

    return moving.group_by(*_THREAD, "block", maintain_order=True).agg(
        first_ns=pl.col("start_ns").min(),
        last_ns=pl.col("end_ns").max(),
        collective=pl.when(one_kind).then(first("function")),
        group=pl.when(one_group).then(first("group")),
        group_size=pl.when(one_group).then(first("group_size")),
        in_bytes=total("in_bytes"),
        out_bytes=total("out_bytes"),
    )
