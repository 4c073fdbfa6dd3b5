"""Place of each column of a `Run` in a ROCpd file, declared once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class Stored:
    """The stored value; see `joins` for names with a dot."""

    column: str


@dataclass(frozen=True)
class Text:
    """The string whose id is stored."""

    column: str


@dataclass(frozen=True)
class MappedRow:
    """The number of the row of `table` whose id is stored."""

    table: str
    column: str


@dataclass(frozen=True)
class Json:
    """The value of a key of stored JSON, times `factor`."""

    column: str
    key: str
    factor: int = 1


@dataclass(frozen=True)
class End:
    """The stored end of an event, never before its start."""

    begin: str = "start"
    end: str = "end"


@dataclass(frozen=True)
class First:
    """The first of two origins that is not null."""

    origin: Stored | Text
    other: Stored | Text


Origin: TypeAlias = Stored | Text | MappedRow | Json | End | First

_EXTDATA: dict[str, Origin] = {"properties": Stored("extdata")}
_THREAD: dict[str, Origin] = {"process": MappedRow("info_process", "pid"), "thread": MappedRow("info_thread", "tid")}
_QUEUE: dict[str, Origin] = {
    "queue": MappedRow("info_queue", "queue_id"),
    "stream": MappedRow("info_stream", "stream_id"),
}
_TIMES: dict[str, Origin] = {"start_ns": Stored("start"), "end_ns": End()}
_LINKS: dict[str, Origin] = {
    "event": Stored("event_id"),
    "correlation": Stored("event.stack_id"),
    "parent_correlation": Stored("event.parent_stack_id"),
    "external_correlation": Stored("event.correlation_id"),
}
_GRAPH: dict[str, Origin] = {"graph_exec": Stored("graph_exec_id"), "graph_node": Stored("graph_node_id")}
_CALL: dict[str, Origin] = {
    "category": Stored("event.category"),
    "domain": Stored("event.domain"),
    "name": First(Stored("event.message"), Text("name_id")),
    "function": Text("name_id"),
}
_EVENT_JSON: dict[str, Origin] = {
    "call_stack": Stored("event.call_stack"),
    "line_info": Stored("event.line_info"),
    "event_properties": Stored("event.extdata"),
}

#: Table of a `Run` -> stored table, and where its columns come from; `source` makes those that are not stored.
TABLES: dict[str, tuple[str, dict[str, Origin]]] = {
    "nodes": (
        "info_node",
        {
            "node_id": Stored("id"),
            "hash": Stored("hash"),
            "machine_id": Stored("machine_id"),
            "hostname": Stored("hostname"),
            "system": Stored("system_name"),
            "release": Stored("release"),
            "version": Stored("version"),
            "hardware": Stored("hardware_name"),
            "domain": Stored("domain_name"),
        },
    ),
    "processes": (
        "info_process",
        {
            "node": MappedRow("info_node", "nid"),
            "pid": Stored("pid"),
            "parent_pid": Stored("ppid"),
            "command": Stored("command"),
            "init_ns": Stored("init"),
            "start_ns": Stored("start"),
            "end_ns": Stored("end"),
            "fini_ns": Stored("fini"),
            **_EXTDATA,
        },
    ),
    "threads": (
        "info_thread",
        {
            "process": MappedRow("info_process", "pid"),
            "tid": Stored("tid"),
            "parent_pid": Stored("ppid"),
            "name": Stored("name"),
            "start_ns": Stored("start"),
            "end_ns": Stored("end"),
            **_EXTDATA,
        },
    ),
    "agents": (
        "info_agent",
        {
            "process": MappedRow("info_process", "pid"),
            "agent_id": Stored("id"),
            "kind": Stored("type"),
            "absolute_index": Stored("absolute_index"),
            "logical_index": Stored("logical_index"),
            "type_index": Stored("type_index"),
            "target": Stored("name"),
            "product": Stored("product_name"),
            "model": Stored("model_name"),
            "vendor": Stored("vendor_name"),
            "device_id": Stored("uuid"),
            "cu_count": Json("extdata", "cu_count"),
            "simd_count": Json("extdata", "simd_count"),
            "wave_lanes": Json("extdata", "wave_front_size"),
            "waves_per_simd_max": Json("extdata", "max_waves_per_simd"),
            "lds_bytes": Json("extdata", "lds_size_in_kb", 1024),
            **_EXTDATA,
        },
    ),
    "queues": (
        "info_queue",
        {
            "process": MappedRow("info_process", "pid"),
            "queue_id": Stored("id"),
            "name": Stored("name"),
            **_EXTDATA,
        },
    ),
    "streams": (
        "info_stream",
        {
            "process": MappedRow("info_process", "pid"),
            "stream_id": Stored("id"),
            "name": Stored("name"),
            **_EXTDATA,
        },
    ),
    "code_objects": (
        "info_code_object",
        {
            "process": MappedRow("info_process", "pid"),
            "agent": MappedRow("info_agent", "agent_id"),
            "code_object_id": Stored("id"),
            "uri": Stored("uri"),
            "load_base": Stored("load_base"),
            "load_bytes": Stored("load_size"),
            "load_delta": Stored("load_delta"),
            "storage": Stored("storage_type"),
            **_EXTDATA,
        },
    ),
    "symbols": (
        "info_kernel_symbol",
        {
            "process": MappedRow("info_process", "pid"),
            "code_object": MappedRow("info_code_object", "code_object_id"),
            "symbol_id": Stored("id"),
            "mangled": Stored("kernel_name"),
            "name": First(Stored("display_name"), Stored("kernel_name")),
            "kernel_object": Stored("kernel_object"),
            "kernarg_bytes": Stored("kernarg_segment_size"),
            "kernarg_alignment": Stored("kernarg_segment_alignment"),
            "lds_bytes": Stored("group_segment_size"),
            "scratch_bytes": Stored("private_segment_size"),
            "sgpr_count": Stored("sgpr_count"),
            "vgpr_count": Stored("arch_vgpr_count"),
            "accum_vgpr_count": Stored("accum_vgpr_count"),
            **_EXTDATA,
        },
    ),
    "dispatches": (
        "kernel_dispatch",
        {
            **_THREAD,
            "agent": MappedRow("info_agent", "agent_id"),
            **_QUEUE,
            "symbol": MappedRow("info_kernel_symbol", "kernel_id"),
            "name": First(Stored("symbol.display_name"), Stored("symbol.kernel_name")),
            "dispatch_id": Stored("dispatch_id"),
            **_TIMES,
            "workgroup_x": Stored("workgroup_size_x"),
            "workgroup_y": Stored("workgroup_size_y"),
            "workgroup_z": Stored("workgroup_size_z"),
            "grid_x": Stored("grid_size_x"),
            "grid_y": Stored("grid_size_y"),
            "grid_z": Stored("grid_size_z"),
            "lds_bytes": Stored("group_segment_size"),
            "scratch_bytes": Stored("private_segment_size"),
            "sgpr_count": Stored("symbol.sgpr_count"),
            "vgpr_count": Stored("symbol.arch_vgpr_count"),
            "accum_vgpr_count": Stored("symbol.accum_vgpr_count"),
            "region_name": Text("region_name_id"),
            **_GRAPH,
            **_LINKS,
            **_EXTDATA,
        },
    ),
    "copies": (
        "memory_copy",
        {
            **_THREAD,
            "name": Text("name_id"),
            **_TIMES,
            "size_bytes": Stored("size"),
            "src_agent": MappedRow("info_agent", "src_agent_id"),
            "dst_agent": MappedRow("info_agent", "dst_agent_id"),
            "src_address": Stored("src_address"),
            "dst_address": Stored("dst_address"),
            **_QUEUE,
            "region_name": Text("region_name_id"),
            **_GRAPH,
            **_LINKS,
            **_EXTDATA,
        },
    ),
    "allocations": (
        "memory_allocate",
        {
            **_THREAD,
            "agent": MappedRow("info_agent", "agent_id"),
            "type": Stored("type"),
            "level": Stored("level"),
            **_TIMES,
            "address": Stored("address"),
            "size_bytes": Stored("size"),
            **_QUEUE,
            **_LINKS,
            **_EXTDATA,
        },
    ),
    "regions": ("region", {**_THREAD, **_CALL, **_TIMES, **_LINKS, **_EVENT_JSON, **_EXTDATA}),
    "samples": (
        "sample",
        {**_THREAD, **_CALL, "time_ns": Stored("timestamp"), **_LINKS, **_EVENT_JSON, **_EXTDATA},
    ),
    "arguments": (
        "arg",
        {
            "process": MappedRow("info_process", "caller.pid"),
            "event": Stored("event_id"),
            "position": Stored("position"),
            "type": Stored("type"),
            "name": Stored("name"),
            "value": Stored("value"),
            **_EXTDATA,
        },
    ),
    "counter_info": (
        "info_pmc",
        {
            "process": MappedRow("info_process", "pid"),
            "agent": MappedRow("info_agent", "agent_id"),
            "counter_id": Stored("id"),
            "name": Stored("name"),
            "symbol": Stored("symbol"),
            "description": Stored("description"),
            "component": Stored("component"),
            "units": Stored("units"),
            "value_type": Stored("value_type"),
            "block": Stored("block"),
            "expression": Stored("expression"),
            "is_constant": Stored("is_constant"),
            "is_derived": Stored("is_derived"),
            **_EXTDATA,
        },
    ),
    "counters": (
        "pmc_event",
        {
            "process": MappedRow("info_process", "pmc.pid"),
            "counter": MappedRow("info_pmc", "pmc_id"),
            "event": Stored("event_id"),
            "time_ns": First(Stored("sample.timestamp"), Stored("moment.timestamp")),
            "value": Stored("value"),
            "xcc": Stored("xcc"),
            "shader_engine": Stored("shader_engine"),
            "instance": Stored("instance"),
            **_EXTDATA,
        },
    ),
}
