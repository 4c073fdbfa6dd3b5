"""Busy share of each GPU over time, drawn as one strip per GPU: tiles of 64 GPUs at every level of detail."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from wavewright.analysis.run.gpu_time.busy import Busy, busy
from wavewright.analysis.run.measures.intervals import covered_per_bin, intervals, merged
from wavewright.analysis.run.select.gpus import gpu_work, index_gpus
from wavewright.model.document import Document
from wavewright.page.protocol.curve_tiles import coarse_tiles, tiling_of
from wavewright.page.protocol.question import TILE, PageQuestion, once_per_document
from wavewright.page.run.answers import serialized
from wavewright.page.run.curves import grid_of
from wavewright.page.run.times import clocks_of, nodes_by_machine
from wavewright.questions.kit.parameters import place

CHUNK = 64  #: GPUs of one tile.
_EXPORTED_TILES, _EXPORTED_CHUNKS = 4, 16  #: Levels with more tiles, and GPUs behind these, are not exported.


@once_per_document
def _busy(document: Document) -> Busy:
    return busy(document.run, bins=1)


@once_per_document
def busy_of_run(document: Document) -> Any:
    """Share of the time in which each GPU had work (`analysis.run.gpu_time.busy`)."""
    return {name: value for name, value in serialized(document, _busy(document)).items() if name != "over_time"}


def strips_of_run(document: Document) -> Any:
    """The GPUs in the order of their strips, with their busy share, and the tiling of the strips."""
    gpus = _busy(document).gpus.select("node", "gpu", "busy_share").to_dicts()
    return {"gpus": gpus, "gpus_per_tile": CHUNK, **tiling_of(grid_of(document))}


@once_per_document
def _work(document: Document) -> pl.DataFrame:
    """Busy intervals: `number` (the row of the GPU in `run_busy`), `start_ns` and `end_ns` since the node started."""
    run, clocks = document.run, clocks_of(document)
    index = index_gpus(run)
    names, starts = nodes_by_machine(document), clocks.starts("machine")
    numbers = {node_and_gpu: row for row, node_and_gpu in enumerate(_busy(document).gpus["node", "gpu"].iter_rows())}
    places = [
        (at, numbers.get((names.get(machine, node), gpu)), starts.get(machine, 0))
        for at, machine, node, gpu in index.table["place", "machine", "node", "gpu"].iter_rows()
    ]
    dtypes = {"place": index.table.schema["place"], "number": pl.UInt32, "zero_ns": pl.Int64}
    numbered_places = pl.DataFrame(places, schema=list(dtypes), orient="row").cast(dtypes)  # type: ignore[arg-type]
    busy_intervals = merged(intervals(gpu_work(run, index), ["place"]), ["place"])
    by_gpu = busy_intervals.join(numbered_places, on="place", maintain_order="left")
    times = by_gpu.drop_nulls("number").select("number", pl.col("start_ns", "end_ns") - pl.col("zero_ns"))
    return times.sort("number", "start_ns")


def _tile(document: Document, work: pl.DataFrame, level: int, tile: int) -> pl.DataFrame:
    """Busy time per GPU and bin of 2**level ns in one tile (`number`, `bin`, `covered_ns`); no rows without work."""
    grid = grid_of(document)
    first_bin, count = grid.bins_of(level, tile)
    width = 1 << level
    first, end = first_bin * width, min((first_bin + count) * width, grid.end)
    inside = work.filter((pl.col("start_ns") < end) & (pl.col("end_ns") > first))
    return covered_per_bin(inside, ["number"], first, end, width).with_columns(pl.col("bin").cast(pl.UInt32))


def strips(document: Document, *, level: int, tile: int, chunk: int) -> pl.DataFrame:
    """Busy shares of 64 GPUs over time: `number`, `bin`, `share`; bins without work are left out."""
    work = _work(document).filter(pl.col("number").is_between(chunk * CHUNK, chunk * CHUNK + CHUNK - 1))
    bins = _tile(document, work, level, tile)
    return bins.select("number", "bin", share=(pl.col("covered_ns") / (1 << level)).cast(pl.Float32))


def mean_strip(document: Document, *, level: int, tile: int) -> pl.DataFrame:
    """The mean busy share of all GPUs that had work, over time."""
    sums = _tile(document, _work(document), level, tile).group_by("bin").agg(pl.col("covered_ns").sum()).sort("bin")
    count = max(1, _busy(document).gpus.height)
    share = (pl.col("covered_ns") / (count << level)).cast(pl.Float32)
    return sums.select(pl.lit(0, pl.UInt32).alias("number"), "bin", share=share)


def _coarse(document: Document) -> Iterator[dict[str, int]]:
    return coarse_tiles(grid_of(document), _EXPORTED_TILES)


def _few_chunks(document: Document) -> Iterator[dict[str, int]]:
    chunks = range(min(_EXPORTED_CHUNKS, -(-_busy(document).gpus.height // CHUNK)))
    return ({**tile, "chunk": chunk} for tile in _coarse(document) for chunk in chunks)


QUESTIONS = (
    PageQuestion("run_busy", busy_of_run, is_of_time=True),
    PageQuestion("run_strips", strips_of_run),
    PageQuestion("run_busy_mean", mean_strip, TILE, required=tuple(TILE), exported=_coarse),
    PageQuestion("run_busy_strips", strips, {**TILE, "chunk": place}, required=(*TILE, "chunk"), exported=_few_chunks),
)
