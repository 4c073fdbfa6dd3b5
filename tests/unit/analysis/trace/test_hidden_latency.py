"""Hidden latency: both rules against slow restatements of them, and AMD's viewer's totals of real traces."""

from __future__ import annotations

import tarfile
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import wavewright
from synth import Scenario, compiled, synthesize, write_capture
from tests.kit.made_traces import made
from tests.kit.sampling import examples
from tests.kit.ui_directories import frame, load
from tests.property.scenarios import TARGETS, scenarios
from tests.unit.analysis import spelled_out_hiding
from wavewright.analysis.trace.costs.row_costs import ROW_COSTS, hidden_latency, row_costs
from wavewright.analysis.trace.selection import Selection, select
from wavewright.model.trace import ThreadTrace

TEXTS = ["v_mfma_f32", "v_add_f32 v0", "global_load_dword v1", "s_add_u32 s0", "s_nop 0", "v_wmma_f32"]
SPELLED_OUT = {True: spelled_out_hiding.reference, False: spelled_out_hiding.corrected}  # by `amd`


def by_row(trace: ThreadTrace, *, amd: bool) -> dict[int, list[int]]:
    return {row: [*parts] for row, *parts in hidden_latency(trace, amd=amd).by_row.iter_rows()}


def with_texts(waves: list[dict[str, Any]], **tables: pl.DataFrame) -> ThreadTrace:
    return made(waves, code=frame("code", {"row": range(len(TEXTS)), "text": TEXTS}), **tables)


categories = st.sampled_from([0, 1, 2, 3, 4, 5, 6, 6, 6, 7, 9])
tokens = st.tuples(st.integers(0, 60), st.integers(0, 9), st.integers(0, 12), categories, st.integers(-1, 5))


@st.composite
def waves(draw: st.DrawFn) -> dict[str, Any]:
    instructions = draw(st.lists(tokens, max_size=10))
    in_order = draw(st.booleans())
    return {
        "se": draw(st.integers(0, 1)),
        "simd": draw(st.integers(0, 1)),
        "begin": draw(st.integers(-5, 20)),
        "end": 99,
        "instructions": sorted(instructions, key=lambda token: token[0]) if in_order else instructions,
    }


others = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 60), st.integers(0, 12)), max_size=3)


@pytest.mark.parametrize("amd", [False, True])
@settings(deadline=None, max_examples=examples(60))
@given(st.lists(waves(), max_size=4), others)
def test_small_traces_follow_the_rule(
    amd: bool, made_waves: list[dict[str, Any]], neighbours: list[tuple[int, int, int]]
) -> None:
    columns = {"se": [n[0] for n in neighbours], "time_cycles": [n[1] for n in neighbours]}
    other_simd = frame("other_simd", columns | {"duration_cycles": [n[2] for n in neighbours]}, cu=0, category=3)
    trace = with_texts(made_waves, other_simd=other_simd)
    assert by_row(trace, amd=amd) == SPELLED_OUT[amd](trace)
    costs = row_costs(trace, amd=amd)
    assert costs.columns == [column.name for column in ROW_COSTS.columns]
    for part in ("idle", "stall", "issue"):
        assert (costs[f"exposed_{part}_cycles_total"] >= 0).all()


@pytest.mark.parametrize("family", TARGETS)
@settings(max_examples=2, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_synthetic_captures_follow_the_rules(family: str, data: st.DataObject) -> None:
    capture = synthesize(data.draw(scenarios(family, whole=True)))
    with tempfile.TemporaryDirectory() as folder:
        files = write_capture(capture, folder)
        listings = [file for file in files if file.name.endswith(".isa.tsv")]
        located = [f"{f}@{o.load_address}:{o.id}" for f, o in zip(listings, capture.code_objects, strict=True)]
        trace = wavewright.decode([files[-1]], code_objects=located)
    assert by_row(trace, amd=True) == spelled_out_hiding.reference(trace)


@pytest.mark.parametrize("gpu", ["gfx942", "gfx1100", "gfx1201"])
def test_the_matrix_kernel_follows_the_rules(gpu: str, tmp_path: Path) -> None:
    family = "gfx9" if gpu == "gfx942" else gpu[:5]
    scenario = Scenario(
        family=family, kernels=(compiled("tiled_gemm", gpu),), workgroups=2, waves_per_workgroup=2, waves_per_simd=2,
        other_simd=0 if family == "gfx9" else 6, seed=3,
    )  # fmt: skip
    write_capture(synthesize(scenario), tmp_path)
    trace = wavewright.decode(tmp_path)
    for amd in (False, True):
        assert by_row(trace, amd=amd) == SPELLED_OUT[amd](trace)
    reference = hidden_latency(trace, amd=True)
    assert reference.hidden_stall_cycles_total > 0
    costs = row_costs(trace)  # a wave cannot hide more of its time than there is
    assert costs["hidden_stall_cycles_total"].sum() == hidden_latency(trace).hidden_stall_cycles_total
    assert costs["hidden_idle_cycles_total"].sum() == hidden_latency(trace).hidden_idle_cycles_total


def test_touching_intervals_are_put_behind_each_other_in_the_reference_rule_only() -> None:
    """Two waves issue VALU work in [0, 8); the third wave's matrix instruction stalls in [8, 16)."""
    busy = {"begin": 0, "end": 50, "instructions": [(0, 0, 8, 6, 1)]}
    waiting = {"begin": 8, "end": 50, "instructions": [(8, 8, 12, 6, 0)]}
    trace = with_texts([busy, busy, waiting])
    assert by_row(trace, amd=True)[0] == [0, 8, 0]
    assert by_row(trace, amd=False)[0] == [0, 0, 0]


def test_a_wave_hides_itself_in_the_reference_rule_only() -> None:
    wave = {"begin": 0, "end": 50, "instructions": [(0, 0, 20, 3, 2), (4, 10, 12, 9, 4)]}
    trace = with_texts([wave])
    assert by_row(trace, amd=True)[4] == [0, 10, 2]
    assert by_row(trace, amd=False)[4] == [0, 0, 0]


def test_waves_that_a_selection_leaves_out_still_hide() -> None:
    busy = {"begin": 0, "end": 50, "instructions": [(0, 0, 30, 6, 1)]}
    waiting = {"begin": 0, "end": 50, "instructions": [(0, 4, 6, 9, 4), (10, 5, 8, 9, 4)]}
    whole = with_texts([busy, waiting])
    one_wave = select(whole, Selection(waves=(1,)))
    assert by_row(one_wave, amd=True) == {4: by_row(whole, amd=True)[4]} == {4: [4, 9, 5]}
    later = select(one_wave, Selection(start_cycles=8))
    for amd in (False, True):
        assert by_row(later, amd=amd) == {4: [4, 5, 3]}


def test_the_default_is_how_the_trace_was_opened() -> None:
    wave = {"begin": 0, "end": 50, "instructions": [(0, 0, 20, 3, 2), (4, 10, 12, 9, 4)]}
    trace = with_texts([wave])
    assert hidden_latency(trace).amd is False
    assert hidden_latency(trace).hidden_stall_cycles_total == 0
    trace = with_texts([wave])
    trace.source = replace(trace.source, amd=True)
    assert hidden_latency(trace).amd is True
    assert hidden_latency(trace).hidden_stall_cycles_total == 10
    assert hidden_latency(trace, amd=False).hidden_stall_cycles_total == 0


def test_times_at_the_ends_of_the_type_are_harmless() -> None:
    far = 2**63 - 1
    wave = {"begin": -far, "end": far, "instructions": [(-far, 2**31 - 1, 2**31 - 1, 6, 1), (far, 5, 9, 9, 4)]}
    for amd in (False, True):
        assert set(by_row(with_texts([wave, wave]), amd=amd)) == {1, 4}


VIEWER_TOTALS = {
    "flash_attn_func/big/ui_output_agent_55287_dispatch_44_after_loc_fix": (42_881, 486_062, 46_800),
    "preshuffle_gemm/big/ui_output_agent_58177_dispatch_135": (20_396, 1_248_187, 59_935),
    "moe_reduce/big/ui_output_agent_42768_dispatch_39": (181_604, 7_744_188, 2_494_560),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", VIEWER_TOTALS)
def test_totals_equal_those_of_the_viewer(name: str, shared: Path, tmp_path: Path) -> None:
    archive = shared / "data" / "uiout-mi350x-flydsl" / f"{name}.tar.xz"
    with tarfile.open(archive) as packed:
        packed.extractall(tmp_path)  # noqa: S202 (our own reference data)
    hidden = hidden_latency(load(tmp_path / Path(name).name), amd=True)
    found = (hidden.hidden_idle_cycles_total, hidden.hidden_stall_cycles_total, hidden.hidden_issue_cycles_total)
    assert found == VIEWER_TOTALS[name]
