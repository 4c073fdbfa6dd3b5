from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest

from wavewright.errors import NotATraceError
from wavewright.readers.run.inputs import open_run

if TYPE_CHECKING:
    from pathlib import Path

KINDS = [
    {"kind": "NONE", "operations": []},
    {"kind": "HIP_RUNTIME_API", "operations": ["hipInit", "hipLaunchKernel"]},
    {"kind": "MARKER_CORE_RANGE_API", "operations": ["roctxMarkA", "roctxThreadRangeA"]},
    {"kind": "MEMORY_COPY", "operations": ["NONE", "MEMORY_COPY_HOST_TO_DEVICE"]},
    {"kind": "MEMORY_ALLOCATION", "operations": ["NONE", "MEMORY_ALLOCATION_ALLOCATE", "MEMORY_ALLOCATION_FREE"]},
    {"kind": "SCRATCH_MEMORY", "operations": ["NONE", "SCRATCH_MEMORY_ALLOC"]},
    {"kind": "KERNEL_DISPATCH", "operations": ["NONE", "KERNEL_DISPATCH_COMPLETE"]},
]


def record(kind: int, operation: int, begin: int, end: int, correlation: int = 1, **more: Any) -> dict[str, Any]:
    return {
        "size": 1,
        "kind": kind,
        "operation": operation,
        "thread_id": 70,
        "correlation_id": {"internal": correlation, "external": more.pop("external", 0)},
        "start_timestamp": begin,
        "end_timestamp": end,
        **more,
    }


def dispatch_info(dispatch: int, kernel: int = 5) -> dict[str, Any]:
    return {
        "agent_id": {"handle": 900},
        "queue_id": {"handle": 3},
        "kernel_id": kernel,
        "dispatch_id": dispatch,
        "private_segment_size": 0,
        "group_segment_size": 256,
        "workgroup_size": {"x": 64, "y": 2, "z": 1},
        "grid_size": {"x": 128, "y": 2, "z": 1},
    }


def process(**changes: Any) -> dict[str, Any]:
    symbol = {"kernel_id": 5, "code_object_id": 2, "kernel_name": "_Z1kv.kd", "formatted_kernel_name": "k()"}
    return {
        "metadata": {
            "node": {"id": 1, "hash": 1 << 63, "hostname": "n1"},
            "pid": 7,
            "init_time": 1,
            "fini_time": 99,
            "command": ["./a", "b c"],
        },
        "agents": [
            {"id": {"handle": 800}, "type": 1, "name": "EPYC", "node_id": 0, "hive_id": (1 << 64) - 1},
            {"id": {"handle": 900}, "type": 2, "name": "gfx942", "node_id": 4, "logical_node_type_id": 0},
        ],
        "counters": [{"id": {"handle": 44}, "name": "SQ_WAVES", "description": "waves"}],
        "strings": {
            "buffer_records": KINDS,
            "marker_api": [{"key": 12, "value": "step 1"}, {"key": 13, "value": "a mark"}],
            "correlation_id": {"external": [{"key": 77, "value": "renamed"}]},
        },
        "code_objects": [{"code_object_id": 0}, {"code_object_id": 2, "uri": "file://a", "load_size": 64}],
        "kernel_symbols": [{"kernel_id": 0, "kernel_name": ""}, symbol | {"arch_vgpr_count": 24}],
        "callback_records": {
            "counter_collection": [
                {
                    "thread_id": 70,
                    "dispatch_data": {
                        "correlation_id": {"internal": 4, "external": 0},
                        "start_timestamp": 60,
                        "end_timestamp": 65,
                        "dispatch_info": dispatch_info(2),
                    },
                    "records": [
                        {"counter_id": {"handle": 44}, "value": 8.0},
                        {"counter_id": {"handle": 44}, "value": 2.5},
                    ],
                }
            ]
        },
        "buffer_records": {
            "kernel_dispatch": [
                record(6, 1, 30, 50, 4, dispatch_info=dispatch_info(1), stream_id={"handle": 6}, external=77)
            ],
            "hip_api": [record(1, 1, 20, 25, 4)],
            "marker_api": [record(2, 1, 10, 40, 12), record(2, 0, 15, 15, 13)],
            "memory_copy": [record(3, 1, 5, 9, src_agent_id={"handle": 800}, dst_agent_id={"handle": 900}, bytes=4096)],
            "memory_allocation": [record(4, 1, 2, 3, agent_id={"handle": 900}, address="0x1000", allocation_size=8)],
            "scratch_memory": [record(5, 1, 4, 5, agent_id={"handle": 900}, queue_id={"handle": 3}, flags=1)],
            "pc_sample_host_trap": [{}, {}],
        },
    } | changes


def write(path: Path, *processes: dict[str, Any]) -> Path:
    path.write_text(json.dumps({"rocprofiler-sdk-tool": list(processes)}, indent=1))
    return path


@pytest.mark.parametrize("kind", [[2], {"handle": 2}, None, "GPU", 1 << 70])
def test_a_type_that_is_none_is_unknown(kind: object, tmp_path: Path) -> None:
    objects = [{"code_object_id": 2, "storage_type": kind}]
    odd = process(agents=[{"id": {"handle": 900}, "type": kind}], code_objects=objects)
    run = open_run(write(tmp_path / "7_results.json", odd))
    assert run.agents["kind"].to_list() == [None]
    assert run.read("code_objects")["storage"].to_list() == [None]


def test_every_kind_of_record(tmp_path: Path) -> None:
    run = open_run(write(tmp_path / "7_results.json", process()))
    assert run.dispatches.select("name", "dispatch_id", "start_ns", "end_ns", "agent", "vgpr_count").rows() == [
        ("k()", 1, 30, 50, 1, 24),
        ("k()", 2, 60, 65, 1, 24),
    ]
    assert run.dispatches.select("workgroup_y", "grid_x", "lds_bytes", "correlation", "region_name").row(0) == (
        *(2, 128, 256, 4),
        "renamed",
    )
    assert run.counters.select("event", "value").rows() == [(1, 8.0), (1, 2.5)]
    assert run.counter_info["name"].to_list() == ["SQ_WAVES"]
    assert run.copies.select("name", "size_bytes", "src_agent", "dst_agent").rows() == [
        ("MEMORY_COPY_HOST_TO_DEVICE", 4096, 0, 1)
    ]
    assert run.allocations.select("type", "level", "address", "size_bytes", "properties").rows() == [
        ("ALLOC", "REAL", 0x1000, 8, None),
        ("ALLOC", "SCRATCH", None, None, '{"flags": "1"}'),
    ]
    assert run.regions.select("domain", "category", "name", "function", "correlation").rows() == [
        ("HIP", "HIP_RUNTIME_API", "hipLaunchKernel", "hipLaunchKernel", 4),
        ("MARKER", "MARKER_CORE_RANGE_API", "step 1", "roctxThreadRangeA", 12),
    ]
    assert run.samples.select("name", "time_ns").rows() == [("a mark", 15)]
    assert run.processes.select("pid", "command", "init_ns", "fini_ns").rows() == [(7, "./a b c", 1, 99)]
    assert run.nodes.select("hostname", "hash").rows() == [("n1", None)]
    assert run.symbols.select("symbol_id", "name", "code_object").rows() == [(5, "k()", 0)]
    assert run.losses.select("kind", "count").rows() == [("samples_beside", 2)]


def test_several_processes_keep_their_own_things(tmp_path: Path) -> None:
    other = process()
    other["metadata"] = {"pid": 8}
    run = open_run(write(tmp_path / "results.json", process(), other))
    assert run.processes.select("pid", "node").rows() == [(7, 0), (8, 1)]
    kernels = run.dispatches.select("process", "agent", "queue", "symbol").rows()
    assert sorted(kernels) == [(0, 1, 0, 0), (0, 1, 0, 0), (1, 3, 1, 1), (1, 3, 1, 1)]


def test_records_that_do_not_fit_are_counted(tmp_path: Path) -> None:
    records = [record(1, 0, 1, 2), 7, {"start_timestamp": "soon"}, record(1, 9, 3, 4), {"kind": 1}]
    changed = process(buffer_records={"hip_api": records}, callback_records={})
    with gzip.open(tmp_path / "7_results.json.gz", "wt") as file:
        json.dump({"rocprofiler-sdk-tool": [changed]}, file)
    run = open_run(tmp_path)
    assert run.regions["start_ns"].to_list() == [1, 3]
    assert run.losses.select("kind", "count").rows() == [("malformed_events", 3)]


def test_dispatches_of_unknown_kernels_are_kept(tmp_path: Path) -> None:
    records = [record(6, 1, 30, 50, dispatch_info=dispatch_info(1, kernel=9))]
    run = open_run(
        write(tmp_path / "r.json", process(buffer_records={"kernel_dispatch": records}, callback_records={}))
    )
    assert run.dispatches["name"].to_list() == ["kernel 9"]
    assert run.losses["kind"].to_list() == ["dangling_rows"]


def test_cut_files_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "7_results.json", process())
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(NotATraceError, match="not a complete result file"):
        open_run(path)


def test_an_empty_run_is_a_run(tmp_path: Path) -> None:
    run = open_run(write(tmp_path / "7_results.json", {}))
    assert (run.processes.height, run.dispatches.height) == (1, 0)
    with pytest.raises(NotATraceError, match="without a process"):
        open_run(write(tmp_path / "8_results.json"))
