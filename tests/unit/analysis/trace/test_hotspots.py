"""Hotspots: every row counted once whatever the unit, inline chains attributed, samples and stored sums."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kit.made_traces import made
from tests.kit.sampling import examples
from tests.kit.together import together
from tests.kit.ui_directories import frame, load
from wavewright.analysis.trace.code.attribution import is_library, source_of_rows
from wavewright.analysis.trace.costs.hotspots import (
    SORTS,
    UNITS,
    Hotspots,
    SampleHotspots,
    hotspots,
    kernel_costs,
    sample_hotspots,
)
from wavewright.analysis.trace.costs.row_costs import row_totals
from wavewright.analysis.trace.selection import Selection, select
from wavewright.errors import UsageError
from wavewright.model.trace import ThreadTrace, TraceSource

CHAINS = [
    "/home/me/gemm.py:10",
    "/usr/lib/python3/dist-packages/dsl/math.py:5 -> /home/me/gemm.py:12 -> /home/me/main.py:3",
    "/opt/rocm/include/hip/x.h:7 -> /usr/include/c++/12/y.h:8",
    None,
    "/home/me/gemm.py:?",
    "/home/me/gemm.py:10",
]
TEXTS = ["v_add_f32 v0", "s_nop 0", "s_cbranch_scc1 65534", "s_nop 1", "s_setpc_b64 s[30:31]", "s_endpgm"]
FUNCTIONS = ["kernel", "kernel", "kernel", "kernel", "helper", None]


def code() -> pl.DataFrame:
    columns: dict[str, Any] = {"row": range(6), "code_object": [1] * 6, "address": range(0, 24, 4), "text": TEXTS}
    return frame("code", columns | {"function": FUNCTIONS, "inline_chain": CHAINS})


tokens = st.tuples(
    st.integers(0, 80), st.integers(0, 9), st.integers(0, 20), st.sampled_from([1, 6, 9]), st.integers(-1, 5)
)
waves = st.builds(
    lambda begin, instructions: {"begin": begin, "end": 999, "instructions": instructions},
    st.integers(0, 9),
    st.lists(tokens, max_size=10),
)


@pytest.mark.some_cases(4)
@pytest.mark.parametrize("by", UNITS)
@settings(deadline=None, max_examples=examples(15))
@given(st.lists(waves, max_size=3), st.sampled_from(["innermost", "outermost", "mine"]), st.sampled_from(list(SORTS)))
def test_units_add_up_to_the_totals(by: str, made_waves: list[dict[str, Any]], attribution: str, sort: str) -> None:
    trace = made(made_waves, code=code())
    answer = hotspots(trace, by=by, attribution=attribution, sort=sort)
    totals = row_totals(trace)
    for name in ("hit_count", "latency_cycles_total", "stall_cycles_total", "idle_cycles_total"):
        assert answer.units[name].sum() == getattr(answer, name) == totals[name].sum()
    assert answer.units["exposed_cycles_total"].sum() == answer.exposed_cycles_total
    assert answer.units["row_count"].sum() == totals.height
    assert answer.units["unit"].is_unique().all()
    assert answer.units[SORTS[sort]].is_sorted(descending=True)
    if answer.latency_cycles_total:
        assert answer.units["cycles_share"].sum() == pytest.approx(1) and answer.cycles_share == 1
    spec = Hotspots.tables["units"]
    assert [(name, str(dtype)) for name, dtype in answer.units.schema.items()] == [
        (c.name, c.dtype) for c in spec.columns
    ]


def running(rows: list[int]) -> dict[str, Any]:
    return {"begin": 0, "end": 99, "instructions": [(10 * at, 2, 6, 6, row) for at, row in enumerate(rows)]}


def units(trace: ThreadTrace, **options: Any) -> dict[str | None, int]:
    return dict(hotspots(trace, **options).units.select("unit", "hit_count").iter_rows())


def test_what_units_are_called() -> None:
    trace = made([running([0, 1, 2, 1, 2, 3, 4, 5])], code=code())
    assert units(trace, by="file") == {"/home/me/gemm.py": 3, "/usr/lib/python3/dist-packages/dsl/math.py": 2,
                                       "/opt/rocm/include/hip/x.h": 2, None: 1}  # fmt: skip
    assert units(trace, by="function") == {"kernel": 6, "helper": 1, None: 1}
    assert units(trace, by="block") == {"block 0": 1, "block 1": 4, "block 2": 1, "block 3": 1, "block 4": 1}
    assert units(trace, by="loop") == {"loop 0": 4, None: 4}
    assert units(trace, by="line")["/home/me/gemm.py:?"] == 1
    assert units(trace, by="line", attribution="mine")["/home/me/gemm.py:12"] == 2
    assert units(trace, by="line", attribution="mine", mine=["main.py"])["/home/me/main.py:3"] == 2


def test_shares_are_of_the_whole_trace() -> None:
    trace = made([running([0, 1, 3, 3])], code=code())
    answer = hotspots(trace, rows=pl.Series([3], dtype=pl.Int32))
    assert answer.units["row_count"].to_list() == [1]
    assert answer.hit_count == 2 and answer.units["stall_share"].to_list() == [0.5] and 0 < answer.cycles_share < 1


def test_kernels_share_code() -> None:
    kernels = frame("kernels", {"kernel": [0, 1], "name": ["a", "b"], "demangled": ["a()", "b()"]})
    trace = made([running([0, 1, 3]), running([3, 3]), running([3])], code=code(), kernels=kernels)
    trace.tables["waves"] = trace.waves.with_columns(kernel=pl.Series([0, 1, None], dtype=pl.UInt32))
    costs = kernel_costs(trace).select("kernel", "row", "hit_count").rows()
    assert sorted(costs, key=str) == sorted([(None, 3, 1), (0, 0, 1), (0, 1, 1), (0, 3, 1), (1, 3, 2)], key=str)
    assert units(trace, by="kernel") == {"a()": 3, "b()": 2, None: 1}
    part = select(trace, Selection(waves=(1, 2)))
    assert units(part, by="kernel") == {"b()": 2, None: 1}
    whole, apart = hotspots(trace).exposed_cycles_total, hotspots(trace, by="kernel").exposed_cycles_total
    assert whole is not None and apart is not None and apart <= whole


@pytest.mark.parametrize("options", [{"by": "page"}, {"sort": "name"}, {"attribution": "yours"}])
def test_wrong_words_are_named(options: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="no "):
        hotspots(made([running([0])], code=code()), **options)


def test_stored_totals_do_where_there_are_no_instructions() -> None:
    stored = frame(
        "stored_totals",
        {"row": [0, 1], "hit_count": [2, 0], "latency_cycles_total": [30, 0], "stall_cycles_total": [8, 0],
         "idle_cycles_total": [10, 0]},
    )  # fmt: skip
    trace = ThreadTrace({"code": code(), "stored_totals": stored}, TraceSource(path="made"))
    answer = hotspots(trace, by="line")
    assert (answer.basis, answer.sort, answer.exposed_cycles_total) == ("stored totals", "latency", None)
    assert answer.units.select("unit", "hit_count", "exposed_cycles_total").rows() == [("/home/me/gemm.py:10", 2, None)]
    assert answer.units["cycles_share"].to_list() == [1.0]
    assert hotspots(trace, by="kernel").units["hit_count"].to_list() == [2]


def test_samples() -> None:
    samples = frame("samples", {"row": [0, 1, 3, 5], "issued_count": [1, 0, 2, 0], "stalled_count": [3, 4, 0, 0]})
    reasons = frame(
        "sample_reasons", {"row": [0, 0, 1], "reason": ["barrier", "waitcnt", "barrier"], "count": [1, 2, 4]}
    )
    trace = ThreadTrace({"code": code(), "samples": samples, "sample_reasons": reasons}, TraceSource(path="made"))
    by_row = sample_hotspots(trace)
    assert by_row.units.select("first_row", "sample_count", "reason").rows() == [
        (0, 4, "waitcnt"),
        (1, 4, "barrier"),
        (3, 2, None),
    ]
    assert (by_row.sample_count, by_row.issued_count, by_row.stalled_count) == (10, 3, 7)
    by_function = sample_hotspots(trace, by="kernel")
    assert by_function.units.select("unit", "sample_count", "reason", "reason_count").rows() == [
        ("kernel", 10, "barrier", 5)
    ]
    spec = SampleHotspots.tables["units"]
    assert by_row.units.columns == [column.name for column in spec.columns]
    chosen = sample_hotspots(trace, rows=pl.Series([1], dtype=pl.Int32))
    assert chosen.units["sample_share"].to_list() == [0.4]


def test_chains_without_own_code_go_to_the_outermost_frame() -> None:
    mine = source_of_rows(code(), "mine").rows()
    assert mine[2] == (2, "/usr/include/c++/12/y.h", 8) and mine[3] == (3, None, None)
    assert [row[2] for row in source_of_rows(code()).rows()] == [10, 5, 7, None, None, 10]


@together(
    "file",
    ["/x/site-packages/a.py", "/w/build/python_packages/flydsl/expr/numeric.py", "/usr/include/a.h", "<frozen x>",
     "/opt/rocm-6.2/include/hip/hip.h", "/usr/lib/python3.11/functools.py", "/a/lib/clang/22/include/b.h"],
)  # fmt: skip
def test_libraries(file: str) -> None:
    assert is_library(file) and not is_library("/home/me/lib/kernels/gemm.py")


def test_the_lines_of_a_real_kernel(shared: Path) -> None:
    directory = shared / "data/uiout-mi350x-flydsl/flash_attn_func/small/ui_output_agent_32235_dispatch_44"
    answer = hotspots(load(directory), by="instruction", sort="stall")
    assert (answer.latency_cycles_total, answer.stall_cycles_total, answer.idle_cycles_total) == (
        208_060,
        107_884,
        12_312,
    )
    lines = hotspots(load(directory), by="line")
    top = lines.units.row(0, named=True)
    assert (top["line"], top["row_count"] <= 1_895) == (257, True)
