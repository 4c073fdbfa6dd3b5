"""Comparing traces: matching of code that changed, work and speed, and what is noise."""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.kit.ui_directories import frame
from tests.unit.analysis.small_kernels import trace_of
from wavewright.analysis.trace.compare import compare, main_kernel
from wavewright.analysis.trace.compare.alignment import Alignment, align_rows, align_traces, grouped_units
from wavewright.analysis.trace.compare.spread import batch_costs, batches, unit_costs
from wavewright.analysis.trace.costs.row_costs import row_totals
from wavewright.errors import UsageError
from wavewright.model.launch import Launch, median_noise
from wavewright.model.trace import ThreadTrace

TEXTS = [f"v_add_f32_e32 v{at}, v{at + 1}, v{at + 2}" for at in range(40)]
CHANGED = [*TEXTS[:-1], "v_add_f32_e32 v99, v98, v97"]  # another code with the same units: one register number differs


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
    assert not found.standing_out().height
    assert found.traces["outcome"].to_list() == ["base", "same code"]
    assert found.verdict().startswith("B runs the same code as A: its waves took ")
    assert found.verdict().endswith("which is run-to-run difference, not a change.")


def test_the_same_code_never_changed_however_different_its_runs() -> None:
    """As a cold and a warm run of one binary: the spread between waves of each says nothing about runs."""
    found = compare([trace_of(TEXTS, waves_with({})), trace_of(TEXTS, waves_with({7: 400, 9: 300}))])
    assert found.traces["duration_delta_share"][1] > 1
    assert not found.standing_out().height
    assert not found.units["stands_out"].any()
    assert found.traces["outcome"][1] == "same code"
    assert "more cycles, which is run-to-run difference, not a change." in found.verdict()
    for word in ("slower", "faster", "noise"):
        assert word not in found.verdict()


def test_other_source_lines_of_the_same_code_are_told() -> None:
    lines: list[list[int | None]] = [[1 + row // size for row in range(len(TEXTS))] for size in (2, 4)]
    moved = [trace_of(TEXTS, waves_with({}), lines=each) for each in lines]
    found = compare(moved)
    counts = [len(set(each)) for each in lines]
    moved_count = sum(one != other for one, other in zip(*lines, strict=True))
    assert found.traces.select("line_count", "moved_row_count").rows() == [(counts[0], 0), (counts[1], moved_count)]
    sentence = (
        f"{moved_count} executed instructions have another line than in A ({counts[0]} lines in A, {counts[1]} in B)."
    )
    assert sentence in found.verdict()
    assert "source lines changed" not in compare([moved[0], moved[0]]).verdict()


def test_only_the_trace_with_other_code_can_have_changed() -> None:
    traces = [trace_of(texts, waves_with({}, seed=seed)) for seed, texts in enumerate([TEXTS, CHANGED, TEXTS])]
    found = compare(traces)
    assert not found.same_code
    assert found.traces["is_same_code"].to_list() == [True, False, True]
    assert found.traces["outcome"].to_list() == ["base", "not known", "same code"]


def test_a_slower_instruction_is_named() -> None:
    found = compare([trace_of(TEXTS, waves_with({}, seed=1)), trace_of(CHANGED, waves_with({7: 60}, seed=2))])
    worst = found.units.row(0, named=True)
    assert (worst["unit"], worst["change"], worst["stands_out"]) == (7, "same", True)
    assert worst["delta_cycles_per_wave"] == pytest.approx(50, abs=3)
    assert worst["speed_cycles_per_wave"] == worst["delta_cycles_per_wave"]
    assert worst["work_cycles_per_wave"] == 0
    assert "more cycles than A's (one run on each side: noise is not known): " in found.verdict()
    assert f"the largest difference is at {TEXTS[7]} (0x11c): +" in found.verdict()
    assert found.traces["outcome"][1] == "not known"


def test_the_largest_difference_is_named_whichever_way_it_goes() -> None:
    """The whole is faster, but the largest row is slower."""
    base = trace_of(TEXTS, waves_with({3: 80, 4: 80, 5: 80}))
    other = trace_of(CHANGED, waves_with({7: 110, 3: 10, 4: 10, 5: 10}))
    found = compare([base, other])
    assert found.traces["duration_delta_share"][1] < 0
    assert f"the largest difference is at {TEXTS[7]} (0x11c): +" in found.verdict()


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
    assert not found.standing_out().height
    assert found.units["work_cycles_per_wave"].sum() == pytest.approx(2 * 10 * 12, rel=0.1)
    assert abs(found.units["speed_cycles_per_wave"].sum()) < 10
    assert "from executing more (other waves or another input were traced)" in found.verdict()
    assert found.verdict().endswith("run-to-run difference, not a change of the code.")


def test_new_gone_and_changed_code() -> None:
    changed = [*TEXTS[:5], "s_nop 3", *TEXTS[5:20], *TEXTS[22:]]
    changed[10] = "v_add_f32_e32 v99, v98, v97"  # TEXTS[9] with other registers
    found = compare([trace_of(TEXTS, waves_with({})), trace_of(changed, waves_with({}, rows=39))])
    changes = {kind: found.units.filter(pl.col("change") == kind) for kind in ("new", "gone", "registers", "same")}
    assert changes["new"]["label"].to_list() == ["s_nop 3"]
    assert sorted(changes["gone"]["base_label"]) == sorted(TEXTS[20:22])
    assert changes["registers"]["base_label"].to_list() == [TEXTS[9]]
    assert changes["same"].height == 37
    assert not found.same_code
    assert found.verdict().endswith("1 instruction added, 2 removed, 1 with other registers.")


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


def test_a_line_that_moved_is_known_by_what_costs_most() -> None:
    """A load and its wait on line 1; later only the wait and the store that follows stand there, on line 5."""
    texts = ["global_load_dword v1, v[2:3], off", "s_waitcnt vmcnt(0)", "ds_write_b32 v4, v1", "s_endpgm"]
    costs = waves_with({1: 500}, rows=4)
    one = trace_of(texts, costs, lines=[1, 1, 1, 2])
    two = trace_of(texts, costs, lines=[4, 5, 6, 7])
    assert align_traces([one, two], "line").labels == (
        ("kernel.py:1", "kernel.py:2", None, None),
        ("kernel.py:5", "kernel.py:7", "kernel.py:4", "kernel.py:6"),
    )


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
    assert worst["stands_out"]


def test_repeats_measure_the_noise() -> None:
    """The waves of a run agree, but runs differ by 20 cycles in row 7: only repeats can show that."""
    runs = [trace_of(TEXTS, waves_with({7: 10 + more}, jitter=1)) for more in (0, 20, 40)]
    other = trace_of(CHANGED, waves_with({7: 35}, jitter=1))
    alone = compare([runs[0], other])
    assert alone.noise_from == "waves"
    assert alone.units.row(0, named=True)["stands_out"]
    assert alone.traces["outcome"][1] == "not known"
    repeated = compare([runs[0], other], repeats=[runs[1:]])
    assert (repeated.noise_from, repeated.repeat_count) == ("repeats", 2)
    worst = repeated.units.row(0, named=True)
    assert (worst["unit"], worst["stands_out"]) == (7, False)
    assert repeated.traces["outcome"][1] == "within noise"
    t_of_two_degrees = 4.302653  # 95 %, two-sided, from printed tables
    assert worst["noise_cycles_per_wave"] == pytest.approx(1.5 * t_of_two_degrees * 20 * 2**0.5, rel=0.001)


def test_one_repetition_measures_no_noise() -> None:
    runs = [trace_of(TEXTS, waves_with({7: 10 + more})) for more in (0, 20)]
    found = compare([runs[0], trace_of(CHANGED, waves_with({7: 35}))], repeats=[runs[1:]])
    assert (found.noise_from, found.repeat_count, found.unused_repeat_count) == ("waves", 0, 1)
    assert found.traces["duration_noise_share"][1] < 0.1  # Student's t of one degree would make it 12.7 deviations


def test_one_wave_knows_no_noise() -> None:
    found = compare([trace_of(TEXTS, waves_with({}, count=1)), trace_of(CHANGED, waves_with({7: 60}, count=1))])
    assert found.units["stands_out"].null_count() == found.units.height
    assert "noise is not known" in found.verdict()


def test_waves_without_instructions_are_left_out() -> None:
    """As on shader engines whose instructions were not traced: they live, but tell no costs."""
    empty = [{"begin": 0, "end": 9999, "instructions": [], "se": 2, "simd": at} for at in range(4)]
    texts = (TEXTS, CHANGED)
    whole = compare([trace_of(text, waves_with({7: 60})) for text in texts])
    mixed = compare([trace_of(text, [*waves_with({7: 60}), *empty]) for text in texts])
    assert mixed.traces["untraced_wave_count"].to_list() == [4, 4]
    assert whole.traces["untraced_wave_count"].to_list() == [0, 0]
    of_all = ("untraced_wave_count", "waves_per_simd_mean")
    assert mixed.traces.drop(of_all).equals(whole.traces.drop(of_all))
    assert mixed.units.equals(whole.units)
    assert mixed.stall_classes.equals(whole.stall_classes)


def launched(trace: ThreadTrace, durations_ns: list[int]) -> ThreadTrace:
    """The trace as the first of these calls."""
    ordered = sorted(durations_ns)
    launch = Launch(
        "kernel",
        1,
        durations_ns[0],
        1,
        len(durations_ns),
        float(ordered[len(ordered) // 2]),
        float(ordered[len(ordered) // 10]),
        float(ordered[-1 - len(ordered) // 10]),
        "1_results.db",
        median_noise(pl.Series(durations_ns)),
    )
    trace.find_launch = lambda _: launch
    return trace


def test_durations_of_calls_decide() -> None:
    """The traces tie, the calls beside them are 10 % slower."""
    base = launched(trace_of(TEXTS, waves_with({})), [24_000, *[18_000 + at for at in range(99)]])
    other = launched(trace_of(CHANGED, waves_with({})), [19_900, *[19_800 + at for at in range(99)]])
    found = compare([base, other])
    row = found.traces.row(1, named=True)
    assert row["outcome"] == "slower"
    assert row["kernel_ns_delta_share"] == pytest.approx(0.1, abs=0.001)
    assert row["kernel_ns_noise_share"] == pytest.approx(0.01)  # the least change; 10 ranks of 1 ns are less
    said = found.verdict()
    assert said.startswith(
        "B is 10.0 % slower than A (noise 1.0 %): the median call takes 19.9 µs against 18.1 µs (100"
    )
    assert "The traces do not show what the durations show (" in said
    assert "A: first of 100 calls, 33 % slower than the median (24.0 µs against 18.1 µs)." in said
    assert "B: " not in said


def test_durations_within_noise() -> None:
    base = launched(trace_of(TEXTS, waves_with({})), [18_000 + at for at in range(100)])
    found = compare([base, launched(trace_of(CHANGED, waves_with({})), [18_100 + at for at in range(100)])])
    assert found.traces["outcome"][1] == "within noise"
    assert found.verdict().startswith("B takes as long as A within noise (+0.6 %, noise 1.0 %): the median call takes ")
    assert "do not show" not in found.verdict()


def test_durations_of_the_same_code_are_no_change() -> None:
    base = launched(trace_of(TEXTS, waves_with({})), [18_000 + at for at in range(100)])
    found = compare([base, launched(trace_of(TEXTS, waves_with({})), [20_000 + at for at in range(100)])])
    assert found.traces["outcome"][1] == "same code"
    said = "The median call takes 20.1 µs against 18.1 µs (+11.1 %), which is run-to-run difference, too."
    assert said in found.verdict()


def test_too_few_calls_know_no_noise() -> None:
    traces = [launched(trace_of(text, waves_with({})), [18_000] * 3) for text in (TEXTS, CHANGED)]
    found = compare(traces)
    assert found.traces["kernel_ns_noise_share"].to_list() == [None, None]
    assert found.traces["outcome"][1] == "not known"


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
    assert found.verdict().startswith("B runs the same code as A: the chosen code costs as much per wave, no change.")


def test_batches_hold_neighbours() -> None:
    ran = [(0, 0, 4, 6, 0)]
    waves = [{"begin": at // 4 * 100, "end": 9999, "instructions": ran, "se": at % 2} for at in range(64)]
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
    rows = Alignment(count, (tuple(range(count)),) * 2, ((None,) * count,) * 2, (True, True))
    labels: dict[Any, str] = {line: f"f:{line}" for line in range(count)}
    seconds = []
    for _ in range(3):  # a busy machine only adds
        begun = time.process_time()
        assert grouped_units(rows, [range(count)] * 2, [labels] * 2).unit_count == count
        seconds.append(time.process_time() - begun)
    assert min(seconds) < 3  # 7 s when each line looked at all that are taken


@pytest.mark.first_case
@pytest.mark.parametrize("size", ["big", "small"])
def test_flash_before_and_after_the_location_fix(shared: Path, size: str) -> None:
    """Only debug lines changed, and other waves were traced: causal attention gives them different work."""
    import wavewright

    folder = shared / "data" / "uiout-mi350x-flydsl" / "flash_attn_func" / size
    traces = [wavewright.open(path) for path in sorted(folder.iterdir())]
    by_row = compare(traces)
    assert by_row.same_code
    assert by_row.matched_share == 1.0
    assert by_row.traces["outcome"][1] == "same code"
    assert not by_row.standing_out().height
    assert "(other waves or another input were traced)" in by_row.verdict()
    assert "run-to-run difference, not a change of the code." in by_row.verdict()
    assert "Only source lines changed: 2,062 executed instructions have another line" in by_row.verdict()
    by_line = compare(traces, by="line")
    renamed = by_line.units.filter(pl.col("base_label") == "flash_attn_func.py:257").row(0, named=True)
    assert renamed["label"] == "flash_attn_func.py:258"
    assert not by_line.standing_out().height


@pytest.mark.some_cases(2)
@pytest.mark.parametrize(
    ("one", "two", "same"), [("c07", "c08", True), ("c04", "c06", True), ("c06", "c07", False), ("c04", "c05", False)]
)
def test_real_code_that_changed(shared: Path, one: str, two: str, same: bool) -> None:
    import wavewright

    folder = shared / "data" / "att-mi300x-bmm"
    found = compare([wavewright.open(folder / name / "raw", dispatch=3) for name in (one, two)])
    assert found.same_code == same
    assert found.traces["outcome"][1] == ("same code" if same else "not known")
    assert ("not a change" in found.verdict()) == same
    assert ("beyond" in found.verdict()) is False
    assert found.matched_share > 0.8
    delta = found.traces["duration_delta_share"][1]
    assert found.units["delta_share"].sum() == pytest.approx(delta, abs=0.01)


def test_a_trace_that_ties_while_its_calls_do_not(shared: Path) -> None:
    """Wider loads: the traced waves tie, the medians of 150 calls are 18.2 and 20.1 µs (from separate SQL)."""
    import wavewright

    folder = shared / "data" / "att-mi300x-bmm"
    found = compare([wavewright.open(folder / name / "raw", dispatch=3) for name in ("c08", "c09")], force=True)
    row = found.traces.row(1, named=True)
    assert row["outcome"] == "slower"
    assert row["kernel_ns_delta_share"] == pytest.approx(20116.5 / 18192.0 - 1)
    said = found.verdict()
    assert "the median call takes 20.1 µs against 18.2 µs (150 and 150 calls)" in said
    assert "The traces do not show what the durations show" in said
    assert "the largest difference is at s_waitcnt vmcnt(1) (0x2e38): +24.4 %" in said


def test_waves_of_engines_without_instructions(shared: Path) -> None:
    """On half of the shader engines only begin and end of waves were traced: they are not in the means."""
    import wavewright

    trace = wavewright.open(shared / "golden" / "gfx1200" / "profile_gemm_run_0")
    found = compare([trace, trace])
    ran = set(trace.instructions["wave"])
    lived = [
        end - start
        for wave, start, end in trace.waves.select("wave", "start_cycles", "end_cycles").rows()
        if wave in ran
    ]
    row = found.traces.row(1, named=True)
    assert (row["wave_count"], row["untraced_wave_count"]) == (len(ran), trace.waves.height - len(ran))
    assert row["untraced_wave_count"] > 0
    assert row["duration_cycles_mean"] == pytest.approx(sum(lived) / len(lived))
    assert found.verdict() == ("B runs the same code as A: its waves took as many cycles, no change.")
