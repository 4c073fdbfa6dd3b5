"""Regions and samples as in ROCpd: the function is the name, the name of a marker is a message of its event."""

from __future__ import annotations

import json

import polars as pl

from wavewright.export.run.labels import category_of
from wavewright.export.run.rocpd.run import RunWriter


def with_messages(piece: pl.DataFrame, *, is_sample: bool) -> tuple[pl.Series, pl.Series, pl.Series]:
    """Category, function and event properties of calls."""
    marker = "MARKER_CORE_API" if is_sample else "MARKER_CORE_RANGE_API"
    texts = piece.select(
        pl.col(name).cast(pl.String) for name in ("category", "domain", "name", "function", "event_properties")
    )
    is_marker = (pl.col("domain") == "MARKER").fill_null(value=False)
    category = category_of(marker)
    has_text = is_marker & (pl.col("name") != pl.col("function")).fill_null(value=False)
    function = pl.when(has_text).then("function").otherwise(pl.coalesce("name", "function"))
    columns = texts.select(category.alias("category"), function.alias("function"), has_text.alias("has_text"))
    return columns["category"], columns["function"], _properties(texts, columns["has_text"])


def _properties(texts: pl.DataFrame, has_text: pl.Series) -> pl.Series:
    """Properties of events with the name of every marker as the message."""
    stored = texts["event_properties"]
    pairs = texts.select(stored.alias("stored"), "name").filter(has_text).unique()
    messages = [_with_message(properties, name) for properties, name in pairs.iter_rows()]
    if not messages:
        return stored
    with_messages = pairs.with_columns(pl.Series("said", messages, dtype=pl.String))
    joined = texts.select(stored.alias("stored"), "name").join(
        with_messages, on=["stored", "name"], how="left", maintain_order="left", nulls_equal=True
    )
    return joined.select(pl.when(has_text).then("said").otherwise("stored")).to_series()


def _with_message(properties: str | None, message: str) -> str:
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
    frame = pl.DataFrame({"tid": threads, "name": names})
    distinct = frame.unique(maintain_order=True)
    ids = []
    for key in distinct.iter_rows():
        if key not in run.tracks:
            name = None if key[1] is None else run.text_id(key[1])
            run.tracks[key] = run.insert_row("track", **run.place, tid=key[0], name_id=name)
        ids.append(run.tracks[key])
    with_tracks = distinct.with_columns(pl.Series("track", ids, dtype=pl.Int64))
    return frame.join(with_tracks, on=["tid", "name"], how="left", maintain_order="left", nulls_equal=True)["track"]
