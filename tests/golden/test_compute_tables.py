"""Every table that ROCm Compute Profiler 3.3 computes for a capture is reproduced under its rules, cell by cell."""

from __future__ import annotations

import csv
import math
from typing import TYPE_CHECKING

import pytest

from tests.conftest import SHARED
from wavewright.analysis.counters.engine.panels import counter_panels
from wavewright.export.counters.compute_csv import write_compute_csv
from wavewright.readers.counters import open_counters

if TYPE_CHECKING:
    from pathlib import Path

GOLDENS = SHARED / "golden" / "compute"
EXPECTED = sorted(folder.name for folder in (GOLDENS / "expected").iterdir()) if (GOLDENS / "expected").is_dir() else []


def cells(file: Path) -> list[list[str]]:
    with file.open(encoding="utf-8", newline="") as stream:
        return list(csv.reader(stream))


def is_same(ours: str, theirs: str, decimals: int) -> bool:
    """The same text, or numbers apart by no more than the last digit that is printed."""
    try:
        one, two = float(ours), float(theirs)
    except ValueError:
        return ours == theirs
    if not math.isfinite(two):
        return one == two
    return abs(one - two) <= 1.01 * 10**-decimals + 1e-9 * abs(two)


@pytest.mark.some_cases(3)
@pytest.mark.skipif(not EXPECTED, reason="../shared/golden/compute is not here")
@pytest.mark.parametrize("name", EXPECTED)
def test_tables_of_the_reference(name: str, tmp_path: Path) -> None:
    capture, kind, _ = name.rsplit(".", 2)
    decimals, normalization = (6, "kernel") if kind == "d6" else (4, kind.removeprefix("per_"))
    counters = open_counters(GOLDENS / "inputs" / capture.replace("-", "/", 1))
    answer = counter_panels(counters, amd=True, normalization=normalization)
    ours = tmp_path / "tables"
    written = write_compute_csv(answer, counters, ours)
    theirs = GOLDENS / "expected" / name
    assert sorted(file.name for file in written) == sorted(file.name for file in theirs.iterdir())
    wrong = []
    for file in written:
        mine, wanted = cells(file), cells(theirs / file.name)
        assert [len(row) for row in mine] == [len(row) for row in wanted], file.name
        wrong += [
            (file.name, mine[row][0], mine[0][column], one, two)
            for row, pair in enumerate(zip(mine, wanted, strict=True))
            for column, (one, two) in enumerate(zip(*pair, strict=True))
            if not is_same(one, two, decimals)
        ]
    assert not wrong
