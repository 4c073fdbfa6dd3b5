"""Loops: trips and cycles of iterations, against loops that were made with known ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import wavewright
from synth import Scenario, compiled, synthesize, write_capture
from tests.kit.made_traces import made
from tests.kit.ui_directories import frame, load
from wavewright.analysis.trace.costs.loops import Loops, loops
from wavewright.model.trace import ThreadTrace

TEXTS = ["s_branch c", "s_nop 0", "s_nop 0", "s_cbranch_scc1 a", "s_cbranch_scc1 b", "s_endpgm"]


def trace_of(*waves: list[int], spacing: int = 10) -> ThreadTrace:
    code = frame("code", {"row": range(6), "code_object": [1] * 6, "address": range(0, 24, 4), "text": TEXTS,
                          "file": ["/a.py"] * 6, "line": [1, 2, 3, 4, 5, 6]})  # fmt: skip
    tokens = [[(spacing * at, 3, 6, 2, row) for at, row in enumerate(rows)] for rows in waves]
    return made([{"begin": 0, "end": 9999, "instructions": rows} for rows in tokens], code=code)


def rows_of(answer: Loops) -> list[dict[str, Any]]:
    return answer.loops.to_dicts()


def test_nested_loops() -> None:
    inner = [2, 3]
    trace = trace_of([0, 1, *inner, *inner, *inner, 4, 1, *inner, 4, 5], [0, 1, *inner, 4, 5])
    outer, nested = rows_of(loops(trace))
    assert (outer["first_row"], outer["last_row"], outer["parent"], outer["depth"]) == (1, 4, None, 0)
    assert (outer["wave_count"], outer["entry_count"], outer["iteration_count"]) == (2, 2, 3)
    assert (outer["trips_min"], outer["trips_median"], outer["trips_max"]) == (1, 1.5, 2)
    assert (outer["iteration_cycles_min"], outer["iteration_cycles_max"]) == (40, 80)
    assert (nested["parent"], nested["depth"], nested["entry_count"], nested["iteration_count"]) == (0, 1, 3, 5)
    assert (nested["trips_min"], nested["trips_max"], nested["iteration_cycles_median"]) == (1, 3, 20.0)
    assert nested["steady_cycles_median"] == 20.0 and outer["steady_cycles_median"] is None
    assert nested["steady_stall_share"] == pytest.approx(6 / 20)
    assert (outer["first_line"], outer["last_line"], nested["first_line"]) == (2, 5, 3)
    assert outer["hit_count"] == 16 and nested["hit_count"] == 10
    assert outer["cycles_share"] > outer["self_cycles_share"] > 0
    inside = outer["self_cycles_share"] + nested["self_cycles_share"]
    assert inside + loops(trace).outside_cycles_share == pytest.approx(1)


def test_a_loop_entered_in_the_middle_has_whole_iterations() -> None:
    (loop,) = rows_of(loops(trace_of([0, 3, 4, 1, 2, 3, 4, 1, 2, 5])))
    assert (loop["first_row"], loop["last_row"], loop["start_row"]) == (1, 4, 3)
    assert (loop["trips_min"], loop["iteration_cycles_min"], loop["iteration_cycles_max"]) == (2, 40, 40)


def test_only_loops_with_the_chosen_rows() -> None:
    trace = trace_of([0, 1, 2, 3, 2, 3, 4, 1, 2, 3, 4, 5])
    chosen = loops(trace, rows=pl.Series([4, 5], dtype=pl.Int32))
    assert chosen.loops["loop"].to_list() == [0]
    assert loops(trace, rows=pl.Series([0], dtype=pl.Int32)).loops.height == 0


def test_the_tables_are_as_declared() -> None:
    for trace in (trace_of([0, 1, 2, 3, 2, 3, 5]), trace_of([0, 5]), trace_of()):
        answer = loops(trace)
        for name, spec in Loops.tables.items():
            found = getattr(answer, name).schema
            assert [(name, str(dtype)) for name, dtype in found.items()] == [(c.name, c.dtype) for c in spec.columns]


def looping(*cycles: list[int]) -> ThreadTrace:
    """Waves that go round the loop of rows 2 and 3; each number is the cycles of one iteration."""
    waves = []
    for wave in cycles:
        time, tokens = 10, [(0, 3, 6, 2, 1)]
        for length in wave:
            tokens += [(time, 3, 6, 2, 2), (time + 5, 3, 6, 2, 3)]
            time += length
        waves.append({"begin": 0, "end": 9999, "instructions": [*tokens, (time, 3, 6, 2, 4), (time + 9, 3, 6, 2, 5)]})
    code = frame("code", {"row": range(6), "code_object": [1] * 6, "address": range(0, 24, 4), "text": TEXTS})
    return made(waves, code=code)


def test_cycles_by_iteration_number() -> None:
    answer = loops(looping([20, 30, 90, 20], [20, 50, 110, 40], [20, 40]))
    rows = answer.iterations.to_dicts()
    assert [row["iteration"] for row in rows] == [0, 1, 2, 3]
    assert [row["cycles_mean"] for row in rows] == [20, 40, 100, 30]
    assert [row["wave_count"] for row in rows] == [3, 3, 2, 2]
    assert [(row["cycles_min"], row["cycles_max"]) for row in rows] == [(20, 20), (30, 50), (90, 110), (20, 40)]
    assert [row["longer_share"] for row in rows] == [0, 1, 1, 0]  # medians of the waves: 25, 45, 30
    (loop,) = rows_of(answer)
    assert (loop["slowest_iteration"], loop["slowest_cycles_mean"]) == (2, 100)
    assert loop["slowest_ratio"] == pytest.approx(100 / 35)


def test_an_iteration_that_few_waves_reach_is_not_the_slowest() -> None:
    (loop,) = rows_of(loops(looping([20, 30], [20, 30], [20, 30, 500])))
    assert (loop["slowest_iteration"], loop["slowest_ratio"]) == (1, 30 / 25)


@pytest.mark.parametrize("gpu", ["gfx942", "gfx1100"])
def test_trips_of_a_synthetic_kernel(gpu: str, tmp_path: Path) -> None:
    family = "gfx9" if gpu == "gfx942" else "gfx11"
    scenario = Scenario(family=family, kernels=(compiled("tiled_gemm", gpu),), workgroups=2, loop_trips=5, seed=2)
    write_capture(synthesize(scenario), tmp_path)
    trace = wavewright.decode(tmp_path)
    (loop,) = rows_of(loops(trace))
    assert (loop["trips_min"], loop["trips_max"]) == (6, 6)  # the body, and five times back to it
    assert loop["wave_count"] == trace.waves.height
    assert loop["iteration_count"] == loop["wave_count"] * 6


def test_the_loop_of_a_real_kernel(shared: Path) -> None:
    trace = load(shared / "data" / "att-mi300x-bmm" / "c03" / "ui_output_agent_47531_dispatch_3")
    (loop,) = rows_of(loops(trace))
    assert (loop["wave_count"], loop["trips_min"], loop["trips_max"]) == (28, 16, 16)
    assert loop["first_cycles_median"] > 20 * loop["steady_cycles_median"]  # cold caches


def test_the_slow_iteration_of_a_real_kernel(shared: Path) -> None:
    """Counted by hand from the decoded JSON: iteration 3 takes 3,414 cycles in all waves, the others about 2,500."""
    answer = loops(wavewright.decode(shared / "data" / "att-mi300x-bmm" / "c08" / "raw"))
    assert answer.loops["slowest_iteration"].to_list() == [3]
    slowest = answer.iterations.row(3, named=True)
    assert (slowest["cycles_mean"], slowest["wave_count"], slowest["longer_share"]) == (3414.5, 8, 1.0)
