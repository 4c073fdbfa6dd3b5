"""Traces made by hand: a few code rows, a few executed instructions."""

from __future__ import annotations

from typing import Any

import polars as pl

from wavewright.codeobj.classes import classify_frame
from wavewright.codeobj.operands import with_operands
from wavewright.model.schema import THREAD_TRACE
from wavewright.model.trace import ThreadTrace, TraceSource

CATEGORY = {
    "SMEM": 1,
    "SALU": 2,
    "VMEM": 3,
    "FLAT": 4,
    "LDS": 5,
    "VALU": 6,
    "JUMP": 7,
    "NEXT": 8,
    "IMMED": 9,
    "MSG": 11,
}


def frame(table: str, columns: dict[str, Any]) -> pl.DataFrame:
    """A frame of the declared schema; columns that are not given are null."""
    height = len(next(iter(columns.values())))
    return pl.DataFrame(
        {
            spec.name: pl.Series(columns.get(spec.name, [None] * height), dtype=getattr(pl, spec.dtype))
            for spec in THREAD_TRACE[table].columns
        }
    )


def small_trace(
    texts: list[str], steps: list[tuple[Any, ...]], *, target: str = "gfx942", places: list[str] | None = None
) -> ThreadTrace:
    """A trace of `texts` as code; a step is (row, category, time, stall, duration[, wave]); waves begin at 0.

    `places` are the inline chains of the texts.
    """
    gfxip = int(target[3:-2])
    code = frame("code", {"row": range(len(texts)), "text": texts, "address": [8 * n for n in range(len(texts))]})
    chains = pl.Series("inline_chain", places or [None] * len(texts), pl.String)
    code = with_operands(classify_frame(code, target), target).with_columns(
        chains,
        chains.str.extract(r"^(.*?):\d+").alias("file"),
        chains.str.extract(r"^.*?:(\d+)").cast(pl.UInt32).alias("line"),
        mnemonic=pl.col("text").str.extract(r"^(\S+)"),
    )
    full = [(step[5] if len(step) > 5 else 0, *step[:5]) for step in steps]
    instructions = frame(
        "instructions",
        {
            "wave": [step[0] for step in full],
            "row": [step[1] for step in full],
            "category": [CATEGORY[step[2]] for step in full],
            "time_cycles": [step[3] for step in full],
            "stall_cycles": [step[4] for step in full],
            "duration_cycles": [step[5] for step in full],
        },
    )
    numbers = instructions["wave"].unique(maintain_order=True)
    waves = frame(
        "waves",
        {
            "wave": numbers,
            "se": [0] * len(numbers),
            "cu": [1] * len(numbers),
            "simd": [n % 4 for n in range(len(numbers))],
            "slot": [0] * len(numbers),
            "start_cycles": [0] * len(numbers),
            "end_cycles": [1 << 20] * len(numbers),
            "complete": [True] * len(numbers),
        },
    )
    engines = frame("shader_engines", {"se": [0], "gfxip": [gfxip], "target_cu": [1], "counter_interval_cycles": [0]})
    tables = {
        "code": code.select(spec.name for spec in THREAD_TRACE["code"].columns),
        "instructions": instructions.select(spec.name for spec in THREAD_TRACE["instructions"].columns),
        "waves": waves,
        "shader_engines": engines,
    }
    return ThreadTrace(tables, TraceSource(path="small", target=target))
