"""The stalled part of executed instructions on the slots of their waves, by stall class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from wavewright import _core
from wavewright.analysis.common.timeline import LayerNumbers, Timeline
from wavewright.analysis.trace.selection import whole_of
from wavewright.analysis.trace.timeline.layers.instructions import instruction_waves, instructions
from wavewright.analysis.trace.timeline.layers.tracks import slot_tracks
from wavewright.analysis.trace.waits.stall_rows import class_names
from wavewright.analysis.trace.waits.wait_producers import each_instruction
from wavewright.facts.stall_classes import stall_class
from wavewright.model.answer import once_per_trace
from wavewright.model.trace import ThreadTrace


@dataclass(frozen=True)
class _Classes:
    names: tuple[str, ...]  #: The class with most stall first.
    cycles: tuple[int, ...]
    group: pl.Series  #: Of every instruction.
    of_group: pl.Series  #: Place of a group in `names`.


def stalls(trace: ThreadTrace) -> Timeline | None:
    """From the first attempt to issue to the end of the stall; items are rows of `instructions`.

    Its kinds are found when they are asked for: they take a pass over all instructions. None where damaged waves point
    outside of the instructions: nobody knows what those stalled on.
    """
    ends = [pl.col(name).fill_null(0).cast(pl.Float64) for name in ("first_instruction", "instruction_count")]
    if trace.waves.select((ends[0] + ends[1] > trace.instructions.height).any()).item():
        return None
    executed = instructions(trace)
    tracks = slot_tracks(trace, trace.waves.clear()) if executed.tracks is None else executed.tracks
    return Timeline(
        "stalls", "Stalls", "cycles", executed.begin, executed.end, executed.cell_bits,
        tracks=tracks, tracks_of=executed.name, late_kinds=lambda: _kinds(trace),
        pyramid=lambda layer: _pyramid(trace, tracks, layer),
    )  # fmt: skip


def _pyramid(trace: ThreadTrace, tracks: pl.DataFrame, layer: LayerNumbers) -> _core.SpanPyramid:
    classes, waves = _classes(trace), instruction_waves(trace, tracks)
    return _core.stalled_pyramid(layer, waves, trace.instructions, classes.group, classes.of_group)


def _kinds(trace: ThreadTrace) -> tuple[dict[str, Any], ...]:
    classes = _classes(trace)
    return tuple(
        {"kind": kind, "name": name, "colour": f"class {name}", "meaning": stall_class(name).meaning, "cycles": cycles}
        for kind, (name, cycles) in enumerate(zip(classes.names, classes.cycles, strict=True))
    )


@once_per_trace
def _classes(trace: ThreadTrace) -> _Classes:
    """The class of every execution that stalled, as `stalls` sums them up."""
    whole, is_selected = whole_of(trace)  # what was waited for may lie outside of a part
    each, groups = each_instruction(whole, whole)
    group = each["group"] if is_selected is None else each["group"].filter(is_selected)
    names = class_names(groups, whole.code)
    stall = pl.DataFrame([group, trace.instructions["stall_cycles"]]).lazy().filter(pl.col("stall_cycles") > 0)
    of_groups = stall.group_by("group").agg(pl.col("stall_cycles").cast(pl.Int64).sum()).collect(engine="streaming")
    of_classes = of_groups.with_columns(pl.Series("class", names, pl.String).gather(of_groups["group"]))
    sums = of_classes.group_by("class").agg(pl.col("stall_cycles").sum())
    sums = sums.sort("stall_cycles", "class", descending=[True, False])
    places = {name: place for place, name in enumerate(sums["class"])}
    of_group = pl.Series([places.get(name, 0) for name in names], dtype=pl.UInt16)
    return _Classes(tuple(sums["class"]), tuple(sums["stall_cycles"]), group, of_group)
