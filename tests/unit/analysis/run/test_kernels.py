from __future__ import annotations

from statistics import median

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kit.made_runs import Row, rows, run, source
from tests.kit.sampling import examples
from wavewright.analysis.run.kernels import kernels
from wavewright.errors import UsageError
from wavewright.model.run import Run

SIZES: Row = {"workgroup_x": 256, "workgroup_y": 1, "workgroup_z": 1, "grid_x": 512, "grid_y": 1, "grid_z": 1}


def dispatch(begin: int, length: int, name: str, number: int, **more: object) -> Row:
    return (
        {"start_ns": begin, "end_ns": begin + length, "name": name, "dispatch_id": number, "event": number}
        | SIZES
        | more
    )


def test_durations_shapes_latency_and_counters() -> None:
    found = kernels(
        run(
            dispatches=[
                dispatch(100, 10, "gemm_a", 1, correlation=1, vgpr_count=144, accum_vgpr_count=136, lds_bytes=12800),
                dispatch(200, 30, "gemm_a", 2, correlation=2, vgpr_count=144, accum_vgpr_count=136, lds_bytes=12800),
                dispatch(300, 20, "gemm_b", 3, stream=2, grid_x=64),
                dispatch(400, 40, "other", 4),
            ],
            regions=[
                {"start_ns": 90, "end_ns": 95, "domain": "HIP", "name": "hipLaunchKernel", "correlation": 1},
                {"start_ns": 170, "end_ns": 175, "domain": "HIP", "name": "hipLaunchKernel", "correlation": 2},
            ],
            counter_info=[{"counter": 0, "process": 0, "name": "SQ_WAVES"}],
            counters=[
                {"counter": 0, "event": event, "value": value} for event, value in [(1, 4), (1, 4), (2, 6), (4, 9)]
            ],
        ),
        "gemm",
    )
    first, second = found.kernels.to_dicts()
    assert (first["name"], first["calls"], first["total_ns"], first["share"]) == ("gemm_a", 2, 40, 0.4)
    assert (first["min_ns"], first["median_ns"], first["max_ns"]) == (10, 20.0, 30)
    assert (first["latency_median_ns"], second["latency_median_ns"]) == (20.0, None)
    assert (second["name"], second["stream_count"], second["process_count"], second["gpu_count"]) == ("gemm_b", 1, 1, 1)
    shape = found.shapes.row(0, named=True)
    assert (shape["calls"], shape["mean_ns"], shape["kernel_share"]) == (2, 20.0, 1.0)
    assert (shape["waves_per_simd"], shape["waves_per_simd_max"], shape["bound_by"]) == (1, 8, "VGPR")
    assert found.shapes.row(1, named=True)["waves_per_simd"] is None
    assert rows(found.longest, "name", "dispatch_id", "median_ratio") == [
        ("gemm_a", 2, 1.5),
        ("gemm_a", 1, 0.5),
        ("gemm_b", 3, 1.0),
    ]
    assert rows(found.counters, "name", "counter", "dispatch_count", "value_mean", "value_max") == [
        ("gemm_a", "SQ_WAVES", 2, 7.0, 8.0)
    ]
    assert found.all_ns == 100


def test_names() -> None:
    made = run(dispatches=[dispatch(0, 1, "a.b", 1), dispatch(5, 1, "axb", 2)])
    assert [kernels(made, name).kernels.height for name in ("", "a.b", "/a.b/", "nothing")] == [2, 1, 2, 0]
    with pytest.raises(UsageError, match="regular expression"):
        kernels(made, "/(/")


@settings(deadline=None, max_examples=examples(40))
@given(
    st.lists(st.tuples(st.integers(0, 500), st.integers(0, 50), st.integers(0, 2), st.sampled_from("ab")), max_size=25)
)
def test_equals_plain_sums(pieces: list[tuple[int, int, int, str]]) -> None:
    parts = [
        source(
            f"{at}.db",
            pid=at,
            dispatches=[dispatch(b, n, name, i) for i, (b, n, on, name) in enumerate(pieces) if on == at],
        )
        for at in range(3)
    ]
    found = kernels(Run(parts), bins=8)
    by_name = {name: [n for _, n, _, called in pieces if called == name] for name in {piece[3] for piece in pieces}}
    expected = {name: (len(of), sum(of), min(of), median(of), max(of)) for name, of in by_name.items()}
    columns = ("name", "calls", "total_ns", "min_ns", "median_ns", "max_ns")
    assert {row[0]: row[1:] for row in rows(found.kernels, *columns)} == expected
    for table in (found.histogram, found.over_time, found.shapes):
        sums = table.group_by("name").agg(pl.col("calls").sum())
        assert dict(sums.rows()) == {name: len(of) for name, of in by_name.items()}
    assert found.over_time["bin"].max() is None or found.over_time["bin"].max() < 9  # type: ignore[operator]
