"""The ports of a SIMD: which instruction takes one for how long, and which stalls are nothing but a taken port."""

from __future__ import annotations

import polars as pl

from wavewright import _core
from wavewright.analysis.trace.pipes import matrix_rows
from wavewright.analysis.trace.pipes.passes import pipe_cycles_of_rows
from wavewright.analysis.trace.selection import traced_waves
from wavewright.model.answer import once_per_trace
from wavewright.model.trace import ThreadTrace


@once_per_trace
def port_rules(trace: ThreadTrace) -> dict[str, pl.Series]:
    """Code rows that are matrix instructions, and the time that each takes its port, as the native core takes them."""
    code = trace.code.sort("row")
    return {"is_matrix": matrix_rows(code).cast(pl.UInt8), "port_cycles": pipe_cycles_of_rows(trace)}


def placed_waves(part: ThreadTrace) -> pl.DataFrame:
    """Waves with instructions, their CUs and SIMDs numbered, as the native core takes them."""
    number = pl.col("cu", "simd").rank("dense").cast(pl.UInt32) - 1
    return (
        traced_waves(part)
        .with_columns(cu=pl.struct("se", "cu"), simd=pl.struct("se", "cu", "simd"))
        .with_columns(number)
        .select("wave", "first_instruction", "instruction_count", "start_cycles", "end_cycles", "cu", "simd")
    )


def port_was_busy(part: ThreadTrace, rules: dict[str, pl.Series], issue_cycles: int) -> pl.Series:
    """True if the port of each instruction was taken for at least half of its stall (1) or not (0)."""
    names = ("time_cycles", "stall_cycles", "duration_cycles", "row", "category")
    instructions = {name: part.instructions[name] for name in names}
    waves = placed_waves(part).drop("wave").to_dict()
    return pl.DataFrame(_core.port_was_busy(instructions, waves, rules, issue_cycles)).to_series()
