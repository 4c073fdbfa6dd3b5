"""Calls in batches of adjacent times: the error of a mean, also where a call depends on earlier ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import polars as pl

from wavewright.analysis.run.contents.timed_events import EVENT_TABLES, Events
from wavewright.analysis.run.measures.statistics import is_timed
from wavewright.model.run import Run
from wavewright.model.schema import empty_frame, packaged_spec

_FEWEST_BATCHES, _MOST_BATCHES = 8, 64  #: From how many batches an error is computed; batches of a run at most.
_SUMS = ("calls", "timed", "total", "squares")
_KEYS = ("process", "domain", "name", "batch")
_BATCHES = packaged_spec(__package__, "batches")
ADDRESS = "0x[0-9a-fA-F]{6,}"  #: In names of Python's objects: another one in each run.


@dataclass(frozen=True)
class Batches:
    """The calls of one run in at most 64 batches of equal lengths of time."""

    sums: pl.DataFrame  #: The columns of `_BATCHES`.
    extents: pl.DataFrame  #: See `Events.extents`.
    process_count: int


def batches_of(run: Run) -> Batches:
    """The calls of a run in batches."""
    events = Events(run, "process")
    totals: pl.DataFrame | None = None
    bits = 0
    for table in EVENT_TABLES:
        for piece in events.pieces(table):
            extra_bits = _surplus(piece.filter(is_timed())["start_ns"] // (1 << bits))
            bits += extra_bits
            parts = [_summed(piece, bits)] if totals is None else [_coarser(totals, extra_bits), _summed(piece, bits)]
            totals = pl.concat(parts)
            extra_bits = _surplus(totals.filter(pl.col("timed") > 0)["batch"])
            totals, bits = _coarser(totals, extra_bits), bits + extra_bits
    if totals is None:
        return Batches(empty_frame(_BATCHES), events.extents(), events.process_count())
    texts = totals.with_columns(pl.col("domain", "name").cast(pl.String).fill_null(""))
    named = texts.with_columns(pl.col("name").str.replace_all(ADDRESS, "0x*"))
    sums = named.group_by(_KEYS).agg(pl.col(*_SUMS).sum())
    return Batches(sums.select(_BATCHES.names).sort(_KEYS), events.extents(), events.process_count())


def means(partials: Sequence[Batches]) -> pl.DataFrame:
    """Per `domain` and `name`: `calls`, `total_ns`, `mean_ns`, its standard error `error_ns` and `degrees` of freedom.

    The error is the larger of two: of single calls, as if they were independent, and of eight or more batches.
    """
    sums = pl.concat([empty_frame(_BATCHES), *(part.sums for part in partials)])
    thing = ["domain", "name"]
    totals = sums.group_by(thing).agg(pl.col(*_SUMS).sum(), batches=(pl.col("timed") > 0).sum())
    real = sums.select(*thing, "timed", pl.col("total").cast(pl.Float64))
    rates = totals.select(*thing, mean=pl.col("total").cast(pl.Float64) / pl.col("timed").replace(0, None))
    residual = (pl.col("total") - pl.col("mean") * pl.col("timed")).pow(2).sum()
    spread = real.join(rates, on=thing, maintain_order="left").group_by(thing).agg(rest=residual)
    rows = totals.join(spread, on=thing).sort(thing)
    return rows.hstack(_errors(rows)).select(*thing, "calls", "total_ns", "mean_ns", "error_ns", "degrees")


def _surplus(batches: pl.Series) -> int:
    """By how many bits these numbers of batches must be shifted so that at most 64 remain."""
    low, high = batches.min(), batches.max()
    bits = 0
    while isinstance(low, int) and isinstance(high, int) and (high >> bits) - (low >> bits) >= _MOST_BATCHES:
        bits += 1
    return bits


def _coarser(sums: pl.DataFrame, bits: int) -> pl.DataFrame:
    """Batches that are 2 ** bits times as long."""
    return sums.group_by(*_KEYS[:-1], pl.col("batch") // (1 << bits)).agg(pl.col(*_SUMS).sum())


def _summed(piece: pl.DataFrame, bits: int) -> pl.DataFrame:
    """The calls of a chunk in batches of 2 ** bits ns."""
    value = pl.when(is_timed()).then(pl.col("end_ns") - pl.col("start_ns")).cast(pl.Int128)  # for the squares
    batch = pl.col("start_ns").fill_null(0) // (1 << bits)
    texts = pl.col("domain", "name").cast(pl.Categorical)
    return (
        piece.with_columns(texts, value=value, batch=batch)
        .group_by(_KEYS)
        .agg(
            calls=pl.len().cast(pl.Int64),
            timed=pl.col("value").count().cast(pl.Int64),
            total=pl.col("value").sum(),
            squares=(pl.col("value") * pl.col("value")).sum(),
        )
    )


def _errors(rows: pl.DataFrame) -> pl.DataFrame:
    """Means and their errors: one row per name, so that Python does it, in integers where they are large."""
    errors: list[tuple[int | None, float | None, float | None, int | None]] = []
    for count, total, squares, batches, residual in rows.select("timed", "total", "squares", "batches", "rest").rows():
        total_ns, mean_ns = total if total < 1 << 63 else None, total / count if count else None
        if count < 2:
            errors.append((total_ns, mean_ns, None, None))
            continue
        single = (count * squares - total * total) / (count * (count - 1)) / count
        grouped = batches / (batches - 1) * residual / count**2 if batches >= _FEWEST_BATCHES else 0.0
        degrees = batches - 1 if grouped > single else count - 1
        errors.append((total_ns, mean_ns, sqrt(max(single, grouped)), degrees))
    schema = {"total_ns": pl.Int64, "mean_ns": pl.Float64, "error_ns": pl.Float64, "degrees": pl.Int64}
    return pl.DataFrame(errors, schema=schema, orient="row")
