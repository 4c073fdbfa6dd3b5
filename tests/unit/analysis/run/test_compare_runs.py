"""Comparisons of runs: made differences are found, and equal runs raise no alarm."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import msgspec
import polars as pl
import pytest

from synth import Workload, write_rocpd
from tests.kit.sampling import every_third
from tests.kit.together import together
from wavewright.analysis.common.noise import t_bound
from wavewright.analysis.run.compare.compare import (
    FailOn,
    Renamed,
    RunComparison,
    change_text,
    combine_compare,
    compare_runs,
)
from wavewright.analysis.run.compare.compared_side import partial_compare
from wavewright.analysis.run.compare.kernel_pairs import KernelUse, pairs_of
from wavewright.analysis.run.contents.batches import batches_of, means
from wavewright.errors import UsageError
from wavewright.model.answer import to_builtins
from wavewright.model.run import MemorySource, Run
from wavewright.readers.run.inputs import open_run
from wavewright.words.run.run_changes import both_names, comparison_report
from wavewright.writers.terminal.blocks import plain_text

FLASH = "void flash_forward<half, 128, 64>(half const*, half const*, half const*, half*, int)"
Made = Callable[..., Run]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("runs")

    def run(seed: int, *slow: tuple[str, float]) -> Run:
        path = folder / f"{seed}.db"
        if not path.exists():
            write_rocpd(path, Workload(dispatches=4000, ranks=2, seed=seed, slow=slow))
        return open_run(path)

    return run


def run_of(kernels: dict[str, list[int]], *, steps: int = 0, pause: int = 10, step_ns: int = 5) -> Run:
    """One kernel after the other, by name and durations; `steps` marker ranges around nothing."""
    rows, clock = [], 0
    for name, lengths in kernels.items():
        for length in lengths:
            rows.append({"process": 0, "name": name, "start_ns": clock, "end_ns": clock + length})
            clock += length + pause
    ranges = [
        {"process": 0, "domain": "MARKER", "name": f"step {n % 2}", "start_ns": 10 * n, "end_ns": 10 * n + step_ns}
        for n in range(steps)
    ]
    tables = {"processes": pl.DataFrame({"process": [0], "source": [0], "pid": [1]}), "dispatches": pl.DataFrame(rows)}
    if ranges:
        tables["regions"] = pl.DataFrame(ranges)
    return Run([MemorySource("made", "made", tables=tables)])


def around(mean: int, count: int, seed: int) -> list[int]:
    chance = random.Random(seed)
    return [round(chance.gauss(mean, mean / 10)) for _ in range(count)]


def statuses(answer: RunComparison) -> dict[str, str]:
    return dict(answer.things.select("name", "status").rows())


@pytest.mark.slow
def test_a_slower_kernel_is_found(made: Made) -> None:
    answer = compare_runs([made(1), made(20, ("flash", 1.4))])
    changes = answer.changes(1).filter(pl.col("domain") == "KERNEL")
    assert changes.select("name", "status").rows() == [(FLASH, "slower")]
    assert changes["change"].item() == pytest.approx(0.4, abs=0.06)


@pytest.mark.slow
def test_equal_runs_raise_no_alarm(made: Made) -> None:
    base = made(1)
    for seed in range(2, 10):
        answer = compare_runs([base, made(seed)])
        assert answer.changes(1).filter(pl.col("domain").is_in(["KERNEL", "COPY", "HIP", "HSA"])).height == 0, seed


def test_new_and_gone() -> None:
    base = run_of({"gone": [5] * 4, "kept": around(1000, 40, 1)})
    answer = compare_runs([base, run_of({"kept": around(1000, 40, 2), "new": [7] * 4})])
    assert statuses(answer) == {"gone": "gone", "kept": "same", "new": "new"}
    new = answer.things.row(by_predicate=pl.col("name") == "new", named=True)
    assert (new["delta_ns"], new["work_ns"], new["speed_ns"]) == (28.0, 28.0, 0.0)


def test_addresses_in_names_are_no_identity() -> None:
    sides = [run_of({f"<built-in method to of Tensor object at {at}>": [5] * 4}) for at in ("0x7cc15599", "0x7f72aa01")]
    assert statuses(compare_runs(sides)) == {"<built-in method to of Tensor object at 0x*>": "same"}


def test_more_calls_are_work() -> None:
    base, other = run_of({"k": around(1000, 100, 1)}), run_of({"k": around(1000, 200, 2)})
    row = compare_runs([base, other]).things.row(0, named=True)
    assert row["status"] == "more calls"
    assert row["work_ns"] + row["speed_ns"] == pytest.approx(row["delta_ns"])
    assert row["work_ns"] == pytest.approx(100 * row["base_mean_ns"])


def test_per_step() -> None:
    base, other = run_of({"k": around(1000, 100, 1)}, steps=10), run_of({"k": around(1000, 200, 2)}, steps=20)
    answer = compare_runs([base, other], step="/^step /")
    row = answer.things.row(by_predicate=pl.col("name") == "k", named=True)
    assert (row["base_calls"], row["calls"], row["status"]) == (10.0, 10.0, "same")
    assert answer.sides["step_count"].to_list() == [10, 20]
    with pytest.raises(UsageError, match="A has no marker range 'step'"):
        compare_runs([base, other], step="step")
    with pytest.raises(UsageError, match="not a regular expression"):
        compare_runs([base, other], step="/(/")


def test_one_call_tells_nothing() -> None:
    assert statuses(compare_runs([run_of({"k": [100]}), run_of({"k": [300]})])) == {"k": "cannot tell"}


@pytest.mark.slow
def test_repeated_runs_show_what_repeated_calls_do_not() -> None:
    base, other = run_of({"k": around(1000, 400, 1)}), run_of({"k": around(1080, 400, 2)})
    assert statuses(compare_runs([base, other])) == {"k": "slower"}
    again = [[partial_compare(run_of({"k": around(mean, 400, mean)}))] for mean in (900, 1100, 950)]
    answer = combine_compare([[partial_compare(base)], [partial_compare(other)]], repeats=again)
    assert statuses(answer) == {"k": "cannot tell"}, "runs that differ by a quarter hide a change of 8 %"
    assert answer.repeat_count == 3
    again = [[partial_compare(run_of({"k": around(mean, 400, mean)}))] for mean in (960, 1030, 1010)]
    answer = combine_compare([[partial_compare(base)], [partial_compare(other)]], repeats=again)
    assert statuses(answer) == {"k": "same"}


def test_calls_that_depend_on_each_other_are_noisier() -> None:
    slow_then_fast = [1200] * 500 + [800] * 500
    spread = means([batches_of(run_of({"k": [900, 1100] * 500}))])["error_ns"].item()
    drifting = means([batches_of(run_of({"k": slow_then_fast}))])["error_ns"].item()
    assert drifting > 4 * spread


def test_small_changes_need_repeated_runs() -> None:
    base, other = run_of({"k": [1000, 1001] * 500}), run_of({"k": [1005, 1006] * 500})
    assert statuses(compare_runs([base, other])) == {"k": "same"}
    again = [[partial_compare(base)], [partial_compare(base)]]
    answer = combine_compare([[partial_compare(base)], [partial_compare(other)]], repeats=again)
    assert statuses(answer) == {"k": "slower"}


@pytest.mark.slow
def test_several_sides_and_the_order_of_files(made: Made, tmp_path: Path) -> None:
    parts = [partial_compare(made(seed)) for seed in (1, 2, 3)]
    answer = combine_compare([parts[:1], parts[1:2], parts[2:]], labels=["old", "new", "newer"])
    assert answer.sides["label"].to_list() == ["old", "new", "newer"]
    assert set(answer.things["side"]) == {1, 2}
    for name, spec in RunComparison.tables.items():
        assert dict(getattr(answer, name).schema) == spec.dtypes
    again = combine_compare([parts[:1], parts[1:2], parts[2:]], labels=["old", "new", "newer"])
    assert msgspec.json.encode(to_builtins(answer)) == msgspec.json.encode(to_builtins(again))


def test_one_side_is_no_comparison() -> None:
    with pytest.raises(UsageError, match="needs two runs"):
        combine_compare([[]])


def test_the_verdict() -> None:
    base, other = run_of({"k": [1000, 1002] * 500}), run_of({"k": [2000, 2002] * 500})
    answer = compare_runs([base, other])
    said = "B against A: GPU time 1.001 ms -> 2.001 ms per run, +1.000 ms (+99.9 %); 1 slower (+1.000 ms)"
    assert answer.verdict(1) == said
    assert next(iter(comparison_report(answer))).text == said


def test_the_remainder_is_named() -> None:
    """One call each tells nothing about noise; its difference is in the headline all the same."""
    base = run_of({"copy": [1_000_000], "gemm": [1000, 1002] * 50})
    other = run_of({"copy": [9_000_000], "gemm": [2000, 2002] * 50})
    answer = compare_runs([base, other])
    assert statuses(answer) == {"copy": "cannot tell", "gemm": "slower"}
    assert answer.verdict(1) == (
        "B against A: GPU time 1.100 ms -> 9.200 ms per run, +8.100 ms (+736.3 %); 1 slower (+0.100 ms); "
        "not attributed: +8.000 ms in copy, with calls too few or too uneven to tell"
    )
    assert answer.parts.select("status", "is_attributed", "thing_count", "delta_ns", "largest_name").rows() == [
        ("slower", True, 1, 100_000.0, "gemm"),
        ("cannot tell", False, 1, 8_000_000.0, "copy"),
    ]
    assert "B, not attributed\n" in tables(answer)


def test_calls_that_differ_too_much_are_not_the_same() -> None:
    """Ten calls, of which one is long, against ten short ones: neither a change nor the same."""
    base, other = run_of({"k": [100_000] * 9 + [60_000_000]}), run_of({"k": [150_000] * 10})
    answer = compare_runs([base, other])
    assert statuses(answer) == {"k": "cannot tell"}
    assert "no kernel" not in answer.verdict(1)
    assert "not attributed: -59.400 ms in k" in answer.verdict(1)


def test_a_run_with_itself() -> None:
    run = run_of({"k": around(1000, 20, 1), "single": [77]}, steps=3)
    answer = compare_runs([run, run])
    assert answer.verdict(1) == "B against A: nothing differs"
    assert answer.time_verdict(1) is None
    assert set(answer.things["status"]) == {"same"}
    assert "noise" not in printed(answer).splitlines()[0]


def test_fewer_but_longer_calls_are_what_outweighs() -> None:
    """Each call is 10 % longer, and a third of them is left."""
    base, other = run_of({"k": [1000, 1002] * 300}), run_of({"k": [1100, 1102] * 100})
    row = compare_runs([base, other]).things.row(0, named=True)
    assert (row["status"], row["delta_ns"] < 0, row["speed_ns"] > 0) == ("fewer calls", True, True)
    base, other = run_of({"k": [1000, 1002] * 300}), run_of({"k": [9000, 9002] * 100})
    assert statuses(compare_runs([base, other])) == {"k": "slower"}


def test_idle_time_is_part_of_the_comparison() -> None:
    """Equal kernels with pauses between them: the run is longer, and idle says why."""
    base, other = run_of({"k": [1000] * 50}), run_of({"k": [1000] * 50}, pause=100_000)
    answer = compare_runs([base, other])
    assert answer.sides["gpu_ns"].to_list() == [50_000.0, 50_000.0]
    times = answer.sides.select("computation_ns", "communication_ns", "copy_ns", "idle_ns")
    assert times.rows() == [(50_000.0, 0.0, 0.0, 490.0), (50_000.0, 0.0, 0.0, 4_900_000.0)]
    assert answer.time_verdict(1) == (
        "time per GPU 0.050 ms -> 4.950 ms per run, +4.900 ms (98.0 times): idle +4.900 ms"
    )
    assert [sum(row) for row in times.rows()] == answer.sides["wall_ns"].to_list()


def test_communication_is_told_from_computation() -> None:
    answer = compare_runs([run_of({"k": [1000] * 5}), run_of({"k": [1000] * 5, "ncclDevKernel_Generic": [500] * 4})])
    assert answer.sides["communication_ns"].to_list() == [0.0, 2000.0]


@pytest.mark.parametrize(
    ("change", "on", "count"),
    [(0.5, "total", 1), (0.5, "kernel", 1), (0.5, "step", 0), (1.5, "total", 0), (1.5, "kernel", 0)],
)
def test_what_is_above_a_limit(change: float, on: FailOn, count: int) -> None:
    base, other = run_of({"k": [1000, 1002] * 500}, steps=10), run_of({"k": [2000, 2002] * 500}, steps=10)
    above = compare_runs([base, other], step="/step/").above(1, change, on)
    assert len(above) == count
    assert all(each.is_beyond_noise and each.noise == pytest.approx(0.01) for each in above)


def test_a_limit_of_what_has_no_noise_or_too_much() -> None:
    single = compare_runs([run_of({"k": [1000]}), run_of({"k": [1200]})]).above(1, 0.1)
    assert [(each.is_beyond_noise, each.noise) for each in single] == [(True, None)]
    assert single[0].sentence(0.1) == "B: GPU time per run +20.0 %, above the limit of 10 % (its noise is not known)"
    noisy = compare_runs([run_of({"k": [100, 9_000] * 3}), run_of({"k": [100, 12_000] * 3})]).above(1, 0.1)
    assert [each.is_beyond_noise for each in noisy] == [False]


def test_the_noise_of_the_total_by_repeated_runs() -> None:
    base, other = run_of({"k": [1000] * 10}), run_of({"k": [1100] * 10})
    sides = [[partial_compare(base)], [partial_compare(other)]]
    again = [[partial_compare(run_of({"k": [length] * 10}))] for length in (900, 1100)]
    above = combine_compare(sides, repeats=again).above(1, 0.05)
    assert [each.is_beyond_noise for each in above] == [False]
    assert above[0].noise == pytest.approx(4.3027 * 0.1, abs=1e-4), "three runs: t of two degrees, a deviation of 10 %"


@pytest.mark.first_case
@pytest.mark.parametrize("seed", every_third(range(20)))
def test_the_parts_add_up(seed: int) -> None:
    """Any two runs: what is shown sums up to the difference of the headline, to the nanosecond."""
    chance = random.Random(seed)
    sides = []
    for _ in range(2):
        names = chance.sample(["a", "b<1>", "b<2>", "c", "nccl", "d_64x64", "d_128x128", "e"], chance.randint(1, 7))
        lengths = {
            name: [chance.randint(0, 10 ** chance.randint(1, 9)) for _ in range(chance.choice([1, 2, 9, 40]))]
            for name in names
        }
        sides.append(run_of(lengths, steps=chance.randint(1, 9), pause=chance.choice([0, 10_000])))
    answer = compare_runs(sides)
    parts, (before, after) = answer.parts["delta_ns"].sum(), answer.sides["gpu_ns"]
    assert parts == after - before
    assert answer.things.filter(pl.col("domain") == "KERNEL")["delta_ns"].sum() == parts
    assert answer.parts["thing_count"].sum() == answer.things.filter(pl.col("domain") == "KERNEL").height
    per_step = compare_runs(sides, step="/step/")
    parts, (before, after) = per_step.parts["delta_ns"].sum(), per_step.sides["gpu_ns"]
    assert parts == pytest.approx(after - before, abs=1e-3)
    for one in (answer, per_step):
        said = one.verdict(1)
        assert ("nothing differs" in said) == one.is_equal(1)
        assert list(comparison_report(one))


@together(
    "tail, degrees, bound",
    [(0.05, 1, 12.7062), (0.05, 2, 4.3027), (0.01, 3, 5.8409), (0.05, 30, 2.0423), (0.001, 9, 4.7809)],
)
def test_student(tail: float, degrees: int, bound: float) -> None:
    assert t_bound(tail, degrees) == pytest.approx(bound, abs=1e-4)


def test_a_kernel_with_another_name_is_compared_when_forced() -> None:
    base = run_of({"kept": [100] * 20, "old": around(1000, 40, 1)})
    side = run_of({"kept": [100] * 20, "new": around(2000, 40, 2)})
    apart = compare_runs([base, side])
    assert apart.may_be_renamed(1)
    assert not apart.renamed
    assert "--force compares them with each other" in printed(apart)
    paired = compare_runs([base, side], force=True)
    assert paired.renamed == (Renamed(1, "old", "new"),)
    assert not paired.may_be_renamed(1)
    row = paired.things.filter(pl.col("name") == "new").row(0, named=True)
    assert (row["status"], row["base_name"], row["base_calls"], row["calls"]) == ("renamed", "old", 40, 40)
    assert row["change"] == pytest.approx(1, abs=0.15)
    assert "renamed: {old -> new}" in printed(paired)


def test_several_kernels_with_other_names_are_not_guessed() -> None:
    base, side = run_of({"a": [100] * 4, "b": [100] * 4}), run_of({"c": [100] * 4, "d": [100] * 4})
    forced = compare_runs([base, side], force=True)
    assert not forced.renamed
    assert not forced.may_be_renamed(1)


def test_kernels_that_resemble_each_other_are_one_renamed() -> None:
    base = run_of({"gemm<64, 64>(int)": [1000] * 40, "relu": [10] * 40, "gemm<8, 8>(int)": [100] * 7})
    side = run_of({"gemm<128, 64>(int)": [700] * 40, "gelu": [10] * 40, "gemm<16, 8>(int)": [90] * 7})
    answer = compare_runs([base, side])
    assert set(answer.renamed) == {
        Renamed(1, "gemm<64, 64>(int)", "gemm<128, 64>(int)"),
        Renamed(1, "gemm<8, 8>(int)", "gemm<16, 8>(int)"),
    }
    assert statuses(answer) == {
        "gemm<128, 64>(int)": "renamed",
        "gemm<16, 8>(int)": "renamed",
        "relu": "gone",
        "gelu": "new",
    }
    assert "2 renamed (-0.012 ms)" in answer.verdict(1)
    assert "gemm<{64 -> 128}, 64>" in printed(answer)
    assert "renamed, faster" in tables(answer)


@together(
    "gone, new, calls, is_pair",
    [
        ("flash_fwd_splitkv_kernel", "flash_bwd_splitkv_kernel", 10, False),
        ("at::elementwise<MulFunctor<float> >", "at::elementwise<AddFunctor<float> >", 10, False),
        ("at::elementwise<MulFunctor<float> >", "at::elementwise<MulFunctor<c10::BFloat16> >", 10, True),
        ("at::elementwise<MulFunctor<float> >", "at::elementwise<MulFunctor<double> >", 10, True),
        ("Cijk_Alik_BBS_MT256x128x64_SN_K1", "Cijk_Alik_BBS_MT64x32x64_LDSB_K0", 10, True),
        ("Cijk_Alik_BBS_MT256x128x64_SN_K1", "Cijk_Alik_HHS_MT256x128x64_SN_K1", 10, False),
        ("bmm_core_128x128x16<16u>", "bmm_core_128x128x16_IGLP<16u>", 10, True),
        ("bmm", "bmm_splitk", 10, False),
        ("triton_poi_fused_add_0", "triton_poi_fused_add_3", 10, True),
        ("triton_poi_fused_add_0", "triton_poi_fused_add_3", 4, False),
        ("_Z4gemmILi64EEvi", "_Z4gemmILi128EEvi", 10, True),
        ("_Z4gemmIfEvi", "_Z4reluIfEvi", 10, False),
        ("", "x", 10, False),
        ("<<<", ">>>", 10, False),
    ],
)
def test_which_names_resemble_each_other(gone: str, new: str, calls: int, is_pair: bool) -> None:
    pairs = pairs_of([KernelUse(gone, 10, 1e3, None)], [KernelUse(new, calls, 1e3, None)])
    assert pairs == ([(gone, new)] if is_pair else [])


def test_grids_decide_between_kernels_that_resemble_each_other() -> None:
    gone = [KernelUse("k_1", 10, 1e3, 64.0), KernelUse("k_2", 10, 1e3, 4096.0)]
    new = [KernelUse("k_8", 10, 1e3, 4096.0), KernelUse("k_9", 10, 1e3, 64.0)]
    assert dict(pairs_of(gone, new)) == {"k_1": "k_9", "k_2": "k_8"}


def test_a_mangled_name_and_its_meaning_are_two_names() -> None:
    assert both_names("gemm(int)", "_Z4gemmi") == "{gemm(int) -> _Z4gemmi}"
    assert both_names("_Z4gemmILi64EEvi", "_Z4gemmILi128EEvi") == "gemm<{64 -> 128}>"


@pytest.mark.parametrize(("change", "text"), [(9.0, "+900.0 %"), (18_137.3, "18,138 times"), (-1.0, "-100.0 %")])
def test_large_changes_are_factors(change: float, text: str) -> None:
    assert change_text(change) == text


def test_the_table_of_calls_has_no_empty_column() -> None:
    base, side = (run_of({"k": [100] * 4}, steps=9, step_ns=length) for length in (3, 90_000))
    text = tables(compare_runs([base, side]), width=160)
    calls = text[text.index("changes on the CPU") :].splitlines()
    assert "of GPU time" not in calls[1]
    assert "30,000 times" in text


def printed(answer: RunComparison) -> str:
    return "\n".join(str(part) for part in comparison_report(answer))


def tables(answer: RunComparison, width: int = 120) -> str:
    return plain_text(comparison_report(answer), width)


def test_shares_that_moved_are_told() -> None:
    before, after = run_of({"a": [100] * 30}), run_of({"a": [500] * 30})
    answer = compare_runs([before, after])
    assert answer.share_verdict(1) == "shares: a GPU works 91.2 % of 0.003 ms -> 98.1 % of 0.015 ms"
    assert compare_runs([before, before]).share_verdict(1) is None
