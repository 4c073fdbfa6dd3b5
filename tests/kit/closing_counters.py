"""Made counters that close with a trace: those of its instructions, scaled to the grid."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from synth.kernel_work import KernelWork
from wavewright.analysis.trace.diagnose.balance import traced_work
from wavewright.facts.counters.closure import PREDICTED_COUNTERS
from wavewright.model.trace import ThreadTrace


def closing(trace: ThreadTrace, work: KernelWork) -> KernelWork:
    """The work with the executed instructions of the trace instead of its own."""
    traced = traced_work(trace)
    counters = {}
    for name, fact in PREDICTED_COUNTERS.items():
        if not fact.lanes:
            rows = traced.executions.filter(pl.col("class").is_in(fact.classes) | pl.lit("*" in fact.classes))
            counters[name] = round(work.waves * rows["execution_count"].sum() / traced.wave_count)
    return replace(work, counters={**work.counters, **counters})
