"""Ends of real captures: whole ones lose nothing there, and a cut one says so.

A stream has no last token by definition, so some cuts leave no trace: those behind the stop of the trace, and those in
front of its first wave, where a flush looks like the end of an empty trace. The cuts tried here leave whole blocks of
32 bytes; all others are told by their length.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from tests.golden import oracle
from wavewright import _core
from wavewright.model.losses import CORE_LOSSES

BLOCK_BYTES = 32
BEHIND_THE_STOP = 192  # a clock and another flush follow the flush that ends the waves
AT_THE_END = {"truncated_token", "missing_end", "unended_waves"}

MI300X = sorted((oracle.SHARED / "data" / "att-mi300x-bmm").glob("*/raw/*.att"))
OTHERS = {name: sorted((oracle.GOLDEN / name).glob("*/*.att")) for name in ("gfx950", "gfx1100", "gfx1200")}
WHOLE = [*MI300X, *(path for paths in OTHERS.values() for path in paths)]

pytestmark = pytest.mark.skipif(not WHOLE, reason="../shared has no captures")


def decoded(data: list[bytes]) -> list[_core.Records]:
    return _core.decode(data, _core.Program(), threads=1)


def told(records: _core.Records) -> set[str]:
    kinds = pl.DataFrame(_core.tables(records)["losses"])["kind"]
    return {CORE_LOSSES[kind] for kind in kinds} & AT_THE_END


def rows(records: _core.Records) -> dict[str, int]:
    return {name: pl.DataFrame(table).height for name, table in _core.tables(records).items() if name != "losses"}


def silent_cuts(path: Path, last_bytes: int) -> list[int]:
    """Bytes that can be cut off in whole blocks so that rows are missing and no loss says so."""
    whole = path.read_bytes()
    expected = rows(decoded([whole])[0])
    cuts = [cut for cut in range(BLOCK_BYTES, last_bytes, BLOCK_BYTES) if len(whole) - cut > BLOCK_BYTES]
    found = decoded([whole[:-cut] for cut in cuts])
    return [cut for cut, records in zip(cuts, found, strict=True) if rows(records) != expected and not told(records)]


def test_no_whole_capture_loses_anything_at_its_end() -> None:
    found = decoded([path.read_bytes() for path in WHOLE])
    assert {str(path): told(records) for path, records in zip(WHOLE, found, strict=True) if told(records)} == {}


@pytest.mark.skipif(not MI300X, reason="../shared/data is not here")
def test_a_capture_cut_by_512_bytes_says_so() -> None:
    whole = MI300X[0].read_bytes()
    records = decoded([whole[:103_496]])[0]
    assert told(records) == {"missing_end", "unended_waves"}
    losses = pl.DataFrame(_core.tables(records)["losses"]).filter(pl.col("kind") == 13)
    assert losses.select("count", "byte_offset").rows() == [(30, 103_496)]


@pytest.mark.skipif(not MI300X, reason="../shared/data is not here")
def test_blocks_cut_off_an_mi300x_capture_are_missed() -> None:
    assert [cut for cut in silent_cuts(MI300X[0], 2048) if cut > BEHIND_THE_STOP] == []


@pytest.mark.parametrize(("name", "behind_the_stop"), [("gfx1100", 160), ("gfx1200", 0)])
def test_blocks_cut_off_an_rdna_capture_are_missed(name: str, behind_the_stop: int) -> None:
    for path in OTHERS[name][::6]:
        assert [cut for cut in silent_cuts(path, 1024) if cut > behind_the_stop] == []


@pytest.mark.slow
@pytest.mark.parametrize("path", MI300X, ids=lambda path: path.name)
def test_every_cut_behind_the_first_wave_is_missed(path: Path) -> None:
    whole = path.read_bytes()
    first = next(
        size
        for size in range(8 + BLOCK_BYTES, len(whole), BLOCK_BYTES)
        if rows(decoded([whole[:size]])[0])["occupancy"]
    )
    assert [cut for cut in silent_cuts(path, len(whole) - first) if cut > BEHIND_THE_STOP] == []
