"""Comparisons of runs: made differences are found, and equal runs raise no alarm."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import msgspec
import polars as pl
import pytest

from synth import Workload, write_rocpd
from wavescope.analysis.common.noise import t_bound
from wavescope.analysis.run.batches import batches_of, means
from wavescope.analysis.run.compare import Renamed, RunComparison, combine_compare, compare_runs, partial_compare
from wavescope.errors import UsageError
from wavescope.model.answer import to_builtins
from wavescope.model.run import MemorySource, Run
from wavescope.readers.run.inputs import open_run
from wavescope.report.run.compare import comparison_report

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


def run_of(kernels: dict[str, list[int]], *, steps: int = 0) -> Run:
    """One kernel after the other, by name and durations; `steps` marker ranges around nothing."""
    rows, clock = [], 0
    for name, lengths in kernels.items():
        for length in lengths:
            rows.append({"process": 0, "name": name, "start_ns": clock, "end_ns": clock + length})
            clock += length + 10
    ranges = [
        {"process": 0, "domain": "MARKER", "name": f"step {n}", "start_ns": 10 * n, "end_ns": 10 * n + 5}
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


def test_a_slower_kernel_is_found(made: Made) -> None:
    answer = compare_runs([made(1), made(20, ("flash", 1.4))])
    changes = answer.changes(1).filter(pl.col("domain") == "KERNEL")
    assert changes.select("name", "status").rows() == [(FLASH, "slower")]
    assert changes["change"].item() == pytest.approx(0.4, abs=0.06)


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
    assert statuses(compare_runs([run_of({"k": [100]}), run_of({"k": [300]})])) == {"k": "unknown"}


def test_repeated_runs_show_what_repeated_calls_do_not() -> None:
    base, other = run_of({"k": around(1000, 400, 1)}), run_of({"k": around(1080, 400, 2)})
    assert statuses(compare_runs([base, other])) == {"k": "slower"}
    again = [[partial_compare(run_of({"k": around(mean, 400, mean)}))] for mean in (900, 1100, 950)]
    answer = combine_compare([[partial_compare(base)], [partial_compare(other)]], repeats=again)
    assert statuses(answer) == {"k": "same"}
    assert answer.repeat_count == 3


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
    said = "B against A: GPU time 1.001 ms -> 2.001 ms per run, +99.9 %; 1 slower (+1.000 ms)"
    assert answer.verdict(1) == said
    assert str(next(iter(comparison_report(answer)))) == said


@pytest.mark.parametrize(
    ("tail", "degrees", "bound"),
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
    row = paired.things.filter(pl.col("name") == "old").row(0, named=True)
    assert (row["status"], row["base_calls"], row["calls"]) == ("slower", 40, 40)
    assert row["change"] == pytest.approx(1, abs=0.15)
    assert "B: new was compared with old" in printed(paired)


def test_several_kernels_with_other_names_are_not_guessed() -> None:
    base, side = run_of({"a": [100] * 4, "b": [100] * 4}), run_of({"c": [100] * 4, "d": [100] * 4})
    forced = compare_runs([base, side], force=True)
    assert not forced.renamed
    assert not forced.may_be_renamed(1)


def printed(answer: RunComparison) -> str:
    return "\n".join(str(part) for part in comparison_report(answer))
