"""Coverage, mapping, barriers, caveats and comparison of any trace: an answer that adds up, never an exception."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.kit.made_traces import made
from tests.kit.sampling import examples
from tests.kit.ui_directories import frame
from tests.unit.analysis.small_kernels import code
from wavewright.analysis.trace.barriers import barriers
from wavewright.analysis.trace.code.wave_paths import early_waves
from wavewright.analysis.trace.compare import KINDS, compare
from wavewright.analysis.trace.trust.coverage import coverage
from wavewright.analysis.trace.trust.mapping import mapping
from wavewright.analysis.trace.trust.verdicts import trust_of
from wavewright.model.executions import is_execution
from wavewright.model.trace import ThreadTrace

TEXTS = [
    "s_load_dword s2, s[0:1], 0x0",
    "s_waitcnt lgkmcnt(0)",
    "s_barrier",
    "s_cbranch_scc0 65530",
    "v_add_f32_e32 v0, v1, v2",
    "global_load_dword v0, v[0:1], off",
    "s_waitcnt vmcnt(0)",
    "s_endpgm",
]
tokens = st.tuples(
    st.integers(-(2**40), 2**40) | st.integers(0, 500),
    st.integers(0, 60),
    st.integers(0, 100) | st.integers(0, 2**31 - 1),
    st.sampled_from([1, 2, 5, 6, 7, 9, 11]),
    st.integers(-1, 9),  # two rows behind the code
)
waves = st.builds(
    lambda begin, length, se, simd, slot, instructions: {
        "begin": begin,
        "end": begin + length,
        "se": se,
        "simd": simd,
        "slot": slot,
        "instructions": instructions,
    },
    st.integers(-100, 1000),
    st.integers(-5, 10_000),
    st.integers(0, 70),
    st.integers(0, 3),
    st.integers(0, 9),
    st.lists(tokens, max_size=12),
)
events = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(-5, 5000), st.booleans()), max_size=12)


def trace_from(
    some: list[dict[str, Any]], lines: list[int | None], stays: list[tuple[int, int, int, bool]], texts: list[str]
) -> ThreadTrace:
    table = code(texts, lines=lines)
    table = table.with_columns(
        function=pl.when(pl.col("row") < 6).then(pl.lit("kernel")), text=pl.when(pl.col("row") != 4).then("text")
    )
    names = ("cu", "slot", "time_cycles", "start")
    occupancy = {name: [event[at] for event in stays] for at, name in enumerate(names)}
    return made(some, code=table, occupancy=frame("occupancy", occupancy, se=0, simd=0))


traces = st.builds(
    trace_from,
    st.lists(waves, max_size=8),
    st.lists(st.none() | st.integers(0, 4), min_size=8, max_size=8),
    events,
    st.permutations(TEXTS) | st.just(TEXTS),
)
slowly = settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])


@slowly
@given(traces)
@pytest.mark.slow
def test_coverage_adds_up(trace: ThreadTrace) -> None:
    seen = coverage(trace)
    assert seen.executed_row_count <= seen.entered_row_count <= seen.row_count == 8
    assert seen.paths["wave_count"].sum() == seen.wave_count == trace.waves.height
    assert seen.engines["wave_count"].sum() == seen.wave_count
    executions = trace.instructions.filter(is_execution())
    assert seen.engines["instruction_count"].sum() == seen.instruction_count == executions.height
    assert seen.unresolved_count == trace.instructions.filter(~pl.col("row").is_between(0, 7)).height
    assert 0 <= seen.executed_share <= 1
    trust = trust_of(trace)
    assert trust.cycles in ("good", "use with caution", "do not use")
    assert trust.lines in ("good", "coarse", "few", "none")
    assert all(caveat.sentence and caveat.advice for caveat in trust.caveats)
    assert seen.early_exit_wave_count == early_waves(trace).len() <= seen.traced_wave_count


@slowly
@given(traces)
def test_mapping_adds_up(trace: ThreadTrace) -> None:
    found = mapping(trace)
    assert found.files["row_count"].sum() == found.row_count
    assert found.lines["row_count"].sum() == found.mapped_row_count
    assert 0 <= found.top_line_share <= 1
    assert found.effective_line_count <= found.line_count + 1e-9


@slowly
@given(traces)
def test_barriers_add_up(trace: ThreadTrace) -> None:
    found = barriers(trace)
    assert found.rows["lost_cycles_total"].sum() == found.lost_cycles_total >= 0
    assert (found.rows["late_cycles_total"] <= found.rows["lost_cycles_total"]).all()
    assert found.last_waves["last_count"].sum() == found.rows["meeting_count"].sum()


@slowly
@given(traces, traces, st.sampled_from(KINDS))
@pytest.mark.slow
def test_comparison_adds_up(one: ThreadTrace, two: ThreadTrace, by: str) -> None:
    if not (one.instructions.height and two.instructions.height):
        return
    found = compare([one, two], by=by, force=True)
    assert found.verdict()
    delta = found.units["cost_cycles_per_wave"] - found.units["base_cost_cycles_per_wave"]
    assert found.units["delta_cycles_per_wave"].to_list() == pytest.approx(delta.to_list())
    assert found.units["unit"].n_unique() == found.units.height
    assert 0 <= found.matched_share <= 1 + 1e-9


@pytest.mark.slow
@slowly
@given(traces, st.sampled_from(KINDS))
def test_a_trace_does_not_differ_from_itself(trace: ThreadTrace, by: str) -> None:
    if not trace.instructions.height:
        return
    found = compare([trace, trace], by=by)
    assert found.same_code
    assert not (found.units["delta_cycles_per_wave"] != 0).any()
    assert found.standing_out().height == 0
    assert set(found.units["change"]) <= {"same"}
