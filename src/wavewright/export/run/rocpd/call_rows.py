"""Regions and samples as ROCpd stores them: the function is the name, and a marker's name is a message of its event."""

from __future__ import annotations

import json

import polars as pl

from wavewright.export.run.labels import category_of, per_distinct_row
from wavewright.export.run.rocpd.run import RunWriter


def with_messages(piece: pl.DataFrame, *, is_sample: bool) -> tuple[pl.Series, pl.Series, pl.Series]:
    """Category, function and event properties of calls; the properties have the names of markers as messages."""
    marker = "MARKER_CORE_API" if is_sample else "MARKER_CORE_RANGE_API"
    texts = piece.select(
        pl.col(name).cast(pl.String) for name in ("category", "domain", "name", "function", "event_properties")
    )
    is_marker = (pl.col("domain") == "MARKER").fill_null(value=False)
    category = category_of(marker)
    has_text = is_marker & (pl.col("name") != pl.col("function")).fill_null(value=False)
    function = pl.when(has_text).then("function").otherwise(pl.coalesce("name", "function"))
    message = pl.when(has_text).then("name").alias("message")
    columns = texts.select(category.alias("category"), function.alias("function"), "event_properties", message)
    properties, has_message = columns["event_properties"], columns["message"].is_not_null()
    if has_message.any():
        with_message = columns.select("event_properties", "message").filter(has_message)
        messages = per_distinct_row(with_message, _with_message, pl.String)
        properties = properties.scatter(has_message.arg_true(), messages)
    return columns["category"], columns["function"], properties


def _with_message(properties: str | None, message: str) -> str:
    """Properties as JSON, with a message."""
    try:
        stored = json.loads(properties or "{}")
    except ValueError:
        stored = {}
    if not isinstance(stored, dict):
        stored = {}
    if stored.get("message") == message and properties:
        return properties
    return json.dumps(stored | {"message": message}, ensure_ascii=False)


def track_ids(run: RunWriter, threads: pl.Series, names: pl.Series) -> pl.Series:
    """The track of each sample: one per thread and name."""

    def track_id(tid: int | None, name: str | None) -> int:
        if (tid, name) not in run.tracks:
            name_id = None if name is None else run.text_id(name)
            run.tracks[tid, name] = run.insert_row("track", **run.place, tid=tid, name_id=name_id)
        return run.tracks[tid, name]

    return per_distinct_row(pl.DataFrame({"tid": threads, "name": names}), track_id, pl.Int64)
