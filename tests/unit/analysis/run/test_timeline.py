"""Events of a run by track, the clocks of nodes, and launches."""

from __future__ import annotations

import polars as pl

from tests.kit.made_runs import rows, run, source, spans
from wavewright.analysis.run.calls.launches import launch_flows
from wavewright.analysis.run.gpu_time.timeline import DEEPEST, ITEM_TABLES, MOST_KINDS, RunTimeline, run_timeline
from wavewright.analysis.run.select.clocks import node_clocks
from wavewright.model.run import Run


def _placed(timeline: RunTimeline) -> list[tuple[object, ...]]:
    joined = timeline.spans.join(timeline.tracks.drop("kind"), on="track").join(timeline.kinds, on="kind").sort("item")
    return rows(joined, "item", "name", "start_ns", "end_ns", "depth", "overlap")


def test_calls_nest_by_time_and_overlaps_take_further_tracks() -> None:
    calls = [
        {"start_ns": 100, "end_ns": 200, "name": "outer"},
        {"start_ns": 110, "end_ns": 150, "name": "inner"},
        {"start_ns": 120, "end_ns": 130, "name": "innermost"},
        {"start_ns": 140, "end_ns": 190, "name": "crossing"},
    ]
    found = run_timeline(run(regions=calls))
    assert _placed(found) == [
        (0, "outer", 0, 100, 0, 0),
        (1, "inner", 10, 50, 1, 0),
        (2, "innermost", 20, 30, 2, 0),
        (3, "crossing", 40, 90, 0, 1),
    ]
    assert set(found.tracks["part"]) == {"Thread 1"}


def test_streams_hold_work_of_both_kinds_and_items_follow_the_tables() -> None:
    found = run_timeline(
        run(
            dispatches=[*spans((10, 30), (20, 40), name="k"), *spans((50, 60), name="k", agent=2, stream=3)],
            copies=spans((35, 45), name="copy", src_agent=0, dst_agent=1, stream=0),
            allocations=spans((5, 6), type="ALLOC", level="REAL", agent=1),
            samples=[{"time_ns": 7, "name": "mark"}],
        )
    )
    assert found.first_items == dict(zip(ITEM_TABLES, (0, 3, 4, 5, 5), strict=True))
    assert found.item_count == 6
    where = found.spans.join(found.tracks, on="track", suffix="_track").sort("item")
    assert where["kind_track"].to_list() == ["stream"] * 4 + ["allocations", "marks"]
    assert where["label"].to_list() == ["Stream 0", "Stream 0 (row 2)", "Stream 3", "Stream 0", "", "marks"]
    assert where["part"].to_list()[2] == "GPU 1 gfx942"
    assert found.kinds["name"].to_list()[0] == "k"


def test_what_cannot_be_placed_is_counted() -> None:
    deep = [{"start_ns": n, "end_ns": 1000 - n, "name": "f"} for n in range(DEEPEST + 3)]
    names = [{"start_ns": 2000 + n, "end_ns": 2001 + n, "name": f"n{n:05}"} for n in range(MOST_KINDS + 5)]
    without = [{"start_ns": None, "end_ns": 7, "name": "f"}, {"start_ns": -5, "end_ns": 7, "name": "f"}]
    found = run_timeline(run(regions=deep + names + without))
    assert (found.too_deep_count, found.untimed_count, found.other_name_count) == (3, 2, 6)
    assert found.kinds.height == MOST_KINDS
    assert found.kinds["name"][-1] == "7 other names"
    assert found.kinds["count"].sum() == found.spans.height
    assert found.tracks.height == DEEPEST


def test_every_node_counts_from_its_own_begin() -> None:
    parts = [
        source(f"{host}.db", host=host, dispatches=spans((begin, begin + 10)))
        for host, begin in (("a", 5000), ("b", 90))
    ]
    parts.append(source("again.db", host="a", pid=2, dispatches=spans((4900, 5300))))
    run = Run(parts)
    clocks = node_clocks(run)
    assert rows(clocks.nodes, "node", "start_ns", "end_ns") == [("a", 4900, 5300), ("b", 90, 100)]
    assert clocks.duration_ns == 400
    assert clocks.starts("node") == {"a": 4900, "b": 90}
    found = run_timeline(run, clocks)
    assert rows(found.spans, "start_ns", "end_ns") == [(100, 110), (0, 10), (0, 400)]


def test_a_launch_is_the_first_call_of_its_process_with_the_same_correlation() -> None:
    recorded = run(
        regions=[
            {"start_ns": 1, "end_ns": 2, "correlation": 7, "name": "launch"},
            {"start_ns": 2, "end_ns": 3, "correlation": 0, "name": "none"},
            {"start_ns": 3, "end_ns": 4, "correlation": 7, "name": "later"},
            {"start_ns": 4, "end_ns": 5, "correlation": 8, "name": "copies"},
        ],
        dispatches=[
            {"start_ns": 10, "end_ns": 11, "correlation": 7},
            {"start_ns": 12, "end_ns": 13, "correlation": 0},
            {"start_ns": 14, "end_ns": 15},
            {"start_ns": 16, "end_ns": 17, "correlation": 99},
        ],
        copies=spans((20, 21), (22, 23), correlation=8),
    )
    found = launch_flows(recorded)
    assert found.flows.sort("region", "work").rows() == [(0, False, 0), (3, True, 0), (3, True, 1)]
    assert found.unknown_count == 3


def test_nothing_at_all() -> None:
    found = run_timeline(Run([]))
    assert (found.spans.height, found.tracks.height, found.kinds.height, found.duration_ns) == (0, 0, 0, 0)
    assert found.spans.schema["kind"] == pl.UInt16
