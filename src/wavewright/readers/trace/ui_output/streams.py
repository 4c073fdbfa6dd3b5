"""Files that exist only when their data was recorded: counters, other SIMD, shader data."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from wavewright import _core
from wavewright.base.toml import packaged
from wavewright.model.losses import Loss
from wavewright.model.schema import THREAD_TRACE, empty_frame
from wavewright.readers.files.folder import Folder
from wavewright.readers.trace.ui_output.manifest import ListedFile, Manifest
from wavewright.readers.trace.ui_output.parts import (
    decoded,
    engine_number,
    fitting,
    json_members,
    read_bytes,
    readable,
    whole,
)

_COUNTER_FILE = re.compile(r"se(\d{1,5})_perfcounter\.json")
_COUNTER_FIELDS = ("time_cycles", "value0", "value1", "value2", "value3", "cu", "bank")
_COUNTERS_PER_BANK = 4
_MOST_NAMES = 256 * _COUNTERS_PER_BANK  #: The number of a bank is a byte.
_NAMES = packaged("names.toml", __package__)
#: One early writer stored `["data", [...]]` instead of an object (spec_ui_output 5.6).
_WRAPPED = re.compile(rb'\s*\[\s*"data"\s*,')


@dataclass
class Streams:
    """The tables counters, counter_names, other_simd and shader_data."""

    tables: dict[str, pl.DataFrame] = field(default_factory=dict)
    engines: set[int] = field(default_factory=set)
    losses: list[Loss] = field(default_factory=list)


def read_streams(folder: Folder, manifest: Manifest) -> Streams:
    """Read the optional files of a directory."""
    streams = Streams()
    names = [(*divmod(at, _COUNTERS_PER_BANK), name) for at, name in enumerate(manifest.counter_names[:_MOST_NAMES])]
    streams.tables = {
        "sampled_counters": _sampled_counters(folder, streams),
        "counter_names": pl.DataFrame(names, schema=THREAD_TRACE["counter_names"].dtypes, orient="row"),
        "other_simd": _rows_of(folder, "other_simd", manifest.other_simd, _NAMES["other_simd"], streams),
        "shader_data": _rows_of(folder, "shader_data", manifest.shader_data, _NAMES["shader_data"], streams),
    }
    return streams


def _sampled_counters(folder: Folder, streams: Streams) -> pl.DataFrame:
    matches = ((name, match) for name in folder.names() if (match := _COUNTER_FILE.fullmatch(name)))
    files = sorted((number, name) for name, match in matches if (number := engine_number(match[1])) is not None)
    parts = []
    for se, name in files:
        content = read_bytes(folder, name, streams.losses)
        if content is None:
            continue
        positions = {column: at for at, column in enumerate(_COUNTER_FIELDS)}
        rows = _core.read_integer_rows(_data_of(content, name, streams.losses), len(positions), len(positions))
        parts.append(_fitting("sampled_counters", rows, positions, {"se": se}, name, streams))
    return _joined("sampled_counters", parts)


def _data_of(content: bytes, name: str, losses: list[Loss]) -> bytes:
    """The list of samples: the member `data`, or the rest of the file in the early form."""
    match = _WRAPPED.match(content)
    if match:
        return content[match.end() :].rstrip().removesuffix(b"]")
    return dict(json_members(content, name, losses)).get(b"data", b"null")


def _rows_of(
    folder: Folder, table: str, files: Sequence[ListedFile], schema: Mapping[str, str], streams: Streams
) -> pl.DataFrame:
    """Rows of files that name their columns: `<kind>_schema` lists them, `<kind>` has the rows."""
    kind = {"other_simd": b"instructions", "shader_data": b"records"}[table]
    parts = []
    for file in files:
        content = read_bytes(folder, file.name, streams.losses)
        if content is None:
            continue
        members = dict(json_members(content, file.name, streams.losses))
        schema_names = decoded(members.get(kind + b"_schema", b"null"), file.name, streams.losses)
        positions = _positions(schema_names, schema)
        width = 1 + max(positions.values())
        rows = _core.read_integer_rows(members.get(kind, b"null"), width, width)
        constants = {"se": file.se}
        if table == "other_simd":
            number = whole(decoded(members.get(b"wgp", b"0"), file.name, streams.losses)) or 0
            constants["cu"] = number if 0 <= number < 256 else 0
        parts.append(_fitting(table, rows, positions, constants, file.name, streams))
    return _joined(table, parts)


def _positions(named: object, schema: Mapping[str, str]) -> dict[str, int]:
    """Column -> position in a row, by the names in the file, else in the order of the specification."""
    names = [name for name in named if isinstance(name, str)] if isinstance(named, list) else []
    if not set(schema) <= set(names[:64]):
        names = list(schema)
    return {column: names.index(name) for name, column in schema.items()}


def _fitting(
    table: str,
    rows: tuple[_core.Table, int, int | None],
    positions: Mapping[str, int],
    constants: Mapping[str, int],
    name: str,
    streams: Streams,
) -> pl.DataFrame:
    integer_rows, unreadable, fault = rows
    literals = [pl.lit(value).alias(column) for column, value in constants.items()]
    frame, unfit = fitting(table, pl.DataFrame(integer_rows).with_columns(literals), positions, list(constants))
    malformed_count = unreadable + unfit + (fault is not None)
    if malformed_count:
        streams.losses.append(Loss("malformed_rows", malformed_count, detail=readable(name)))
    streams.engines.add(constants["se"])
    return frame.select(THREAD_TRACE[table].names)


def _joined(table: str, parts: list[pl.DataFrame]) -> pl.DataFrame:
    return pl.concat(parts, rechunk=True) if parts else empty_frame(THREAD_TRACE[table])
