"""The records of rocprofv3's JSON: their fields that are read, and the columns that they become."""

from __future__ import annotations

from typing import Any

import msgspec


class _Node(msgspec.Struct):
    id: int = 0
    hash: int = 0
    machine_id: str = ""
    system_name: str = ""
    hostname: str = ""
    release: str = ""
    version: str = ""
    hardware_name: str = ""
    domain_name: str = ""


class _Metadata(msgspec.Struct):
    node: _Node = msgspec.field(default_factory=_Node)
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


_COMMON = {
    "kind": "kind",
    "operation": "operation",
    "tid": "thread_id",
    "start_ns": "start_timestamp",
    "end_ns": "end_timestamp",
    "correlation": "correlation_id.internal",
    "external_correlation": "correlation_id.external",
    "ancestor": "correlation_id.ancestor",
}
_INFO = {
    "agent_id": "agent_id.handle",
    "queue_id": "queue_id.handle",
    "symbol_id": "kernel_id",
    "dispatch_id": "dispatch_id",
    "scratch_bytes": "private_segment_size",
    "lds_bytes": "group_segment_size",
    **{f"workgroup_{axis}": f"workgroup_size.{axis}" for axis in "xyz"},
    **{f"grid_{axis}": f"grid_size.{axis}" for axis in "xyz"},
}
_MEMORY = _COMMON | {
    "agent_id": "agent_id.handle",
    "queue_id": "queue_id.handle",
    "stream_id": "stream_id.handle",
    "address": "address",
    "size_bytes": "allocation_size",
    "flags": "flags",
}
#: Lists of records by their names in the file; lists that end in `_api` contain calls.
RECORDS = {
    "kernel_dispatch": RecordKind(
        "dispatches",
        _Dispatch,
        _COMMON | {"stream_id": "stream_id.handle"} | {ours: f"dispatch_info.{path}" for ours, path in _INFO.items()},
    ),
    "memory_copy": RecordKind(
        "copies",
        _CopyRecord,
        _COMMON
        | {
            "src_id": "src_agent_id.handle",
            "dst_id": "dst_agent_id.handle",
            "size_bytes": "bytes",
            "stream_id": "stream_id.handle",
        },
    ),
    "memory_allocation": RecordKind("allocations", _Allocation, _MEMORY),
    "scratch_memory": RecordKind("scratch", _Allocation, _MEMORY),
    "counter_collection": RecordKind(
        "counters",
        _Counted,
        {
            "tid": "thread_id",
            "start_ns": "dispatch_data.start_timestamp",
            "end_ns": "dispatch_data.end_timestamp",
            "correlation": "dispatch_data.correlation_id.internal",
            "external_correlation": "dispatch_data.correlation_id.external",
            **{ours: f"dispatch_data.dispatch_info.{path}" for ours, path in _INFO.items()},
            "records": "records",
        },
    ),
}
CALLS = RecordKind("regions", _Record, _COMMON)
