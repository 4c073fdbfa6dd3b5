"""Perfetto traces, read back with Perfetto's own protobuf definitions."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from synth import Workload, write_rocpd, write_rpd
from wavewright.errors import UsageError
from wavewright.export.run.perfetto import write_perfetto
from wavewright.model.run import MemorySource, Run
from wavewright.readers.run.inputs import open_run

protos = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2")

WORKLOAD = Workload(
    dispatches=1500, ranks=3, nodes=2, gpus=4, graphs=True, same_pids=True, hostile_names=True, argument_share=0.1
)
KERNEL_ANNOTATIONS = """
    dispatch_id corr_id tid stream_id workgroup_size_x workgroup_size_y grid_size_x grid_size_y LDS_Block_Size
    Scratch_Size VGPR_Count Accum_VGPR_Count SGPR_Count
"""
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4


@dataclass
class Trace:
    """A trace as a viewer understands it."""

    tracks: dict[int, Any] = field(default_factory=dict)
    slices: list[dict[str, Any]] = field(default_factory=list)
    instants: list[dict[str, Any]] = field(default_factory=list)
    points: dict[int, list[tuple[int, float]]] = field(default_factory=lambda: defaultdict(list))

    def path(self, uuid: int) -> tuple[str, ...]:
        """Names from the process down to the track."""
        track = self.tracks[uuid]
        name = track.process.process_name or track.thread.thread_name or track.name
        return (*(self.path(track.parent_uuid) if track.parent_uuid else ()), name)


def read(path: Path) -> Trace:
    """Packets in the order of their times (stable, as trace_processor sorts them); begins and ends are matched."""
    parsed = protos.Trace()
    parsed.ParseFromString(path.read_bytes())
    trace, timed = Trace(), []
    texts: dict[str, dict[int, str]] = defaultdict(dict)
    for packet in parsed.packet:
        assert packet.trusted_packet_sequence_id == 1
        for kind in ("event_categories", "event_names", "debug_annotation_names"):
            texts[kind].update((entry.iid, entry.name) for entry in getattr(packet.interned_data, kind))
        values = packet.interned_data.debug_annotation_string_values
        texts["values"].update((entry.iid, entry.str.decode()) for entry in values)
        if packet.HasField("track_descriptor"):
            assert packet.track_descriptor.uuid not in trace.tracks
            trace.tracks[packet.track_descriptor.uuid] = packet.track_descriptor
        if packet.HasField("track_event"):
            event = packet.track_event
            assert event.track_uuid in trace.tracks, "a track is described before its events"
            assert not event.name_iid or event.name_iid in texts["event_names"]
            timed.append((packet.timestamp, event))
    open_slices: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for time, event in sorted(timed, key=lambda pair: pair[0]):
        stack = open_slices[event.track_uuid]
        if event.type == END:
            stack.pop()["end"] = time
        elif event.type == COUNTER:
            value = event.counter_value if event.HasField("counter_value") else event.double_counter_value
            trace.points[event.track_uuid].append((time, value))
        else:
            found = {"begin": time, "track": event.track_uuid, "name": texts["event_names"][event.name_iid],
                     "category": texts["event_categories"][event.category_iids[0]], "flows": list(event.flow_ids),
                     "depth": len(stack), **annotated(event, texts)}  # fmt: skip
            (trace.slices if event.type == BEGIN else trace.instants).append(found)
            if event.type == BEGIN:
                stack.append(found)
    assert not any(open_slices.values())
    return trace


def annotated(event: Any, texts: dict[str, dict[int, str]]) -> dict[str, Any]:
    found = {}
    for each in event.debug_annotations:
        kind = each.WhichOneof("value")
        value = texts["values"][each.string_value_iid] if kind == "string_value_iid" else getattr(each, kind)
        found[texts["debug_annotation_names"][each.name_iid]] = value
    return found


def ended(part: dict[str, Any]) -> tuple[str, int, int]:
    return part["name"], part["begin"], part["end"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    run = write_rocpd(tmp_path_factory.mktemp("run") / "run.db", WORKLOAD, schema="3.0.3")
    return open_run(str(run.paths[0]))


@pytest.fixture(scope="module")
def trace(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Trace:
    return read(write_perfetto(run, tmp_path_factory.mktemp("out") / "run.pftrace").path)


def named(frame: pl.DataFrame, *columns: str) -> list[tuple[Any, ...]]:
    return frame.select(pl.col("name").cast(pl.String), *columns).rows()


@pytest.mark.slow
def test_every_dispatch_and_copy_is_a_slice(run: Run, trace: Trace) -> None:
    kernels = [part for part in trace.slices if part["category"] == "kernel_dispatch"]
    assert Counter(map(ended, kernels)) == Counter(named(run.dispatches, "start_ns", "end_ns"))
    copies = [part for part in trace.slices if part["category"] == "memory_copy"]
    assert Counter(map(ended, copies)) == Counter(named(run.copies, "start_ns", "end_ns"))
    assert sum(part["copy_bytes"] for part in copies) == run.copies["size_bytes"].sum()
    assert {part["depth"] for part in kernels + copies} == {0}, "work on a GPU is never nested"


def test_calls_nest_as_they_did(run: Run, trace: Trace) -> None:
    calls = [part for part in trace.slices if part["category"].endswith("_api")]
    assert Counter(map(ended, calls)) == Counter(named(run.regions, "start_ns", "end_ns"))
    assert {part["category"] for part in calls} == {"hip_api", "hsa_api", "marker_api", "rccl_api"}
    depths = {part["name"]: part["depth"] for part in calls}
    assert (depths["iteration"], depths["forward"], depths["hsa_signal_store_screlease"]) == (0, 1, 3)
    ranges = [part for part in calls if part["category"] == "marker_api"]
    assert {part["function"] for part in ranges} == {"roctxThreadRangeA"}


def test_slices_say_what_they_are(run: Run, trace: Trace) -> None:
    threads, streams = run.threads.select("thread", "tid"), run.streams.select("stream", "stream_id")
    rows = run.dispatches.join(threads, on="thread").join(streams, on="stream")
    expected = Counter(
        rows.select(
            "dispatch_id", "correlation", "tid", "stream_id", "workgroup_x", "workgroup_y", "grid_x", "grid_y",
            "lds_bytes", "scratch_bytes", "vgpr_count", "accum_vgpr_count", "sgpr_count",
        ).rows()
    )  # fmt: skip
    names = KERNEL_ANNOTATIONS.split()
    kernels = [part for part in trace.slices if part["category"] == "kernel_dispatch"]
    assert Counter(tuple(part[name] for name in names) for part in kernels) == expected
    assert {part["region"] for part in kernels} >= {"forward", "backward", "optimizer", "allreduce"}


def test_flows_connect_a_call_with_its_work(trace: Trace) -> None:
    calls = {part["flows"][0]: part for part in trace.slices if part["category"].endswith("_api") and part["flows"]}
    work = [part for part in trace.slices if not part["category"].endswith("_api")]
    for part in work:
        call = calls[part["flows"][0]]
        assert call["corr_id"] == part["corr_id"]
        assert call["begin"] <= part["begin"]
        assert trace.path(call["track"])[0] == trace.path(part["track"])[0], "of the same process"
    assert len(calls) < len(work), "the launch of a graph has many dispatches"


def test_tracks_of_processes_gpus_and_streams(trace: Trace) -> None:
    processes = [track.process for track in trace.tracks.values() if track.HasField("process")]
    assert [process.process_name for process in processes] == [
        "rank 0: python3 (node000)", "rank 1: python3 (node001)", "rank 2: python3 (node000)"
    ]  # fmt: skip
    assert len({process.pid for process in processes}) == 3, "Perfetto knows processes by their number alone"
    paths = {trace.path(part["track"]) for part in trace.slices if part["category"] == "kernel_dispatch"}
    assert ("rank 0: python3 (node000)", "GPU 0 gfx942", "Stream 0") in paths
    assert {len(path) for path in paths} <= {3, 4}


def test_counters_are_those_of_the_dispatch(run: Run, trace: Trace) -> None:
    values = run.counters.join(run.counter_info.select("counter", "name"), on="counter")
    summed = values.group_by("process", "event", "name").agg(pl.col("value").sum())
    expected = Counter(summed.select("name", "value").rows())
    found = Counter(
        (name, part[name]) for part in trace.slices for name in ("SQ_WAVES", "SQ_INSTS_VALU") if name in part
    )
    assert found == expected
    points = {trace.path(uuid)[-1]: points for uuid, points in trace.points.items()}
    assert {"PMC SQ_WAVES", "PMC SQ_INSTS_VALU"} <= set(points)
    assert all(value == 0 for _, value in [points[-1] for uuid, points in trace.points.items() if "PMC" in
                                           trace.path(uuid)[-1]])  # fmt: skip


def test_bytes_being_copied_and_allocated(run: Run, trace: Trace) -> None:
    copied = {trace.path(uuid): points for uuid, points in trace.points.items() if "COPY" in trace.path(uuid)[-1]}
    first = copied["rank 0: python3 (node000)", "GPU 0 gfx942", "COPY BYTES to GPU 0 gfx942"]
    assert first[-1][1] == 0
    assert max(value for _, value in first) in run.copies["size_bytes"].to_list()
    allocated = [points for uuid, points in trace.points.items() if "ALLOCATE" in trace.path(uuid)[-1]]
    taken = run.allocations.filter(pl.col("level").cast(pl.String) == "REAL")
    assert sum(points[-1][1] for points in allocated) == taken["size_bytes"].sum(), "nothing was released in this run"


def test_what_overlaps_goes_to_a_track_below(tmp_path: Path) -> None:
    times = {"start_ns": [10, 15, 18, 40], "end_ns": [20, 17, 30, 41]}
    place = {"process": [0] * 4, "agent": [0] * 4, "stream": [0] * 4, "thread": [0] * 4}
    names = {"name": ["a", "inside a", "across the end of a", "alone"], "domain": ["HIP"] * 4, "category": ["HIP"] * 4}
    tables = {
        "processes": pl.DataFrame({"process": [0], "source": [0], "pid": [7]}),
        "threads": pl.DataFrame({"thread": [0], "process": [0], "tid": [7]}),
        "agents": pl.DataFrame({"agent": [0], "process": [0], "kind": ["GPU"], "type_index": [0]}),
        "streams": pl.DataFrame({"stream": [0], "process": [0], "stream_id": [3]}),
        "dispatches": pl.DataFrame({**times, **place, "name": names["name"]}),
        "regions": pl.DataFrame({**times, **place, **names}),
    }
    written = write_perfetto(Run([MemorySource("x", "made", tables=tables)]), tmp_path / "x.pftrace")
    trace = read(written.path)
    assert sorted(map(ended, trace.slices)) == sorted(2 * list(zip(names["name"], *times.values(), strict=True)))
    kernels = {part["name"]: trace.path(part["track"])[-1] for part in trace.slices if "api" not in part["category"]}
    assert kernels == {
        "a": "Stream 3",
        "inside a": "overlap 1",
        "across the end of a": "overlap 1",
        "alone": "Stream 3",
    }
    calls = {part["name"]: (part["depth"], trace.path(part["track"])[-1]) for part in trace.slices
             if "api" in part["category"]}  # fmt: skip
    assert calls["inside a"] == (1, "Thread 7")
    assert calls["across the end of a"] == (0, "overlap 1")
    assert written.counts["overlap_tracks"] == 2


def test_times_that_cannot_be_held_are_said(tmp_path: Path) -> None:
    tables = {
        "processes": pl.DataFrame({"process": [0], "source": [0], "pid": [None]}),
        "dispatches": pl.DataFrame(
            {"process": [0] * 3, "name": ["a"] * 3, "start_ns": [None, -5, 9], "end_ns": [1, 1, 3]}
        ),
    }
    written = write_perfetto(Run([MemorySource("x", "made", tables=tables)]), tmp_path / "x.pftrace")
    assert [(loss.kind, loss.count) for loss in written.losses] == [("not_in_format", 2)]
    assert [ended(part) for part in read(written.path).slices] == [("a", 9, 9)], "an end before its begin is the begin"


@pytest.mark.parametrize("schema", [2, 3])
def test_rpd(tmp_path: Path, schema: int) -> None:
    run = write_rpd(tmp_path / "run.rpd", Workload(dispatches=400, ranks=2, graphs=True), schema=schema)
    document = open_run(str(run.paths[0]))
    trace = read(write_perfetto(document, tmp_path / "run.pftrace", group_by="queue").path)
    assert len(trace.slices) == sum(run.total.counts[table] for table in ("dispatches", "copies", "regions"))
    assert len(trace.instants) == run.total.counts["samples"]
    clocks = [points for uuid, points in trace.points.items() if trace.path(uuid)[-1] == "sclk"]
    last_ones = len(clocks)
    assert (
        sum(map(len, clocks)) == document.monitors.filter(pl.col("name").cast(pl.String) == "sclk").height + last_ones
    )


def test_several_sources_share_nothing(tmp_path: Path) -> None:
    paths = [write_rocpd(tmp_path / f"{seed}.db", Workload(dispatches=50, seed=seed)).paths[0] for seed in (1, 2)]
    trace = read(write_perfetto(open_run(*map(str, paths)), tmp_path / "run.pftrace").path)
    pids = [track.process.pid for track in trace.tracks.values() if track.HasField("process")]
    assert len(set(pids)) == len(pids) == 2


def test_an_existing_file_is_kept(tmp_path: Path, run: Run) -> None:
    target = tmp_path / "run.pftrace"
    target.write_text("mine")
    with pytest.raises(UsageError):
        write_perfetto(run, target)
    assert target.read_text() == "mine"
    assert write_perfetto(run, target, force=True).byte_count > 4
