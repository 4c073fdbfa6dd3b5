"""Perfetto traces as runs: of rocprofv3, of rocprof-sys, of wavewright itself, and others as far as possible.

| in the file | table |
| --- | --- |
| slices of kernels, by their category | dispatches; their annotations with fractions are counters |
| slices of copies | copies |
| other slices | regions of the thread of their track; a track without one is a thread without a number |
| moments | samples |
| counter tracks | monitors, until the next value |

The native core reads packets, clocks and interned names and nests slices as Perfetto's own importer does. Calls and GPU
work are connected by the annotation `corr_id`, or by flows where work has none. Counter tracks that follow from slices
(bytes being copied, values of dispatches) are not read again.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from wavewright import _core
from wavewright.errors import NotATraceError
from wavewright.facts.loader import packaged
from wavewright.model.losses import Loss
from wavewright.model.run import MemorySource
from wavewright.model.run_tables import RUN
from wavewright.readers.files.text import MAX_BYTES, text_bytes
from wavewright.readers.run.event_rows import finished, with_numbers
from wavewright.readers.run.perfetto.slices import categorized, events_of, with_counters
from wavewright.readers.run.perfetto.tracks import TrackPlaces, with_gpus

_NAMES = packaged("names.toml", __package__)
_NO_NUMBER = -(1 << 63)  #: The core writes it for numbers that the trace does not have; for strings, 0.


def read_perfetto(path: Path) -> MemorySource:
    """The tables of a Perfetto trace.

    Raises `UsageError, NotATraceError` when the file cannot be read, or has no track at all.
    """
    losses: list[Loss] = []
    data = _unpacked(text_bytes(path), losses)
    integers = [name for names in _NAMES["integers"].values() for name in names]
    texts = [name for names in _NAMES["texts"].values() for name in names]
    raw = _core.read_perfetto(np.frombuffer(data, np.uint8), integers, texts, _NAMES["work"]["dispatches"])
    losses += _losses(raw, path)
    words = pl.DataFrame(raw["texts"])["text"]
    tracks = TrackPlaces(pl.DataFrame(raw["tracks"]), words)
    rows = _with_columns(pl.DataFrame(raw["rows"]), words)
    if not tracks.frame.height:
        advice = "copy it again; rocprofv3 -f pftrace and rocprof-sys write such files"
        raise NotATraceError("not a Perfetto trace with events: it has no track", where=str(path), advice=advice)
    rows = categorized(rows, pl.DataFrame(raw["flows"]), tracks, words)
    tables: dict[str, pl.DataFrame] = {"processes": tracks.processes}
    values, points = pl.DataFrame(raw["values"]), pl.DataFrame(raw["points"])
    kinds = events_of(rows)
    table_names = {name for name, frame in (kinds | {"counters": values}).items() if frame.height}
    kinds = with_gpus(kinds | {"monitors": tracks.monitors(points, words, table_names)}, tables)
    with_counters(values, kinds, tables, words)
    kinds = with_numbers(kinds, tables)
    tables["threads"] = tracks.with_thread_names(tables["threads"])
    run_tables = finished(tables | kinds, losses)
    return MemorySource(str(path), "Perfetto", "", {k: v for k, v in run_tables.items() if k in RUN}, losses)


def _unpacked(data: bytes, losses: list[Loss]) -> bytes:
    """The trace with what is in compressed packets in their place."""
    parts = _core.compressed_perfetto(np.frombuffer(data, np.uint8))
    if not parts:
        return data
    pieces, offset, length = [], 0, len(data)
    failure_count = 0
    for begin, end, content in parts:
        inflate = zlib.decompressobj()
        try:
            piece = inflate.decompress(data[content:end], max(MAX_BYTES - length, 1))
        except zlib.error:
            piece = b""
        failure_count += not inflate.eof
        length += len(piece)
        pieces += [data[offset:begin], piece]
        offset = end
    if failure_count:
        losses.append(Loss("malformed_events", failure_count, detail="compressed packets"))
    return b"".join([*pieces, data[offset:]])


def _losses(raw: Mapping[str, Any], path: Path) -> list[Loss]:
    """The losses of a trace: damage, lost packets, and records that are not read, as the core counts them."""
    counts: dict[str, int] = {name: count for name, count in raw["counts"].items() if count}
    damage: dict[str, str] = _NAMES["damage"]
    losses = [Loss("malformed_events", counts[name], detail=damage[name]) for name in damage if name in counts]
    sentences = {name: sentence for name, sentence in _NAMES["lost"].items() if name in counts}
    if sentences:
        detail = "; ".join(sentence.format(f"{counts[name]:,}") for name, sentence in sentences.items())
        losses.append(Loss("lost_packets", sum(counts[name] for name in sentences), detail=detail))
    if "cut_bytes" in counts:
        losses.append(Loss("cut_file", detail=path.name))
    unread = dict(raw["unread"])
    if unread:
        labels = sorted({_NAMES["unread"].get(str(number), f"field {number}") for number in unread})
        more = f", and {len(labels) - 5} more" if len(labels) > 5 else ""
        losses.append(Loss("unread_records", sum(unread.values()), detail=", ".join(labels[:5]) + more))
    return losses


def _with_columns(rows: pl.DataFrame, words: pl.Series) -> pl.DataFrame:
    """Annotations as the columns that names.toml declares (`integers`, `texts`); strings in place of their numbers."""
    columns = []
    for column, names in _NAMES["integers"].items():
        values = [pl.when(pl.col(f"integer {name}") != _NO_NUMBER).then(pl.col(f"integer {name}")) for name in names]
        columns.append(pl.coalesce(values).alias(column))
    for column, names in _NAMES["texts"].items():
        numbers = [pl.when(pl.col(f"text {name}") != 0).then(pl.col(f"text {name}")) for name in names]
        columns.append(pl.lit(_texts(words, rows.select(pl.coalesce(numbers)).to_series())).alias(column))
    correlation = pl.col("correlation")
    return rows.select(
        "track", "start_ns", "is_instant", "category",
        pl.when(pl.col("end_ns") != _NO_NUMBER).then("end_ns").alias("end_ns"),
        pl.lit(_texts(words, rows["name"])).alias("name"),
        pl.when(pl.col("correlation") != 0).then(correlation.reinterpret(signed=True)).alias("own_correlation"),
        pl.when(pl.col("json") != "").then("json").alias("json"),
        *columns,
    )  # fmt: skip


def _texts(words: pl.Series, numbers: pl.Series) -> pl.Series:
    """Texts by their numbers, as categories: every text is stored once."""
    distinct = numbers.unique().drop_nulls()
    names = words.gather(distinct).cast(pl.Categorical)
    return numbers.replace_strict(distinct, names, default=None, return_dtype=pl.Categorical)
