from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kit.made_runs import Row, rows, run, source, spans
from tests.kit.sampling import examples
from wavewright.analysis.run.calls.launches import cause_of
from wavewright.analysis.run.gpu_time.gaps import gaps
from wavewright.analysis.run.select.choice import RunSelection
from wavewright.analysis.run.select.chosen import select
from wavewright.model.run import Run
from wavewright.words.run.gaps import _cause_sums, _main_cause


def call(begin: int, end: int, name: str, correlation: int | None = None, **more: Any) -> Row:
    given = {"start_ns": begin, "end_ns": end, "name": name, "domain": "HIP", "correlation": correlation}
    return given | more


def test_who_causes_a_gap() -> None:
    found = gaps(
        run(
            dispatches=[
                {"start_ns": 0, "end_ns": 100, "correlation": 1, "name": "first", "dispatch_id": 1},
                {"start_ns": 200, "end_ns": 300, "correlation": 2, "name": "second", "dispatch_id": 2},
                {"start_ns": 310, "end_ns": 400, "correlation": 3, "name": "third", "dispatch_id": 3},
                {"start_ns": 500, "end_ns": 600, "name": "fourth", "dispatch_id": 4},
            ],
            regions=[
                call(-20, -10, "hipLaunchKernel", 1),
                call(-5, 120, "hipStreamSynchronize", 9),
                call(0, 110, "hsa_signal_wait_scacquire", 10, domain="HSA"),
                call(130, 150, "hipMalloc", 11),
                call(170, 180, "hipLaunchKernel", 2),
                call(181, 190, "hipLaunchKernel", 3),
                {"start_ns": -100, "end_ns": 1000, "name": "step", "domain": "MARKER"},
                {"start_ns": 90, "end_ns": 150, "name": "wait", "domain": "MARKER"},
            ],
        )
    )
    assert rows(found.gpus, "gap_count", "gap_ns", "gap_max_ns", "busy_ns", "edge_ns", "span_ns", "wall_ns") == [
        (3, 210, 100, 390, 500, 600, 1100)
    ]
    assert set(rows(found.causes, "cause", "function", "wait_ns")) == {
        ("unknown", None, 100),
        ("launch", None, 30),
        ("host code", None, 30),
        ("synchronisation", "hipStreamSynchronize", 20),
        ("allocation", "hipMalloc", 20),
        ("queued", None, 10),
    }
    columns = ("start_ns", "at_ns", "gap_ns", "previous", "next", "dispatch_id", "tid", "launch_ns", "cause")
    assert rows(found.largest, *columns) == [
        (100, 200, 100, "first", "second", 2, 1, 30, "host code"),
        (400, 500, 100, "third", "fourth", 4, 1, None, "unknown"),
        (300, 400, 10, "second", "third", 3, 1, 129, "queued"),
    ]
    assert found.largest["queue_depth"].to_list() == [0, 0, 1]
    assert rows(found.largest, "function", "function_ns", "context")[0] == ("hipStreamSynchronize", 20, "wait")
    assert found.largest["stack"][0] == "step > wait"
    assert found.call_count == 6


US = 1_000


def waiting(lag_ns: int, *names: str) -> Run:
    """Two kernels with a gap; the second starts so long after its launch, which is 40 us into the gap."""
    launched = 40 * US
    calls = [call(5 * US + 10 * n, 5 * US + 10 * n + 5, name, 10 + n) for n, name in enumerate(names)]
    return run(
        dispatches=[
            {"start_ns": -1000, "end_ns": 0, "correlation": 1, "name": "first"},
            {"start_ns": launched + lag_ns, "end_ns": launched + lag_ns + 10, "correlation": 2, "name": "second"},
        ],
        regions=[
            call(-5000, -4000, "hipLaunchKernel", 1),
            *calls,
            call(launched, launched + 5, "hipLaunchKernel", 2),
            call(launched + 10, launched + lag_ns + 5, "hipMemcpyWithStream", 3),
            {"start_ns": -9000, "end_ns": 10**10, "name": "train.py(3): step", "domain": "PYTHON"},
            {"start_ns": 0, "end_ns": 10**10, "name": "torch/_ops.py(9): call", "domain": "PYTHON"},
            {"start_ns": launched + 6, "end_ns": launched + lag_ns + 6, "name": "aten::copy_", "domain": "OPERATOR"},
        ],
    )


@pytest.mark.parametrize(
    ("lag_ns", "names", "cause"),
    [
        (50 * US, (), "launch"),
        (50 * US, ("hipStreamWaitEvent",), "launch"),
        (500 * US, (), "launch"),
        (500 * US, ("hipStreamWaitEvent",), "stream wait"),
        (2_000 * US, (), "queued"),
        (2_000 * US, ("hipStreamWaitEvent", "hipEventDestroy"), "stream wait"),
    ],
)
def test_long_waits_are_not_the_cost_of_a_launch(lag_ns: int, names: tuple[str, ...], cause: str) -> None:
    found = gaps(waiting(lag_ns, *names))
    assert (cause, None, lag_ns) in rows(found.causes, "cause", "function", "wait_ns")
    assert found.causes["wait_ns"].sum() == found.gpus["gap_ns"].item() == lag_ns + 40 * US
    (gap,) = found.largest.to_dicts()
    assert gap["cause"] == cause
    assert (gap["launch_at_ns"], gap["launch_ns"], gap["function"]) == (40 * US, lag_ns, "hipMemcpyWithStream")
    assert gap["stack"] == ("train.py(3): step > aten::copy_")


def test_an_event_wait_before_the_previous_launch_is_not_of_this_one() -> None:
    waits = waiting(2_000 * US)
    moved = waits.origins[0].tables["regions"].to_dicts()  # type: ignore[attr-defined]
    found = gaps(
        run(dispatches=waits.dispatches.to_dicts(), regions=[*moved, call(-6000, -5500, "hipStreamWaitEvent", 9)])
    )
    assert found.largest["cause"].to_list() == ["queued"]


@pytest.mark.parametrize(
    ("window", "figures"),
    [
        ((10, 90), (1, 80, 0, 80, 80)),  # all of it idle
        ((-500, 50), (1, 50, 500, 550, 550)),
        ((None, None), (1, 100 * US, 1010, 1010 + 100 * US, 10**10 + 9000)),
    ],
)
def test_a_window_cuts_gaps(window: tuple[int | None, int | None], figures: tuple[int, ...]) -> None:
    whole = waiting(60 * US)
    begin, end = (None if side is None else str(side) for side in window)
    found = gaps(select(whole, RunSelection(begin=begin, end=end)))
    assert rows(found.gpus, "gap_count", "gap_ns", "busy_ns", "span_ns", "wall_ns") == [figures]
    assert found.causes["wait_ns"].sum() == found.gpus["gap_ns"].sum()
    assert found.largest["next"].to_list() == ["second"]
    assert found.largest["cause"].item() == ("host code" if window[0] else "launch")


def test_a_nanosecond_is_rounding_and_no_gap() -> None:
    found = gaps(run(dispatches=spans((0, 10), (11, 20), (22, 30))))
    assert rows(found.gpus, "gap_count", "gap_ns", "rounding_ns", "busy_ns", "edge_ns") == [(1, 2, 1, 27, 0)]
    assert found.largest["start_ns"].to_list() == [20]
    assert found.histogram["gap_count"].sum() == 1


def test_by_stream_and_histogram() -> None:
    dispatches = spans((0, 10), (20_010, 20_020), stream=0) + spans((5, 20_000), stream=2)
    by_gpu, by_stream = (gaps(run(dispatches=dispatches), by_stream=flag) for flag in (False, True))
    assert rows(by_gpu.gpus, "stream_id", "gap_count", "gap_ns") == [(None, 1, 10)]
    assert rows(by_stream.gpus, "stream_id", "gap_count", "gap_ns") == [(0, 1, 20_000), (2, 0, 0)]
    assert rows(by_stream.histogram, "stream_id", "from_ns", "gap_count", "gap_ns") == [(0, 20_000, 1, 20_000)]


def test_kinds_of_calls() -> None:
    names = ["hipDeviceSynchronize", "hipFree", "hipMemcpyAsync", "hipModuleLoad", "hipGraphLaunch", "hipGetDevice"]
    kinds = pl.DataFrame({"name": names}).select(cause_of(pl.col("name"))).to_series().to_list()
    assert kinds == ["synchronisation", "allocation", "copy call", "loading code", "launch call", "other call"]


def test_gaps_of_a_shared_gpu_are_those_of_all_work() -> None:
    parts = [
        source("a.db", pid=1, dispatches=spans((0, 10), (50, 60))),
        source("b.db", pid=2, dispatches=spans((20, 30), (50, 55), (90, 95))),
    ]
    found = gaps(Run(parts))
    assert rows(found.gpus, "gap_count", "gap_ns", "busy_ns", "edge_ns", "span_ns") == [(3, 60, 35, 0, 95)]
    assert rows(found.largest, "start_ns", "gap_ns", "previous") == [(60, 30, None), (30, 20, None), (10, 10, None)]


def test_time_between_two_recordings_of_a_gpu_is_no_gap() -> None:
    parts = [
        source("first.db", pid=1, dispatches=spans((0, 10), (20, 30))),
        source("second.db", pid=2, dispatches=spans((10**9, 10**9 + 5), (10**9 + 45, 10**9 + 50))),
    ]
    found = gaps(Run(parts))
    assert rows(found.gpus, "gap_count", "gap_ns", "busy_ns", "span_ns", "gap_share") == [(2, 50, 30, 80, 0.625)]


WORK = st.lists(st.tuples(st.integers(0, 90), st.integers(1, 9), st.integers(1, 2), st.integers(0, 30)), max_size=14)
CALLS = st.lists(
    st.tuples(st.integers(0, 20), st.integers(1, 12), st.sampled_from(["hipFree", "hipInit"])), max_size=14
)


def plain(work: list[tuple[int, int, int, int]], calls: list[tuple[int, int, str]], gpu: int) -> tuple[Any, ...]:
    """Gaps and their parts, nanosecond by nanosecond."""
    mine = sorted((begin, begin + length, launch) for begin, length, on, launch in work if on == gpu)
    covering = {t: name for begin, end, name in reversed(calls) for t in range(begin, end)}
    parts: Counter[tuple[str, str | None]] = Counter()
    lengths, reached = [], None
    for begin, end, launch in mine:
        if reached is not None and begin > reached + 1:
            lengths.append(begin - reached)
            launched = begin - launch
            for t in range(reached, begin):
                if launched <= reached:
                    parts["queued", None] += 1
                elif t >= launched:
                    parts["launch", None] += 1
                elif t in covering:
                    parts["allocation" if covering[t] == "hipFree" else "other call", covering[t]] += 1
                else:
                    parts["host code", None] += 1
        reached = max(end, reached or 0)
    return sum(lengths), sorted(lengths), parts


@pytest.mark.slow
@settings(deadline=None, max_examples=examples(60))
@given(WORK, CALLS, st.integers(0, 2**60))
def test_equals_counting_nanosecond_by_nanosecond(
    work: list[tuple[int, int, int, int]], steps: list[tuple[int, int, str]], start: int
) -> None:
    calls, at = [], 0
    for pause, length, name in steps:
        calls.append((at + pause, at + pause + length, name))
        at += pause + length
    work = list({(begin, on): (begin, length, on, launch) for begin, length, on, launch in work}.values())
    dispatches = [
        {"start_ns": start + b, "end_ns": start + b + n, "agent": on, "correlation": i, "thread": 0}
        for i, (b, n, on, _) in enumerate(work)
    ]
    launches = [
        call(start + b - d, start + b - d, "hipLaunchKernel", i, thread=1) for i, (b, _, _, d) in enumerate(work)
    ]
    others = [call(start + b, start + e, name, thread=1) for b, e, name in calls]
    found = gaps(run(dispatches=dispatches, regions=launches + others))
    for gpu in {on for _, _, on, _ in work}:
        total, lengths, parts = plain(work, calls, gpu)
        of_gpu = pl.col("gpu") == gpu - 1
        assert rows(found.gpus.filter(of_gpu), "gap_ns", "gap_count") == [(total, len(lengths))]
        causes = found.causes.filter(of_gpu, pl.col("wait_ns") > 0)
        assert {(cause, function): ns for cause, function, ns in rows(causes, "cause", "function", "wait_ns")} == parts
        assert sorted(found.largest.filter(of_gpu)["gap_ns"]) == lengths


def said(*causes: tuple[str, int]) -> str:
    """The second line of the report about gaps with these causes and lengths."""
    answer = replace(
        gaps(Run([])),
        causes=pl.DataFrame(
            [{"cause": cause, "wait_ns": length, "call_count": 1} for cause, length in causes],
            schema={"cause": pl.String, "wait_ns": pl.Int64, "call_count": pl.UInt64},
        ),
    )
    return _main_cause(_cause_sums(answer))


@pytest.mark.parametrize(("call_end", "cause"), [(1_080_000, "launch"), (9_000, "queued")])
def test_a_launching_call_that_has_not_returned_is_no_queue(call_end: int, cause: str) -> None:
    """The first launch of a kernel loads its code: it may begin just before the work before ends."""
    found = gaps(
        run(
            dispatches=[
                {"start_ns": 0, "end_ns": 8_000, "correlation": 1, "name": "fill"},
                {"start_ns": 1_123_000, "end_ns": 1_150_000, "correlation": 2, "name": "gemm"},
            ],
            regions=[call(-20, -10, "hipMemset", 1), call(100, call_end, "hipLaunchKernel", 2)],
        )
    )
    assert rows(found.causes, "cause", "wait_ns") == [(cause, 1_115_000)]


def test_later_work_of_one_launch_was_launched_with_the_first() -> None:
    """Pieces of one blocking copy: the gap between them is none of its launch."""
    copies = [{"start_ns": 100, "end_ns": 200, "correlation": 1}, {"start_ns": 900, "end_ns": 999, "correlation": 1}]
    found = gaps(run(dispatches=[each | {"name": "copy"} for each in copies], regions=[call(0, 999, "hipMemcpy", 1)]))
    assert rows(found.causes, "cause", "wait_ns") == [("queued", 700)]


def test_most_is_said_from_half_of_all_gap_time_on() -> None:
    assert said(("host code", 60), ("queued", 40)).startswith(
        "Mostly host code. The CPU cannot launch fast enough. Try"
    )
    assert said(("host code", 45), ("queued", 30), ("launch", 25)).startswith(
        "The largest part is host code, 45.0 % of the gaps."
    )
    unknown = said(("unknown", 889), ("queued", 111))
    assert unknown.startswith(
        "The cause of 88.9 % of the gaps is not known: the launches are not linked to a call; record calls with"
    )
    assert "queue" not in unknown
    assert said(("unknown", 40), ("host code", 45), ("queued", 15)).startswith("The largest part is host code, 45.0 %")
    assert not said()


def test_what_to_record_where_no_calls_are() -> None:
    causes = pl.DataFrame({"cause": ["unknown"], "share": [1.0]})
    assert "rocprofv3 --hip-trace" in _main_cause(causes, has_calls=False)
    assert _main_cause(causes, has_calls=False).startswith("No API calls were recorded, and so no cause is known")


def test_little_idle_time_needs_no_advice() -> None:
    causes = pl.DataFrame({"cause": ["host code"], "share": [1.0]})
    assert not _main_cause(causes, 0.019)
    assert _main_cause(causes, 0.021)
