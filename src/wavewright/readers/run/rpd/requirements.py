"""The tables and columns that an RPD file of a schema must have, because the reader needs them."""

from __future__ import annotations

from wavewright.readers.files.sqlite import Database
from wavewright.readers.files.sqlite.missing_columns import note_missing

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
