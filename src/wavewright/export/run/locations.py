"""Processes and threads of a run by small numbers, as tools for traces of MPI programs name them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from wavewright.model.run import Run


def process_numbers(run: Run) -> pl.DataFrame:
    """`process` with `rank`: the rank where all processes have different ones, else 0, 1, 2, ..."""
    processes = run.read("processes", ["process", "rank"])
    ranks = processes["rank"]
    if ranks.null_count() or ranks.n_unique() < ranks.len():
        processes = processes.with_columns(rank=pl.int_range(pl.len(), dtype=pl.Int32))
    return processes


def thread_numbers(run: Run) -> pl.DataFrame:
    """`thread` with `number`: 0, 1, 2, ... within its process, in the order of thread ids."""
    threads = run.read("threads", ["thread", "process", "tid"]).sort("process", "tid", "thread")
    return threads.select("thread", number=pl.int_range(pl.len(), dtype=pl.Int64).over("process"))
