"""occupancy.json: every start and end of a wave, their kernels and (schema 3.1) dispatches and events."""

from __future__ import annotations

from typing import Any

import msgspec
import polars as pl

from wavewright.export.kit.json_text import encode, integer_rows
from wavewright.export.trace.ui_output.kernel_ids import KernelIds, KernelNames
from wavewright.facts.loader import packaged
from wavewright.model.trace import ThreadTrace

#: Fields of an occupancy row -> columns; schema 3.0 has the first six (spec_ui_output 5.2).
_FIELDS: dict[str, str] = packaged("fields.toml", __package__)["occupancy"]

#: AMD's decoder leaves it 0, and the packet address of a dispatch too, so our tables do not have it (differences.md).
_NOT_IN_TABLES = {"byte_offset": 0}

_EVENT_FIELDS: dict[str, str] = packaged("fields.toml", __package__)["events"]
_DISPATCH_FIELDS: dict[str, str] = packaged("fields.toml", __package__)["dispatches"]


def occupancy_json(trace: ThreadTrace, kernel_ids: KernelIds, *, extended: bool = False) -> bytes:
    """The bytes of occupancy.json; kernels that are met for the first time get numbers from `kernel_ids`."""
    names = KernelNames(trace)
    occupancy = trace.occupancy.sort("se", maintain_order=True)
    events = occupancy.with_columns(kernel_id=_kernel_numbers(occupancy, kernel_ids, names))
    fields = list(_FIELDS.values())[: 11 if extended else 6]
    rows = events.select("se", pl.col(*fields).fill_null(0).cast(pl.Int64))
    document: dict[str, Any] = {
        str(se): msgspec.Raw(integer_rows(part.drop("se")))
        for (se,), part in rows.partition_by("se", as_dict=True, maintain_order=True).items()
    }
    if extended:
        document |= {"occupancy_fields": list(_FIELDS), "events": _events(trace, kernel_ids, names)}
    document["version"] = "3.1.0" if extended else "3.0.0"
    document["dispatches"] = {str(number): name for number, name in kernel_ids.names.items()}
    return encode(document)


def _kernel_numbers(entered: pl.DataFrame, kernel_ids: KernelIds, names: KernelNames) -> pl.Series:
    """A kernel number for each row of a frame with the columns `code_object`, `address` and `kernel`.

    Kernels differ by their entry; those of a decoded directory that only have a name, by their name.
    """
    places = entered.select(pl.col("code_object", "address").fill_null(0), "kernel")
    has_place = (pl.col("code_object") != 0) | (pl.col("address") != 0)
    places = places.with_columns(pl.when(~has_place).then("kernel").alias("kernel"))
    entries = places.unique(maintain_order=True)
    numbers = [
        kernel_ids.number((code_object, address), names.of((code_object, address)))
        if kernel is None
        else kernel_ids.number(names.of_kernel(kernel), names.of_kernel(kernel))
        for code_object, address, kernel in entries.iter_rows()
    ]
    table = entries.with_columns(pl.Series("kernel_id", numbers, pl.Int64))
    return places.join(table, on=entries.columns, how="left", nulls_equal=True, maintain_order="left")["kernel_id"]


def _events(trace: ThreadTrace, kernel_ids: KernelIds, names: KernelNames) -> dict[str, list[dict[str, Any]]]:
    """SE -> dispatches and events by time."""
    items: list[tuple[int, int, dict[str, Any]]] = []  # shader engine, cycle, dispatch or event
    numbers = _kernel_numbers(trace.dispatches, kernel_ids, names)
    for row, number in zip(trace.dispatches.iter_rows(named=True), numbers, strict=True):
        entry = row["code_object"] or 0, row["address"] or 0
        dispatch = {key: row[column] for key, column in _DISPATCH_FIELDS.items() if row[column] is not None}
        dispatch |= {"kind": "dispatch", "kernel_id": number, "kernel_name": names.of(entry)}
        dispatch |= _NOT_IN_TABLES | {"dispatch_pkt_addr": 0}
        dispatch["entry_point"] = {"code_object_id": entry[0], "address": entry[1]}
        items.append((row["se"], row["time_cycles"], dispatch))
    for row in trace.events.iter_rows(named=True):
        event = {key: row[column] for key, column in _EVENT_FIELDS.items()}
        event |= _NOT_IN_TABLES | {"kind": "event", "payload": row["payload"]}
        items.append((row["se"], row["time_cycles"], event))
    by_se: dict[str, list[dict[str, Any]]] = {}
    for se, _, item in sorted(items, key=lambda entry: entry[:2]):
        by_se.setdefault(str(se), []).append(item)
    return by_se
