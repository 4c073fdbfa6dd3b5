"""Thread traces as frames of events in the format of Pipit: waves, and the instructions in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from wavewright.export.kit.pipit_frames import pipit_frame

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped,import-not-found,unused-ignore]

    from wavewright.model.trace import ThreadTrace


def to_pipit(trace: ThreadTrace) -> pd.DataFrame:
    """The waves of a thread trace in the form of Pipit: `pipit.Trace(None, to_pipit(trace))` is a trace.

    `Process` is the shader engine, `Thread` the wave. A wave is entered where it starts and left where it ends, and so
    is every instruction in it, called by its mnemonic; `Domain` is WAVE or the class of the instruction. An instruction
    that lasts beyond its wave, as a store does, is left where the wave ends. Times are **cycles** of the shader clock,
    also in the column that Pipit calls `Timestamp (ns)`. Raises `MissingToolError` when pandas or pyarrow is not
    installed.
    """
    waves = trace.waves.select(
        "wave", rank=pl.col("se").cast(pl.Int64), thread=pl.col("wave").cast(pl.Int64), start_ns="start_cycles",
        end_ns=pl.max_horizontal("start_cycles", "end_cycles"),
    )  # fmt: skip
    code = trace.code.select("row", name="mnemonic", domain="class")
    instructions = trace.instructions.join(waves, on="wave", how="left", maintain_order="left").join(
        code, on="row", how="left", maintain_order="left"
    )
    end = pl.min_horizontal(pl.col("time_cycles") + pl.col("duration_cycles").clip(lower_bound=0), "end_ns")
    columns = ["name", "domain", "rank", "thread", "start_ns", "end_ns"]
    instruction_ranges = instructions.with_columns(
        pl.col("name", "domain").fill_null("?"), start_ns="time_cycles", end_ns=pl.max_horizontal("time_cycles", end)
    )
    wave_ranges = waves.with_columns(name=pl.lit("wave"), domain=pl.lit("WAVE"))
    ranges = pl.concat([wave_ranges.select(columns), instruction_ranges.select(columns)])
    return pipit_frame(ranges, ranges.clear().drop("end_ns"))
