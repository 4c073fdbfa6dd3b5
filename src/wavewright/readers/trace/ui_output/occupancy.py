"""occupancy.json: starts and ends of waves, their kernels, and (schema 3.1) dispatches and events."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from wavewright import _core
from wavewright.base.bounds import integer_of
from wavewright.base.toml import packaged
from wavewright.codeobj.names import demangle_all
from wavewright.model.losses import Loss
from wavewright.model.schema import THREAD_TRACE, empty_frame, frame_of
from wavewright.readers.files.folder import Folder
from wavewright.readers.trace.ui_output.code import CodeFile
from wavewright.readers.trace.ui_output.parts import (
    decoded,
    engine_number,
    fitting,
    fitting_rows,
    json_members,
    read_bytes,
    readable,
    whole,
)

FILE_NAME = "occupancy.json"
#: Columns of a row; schema 3.0 has the first six (spec_ui_output 5.2).
_FIELDS = ("time_cycles", "cu", "simd", "slot", "start", "kernel", "me", "pipe", "is_ext", "workgroup", "cluster")

_SHORT, _LONG = 6, 11  #: Columns of a row at least (schema 3.0), and at most.
_UNKNOWN = "0 / 0x0"  #: How writers name a kernel that they do not know.
_NAMES = packaged("names.toml", __package__)
_EVENT_FIELDS: dict[str, str] = _NAMES["events"]
_DISPATCH_FIELDS: dict[str, str] = _NAMES["dispatches"]


@dataclass
class RawOccupancy:
    """The members of occupancy.json, the long lists as native rows."""

    members: dict[bytes, bytes] = field(default_factory=dict)
    rows: dict[int, _core.Table] = field(default_factory=dict)  #: By shader engine.
    malformed_count: int = 0
    losses: list[Loss] = field(default_factory=list)


@dataclass
class OccupancyFile:
    """The contents of occupancy.json; kernel numbers are those of the `kernels` table."""

    tables: dict[str, pl.DataFrame] = field(default_factory=dict)  #: occupancy, kernels, events and dispatches
    engines: set[int] = field(default_factory=set)
    losses: list[Loss] = field(default_factory=list)


def read_occupancy(folder: Folder, *, required: bool = True) -> RawOccupancy:
    """Read occupancy.json, whose absence is a loss where it is required. Needs no polars."""
    raw = RawOccupancy()
    if not required and FILE_NAME not in folder.names():
        return raw
    content = read_bytes(folder, FILE_NAME, raw.losses)
    if content is None:
        return raw
    for key, text in json_members(content, FILE_NAME, raw.losses, "; everything before was read"):
        se = engine_number(key)
        if se is None:
            raw.members[key] = text
            continue
        raw.rows[se], unreadable, row_fault = _core.read_integer_rows(text, _SHORT, _LONG)
        raw.malformed_count += unreadable + (row_fault is not None)
    return raw


def occupancy_tables(raw: RawOccupancy, code: CodeFile) -> OccupancyFile:
    """The tables of occupancy.json; `code` has the positions of the kernels."""
    result = OccupancyFile(engines=set(raw.rows), losses=raw.losses)
    names = decoded(raw.members.get(b"dispatches", b"null"), FILE_NAME, result.losses)
    event_lists = decoded(raw.members.get(b"events", b"null"), FILE_NAME, result.losses)
    occupancy = _occupancy(raw, result)
    events, dispatches = _events(event_lists, result)
    kernels = Kernels(names if isinstance(names, dict) else {}, code)
    kernels.use(occupancy["kernel"])
    kernels.use(dispatches["kernel"])
    result.tables = {
        "occupancy": _numbered(occupancy, kernels, "occupancy"),
        "dispatches": _numbered(dispatches, kernels, "dispatches"),
        "events": events,
        "kernels": kernels.table(),
    }
    return result


def _occupancy(raw: RawOccupancy, result: OccupancyFile) -> pl.DataFrame:
    """Rows of all shader engines; `kernel` is still the number of the file."""
    parts = [pl.DataFrame(raw.rows[se]).select(pl.lit(se).alias("se"), pl.all()) for se in sorted(raw.rows)]
    if not parts:
        return empty_frame(THREAD_TRACE["occupancy"])
    positions = {name: at for at, name in enumerate(_FIELDS)}
    frame, unfit = fitting("occupancy", pl.concat(parts, rechunk=True), positions, ["se"])
    if raw.malformed_count + unfit:
        result.losses.append(Loss("malformed_rows", raw.malformed_count + unfit, detail=FILE_NAME))
    return frame


def _numbered(frame: pl.DataFrame, kernels: Kernels, table: str) -> pl.DataFrame:
    """The rows with the kernel numbers of the `kernels` table and the places of the kernels' entries."""
    entries = kernels.entries()
    frame = frame.drop("code_object", "address", strict=False)
    rows = frame.join(entries, left_on="kernel", right_on="id", how="left", maintain_order="left")
    rows = rows.with_columns(pl.col("number").alias("kernel"), pl.col("code_object", "address").fill_null(0))
    return rows.select(THREAD_TRACE[table].names)


def _events(event_lists: object, result: OccupancyFile) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The tables of events and dispatches, whose kernels are still the numbers of the file."""
    events, dispatches = [], []
    unknown_count = 0
    for se, item in _listed(event_lists):
        result.engines.add(se)
        if item.get("kind") == "dispatch":
            dispatches.append({"se": se} | _fields(item, _DISPATCH_FIELDS))
        elif item.get("kind") == "event":
            events.append({"se": se, "payload": whole(item.get("payload")) or 0} | _fields(item, _EVENT_FIELDS))
        else:
            unknown_count += 1
    event_frame, unfit_events = fitting_rows("events", events)
    dispatch_frame, unfit_dispatches = fitting_rows("dispatches", dispatches)
    malformed_count = unknown_count + unfit_events + unfit_dispatches
    if malformed_count:
        result.losses.append(Loss("malformed_rows", malformed_count, detail=f"the events in {FILE_NAME}"))
    return event_frame, dispatch_frame


def _fields(item: dict[str, Any], fields: dict[str, str]) -> dict[str, Any]:
    return {column: whole(item.get(key)) for key, column in fields.items()}


def _listed(events: object) -> Iterator[tuple[int, dict[str, Any]]]:
    for key, items in events.items() if isinstance(events, dict) else ():
        se = engine_number(key)
        for item in items if se is not None and isinstance(items, list) else ():
            yield se or 0, item if isinstance(item, dict) else {}


# --- the table `kernels`: those that the waves of a directory entered, with where they lie in the code ---
_PLACE = re.compile(r"(\d{1,19}) / 0x([0-9a-fA-F]{1,16})")  #: How writers name an entry that they cannot resolve.


class Kernels:
    """Numbers of the file (process-wide, with gaps) -> numbers of the table (only kernels that occur here).

    Number 0 is the unknown entry, as is every number that the file does not name.
    """

    def __init__(self, names: dict[str, Any], code: CodeFile) -> None:
        numbers = {key: integer_of(key) for key in names}
        self._names = {number: readable(str(names[key])) for key, number in numbers.items() if number is not None}
        self._code = code
        self._labelled = {label.name: (label.code_object, label.address) for label in reversed(code.labels)}
        self._functions = dict(reversed(list(zip(code.places, code.functions, strict=True))))
        self._used: list[int] = []

    def use(self, ids: pl.Series) -> None:
        """Add the kernels with these numbers of the file."""
        numbers = ids.drop_nulls().unique().to_list()
        self._used = sorted({*self._used, *(n for n in numbers if self._names.get(n, _UNKNOWN) != _UNKNOWN)})

    def entries(self) -> pl.DataFrame:
        """`id` (of the file), `number` (kernels.kernel), `code_object` and `address` (null = unknown)."""
        rows = [(number, at, *(self._place(number) or (None, None))) for at, number in enumerate(self._used)]
        schema = {"id": pl.UInt32, "number": pl.UInt32, "code_object": pl.UInt64, "address": pl.UInt64}
        return pl.DataFrame(rows, schema=schema, orient="row")

    def table(self) -> pl.DataFrame:
        """The `kernels` table. Where no kernel is named (PC samples, no occupancy), the labels in the code are all
        there is."""

        kernels: list[tuple[str, tuple[int, int] | None]]
        if self._used:
            kernels = [(self._name(number), self._place(number)) for number in self._used]
        else:
            kernels = list(reversed(self._labelled.items()))
        signatures = {label.name: label.demangled for label in self._code.labels if label.demangled}
        names = [name for name, _ in kernels if name not in signatures]
        is_mangled = any(name.startswith("_Z") or name.endswith(".kd") for name in names)
        readable_names = demangle_all(names) if is_mangled else {}
        rows = []
        for number, (name, place) in enumerate(kernels):
            signature = signatures.get(name) or readable_names.get(name, name)
            code_object, address = place or (None, None)
            row = {"name": name, "demangled": signature, "code_object": code_object, "address": address}
            rows.append(row | {"kernel": number})
        return frame_of(THREAD_TRACE["kernels"], rows)

    def _place(self, number: int) -> tuple[int, int] | None:
        """(code object, address) of the entry: from the name, or the position of the label of that name."""
        name = self._names[number]
        place = _PLACE.fullmatch(name)
        if place:
            return int(place[1]), int(place[2], 16)
        return self._labelled.get(name)

    def _name(self, number: int) -> str:
        """The symbol. An entry after the argument preload has no symbol: the symbol of its function is used."""
        name = self._names[number]
        place = _PLACE.fullmatch(name)
        return (place and self._functions.get((int(place[1]), int(place[2], 16)))) or name
