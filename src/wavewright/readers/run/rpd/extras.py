"""Stored tables of an RPD file: those that a file of a schema must have, and extensions, which no run has."""

from __future__ import annotations

import polars as pl

from wavewright.model.stored_tables import TablesByName
from wavewright.readers.files.sqlite import Database, note_missing


def extras_of(database: Database) -> TablesByName:
    """Every other table, as stored: ext_callstack, ext_autogradapi, ext_graph, rocpd_hsaApi, ...

    Ids of strings stay numbers.
    """

    def read(name: str) -> pl.DataFrame:
        # In columns of numbers an empty string means null, so types depend on the strings.
        texts = database.frame(name, dict.fromkeys(database.tables[name], pl.String))
        return texts.select(_narrowed(texts[column]) for column in texts.columns)

    used = REQUIRED.keys() - {"rocpd_metadata"}  # became tables of the run
    names = [name for name in database.tables if name not in used and not name.startswith(("sqlite_", "temp_"))]
    return TablesByName(names, read)


def _narrowed(texts: pl.Series) -> pl.Series:
    """Integers or floating-point numbers where all strings are numbers; empty strings are null then."""
    values = texts.set(texts == "", None)
    for dtype in (pl.Int64, pl.Float64):
        numbers = values.cast(dtype, strict=False)
        if values.null_count() < values.len() and numbers.null_count() == values.null_count():
            return numbers
    return texts


# --- the tables and columns that an RPD file of a schema must have, because the reader needs them ---


_TABLES = ("rocpd_api", "rocpd_op", "rocpd_api_ops", "rocpd_string")  #: Those of any schema.
_OF_SCHEMAS = ("rocpd_kernelapi", "rocpd_copyapi")  #: Those of every schema that a file can declare.
#: Columns of tables that a file has, whatever its schema.
REQUIRED: dict[str, tuple[str, ...]] = {
    "rocpd_metadata": ("tag", "value"),
    "rocpd_string": ("id", "string"),
    "rocpd_ustring": ("id", "string"),
    "rocpd_api": ("id", "pid", "tid", "start", "end", "apiName_id", "args_id"),
    "rocpd_op": ("id", "gpuId", "queueId", "sequenceId", "start", "end", "description_id", "opType_id"),
    "rocpd_api_ops": ("api_id", "op_id"),
    "rocpd_kernelapi": (
        *("api_ptr_id", "stream", "gridX", "gridY", "gridZ", "workgroupX", "workgroupY", "workgroupZ"),
        *("groupSegmentSize", "privateSegmentSize"),
    ),
    "rocpd_copyapi": (
        *("api_ptr_id", "stream", "size", "width", "height", "kind", "dst", "src", "dstDevice", "srcDevice"),
        *("sync", "pinned"),
    ),
    "rocpd_kernelcodeobject": ("id", "vgpr", "sgpr"),
    "rocpd_monitor": ("deviceType", "deviceId", "monitorType", "start", "end", "value"),
    "rocpd_counter": ("op_id", "name_id", "value"),
    "rocpd_stackframe": ("api_ptr_id", "depth", "name_id"),
}
#: Schema -> columns that others lack.
_MORE: dict[str, dict[str, tuple[str, ...]]] = {
    "2": {"rocpd_op": ("completionSignal",), "rocpd_kernelapi": ("codeObject_id",)},
    "3": {"rocpd_api": ("domain_id",)},
}


def required(version: str) -> dict[str, tuple[str, ...]]:
    """Table -> columns of a schema.

    Examples
    --------
    >>> required("2")["rocpd_op"][-1]
    'completionSignal'
    """
    more = _MORE.get(version, {})
    return {table: (*names, *more.get(table, ())) for table, names in REQUIRED.items()}


def note_missing_in_file(database: Database, version: str) -> None:
    """Record as losses the parts that a file lacks."""
    note_missing(database, required(version), (*_TABLES, *(_OF_SCHEMAS if version in _MORE else ())))
