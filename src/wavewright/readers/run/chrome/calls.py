"""Arguments of calls of a Chrome trace: which are stored, and what GPU work and waits share with their call."""

from __future__ import annotations

from typing import Any

import msgspec
import polars as pl

_WITH_ARGUMENTS = ("OPERATOR", "MARKER")
#: Arguments that are columns, or about the recording; PyTorch gives every call some of them.
_OF_EVERY_CALL = "External id|correlation|correlation_raw|cid|cbid|rank|pid_raw|Ev Idx|Record function id|finished"
_SIZES = [f"{size}_{axis}" for size in ("grid", "block") for axis in "xyz"]


def kept_arguments() -> pl.Expr:
    """The arguments of a CPU event as JSON: of operators and markers, and of calls that have any of their own.

    A launch of a kernel has those of the dispatch and the long name of the kernel, which the dispatch has, too.
    """
    args, domain = pl.col("args"), pl.col("domain").cast(pl.String)
    bare = args.str.replace_all(rf'"(?:{_OF_EVERY_CALL})"\s*:', "")
    is_call = (domain == "HIP") & bare.str.contains('"\\s*:') & ~args.str.contains(r'"kernel"\s*:')
    return pl.when(domain.is_in(_WITH_ARGUMENTS) | is_call).then(args)


def with_sizes_of_calls(work: pl.DataFrame, calls: pl.DataFrame) -> pl.DataFrame:
    """GPU work whose size only the call that issued it has, with the size of that call; grids become lanes."""
    key = ["process", "correlation"]
    sizes = calls.filter(pl.any_horizontal(pl.col("grid_x", "size", "call_size").is_not_null())).drop_nulls(
        "correlation"
    )
    columns = [*_SIZES, "lds_bytes", "size"]
    of_calls = sizes.with_columns(size=pl.coalesce("size", "call_size")).select(*key, *columns)
    of_calls = of_calls.unique(key, keep="none")
    rows = work.join(of_calls, on=key, how="left", maintain_order="left", suffix="_of_call")
    table = rows.with_columns(pl.coalesce(name, f"{name}_of_call").alias(name) for name in columns)
    lanes = {f"workgroup_{axis}": pl.col(f"block_{axis}") for axis in "xyz"}
    lanes |= {f"grid_{axis}": pl.col(f"grid_{axis}") * pl.col(f"block_{axis}") for axis in "xyz"}
    return table.with_columns(**lanes, size_bytes=pl.col("size")).drop(f"{name}_of_call" for name in columns)


def with_arguments_of_waits(calls: pl.DataFrame, waits: pl.DataFrame) -> pl.DataFrame:
    """The calls, with the arguments of the wait of the GPU that has their correlation added to their own."""
    if not waits.height:
        return calls
    key = ["process", "correlation"]
    stored = waits.drop_nulls("correlation").select(*key, wait="args").unique(key, keep="first", maintain_order=True)
    rows = calls.join(stored, on=key, how="left", maintain_order="left")
    places = rows.with_row_index().filter(pl.col("wait").is_not_null())
    texts = [_merged(call, wait) for call, wait in places.select("args", "wait").iter_rows()]
    properties = rows["event_properties"].scatter(places["index"], pl.Series(texts, dtype=pl.String))
    return rows.with_columns(properties.alias("event_properties")).drop("wait")


def _merged(call: str, wait: str) -> str:
    values: dict[str, Any] = {}
    for text in (wait, call):
        value = msgspec.json.decode(text)
        values |= value if isinstance(value, dict) else {}
    return msgspec.json.encode(values).decode()
