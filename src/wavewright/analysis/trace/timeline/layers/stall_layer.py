"""The stalled part of executed instructions on the slots of their waves, by stall class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from wavewright.analysis.common.timeline import Timeline
from wavewright.analysis.trace.selection import whole_of
from wavewright.analysis.trace.timeline.layers.instructions import instructions
from wavewright.analysis.trace.timeline.layers.places import aligned, slot_tracks, track_of
from wavewright.analysis.trace.waits.stall_rows import class_names
from wavewright.analysis.trace.waits.wait_producers import each_instruction
from wavewright.facts.stall_classes import stall_class
from wavewright.model.answer import once_per_trace

if TYPE_CHECKING:
    from wavewright.model.trace import ThreadTrace


@dataclass(frozen=True)
class _Classes:
    names: tuple[str, ...]  #: The class with most stall first.
    cycles: tuple[int, ...]
    of_stalled: pl.Series  #: Place in `names` of every instruction that stalled.


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
        spans=lambda: _spans(trace, tracks),
    )  # fmt: skip


def stalled_spans(trace: ThreadTrace, tracks: pl.DataFrame) -> pl.DataFrame:
    """Track, start, end and item of the stalled part of every instruction that stalled."""
    waves = trace.waves.select("wave", "se", track_of(tracks, trace.waves))
    stalled = _stalled(trace).join(waves, on="wave", how="left", maintain_order="left")
    begin = aligned(trace, "time_cycles")
    return stalled.select(
        "track", begin.alias("begin"), (begin + pl.col("stall_cycles").cast(pl.Int64)).alias("end"), "item"
    )


def _stalled(trace: ThreadTrace) -> pl.DataFrame:
    columns = trace.instructions.select("wave", "time_cycles", "stall_cycles")
    return columns.with_row_index("item").with_columns(pl.col("item").cast(pl.Int32)).filter(pl.col("stall_cycles") > 0)


def _spans(trace: ThreadTrace, tracks: pl.DataFrame) -> pl.DataFrame:
    kind = _classes(trace).of_stalled.cast(pl.UInt16)
    return stalled_spans(trace, tracks).with_columns(kind.alias("kind")).drop_nulls("track")


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
    names = pl.Series("class", class_names(groups, whole.code), pl.String)
    stalled = _stalled(trace).select("stall_cycles", group=group.gather(_stalled(trace)["item"]))
    of_stalled = names.gather(stalled["group"])
    cycles = pl.col("stall_cycles").cast(pl.Int64).sum()
    sums = pl.DataFrame([of_stalled, stalled["stall_cycles"]]).group_by("class").agg(cycles)
    sums = sums.sort("stall_cycles", "class", descending=[True, False])
    places = {name: place for place, name in enumerate(sums["class"])}
    return _Classes(
        tuple(sums["class"]),
        tuple(sums["stall_cycles"]),
        of_stalled.replace_strict(list(places), list(places.values()), default=0, return_dtype=pl.Int64),
    )
