"""Collectives of a real training run on two recorded ranks: TraceLens' rules, worked out again from the raw file."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import pytest

from tests.kit.opened import open_run
from wavewright.analysis.run.ranks.collective_times import collectives
from wavewright.analysis.run.ranks.ranks import ranks

if TYPE_CHECKING:
    from pathlib import Path

BYTES = {"Float": 4, "Long": 8}
WITHIN = 1e-3


def raw_calls(path: Path) -> dict[tuple[str, int, int], dict[int, dict[str, Any]]]:
    """Kernels of collectives by name, elements and number of the call; then by rank."""
    with gzip.open(path) as stream:
        events = json.load(stream)
    kernels = [
        event
        for event in (events["traceEvents"] if isinstance(events, dict) else events)
        if event.get("cat") == "kernel" and "Collective name" in event.get("args", {})
    ]
    numbers: dict[tuple[str, int, int], int] = defaultdict(int)
    calls: dict[tuple[str, int, int], dict[int, dict[str, Any]]] = defaultdict(dict)
    for event in sorted(kernels, key=lambda event: event["ts"]):
        args = event["args"]
        key = (args["Collective name"], args["In msg nelems"], args["rank"])
        calls[key[0], key[1], numbers[key]][args["rank"]] = event
        numbers[key] += 1
    return calls


@pytest.mark.slow
def test_times_waits_and_bandwidths(shared: Path) -> None:
    path = shared / "data/kineto-multirank-2of4/merged_ranks01.json.gz"
    answer = collectives(open_run(path))
    raw = raw_calls(path)
    assert answer.calls.height == len(raw) == 21
    numbers: dict[tuple[str, int], int] = defaultdict(int)
    waits: dict[int, float] = defaultdict(float)
    arrivals = dict(answer.arrivals.group_by("meeting"))
    for row in answer.calls.iter_rows(named=True):
        name = row["collective"]
        size = next(
            key[1] for key, events in raw.items() if key[0] == name and _bytes(key[1], events) == row["size_bytes"]
        )
        events = raw[name, size, numbers[name, size]]
        numbers[name, size] += 1
        latest = max(event["ts"] for event in events.values())
        shortest = min(event["dur"] for event in events.values())
        assert row["communication_ns"] == pytest.approx(shortest * 1e3, rel=WITHIN)
        rate = row["size_bytes"] / (shortest * 1e-6)
        assert row["algorithm_bytes_per_second"] == pytest.approx(rate, rel=WITHIN)
        factor = 2 * 3 / 4 if name == "allreduce" else 1  # groups of four ranks
        assert row["bus_bytes_per_second"] == pytest.approx(rate * factor, rel=WITHIN)
        ends = [event["ts"] + event["dur"] for event in events.values()]
        assert row["end_skew_ns"] == pytest.approx((max(ends) - min(ends)) * 1e3, rel=WITHIN, abs=2)
        starts = [event["ts"] for event in events.values()]
        assert row["start_skew_ns"] == pytest.approx((max(starts) - min(starts)) * 1e3, rel=WITHIN, abs=2)
        assert events[row["rank"]]["ts"] == latest
        for rank, wait in arrivals[row["meeting"],].select("rank", "wait_ns").iter_rows():
            inside = min(latest - events[rank]["ts"], events[rank]["dur"])  # a wait is a part of the own call
            assert wait == pytest.approx(inside * 1e3, rel=WITHIN, abs=2)
            waits[rank] += wait
    assert dict(answer.processes.select("rank", "wait_ns").rows()) == waits
    assert dict(ranks(open_run(path)).processes.select("rank", "waited_ns").rows()) == waits
    assert [caveat.name for caveat in answer.caveats] == ["ranks_missing"]


def _bytes(elements: int, events: dict[int, dict[str, Any]]) -> int:
    return elements * BYTES[events[0]["args"]["dtype"]]


@pytest.mark.slow
def test_the_late_rank_is_late_because_its_host_is(shared: Path) -> None:
    """Between the previous meeting and the worst one the GPU of rank 1 idles longer, with nothing launched."""
    answer = collectives(open_run(shared / "data/kineto-multirank-2of4/merged_ranks01.json.gz"))
    worst = answer.stragglers.row(0, named=True)
    assert (worst["rank"], worst["cause"]) == (1, "host")
    assert worst["late_ns"] == pytest.approx(9_668_496, abs=2)
    parts = sum(worst[name] for name in ("compute_ns", "communication_ns", "copy_ns", "queued_ns", "host_ns"))
    starts = {(row[0], row[1]): row[2] for row in answer.arrivals.select("meeting", "rank", "start_ns").iter_rows()}
    before, now = worst["since_meeting"], worst["meeting"]
    lag = {meeting: starts[meeting, 1] - starts[meeting, 0] for meeting in (before, now)}
    assert parts == lag[now] - lag[before]
    assert answer.causes.row(0, named=True)["cause"] == "host"
