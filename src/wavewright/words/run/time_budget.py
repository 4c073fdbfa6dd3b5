"""The time budget of a run in words."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from wavewright.analysis.run.diagnose.budget import TimeBudget
from wavewright.base.words import counted, duration, percent
from wavewright.model.blocks import GAP, AnyBlock, headline, sentence
from wavewright.words.kit.declared_tables import declared_table
from wavewright.words.run.place_names import gpu_cell


def budget_report(answer: TimeBudget, *, limit: int = 20) -> Iterator[AnyBlock]:
    """The parts of the time, which add up to all of it, and the same for each GPU."""
    if not answer.parts.height:
        yield headline("no GPU work was recorded")
        return
    shares = dict(answer.parts.select("part", "share").iter_rows())
    yield sentence((_verdict(answer, shares), "bold"))
    yield GAP
    yield declared_table("run/time_budget/budget", answer.parts)
    if answer.gpus.height > 1:
        yield GAP
        window = pl.when(pl.col("window_ns") > 0).then("window_ns")
        parts = (
            pl.col(name) / window
            for name in ("computation_ns", "exposed_communication_ns", "exposed_copy_ns", "idle_ns")
        )
        several = answer.gpus["node"].n_unique() > 1
        yield declared_table(
            "run/time_budget/gpu", answer.gpus.with_columns(parts), limit=limit, gpu=gpu_cell(several=several)
        )


def _verdict(answer: TimeBudget, shares: dict[str, float]) -> str:
    busy = 1 - shares["idle"]
    inside = ", ".join(f"{part} {percent(share)}" for part, share in shares.items() if part != "idle" and share)
    who = f"{counted(answer.gpus.height, 'GPUs')} busy" if answer.gpus.height > 1 else "GPU busy"
    return (
        f"{who} {percent(busy)} of {duration(answer.window_ns)} ({inside or 'nothing'}), idle {percent(shares['idle'])}"
    )
