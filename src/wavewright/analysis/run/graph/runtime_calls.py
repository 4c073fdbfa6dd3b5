"""Waits of runtime calls, and the events and streams that they record and wait for, by their names and arguments."""

from __future__ import annotations

import polars as pl

from wavewright.analysis.run.calls.launches import cause_of
from wavewright.analysis.run.measures.event_rows import first_label, rows_where
from wavewright.facts.loader import packaged
from wavewright.model.run import Run
from wavewright.model.schema import empty_frame, packaged_spec

_AWAITS = ("NOTHING", "ALL", "STREAM", "LAUNCHED", "PERHAPS", "POLLED")  #: `Awaits` of the core, by their numbers.
AWAITS_NOTHING, AWAITS_ALL, AWAITS_STREAM, AWAITS_LAUNCHED, AWAITS_PERHAPS, AWAITS_POLLED = range(len(_AWAITS))
_FACTS = packaged("runtime_calls.toml", __package__)
_QUERIES = r"(?i)eventquery|streamquery"
#: A call that may wait (`PERHAPS`) and took less than this, the time of a launch, has waited for nothing.
SHORT_NS = 20_000

_STREAM, _EVENT = r"(?i)^h?stream$", r"(?i)^h?event$"
EVENT_CALLS = packaged_spec(__package__, "event_calls")
_CALL = ("process", "event")


def described(names: pl.Series) -> pl.DataFrame:
    """`name`, `kind` (as `CAUSES` of launches) and `awaits` of each function."""
    text = pl.col("name").cast(pl.String).fill_null("")
    labels = ((label, text.str.contains(pattern)) for label, pattern in _FACTS["awaits"].items())
    numbers = {label: number for number, label in enumerate(_AWAITS)}
    awaits = first_label(*labels, otherwise="NOTHING").replace_strict(numbers, return_dtype=pl.UInt8)
    return pl.DataFrame({"name": names.unique(maintain_order=True)}).with_columns(kind=cause_of(text), awaits=awaits)


def last_queries(calls: pl.DataFrame) -> pl.Series:
    """The numbers of calls that end a poll: queries of a thread that follow another query, and no query follows.

    `calls` has `number`, `name`, `track` and `start_ns`.

    >>> names = ["hipEventQuery", "hipEventQuery", "hipLaunchKernel", "hipEventQuery"]
    >>> calls = pl.DataFrame({"name": names}).with_row_index("number").with_columns(track=0, start_ns="number")
    >>> last_queries(calls).to_list()
    [1]
    """
    names = calls.select(pl.col("name").unique()).filter(pl.col("name").cast(pl.String).str.contains(_QUERIES))["name"]
    if not names.len():
        return pl.Series(dtype=pl.UInt32)
    rows = calls.sort("track", "start_ns", "number").with_columns(is_query=pl.col("name").is_in(names.implode()))
    is_query = pl.col("is_query")
    is_last = is_query & is_query.shift(1).over("track") & ~is_query.shift(-1).over("track").fill_null(value=True)
    return rows.filter(is_last)["number"]


def event_calls(run: Run, calls: pl.DataFrame, work: pl.DataFrame) -> pl.DataFrame:
    """The calls that record or wait for events and streams, with the columns of `EVENT_CALLS`.

    `calls` has `call` (number), `row` (of its region), `process`, `event`, `name` and `correlation`; `work` has
    `process`, `correlation` and `stream`.
    """
    text = pl.col("name").cast(pl.String).str
    role = first_label(*((word, text.contains(pattern)) for word, pattern in _FACTS["roles"].items()))
    names = calls.select(pl.col("name").unique()).with_columns(role=role).drop_nulls("role")
    chosen = calls.join(names, on="name", maintain_order="left")
    if not chosen.height:
        return empty_frame(EVENT_CALLS)
    recorded = pl.concat([_by_arguments(run, calls, chosen, work), *_by_properties(run, calls, chosen)])
    return recorded.unique(["call", "role"], keep="first", maintain_order=True)


def _by_arguments(run: Run, calls: pl.DataFrame, chosen: pl.DataFrame, work: pl.DataFrame) -> pl.DataFrame:
    """By arguments that are stored one by one (ROCpd, RPD).

    Streams are addresses of the runtime there: which stream that is, launches with the same address tell.
    """
    name = pl.col("name").cast(pl.String).str
    is_stream, is_event = name.contains(_STREAM), name.contains(_EVENT)
    arguments = rows_where(run, "arguments", [*_CALL, "name", "value"], is_stream | is_event)
    if not arguments.height:
        return empty_frame(EVENT_CALLS)
    streams = arguments.filter(is_stream).unique(_CALL, keep="first").select(*_CALL, address="value")
    handles = arguments.filter(is_event).unique(_CALL, keep="first").select(*_CALL, handle="value")
    addresses = (
        streams.join(calls.select(*_CALL, "correlation").drop_nulls(), on=_CALL)
        .join(work.select("process", "correlation", "stream").drop_nulls(), on=["process", "correlation"])
        .group_by("process", "address", maintain_order=True)
        .agg(pl.col("stream").mode().sort().first())
    )
    described_calls = (
        chosen.join(streams, on=_CALL, how="left", maintain_order="left")
        .join(addresses, on=["process", "address"], how="left", maintain_order="left")
        .join(handles, on=_CALL, how="left", maintain_order="left")
    )
    is_known = pl.col("stream").is_not_null() | pl.col("handle").is_not_null()
    return described_calls.filter(is_known).select(EVENT_CALLS.casts)


def _by_properties(run: Run, calls: pl.DataFrame, chosen: pl.DataFrame) -> list[pl.DataFrame]:
    """By the arguments that PyTorch records with waits; the record of an event is known by its correlation."""
    texts, row_count = [], 0
    rows = chosen.filter(pl.col("role") != "record").select("row")
    for piece in run.chunks("regions", ["event_properties"]):
        numbered = piece.with_row_index("row", offset=row_count).join(rows, on="row", how="semi")
        row_count += piece.height
        texts.append(numbered.filter(pl.col("event_properties").str.contains("stream")))
    if not any(piece.height for piece in texts):
        return []
    paths = {name: f"$['{key}']" for name, key in _FACTS["pytorch"].items()}
    values = {name: pl.col("event_properties").str.json_path_match(path) for name, path in paths.items()}
    waits = chosen.join(pl.concat(texts).select("row", **values), on="row")
    ids = run.read("streams", ["stream", "stream_id", "process"])
    numbers = ids.select("process", "stream", pl.col("stream_id").cast(pl.String).alias("text"))
    numbers = numbers.unique(["process", "text"], keep="first", maintain_order=True)
    waiting = numbers.rename({"text": "waiting"})
    waits = waits.join(waiting, on=["process", "waiting"], how="left", maintain_order="left")
    waits = waits.with_columns(handle="record")
    correlation = pl.col("record").cast(pl.Int64, strict=False)
    records = (
        waits.select("process", text="recorded", handle="record", correlation=correlation)
        .drop_nulls()
        .unique(maintain_order=True)
        .join(numbers, on=["process", "text"], maintain_order="left")
        .join(calls.select("process", "correlation", "call"), on=["process", "correlation"], maintain_order="left")
        .with_columns(role=pl.lit("record"))
    )
    return [waits.select(EVENT_CALLS.casts), records.select(EVENT_CALLS.casts)]
