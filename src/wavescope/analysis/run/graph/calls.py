"""What calls of a runtime wait for, and which work of other streams an event makes wait: by name and arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from wavescope.analysis.run.launches import cause_of

if TYPE_CHECKING:
    from wavescope.model.run import Run

#: Numbers of `Awaits` of the core.
AWAITS_NOTHING, AWAITS_ALL, AWAITS_LANE, AWAITS_LAUNCHED, AWAITS_PERHAPS = range(5)

#: What a call waits for -> functions that do; the first that fits. HIP, CUDA and HSA names.
AWAITS = {
    AWAITS_NOTHING: r"(?i)waitevent|wait_event|eventquery|streamquery|addcallback|launchhostfunc",
    AWAITS_ALL: r"(?i)(device|ctx|context)synchronize",
    AWAITS_LANE: r"(?i)streamsynchronize",
    AWAITS_PERHAPS: r"(?i)eventsynchronize|signal_wait|(memcpy|memset).*async|memset|(mem|host|array)?free(?!async)|hostunregister",
    AWAITS_LAUNCHED: r"(?i)memcpy",
}
#: An asynchronous call that took less can have waited for nothing; it is the time of a launch.
SHORT_NS = 20_000

_EVENT_CALLS = {
    "record": r"(?i)eventrecord",
    "stream wait": r"(?i)streamwaitevent",
    "event synchronisation": r"(?i)eventsynchronize",
    "stream synchronisation": r"(?i)streamsynchronize",
}
_STREAM, _EVENT = r"(?i)^h?stream$", r"(?i)^h?event$"
ARGUMENTS = {"call": pl.UInt32, "process": pl.UInt32, "role": pl.String, "stream": pl.UInt32, "handle": pl.String}


def described(names: pl.Series) -> pl.DataFrame:
    """`name`, `kind` (as `CAUSES` of launches) and `awaits` of each function.

    Examples
    --------
    >>> described(pl.Series("name", ["hipDeviceSynchronize", "hipMemcpyAsync", "hipMemcpy"])).rows()
    [('hipDeviceSynchronize', 'synchronisation', 1), ('hipMemcpyAsync', 'copy call', 4), ('hipMemcpy', 'copy call', 3)]
    """
    unique = pl.DataFrame({"name": names.unique(maintain_order=True)})
    text = pl.col("name").cast(pl.String).fill_null("")
    awaits = pl.lit(AWAITS_NOTHING, pl.UInt8)
    for number, pattern in reversed(AWAITS.items()):
        awaits = (
            pl.when(text.str.replace("(?i)with_?stream", "").pipe(_matches, pattern))
            .then(pl.lit(number, pl.UInt8))
            .otherwise(awaits)
        )
    return unique.with_columns(kind=cause_of(text), awaits=awaits)


def _matches(text: pl.Expr, pattern: str) -> pl.Expr:
    if "(?!" not in pattern:
        return text.str.contains(pattern)
    return text.str.contains(pattern.replace("(?!async)", "")) & ~text.str.contains("(?i)freeasync")


def event_calls(run: Run, calls: pl.DataFrame, work: pl.DataFrame) -> pl.DataFrame:
    """The calls that record or wait for events and streams, with the columns of `ARGUMENTS`.

    `calls` has `call` (number), `process`, `event`, `name`, `correlation`; `work` has `process`, `correlation`, `stream`. Streams are
    stored as the addresses of the runtime: which stream that is, launches with the same argument tell.
    """
    empty = pl.DataFrame(schema=ARGUMENTS)
    names = calls.select(pl.col("name").unique()).with_columns(text=pl.col("name").cast(pl.String))
    role = pl.lit(None, pl.String)
    for word, pattern in _EVENT_CALLS.items():
        role = pl.when(pl.col("text").str.contains(pattern)).then(pl.lit(word)).otherwise(role)
    names = names.with_columns(role=role).filter(pl.col("role").is_not_null()).drop("text")
    chosen = calls.join(names, on="name", maintain_order="left")
    if not chosen.height:
        return empty
    pieces = [
        piece.with_columns(pl.col("name").cast(pl.String)).filter(
            pl.col("name").str.contains(_STREAM) | pl.col("name").str.contains(_EVENT)
        )
        for piece in run.chunks("arguments", ["process", "event", "name", "value"])
    ]
    arguments = pl.concat(pieces) if pieces else None
    if arguments is None or not arguments.height:
        return empty
    is_stream = pl.col("name").str.contains(_STREAM)
    streams = (
        arguments.filter(is_stream)
        .unique(["process", "event"], keep="first")
        .select("process", "event", address="value")
    )
    handles = (
        arguments.filter(~is_stream)
        .unique(["process", "event"], keep="first")
        .select("process", "event", handle="value")
    )
    addresses = (
        streams.join(calls.select("process", "event", "correlation").drop_nulls(), on=["process", "event"])
        .join(work.select("process", "correlation", "stream").drop_nulls(), on=["process", "correlation"])
        .group_by("process", "address", maintain_order=True)
        .agg(pl.col("stream").mode().sort().first())
    )
    return (
        chosen.join(streams, on=["process", "event"], how="left", maintain_order="left")
        .join(addresses, on=["process", "address"], how="left", maintain_order="left")
        .join(handles, on=["process", "event"], how="left", maintain_order="left")
        .select(pl.col(name).cast(dtype) for name, dtype in ARGUMENTS.items())
    )
