"""The traced waves, and the instructions of one of them."""

from __future__ import annotations

from typing import Any

import polars as pl

from wavewright.analysis.trace.clocks import alignment
from wavewright.analysis.trace.listing import waits_of_wave
from wavewright.analysis.trace.waves.by_place import stall_of_waves
from wavewright.errors import UsageError
from wavewright.model.document import Document
from wavewright.page.protocol.question import PageQuestion, once_per_document
from wavewright.page.trace.times import aligned
from wavewright.questions.kit.parameters import place


@once_per_document
def waves(document: Document) -> pl.DataFrame:
    """All traced waves, with aligned start and end and the stall of their instructions."""
    trace = document.trace
    stall = stall_of_waves(trace)
    frame = trace.waves.sort("wave").join(stall, on="wave", how="left", maintain_order="left")
    return frame.select(
        "wave", "se", "cu", "simd", "slot", "slot_wave",
        aligned(trace, "start_cycles").cast(pl.Float64), aligned(trace, "end_cycles").cast(pl.Float64),
        "kernel", "me", "pipe", "workgroup", "complete",
        pl.col("first_instruction").fill_null(0).cast(pl.Float64), "instruction_count",
        pl.col("stall_cycles_total").fill_null(0).cast(pl.Float64),
    )  # fmt: skip


def wave(document: Document, *, wave: int) -> pl.DataFrame:
    """The instructions of one wave in the order of their rows, with aligned times."""
    first, count, se = _instructions_of(document, wave)
    offset = alignment(document.trace).offset(se)
    return document.trace.instructions.slice(first, count).select(
        (pl.col("time_cycles") + offset).cast(pl.Float64), "stall_cycles", "duration_cycles", "category", "row"
    )


def wave_waits(document: Document, *, wave: int) -> pl.DataFrame:
    """The waits of one wave: the positions of wait and producer among its instructions."""
    first, count, _ = _instructions_of(document, wave)
    names = (pl.col("instruction").cast(pl.Int32), "row", pl.col("producer").cast(pl.Int32), "producer_row", "counter")
    return waits_of_wave(document.trace, wave, first, count).select(names)


def annotations_of_others(document: Document) -> list[dict[str, Any]]:
    """Annotations that another tool stored in the trace, with aligned times; their texts are untrusted input."""
    frame = document.trace.annotations
    return frame.with_columns(aligned(document.trace, name) for name in ("start_cycles", "end_cycles")).to_dicts()


def _instructions_of(document: Document, wave: int) -> tuple[int, int, int]:
    """First row and number of the instructions of a wave, and its shader engine."""
    row = document.trace.waves.filter(pl.col("wave") == wave)
    if wave < 0 or not row.height:
        raise UsageError(f"there is no wave {wave}")
    first, count, se = row.select("first_instruction", "instruction_count", "se").row(0)
    return first or 0, count or 0, se


def _every_wave(document: Document) -> list[dict[str, int]]:
    return [{"wave": number} for number in document.trace.waves["wave"].to_list()]


QUESTIONS = (
    PageQuestion("waves", waves),
    PageQuestion("wave", wave, {"wave": place}, required=("wave",), exported=_every_wave),
    PageQuestion("annotations", annotations_of_others),
    PageQuestion("wave_waits", wave_waits, {"wave": place}, required=("wave",), exported=_every_wave),
)
