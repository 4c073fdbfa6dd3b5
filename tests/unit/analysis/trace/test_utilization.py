"""Busy pipes and issue bubbles."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kit.made_traces import made
from tests.kit.sampling import examples
from tests.kit.ui_directories import frame
from wavewright.analysis.common.time_bins import TimeBins
from wavewright.analysis.trace.pipes import PIPES
from wavewright.analysis.trace.pipes.utilization import utilization
from wavewright.analysis.trace.timeline.layers.pipes import busy_shares
from wavewright.model.schema import CATEGORIES

TEXTS = ["v_add_f32 v0, v1, v2", "v_mfma_f32_32x32x8_f16 a[0:15], v0, v1, a[0:15]", "s_waitcnt vmcnt(0)"]
CODE = frame("code", {"row": [0, 1, 2], "text": TEXTS})
GFX9 = frame("shader_engines", {"se": [0, 1]}, gfxip=9)


def issues(table: pl.DataFrame, *keys: str) -> list[tuple[object, ...]]:
    return table.select(*keys, "pipe", "issue_cycles_total", "issue_share").rows()


def test_pipes_engines_and_bubbles() -> None:
    valu, matrix, wait = (0, 4, 12, 6, 0), (20, 0, 8, 6, 1), (40, 30, 30, 9, 2)
    first = {"begin": 0, "end": 80, "instructions": [valu, matrix, wait]}
    second = {"begin": 0, "end": 20, "instructions": [(0, 0, 20, 3, -1)], "se": 1}
    answer = utilization(made([first, second], code=CODE, shader_engines=GFX9))
    expected = [("VALU", 8, 0.08), ("MATRIX", 8, 0.08), ("VMEM", 20, 0.2), ("IMMEDIATE", 4, 0.04)]
    assert issues(answer.pipes) == expected
    assert issues(answer.by_engine.filter(se=1), "se") == [(1, "VMEM", 20, 1.0)]
    assert answer.bubbles.rows() == [(0, 1, 80, 80, 20, 60, 0.75), (1, 1, 20, 20, 20, 0, 0.0)]
    assert answer.bubble_share == 0.6


def test_curves_of_busy_pipes_last_as_long_as_the_native_sums_say() -> None:
    matrix = [(0, 0, 8, 6, 1), (10, 2, 8, 6, 1), (100, 0, 8, 6, 1)]  # the second waits in the passes of the first
    wave = {"begin": 0, "end": 200, "instructions": [*matrix, (150, 0, 8, 6, 0)]}
    trace = made([wave], code=CODE, shader_engines=GFX9)
    (curve,) = busy_shares(trace)  # the others are busy while they issue
    assert (curve.se, curve.simd, curve.pipe) == (0, 0, "MATRIX")
    expected = utilization(trace).pipes.filter(pipe="MATRIX")["busy_cycles_total"].item()
    assert int(curve.sums(TimeBins(0, 200, 200, 1)).integral[0]) == expected > 3 * 8
    passes = [curve.sums(TimeBins(0, 200, 4, 50)).low[bin_] for bin_ in (0, 28, 40)]
    assert passes == [1.0, 1.0, 0.0]  # busy from its issue on, also behind it; not between the instructions


def test_only_the_rows_asked_for() -> None:
    wave = {"begin": 0, "end": 40, "instructions": [(0, 0, 8, 6, 0), (8, 0, 8, 6, 1), (16, 0, 8, 6, -1)]}
    trace = made([wave], code=CODE, shader_engines=GFX9)
    answer = utilization(trace, rows=pl.Series([0], dtype=pl.Int32))
    assert issues(answer.pipes) == [("VALU", 8, 0.2)]


def test_memory_instructions_of_the_neighbour_simd() -> None:
    wave = {"begin": 0, "end": 100, "instructions": [(0, 5, 5, 9, 2)]}
    engines = frame("shader_engines", {"se": [0]}, gfxip=11)
    records = {
        "se": [0] * 4,
        "time_cycles": [30, 10, 12, 50],
        "duration_cycles": [4, 4, 4, 10],
        "category": [3, 3, 4, 5],
    }
    other = frame("other_simd", records, cu=0)
    answer = utilization(made([wave], code=CODE, shader_engines=engines, other_simd=other))
    assert answer.neighbours.rows() == [(0, "VMEM", 10, 0.1), (0, "LDS", 10, 0.1)]
    assert issues(answer.pipes) == [("IMMEDIATE", 1, 0.01)]


def test_a_base_clock_is_one_cycle_on_rdna() -> None:
    wave = {"begin": 0, "end": 10, "instructions": [(0, 5, 5, 9, 2)]}
    engines = frame("shader_engines", {"se": [0]}, gfxip=11)
    assert issues(utilization(made([wave], code=CODE, shader_engines=engines)).pipes) == [("IMMEDIATE", 1, 0.1)]


def test_over_time_is_a_mean_over_simds() -> None:
    first = {"begin": 0, "end": 40, "instructions": [(0, 0, 20, 6, 0)]}
    second = {"begin": 0, "end": 40, "simd": 1, "instructions": [(20, 0, 20, 6, 0)]}
    answer = utilization(made([first, second], code=CODE, shader_engines=GFX9), bins=2)
    rows = answer.over_time.filter(pl.col("bin") == 0).rows()
    assert rows == [(0, "VALU", 0, 0, 0.5, 0.5), (0, "ANY", 0, 0, 0.5, None)]


def test_simds_without_traced_instructions_do_not_count() -> None:
    first = {"begin": 0, "end": 40, "instructions": [(0, 0, 20, 6, 0)]}
    answer = utilization(made([first, {"begin": 0, "end": 40, "simd": 1}], code=CODE, shader_engines=GFX9), bins=2)
    assert answer.pipes.filter(pipe="VALU")["busy_share"].to_list() == [0.5]
    assert answer.bubble_share == 0.5


def test_matrix_instructions_occupy_their_pipe_for_their_passes() -> None:
    """32 cycles each for this one, from two waves: 0 to 64 without a gap, then 100 to 132."""
    valu = [(4, 0, 4, 6, 0), (8, 0, 4, 6, 0), (12, 0, 4, 6, 0)]
    first = {"begin": 0, "end": 200, "instructions": [(0, 0, 4, 6, 1), *valu, (16, 16, 20, 6, 1)]}
    second = {"begin": 0, "end": 200, "instructions": [(100, 0, 4, 6, 1)]}
    answer = utilization(made([first, second], code=CODE, shader_engines=GFX9), bins=2)
    found = dict.fromkeys(answer.pipes.columns) | answer.pipes.filter(pipe="MATRIX").row(0, named=True)
    assert (found["issue_count"], found["issue_cycles_total"], found["busy_cycles_total"]) == (3, 12, 96)
    assert (found["issue_share"], found["busy_share"]) == (0.06, 0.48)
    assert (found["phase_cycles_total"], found["phase_busy_share"]) == (96, 1.0)
    assert answer.valu_per_matrix == 1
    shares = answer.over_time.filter(pipe="MATRIX").select("bin", "issue_share", "busy_share").rows()
    assert shares == [(0, 0.08, 0.64), (1, 0.04, 0.32)]
    assert answer.pipes.filter(pipe="VALU").select("issue_cycles_total", "busy_cycles_total").rows() == [(12, 12)]


def test_a_gap_between_matrix_instructions_belongs_to_their_phase() -> None:
    wave = {"begin": 0, "end": 400, "instructions": [(0, 0, 4, 6, 1), (224, 0, 4, 6, 1)]}
    answer = utilization(made([wave], code=CODE, shader_engines=GFX9))
    found = answer.pipes.row(0, named=True)
    assert (found["phase_cycles_total"], found["phase_busy_share"], found["busy_share"]) == (256, 0.25, 0.16)
    assert answer.valu_per_matrix == 0


def test_every_category_has_at_most_one_pipe() -> None:
    used = [category for categories in PIPES.values() for category in categories]
    assert len(used) == len(set(used))
    assert set(CATEGORIES.values()) - set(used) == {"NONE", "CONTEXT", "UNFINISHED"}


@pytest.mark.parametrize("simd", [0, 1])
def test_no_instructions(simd: int) -> None:
    answer = utilization(made([{"begin": 0, "end": 10, "simd": simd}], shader_engines=GFX9))
    assert (answer.pipes.height, answer.bubble_share, answer.valu_per_matrix) == (0, 1.0, None)


tokens = st.lists(
    st.tuples(
        st.integers(0, 60), st.integers(0, 10), st.integers(0, 20), st.sampled_from([1, 3, 5, 6, 9]), st.just(-1)
    ),
    max_size=8,
)


@settings(deadline=None, max_examples=examples(40))
@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 80), tokens), min_size=1, max_size=4))
def test_unions_equal_counting_every_cycle(waves: list[tuple[int, int, list[tuple[int, int, int, int, int]]]]) -> None:
    given_waves = [{"begin": b, "end": b + length, "instructions": t} for b, length, t in waves]
    answer = utilization(made(given_waves, code=CODE, shader_engines=GFX9))
    busy: dict[str, set[int]] = {}
    for _, _, instructions in waves:
        for time, stall, duration, category, _ in instructions:
            pipe = next(pipe for pipe, names in PIPES.items() if CATEGORIES[category] in names)
            length = 4 if pipe == "IMMEDIATE" else max(duration - stall, 4)
            busy.setdefault(pipe, set()).update(range(time + stall, time + stall + length))
    assert dict(answer.pipes.select("pipe", "issue_cycles_total").rows()) == {p: len(c) for p, c in busy.items()}
    assert answer.pipes["busy_cycles_total"].equals(answer.pipes["issue_cycles_total"])
    lives = {cycle for b, length, _ in waves for cycle in range(b, b + length)}
    issuing = set().union(*busy.values())
    bubbles = answer.bubbles.row(0, named=True)
    assert bubbles["resident_cycles_total"] == len(lives)
    assert bubbles["bubble_cycles_total"] == len(lives - issuing)
    assert bubbles["issue_cycles_total"] == len(issuing)
