"""RPD files that were cut or changed: an error of ours, or an answer with losses; never anything else."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

import pytest

from tests.kit.made_rpd import ROWS, write_rpd_file
from tests.kit.sampling import every_third
from wavewright.errors import WavewrightError
from wavewright.export.run.chrome import write_chrome
from wavewright.readers.run.inputs import open_run

if TYPE_CHECKING:
    from pathlib import Path


def _survives(path: Path, out: Path) -> bool:
    """Whether the file was readable; its tables and its Chrome trace must then be whole."""
    try:
        run = open_run(path)
        tables = run.to_polars()
        write_chrome(run, out, force=True)
    except WavewrightError:
        return False
    assert (tables["dispatches"]["end_ns"] >= tables["dispatches"]["start_ns"]).all()
    assert json.loads(out.read_bytes())["traceEvents"] is not None
    return True


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.7, 0.9, 0.99])
def test_a_file_that_was_cut(tmp_path: Path, share: float) -> None:
    path = write_rpd_file(tmp_path / "made.rpd")
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    if _survives(path, tmp_path / "trace.json"):
        assert open_run(path).dispatches.height <= len(ROWS["rocpd_op"])


@pytest.mark.some_cases(3)
@pytest.mark.parametrize("seed", range(20))
def test_bytes_that_were_changed(tmp_path: Path, seed: int) -> None:
    path = write_rpd_file(tmp_path / "made.rpd")
    content, chance = bytearray(path.read_bytes()), random.Random(seed)
    for _ in range(1 + seed % 20):
        content[chance.randrange(100, len(content))] = chance.randrange(256)
    path.write_bytes(content)
    _survives(path, tmp_path / "trace.json")


_STRANGE: tuple[object, ...] = ("text", None, 2**63 - 1, -(2**63), 1.5, b"\xff\xfe")
_PLACES = [(place, value) for place in range(8) for value in _STRANGE if place or isinstance(value, int)]
"""(column, value); SQLite itself keeps row ids whole."""


@pytest.mark.first_case
@pytest.mark.parametrize("change", every_third(_PLACES))
def test_values_that_do_not_belong(tmp_path: Path, change: tuple[int, object]) -> None:
    """In every column of the work, one after the other."""
    place, value = change
    row = list(ROWS["rocpd_op"][0])
    row[place] = value
    path = write_rpd_file(tmp_path / "made.rpd", ROWS | {"rocpd_op": [*ROWS["rocpd_op"][1:], tuple(row)]})
    assert _survives(path, tmp_path / "trace.json")
    assert open_run(path).dispatches.height + open_run(path).copies.height == len(ROWS["rocpd_op"])
