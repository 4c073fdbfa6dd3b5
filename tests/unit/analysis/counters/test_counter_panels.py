"""Metrics over dispatches: ratios of sums, passes that belong together, reasons for blanks, and caveats."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kit.sampling import examples
from tests.kit.together import together
from wavewright.analysis.counters.choice import CounterChoice, chosen_dispatches
from wavewright.analysis.counters.engine.evaluate import evaluate
from wavewright.analysis.counters.engine.panels import counter_panels, spread_of
from wavewright.errors import UsageError
from wavewright.export.counters.compute_csv import write_compute_csv
from wavewright.model.counters import COUNTER_SET, CounterSet, System
from wavewright.model.schema import frame_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

SYSTEM = System(
    target="gfx90a",
    product="MI200",
    cu_count=104,
    se_count=8,
    simds_per_cu=4,
    wave_size=64,
    waves_per_cu_max=32,
    clock_mhz_max=1700,
    memory_clock_mhz_max=1600,
    memory_channel_count=32,
    l2_channel_count=32,
    lds_bank_count=32,
    sqc_count=56,
    pipe_count=4,
    xcd_count=1,
)


def capture(
    passes: Mapping[str, Mapping[str, Sequence[float | None]]],
    *,
    names: Sequence[str] = (),
    durations: Sequence[float | None] = (),
    joined: str = "pmc_perf",
    system: System = SYSTEM,
) -> CounterSet:
    """A capture of passes by name, each with its counters; dispatches are of kernel `copy` and take 1000 ns."""
    count = max((len(values) for one in passes.values() for values in one.values()), default=0)
    names = names or ["copy"] * count
    durations = durations or [1000.0] * count
    dispatches = [
        {
            "dispatch": row,
            "dispatch_id": row + 10,
            "gpu": row % 2,
            "agent": str(row % 2),
            "kernel_name": name,
            "kernel_name_spelled": name,
            "start_ns": 0.0,
            "end_ns": duration,
            "grid_size": 64,
        }
        for row, (name, duration) in enumerate(zip(names, durations, strict=True))
    ]
    tables: dict[str, list[dict[str, Any]]] = {"dispatches": dispatches, "passes": [], "counters": [], "executions": []}
    measured = {}
    for number, (name, counters) in enumerate(passes.items()):
        tables["passes"].append({"pass": number, "name": name, "form": "wide", "is_joined": name == joined})
        tables["executions"] += [{**row, "pass": number} for row in dispatches]
        tables["counters"] += [
            {"pass": number, "counter": counter, "column": counter, "spelled": counter} for counter in counters
        ]
        columns = {counter: pl.Series(values, dtype=pl.Float64) for counter, values in counters.items()}
        measured[number] = pl.DataFrame({"dispatch": pl.Series(range(count), dtype=pl.UInt32), **columns})
    return CounterSet(
        {name: frame_of(COUNTER_SET[name], rows) for name, rows in tables.items()}, measured, system, path="made"
    )


def row_of(counters: CounterSet, metric: str, **how: Any) -> dict[str, Any]:
    return counter_panels(counters, metrics=[metric], **how).rows.row(0, named=True)


amounts = st.lists(st.integers(0, 10**6).map(float), min_size=1, max_size=7)


@settings(max_examples=examples(40), deadline=None)
@given(st.data(), amounts)
def test_ratios_are_of_sums_and_amounts_are_means(data: st.DataObject, hits: list[float]) -> None:
    same = st.lists(st.integers(0, 10**6).map(float), min_size=len(hits), max_size=len(hits))
    misses, waves = data.draw(same), data.draw(same)
    counters = capture({"pmc_perf": {"TCC_HIT": hits, "TCC_MISS": misses, "SQ_WAVES": waves}})
    rate = row_of(counters, "17.1.2")
    if sum(hits) + sum(misses):
        assert rate["average"] == pytest.approx(100 * sum(hits) / (sum(hits) + sum(misses)))
    else:
        assert rate["average"] is None
        assert rate["reason"] == "0 in every dispatch: TCC_HIT + TCC_MISS"
    single = [100 * h / (h + m) for h, m in zip(hits, misses, strict=True) if h + m]
    assert rate["dispatch_count"] == len(single)
    assert rate["minimum"] == pytest.approx(min(single) if single else None)
    assert rate["maximum"] == pytest.approx(max(single) if single else None)
    per_wave = row_of(counters, "17.3.8", normalization="wave")
    assert per_wave["average"] == (pytest.approx(sum(hits) / sum(waves)) if sum(waves) else None)
    assert row_of(counters, "17.3.8")["average"] == pytest.approx(sum(hits) / len(hits))
    theirs = row_of(counters, "17.1.2", amd=True)["average"]
    zeros = len(hits) - len(single)  # a guard of the reference makes them 0, not blank
    assert theirs == pytest.approx(sum(single) / (len(single) + zeros))


@settings(deadline=None)
@given(st.lists(st.floats(-1e6, 1e6) | st.just(math.nan), max_size=9))
def test_statistics_leave_out_what_is_not_known(values: list[float]) -> None:
    found = spread_of([values])
    known = sorted(value for value in values if not math.isnan(value))
    assert found.count[0] == len(known)
    if not known:
        assert math.isnan(found.mean[0])
        return
    assert found.mean[0] == pytest.approx(sum(known) / len(known), abs=1e-6)
    assert (found.minimum[0], found.maximum[0]) == (known[0], known[-1])
    for share, value in ((0.25, found.q1[0]), (0.5, found.median[0]), (0.75, found.q3[0])):
        place = share * (len(known) - 1)
        low, high = known[math.floor(place)], known[math.ceil(place)]
        assert value == pytest.approx(low + (high - low) * (place - math.floor(place)), abs=1e-6)


def test_counters_of_one_formula_come_from_one_pass() -> None:
    passes = {
        "pmc_perf": {"TCC_HIT": [10.0], "SQ_WAVES": [4.0]},
        "pmc_perf_1": {"TCC_HIT": [30.0], "TCC_MISS": [10.0]},
    }
    assert row_of(capture(passes), "17.1.2")["average"] == 75.0
    assert row_of(capture(passes), "17.1.2", amd=True)["average"] is None


def test_level_metrics_read_their_own_pass_with_its_cycles() -> None:
    passes = {
        "pmc_perf": {"GRBM_GUI_ACTIVE": [100.0], "SQ_INSTS_LDS": [7.0]},
        "SQ_LEVEL_WAVES": {"SQ_ACCUM_PREV_HIRES": [5000.0], "GRBM_GUI_ACTIVE": [50.0]},
        "SQ_INST_LEVEL_LDS": {"SQ_ACCUM_PREV_HIRES": [600.0], "SQ_INSTS_LDS": [6.0]},
    }
    counters = capture(passes)
    assert row_of(counters, "7.2.7")["average"] == 5000 / 50
    assert row_of(counters, "7.2.7", amd=True)["average"] == 5000 / 100
    assert row_of(counters, "12.2.2")["average"] == 100.0
    del passes["SQ_LEVEL_WAVES"]["GRBM_GUI_ACTIVE"]
    assert row_of(capture(passes), "7.2.7")["average"] == 5000 / 100
    del passes["SQ_LEVEL_WAVES"]
    assert row_of(capture(passes), "7.2.7")["reason"] == "needs the pass of SQ_LEVEL_WAVES, which was not measured"


def test_dispatches_that_a_pass_lacks_are_taken_from_another() -> None:
    passes = {
        "first": {"TCC_HIT": [10.0, None], "TCC_MISS": [30.0, None]},
        "second": {"TCC_HIT": [None, 30.0], "TCC_MISS": [None, 10.0]},
    }
    found = evaluate(capture(passes), {"hits": "100 * TCC_HIT / (TCC_HIT + TCC_MISS)"}, by="dispatch")
    assert found.frame["hits"].to_list() == [25.0, 75.0]
    assert row_of(capture(passes), "17.1.2")["average"] == 50.0


def test_dispatches_without_a_counter_are_left_out_of_both_sums() -> None:
    counters = capture({"pmc_perf": {"TCC_HIT": [10.0, 90.0], "TCC_MISS": [30.0, None]}})
    assert row_of(counters, "17.1.2")["average"] == 25.0


@together(
    "counters, metric, reason",
    [
        (capture({"pmc_perf": {"TCC_HIT": [1.0]}}), "17.1.2", "needs TCC_MISS, which was not measured"),
        (
            capture({"pmc_perf": {"TCC_REQ": [1.0]}}, durations=[None]),
            "17.3.0",
            "no sound timestamps",
        ),
        (
            capture({"pmc_perf": {"SQ_LDS_IDX_ACTIVE": [1.0], "SQ_LDS_BANK_CONFLICT": [0.0]}}, system=System("gfx90a")),
            "12.1.2",
            "needs the number of LDS banks, the number of CUs and the clock of the GPU: --target",
        ),
        (capture({"pmc_perf": {}}), "18.2.0", "needs TCC_HIT and TCC_MISS, which were not measured"),
    ],
)
def test_reasons(counters: CounterSet, metric: str, reason: str) -> None:
    row = row_of(counters, metric)
    assert (row["average"], row["reason"]) == (None, reason)


def test_channels_that_were_not_measured_are_named() -> None:
    columns = {f"{name}[{channel}]": [float(channel + 1)] for name in ("TCC_HIT", "TCC_MISS") for channel in range(31)}
    answer = counter_panels(capture({"pmc_perf": columns}), panels=["18.2", "18.1"])
    last = answer.rows.row(-1, named=True)
    assert (last["channel"], last["average"]) == (31, None)
    assert last["reason"] == "needs TCC_HIT[31], which was not measured"
    assert answer.rows.row(1, named=True)["average"] == 50.0
    assert any("31 of 32 L2 channels" in caveat for caveat in answer.caveats)


def test_channels_add_up_to_the_counter_and_the_other_way_round() -> None:
    columns = {f"TCC_HIT[{channel}]": [1.0] for channel in range(32)} | {"TCC_MISS": [96.0]}
    counters = capture({"pmc_perf": columns})
    assert row_of(counters, "17.1.2")["average"] == 25.0
    assert row_of(counters, "18.1.0")["average"] == 25.0


def test_negative_differences_are_zero_with_a_caveat() -> None:
    counters = capture({"pmc_perf": {"TCC_EA0_RDREQ": [100.0], "TCC_EA0_RDREQ_32B": [120.0]}})
    answer = counter_panels(counters, metrics=["17.6.1"])
    assert answer.rows["average"].to_list() == [0.0]
    assert answer.caveats == (
        "TCC_EA0_RDREQ - TCC_EA0_RDREQ_32B is negative by 20% of what it is taken from, and counts as 0",
    )
    slight = capture({"pmc_perf": {"TCC_EA0_RDREQ": [1000.0], "TCC_EA0_RDREQ_32B": [1001.0]}})
    assert counter_panels(slight, metrics=["17.6.1"]).caveats == ()


def test_caveats_of_times_clocks_and_shares() -> None:
    columns = {"GRBM_GUI_ACTIVE": [0.0, 10.0], "TCC_HIT": [1.0, 1.0], "CPF_CPF_STAT_STALL": [30.0, 30.0]}
    counters = capture(
        {"pmc_perf": columns | {"CPF_CPF_STAT_BUSY": [10.0, 10.0]}},
        durations=[None, 5.0],
        system=System(target="gfx90a", cu_count=104),
    )
    caveats = counter_panels(counters, metrics=["5.1.1"]).caveats
    assert "1 of 2 dispatches have no sound timestamps: rates leave them out" in caveats
    assert "GRBM_GUI_ACTIVE is 0 in 1 of 2 dispatches (pmc_perf)" in caveats
    assert "over 100 %: CPF Stall (5.1.1) 300.0" in caveats
    assert any("does not say the clock of the GPU" in caveat for caveat in caveats)


def test_passes_that_disagree_are_a_caveat_where_they_meet() -> None:
    passes = {
        "first": {"TCC_HIT": [10.0], "SQ_WAVES": [100.0]},
        "second": {"TCC_MISS": [10.0], "SQ_WAVES": [50.0]},
    }
    counters = capture(passes, joined="")
    assert any("SQ_WAVES differs by 50%" in caveat for caveat in counter_panels(counters, metrics=["17.1.2"]).caveats)
    assert counter_panels(counters, metrics=["17.3.8"]).caveats == ()


def test_measure_by_kernel_dispatch_and_all() -> None:
    counters = capture(
        {"pmc_perf": {"SQ_INSTS": [10.0, 20.0, 60.0], "SQ_WAVES": [1.0, 1.0, 2.0]}},
        names=["short", "long", "long"],
        durations=[10.0, 100.0, 300.0],
    )
    formulas = {"each": "SQ_INSTS / SQ_WAVES", "insts": "SQ_INSTS", "none": "SQ_INSTS / SQ_BUSY_CYCLES"}
    found = evaluate(counters, formulas)
    assert found.frame.select(
        "kernel", "kernel_name", "dispatch_count", "duration_ns_mean", "each", "insts"
    ).rows() == [
        (0, "long", 2, 200.0, 80 / 3, 40.0),
        (1, "short", 1, 10.0, 10.0, 10.0),
    ]
    assert found.reasons == {"none": "needs SQ_BUSY_CYCLES, which was not measured"}
    assert evaluate(counters, formulas, by="all").frame["each"].to_list() == [22.5]
    assert evaluate(counters, formulas, by="dispatch").frame["each"].to_list() == [10.0, 20.0, 30.0]
    chosen = CounterChoice(kernels=("short",))
    assert evaluate(counters, formulas, choice=chosen).frame["kernel_name"].to_list() == ["short"]
    with pytest.raises(UsageError, match="rows by"):
        evaluate(counters, formulas, by="wave")


def test_choice_of_dispatches() -> None:
    counters = capture({"pmc_perf": {"SQ_WAVES": [1.0, 2.0, 3.0]}}, names=["ab", "b", "b"], durations=[9.0, 1.0, 1.0])

    def ids(**choice: Any) -> list[int]:
        return chosen_dispatches(counters, CounterChoice(**choice))["dispatch_id"].to_list()

    assert ids() == [10, 11, 12]
    assert ids(kernels=("b",)) == [11, 12], "a whole name wins over a part"
    assert ids(kernels=("a",)) == [10]
    assert ids(kernels=("0",)) == [10]
    assert ids(kernels=("1", "ab")) == [10, 11, 12]
    assert ids(dispatches=(12,)) == [12]
    assert ids(gpus=(0,)) == [10, 12]
    for wrong in ({"kernels": ("c",)}, {"kernels": ("7",)}, {"dispatches": (3,)}, {"gpus": (5,)}):
        with pytest.raises(UsageError):
            ids(**wrong)
    with pytest.raises(UsageError):
        ids(kernels=("ab",), gpus=(1,))


@together(
    "how",
    [
        {"panels": ["nothing"]},
        {"metrics": ["no such metric"]},
        {"normalization": "year"},
        {"panels": ["l2"], "metrics": ["Grid Size"]},
    ],
)
def test_what_does_not_exist_is_refused(how: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        counter_panels(capture({"pmc_perf": {"SQ_WAVES": [1.0]}}), **how)


def test_panels_and_metrics_that_are_asked_for() -> None:
    counters = capture({"pmc_perf": {"SQ_WAVES": [1.0]}})
    assert {row[:3] for row in counter_panels(counters, panels=["l2"]).rows["table_id"]} == {"17."}
    assert counter_panels(counters, panels=["17.1"]).rows["table_id"].unique().to_list() == ["17.1"]
    names = counter_panels(counters, metrics=["hit rate"]).rows["name"].unique().to_list()
    assert names
    assert all("hit rate" in name.lower() for name in names)


def test_metrics_of_the_user(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        '[[metrics]]\nname = "Lanes"\nunit = "lanes"\nformula = "SQ_WAVES * wave_size"\nabout = "mine"\n', "utf-8"
    )
    answer = counter_panels(capture({"pmc_perf": {"SQ_WAVES": [2.0, 4.0]}}), metrics=["Lanes"], more=[file])
    assert answer.rows["average"].to_list() == [192.0]


def test_no_dispatch_and_no_gpu() -> None:
    empty = counter_panels(capture({}))
    assert empty.dispatch_count == 0
    assert empty.rows["average"].drop_nulls().len() <= empty.rows.height
    unknown = counter_panels(capture({"pmc_perf": {"SQ_WAVES": [1.0]}}, system=System()))
    assert unknown.rows.height == 0
    assert unknown.caveats[0] == "the capture does not say which GPU was measured: --target"


@together("amd", [False, True])
@together("channels", [1e12, -3.0, math.inf, math.nan, 31.5])
def test_facts_that_cannot_be_true(amd: bool, channels: float) -> None:
    system = replace(SYSTEM, l2_channel_count=channels, xcd_count=0, cu_count=0, clock_mhz_max=math.inf)
    columns = {"TCC_HIT[0]": [1.0], "TCC_MISS[0]": [1.0], "GRBM_GUI_ACTIVE": [5.0], "SQ_BUSY_CU_CYCLES": [5.0]}
    rows = counter_panels(capture({"pmc_perf": columns}, system=system), amd=amd).rows
    assert rows.height < 3000
    if not amd:
        assert rows["average"].drop_nulls().is_finite().all()
        assert rows["peak_share"].drop_nulls().is_finite().all()


@pytest.mark.parametrize("amd", [False, True])
def test_passes_without_rows_or_counters(amd: bool, tmp_path: Path) -> None:
    made: list[dict[str, dict[str, list[float]]]] = [
        {},
        {"pmc_perf": {}},
        {"pmc_perf": {"SQ_WAVES": []}, "SQ_LEVEL_WAVES": {"SQ_WAVES": []}},
    ]
    for passes in made:
        counters = capture(passes)
        answer = counter_panels(counters, amd=amd)
        assert answer.rows["average"].drop_nulls().len() < 30  # facts of the GPU only
        files = write_compute_csv(
            answer, counters, tmp_path / f"tables-{len(passes)}-{len(passes.get('pmc_perf', ()))}"
        )
        assert all(file.stat().st_size for file in files)


def test_stored_metrics_have_the_same_form() -> None:
    rows = [
        {"kernel_name": kernel, "metric_id": "17.1.2", "panel_title": "L2 Cache", "table_title": "Speed", "name": "Hit"}
        | {"unit": "Percent", "statistic": statistic, "value": value}
        for kernel, statistic, value in (("a", "Avg", 70.0), ("a", "Max", 90.0), ("b", "Avg", 20.0))
    ]
    counters = CounterSet({"stored_metrics": frame_of(COUNTER_SET["stored_metrics"], rows)})
    first = counter_panels(counters)
    assert first.rows.select("metric_id", "average", "maximum").rows() == [("17.1.2", 70.0, 90.0)]
    assert first.panels[0].tables[0].layout == "spread"
    assert any("1 more" in caveat for caveat in first.caveats)
    second = counter_panels(counters, choice=CounterChoice(kernels=("b",)))
    assert second.rows["average"].to_list() == [20.0]
    with pytest.raises(UsageError):
        counter_panels(counters, choice=CounterChoice(kernels=("c",)))
    with pytest.raises(UsageError, match="no kernel '111"):  # Python refuses to make an integer of it
        counter_panels(counters, choice=CounterChoice(kernels=("1" * 5_000,)))
    with pytest.raises(UsageError):
        counter_panels(counters, choice=CounterChoice(dispatches=(1,)))
