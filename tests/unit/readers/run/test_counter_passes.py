"""Passes of counters beside a run: they run its kernels again, and are no part of its time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from tests.kit.small_runs import small_source
from wavewright.export.run.rocpd import write_rocpd
from wavewright.model.run import MemorySource, Run
from wavewright.readers.run.inputs import find_runs, open_run

if TYPE_CHECKING:
    from pathlib import Path

_COUNTERS = ("counters", "counter_info")


def written(folder: Path, name: str, *, has_counters: bool) -> Path:
    """A database of a small run, with the counters of its dispatches or without."""
    source = small_source()
    tables = {key: frame for key, frame in source.tables.items() if has_counters or key not in _COUNTERS}
    write_rocpd(Run([MemorySource(name, "ROCpd", "3.0.3", tables)]), folder / name)
    return folder / name


def test_databases_with_counters_are_left_out_beside_a_run(tmp_path: Path) -> None:
    written(tmp_path, "run_results.db", has_counters=False)
    passes = [written(tmp_path, f"pmc_{number}_results.db", has_counters=True) for number in (1, 2)]
    run = open_run(tmp_path)
    assert run.dispatches.height == 20
    assert run.losses.filter(pl.col("kind") == "counter_passes").select("count").rows() == [(2,)]
    assert len(find_runs([tmp_path], with_passes=True)) == 3
    assert open_run(passes[0]).dispatches.height == 20
    assert len(find_runs([tmp_path / "run_results.db", passes[0]])) == 2, "what is named is read"


def test_passes_alone_are_what_there_is(tmp_path: Path) -> None:
    for number in (1, 2):
        written(tmp_path, f"pmc_{number}_results.db", has_counters=True)
    assert len(find_runs([tmp_path])) == 2
