from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from synth.counter_capture import CounterCapture, write_counters
from wavewright.analysis.counters.choice import CounterChoice
from wavewright.analysis.counters.engine.panels import counter_panels
from wavewright.analysis.counters.memory_chart import MemoryChart, memory_chart
from wavewright.errors import UsageError
from wavewright.facts.counters.memory_chart import chart_layout
from wavewright.facts.metrics.expression import parse
from wavewright.facts.metrics.families import METRIC_TARGETS
from wavewright.facts.metrics.panels import panels_of
from wavewright.model.counters import CounterSet, System
from wavewright.readers.counters import open_counters

CDNA = tuple(target for target in METRIC_TARGETS if target.startswith("gfx9"))
FAMILIES = {family: chart_layout(family) for family in ("cdna", "rdna")}
MADE = ("gfx908", "gfx90a", "gfx942", "gfx950")
LONG = "Dispatch_Id,Kernel_Name,Grid_Size,Workgroup_Size,Counter_Name,Counter_Value,Start_Timestamp,End_Timestamp\n"


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, CounterSet]:
    folder = tmp_path_factory.mktemp("captures")
    for target in MADE:
        write_counters(folder / target, CounterCapture(target))
    return {target: open_counters(folder / target) for target in MADE}


def long_csv(path: Path, counters: dict[str, float], target: str = "gfx1201") -> CounterSet:
    rows = "".join(f"1,k,64,64,{name},{value},0,1000\n" for name, value in counters.items())
    path.write_text(LONG + rows)
    return open_counters(path, target=target)


def value_of(chart: MemoryChart, block: str, label: str) -> float | None:
    rows = chart.values.filter((pl.col("block") == block) & (pl.col("label") == label))
    assert rows.height == 1
    found: float | None = rows["value"][0]
    return found


@pytest.mark.parametrize("target", CDNA)
def test_every_metric_of_the_memory_panel_is_in_the_chart(target: str) -> None:
    (table,) = next(panel for panel in panels_of(target) if panel.number == 3).tables
    values = {value.metric for block in FAMILIES["cdna"].blocks for value in block.values}
    wholes = {value.of for block in FAMILIES["cdna"].blocks for value in block.values}
    flows = {flow.metric for wire in FAMILIES["cdna"].wires for flow in wire.flows}
    assert {f"3.1 {metric.name}" for metric in table.metrics} <= values | wholes | flows


@pytest.mark.parametrize("family", FAMILIES)
def test_wires_connect_blocks_and_metrics_exist(family: str) -> None:
    blocks = {block.name for block in FAMILIES[family].blocks}
    assert len(blocks) == len(FAMILIES[family].blocks)
    for wire in FAMILIES[family].wires:
        assert {wire.source, wire.target} <= blocks
    known = {
        f"{table.id} {metric.name}"
        for target in METRIC_TARGETS
        if (target in CDNA) == (family == "cdna")
        for panel in panels_of(target)
        for table in panel.tables
        for metric in table.metrics
    }
    named = [value.metric for block in FAMILIES[family].blocks for value in block.values]
    named += [
        name for wire in FAMILIES[family].wires for flow in wire.flows for name in (flow.metric, flow.rate, wire.rate)
    ]
    assert {part for name in named if name for part in name.split(" + ")} <= known


@pytest.mark.first_case
@pytest.mark.parametrize("target", MADE)
@pytest.mark.parametrize("amd", [False, True])
def test_numbers_are_those_of_the_panels(captures: dict[str, CounterSet], target: str, amd: bool) -> None:
    counters = captures[target]
    chart = memory_chart(counters, amd=amd, normalization="wave")
    rows = counter_panels(counters, amd=amd, normalization="wave").rows
    panels = dict(rows.filter(pl.col("channel").is_null()).select("metric_id", "average").iter_rows())
    assert chart.values.height > 30
    for row in (*chart.values.iter_rows(named=True), *chart.wires.iter_rows(named=True)):
        parts = [panels[part] for part in row["metric_id"].split(" + ")]
        expected = None if None in parts else sum(parts)
        assert row["value"] == (None if expected is None else pytest.approx(expected))
        assert bool(row["reason"]) == (row["value"] is None)
    assert value_of(chart, "exec", "active CUs") == pytest.approx(panels["3.1.10"])


def test_shares_heat_and_the_busiest_block(captures: dict[str, CounterSet]) -> None:
    chart = memory_chart(captures["gfx942"], choice=CounterChoice(kernels=("0",)))
    rates = chart.values.filter("is_rate").drop_nulls("peak_share")
    assert rates.height == 7
    for row in rates.iter_rows(named=True):
        assert row["peak_share"] == pytest.approx(100 * row["value"] / row["peak"])
        assert row["heat"] == ("hot" if row["peak_share"] >= 80 else "warm" if row["peak_share"] >= 50 else "")
    assert chart.busiest == rates.sort("peak_share")["block"][-1]
    hits = chart.values.filter(pl.col("label") == "hit rate").drop_nulls("value")
    for row in hits.iter_rows(named=True):
        assert row["heat"] == ("hot" if row["value"] < 50 else "warm" if row["value"] < 80 else "good")
    assert len(chart.kernel_names) == 1


def test_units_are_ours_under_the_rules_of_the_reference(captures: dict[str, CounterSet]) -> None:
    charts = [memory_chart(captures["gfx90a"], amd=amd) for amd in (False, True)]
    assert charts[0].values["unit"].to_list() == charts[1].values["unit"].to_list()
    assert "%" in set(charts[1].values["unit"])


def test_chart_of_rdna_shows_what_was_counted(tmp_path: Path) -> None:
    counted = {"GL2C_HIT": 60, "GL2C_MISS": 40, "GL2C_EA_RDREQ": 40, "SQ_WAVES": 8, "SQ_INSTS_VALU": 800}
    chart = memory_chart(long_csv(tmp_path / "a_counter_collection.csv", counted), normalization="wave")
    assert chart.family == "rdna"
    assert value_of(chart, "l2", "hit rate") == pytest.approx(60)
    assert value_of(chart, "instructions", "VALU") == pytest.approx(100)
    assert chart.wires.select("source", "target", "kind", "value").rows() == [("l2", "memory", "read", 5.0)]
    assert chart.values["value"].null_count() == 0
    assert not {"vector_l1", "gl1"} & set(chart.blocks["block"])
    assert dict(chart.blocks.select("block", "stage").iter_rows())["l2"] == 2


@pytest.mark.parametrize("target", [target for target in METRIC_TARGETS if target not in CDNA])
def test_charts_of_rdna_hold_what_the_target_can_count(tmp_path: Path, target: str) -> None:
    formulas = [m.formula for panel in panels_of(target) for table in panel.tables for m in table.metrics if m.formula]
    counted = {counter: 1000.0 for formula in formulas for counter in parse(formula).counters}
    chart = memory_chart(long_csv(tmp_path / "c_counter_collection.csv", counted, target))
    assert {"waves", "instructions", "l2", "memory"} <= set(chart.blocks["block"])
    assert value_of(chart, "l2", "hit rate") == pytest.approx(50)
    assert chart.wires["value"].null_count() == 0


def test_what_has_no_chart_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="which GPU"):
        memory_chart(CounterSet({}))
    with pytest.raises(UsageError, match="gfx906"):
        memory_chart(CounterSet({}, system=System(target="gfx906")))
    with pytest.raises(UsageError, match="no dispatches"):
        memory_chart(CounterSet({}, system=System(target="gfx942")))
    with pytest.raises(UsageError, match="no counter"):
        memory_chart(long_csv(tmp_path / "b_counter_collection.csv", {"GRBM_COUNT": 5}))


def test_durations_are_those_of_the_chosen_dispatches(captures: dict[str, CounterSet]) -> None:
    dispatches = captures["gfx942"].dispatches
    for row in dispatches.head(3).iter_rows(named=True):
        chart = memory_chart(captures["gfx942"], choice=CounterChoice(dispatches=(row["dispatch_id"],)))
        assert chart.dispatch_count == 1
        assert chart.duration_ns_mean == pytest.approx(row["end_ns"] - row["start_ns"])
