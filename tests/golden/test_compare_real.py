"""Public runs against each other: the difference adds up, a renamed kernel is one, ranks contradict nothing."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from tests.kit.opened import open_run
from wavewright.analysis.run.compare.compare import RunComparison, compare_runs
from wavewright.analysis.run.select.run_parts import parts_of


def adds_up(answer: RunComparison) -> bool:
    before, after = answer.sides["gpu_ns"]
    return bool(answer.parts["delta_ns"].sum() == after - before)


def database(shared: Path, capture: str) -> Path:
    return next((shared / "data/att-mi300x-bmm" / capture / "raw").glob("*_results.db"))


@pytest.mark.parametrize(
    ("before", "after", "renamed", "delta_ns", "is_faster"),
    [("c03", "c08", 1, -7_215_744, True), ("c08", "c09", 1, 311_163, False)],
)
def test_a_kernel_with_other_tiles_is_renamed(
    shared: Path, before: str, after: str, renamed: int, delta_ns: int, *, is_faster: bool
) -> None:
    answer = compare_runs([open_run(database(shared, name)) for name in (before, after)])
    assert len(answer.renamed) == renamed
    row = answer.things.filter(pl.col("status") == "renamed").row(0, named=True)
    assert (row["delta_ns"], row["base_calls"], row["calls"]) == (delta_ns, 150.0, 150.0)
    assert (row["change"] < -row["noise"]) == is_faster
    assert adds_up(answer)
    assert "1 renamed" in answer.verdict(1)


def test_another_library_is_no_renamed_kernel(shared: Path) -> None:
    """A handwritten kernel against one of ck_tile."""
    answer = compare_runs([open_run(database(shared, name)) for name in ("c01", "c03")])
    assert not answer.renamed
    assert answer.may_be_renamed(1)
    assert adds_up(answer)


def test_a_database_with_itself(shared: Path) -> None:
    run = open_run(database(shared, "c08"))
    assert compare_runs([run, run]).verdict(1) == "B against A: nothing differs"


@pytest.mark.slow
def test_one_rank_against_another(shared: Path) -> None:
    """NCCL waits for the other rank, so that its calls are too uneven to tell; its 17 ms are named all the same."""
    run = open_run(shared / "data/kineto-multirank-2of4/merged_ranks01.json.gz")
    answer = compare_runs([part.run for part in parts_of(run, "rank")])
    assert adds_up(answer)
    verdict = answer.verdict(1)
    assert "-20.463 ms (-17.7 %)" in verdict
    assert "the largest ncclDevKernel_Generic (-17.487 ms)" in verdict
    rest = answer.parts.filter(~pl.col("is_attributed"))["delta_ns"].sum()
    assert rest == pytest.approx(-20_460_696, abs=1_000)
    times = answer.sides.select("computation_ns", "communication_ns", "copy_ns", "idle_ns").sum_horizontal()
    assert times.to_list() == answer.sides["wall_ns"].to_list()


def test_copies_with_two_calls_cannot_tell(shared: Path) -> None:
    """Of matmul 85 % of the GPU time are two copies: against another run they are in the remainder, never the same."""
    runs = [open_run(shared / "data/rpd" / name) for name in ("matmul_result.rpd", "mytrace.rpd.gz")]
    answer = compare_runs(runs)
    assert adds_up(answer)
    copies = answer.things.filter(pl.col("name") == "CopyHostToDevice").row(0, named=True)
    assert copies["status"] == "cannot tell"
