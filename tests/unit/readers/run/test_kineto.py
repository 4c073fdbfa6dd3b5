from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from synth import Workload, write_rocpd
from wavewright.errors import NotATraceError
from wavewright.export.run.chrome import write_chrome
from wavewright.readers.run.chrome.events import nanoseconds
from wavewright.readers.run.inputs import open_run

if TYPE_CHECKING:
    from pathlib import Path


def event(name: str, cat: str, ts: object, dur: object = 1, pid: object = 7, tid: object = 7, **args: Any) -> Any:
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args}


EVENTS = [
    {"name": "process_name", "ph": "M", "ts": 0, "pid": 7, "tid": 0, "args": {"name": "python3"}},
    {"name": "thread_name", "ph": "M", "ts": 0, "pid": 7, "tid": 8, "args": {"name": "thread 8 (loader)"}},
    event("step", "user_annotation", 10, 50),
    event("aten::mm", "cpu_op", 11, 20, **{"External id": 3, "Input Dims": [[2, 2]]}),
    event("train.py(3): step", "python_function", 10, 50, pid=0, tid=0),
    event("hipLaunchKernel", "cuda_runtime", 12, 2, correlation=91, tid=8, **{"External id": 3}),
    event("gemm", "kernel", 20, 5, 2, 1, correlation=91, device=2, stream=1, grid=[4, 2, 1], block=[64, 1, 1]),
    event("Memset (Device)", "gpu_memset", 26, 1, 2, 1, device=2, stream=1),
    event("Memcpy HtoD (Host -> Device)", "gpu_memcpy", 30, 4, 2, 1, device=2, stream=1, kind="HtoD", bytes=512),
    event("step", "gpu_user_annotation", 20, 14, 2, 1),
    event("PyTorch Profiler (0)", "Trace", 0, 99, "Spans", "PyTorch Profiler"),
    {"ph": "i", "s": "g", "name": "Record Window End", "pid": "", "tid": "", "ts": 99},
    {
        "ph": "i",
        "cat": "cpu_instant_event",
        "name": "[memory]",
        "pid": 7,
        "tid": 7,
        "ts": 13,
        "args": {"Bytes": 64, "Addr": 4096, "Device Id": 0, "Device Type": 1},
    },
    {
        "ph": "i",
        "cat": "cpu_instant_event",
        "name": "[memory]",
        "pid": 7,
        "tid": 7,
        "ts": 14,
        "args": {"Bytes": -64, "Addr": 4096, "Device Id": 0, "Device Type": 1},
    },
    {"ph": "s", "id": 91, "pid": 7, "tid": 8, "ts": 12, "cat": "ac2g", "name": "ac2g"},
    {"ph": "f", "id": 91, "pid": 2, "tid": 1, "ts": 20, "cat": "ac2g", "name": "ac2g", "bp": "e"},
]
AROUND = {
    "schemaVersion": 1,
    "deviceProperties": [{"id": 0, "name": "AMD Instinct MI300X", "numSms": 304, "warpSize": 64}],
    "distributedInfo": {"rank": 3},
    "baseTimeNanoseconds": 1_000_000,
}


def write(path: Path, events: list[Any], **around: Any) -> Path:
    path.write_text(json.dumps({**around, "traceEvents": events}))
    return path


def test_what_pytorch_writes(tmp_path: Path) -> None:
    run = open_run(write(tmp_path / "trace.json", EVENTS, **AROUND))
    assert run.processes.select("pid", "rank", "command").rows() == [(7, 3, "python3")]
    assert run.dispatches.select(
        "name", "start_ns", "end_ns", "correlation", "grid_x", "grid_y", "workgroup_x"
    ).rows() == [
        ("gemm", 1_020_000, 1_025_000, 91, 256, 2, 64),
        ("Memset (Device)", 1_026_000, 1_027_000, None, None, None, None),
    ]
    assert run.copies.select("name", "size_bytes", "src_agent", "dst_agent").rows() == [
        ("MEMORY_COPY_HOST_TO_DEVICE", 512, 1, 0)
    ]
    assert run.agents.select("kind", "agent_id", "product", "cu_count").rows() == [
        ("GPU", 2, "AMD Instinct MI300X", 304),
        ("CPU", None, None, None),
    ]
    assert run.regions.select("name", "domain", "category").rows() == [
        ("step", "MARKER", "user_annotation"),
        ("aten::mm", "OPERATOR", "cpu_op"),
        ("train.py(3): step", "PYTHON", "python_function"),
        ("hipLaunchKernel", "HIP", "cuda_runtime"),
    ]
    assert run.regions["process"].to_list() == [0, 0, 0, 0]
    assert run.regions["external_correlation"].to_list() == [None, 3, None, 3]
    assert json.loads(run.regions["event_properties"][1])["Input Dims"] == [[2, 2]]
    assert run.threads.select("tid", "name").rows() == [(0, None), (7, None), (8, "thread 8 (loader)")]
    assert run.allocations.select("type", "size_bytes", "address", "agent").rows() == [
        ("ALLOC", 64, 4096, 0),
        ("FREE", 0, 4096, 0),
    ]
    assert run.table("gpu_user_annotations").height == 1
    assert run.samples.height == 0
    assert run.losses["kind"].to_list() == ["launched_before"]
    assert run.sources.select("format", "version").rows() == [("Kineto", "1")]


COLLECTIVE = {
    "Collective name": "allreduce",
    "In msg nelems": 64,
    "Out msg nelems": 64,
    "Group size": 2,
    "dtype": "Float",
    "Process Group Name": "0",
    "Process Group Ranks": "[0, 1]",
    "Seq": 5,
}


def test_collectives_keep_their_arguments(tmp_path: Path) -> None:
    events = [
        event("record_param_comms", "cpu_op", 1, **COLLECTIVE),
        event("ncclDevKernel_Generic", "kernel", 5, device=0, stream=3, correlation=1, **COLLECTIVE),
        event("gemm", "kernel", 9, device=0, stream=3, correlation=2, kind="Dispatch Kernel"),
    ]
    run = open_run(write(tmp_path / "t.json", events))
    assert COLLECTIVE.items() <= json.loads(run.dispatches["properties"][0]).items()
    assert run.dispatches["properties"][1] is None
    assert COLLECTIVE.items() <= json.loads(run.regions["event_properties"][0]).items()


def test_calls_keep_arguments_that_are_their_own(tmp_path: Path) -> None:
    events = [
        event("hipMalloc", "cuda_runtime", 1, cid=12, correlation=1, bytes=4096, ptr="0x10"),
        event("hipStreamWaitEvent", "cuda_runtime", 3, cid=200, correlation=2, **{"External id": 7, "Ev Idx": 1}),
        event("hipEventRecord", "cuda_runtime", 4, correlation=3, stream="0x7f", event="0x20"),
        event("hipLaunchKernel", "cuda_runtime", 5, correlation=4, kernel="_Z1k", grid=[4, 1, 1], block=[64, 1, 1]),
        event("k", "kernel", 9, 2, 0, 0, device=0, stream=0, correlation=4),
        event("hipMemcpyWithStream", "cuda_runtime", 12, correlation=5, size=256, stream="0x7f"),
        event("Memcpy DtoH (Device -> Host)", "gpu_memcpy", 13, 1, 0, 0, device=0, stream=0, correlation=5),
    ]
    run = open_run(write(tmp_path / "t.json", events))
    stored = [None if text is None else json.loads(text) for text in run.regions["event_properties"]]
    assert stored[0]["bytes"] == 4096
    assert stored[1] is None
    assert stored[2]["event"] == "0x20"
    assert stored[3] is None  # the dispatch has its sizes
    assert run.dispatches.select("grid_x", "workgroup_x").rows() == [(256, 64)]
    assert run.copies["size_bytes"].to_list() == [256]


def test_waits_of_streams_stand_at_their_call(tmp_path: Path) -> None:
    wait = {"wait_on_stream": 7, "wait_on_cuda_event_id": 3, "wait_on_cuda_event_record_corr_id": 40, "stream": 20}
    events = [
        event("cudaStreamWaitEvent", "cuda_runtime", 1, correlation=41, cbid=147),
        event("Stream Wait Event", "cuda_sync", 2, 0, 0, 20, correlation=41, device=0, **wait),
        event("Event Synchronize", "cuda_sync", 5, 1, 0, 20, correlation=99, device=0),
    ]
    run = open_run(write(tmp_path / "t.json", events))
    assert wait.items() <= json.loads(run.regions["event_properties"][0]).items()
    assert run.processes["pid"].to_list() == [7]  # the GPU is no process
    assert run.table("gpu_waits").select("name", "correlation").rows() == [
        ("Stream Wait Event", 41),
        ("Event Synchronize", 99),
    ]


def test_times_keep_their_nanoseconds(tmp_path: Path) -> None:
    text = (
        '{"traceEvents": [{"ph": "X", "name": "a", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": 1751410836000123.457,'
        '"dur": 0.001}, {"ph": "X", "name": "b", "cat": "cpu_op", "pid": "1", "tid": "1",'
        '"ts": "1751410836000123.9996", "dur": "2"}]}'
    )
    (tmp_path / "t.json").write_text(text)
    regions = open_run(tmp_path / "t.json").regions
    assert regions.select("start_ns", "end_ns").rows() == [
        (1751410836000123457, 1751410836000123458),
        (1751410836000124000, 1751410836000126000),
    ]


def test_ranks_in_one_file(tmp_path: Path) -> None:
    events = [
        event(name, cat, ts, 1, pid, pid, rank=rank, pid_raw=raw, correlation=5, **more)
        for rank in (0, 1)
        for name, cat, ts, pid, raw, more in (
            ("hipLaunchKernel", "cuda_runtime", 1, 70 + rank + 1000 * rank, 70 + rank, {}),
            ("k", "kernel", 3, 2 + 1000 * rank, 2, {"device": 2, "stream": 0}),
        )
    ]
    run = open_run(write(tmp_path / "merged.json", events))
    assert run.processes.select("pid", "rank").rows() == [(70, 0), (71, 1)]
    assert run.dispatches.select("process", "agent").rows() == [(0, 0), (1, 1)]


def test_begin_and_end_events_and_an_open_list(tmp_path: Path) -> None:
    halves = [("B", "outer", 1), ("B", "inner", 2), ("E", "", 4), ("E", "", 9), ("B", "open", 10), ("E", "", None)]
    text = ",\n".join(json.dumps({"ph": ph, "name": name, "pid": 1, "tid": 1, "ts": ts}) for ph, name, ts in halves[:5])
    (tmp_path / "list.json").write_text(f"[{{}},\n{text},\n")
    run = open_run(tmp_path / "list.json")
    assert run.regions.select("name", "start_ns", "end_ns").rows() == [
        ("outer", 1000, 9000),
        ("inner", 2000, 4000),
        ("open", 10_000, 10_000),
    ]
    assert run.losses["kind"].to_list() == ["cut_file", "unfinished_events"]


def test_numbers_that_are_not_json(tmp_path: Path) -> None:
    text = json.dumps({"traceEvents": [event("c", "gpu_memcpy", 1, 1, 2, 0, device=2, bandwidth="X")]})
    for word in ("inf", "NaN", "-Infinity"):
        (tmp_path / "t.json").write_text(text.replace('"X"}', f"{word}}}"))
        assert open_run(tmp_path / "t.json").copies.height == 1


@pytest.mark.parametrize("time", ["1e999999", "1e400", "-1e30", "Infinity", "NaN", "sNaN", "1e-999999", "x"])
def test_times_that_no_clock_has_are_none(time: str) -> None:
    assert nanoseconds([time, "1.5e3"]).to_list() == [0 if "e-" in time else None, 1_500_000]
    assert nanoseconds([10**60, 3]).to_list() == [None, 3000]


@pytest.mark.some_cases(5)
@pytest.mark.parametrize("field", ["deviceProperties", "distributedInfo", "baseTimeNanoseconds", "schemaVersion"])
@pytest.mark.parametrize("value", [7, 1 << 63, 1 << 80, 1.5, "x", {"id": 0}, [7, None, {"id": 0}], None])
def test_facts_of_any_type_are_read(tmp_path: Path, field: str, value: object) -> None:
    path = write(tmp_path / "trace.json", EVENTS, **{**AROUND, field: value})
    assert open_run(path).dispatches.height == open_run(write(path, EVENTS, **AROUND)).dispatches.height


def test_events_that_are_none_are_counted(tmp_path: Path) -> None:
    events = [event("a", "cpu_op", 1), 5, {"ph": 3}, event("b", "cpu_op", "soon"), {"ph": "C", "name": "c", "pid": 1}]
    run = open_run(write(tmp_path / "t.json", events))
    assert run.regions["name"].to_list() == ["a"]
    assert run.losses.select("kind", "count").rows() == [("malformed_events", 2), ("malformed_events", 2)]


def test_counters_last_until_the_next_value(tmp_path: Path) -> None:
    """Of GPUs and of nothing in particular; texts are numbers, and what is no number is left out."""
    gpu = {"ph": "M", "name": "process_name", "pid": 2, "args": {"name": "GPU2"}}

    def point(name: str, time: float, pid: int = 2, **values: object) -> dict[str, object]:
        return {"ph": "C", "name": name, "pid": pid, "ts": time, "args": values}

    counters = [
        point("sclk", 1, sclk=800),
        point("sclk", 4, sclk="1700.5"),
        point("sclk", 9, sclk=1700.5),
        point("mix", 2, pid=1, read=5, write=None, other=True),
        point("pair", 3, pid=1, read=5, write=7.5),
        point("QueueDepth", 3, depth=1),
        point("Idle", 3, idle=1),
        point("odd", 3, odd="often", huge="1e999"),
        {"ph": "C", "name": "none", "pid": 1, "ts": 5},
    ]
    run = open_run(write(tmp_path / "t.json", [event("a", "cpu_op", 1), gpu, *counters]))
    assert run.losses.height == 0
    agents = run.read("agents")["absolute_index"].to_list()
    rows = run.monitors.select("name", "start_ns", "end_ns", "value", "agent").rows()
    shown = [(*row[:4], None if row[4] is None else agents[row[4]]) for row in rows]
    assert sorted(shown) == [
        ("mix", 2_000, 2_000, 5.0, None),
        ("pair read", 3_000, 3_000, 5.0, None),
        ("pair write", 3_000, 3_000, 7.5, None),
        ("sclk", 1_000, 4_000, 800.0, 2),
        ("sclk", 4_000, 9_000, 1700.5, 2),
    ]


def test_counters_of_two_processes_and_of_other_sets_of_values(tmp_path: Path) -> None:
    """A value that stands alone at one time is of the same series as where it stands beside another."""
    calls = [event("a", "cpu_op", 1, 20, pid, pid) for pid in (10, 20)]
    points: list[dict[str, Any]] = [{"x": 1, "y": 2}, {"x": 3}, {"x": 4, "y": 7}]
    ours = [{"ph": "C", "name": "m", "pid": 10, "ts": 4 * n, "args": each} for n, each in enumerate(points)]
    theirs = [{"ph": "C", "name": "m", "pid": 20, "ts": 1 + 4 * n, "args": {"x": n}} for n in range(3)]
    run = open_run(write(tmp_path / "t.json", [*calls, *ours, *theirs]))
    assert run.processes["pid"].to_list() == [10, 20]
    assert sorted(run.monitors.select("process", "name", "start_ns", "end_ns", "value").rows()) == [
        (0, "m x", 0, 4_000, 1),
        (0, "m x", 4_000, 8_000, 3),
        (0, "m y", 0, 8_000, 2),
        (1, "m", 1_000, 5_000, 0),
        (1, "m", 5_000, 9_000, 1),
    ]


def test_starts_and_ends_may_stand_in_any_order(tmp_path: Path) -> None:
    halves = [("E", "a", 20), ("B", "b", 30), ("E", "b", 40), ("B", "a", 10)]
    events = [{"ph": ph, "name": name, "pid": 1, "tid": 1, "ts": time} for ph, name, time in halves]
    run = open_run(write(tmp_path / "t.json", events))
    assert sorted(run.regions.select("name", "start_ns", "end_ns").rows()) == [
        ("a", 10_000, 20_000),
        ("b", 30_000, 40_000),
    ]
    assert run.losses.height == 0


def test_hosts_are_hosts_beside_more_gpus_than_are_listed(tmp_path: Path) -> None:
    work = [event("k", "kernel", 10 + n, 1, n, 7, device=n, stream=7) for n in range(5_000)]
    copy = event("Memcpy HtoD (Host -> Device)", "gpu_memcpy", 9, 1, 0, 7, device=0, stream=7, bytes=4)
    run = open_run(write(tmp_path / "t.json", [*work, copy]))
    kinds = run.agents["kind"].to_list()
    assert kinds[run.copies["src_agent"][0]] == "CPU"
    assert {kinds[agent] for agent in run.dispatches["agent"].drop_nulls()} == {"GPU"}


def test_cut_files_are_refused(tmp_path: Path) -> None:
    whole = write(tmp_path / "t.json", EVENTS, **AROUND).read_bytes()
    (tmp_path / "cut.json").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(NotATraceError, match="not a complete Chrome trace"):
        open_run(tmp_path / "cut.json")
    (tmp_path / "cut.json.gz").write_bytes(gzip.compress(whole)[:200])
    with pytest.raises(NotATraceError, match="damaged gzip"):
        open_run(tmp_path / "cut.json.gz")


def test_a_trace_without_events_is_empty(tmp_path: Path) -> None:
    run = open_run(write(tmp_path / "t.json", []))
    assert (run.dispatches.height, run.processes.height) == (0, 0)


def test_what_wavewright_itself_writes(tmp_path: Path) -> None:
    write_rocpd(tmp_path / "run.db", Workload(dispatches=300, ranks=2, streams=2))
    run = open_run(tmp_path / "run.db")
    write_chrome(run, tmp_path / "run.json")
    back = open_run(tmp_path / "run.json")
    for table in ("processes", "dispatches", "copies", "regions", "samples"):
        assert back.table(table).height == run.table(table).height, table
    for table in ("dispatches", "copies", "regions"):
        ours, theirs = (
            document.table(table).select("name", "start_ns", "end_ns").cast({"name": pl.String}).sort(pl.all())
            for document in (run, back)
        )
        assert theirs.equals(ours), table
    assert dict(back.regions["domain"].value_counts().iter_rows()) == dict(
        run.regions["domain"].value_counts().iter_rows()
    )
    assert set(back.processes["pid"]) == set(run.processes["pid"])
