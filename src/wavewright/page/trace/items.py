"""Details of single spans of a timeline: an instruction, a wave of any compute unit, an event, a marker."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
from wavewright.model.executions import is_execution
from wavewright.model.schema import EVENT_TYPES
from wavewright.model.trace import ThreadTrace
from wavewright.page.protocol.question import PageQuestion, no_answers, once_per_document
from wavewright.questions.kit.parameters import place

_MOST_STORED = 500  #: Items of a timeline whose details an exported page has.


def instruction(document: Document, *, item: int) -> dict[str, Any]:
    """An executed instruction: its wave, row and aligned times; `iteration` counts the executions of its row before it.

    Numbers behind the last instruction are memory instructions of neighbour SIMDs, which the track of pipes shows too.
    """
    trace = document.trace
    own_count = trace.instructions.height
    if item >= own_count and trace.other_simd.height:
        row = _row(trace.other_simd, item - own_count, "instruction")
        unknown = {"wave": None, "position": None, "row": -1, "stall_cycles": 0, "iteration": None}
        return {"item": item, **unknown, **_when(trace, row["se"], row)}
    row = _row(trace.instructions, item, "instruction")
    wave = trace.waves.filter(trace.waves["wave"] == row["wave"]).row(0, named=True)
    first = wave["first_instruction"] or 0
    until_here = trace.instructions.slice(first, item - first + 1)
    executions = until_here.select((is_execution() & (pl.col("row") == row["row"])).sum()).item()
    return {
        "item": item,
        "wave": row["wave"],
        "position": item - first,
        "row": row["row"],
        "stall_cycles": row["stall_cycles"],
        "iteration": executions - 1,
        **_when(trace, wave["se"], row),
    }


def _when(trace: ThreadTrace, se: int, row: dict[str, Any]) -> dict[str, Any]:
    """The aligned time of an instruction, its duration and its category."""
    time = row["time_cycles"] + _offset(trace, se)
    return {"time_cycles": time, "duration_cycles": row["duration_cycles"], "category": row["category"]}


def resident_wave(document: Document, *, item: int) -> dict[str, Any]:
    """A wave of any compute unit: where and when it ran, what launched it, its kernel with registers and LDS.

    `wave` is its number among the traced waves; null when its compute unit was not traced. Registers and LDS are those
    of the kernel, as in Summary and Occupancy limits; of an unknown kernel, those that the last dispatch of the same
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
    """A dispatch or another event of a shader engine with its recorded fields; registers and LDS are corrected."""
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
    """Conditions for rows with the same values in these columns; null matches nothing."""
    return [pl.col(name).eq(pl.lit(row[name])) & pl.col(name).is_not_null() for name in names]


def _start_of(trace: ThreadTrace, wave: dict[str, Any]) -> dict[str, Any]:
    """Launcher (`me`, `pipe`), workgroup and cluster from the occupancy event that started a wave; else null."""
    names = ("me", "pipe", "workgroup", "cluster")
    time = wave["start_cycles"] if wave["has_begin"] else 0  # waves from before the trace have their event at 0
    is_slot = _same(wave, "se", "cu", "simd", "slot")
    starts = trace.occupancy.filter(*is_slot, pl.col("start"), pl.col("time_cycles") == time)
    if not starts.height:
        return dict.fromkeys(names)
    start = starts.row(0, named=True)
    return {name: start[name] for name in names} | ({} if start["is_ext"] else {"workgroup": None, "cluster": None})


def _launch_of(trace: ThreadTrace, wave: dict[str, Any], start: dict[str, Any]) -> dict[str, Any]:
    """The last dispatch before a wave on the micro engine and pipe that launched it; empty = none was recorded."""
    dispatches = trace.dispatches.filter(
        *_same({**start, "se": wave["se"]}, "se", "me", "pipe"), pl.col("time_cycles") <= wave["start_cycles"]
    ).sort("time_cycles", maintain_order=True)
    return dispatches.row(-1, named=True) if dispatches.height else {}


def _resources(document: Document, kernel: int | None, launch: dict[str, Any]) -> dict[str, Any]:
    """Registers of a kernel, and LDS of one launch of it, which can be dynamic.

    A dispatch records allocations in granules, as AMD's decoder counts them: used only for what the kernel lacks.
    """
    facts, kernels = _known_resources(document)
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


@once_per_document
def _known_resources(document: Document) -> tuple[Arch | None, dict[int | None, Resources]]:
    """The facts about the GPU and the resources of each kernel; none where the GPU is unknown."""
    try:
        facts = architecture(document.trace, None).facts
    except UsageError:
        return None, {}
    kernels = kernel_resources(document.trace, facts, Resources())
    return facts, {kernel.kernel: kernel.resources for kernel in kernels if kernel.kernel is not None}


def _kernel_name(trace: ThreadTrace, kernel: int | None) -> str | None:
    names = trace.kernels.filter(_same({"kernel": kernel}, "kernel")).select(pl.coalesce("demangled", "name"))
    return names.item(0, 0) if names.height else None


def _traced(trace: ThreadTrace, row: dict[str, Any]) -> int | None:
    """The traced wave of the same slot that overlaps a row most; None = no traced wave does."""
    shared_cycles = pl.min_horizontal(pl.col("end_cycles"), pl.lit(row["end_cycles"])) - pl.max_horizontal(
        pl.col("start_cycles"), pl.lit(row["start_cycles"])
    )
    waves = trace.waves.filter(*_same(row, "se", "cu", "simd", "slot"), shared_cycles >= 0)
    return int(waves.sort(shared_cycles)["wave"][-1]) if waves.height else None


def _first_items(table: str) -> Callable[[Document], Iterator[dict[str, int]]]:
    """The `exported` of a question about the items of a table: the first of them."""
    return lambda document: ({"item": item} for item in range(min(item_counts(document.trace)[table], _MOST_STORED)))


_ITEM = {"item": place}
QUESTIONS = (
    # An exported page reads instructions from the answers to `wave`.
    PageQuestion("instruction", instruction, _ITEM, required=("item",), exported=no_answers),
    PageQuestion("resident_wave", resident_wave, _ITEM, required=("item",), exported=_first_items("waves")),
    PageQuestion("event", event, _ITEM, required=("item",), exported=_first_items("events")),
    PageQuestion("marker", marker, _ITEM, required=("item",), exported=_first_items("markers")),
    PageQuestion("shader_value", shader_value, _ITEM, required=("item",), exported=_first_items("shader_data")),
)
