"""Call stacks of calls as a tree."""

from __future__ import annotations

from tests.kit.made_runs import Row, rows, run, source, spans
from wavewright.analysis.run.contents.regions import combine_regions
from wavewright.analysis.run.contents.stacks import partial_stacks
from wavewright.model.run import Run


def call(event: int, begin: int, end: int) -> Row:
    return {
        "event": event,
        "correlation": event,
        "start_ns": begin,
        "end_ns": end,
        "name": "hipLaunchKernel",
        "domain": "HIP",
        "thread": 0,
    }


def stack(event: int, *names: str) -> list[Row]:
    """From the innermost on."""
    return [{"event": event, "depth": depth, "name": name} for depth, name in enumerate(names)]


def recorded() -> dict[str, list[Row]]:
    return {
        "regions": [call(1, 0, 10), call(2, 20, 25), call(3, 30, 31), call(4, 40, 41)],
        "frames": stack(1, "launch", "main") + stack(2, "launch", "main") + stack(3, "copy", "main"),
        "dispatches": spans((5, 105), correlation=1) + spans((110, 140), correlation=2) + spans((1, 8), correlation=4),
    }


def test_frames_have_the_time_of_the_calls_in_them() -> None:
    found = combine_regions([partial_stacks(run(**recorded()))])
    columns = ("path", "domain", "call_count", "total_ns", "self_ns", "gpu_total_ns")
    assert rows(found.tree, *columns) == [
        ("main", "FRAME", 3, 16, 0, 130),
        ("main/launch", "FRAME", 2, 15, 0, 130),
        ("main/launch/hipLaunchKernel", "HIP", 2, 15, 15, 130),
        ("main/copy", "FRAME", 1, 1, 0, 0),
        ("main/copy/hipLaunchKernel", "HIP", 1, 1, 1, 0),
    ]
    assert found.unlinked_gpu_ns == 7
    assert rows(found.launchers, "name", "gpu_ns") == [("launch", 130)]


def test_files_are_added_up_and_may_have_none() -> None:
    parts = Run([source("a.db", pid=1, **recorded()), source("b.db", pid=2, **recorded())]).parts
    found = combine_regions([partial_stacks(part) for part in parts])
    assert rows(found.tree.head(1), "path", "call_count", "gpu_total_ns") == [("main", 6, 260)]
    nothing = run(regions=[call(1, 0, 10)], dispatches=spans((5, 9), correlation=1))
    assert combine_regions([partial_stacks(nothing)]).tree.is_empty()
