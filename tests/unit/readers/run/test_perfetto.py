"""Perfetto traces: made with Perfetto's own protobuf definitions, and those that wavewright writes."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from synth import Workload, write_rocpd, write_rpd
from wavewright.errors import NotATraceError
from wavewright.export.run.perfetto import write_perfetto
from wavewright.model.run import Run
from wavewright.readers.files.kinds import Kind, sniff
from wavewright.readers.run.inputs import open_run

protos = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2")

BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
CLEARED, NEEDED = 1, 2
PROCESS, THREAD, GPU, POWER = 10, 11, 12, 13


class Made:
    """A trace that is made packet by packet."""

    def __init__(self) -> None:
        self.trace = protos.Trace()

    def packet(self, sequence: int = 1, **fields: Any) -> Any:
        return self.trace.packet.add(trusted_packet_sequence_id=sequence, **fields)

    def track(self, uuid: int, **fields: Any) -> None:
        self.packet().track_descriptor.CopyFrom(protos.TrackDescriptor(uuid=uuid, **fields))

    def event(self, time: int, kind: int, track: int, **fields: Any) -> Any:
        packet = self.packet(timestamp=time)
        packet.track_event.CopyFrom(protos.TrackEvent(type=kind, track_uuid=track, **fields))
        return packet

    def tracks(self) -> None:
        self.track(PROCESS, process=protos.ProcessDescriptor(pid=7, process_name="app", cmdline=["./app", "-n", "3"]))
        self.track(THREAD, parent_uuid=PROCESS, thread=protos.ThreadDescriptor(pid=7, tid=8, thread_name="worker"))
        self.track(GPU, parent_uuid=PROCESS, name="COMPUTE GPU [2] QUEUE [4] HSA")
        watts = protos.CounterDescriptor(unit_name="watts")
        self.track(POWER, parent_uuid=PROCESS, name="GPU Current Power [2] (S)", counter=watts)

    def write(self, folder: Path, name: str = "perfetto-trace-7.proto") -> Path:
        path = folder / name
        path.write_bytes(self.trace.SerializeToString())
        return path

    def run(self, folder: Path) -> Run:
        return open_run(self.write(folder))


def note(name: str, **value: Any) -> Any:
    return protos.DebugAnnotation(name=name, **value)


def losses(run: Run) -> dict[str, int]:
    return dict(run.losses.select("kind", "count").iter_rows())


def test_a_trace_of_rocprof_sys(tmp_path: Path) -> None:
    made = Made()
    made.tracks()
    call = {"categories": ["rocm_hip_api"], "name": "hipLaunchKernel"}
    made.event(100, BEGIN, THREAD, flow_ids=[5], debug_annotations=[note("begin_ns", uint_value=100)], **call)
    made.event(150, END, THREAD, categories=["rocm_hip_api"], debug_annotations=[note("return", string_value="ok")])
    size = [note("workgroup_size", string_value="64 (x=64, y=1, z=1)"), note("LDS_Block_Size", uint_value=512)]
    made.event(
        200, BEGIN, GPU, categories=["kernel_dispatch"], name="k.kd", terminating_flow_ids=[5], debug_annotations=size
    )
    made.event(300, END, GPU)
    made.event(120, INSTANT, THREAD, categories=["user"], name="here")
    for time, value in ((90, 100.0), (190, 250.0), (310, 120.0)):
        made.event(time, COUNTER, POWER, categories=["device_power"], double_counter_value=value)
    run = made.run(tmp_path)
    assert run.sources["format"].to_list() == ["Perfetto"]
    assert run.processes.select("pid", "command").rows() == [(7, "./app -n 3")]
    assert run.threads.select("tid", "name").rows() == [(8, "worker")]
    assert run.agents.select("kind", "type_index").rows() == [("GPU", 2)]
    assert run.dispatches.select("name", "start_ns", "end_ns", "workgroup_x", "lds_bytes", "agent").rows() == [
        ("k", 200, 300, 64, 512, 0)
    ]
    assert run.regions.select("domain", "name", "start_ns", "end_ns", "thread").rows() == [
        ("HIP", "hipLaunchKernel", 100, 150, 0)
    ]
    assert run.regions["event_properties"].to_list() == ['{"begin_ns":100,"return":"ok"}']
    assert run.regions["correlation"].to_list() == run.dispatches["correlation"].to_list() != [None]
    assert run.samples.select("domain", "name", "time_ns").rows() == [("MARKER", "here", 120)]
    assert run.monitors.select("name", "agent", "start_ns", "end_ns", "value").rows() == [
        ("device_power", 0, 90, 190, 100.0),
        ("device_power", 0, 190, 310, 250.0),
    ]
    assert not losses(run)


def test_clocks_of_sequences(tmp_path: Path) -> None:
    """As the SDK writes: clock 64 counts on from packet to packet, in its own unit, and starts again when cleared."""
    made = Made()
    made.tracks()
    for sequence, start in ((21, 1_000_000), (22, 5_000_000)):
        snapshot = made.packet(sequence, sequence_flags=CLEARED).clock_snapshot
        snapshot.clocks.add(clock_id=6, timestamp=start)
        snapshot.clocks.add(clock_id=64, timestamp=7, is_incremental=True, unit_multiplier_ns=1000)
        defaults = made.packet(sequence).trace_packet_defaults
        defaults.timestamp_clock_id = 64
        defaults.track_event_defaults.track_uuid = THREAD
    for sequence, step, kind in ((21, 10, BEGIN), (22, 1, BEGIN), (21, 5, END), (22, 2, END)):
        packet = made.packet(sequence, timestamp=step, sequence_flags=NEEDED)
        packet.track_event.type = kind
        packet.track_event.name = f"s{sequence}"
    run = made.run(tmp_path)
    assert run.regions.select("name", "start_ns", "end_ns").sort("name").rows() == [
        ("s21", 1_010_000, 1_015_000),
        ("s22", 5_001_000, 5_003_000),
    ]


def test_other_clocks(tmp_path: Path) -> None:
    made = Made()
    made.tracks()
    for boot, monotonic in ((1000, 100), (5000, 4000)):
        snapshot = made.packet().clock_snapshot
        snapshot.clocks.add(clock_id=6, timestamp=boot)
        snapshot.clocks.add(clock_id=3, timestamp=monotonic)
    made.event(200, INSTANT, THREAD, name="early").timestamp_clock_id = 3
    made.event(4500, INSTANT, THREAD, name="late").timestamp_clock_id = 3
    made.event(1, INSTANT, THREAD, name="nowhere").timestamp_clock_id = 9
    run = made.run(tmp_path)
    assert run.samples.select("name", "time_ns").sort("time_ns").rows() == [("early", 1100), ("late", 5500)]
    assert losses(run) == {"malformed_events": 1}


def test_interned_names_live_until_cleared(tmp_path: Path) -> None:
    made = Made()
    made.tracks()

    def interned(sequence: int, name: str, flags: int) -> None:
        packet = made.packet(sequence, sequence_flags=flags)
        packet.interned_data.event_names.add(iid=1, name=name)

    def instant(sequence: int, time: int, *, dropped: int = 0) -> None:
        packet = made.packet(sequence, timestamp=time, sequence_flags=NEEDED, previous_packet_dropped=dropped)
        packet.track_event.CopyFrom(protos.TrackEvent(type=INSTANT, track_uuid=THREAD, name_iid=1))

    instant(5, 1)  # before anything was said
    interned(5, "one", CLEARED)
    interned(6, "of another", CLEARED)
    instant(5, 2)
    instant(6, 3)
    instant(5, 4, dropped=1)  # what 1 means may have changed
    instant(5, 5)
    interned(5, "two", CLEARED)
    instant(5, 6)
    run = made.run(tmp_path)
    assert run.samples.select("time_ns", "name").sort("time_ns").rows() == [(2, "one"), (3, "of another"), (6, "two")]
    assert losses(run) == {"lost_packets": 4}
    message = run.losses["message"].item()
    assert "lost packets in 1 places" in message and "3 packets need names" in message


def test_what_the_buffer_dropped(tmp_path: Path) -> None:
    made = Made()
    made.tracks()
    for dropped in (3, 8):
        made.packet().trace_stats.buffer_stats.add(chunks_discarded=dropped, chunks_overwritten=2)
    assert losses(made.run(tmp_path)) == {"lost_packets": 10}


def test_nesting(tmp_path: Path) -> None:
    """Ends find the slice of their name; what is open inside an ended slice ends with it."""
    made = Made()
    made.tracks()
    made.event(10, BEGIN, THREAD, name="outer")
    made.event(20, BEGIN, THREAD, name="inner")
    made.event(50, END, THREAD, name="outer")
    made.event(70, BEGIN, THREAD, name="next")
    made.event(80, BEGIN, THREAD, name="never ends")
    made.event(5, END, THREAD)
    run = made.run(tmp_path)
    rows = run.regions.select("name", "start_ns", "end_ns").sort("start_ns").rows()
    assert rows == [("outer", 10, 50), ("inner", 20, 50), ("next", 70, 70), ("never ends", 80, 80)]
    assert losses(run) == {"malformed_events": 1, "unfinished_events": 2}


def test_nested_annotations_and_counters_of_kernels(tmp_path: Path) -> None:
    made = Made()
    made.tracks()
    entries = [note("a", int_value=-1), note("b", array_values=[note("", bool_value=True), note("", double_value=0.5)])]
    made.event(1, INSTANT, THREAD, name="x", debug_annotations=[note("args", dict_entries=entries)])
    counters = [note("SQ_WAVES", double_value=64.0), note("SQ_WAIT", double_value=0.5)]
    made.event(5, BEGIN, GPU, categories=["kernel_dispatch"], name="k", debug_annotations=counters)
    made.event(9, END, GPU)
    run = made.run(tmp_path)
    assert run.samples["event_properties"].to_list() == ['{"args":{"a":-1,"b":[true,0.5]}}']
    values = run.counters.join(run.counter_info.select("counter", "name"), on="counter")
    assert values.select("name", "value").sort("name").rows() == [("SQ_WAIT", 0.5), ("SQ_WAVES", 64.0)]
    assert values["event"].to_list() == run.dispatches["event"].to_list() * 2


def test_incremental_counters_and_units(tmp_path: Path) -> None:
    made = Made()
    made.track(3, name="moved", counter=protos.CounterDescriptor(is_incremental=True, unit_multiplier=1024))
    for time in (1, 2, 3):
        made.event(time, COUNTER, 3, counter_value=2)
    assert made.run(tmp_path).monitors["value"].to_list() == [2048.0, 4096.0]


def test_packed_and_compressed(tmp_path: Path) -> None:
    made = Made()
    made.tracks()
    inner = Made()
    inner.event(3, INSTANT, THREAD, name="inside")
    made.trace.packet.add(compressed_packets=zlib.compress(inner.trace.SerializeToString()))
    path = made.write(tmp_path)
    packed = tmp_path / "x.pftrace.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    for each in (path, packed):
        assert sniff(each) is Kind.PERFETTO
        assert open_run(each).samples["name"].to_list() == ["inside"]


def test_what_is_not_read_is_said(tmp_path: Path) -> None:
    made = Made()
    made.tracks()
    made.packet().gpu_counter_event.SetInParent()
    made.packet().trace_config.SetInParent()
    run = made.run(tmp_path)
    assert "counters of typed GPU packets" in run.losses["message"].item()
    assert losses(run) == {"unread_records": 1}


def test_a_cut_file(tmp_path: Path) -> None:
    made = Made()
    made.tracks()
    made.event(3, INSTANT, THREAD, name="kept")
    made.event(4, INSTANT, THREAD, name="lost")
    path = made.write(tmp_path)
    path.write_bytes(path.read_bytes()[:-2])
    run = open_run(path)
    assert run.samples["name"].to_list() == ["kept"]
    assert losses(run) == {"cut_file": 1}


@pytest.mark.parametrize("content", [b"\n\x04\x08\x01\x10\x02", b"\n" + b"\xff" * 30, b"\n\x02\x50\x01" * 3])
def test_what_is_none(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.pftrace"
    path.write_bytes(content)
    with pytest.raises(NotATraceError, match="no track"):
        open_run(path)


def shown(run: Run, table: str, *columns: str) -> list[tuple[Any, ...]]:
    """The rows of a table with names in place of numbers, sorted."""
    frame = run.read(table, ["process", *columns])
    pids = run.processes["pid"]
    for column, of, key in (("thread", "threads", "tid"), ("stream", "streams", "stream_id")):
        if column in columns:
            frame = frame.with_columns(run.read(of, [key])[key].gather(frame[column]).alias(column))
    frame = frame.with_columns(pids.gather(frame["process"]).alias("process"), pl.col(pl.Categorical).cast(pl.String))
    return sorted(frame.rows(), key=repr)


@pytest.mark.first_case
@pytest.mark.parametrize("write", [write_rocpd, write_rpd])
def test_what_was_written_is_read(write: Any, tmp_path: Path) -> None:
    made = tmp_path / ("made.rpd" if write is write_rpd else "made.db")
    write(made, Workload(dispatches=600, ranks=2, gpus=2, hostile_names=True))
    run = open_run(made)
    back = open_run(write_perfetto(run, tmp_path / "x.pftrace").path)
    sizes = ("workgroup_x", "grid_y", "lds_bytes", "vgpr_count")
    for table, columns in {
        "dispatches": ("thread", "stream", "name", "start_ns", "end_ns", "correlation", "dispatch_id", *sizes),
        "copies": ("thread", "stream", "start_ns", "end_ns", "size_bytes", "correlation"),
        "regions": ("thread", "domain", "name", "start_ns", "end_ns", "correlation"),
        "samples": ("thread", "domain", "name", "time_ns"),
    }.items():
        assert shown(back, table, *columns) == shown(run, table, *columns), table


def test_other_forms_of_a_run_are_read_once(tmp_path: Path) -> None:
    """rocprofv3 and rocprof-sys write a run in several formats: the database is the most complete."""
    profile = '{"timemory": {"wall_clock": {"ranks": []}}}'
    for database, trace in (("7_results.db", "7_results.pftrace"), ("rocpd-7.db", "perfetto-trace-7.proto")):
        folder = tmp_path / database.removesuffix(".db")
        folder.mkdir()
        write_rocpd(folder / database, Workload(dispatches=50))
        write_perfetto(open_run(folder / database), folder / trace)
        (folder / "wall_clock-7.json").write_text(profile)
        run = open_run(folder)
        assert run.dispatches.height == 50
        left_out = run.losses.filter(pl.col("kind") == "other_forms")["message"].str.join(" ").item()
        assert trace in left_out
