"""decode(encode(x)) == truth, for every family."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from synth import Scenario, compiled, grow, synthesize, tour
from synth.kernels import KERNELS
from tests.kit.sampling import examples
from tests.property.roundtrip import decode, differences
from tests.property.scenarios import TARGETS, scenarios

FAMILIES = tuple(TARGETS)
quick = settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.some_cases(2)
@pytest.mark.parametrize("family", FAMILIES)
@quick
@given(data=st.data())
def test_decoding_gives_the_truth(family: str, data: st.DataObject) -> None:
    scenario = data.draw(scenarios(family))
    assert differences(synthesize(scenario).traces[0]) == []


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
@settings(max_examples=examples(400), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_decoding_gives_the_truth_often(family: str, data: st.DataObject) -> None:
    scenario = data.draw(scenarios(family))
    note(str(scenario.seed))
    assert differences(synthesize(scenario).traces[0]) == []


@pytest.mark.some_cases(4)
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("family", [family for family in FAMILIES if family != "gfx1250"])
def test_every_compiled_kernel(family: str, name: str) -> None:
    for target in TARGETS[family]:
        scenario = Scenario(family=family, kernels=(compiled(name, target),), workgroups=5, loop_trips=5)
        assert differences(synthesize(scenario).traces[0]) == []


@pytest.mark.parametrize("family", FAMILIES)
def test_every_shader_engine_is_its_own_trace(family: str) -> None:
    capture = synthesize(Scenario(family=family, shader_engines=3, shader_data=True))
    assert len({trace.data for trace in capture.traces}) == 3
    assert [differences(trace) for trace in capture.traces] == [[], [], []]


@pytest.mark.parametrize("family", FAMILIES)
def test_grown_traces_hold_what_they_state(family: str) -> None:
    kernels = tuple(tour(TARGETS[family][0], name) for name in ("tour", "copy"))
    scenario = Scenario(family=family, kernels=kernels, dispatches=2, counters=True, realtime_pairs=2, shader_data=True)
    trace = synthesize(scenario).traces[0]
    grown = grow(trace, factor=5)
    records, tables = decode(trace, grown.data)
    assert records.status == 0
    assert tables["losses"].height == 0
    assert (tables["waves"].height, tables["instructions"].height) == (grown.waves, grown.instructions)
    assert (tables["instructions"]["row"] >= 0).all()
    span = trace.plan.windows_end - trace.plan.windows_begin
    begins = tables["waves"].group_by("cu", "simd", "slot", maintain_order=True).agg("start_cycles")
    for starts in begins["start_cycles"].to_list():
        per_copy = len(starts) // 5
        ordered = sorted(starts)
        assert [b - a for a, b in zip(ordered, ordered[per_copy:], strict=False)] == [span] * (4 * per_copy)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_rare_features_are_in_the_truth(family: str) -> None:
    """The comparison would be empty if the scenarios never produced these records."""
    scenario = Scenario(
        family=family, dispatches=3, counters=True, shader_data=True, realtime_pairs=5, events=12, other_simd=8,
        loss=True, other_waves=6, earlier_waves=2, extended_starts=True, execution_tokens=True, noise=8,
        markers="during", unload=True,
    )  # fmt: skip
    trace = synthesize(scenario).traces[0]
    filled = {table for table, rows in trace.truth.rows.items() if rows}
    expected = {
        "waves",
        "instructions",
        "states",
        "occupancy",
        "events",
        "dispatches",
        "shader_data",
        "realtime",
        "info",
    }
    expected |= {"losses"} | ({"counters"} if family == "gfx9" else set())
    expected |= {"other_simd"} if family in ("gfx11", "gfx12", "gfx1250") else set()
    assert filled == expected
    assert differences(trace) == []
