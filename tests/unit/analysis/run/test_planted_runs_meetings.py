"""Collectives of simulated ranks: which belong together, who was last, how long each waited, and how clocks stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

from synth.runs import DAMAGES, rank_missing, rank_twice, write_kineto, write_rocpd
from tests.kit.planted_runs import FORMS, opened, simulated
from tests.kit.sampling import covering
from wavewright.analysis.run.collectives.meetings import clock_offsets, collective_rows, matched
from wavewright.readers.run.inputs import open_run

if TYPE_CHECKING:
    from pathlib import Path

    from synth.runs import SimulatedRun
    from wavewright.model.run import Run


def meetings_of(run: Run) -> pl.DataFrame:
    """Matched rows on the clock of the reference, with the last start of each meeting."""
    rows = matched(collective_rows(run).with_columns(part=pl.lit(0, pl.UInt32)))
    offsets = clock_offsets(rows).table.select("process", "offset_ns")
    rows = rows.join(offsets, on="process", how="left").with_columns(pl.col("start_ns") + pl.col("offset_ns"))
    return rows.with_columns(wait_ns=pl.col("start_ns").max().over("meeting") - pl.col("start_ns"))


def truth_of(run: SimulatedRun) -> list[dict[int, int]]:
    """Waits of the ranks in each meeting, in the order of time."""
    return [meeting.waits_ns for meeting in sorted(run.meetings, key=lambda meeting: meeting.end_ns)]


def waits_of(rows: pl.DataFrame) -> list[dict[int, int]]:
    groups = rows.drop_nulls("meeting").sort("meeting").partition_by("meeting", maintain_order=True)
    return [dict(group.select("rank", "wait_ns").iter_rows()) for group in groups]


@pytest.mark.first_case
@pytest.mark.parametrize("form", ["rocpd", "kineto"])
@pytest.mark.parametrize("seed", [0, 3])  # seed 3: two nodes whose clocks differ
def test_waits_are_exact(tmp_path: Path, form: str, seed: int) -> None:
    run, _ = simulated("straggler", seed, ranks=4)
    assert waits_of(meetings_of(opened(run, tmp_path, form))) == truth_of(run)


def test_waits_are_exact_without_numbers(tmp_path: Path) -> None:
    run, _ = simulated("straggler", 3, ranks=4)
    write_kineto(run, tmp_path, with_sequence=False)
    assert waits_of(meetings_of(open_run(tmp_path))) == truth_of(run)


def test_offsets_of_clocks_are_those_of_the_nodes(tmp_path: Path) -> None:
    run, _ = simulated("straggler", 4, ranks=4)
    rows = matched(collective_rows(opened(run, tmp_path, "rocpd")).with_columns(part=pl.lit(0, pl.UInt32)))
    table = clock_offsets(rows).table
    shift = run.program.clock_shifts_ns[1] - run.program.clock_shifts_ns[0]
    assert sorted(set(table["offset_ns"])) in (sorted({0, -shift}), sorted({0, shift}))
    assert table["residual_ns"].to_list() == [0] * 4


def test_rank_that_is_missing_leaves_the_waits_of_the_others(tmp_path: Path) -> None:
    run, _ = simulated("straggler", 0, ranks=4)
    write_rocpd(run, tmp_path)
    rank_missing(tmp_path)
    waits = waits_of(meetings_of(open_run(tmp_path)))
    without = []
    for meeting in sorted(run.meetings, key=lambda meeting: meeting.end_ns):
        last = max(start for rank, start in meeting.starts_ns.items() if rank != 3)
        without.append({rank: last - start for rank, start in meeting.starts_ns.items() if rank != 3})
    assert waits == without


@pytest.mark.slow
def test_rank_that_is_there_twice_counts_once(tmp_path: Path) -> None:
    run, _ = simulated("straggler", 0, ranks=4)
    write_kineto(run, tmp_path)
    rank_twice(tmp_path)
    rows = meetings_of(open_run(tmp_path))
    assert waits_of(rows) == truth_of(run)
    assert set(rows.filter(pl.col("meeting").is_null())["mismatch"]) == {"twice"}


def test_collectives_that_one_rank_lacks_shift_no_other(tmp_path: Path) -> None:
    run, _ = simulated("straggler", 0, ranks=4)
    rows = meetings_of(opened(DAMAGES["fewer collectives"](run), tmp_path, "kineto"))
    waits = {tuple(sorted(waits.items())) for waits in waits_of(rows) if len(waits) == 4}
    assert waits == {tuple(sorted(waits.items())) for waits in truth_of(run)[2:]}


@pytest.mark.first_case
@pytest.mark.parametrize(("damage", "form"), covering(DAMAGES, FORMS))
def test_damaged_runs_match_or_do_not(tmp_path: Path, damage: str, form: str) -> None:
    run, _ = simulated("unoverlapped all-reduce", 1, ranks=2)
    rows = meetings_of(opened(DAMAGES[damage](run), tmp_path, form))
    assert rows.filter(pl.col("meeting").is_not_null()).group_by("meeting").len()["len"].max() in (None, 2)
    assert rows.height <= len([work for work in run.works if work.kind == "communication"])
