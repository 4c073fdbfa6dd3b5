"""Runs that say what cannot be: a path and slack come all the same, and cover the span."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

from synth.runs import DAMAGES, rank_missing, rank_twice, write_kineto, write_rocpd
from tests.kit.planted_runs import FORMS, opened, simulated
from tests.kit.sampling import covering
from wavewright.analysis.run.graph import Change, event_graph
from wavewright.analysis.run.graph.path import critical_path
from wavewright.readers.run.inputs import open_run

if TYPE_CHECKING:
    from pathlib import Path

    from wavewright.model.run import Run


def check(run: Run) -> None:
    """The stretches cover the span of each group; nothing is longer than it; no change changes nothing."""
    path = critical_path(run)
    for group, span in path.groups.select("group", "span_ns").iter_rows():
        segments = path.of_group(group, "segments")
        lengths = segments["end_ns"] - segments["start_ns"]
        assert lengths.sum() == span
        assert (lengths > 0).all()
        assert segments["start_ns"][1:].to_list() == segments["end_ns"][:-1].to_list()
    graph = event_graph(run)
    assert (graph.slack() >= 0).all()
    for prediction in graph.what_if(Change()):
        assert prediction.span_ns_min == prediction.span_ns_max == prediction.span_ns


@pytest.mark.first_case
@pytest.mark.parametrize(("damage", "form"), covering(DAMAGES, FORMS))
def test_damaged_run_has_a_path(tmp_path: Path, damage: str, form: str) -> None:
    run, _ = simulated("unoverlapped all-reduce", 1, 2)
    check(opened(DAMAGES[damage](run), tmp_path, form))


@pytest.mark.slow
def test_waits_for_events_that_are_recorded_later_end(tmp_path: Path) -> None:
    """In HIP they wait for nothing; `cuda_sync` events say outright that they waited for what came later."""
    run, _ = simulated("unoverlapped all-reduce", 1, 2)
    damaged = DAMAGES["waits in a circle"](run)
    write_kineto(damaged, tmp_path, is_cuda=True)
    check(open_run(tmp_path))
    assert critical_path(open_run(tmp_path)).groups["span_ns"].to_list() == [run.span_ns]


def test_clock_that_jumps_is_a_caveat(tmp_path: Path) -> None:
    run, _ = simulated("unoverlapped all-reduce", 3, 2)  # two nodes
    path = critical_path(opened(DAMAGES["clock jump"](run), tmp_path, "rocpd"))
    assert any("drift or jump" in caveat for caveat in path.caveats)


def test_run_without_launches_says_so(tmp_path: Path) -> None:
    run, _ = simulated("readbacks", 1, 2)
    path = critical_path(opened(run, tmp_path, "csv"))
    assert any("is not recorded" in caveat for caveat in path.caveats)
    assert "host" not in set(path.classes["class"])


@pytest.mark.slow
def test_missing_rank_leaves_a_path_over_the_others(tmp_path: Path) -> None:
    run, _ = simulated("straggler", 0, 4)
    write_rocpd(run, tmp_path)
    rank_missing(tmp_path)
    read = open_run(tmp_path)
    check(read)
    assert critical_path(read).groups["process_count"].to_list() == [3]


@pytest.mark.slow
def test_rank_that_is_there_twice_changes_nothing(tmp_path: Path) -> None:
    run, _ = simulated("straggler", 0, 2)
    write_kineto(run, tmp_path / "once")
    write_kineto(run, tmp_path / "twice")
    rank_twice(tmp_path / "twice")
    check(open_run(tmp_path / "twice"))
    once, twice = (critical_path(open_run(tmp_path / name)) for name in ("once", "twice"))
    columns = ("class", "path_ns")
    rows = twice.of_group(twice.groups.filter(pl.col("process_count") > 1)["group"][0], "classes").select(columns)
    assert rows.rows() == once.classes.select(columns).rows()
