"""Real recordings in other formats: what was recorded is what is written."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from tests.kit.opened import open_run
from wavewright.export.run.csv import write_csv
from wavewright.export.run.otf2 import timelines
from wavewright.export.run.perfetto import write_perfetto

ROCPD = {"c01": ("28", 151, 2604546, 629), "c03": ("15", 301, 11029243, 623), "c08": ("45", 301, 3797011, 624)}
"""Capture -> process, dispatches, their nanoseconds, HIP calls; as the index of the data says."""


@pytest.fixture(scope="module", params=ROCPD)
def recorded(request: pytest.FixtureRequest, shared: Path) -> tuple[Path, int, int, int]:
    process, *figures = ROCPD[request.param]
    dispatches, nanoseconds, calls = figures
    folder = shared / "data" / "att-mi300x-bmm" / request.param / "raw"
    return folder / f"{process}_results.db", dispatches, nanoseconds, calls


def durations(path: Path) -> dict[str, list[int]]:
    """Nanoseconds of every slice of a Perfetto trace, by category."""
    protos = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2")
    trace = protos.Trace()
    trace.ParseFromString(path.read_bytes())
    categories: dict[int, str] = {}
    found: dict[str, list[int]] = {}
    open_slices: dict[int, list[tuple[str, int]]] = {}
    for packet in trace.packet:
        categories.update((entry.iid, entry.name) for entry in packet.interned_data.event_categories)
    for packet in sorted(trace.packet, key=lambda packet: packet.timestamp):
        event = packet.track_event
        stack = open_slices.setdefault(event.track_uuid, [])
        if event.type == 1:
            stack.append((categories[event.category_iids[0]], packet.timestamp))
        elif event.type == 2:
            category, begin = stack.pop()
            found.setdefault(category, []).append(packet.timestamp - begin)
    assert not any(open_slices.values())
    return found


def test_rocpd_in_perfetto(recorded: tuple[Path, int, int, int], tmp_path: Path) -> None:
    path, dispatches, nanoseconds, calls = recorded
    found = durations(write_perfetto(open_run(str(path)), tmp_path / "run.pftrace").path)
    assert len(found["kernel_dispatch"]) == dispatches
    assert sum(found["kernel_dispatch"]) == nanoseconds
    assert len(found["hip_api"]) == calls


@pytest.mark.first_case
def test_rocpd_as_csv(recorded: tuple[Path, int, int, int], tmp_path: Path) -> None:
    path, dispatches, nanoseconds, calls = recorded
    folder = write_csv(open_run(str(path)), tmp_path / "csv").path
    kernels = pl.read_csv(folder / "out_kernel_trace.csv")
    assert kernels.height == dispatches
    assert (kernels["End_Timestamp"] - kernels["Start_Timestamp"]).sum() == nanoseconds
    assert pl.read_csv(folder / "out_hip_api_trace.csv").height == calls
    assert open_run(str(folder)).dispatches.height == dispatches


@pytest.mark.slow
def test_mytrace(shared: Path, tmp_path: Path) -> None:
    """14,736 calls and 10,124 operations, 416,625,081 ns on the GPU."""
    run = open_run(str(shared / "data" / "rpd" / "mytrace.rpd.gz"))
    found = durations(write_perfetto(run, tmp_path / "run.pftrace").path)
    on_gpu = found["kernel_dispatch"] + found["memory_copy"]
    assert (len(on_gpu), sum(on_gpu)) == (10_124, 416_625_081)
    calls = sum(len(part) for category, part in found.items() if category not in ("kernel_dispatch", "memory_copy"))
    assert calls + run.samples.height == 14_736
    assert sum(timeline.events.height for timeline in timelines(run, [])) == 2 * (14_736 + 10_124)
