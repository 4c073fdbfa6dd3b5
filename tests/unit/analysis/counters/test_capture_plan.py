from __future__ import annotations

from collections import Counter

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kit.sampling import examples
from wavewright.analysis.counters.plan import CapturePlan, plan_capture
from wavewright.analysis.counters.plan.passes import Need, block_of, pack
from wavewright.errors import UsageError
from wavewright.facts.gpus.counting import counting_of
from wavewright.facts.metrics.expression import parse
from wavewright.facts.metrics.families import METRIC_TARGETS
from wavewright.facts.metrics.panels import panels_of
from wavewright.model.counters import ACCUMULATED

CDNA = ("gfx908", "gfx90a", "gfx940", "gfx942", "gfx950")
PASSES_OF_REFERENCE = {"gfx908": 17 + 5, "gfx90a": 19 + 5, "gfx942": 18 + 5}
"""Passes of full captures by the reference, without the one for timestamps."""
BLOCKS = ("SQ", "SQC", "TCP", "TCC", "TA", "GRBM")
names = st.builds(lambda block, at: f"{block}_C{at}", st.sampled_from(BLOCKS), st.integers(0, 15))
needs = st.lists(
    st.builds(
        Need,
        st.frozensets(names, min_size=1, max_size=6),
        st.sampled_from(["", "", "SQ_LEVEL_A", "SQ_LEVEL_B"]),
        st.booleans(),
    ),
    max_size=40,
)
SLOTS = {"SQ": 8, "TCP": 4, "TCC": 4, "TA": 2, "GRBM": 2}


def within_limits(counters: list[str], slots: dict[str, int]) -> bool:
    used = Counter(block_of(counter) for counter in counters)
    return all(count <= slots.get(block, 1) for block, count in used.items())


@given(needs)
def test_no_pass_holds_more_than_the_blocks_can_count_and_every_counter_has_one(wanted: list[Need]) -> None:
    passes = pack(wanted, SLOTS, everywhere=["GRBM_GUI_ACTIVE"])
    for one in passes:
        assert within_limits(one.counters, SLOTS)
        assert len(set(one.counters)) == len(one.counters)
        assert "GRBM_GUI_ACTIVE" in one.counters
        assert (ACCUMULATED in one.counters) == bool(one.level)
        assert not one.level or one.level in one.counters
    for need in wanted:
        for counter in need.counters:
            assert any(counter in one.counters for one in passes)
        assert not need.level or any(one.level == need.level for one in passes)


@given(needs)
def test_counters_of_a_ratio_stay_together_where_a_pass_can_hold_them(wanted: list[Need]) -> None:
    passes = pack(wanted, SLOTS)
    for need in wanted:
        group = {*need.counters, *([need.level, ACCUMULATED] if need.level else [])}
        if (need.is_ratio or need.level) and within_limits(list(group), SLOTS):
            assert any(group <= set(one.counters) for one in passes)


@given(needs, st.randoms())
def test_the_order_of_the_needs_does_not_matter(wanted: list[Need], random: st.DataObject) -> None:
    again = list(wanted)
    random.shuffle(again)  # type: ignore[attr-defined]
    assert pack(wanted, SLOTS) == pack(again, SLOTS)


def planned(plan: CapturePlan) -> dict[int, list[str]]:
    return {number: rows["counter"].to_list() for (number,), rows in plan.counters.group_by("pass")}


@pytest.mark.parametrize("target", CDNA)
def test_all_panels_fit_in_few_passes(target: str) -> None:
    plan = plan_capture(target, panels=[panel.word for panel in panels_of(target)])
    slots = dict(counting_of(target).slots)
    passes = planned(plan)
    for counters in passes.values():
        assert within_limits(counters, slots)
        assert sum(counter.startswith("TCC_") for counter in counters) <= 4
        assert "GRBM_GUI_ACTIVE" in counters
    counts = Counter(block_of(name) for name in {name for counters in passes.values() for name in counters})
    at_least = max(-(-count // slots[block]) for block, count in counts.items())
    assert plan.passes.height <= at_least + 2
    assert plan.passes.height < PASSES_OF_REFERENCE.get(target, 24)
    levels = plan.passes.filter(pl.col("level") != "")["level"]
    assert levels.n_unique() == levels.len()


@settings(max_examples=examples(40), deadline=None)
@given(st.data())
def test_every_choice_of_panels_and_metrics_keeps_its_promises(data: st.DataObject) -> None:
    target = data.draw(st.sampled_from(CDNA))
    panels = panels_of(target)
    ids = [metric.id for panel in panels for table in panel.tables for metric in table.metrics]
    if data.draw(st.booleans()):
        words = data.draw(st.lists(st.sampled_from([panel.word for panel in panels]), min_size=1, max_size=3))
        plan = plan_capture(target, panels=words)
    else:
        plan = plan_capture(target, metrics=data.draw(st.lists(st.sampled_from(ids), min_size=1, max_size=8)))
    formulas = {
        (metric.id, metric.name): metric.formula
        for panel in panels
        for table in panel.tables
        for metric in table.metrics
    }
    passes = planned(plan)
    slots = dict(counting_of(target).slots)
    assert all(within_limits(counters, slots) for counters in passes.values())
    for row in plan.metrics.iter_rows(named=True):
        if not row["is_measured"]:
            assert row["reason"]
            continue
        formula = formulas[row["metric_id"], row["name"]]
        assert formula is not None
        counters = set(parse(formula).counters) - {ACCUMULATED}
        if row["pass"] is not None:
            assert counters <= set(passes[row["pass"]])
        elif counters:
            parts = [int(number) for number in row["passes"].split()]
            assert counters <= set().union(*(passes[number] for number in parts))


def test_spelling_and_gaps_follow_the_target() -> None:
    reads = plan_capture("gfx90a", metrics=["HBM Read Traffic"])
    assert set(reads.counters["spelled"]) >= {"TCC_EA_RDREQ_sum", "TCC_EA_RDREQ_DRAM_sum"}
    assert "TCC_EA0_RDREQ_DRAM_sum" in set(plan_capture("gfx908", metrics=["HBM Read Traffic"]).counters["spelled"])
    assert "TCC_EA_RDREQ_sum" in set(plan_capture("gfx908", metrics=["HBM Read Traffic"]).counters["spelled"])
    latency = plan_capture("gfx942", metrics=["VL1 Lat"])
    assert latency.passes.height == 0
    assert "TCP_TCP_LATENCY" in latency.metrics["reason"][0]
    assert plan_capture("gfx90a", metrics=["VL1 Lat"]).metrics["is_measured"].all()


def test_channels_take_no_counters_of_their_own() -> None:
    without = plan_capture("MI300X", panels=["l2"])
    both = plan_capture("MI300X", panels=["l2", "channels"])
    assert (without.channel_count, both.channel_count) == (0, 128)
    assert both.passes.height == without.passes.height
    assert plan_capture("MI300A", panels=["channels"]).channel_count == 96
    assert plan_capture("gfx942").channel_count == 0
    assert "channels" in plan_capture("gfx942").notes[0]


def test_a_level_metric_has_all_its_counters_in_the_pass_of_its_level() -> None:
    plan = plan_capture("gfx942", metrics=["LDS Latency"])
    (counters,) = planned(plan).values()
    assert set(counters) >= {"SQ_INST_LEVEL_LDS", ACCUMULATED, "SQ_INSTS_LDS"}
    assert plan.passes["level"].to_list() == ["SQ_INST_LEVEL_LDS"]


@pytest.mark.parametrize(
    ("gpu", "panels", "metrics"),
    [("gfx000", [], []), ("gfx942", ["nothing"], []), ("gfx942", [], ["no such metric"]), ("gfx900", [], [])],
)
def test_what_is_not_known_is_said(gpu: str, panels: list[str], metrics: list[str]) -> None:
    with pytest.raises(UsageError):
        plan_capture(gpu, panels=panels, metrics=metrics)


@pytest.mark.some_cases(10)
@pytest.mark.parametrize("target", METRIC_TARGETS)
def test_every_target_with_metrics_can_be_planned_for(target: str) -> None:
    plan = plan_capture(target)
    assert plan.passes.height > 0
    assert all(within_limits(counters, dict(plan.slots)) for counters in planned(plan).values())
