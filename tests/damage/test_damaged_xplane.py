"""XPlane files that were cut or changed: an error of ours, or an answer with losses; never anything else."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from synth.xplane import small_xspace
from wavewright.errors import WavewrightError
from wavewright.readers.run.inputs import open_run

if TYPE_CHECKING:
    from pathlib import Path


def _survives(path: Path, content: bytes) -> bool:
    path.write_bytes(content)
    try:
        tables = open_run(path).to_polars()
    except WavewrightError:
        return False
    for name in ("dispatches", "copies", "regions", "allocations"):
        assert (tables[name]["end_ns"] >= tables[name]["start_ns"]).all()
    return True


@pytest.mark.slow
def test_cut_anywhere(tmp_path: Path) -> None:
    content = small_xspace()
    readable = [_survives(tmp_path / "a.xplane.pb", content[:end]) for end in range(7, len(content), 7)]
    assert readable.count(True) >= len(readable) - 3


def test_a_cut_is_a_loss(tmp_path: Path) -> None:
    path = tmp_path / "a.xplane.pb"
    path.write_bytes(small_xspace()[:300])
    run = open_run(path)
    assert run.losses["kind"].to_list() == ["malformed_events"]


@pytest.mark.some_cases(19)
@pytest.mark.parametrize("seed", range(40))
def test_bytes_that_were_changed(tmp_path: Path, seed: int) -> None:
    content, chance = bytearray(small_xspace()), random.Random(seed)
    for _ in range(1 + seed % 20):
        content[chance.randrange(len(content))] = chance.randrange(256)
    _survives(tmp_path / "a.xplane.pb", bytes(content))
