"""realtime.json: pairs of shader clock and wall clock, and the table of the shader engines."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, field

import polars as pl

from wavewright import _core
from wavewright.model.losses import Loss
from wavewright.model.schema import THREAD_TRACE, empty_frame, frame_of
from wavewright.readers.files.folder import Folder
from wavewright.readers.trace.ui_output.parts import decoded, engine_number, fitting, json_members, read_bytes, whole

FILE_NAME = "realtime.json"


@dataclass
class ClockFile:
    """The contents of realtime.json."""

    realtime: pl.DataFrame
    frequency_hz: int = 0  #: Of the wall clock; 0 = not recorded.
    engines: set[int] = field(default_factory=set)
    losses: list[Loss] = field(default_factory=list)


def read_clocks(folder: Folder) -> ClockFile:
    """Read realtime.json; older writers have none."""
    clocks = ClockFile(empty_frame(THREAD_TRACE["realtime"]))
    content = read_bytes(folder, FILE_NAME, clocks.losses) if FILE_NAME in folder.names() else None
    if content is None:
        return clocks
    parts, malformed_count = [], 0
    for key, text in json_members(content, FILE_NAME, clocks.losses):
        if key == b"metadata":
            metadata = decoded(text, FILE_NAME, clocks.losses)
            frequency_hz = whole(metadata.get("frequency")) if isinstance(metadata, dict) else None
            clocks.frequency_hz = frequency_hz if frequency_hz and 0 < frequency_hz < 1 << 63 else 0
        se = engine_number(key.removeprefix(b"SE")) if key.startswith(b"SE") else None
        if se is None:
            continue
        clocks.engines.add(se)
        rows, unreadable, _ = _core.read_integer_rows(text, 2, 2)
        malformed_count += unreadable
        parts.append(pl.DataFrame(rows).select(pl.lit(se).alias("se"), pl.all()))
    if parts:
        pairs = pl.concat(parts, rechunk=True).sort("se", maintain_order=True)
        clocks.realtime, unfit = fitting("realtime", pairs, {"shader_clock_cycles": 0, "realtime_ticks": 1}, ["se"])
        malformed_count += unfit
    if malformed_count:
        clocks.losses.append(Loss("malformed_rows", malformed_count, detail=FILE_NAME))
    return clocks


def shader_engine_table(engines: Set[int], gfxip: int, frequency_hz: int, waves: pl.DataFrame) -> pl.DataFrame:
    """The `shader_engines` table; columns that only a raw file records are null.

    PC samples belong to no shader engine: then one row without a number holds the generation.
    """
    spec = THREAD_TRACE["shader_engines"]
    facts = {"status": "ok", "gfxip": gfxip, "realtime_hz": frequency_hz}
    numbers: list[int | None] = [*sorted(engines)] if engines else [None]
    targets = waves.group_by("se").agg(pl.col("cu").min().alias("target_cu"))
    table = frame_of(spec, [{"se": se, **facts} for se in numbers]).drop("target_cu")
    return table.join(targets, on="se", how="left", maintain_order="left").select(spec.names)
