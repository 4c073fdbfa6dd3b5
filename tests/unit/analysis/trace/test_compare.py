"""Comparing traces: matching of code that changed, work and speed, and what is noise."""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.unit.analysis.small_kernels import trace_of
from tests.unit.ui_directories import frame
from wavescope.analysis.trace.compare import compare, main_kernel
from wavescope.analysis.trace.compare.alignment import Alignment, align_rows, align_traces, grouped_units
from wavescope.analysis.trace.compare.spread import batch_costs, batches, unit_costs
from wavescope.analysis.trace.costs.row_totals import row_totals
from wavescope.errors import UsageError
from wavescope.model.trace import ThreadTrace

TEXTS = [f"v_add_f32_e32 v{at}, v{at + 1}, v{at + 2}" for at in range(40)]


def waves_with(
    costs: dict[int, int], *, count: int = 16, rows: int = 40, seed: int = 0, jitter: int = 2
) -> list[dict[str, Any]]:
    """Waves that run all rows once: 10 cycles each, or as `costs` says, give or take `jitter`."""
    choose = random.Random(seed)
    waves = []
    for number in range(count):
        time, tokens = 0, []
        for row in range(rows):
            cycles = costs.get(row, 10) + choose.randint(0, jitter)
            tokens.append((time, 0, cycles, 6, row))
            time += cycles
        waves.append({"begin": 0, "end": time, "instructions": tokens, "simd": number % 4, "slot": number // 4})
    return waves


def test_equal_runs_do_not_differ() -> None:
    found = compare([trace_of(TEXTS, waves_with({}, seed=seed)) for seed in (1, 2)])
    assert found.same_code
    assert found.matched_share == 1.0
    assert found.beyond().height <= 1
    assert "within noise" in found.verdict()
    assert found.verdict().endswith("The code is the same.")


def test_a_slower_instruction_is_named() -> None:
    found = compare([trace_of(TEXTS, waves_with({}, seed=1)), trace_of(TEXTS, waves_with({7: 60}, seed=2))])
    worst = found.units.row(0, named=True)
    assert (worst["unit"], worst["change"], worst["beyond_noise"]) == (7, "same", True)
    assert worst["delta_cycles_per_wave"] == pytest.approx(50, abs=3)
    assert worst["speed_cycles_per_wave"] == worst["delta_cycles_per_wave"]
    assert worst["work_cycles_per_wave"] == 0
    assert "B is " in found.verdict()
    assert "slower per wave than A" in found.verdict()
    assert TEXTS[7] in found.verdict()


def test_parts_add_up() -> None:
    found = compare([trace_of(TEXTS, waves_with({}, seed=1)), trace_of(TEXTS, waves_with({7: 60}, seed=2, count=8))])
    total = found.units["cost_cycles_per_wave"].sum() - found.units["base_cost_cycles_per_wave"].sum()
    assert found.units["delta_cycles_per_wave"].sum() == pytest.approx(total)
    parts = found.units["work_cycles_per_wave"] + found.units["speed_cycles_per_wave"]
    assert parts.to_list() == pytest.approx(found.units["delta_cycles_per_wave"].to_list())
    assert found.units["delta_share"].sum() == pytest.approx(total / found.units["base_cost_cycles_per_wave"].sum())


def test_more_trips_are_work_not_speed() -> None:
    def looped(trips: int, seed: int) -> ThreadTrace:
        choose = random.Random(seed)
        waves = []
        for number in range(16):
            rows = list(range(10)) + list(range(10, 20)) * trips + list(range(20, 40))
            tokens = [(at * 12, 0, 10 + choose.randint(0, 2), 6, row) for at, row in enumerate(rows)]
            waves.append({"begin": 0, "end": len(rows) * 12, "instructions": tokens, "simd": number % 4})
        return trace_of(TEXTS, waves)

    found = compare([looped(4, 1), looped(6, 2)])
    assert found.units.filter(pl.col("beyond_noise"))["unit"].sort().to_list() == list(range(10, 20))
    assert found.units["work_cycles_per_wave"].sum() == pytest.approx(2 * 10 * 12, rel=0.1)
    assert abs(found.units["speed_cycles_per_wave"].sum()) < 10
    assert "The same executions cost the same" in found.verdict()


def test_new_gone_and_changed_code() -> None:
    changed = [*TEXTS[:5], "s_nop 3", *TEXTS[5:20], *TEXTS[22:]]
    changed[10] = "v_add_f32_e32 v99, v98, v97"  # TEXTS[9] with other registers
    found = compare([trace_of(TEXTS, waves_with({})), trace_of(changed, waves_with({}, rows=39))])
    changes = {kind: found.units.filter(pl.col("change") == kind) for kind in ("new", "gone", "text", "same")}
    assert changes["new"]["label"].to_list() == ["s_nop 3"]
    assert sorted(changes["gone"]["base_label"]) == sorted(TEXTS[20:22])
    assert changes["text"]["base_label"].to_list() == [TEXTS[9]]
    assert changes["same"].height == 37
    assert not found.same_code
    assert "1 new" in found.verdict()


def test_three_traces_share_units() -> None:
    inserted = [*TEXTS[:5], "s_nop 3", *TEXTS[5:]]
    traces = [trace_of(TEXTS, waves_with({})), *(trace_of(inserted, waves_with({}, rows=41)) for _ in range(2))]
    units = align_rows(traces)
    assert units.unit_count == 41
    assert units.unit_of_row[1] == units.unit_of_row[2] == tuple(range(41))
    assert units.labels[0][5] is None
    assert set(compare(traces).units["trace"]) == {1, 2}


def test_functions_with_other_serial_numbers_match() -> None:
    one, two = (trace_of(TEXTS, waves_with({}), function=name) for name in ("gemm_kernel_0", "gemm_kernel_12"))
    assert align_rows([one, two]).same_code
    assert main_kernel(one) == main_kernel(two) == "gemm_kernel"


def test_lines_are_followed_when_numbers_shift() -> None:
    lines: list[int | None] = [100 + at // 10 for at in range(40)]
    later = [line + 7 for line in lines if line]
    one, two = trace_of(TEXTS, waves_with({}), lines=lines), trace_of(TEXTS, waves_with({}), lines=[*later])
    units = align_traces([one, two], "line")
    assert units.unit_count == 4
    assert units.labels == (
        tuple(f"kernel.py:{line}" for line in range(100, 104)),
        tuple(f"kernel.py:{line}" for line in range(107, 111)),
    )
    assert set(compare([one, two], by="line").units["change"]) == {"text"}


def test_lines_that_share_no_instruction_are_known_by_their_text() -> None:
    other = [f"ds_read_b32 v{at}, v{at}" for at in range(40)]
    one = trace_of(TEXTS, waves_with({}), lines=[1] * 20 + [2] * 20)
    two = trace_of(other, waves_with({}), lines=[2] * 20 + [3] * 20)
    for trace, text in ((one, "x = a\ny = b\n"), (two, "\nx = a\ny = b\n")):
        trace.tables["sources"] = frame("sources", {"file": ["/src/kernel.py"], "text": [text]})
    units = align_traces([one, two], "line")
    assert units.labels == (("kernel.py:1", "kernel.py:2"), ("kernel.py:2", "kernel.py:3"))


def test_a_line_that_was_split_is_the_largest_part() -> None:
    one = trace_of(TEXTS, waves_with({}), lines=[1] * 40)
    two = trace_of(TEXTS, waves_with({}), lines=[5] * 25 + [6] * 15)
    units = align_traces([one, two], "line")
    assert units.labels == (("kernel.py:1", None), ("kernel.py:5", "kernel.py:6"))


def test_blocks_are_followed_when_code_is_inserted_before_them() -> None:
    texts = [*TEXTS[:10], "s_cbranch_scc0 3", *TEXTS[11:20], "s_branch 2", *TEXTS[21:]]
    inserted = [*TEXTS[:5], "s_nop 3", *texts[5:]]
    one, two = trace_of(texts, waves_with({})), trace_of(inserted, waves_with({20: 50}, rows=41))
    found = compare([one, two], by="block")
    assert set(found.units["change"]) <= {"same", "text"}
    worst = found.units.row(0, named=True)
    assert worst["base_row"] + 1 == worst["row"] <= 20
    assert (worst["base_address"], worst["address"]) == (
        one.code["address"][worst["base_row"]],
        two.code["address"][worst["row"]],
    )
    assert worst["beyond_noise"]


def test_repeats_measure_the_noise() -> None:
    """The waves of a run agree, but runs differ by 20 cycles in row 7: only repeats can show that."""
    runs = [trace_of(TEXTS, waves_with({7: 10 + more}, jitter=1)) for more in (0, 20, 40)]
    other = trace_of(TEXTS, waves_with({7: 35}, jitter=1))
    alone = compare([runs[0], other])
    assert alone.noise_from == "waves"
    assert alone.units.row(0, named=True)["beyond_noise"]
    repeated = compare([runs[0], other], repeats=[runs[1:]])
    assert (repeated.noise_from, repeated.repeat_count) == ("repeats", 2)
    worst = repeated.units.row(0, named=True)
    assert (worst["unit"], worst["beyond_noise"]) == (7, False)
    t_of_two_degrees = 4.302653  # 95 %, two-sided, from printed tables
    assert worst["noise_cycles_per_wave"] == pytest.approx(1.5 * t_of_two_degrees * 20 * 2**0.5, rel=0.001)


def test_one_wave_knows_no_noise() -> None:
    found = compare([trace_of(TEXTS, waves_with({}, count=1)), trace_of(TEXTS, waves_with({7: 60}, count=1))])
    assert found.units["beyond_noise"].null_count() == found.units.height
    assert "noise not known" in found.verdict()


def test_different_kernels() -> None:
    one, two = (trace_of(TEXTS, waves_with({}), function=name) for name in ("gemm", "softmax"))
    with pytest.raises(UsageError, match="different kernels: gemm and softmax"):
        compare([one, two])
    assert compare([one, two], force=True).different_kernels


def test_wrong_questions() -> None:
    trace = trace_of(TEXTS, waves_with({}))
    with pytest.raises(UsageError, match="two traces"):
        compare([trace])
    with pytest.raises(UsageError, match="by 'colour'"):
        compare([trace, trace], by="colour")
    with pytest.raises(UsageError, match="no instruction"):
        compare([trace, trace_of(TEXTS, [])])


def test_only_some_rows() -> None:
    traces = [trace_of(TEXTS, waves_with({})), trace_of(TEXTS, waves_with({7: 60}))]
    rows = pl.Series("row", range(10, 20), dtype=pl.Int32)
    found = compare(traces, rows=[rows, rows])
    assert found.units["unit"].sort().to_list() == list(range(10, 20))
    assert found.verdict().startswith("The chosen code costs 0.0 % ")


def test_batches_hold_neighbours() -> None:
    waves = [{"begin": at // 4 * 100, "end": 9999, "instructions": [], "se": at % 2} for at in range(64)]
    cut = batches(trace_of(TEXTS, waves)).join(pl.DataFrame({"wave": range(64)}).cast(pl.UInt32), on="wave")
    assert cut["batch"].n_unique() == 16
    assert set(cut.group_by("batch").len()["len"]) == {4}


def test_costs_of_units_are_those_of_their_rows() -> None:
    trace = trace_of(TEXTS, waves_with({3: 50}))
    found = unit_costs(trace, batch_costs(trace, range(40)))
    expected = row_totals(trace)
    for name in ("hit_count", "latency_cycles_total", "stall_cycles_total", "idle_cycles_total"):
        assert found[name].to_list() == expected[name].to_list()


def test_noise_is_students_interval_of_the_mean() -> None:
    """Against the formula, on one row whose cost differs from wave to wave."""
    waves = [{"begin": 0, "end": 99, "instructions": [(0, 0, cycles, 6, 0)]} for cycles in (10, 20, 30, 40)]
    trace = trace_of(TEXTS, waves)
    (row,) = unit_costs(trace, batch_costs(trace, range(40))).to_dicts()
    error = (sum((cycles - 25) ** 2 for cycles in (10, 20, 30, 40)) / 3 / 4) ** 0.5
    assert row["wave_noise"] == pytest.approx(3.182446 * error)  # t of 3 degrees, 95 %, from printed tables
    assert row["rate_noise"] == pytest.approx(row["wave_noise"])  # one execution per wave


def test_many_lines_are_matched_in_time_that_grows_with_them() -> None:
    count = 30_000
    rows = Alignment(count, (tuple(range(count)),) * 2, ((None,) * count,) * 2, True)
    labels: dict[Any, str] = {line: f"f:{line}" for line in range(count)}
    begun = time.process_time()
    found = grouped_units(rows, [range(count)] * 2, [labels] * 2)
    assert found.unit_count == count
    assert time.process_time() - begun < 2  # 7 s when each line looked at all that are taken


@pytest.mark.slow
def test_flash_before_and_after_the_location_fix(shared: Path) -> None:
    import wavescope

    folder = shared / "data" / "uiout-mi350x-flydsl" / "flash_attn_func" / "big"
    traces = [wavescope.open(path) for path in sorted(folder.iterdir())]
    by_row = compare(traces)
    assert by_row.same_code
    assert by_row.matched_share == 1.0
    assert "within noise" in by_row.verdict()
    assert by_row.beyond().height < 20
    by_line = compare(traces, by="line")
    renamed = by_line.units.filter(pl.col("base_label") == "flash_attn_func.py:257").row(0, named=True)
    assert renamed["label"] == "flash_attn_func.py:258"


@pytest.mark.parametrize(("one", "two", "same"), [("c07", "c08", True), ("c06", "c07", False), ("c04", "c05", False)])
def test_real_code_that_changed(shared: Path, llvm: str, one: str, two: str, same: bool) -> None:
    import wavescope

    folder = shared / "data" / "att-mi300x-bmm"
    found = compare([wavescope.open(folder / name / "raw", dispatch=3) for name in (one, two)])
    assert found.same_code == same
    assert found.matched_share > 0.8
    delta = found.traces["duration_delta_share"][1]
    assert found.units["delta_share"].sum() == pytest.approx(delta, abs=0.01)
