from __future__ import annotations

import gzip
import json
import random
from typing import TYPE_CHECKING

import pytest

from synth.xplane import XEvent, XLine, XPlane, number, piece, small_xspace, xspace
from tests.kit.together import together
from wavewright.errors import NotATraceError
from wavewright.model.losses import Loss
from wavewright.readers.files.kinds import Kind, sniff
from wavewright.readers.run.inputs import open_run
from wavewright.readers.run.xplane.planes import Wire, _PlaneReader, read_space

if TYPE_CHECKING:
    from pathlib import Path

START = 1_700_000_000_000_000_000


def test_what_jax_writes(tmp_path: Path) -> None:
    file = tmp_path / "host.xplane.pb"
    file.write_bytes(small_xspace())
    run = open_run(file)
    assert run.sources["format"].to_list() == ["XPlane"]
    assert run.nodes["hostname"].to_list() == ["node7"]
    assert run.agents.select("kind", "agent_id", "vendor", "cu_count").rows() == [
        ("GPU", 0, "AMD", 304),
        ("GPU", 1, "AMD", 304),
    ]
    assert run.dispatches.select("name", "start_ns", "end_ns", "agent", "correlation").rows() == [
        ("gemm", START + 6000, START + 8000, 0, 8),
        ("relu", START + 7000, START + 7500, 1, 10),
    ]
    sizes = ("grid_x", "grid_y", "workgroup_x", "lds_bytes", "scratch_bytes")
    assert run.dispatches.select(*sizes).row(0) == (1024, 2, 64, 2112, 8)
    assert json.loads(run.dispatches["properties"][0])["hlo_op"] == "fusion.1"
    assert run.streams["stream_id"].to_list() == [3, 17]
    assert run.copies.select("name", "size_bytes", "start_ns", "end_ns").rows() == [
        ("MEMORY_COPY_DEVICE_TO_HOST", 256, START + 9000, START + 10000)
    ]
    assert run.regions.select("name", "domain").rows() == [
        ("hipModuleLaunchKernel", "HIP"),
        ("hipMemcpyDtoHAsync", "HIP"),
        ("hipModuleLaunchKernel", "HIP"),
        ("train#4", "MARKER"),
        ("train.py(31): step", "PYTHON"),
        ("builtins len", "PYTHON"),
        ("PjitFunction(f)", "OPERATOR"),
    ]
    assert run.samples["name"].to_list() == ["RecordUsage"]
    assert run.threads.select("tid", "name").rows() == [(-5, "python"), (77, "Host Threads/77")]
    assert run.allocations.select("type", "level", "size_bytes", "address", "agent").rows() == [
        ("ALLOC", "FRAMEWORK", 512, 4096, 1),
        ("FREE", "FRAMEWORK", 0, 4096, 1),
    ]
    assert run.table("device_lines").select("line", "name").rows() == [("XLA Ops", "fusion.1")]
    assert run.table("profiler_messages")["message"].to_list() == ["a buffer was full"]
    assert run.losses.height == 0


def test_told_by_content_and_by_name(tmp_path: Path) -> None:
    (tmp_path / "renamed").write_bytes(small_xspace())
    (tmp_path / "a.xplane.pb.gz").write_bytes(gzip.compress(small_xspace()))
    assert sniff(tmp_path / "renamed") is Kind.XPLANE
    assert sniff(tmp_path / "a.xplane.pb.gz") is Kind.XPLANE
    assert sniff(tmp_path) is Kind.RUN_FOLDER
    assert open_run(tmp_path).dispatches.height == 2  # the file that is named like one
    (tmp_path / "text").write_text("\n/host: and more")
    assert sniff(tmp_path / "text") is Kind.UNKNOWN


def test_times_that_are_absolute_stay(tmp_path: Path) -> None:
    line = XLine(1, "Stream #1(Kernel)", [XEvent("k", 2_500, 1_000)], START + 5)
    facts = XPlane("Task Environment", statistics={"profile_start_time": START})
    (tmp_path / "a.xplane.pb").write_bytes(xspace([XPlane("/device:GPU:0", [line]), facts]))
    assert open_run(tmp_path / "a.xplane.pb").dispatches.select("start_ns", "end_ns").rows() == [(START + 7, START + 8)]


def test_events_without_a_time_and_planes_of_others_are_losses(tmp_path: Path) -> None:
    line = XLine(1, "Stream #1(Kernel)", [XEvent("k", (1 << 63) - 1, 5)], (1 << 63) - 1)
    others = XPlane("/device:TPU:0", [XLine(1, "XLA Ops", [XEvent("dot", 0, 5), XEvent("dot", 9, 5)])])
    (tmp_path / "a.xplane.pb").write_bytes(xspace([XPlane("/device:GPU:0", [line]), others]))
    run = open_run(tmp_path / "a.xplane.pb")
    assert run.dispatches.height == 0
    assert dict(run.losses.select("kind", "count").iter_rows()) == {"malformed_events": 1, "unread_records": 2}


def test_a_file_without_planes_is_refused(tmp_path: Path) -> None:
    for content in (b"\x00\x01\x02", b"\xff" * 40, number(9, 1), piece(1, b"")):
        (tmp_path / "a.xplane.pb").write_bytes(content)
        with pytest.raises(NotATraceError, match="no plane with a name"):
            open_run(tmp_path / "a.xplane.pb")


@together(
    "data",
    [b"\x0b", b"\x00\x01", b"\x08" + b"\xff" * 11, b"\x0a\xff\xff\xff\xff\x0fab", b"\x09abc", b"\x0d\x01", b"\x0a"],
)
def test_damage_is_counted(data: bytes) -> None:
    wire = Wire(data)
    assert len(list(wire.fields(0, len(data)))) <= 1
    assert wire.damage_count == 1


def test_a_cut_plane_has_what_came_before() -> None:
    whole = small_xspace()
    counts = [sum(len(line.events) for plane in read_space(whole[:end]).planes for line in plane.lines)
              for end in range(len(whole) + 1)]  # fmt: skip
    assert counts == sorted(counts)
    assert counts[-1] == 14


def test_its_losses_have_sentences() -> None:
    assert "messages of the file" in Loss("malformed_events", 3, detail="messages of the file").message


def test_the_quick_way_reads_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    chance, events = random.Random(5), []
    for _ in range(300):
        values = {
            "correlation_id": chance.choice([0, 1, 127, 128, 1 << 40, (1 << 62), -3]),
            "name": "x" * chance.randrange(9),
        }
        values |= {"share": chance.random()} if chance.random() < 0.5 else {}
        start, length = (chance.choice([0, 5, 1 << 20, 1 << 60, -7]) for _ in range(2))
        events.append(XEvent(f"event {chance.randrange(200)}", start, length, values if chance.random() < 0.9 else {}))
    data = xspace([XPlane("/host:CPU", [XLine(1, "thread", events)])])
    quick = read_space(data)
    monkeypatch.setattr(_PlaneReader, "_usual_event", lambda *_: None)
    monkeypatch.setattr(_PlaneReader, "_usual_statistic", lambda *_: None)
    assert quick == read_space(data)
    assert len(quick.planes[0].lines[0].events) == 300


def test_copies_of_older_files_are_copies(tmp_path: Path) -> None:
    """Older releases name copies as roctracer does, or tell them by their details alone."""
    events = [
        XEvent("CopyDeviceToDevice", 1_000_000, 500_000),
        XEvent("MemcpyP2P", 2_000_000, 500_000),
        XEvent("copy.7", 3_000_000, 500_000, {"memcpy_details": "kind:Device size:64"}),
        XEvent("CopyFunctor.kd", 4_000_000, 500_000),
    ]
    path = tmp_path / "old.xplane.pb"
    path.write_bytes(xspace([XPlane("/device:GPU:0", [XLine(1, "Stream #1(MemcpyD2D,Kernel)", events, 1000)])]))
    run = open_run(path)
    assert run.read("copies")["name"].to_list() == ["MEMORY_COPY_DEVICE_TO_DEVICE"] * 2 + ["copy.7"]
    assert run.read("dispatches")["name"].to_list() == ["CopyFunctor"]
