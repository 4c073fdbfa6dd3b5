"""The tables of an RPD file for those who want all of it at once, and fast: read without polars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wavescope.readers._sqlite.values import INTEGER, TEXT

if TYPE_CHECKING:
    from wavescope import _core
    from wavescope.readers._sqlite import Database
    from wavescope.readers.rpd._places import Places

__all__ = ["PlainTables", "plain_tables"]

_STRING = {"id": INTEGER, "string": TEXT}
_CALL = dict.fromkeys(("id", "pid", "tid", "start", "end", "apiName_id", "args_id"), INTEGER)
_OP = dict.fromkeys(("id", "gpuId", "queueId", "start", "end", "description_id", "opType_id"), INTEGER)
_LINK = dict.fromkeys(("api_id", "op_id"), INTEGER)
_MONITOR = dict.fromkeys(("deviceId", "start", "end"), INTEGER) | dict.fromkeys(
    ("deviceType", "monitorType", "value"), TEXT
)
_MORE = ("rocpd_graphLaunchapi", "rocpd_hsaApi")
"""Tables that hold more calls or work than the plain ones."""


@dataclass(frozen=True)
class PlainTables:
    """Rows as stored; `arguments` is None where they are among the strings, `monitors` where there are none.

    Examples
    --------
    >>> PlainTables.__dataclass_fields__["links"].type
    '_core.Table'
    """

    strings: _core.Table
    arguments: _core.Table | None
    calls: _core.Table
    ops: _core.Table
    links: _core.Table
    monitors: _core.Table | None
    pid_stride: int
    gpu_stride: int
    has_counters: bool


def plain_tables(database: Database, places: Places) -> PlainTables | None:
    """The plain tables, when the native core reads them all and no other table holds calls or work.

    Examples
    --------
    >>> plain_tables(Database(Path("trace.rpd")), places)  # doctest: +SKIP
    """
    if any(_has_rows(database, table) for table in _MORE):
        return None
    strings = database.whole("rocpd_string", _STRING)
    calls, ops = database.whole("rocpd_api", _CALL), database.whole("rocpd_op", _OP)
    links = database.whole("rocpd_api_ops", _LINK)
    arguments = database.whole("rocpd_ustring", _STRING) if "rocpd_ustring" in database.tables else None
    monitors = database.whole("rocpd_monitor", _MONITOR) if "rocpd_monitor" in database.tables else None
    is_whole = (arguments is None) == ("rocpd_ustring" not in database.tables)
    is_whole &= (monitors is None) == ("rocpd_monitor" not in database.tables)
    if strings is None or calls is None or ops is None or links is None or not is_whole:
        return None
    has_counters = _has_rows(database, "rocpd_counter")
    strides = places.pid_stride, places.gpu_stride
    return PlainTables(strings, arguments, calls, ops, links, monitors, *strides, has_counters)


def _has_rows(database: Database, table: str) -> bool:
    return table in database.tables and bool(database.query(f"SELECT 1 FROM {table} LIMIT 1"))  # noqa: S608 - ours
