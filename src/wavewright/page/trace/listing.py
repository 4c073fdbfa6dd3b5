"""Columns next to the code rows: arrows to awaited rows, taken branches, latencies of memory operations, samples."""

from __future__ import annotations

import polars as pl

from wavewright.analysis.code.control_flow import branch_targets
from wavewright.analysis.trace.code.control_flow import taken_jumps
from wavewright.analysis.trace.listing import wait_arrows
from wavewright.analysis.trace.memory_latency import memory_latency
from wavewright.analysis.trace.waits import waits
from wavewright.model.document import Document
from wavewright.page.protocol.question import PageQuestion, once_per_document
from wavewright.page.protocol.serialize import doubles


@once_per_document
def arrows(document: Document) -> pl.DataFrame:
    """Pairs of a waiting row and a row that it waited for, over all waves.

    The pairs and their `count` are those of `isa_listing`. `stall_cycles_total` counts the executions in which this
    producer was the last to complete; distances and latencies are means, in cycles and instructions.
    """
    producers = waits(document.trace).producers.select(
        wait_row="row",
        producer_row="producer_row",
        counter="counter",
        last_count="last_count",
        stall_cycles_total=pl.col("last_count") * pl.col("last_stall_cycles_mean").fill_null(0),
        distance_cycles_mean="distance_cycles_mean",
        distance_instructions_mean="distance_instructions_mean",
        latency_cycles_mean="latency_cycles_mean",
    )
    keys = ["wait_row", "producer_row", "counter"]
    return doubles(wait_arrows(document.trace).join(producers, on=keys, how="left", maintain_order="left"))


def branches(document: Document) -> pl.DataFrame:
    """Pairs of a branch and the row that it jumped to, with the number of jumps over all waves.

    Captures of PC samples have no executed instructions: for them, all branches of the code, with a `count` of null.
    """
    if not document.trace.instructions.height:
        targets = branch_targets(document.trace.code).drop_nulls()
        return targets.select(from_row="row", to_row="target_row", count=pl.lit(None, pl.Float64))
    jumps = taken_jumps(document.trace)
    return jumps.select("from_row", "to_row", pl.col("taken_count").cast(pl.Float64).alias("count"))


@once_per_document
def row_latencies(document: Document) -> pl.DataFrame:
    """Latencies of memory operations by row: from the level counters where the trace has them, else from waits."""
    latencies = memory_latency(document.trace)
    columns = ["row", "sample_count", "latency_cycles_mean", "latency_cycles_sd"]
    counter_rows = latencies.from_counters.select(*columns, is_bound=pl.lit(value=False), origin=pl.col("counter"))
    others = latencies.by_row.join(counter_rows, on="row", how="anti")
    wait_rows = others.select(*columns, "is_bound", origin=pl.lit("waits"))
    return doubles(pl.concat([counter_rows, wait_rows]).sort("row"))


def samples(document: Document) -> pl.DataFrame:
    """Issued and stalled PC samples of each row that has any."""
    return doubles(document.trace.samples)


def sample_reasons(document: Document) -> pl.DataFrame:
    """Reasons why PC sampling saw each row not issued, the most frequent one first."""
    return doubles(document.trace.sample_reasons.sort("row", "count", "reason", descending=[False, True, False]))


QUESTIONS = (
    PageQuestion("arrows", arrows, is_of_time=True),
    PageQuestion("branches", branches, is_of_time=True),
    PageQuestion("row_latencies", row_latencies, is_of_time=True),
    PageQuestion("samples", samples),
    PageQuestion("sample_reasons", sample_reasons),
)
