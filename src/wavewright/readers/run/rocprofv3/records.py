"""The records of rocprofv3's JSON: fields by the names of the file, which releases vary; columns in `results.toml`."""

from __future__ import annotations

from typing import Any

import msgspec

from wavewright.base.toml import packaged


class _Metadata(msgspec.Struct):
    node: dict[str, Any] = msgspec.field(default_factory=dict)
    pid: int | None = None
    init_time: int | None = None
    fini_time: int | None = None
    command: list[str] = msgspec.field(default_factory=list)
    config: dict[str, Any] = msgspec.field(default_factory=dict)


class _OperationNames(msgspec.Struct):
    """The operations of a kind of record; records refer to them by index."""

    kind: str = ""
    operations: list[str] = msgspec.field(default_factory=list)


class _Text(msgspec.Struct):
    key: int
    value: str


class _External(msgspec.Struct):
    external: list[_Text] = msgspec.field(default_factory=list)


class _Strings(msgspec.Struct):
    buffer_records: list[_OperationNames] = msgspec.field(default_factory=list)
    marker_api: list[_Text] = msgspec.field(default_factory=list)
    correlation_id: _External = msgspec.field(default_factory=_External)
    att_filenames: list[str] = msgspec.field(default_factory=list)


class Process(msgspec.Struct):
    """One process of a result file; its records are decoded by kind later."""

    metadata: _Metadata = msgspec.field(default_factory=_Metadata)
    agents: list[dict[str, Any]] = msgspec.field(default_factory=list)
    counters: list[dict[str, Any]] = msgspec.field(default_factory=list)
    strings: _Strings = msgspec.field(default_factory=_Strings)
    code_objects: list[dict[str, Any]] = msgspec.field(default_factory=list)
    kernel_symbols: list[dict[str, Any]] = msgspec.field(default_factory=list)
    callback_records: dict[str, msgspec.Raw] = msgspec.field(default_factory=dict)
    buffer_records: dict[str, msgspec.Raw] = msgspec.field(default_factory=dict)


class File(msgspec.Struct, rename={"processes": "rocprofiler-sdk-tool"}):
    """A result file."""

    processes: list[Process]


class _Handle(msgspec.Struct, frozen=True, gc=False):
    handle: int | None = None


class _Correlation(msgspec.Struct, frozen=True, gc=False):
    internal: int | None = None
    external: int | None = None
    ancestor: int | None = None


class _Size(msgspec.Struct, frozen=True, gc=False):
    x: int | None = None
    y: int | None = None
    z: int | None = None


_NO_HANDLE, _NO_CORRELATION, _NO_SIZE = _Handle(), _Correlation(), _Size()


class _DispatchInfo(msgspec.Struct, gc=False):
    kernel_id: int
    dispatch_id: int
    agent_id: _Handle = _NO_HANDLE
    queue_id: _Handle = _NO_HANDLE
    private_segment_size: int | None = None
    group_segment_size: int | None = None
    workgroup_size: _Size = _NO_SIZE
    grid_size: _Size = _NO_SIZE


class _Record(msgspec.Struct, gc=False):
    start_timestamp: int
    end_timestamp: int
    kind: int = 0
    operation: int = 0
    thread_id: int | None = None
    correlation_id: _Correlation = _NO_CORRELATION


class _Dispatch(_Record, gc=False, kw_only=True):
    dispatch_info: _DispatchInfo
    stream_id: _Handle = _NO_HANDLE


class _CopyRecord(_Record, gc=False):
    src_agent_id: _Handle = _NO_HANDLE
    dst_agent_id: _Handle = _NO_HANDLE
    bytes: int | None = None
    stream_id: _Handle = _NO_HANDLE


class _Allocation(_Record, gc=False):
    agent_id: _Handle = _NO_HANDLE
    queue_id: _Handle = _NO_HANDLE
    stream_id: _Handle = _NO_HANDLE
    address: Any = None
    allocation_size: int | None = None
    flags: int | None = None


class _DispatchData(msgspec.Struct, gc=False, kw_only=True):
    dispatch_info: _DispatchInfo
    start_timestamp: int
    end_timestamp: int
    correlation_id: _Correlation = _NO_CORRELATION


class _CounterValue(msgspec.Struct, gc=False):
    counter_id: _Handle
    value: float


class _Counted(msgspec.Struct, kw_only=True):
    dispatch_data: _DispatchData
    records: list[_CounterValue]
    thread_id: int | None = None


class RecordKind(msgspec.Struct, frozen=True):
    """A kind of record: its fields, and the columns of ours that they become."""

    table: str
    fields: type[msgspec.Struct]
    columns: dict[str, str]


_STRUCTS: dict[str, type[msgspec.Struct]] = {
    "kernel_dispatch": _Dispatch,
    "memory_copy": _CopyRecord,
    "memory_allocation": _Allocation,
    "scratch_memory": _Allocation,
    "counter_collection": _Counted,
    "calls": _Record,
}
_FACTS = packaged("results.toml", __package__)
#: Lists of records by their names in the file; lists that end in `_api` contain `calls`.
RECORDS = {name: RecordKind(row["table"], _STRUCTS[name], row["columns"]) for name, row in _FACTS["records"].items()}
#: Table of what describes a process -> our columns -> fields of its objects.
DESCRIBED: dict[str, dict[str, str]] = _FACTS["described"]
CALLS = RECORDS["calls"]
