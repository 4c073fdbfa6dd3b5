"""Details of single spans of a timeline: an instruction, a wave of any compute unit, an event, a marker."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from wavewright.analysis.common.occupancy.architecture import architecture
from wavewright.analysis.common.occupancy.limits import Resources
from wavewright.analysis.trace.clocks import alignment
from wavewright.analysis.trace.code.marker_scopes import marker_scopes
from wavewright.analysis.trace.occupancy.resources import kernel_resources, lds_of_launch
from wavewright.analysis.trace.timeline.layers import item_counts
from wavewright.analysis.trace.timeline.layers.event_layer import all_events
from wavewright.analysis.trace.waves.resident import resident_waves
from wavewright.errors import UsageError
from wavewright.facts.gpus.facts import Arch
from wavewright.model.document import Document
from wavewright.model.schema import EVENT_TYPES
from wavewright.model.trace import ThreadTrace
from wavewright.page.protocol.question import PageQuestion
from wavewright.questions.kit.parameters import place

_MOST_HELD = 500  #: Maximum number of items of a timeline whose details are in an exported page.


def instruction(document: Document, *, item: int) -> dict[str, Any]:
    """An executed instruction: its wave, its row, aligned times, and which execution of its row in the wave it is.

    Items behind the last instruction are the memory instructions of neighbour SIMDs that the track of pipes also shows.
    """
    trace = document.trace
    own_count = trace.instructions.height
    if item >= own_count and trace.other_simd.height:
        return _neighbour(trace, _row(trace.other_simd, item - own_count, "instruction"), item)
    row = _row(trace.instructions, item, "instruction")
    wave = trace.waves.filter(trace.waves["wave"] == row["wave"]).row(0, named=True)
    first = wave["first_instruction"] or 0
    before = trace.instructions["row"].slice(first, item - first)
    return {
        "item": item,
        "wave": row["wave"],
        "position": item - first,
        "row": row["row"],
        "time_cycles": row["time_cycles"] + _offset(trace, wave["se"]),
        "stall_cycles": row["stall_cycles"],
        "duration_cycles": row["duration_cycles"],
        "category": row["category"],
        "iteration": int((before == row["row"]).sum()),
    }


def resident_wave(document: Document, *, item: int) -> dict[str, Any]:
    """A wave of any compute unit: where and when it ran, who launched it, its kernel with registers and LDS.

    `wave` is its number among the traced waves; null when its compute unit was not traced. Registers and LDS are those
    of the kernel, as Summary and Occupancy limits tell them; where it is not known, what the last dispatch of the same
    micro engine and pipe recorded.
    """
    trace = document.trace
    wave = _row(resident_waves(trace), item, "wave")
    offset = _offset(trace, wave["se"])
    start = _start_of(trace, wave)
    return {
        "item": item,
        **wave,
        "start_cycles": wave["start_cycles"] + offset,
        "end_cycles": wave["end_cycles"] + offset,
        **start,
        "kernel_name": _kernel_name(trace, wave["kernel"]),
        **_resources(document, wave["kernel"], _launch_of(trace, wave, start)),
        "wave": _traced(trace, wave),
    }


def event(document: Document, *, item: int) -> dict[str, Any]:
    """A dispatch or another event of a shader engine, with all that was recorded of it; registers and LDS corrected."""
    trace = document.trace
    row = _row(all_events(trace), item, "event")
    dispatch, kind = row.pop("dispatch"), row.pop("kind")
    result: dict[str, Any] = {"item": item, **row, "type": EVENT_TYPES.get(kind, f"event {kind}")}
    if dispatch is not None:
        result |= trace.dispatches.row(dispatch, named=True)
        result |= {"type": "DISPATCH", "kernel_name": _kernel_name(trace, result["kernel"])}
        result["address"] = f"0x{result['address'] or 0:x}"
        result |= _resources(document, result["kernel"], result)
    result["time_cycles"] += _offset(trace, result["se"])
    return result | {name: str(result[name]) for name in ("payload", "code_object") if result.get(name) is not None}


def marker(document: Document, *, item: int) -> dict[str, Any]:
    """A marker scope or point: name, kind, place in the source, depth and aligned times."""
    trace = document.trace
    scope = _row(marker_scopes(trace).scopes, item, "marker")
    offset = _offset(trace, scope["se"])
    times = {name: scope[name] + offset for name in ("start_cycles", "end_cycles")}
    return {"item": item, **scope, **times, "wave": _traced(trace, scope)}


def shader_value(document: Document, *, item: int) -> dict[str, Any]:
    """A value that a wave wrote into the trace."""
    trace = document.trace
    row = _row(trace.shader_data, item, "value")
    time = row["time_cycles"] + _offset(trace, row["se"])
    return {"item": item, **row, "time_cycles": time, "value": f"0x{row['value'] or 0:x}"}


def _row(table: pl.DataFrame, item: int, name: str) -> dict[str, Any]:
    if not 0 <= item < table.height:
        raise UsageError(f"there is no {name} {item}")
    return table.row(item, named=True)


def _offset(trace: ThreadTrace, se: int) -> int:
    return alignment(trace).offset(se)


def _same(row: dict[str, Any], *names: str) -> list[pl.Expr]:
    """Conditions for a row with the same values; of unknown ones nothing is the same."""
    return [pl.col(name).eq(pl.lit(row[name])) & pl.col(name).is_not_null() for name in names]


def _neighbour(trace: ThreadTrace, row: dict[str, Any], item: int) -> dict[str, Any]:
    return {
        "item": item,
        "wave": None,
        "position": None,
        "row": -1,
        "time_cycles": row["time_cycles"] + _offset(trace, row["se"]),
        "stall_cycles": 0,
        "duration_cycles": row["duration_cycles"],
        "category": row["category"],
        "iteration": None,
    }


def _start_of(trace: ThreadTrace, wave: dict[str, Any]) -> dict[str, Any]:
    """The occupancy event that started a wave, without its time."""
    names = ("me", "pipe", "workgroup", "cluster")
    time = wave["start_cycles"] if wave["has_begin"] else 0
    starts = trace.occupancy.filter(
        *_same(wave, "se", "cu", "simd", "slot"),
        pl.col("start"),
        pl.col("time_cycles") == time,
    )
    if not starts.height:
        return dict.fromkeys(names)
    start = starts.row(0, named=True)
    return {name: start[name] for name in names} | ({} if start["is_ext"] else {"workgroup": None, "cluster": None})


def _launch_of(trace: ThreadTrace, wave: dict[str, Any], start: dict[str, Any]) -> dict[str, Any]:
    """The last dispatch before a wave from the micro engine and pipe that started it; empty when none was seen."""
    dispatches = trace.dispatches.filter(
        *_same({**start, "se": wave["se"]}, "se", "me", "pipe"),
        pl.col("time_cycles") <= wave["start_cycles"],
    ).sort("time_cycles", maintain_order=True)
    return dispatches.row(-1, named=True) if dispatches.height else {}


def _resources(document: Document, kernel: int | None, launch: dict[str, Any]) -> dict[str, Any]:
    """Registers and LDS of a kernel, and of one launch of it where that may differ: LDS can be dynamic.

    What a dispatch records is an allocation in granules, counted as AMD's decoder counts them; the kernel knows better.
    """
    facts, kernels = document.kept("kernel resources", lambda: _known_resources(document.trace))
    launch_resources = {name: launch.get(name) for name in ("vgprs", "sgprs", "lds_bytes")} | {"agprs": None}
    resources = kernels.get(kernel)
    if facts is None or resources is None:
        return launch_resources
    lds = resources.lds_bytes
    if launch.get("lds_bytes") is not None:
        static = document.trace.kernels.filter(_same({"kernel": kernel}, "kernel"))["lds_bytes"][0]
        lds = lds_of_launch(facts, static, launch["lds_bytes"])
    values = {"vgprs": resources.vgprs, "sgprs": resources.sgprs, "agprs": resources.agprs or None, "lds_bytes": lds}
    return launch_resources | {name: value for name, value in values.items() if value is not None}


def _known_resources(trace: ThreadTrace) -> tuple[Arch | None, dict[int | None, Resources]]:
    """Resources of the kernels of a trace; nothing where its GPU is unknown."""
    try:
        facts = architecture(trace, None).facts
    except UsageError:
        return None, {}
    kernels = kernel_resources(trace, facts, Resources())
    return facts, {kernel.kernel: kernel.resources for kernel in kernels if kernel.kernel is not None}


def _kernel_name(trace: ThreadTrace, kernel: int | None) -> str | None:
    names = trace.kernels.filter(_same({"kernel": kernel}, "kernel")).select(pl.coalesce("demangled", "name"))
    return names.item(0, 0) if names.height else None


def _traced(trace: ThreadTrace, row: dict[str, Any]) -> int | None:
    """The traced wave of that slot that shares most time."""
    shared_cycles = pl.min_horizontal(pl.col("end_cycles"), pl.lit(row["end_cycles"])) - pl.max_horizontal(
        pl.col("start_cycles"), pl.lit(row["start_cycles"])
    )
    waves = trace.waves.filter(*_same(row, "se", "cu", "simd", "slot"), shared_cycles >= 0)
    return int(waves.sort(shared_cycles)["wave"][-1]) if waves.height else None


def _few(table: str) -> Any:
    """The items of a table in an exported page."""

    def held(document: Document) -> Iterator[dict[str, int]]:
        count = item_counts(document.trace)[table]
        return ({"item": item} for item in range(min(count, _MOST_HELD)))

    return held


def _none(document: Document) -> tuple[dict[str, int], ...]:
    """Too many: an exported page finds them in the answers about waves."""
    del document
    return ()


_ITEM = {"item": place}
QUESTIONS = (
    PageQuestion("instruction", instruction, _ITEM, ("item",), _none),
    PageQuestion("resident_wave", resident_wave, _ITEM, ("item",), _few("waves")),
    PageQuestion("event", event, _ITEM, ("item",), _few("events")),
    PageQuestion("marker", marker, _ITEM, ("item",), _few("markers")),
    PageQuestion("shader_value", shader_value, _ITEM, ("item",), _few("shader_data")),
)
