"""Allocations and releases of memory of a run, from its table of allocations and from calls with their arguments."""

from __future__ import annotations

import polars as pl

from wavewright.analysis.run.measures.event_rows import rows_where
from wavewright.model.run import Run
from wavewright.model.schema import empty_frame, packaged_spec

_TAKES = r"^hip(ExtMallocWithFlags|Malloc(Async|Managed|FromPoolAsync|Host)?|Host(Malloc|Alloc))$"
_GIVES = r"^hip(Free(Async|Host)?|HostFree)$"
_ON_HOST = "Host"
_SIZES = ("size", "sizeBytes", "bytes", "num_bytes", "dev_size")
_ADDRESSES = ("ptr", "dev_ptr", "devPtr", "hostPtr")
#: Keys of JSON about an allocation: bytes in use after it, and the bytes of a release.
_IN_USE = ("Total Allocated", "bytes_allocated")
_RELEASED_KEYS = ("Bytes", "allocation_bytes")
_RESERVED_KEYS = ("Total Reserved",)  #: What the allocator holds of the GPU's memory after it.
_ROWS = packaged_spec(__package__, "allocations")
#: Larger sizes are impossible (8 TiB); sums of millions of possible ones fit into Int64.
_LARGEST = 1 << 43


def allocation_rows(run: Run) -> pl.DataFrame:
    """One row per allocation or release, in the order of the ends of the calls.

    `kind` is GPU or HOST, null where it is not recorded; `pool` is FRAMEWORK (the allocator of PyTorch or XLA) or HIP.
    `size_bytes` of a release is null where it is not recorded; `in_use_bytes` is what the allocator reports after it.
    Scratch memory and reserved addresses are no allocations. Where a process has none in its table, calls of HIP with
    address and size count. `event` names the stack of an allocation, where the format has them.
    """
    stored = _stored(run)
    calls = _calls(run)
    calls = calls.join(stored.filter(pl.col("pool") == "HIP").select("process").unique(), on="process", how="anti")
    rows = pl.concat([stored, calls]).filter(pl.col("end_ns").is_not_null(), pl.col("process").is_not_null())
    sized = pl.when(pl.col("size_bytes").is_between(0, _LARGEST)).then("size_bytes")
    return rows.with_columns(size_bytes=sized).sort("end_ns", maintain_order=True)


def _stored(run: Run) -> pl.DataFrame:
    """The rows of the table of allocations."""
    columns = [*("process", "thread", "agent", "type", "level", "start_ns", "end_ns"),
               *("address", "size_bytes", "event", "properties")]  # fmt: skip
    pieces = [empty_frame(_ROWS)]
    kinds = run.read("agents", ["agent", "kind"]).with_columns(kind=pl.col("kind").replace({"CPU": "HOST"}))
    level, kind = pl.col("level").cast(pl.String), pl.col("type").cast(pl.String)
    is_release = kind.is_in(("FREE", "RECLAIM")).fill_null(value=False)
    is_framework = (level == "FRAMEWORK").fill_null(value=False)
    if_framework = pl.when(is_framework)
    released = if_framework.then(_number(_RELEASED_KEYS).abs())
    for chunk in run.chunks("allocations", columns):
        piece = chunk.join(kinds, on="agent", how="left", maintain_order="left")
        rows = piece.filter(~level.is_in(("SCRATCH", "VIRTUAL")).fill_null(value=False))
        rows = rows.with_columns(
            kind=pl.coalesce("kind", pl.when(is_framework & _is_of_host()).then(pl.lit("HOST"))),
            pool=if_framework.then(pl.lit("FRAMEWORK")).otherwise(pl.lit("HIP")),
            is_release=is_release,
            size_bytes=pl.when(is_release).then(released).otherwise(pl.col("size_bytes")),
            in_use_bytes=if_framework.then(_number(_IN_USE)),
            reserved_bytes=if_framework.then(_number(_RESERVED_KEYS)),
        )
        pieces.append(rows.select(_ROWS.names))
    return pl.concat(pieces)


def _is_of_host() -> pl.Expr:
    """True if the allocator of a framework is that of the host: PyTorch's device type 0, or XLA's without a GPU."""
    text = pl.col("properties").fill_null("")
    is_device_0_type = text.str.contains(r'"Device Type"\s*:\s*0\b')
    return is_device_0_type | text.str.contains(r'"allocator_name"\s*:\s*"[^"]*(?i:host|cpu)')


def _number(keys: tuple[str, ...]) -> pl.Expr:
    """The value of the first of these keys that the JSON of a row has."""
    texts = [pl.col("properties").str.extract(rf'"{key}"\s*:\s*(-?\d{{1,18}})\b') for key in keys]
    return pl.coalesce(texts).cast(pl.Int64, strict=False)


def _calls(run: Run) -> pl.DataFrame:
    """Calls that allocate or release, with their arguments; a process with several GPUs does not say on which."""
    columns = ["process", "thread", "event", "function", "start_ns", "end_ns", "event_properties"]
    function = pl.col("function").cast(pl.String)
    calls = rows_where(run, "regions", columns, function.str.contains(f"{_TAKES}|{_GIVES}")).with_columns(function)
    if not calls.height:
        return empty_frame(_ROWS)
    arguments = _arguments(run, calls)
    calls = calls.join(arguments, on=["process", "event"], how="left", nulls_equal=False, maintain_order="left")
    text = pl.col("event_properties")
    size = pl.coalesce("size", *(text.str.extract(rf'"{key}"\s*:\s*"?(\d{{1,18}})\b') for key in _SIZES))
    addresses = (text.str.extract(rf'"{key}"\s*:\s*"?((?:0x)?[0-9a-fA-F]{{1,16}})\b') for key in _ADDRESSES)
    address = pl.coalesce("address", *addresses)
    gpus = run.read("agents", ["agent", "process", "kind"]).filter(pl.col("kind") == "GPU")
    single = gpus.filter(pl.len().over("process") == 1).select("process", "agent")
    rows = calls.with_columns(size=size, address=address).join(single, on="process", how="left", maintain_order="left")
    is_release = pl.col("function").str.contains(_GIVES)
    on_host = pl.col("function").str.contains(_ON_HOST, literal=True)
    rows = rows.with_columns(
        agent=pl.when(~on_host).then("agent"),
        kind=pl.when(on_host).then(pl.lit("HOST")).when(pl.col("agent").is_not_null()).then(pl.lit("GPU")),
        pool=pl.lit("HIP"),
        is_release=is_release,
        address=_integer("address"),
        size_bytes=pl.when(~is_release).then(_integer("size")),
        **dict.fromkeys(("in_use_bytes", "reserved_bytes", "event"), pl.lit(None, pl.Int64)),
    )
    is_known = pl.col("address").is_not_null() & (pl.col("is_release") | pl.col("size_bytes").is_not_null())
    return rows.select(_ROWS.names).filter(is_known)


def _arguments(run: Run, calls: pl.DataFrame) -> pl.DataFrame:
    """`size` and `address` of the calls as text; the address of a pointer is not that of the memory."""
    key = ["process", "event"]
    keys = calls.select(key).drop_nulls().unique()
    columns = [*key, "type", "name", "value"]
    name, kind = pl.col("name").cast(pl.String), pl.col("type").cast(pl.String).fill_null("")
    is_ours = name.is_in((*_SIZES, *_ADDRESSES)) & ~kind.str.contains("**", literal=True)
    arguments = rows_where(run, "arguments", columns, is_ours).join(keys, on=key, how="semi")
    size, address = (pl.col("value").filter(name.is_in(names)).first() for names in (_SIZES, _ADDRESSES))
    return arguments.group_by(key, maintain_order=True).agg(size=size, address=address)


def _integer(column: str) -> pl.Expr:
    """The integer that a text column has, in decimal or with 0x in hexadecimal digits; null = none."""
    text = pl.col(column).str.strip_chars()
    digits = text.str.strip_prefix("0x").str.head(15)
    return (
        pl.when(text.str.starts_with("0x"))
        .then(digits.str.to_integer(base=16, strict=False))
        .otherwise(text.cast(pl.Int64, strict=False))
    )
