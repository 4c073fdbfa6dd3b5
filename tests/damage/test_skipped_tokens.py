"""Tokens that cannot be used: by default they are skipped, with --amd the reading ends; the loss says both."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import wavewright

if TYPE_CHECKING:
    from pathlib import Path


def test_what_is_skipped_is_not_said_to_end_the_reading(shared: Path) -> None:
    data = bytearray((shared / "data/att-mi300x-bmm/c01/raw/28_5600_shader_engine_0_1.att").read_bytes())
    draw = random.Random(0)
    for _ in range(2000):
        data[draw.randrange(8, len(data))] ^= 1 << draw.randrange(8)
    ours, amd = (wavewright.open(bytes(data), amd=amd) for amd in (False, True))
    kinds = ("bad_slot", "stale_instruction")
    losses = {row["kind"]: row for row in ours.losses.iter_rows(named=True) if row["kind"] in kinds}
    assert losses.keys() == set(kinds)
    for row in losses.values():
        assert row["message"].endswith("it was skipped, or with --amd ended the reading")
    assert ours.instructions.height > 10 * amd.instructions.height > 0  # one read on, the other did not
