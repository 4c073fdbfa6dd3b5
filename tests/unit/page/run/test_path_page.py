"""The critical path on an exported page: changes are those that the record can tell about."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from synth.runs import Host, Launch, Program, Rank, Synchronise, simulate, write_csv, write_kineto
from wavewright.errors import UsageError
from wavewright.model.document import Document
from wavewright.page.run.path import QUESTIONS, path_of_run, what_if_of_run
from wavewright.readers.opening import open as open_path

if TYPE_CHECKING:
    from pathlib import Path

    from synth.runs import Operation

ASKED = {question.name: question for question in QUESTIONS}
RARE: tuple[Operation, ...] = tuple(op for _ in range(9) for op in (Launch("gemm", 50_000), Host(400_000)))
FULL: tuple[Operation, ...] = (*(Launch("gemm", 50_000) for _ in range(9)), Synchronise())


def opened(folder: Path) -> Document:
    return Document(0, "run", str(folder), lambda: open_path(folder))


def test_usual_changes_are_answered(tmp_path: Path) -> None:
    run = simulate(Program((Rank((FULL,)),)))
    write_kineto(run, tmp_path / "calls")
    write_csv(run, tmp_path / "kernels")
    for name, count in (("calls", 3), ("kernels", 1)):
        document = opened(tmp_path / name)
        changes = list(ASKED["run_what_if"].held(document))
        assert len(changes) == count
        for change in changes:
            assert what_if_of_run(document, **change)["predictions"]["row_count"] == 1


def test_a_run_that_the_record_does_not_explain_has_no_changes(tmp_path: Path) -> None:
    write_csv(simulate(Program((Rank((RARE,)),))), tmp_path)
    document = opened(tmp_path)
    (evidence,) = path_of_run(document)["evidence"]
    assert "at least 50.0 % is needed" in evidence
    assert list(ASKED["run_what_if"].held(document)) == []
    with pytest.raises(UsageError, match="the record explains"):
        what_if_of_run(document, change="kernel=gemm:-20%")
