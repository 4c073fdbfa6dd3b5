"""The tables of an RPD file for those who want all of it at once, and fast: read without polars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wavescope.readers.files.sqlite.values import INTEGER, REAL, TEXT

if TYPE_CHECKING:
    from wavescope import _core
    from wavescope.readers.files.sqlite import Database
    from wavescope.readers.run.rpd.places import Places

_STRING = {"id": INTEGER, "string": TEXT}
_CALL = dict.fromkeys(("id", "pid", "tid", "start", "end", "apiName_id", "args_id"), INTEGER)
_OP = dict.fromkeys(("id", "gpuId", "queueId", "start", "end", "description_id", "opType_id"), INTEGER)
_LINK = dict.fromkeys(("api_id", "op_id"), INTEGER)
_MONITOR = dict.fromkeys(("deviceId", "start", "end"), INTEGER) | dict.fromkeys(
    ("deviceType", "monitorType", "value"), TEXT
)
_COUNTER = {"op_id": INTEGER, "name_id": INTEGER, "value": REAL}
_OPTIONAL = {"rocpd_ustring": _STRING, "rocpd_monitor": _MONITOR, "rocpd_counter": _COUNTER}
_MORE = ("rocpd_graphLaunchapi", "rocpd_hsaApi")  #: Tables that hold more calls or work than the plain ones.


@dataclass(frozen=True)
class PlainTables:
    """Rows as stored; None = the file has no such table (`arguments`: they are among the strings)."""

    strings: _core.Table
    arguments: _core.Table | None
    calls: _core.Table
    ops: _core.Table
    links: _core.Table
    monitors: _core.Table | None
    counters: _core.Table | None
    pid_stride: int
    gpu_stride: int


def plain_tables(database: Database, places: Places) -> PlainTables | None:
    """The plain tables, when the native core reads them all and no other table holds calls or work."""
    if any(_has_rows(database, table) for table in _MORE):
        return None
    strings = database.whole("rocpd_string", _STRING)
    calls, ops = database.whole("rocpd_api", _CALL), database.whole("rocpd_op", _OP)
    links = database.whole("rocpd_api_ops", _LINK)
    others = {name: database.whole(name, columns) for name, columns in _OPTIONAL.items() if name in database.tables}
    if strings is None or calls is None or ops is None or links is None or None in others.values():
        return None
    arguments, monitors, counters = (others.get(name) for name in _OPTIONAL)
    strides = places.pid_stride, places.gpu_stride
    return PlainTables(strings, arguments, calls, ops, links, monitors, counters, *strides)


def _has_rows(database: Database, table: str) -> bool:
    return table in database.tables and bool(database.query(f"SELECT 1 FROM {table} LIMIT 1"))  # noqa: S608 - ours
