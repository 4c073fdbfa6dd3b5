"""A source that keeps what was read gives the same answers, and reads each table once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl
import pytest

from synth.rocpd import write_rocpd_ranks
from synth.workload import Workload
from wavewright.analysis.run.contents.summary import summary
from wavewright.analysis.run.gpu_time.gaps import gaps
from wavewright.model import kept_source
from wavewright.model.kept_source import KeptSource, kept_run
from wavewright.model.run import Run
from wavewright.readers.run.inputs import open_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("run")
    write_rocpd_ranks(folder, Workload(dispatches=200, ranks=2, seed=4))
    return open_run(folder)


class _Counted:
    """A source that counts its reads."""

    def __init__(self, source: Any) -> None:
        self.source, self.reads = source, Counter[str]()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.source, name)

    def chunks(self, table: str, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        self.reads[table] += 1
        yield from self.source.chunks(table, columns)


def test_answers_are_the_same(run: Run) -> None:
    for question in (summary, gaps):
        expected, answer = question(run), question(kept_run(run))
        for name in expected.tables:
            assert getattr(answer, name).equals(getattr(expected, name), null_equal=True), name


@pytest.mark.slow
def test_tables_are_read_once(run: Run) -> None:
    counted = [_Counted(source) for source in run.origins]
    again = Run([KeptSource(source) for source in counted])  # type: ignore[arg-type]
    for _ in range(3):
        summary(again)
        gaps(again)
    assert {source.reads["dispatches"] for source in counted} == {1}


def test_columns_that_are_asked_for_later_are_there(run: Run) -> None:
    again = kept_run(run)
    for names in (["time_ns"], ["process", "time_ns"], None):
        assert again.read("samples", names).equals(run.read("samples", names), null_equal=True)


def test_long_tables_are_not_kept(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_source, "MOST_ROWS", 10)
    counted = [_Counted(source) for source in run.origins]
    again = Run([KeptSource(source) for source in counted])  # type: ignore[arg-type]
    for _ in range(2):
        assert again.read("dispatches", ["start_ns"]).equals(run.read("dispatches", ["start_ns"]))
    assert min(source.reads["dispatches"] for source in counted) > 1
