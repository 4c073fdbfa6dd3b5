"""Chrome traces of real RPD files, event by event against those of RPD's own tool."""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from tests.kit.opened import open_run
from wavewright.export.run.chrome import write_chrome
from wavewright.model.run import MemorySource, Run

if TYPE_CHECKING:
    from pathlib import Path

_OURS = ("device", "stream", "queue-id", "correlation", "External id", "bytes", "kind", "grid", "block")
_OF_CALLS = ("cuda_runtime", "user_annotation", "tool", "other")
_TIMES, _PLACES = ("ts", "dur"), ("pid", "tid", "id")


def _events(path: Path) -> list[dict[str, Any]]:
    content = json.loads(path.read_text())
    events = content["traceEvents"] if isinstance(content, dict) else content
    base = content.get("baseTimeNanoseconds", 0) // 1000 if isinstance(content, dict) else 0
    return [event | ({"ts": base + float(event["ts"])} if "ts" in event else {}) for event in events if event]


def _comparable(event: dict[str, Any]) -> str:
    """rpd2tracing writes most numbers as texts, and this version of it whole microseconds, and nothing that we add."""
    made: dict[str, Any] = {}
    for key, value in event.items():
        if key == "args":
            made[key] = {
                name: _number(said)
                for name, said in value.items()
                if name not in (*_OURS, "lds_bytes", "scratch_bytes")
            }
        elif key == "cat" and event["ph"] in "Xi":
            assert value in ("kernel", "gpu_memcpy", "gpu_memset", "gpu_user_annotation", *_OF_CALLS)
        else:
            made[key] = math.floor(float(value)) if key in _TIMES else int(value) if key in _PLACES else value
    return json.dumps(made, sort_keys=True)


def _number(said: object) -> object:
    try:
        return float(str(said))
    except ValueError:
        return said


def _in_memory(run: Run) -> Run:
    tables = {name: frame for name, frame in run.to_polars().items() if name != "losses"}
    return Run([MemorySource("", "RPD", tables=tables)])


@pytest.mark.first_case
@pytest.mark.parametrize("is_straight", [True, False], ids=["from the file", "from the tables"])
def test_matmul_is_what_rpd2tracing_made(shared: Path, tmp_path: Path, *, is_straight: bool) -> None:
    run = open_run(shared / "data/rpd/matmul_result.rpd")
    written = write_chrome(run if is_straight else _in_memory(run), tmp_path / "matmul.json")
    ours = Counter(map(_comparable, _events(written.path)))
    theirs = Counter(map(_comparable, _events(shared / "data/rpd/matmul_result.json")))
    assert ours - theirs == Counter()
    missing = [json.loads(event) for event in theirs - ours]
    # A counter that this old version ended with a zero without ever having found an allocation; later ones do not.
    assert [event["name"] for event in missing] == ["Allocated Memory"]
    assert ours.total() == 704


@pytest.mark.first_case
@pytest.mark.parametrize("is_straight", [True, False], ids=["from the file", "from the tables"])
def test_shape_of_mytrace(shared: Path, tmp_path: Path, *, is_straight: bool) -> None:
    run = open_run(shared / "data/rpd/mytrace.rpd.gz")
    events = _events(write_chrome(run if is_straight else _in_memory(run), tmp_path / "mytrace.json").path)
    kinds = Counter(event["name"] if event["ph"] == "C" else event["ph"] for event in events)
    # rpd2tracing has 26 663 slices: it never writes the last frame of a thread.
    assert kinds == {"X": 26_664, "s": 10_124, "f": 10_124, "QueueDepth": 20_249, "Idle": 677, "sclk": 89, "M": 10}


@pytest.mark.parametrize("name", ["kineto-amd/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz", "rpd/matmul_result.rpd"])
def test_a_trace_is_read_back(shared: Path, tmp_path: Path, name: str) -> None:
    """The same times to the nanosecond, the same kinds of events, nothing that is not read."""
    run = open_run(shared / "data" / name)
    path = write_chrome(run, tmp_path / "trace.json").path
    again = open_run(path)
    assert not [loss for loss in again.losses["kind"] if loss == "unread_records"]
    columns = ["start_ns", "end_ns", "correlation"]
    for table in ("dispatches", "copies", "regions"):
        order = [*columns, "name"]
        before, after = (each.read(table).select(pl.col(order).cast(pl.String)) for each in (run, again))
        shown = columns if table == "copies" else order  # copies are called as in ROCpd
        assert before.sort(order).select(shown).equals(after.sort(order).select(shown)), table
    content = json.loads(path.read_text())
    kernels = [event for event in content["traceEvents"] if event.get("cat") in ("kernel", "gpu_memset")]
    starts = sorted(content["baseTimeNanoseconds"] + round(event["ts"] * 1000) for event in kernels)
    assert starts == run.dispatches["start_ns"].sort().to_list(), "read as doubles"
