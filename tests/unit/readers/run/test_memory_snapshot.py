"""Memory snapshots of PyTorch: what they hold is counted by hand, and nothing in them is ever run."""

from __future__ import annotations

import json
import os
import pickle
import tracemalloc
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from wavewright.analysis.run.memory.counter_points import memory_points
from wavewright.analysis.run.memory.memory import memory
from wavewright.errors import NotATraceError
from wavewright.readers.files.kinds import Kind, sniff
from wavewright.readers.run.inputs import open_run
from wavewright.words.run.memory import memory_report

_MIB = 1 << 20
_TIME_US = 1_748_730_000_000_000
_MODEL = [{"name": "_apply", "filename": "/site/torch/nn/modules/module.py", "line": 9},
          {"name": "main", "filename": "/home/u/train.py", "line": 3}]  # fmt: skip
_FORWARD = [{"name": "at::_ops::mm::call(at::Tensor)", "filename": "??", "line": 0},
            {"name": "forward", "filename": "/home/u/model.py", "line": 7},
            {"name": "_call_impl", "filename": "/site/torch/nn/modules/module.py", "line": 9}]  # fmt: skip
_BACKWARD = [{"name": "torch::autograd::generated::MmBackward0::apply()", "filename": "??", "line": 0},
             {"name": "torch::autograd::Engine::execute()", "filename": "??", "line": 0}]  # fmt: skip


def block(size: int, asked: int, state: str, frames: Any = ()) -> dict[str, Any]:
    return {"size": size, "requested_size": asked, "state": state, "frames": list(frames)}


def entry(action: str, address: int, size: int, at_us: int, frames: Any = ()) -> dict[str, Any]:
    return {"action": action, "addr": address, "size": size, "stream": 0, "time_us": _TIME_US + at_us, "frames": frames}


def planted() -> dict[str, Any]:
    """Parameters from before the trace (10), activations (30, freed), gradients (5, still there), in MiB.

    A segment of 40 MiB of which 15 + 1 of rounding are in use at the end, and one of 2 MiB that is empty.
    """
    blocks = [block(11 * _MIB, 10 * _MIB, "active_allocated", _MODEL), block(24 * _MIB, 0, "inactive"),
              block(5 * _MIB, 5 * _MIB, "active_allocated", _BACKWARD)]  # fmt: skip
    common = {"device": 0, "stream": 0, "segment_pool_id": (0, 0), "is_expandable": False, "frames": []}
    segments = [
        {**common, "address": 0, "total_size": 40 * _MIB, "segment_type": "large", "blocks": blocks},
        {**common, "address": 99 * _MIB, "total_size": 2 * _MIB, "segment_type": "small", "segment_pool_id": (0, 1),
         "blocks": [block(2 * _MIB, 0, "inactive")]},
    ]  # fmt: skip
    trace = [
        entry("segment_alloc", 50 * _MIB, 30 * _MIB, 0),
        entry("alloc", 50 * _MIB, 30 * _MIB, 1, _FORWARD),
        entry("free_requested", 70 * _MIB, 4 * _MIB, 2),
        entry("free_completed", 70 * _MIB, 4 * _MIB, 3),
        entry("alloc", 35 * _MIB, 5 * _MIB, 4, _BACKWARD),
        entry("free_requested", 50 * _MIB, 30 * _MIB, 5),
        entry("free_completed", 50 * _MIB, 30 * _MIB, 6),
        entry("segment_free", 50 * _MIB, 30 * _MIB, 7),
    ]
    names = [{"name": "step", "stage": stage, "device": 0, "time_us": _TIME_US + at}
             for stage, at in (("START", 0), ("END", 9))]  # fmt: skip
    return {"segments": segments, "device_traces": [trace, []], "external_annotations": names}


@pytest.mark.parametrize("protocol", [2, 4])
def test_what_a_snapshot_holds(tmp_path: Path, protocol: int) -> None:
    path = tmp_path / "snapshot_rank3.pickle"
    path.write_bytes(pickle.dumps(planted(), protocol))
    assert sniff(path) is Kind.MEMORY_SNAPSHOT
    run = open_run(path)
    assert not run.losses.height
    answer = memory(run)
    # Before: 10 of parameters, and 4 that go early. The peak: 10, 30 of activations, 5 of gradients.
    place = answer.places.row(0, named=True)
    assert (place["rank"], place["peak_bytes"], place["end_bytes"]) == (3, 45 * _MIB, 15 * _MIB)
    assert (place["peak_before_bytes"], place["peak_ns"], place["peak_marker"]) == (0, 4_000, "step")
    assert place["reserved_peak_bytes"] == 72 * _MIB
    # 42 MiB before, 30 more from the first moment on until the last, when that segment is given back.
    curve = memory(run, bins=9).curve.select("live_bytes", "reserved_bytes").rows()
    assert [live // _MIB for live, _ in curve] == [14, 44, 44, 44, 45, 45, 45, 15, 15]
    assert [reserved // _MIB for _, reserved in curve] == [72] * 8 + [42]
    last = memory_points(run).filter(pl.col("name") == "framework, reserved")
    assert [int(value) // _MIB for value in last["value"]] == [72, 42]
    kinds = {row["category"]: (row["peak_bytes"], row["unfreed_bytes"]) for row in answer.categories.to_dicts()}
    assert kinds == {
        "forward pass": (30 * _MIB, 0),
        "parameters and buffers": (10 * _MIB, 10 * _MIB),
        "backward pass": (5 * _MIB, 5 * _MIB),
    }
    assert set(answer.sites["site"]) == {"forward (model.py:7)", "main (train.py:3)", "MmBackward0"}
    columns = ["segment_type", "owner", "reserved_bytes", "used_bytes", "requested_bytes", "fragmented_bytes",
               "cached_bytes", "largest_free_bytes"]  # fmt: skip
    assert answer.pools.select(columns).rows() == [
        ("large", None, 40 * _MIB, 16 * _MIB, 15 * _MIB, 24 * _MIB, 0, 24 * _MIB),
        ("small", "0,1", 2 * _MIB, 0, 0, 0, 2 * _MIB, 2 * _MIB),
    ]
    said = " ".join(str(part) for part in memory_report(answer))
    assert "at most 47.2 MB in use, at +4.0 us in step" in said
    assert "the allocator held at most 75.5 MB at once" in said
    assert "16.8 MB in use (1.0 MB of it rounding), 25.2 MB (57.1 % of all) free between blocks in use" in said


def kineto(path: Path, base_us: int) -> None:
    process = {"ph": "X", "pid": 7, "tid": 7, "dur": 900}
    events = [
        {**process, "cat": "user_annotation", "name": "ProfilerStep#4", "ts": base_us},
        {**process, "cat": "kernel", "name": "k", "ts": base_us, "args": {"device": 0, "stream": 1}},
    ]
    properties = [{"id": 0, "name": "AMD Instinct MI300X"}]
    path.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": properties, "traceEvents": events}))


def test_beside_the_run_of_its_process(tmp_path: Path) -> None:
    kineto(tmp_path / "trace.json", _TIME_US - 5)
    (tmp_path / "snapshot.pickle").write_bytes(pickle.dumps(planted()))
    run = open_run(tmp_path)
    assert run.count("processes") == 1
    place = memory(run).places.row(0, named=True)
    assert (place["peak_bytes"], place["peak_marker"], place["gpu"]) == (45 * _MIB, "ProfilerStep#4", 0)
    assert (place["reserved_peak_bytes"], memory(run).curve["reserved_bytes"].max()) == (72 * _MIB, 72 * _MIB)
    # Of another time, it is told and left.
    kineto(tmp_path / "trace.json", 5)
    run = open_run(tmp_path)
    assert run.losses["kind"].to_list() == ["snapshot_apart"]
    assert not memory(run).places.height
    # Two ranks: each to the trace of its rank.
    (tmp_path / "snapshot.pickle").rename(tmp_path / "memory_rank1.pickle")
    (tmp_path / "trace.json").rename(tmp_path / "trace_rank0.json")
    kineto(tmp_path / "trace_rank1.json", _TIME_US - 5)
    counts = {Path(part.origins[0].path).name: part.count("allocations") for part in open_run(tmp_path).parts}
    assert counts == {"trace_rank0.json": 0, "trace_rank1.json": 5}


class _Runs:
    """Makes a folder when it is unpickled."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.place),)


_HEAD = b"\x80\x02}X\x08\x00\x00\x00segmentsX\x0a\x00\x00\x00total_size"
_HOSTILE = {
    "a function by its name": b"cposix\nsystem\n(S'touch ran'\ntR.",
    "a function from the stack": b"\x80\x04\x8c\x08builtins\x8c\x04exec\x93\x8c\x0eopen('ran','w')\x85R.",
    "a class, and its state": b"(ibuiltins\nobject\nb.",
    "an object of another process": b"Pname\n.",
    "a registered extension": b"\x82\x01.",
    "other functions of the module that may be called": b"ctorch.jit._pickle\nbuild_tensor_from_id\n(K\x01tR.",
    "a text of 2 GiB": b"X\xff\xff\xff\x7f.",
    "bytes of 2^62": b"\x8e\x00\x00\x00\x00\x00\x00\x00\x40.",
    "a memory of 2^32 places": b"]r\xff\xff\xff\xff.",
    "a number of a million digits": b"L" + b"9" * 1_000_000 + b"L\n.",
    "lists in lists": b"]" * 100_000 + b"a" * 99_999 + b".",
    "marks": b"(" * 100_000 + b"t" * 100_000 + b".",
    "more taken than there is": b"0000.",
    "its end missing": b"",
    "no dictionary": b"]q\x01h\x01a.",
}


@pytest.mark.parametrize("name", _HOSTILE)
def test_hostile_pickles(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "snapshot.pickle"
    path.write_bytes(_HEAD + _HOSTILE[name])
    assert sniff(path) is Kind.MEMORY_SNAPSHOT
    tracemalloc.start()
    with pytest.raises(NotATraceError):
        open_run(path)
    assert tracemalloc.get_traced_memory()[1] < 64 << 20
    tracemalloc.stop()
    assert sorted(tmp_path.iterdir()) == [path]


def test_nothing_is_run(tmp_path: Path) -> None:
    """An object in an honest snapshot makes a folder when Python unpickles it, and nothing when it is opened."""
    place, path = tmp_path / "made", tmp_path / "snapshot.pickle"
    path.write_bytes(pickle.dumps({**planted(), "allocator_settings": _Runs(place)}))
    with pytest.raises(NotATraceError, match="no code of the file was run"):
        open_run(path)
    assert not place.exists()
    pickle.loads(path.read_bytes())  # noqa: S301 - our own, to show that it would
    assert place.is_dir()


def test_what_is_damaged_is_counted(tmp_path: Path) -> None:
    root = planted()
    root["segments"] += [7, {"address": "x", "total_size": -1}]
    root["device_traces"][0] += [{"action": "alloc", "addr": None, "size": 1 << 70, "time_us": "now"}, "no entry"]
    root["segments"][0]["blocks"].append({"size": None})
    path = tmp_path / "snapshot.pickle"
    path.write_bytes(pickle.dumps(root))
    run = open_run(path)
    assert run.losses.select("kind", "count").rows() == [("malformed_events", 5)]
    assert memory(run).places["peak_bytes"].to_list() == [45 * _MIB]


def test_shared_lists_are_not_spread_out(tmp_path: Path) -> None:
    """A small file that names one long list many times."""
    frames = [{"name": f"f{n}", "filename": "a.py", "line": n} for n in range(10_000)]
    trace = [entry("alloc", n, 8, n, frames) for n in range(500)]
    path = tmp_path / "snapshot.pickle"
    path.write_bytes(pickle.dumps({"segments": [], "device_traces": [trace], "total_size": 0}))
    run = open_run(path)
    assert run.frames.height == 200
    assert memory(run).places["peak_bytes"].to_list() == [4_000]
    assert run.frames.filter(pl.col("depth") == 0)["name"].to_list() == ["f0 (a.py:0)"]


def test_ranges_of_one_name_may_be_inside_each_other(tmp_path: Path) -> None:
    steps = [("START", 1), ("START", 2), ("END", 5), ("END", 9), ("END", 11)]
    names = [{"name": "layer", "stage": stage, "device": 0, "time_us": _TIME_US + at} for stage, at in steps]
    (tmp_path / "a.pickle").write_bytes(pickle.dumps(planted() | {"external_annotations": names}, 4))
    regions = open_run(tmp_path / "a.pickle").regions
    assert sorted((end - start) // 1000 for start, end in regions.select("start_ns", "end_ns").rows()) == [3, 8]
