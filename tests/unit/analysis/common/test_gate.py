"""Gates: verdicts, reasons, budgets, and that numbers are those of a comparison."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from synth.noisy_calls import NoisyProgram, captures
from tests.kit.gate_cases import measured, opened
from tests.kit.made_runs import source, spans
from wavewright.analysis.common.gate import gate, measured_text
from wavewright.analysis.common.gate.check import JudgedFinding
from wavewright.analysis.common.gate.noise import Group, noise_of, prior_of
from wavewright.analysis.run.compare.compare import compare_runs
from wavewright.analysis.run.compare.run_baseline import combine_baseline, partial_baseline, renamed_kernels
from wavewright.errors import UsageError
from wavewright.model.baseline import Baseline, Budget, Limit, MeasuredCapture, Quantity
from wavewright.model.run import MemorySource, Run

PROGRAM = NoisyProgram(kernel_count=4, call_count=200, call_noise=0.02)


def _row(answer: pl.DataFrame, subject: str, name: str = "") -> dict[str, object]:
    return answer.filter((pl.col("subject") == subject) & (pl.col("name") == name)).row(0, named=True)


def test_equal_captures_pass_and_slower_ones_fail() -> None:
    base = measured(captures(PROGRAM, 1, 1))
    same = gate(measured(captures(PROGRAM, 1, 1, first=7)), base)
    assert same.verdict == "pass"
    assert same.detectable is not None
    assert same.detectable < 0.05
    slower = gate(measured(captures(PROGRAM, 1, 1, first=7, effect=0.15)), base)
    assert slower.verdict == "fail"
    assert slower.checks["name"][0] == "k0"
    assert "kernel k0 +1" in slower.headline()
    assert slower.checks.filter(pl.col("status") == "fail")["change"].min() > 0.05  # type: ignore[operator]


def test_a_faster_capture_passes_also_where_noise_is_large() -> None:
    program = NoisyProgram(kernel_count=1, call_count=8, call_noise=0.1)
    answer = gate(measured(captures(program, 3, 1, first=5, effect=-0.6)), measured(captures(program, 3, 1)))
    assert _row(answer.checks, "kernel", "k0")["noise"] > 0.05  # type: ignore[operator]
    assert answer.verdict == "pass"


def test_noise_above_the_threshold_cannot_tell() -> None:
    program = NoisyProgram(kernel_count=1, call_count=5, call_noise=0.1)
    answer = gate(measured(captures(program, 2, 1, first=5)), measured(captures(program, 2, 1)))
    assert answer.verdict == "cannot tell"
    assert "noise above the threshold" in answer.headline()


def test_one_call_cannot_tell_but_repeats_can() -> None:
    quantity = Quantity("kernel", "once", "ns", 1, 1e5, total=1e5)
    one = Baseline("run", (MeasuredCapture("a", (quantity,)),))
    other = Baseline("run", (MeasuredCapture("a", (replace(quantity, mean=1.2e5),)),))
    answer = gate(other, one, subjects=("kernel",))
    assert answer.verdict == "cannot tell"
    assert "too few calls (1 and 1)" in answer.headline()
    means = (1e5, 1.001e5, 0.999e5, 1.002e5, 0.998e5, 1e5)
    many = Baseline("run", tuple(MeasuredCapture("a", (replace(quantity, mean=mean),)) for mean in means))
    assert gate(other, many, subjects=("kernel",)).verdict == "fail"


def test_other_gpus_damage_steps_and_filters_cannot_tell() -> None:
    base = measured(captures(PROGRAM, 1, 1))
    slower = captures(PROGRAM, 1, 1, first=7, effect=0.5)
    other_gpu = gate(measured(slower, target="gfx950"), base)
    assert other_gpu.verdict == "cannot tell"
    assert "other GPU: gfx942 before, gfx950 now" in other_gpu.headline()
    current = measured(slower)
    damaged = replace(current, captures=tuple(replace(each, damages=("2 rows lost",)) for each in current.captures))
    assert "2 rows lost" in gate(damaged, base).headline()
    assert gate(damaged, base).verdict == "cannot tell"
    assert gate(base, damaged).verdict == "cannot tell"
    assert "other steps" in gate(replace(current, step="train"), base).headline()
    assert "other filters" in gate(replace(current, filters={"kernel": "x"}), base).headline()


def test_twice_the_calls_are_other_steps_for_the_total_alone() -> None:
    base = measured(captures(PROGRAM, 1, 1))
    twice = measured(captures(replace(PROGRAM, call_count=400), 1, 1, first=3))
    answer = gate(twice, base)
    assert _row(answer.checks, "gpu-time")["status"] == "cannot tell"
    assert "2.00 times as many calls" in str(_row(answer.checks, "gpu-time")["reason"])
    assert gate(twice, base, subjects=("kernel",)).verdict == "pass"


def test_small_new_and_gone_kernels_do_not_decide() -> None:
    base = measured(captures(PROGRAM, 1, 1))
    fewer, tiny = captures(PROGRAM, 1, 1, first=3)[0][:3], np.full(200, 20.0) + np.arange(200) % 3
    answer = gate(measured([[*fewer, captures(PROGRAM, 1, 1)[0][3], tiny]]), base)
    assert _row(answer.checks, "kernel", "k4")["reason"] == "new"
    assert gate(base, measured([[*captures(PROGRAM, 1, 1)[0], tiny]])).verdict == "pass"
    alone = gate(measured([captures(PROGRAM, 1, 1, first=3)[0][:1]]), measured([captures(PROGRAM, 1, 1)[0][:1]]))
    assert alone.verdict == "pass"


def test_the_same_capture_passes_without_knowing_any_noise() -> None:
    once = Baseline("trace", (MeasuredCapture("a", (Quantity("cycles", "", "cycles", 64, 1234.5, 3.0, 15),)),))
    assert gate(once, once).verdict == "pass"
    other = Baseline("trace", (MeasuredCapture("a", (Quantity("cycles", "", "cycles", 64, 1400.0, 3.0, 15),)),))
    answer = gate(other, once)
    assert answer.verdict == "cannot tell"
    assert "one capture on each side" in answer.headline()


def test_the_median_call_decides_about_traces_where_it_is_known() -> None:
    def trace(time_ns: float, cycles: float) -> Baseline:
        quantities = (
            Quantity("cycles", "", "cycles", 64, cycles),
            Quantity("kernel-time", "", "ns", 150, time_ns, time_ns / 500, 10**6),
        )
        return Baseline("trace", (MeasuredCapture("a", quantities),))

    assert gate(trace(12_000, 1000), trace(10_000, 1000)).verdict == "fail"
    assert gate(trace(10_050, 2000), trace(10_000, 1000)).verdict == "pass"


def test_lines_that_grew_are_named_but_decide_only_when_asked() -> None:
    def trace(cost: float, count: int, wave: float = 1000.0) -> Baseline:
        captured = []
        for number in range(count):
            line = Quantity("line", "k.hip:7", "cycles", 9, cost + number % 2, file="k.hip", line=7)
            captured.append(MeasuredCapture("a", (Quantity("cycles", "", "cycles", 64, wave + number % 2), line)))
        return Baseline("trace", tuple(captured))

    answer = gate(trace(300, 5, 1150), trace(100, 5))
    assert answer.verdict == "fail"
    grown = _row(answer.checks, "line", "k.hip:7")
    assert (grown["status"], grown["reason"]) == ("not judged", "where it grew")
    assert grown["change"] == pytest.approx(0.2, rel=1e-2)
    assert gate(trace(300, 5), trace(100, 5), subjects=("line",)).verdict == "fail"
    assert gate(trace(120, 5), trace(100, 5), subjects=("line",)).verdict == "pass"


def test_fewer_busy_is_worse_and_metrics_may_not_change_at_all() -> None:
    def run(busy: float) -> Baseline:
        shares = (busy, busy + 0.001, busy - 0.001, busy + 0.0005, busy)
        return Baseline(
            "run", tuple(MeasuredCapture("a", (Quantity("busy", "", "share", 1, each),)) for each in shares)
        )

    assert gate(run(0.80), run(0.92), subjects=("busy",)).verdict == "fail"
    assert gate(run(0.92), run(0.80), subjects=("busy",)).verdict == "pass"
    metric = Quantity("metric", "17.1.0 hits of k", "%", 50, 40.0, 0.1, 49)
    base = Baseline("counters", (MeasuredCapture("a", (metric,)),))
    for value in (30.0, 50.0):
        changed = Baseline("counters", (MeasuredCapture("a", (replace(metric, mean=value),)),))
        assert gate(changed, base, subjects=("metric",)).verdict == "fail"


def test_quantities_and_changes_are_those_of_a_comparison() -> None:
    base, side = captures(PROGRAM, 4, 1)[0], captures(PROGRAM, 4, 1, first=2, effect=0.1)[0]
    runs = opened(base), opened(side)
    compared = compare_runs(runs).things.filter(pl.col("domain") == "KERNEL")
    both = [Baseline("run", (combine_baseline([partial_baseline(run)], "run"),)) for run in runs]
    answer = gate(both[1], both[0])
    for name, change, noise in compared.select("name", "change", "noise").iter_rows():
        row = _row(answer.checks, "kernel", name)
        assert row["change"] == pytest.approx(change, rel=1e-9)
        assert row["noise"] <= noise  # type: ignore[operator]  # of one thing, not of all together
        assert row["seen_from"] >= noise  # captures are taken to differ, too
    drawn = measured([base]).captures[0].quantities[1]
    first = next(each for each in both[0].captures[0].quantities if each.key == ("kernel", "k0"))
    assert first.mean == pytest.approx(drawn.mean, rel=1e-5)
    assert first.median == pytest.approx(float(np.median(base[0])), rel=1e-2)
    assert first.deviation == pytest.approx(float(np.median(np.abs(base[0] - np.median(base[0])))), rel=0.05)
    assert both[0].captures[0].target == "gfx942"


def test_renamed_kernels_are_compared() -> None:
    def run(name: str, mean: float) -> Baseline:
        kernel = Quantity("kernel", name, "ns", 150, mean, mean / 1000, 149, total=150 * mean, lanes=1e5)
        whole = Quantity("gpu-time", "", "ns", 150, 150 * mean, mean / 10, 10**6)
        return Baseline("run", (MeasuredCapture("a", (whole, kernel)),))

    base, current = run("gemm<64u, 8u>(int)", 1e5), run("gemm<128u, 16u>(int)", 1.3e5)
    pairs = renamed_kernels(base, current)
    answer = gate(current, base, pairs=pairs, subjects=("kernel",))
    assert answer.verdict == "fail"
    assert answer.checks["base_name"][0] == "gemm<64u, 8u>(int)"


def test_a_budget_has_limits_of_every_kind() -> None:
    current = measured(captures(PROGRAM, 1, 1))
    limits = (
        Limit("k0 <= 90 us", "kernel", "k0", is_at_most=True, value=9e4, unit="ns"),
        Limit("/k[12]/ <= 1 ms", "kernel", "/k[12]/", is_at_most=True, value=1e6, unit="ns"),
        Limit("gpu-time >= 1 s", "gpu-time", "", is_at_most=False, value=1e9, unit="ns"),
        Limit("k9 <= 1 ms", "kernel", "k9", is_at_most=True, value=1e6, unit="ns"),
    )
    answer = gate(current, budget=Budget("b.toml", limits, 0.05), findings=(JudgedFinding("gaps", "it idles", 0.2),))
    outcome = {(row["limit_text"], row["name"]): row["status"] for row in answer.checks.to_dicts()}
    assert outcome == {
        ("k0 <= 90 us", "k0"): "fail",
        ("/k[12]/ <= 1 ms", "k1"): "pass",
        ("/k[12]/ <= 1 ms", "k2"): "pass",
        ("gpu-time >= 1 s", ""): "fail",
        ("k9 <= 1 ms", "k9"): "cannot tell",
        ("no finding stronger than 5 %", "gaps"): "fail",
    }
    assert answer.verdict == "fail"
    near = Limit(
        "k0 <= x", "kernel", "k0", is_at_most=True, value=current.captures[0].quantities[1].mean - 1, unit="ns"
    )
    assert gate(current, budget=Budget("b.toml", (near,))).verdict == "cannot tell"
    weak = gate(current, budget=Budget("b.toml", (), 0.3), findings=(JudgedFinding("gaps", "it idles", 0.2),))
    assert weak.verdict == "pass"


def test_a_gate_needs_a_measure_of_the_same_kind() -> None:
    current = measured(captures(PROGRAM, 1, 1))
    with pytest.raises(UsageError, match="something to judge by"):
        gate(current)
    with pytest.raises(UsageError, match="the baseline is of traces"):
        gate(current, replace(current, kind="trace"))
    empty = Baseline("run", (MeasuredCapture("a", ()),))
    assert gate(empty, empty).verdict == "cannot tell"


def test_the_prior_recovers_how_variances_are_spread() -> None:
    random = np.random.default_rng(5)

    def groups(deviations: np.ndarray) -> list[tuple[Group, Group]]:
        pairs = []
        for deviation in deviations:
            drawn = [Quantity("kernel", "", "ns", 9, float(each)) for each in random.normal(100, 100 * deviation, 7)]
            pairs.append((Group(tuple(drawn[:6])), Group(tuple(drawn[6:]))))
        return pairs

    same = prior_of(groups(np.full(400, 0.02)))
    assert same is not None
    assert same.variance == pytest.approx(0.02**2, rel=0.1)
    assert same.degrees > 50
    spread = prior_of(groups(0.02 * np.sqrt(4 / random.chisquare(4, 400))))
    assert spread is not None
    assert spread.variance == pytest.approx(0.02**2, rel=0.25)
    assert 2.5 < spread.degrees < 7
    assert prior_of(groups(np.full(2, 0.02))) is None


def test_noise_needs_repeats_where_a_capture_measures_once() -> None:
    def group(*means: float) -> Group:
        return Group(tuple(Quantity("wall", "", "ns", 1, mean) for mean in means))

    how = {"row_count": 1, "prior": None, "scale": 100.0, "is_told_by_calls": False}
    assert noise_of(group(100), group(101), **how) is None  # type: ignore[arg-type]
    noise = noise_of(group(100, 102, 98), group(101), **how)  # type: ignore[arg-type]
    assert noise is not None
    assert noise.alone == pytest.approx(4.303 * 2 * np.sqrt(4 / 3) / 100, rel=1e-3)
    assert noise.of_all == pytest.approx(9.925 * 2 * np.sqrt(4 / 3) / 100, rel=1e-3)


def test_values_are_written_with_their_units() -> None:
    assert [measured_text(*pair) for pair in ((1234.0, "cycles"), (5.0, "ns"), (2.5e9, "ns"))] == [
        "1,234 cycles",
        "5.0 ns",
        "2.5 s",
    ]


def test_a_gpu_whose_product_alone_is_recorded_is_recorded() -> None:
    """Kineto files name the product: its target follows, or else the product stands for it."""
    sides = {}
    for product in ("AMD Instinct MI300X VF", "Prototype 7", None):
        made = source(dispatches=spans((0, 10), (20, 30)))
        agents = made.tables["agents"].with_columns(
            target=pl.lit(None, pl.String), product=pl.when(pl.col("kind") == "GPU").then(pl.lit(product))
        )
        run = Run([MemorySource(made.path, "Kineto", tables={**made.tables, "agents": agents})])
        sides[product] = Baseline("run", (combine_baseline([partial_baseline(run)], "run"),))
    assert [side.targets for side in sides.values()] == [("gfx942",), ("Prototype 7",), ()]
    unknown = "the GPU is not recorded on both sides: it is taken to be the same"
    for product, is_unknown in (("AMD Instinct MI300X VF", False), ("Prototype 7", False), (None, True)):
        assert (unknown in gate(sides[product], sides[product]).notes) == is_unknown
