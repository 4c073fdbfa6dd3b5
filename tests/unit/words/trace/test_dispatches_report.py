"""The table of dispatches: shares are of the instructions of their own row."""

from __future__ import annotations

import polars as pl

from wavewright.words.trace.input.dispatches import dispatch_table
from wavewright.writers.terminal.blocks import plain_text


def test_what_has_no_pc_is_a_share_of_the_instructions() -> None:
    rows = pl.DataFrame(
        {
            "key": ["1", "2"],
            "kernel": ["gemm", "copy"],
            "is_chosen": [True, False],
            "waves": [4, 0],
            "instructions": [2000, 0],
            "unresolved": [500, 0],
        }
    )
    lines = plain_text([dispatch_table(rows)], 100).splitlines()
    first, second = (line for line in lines if "gemm" in line or "copy" in line)
    assert first.split()[-1] == "%"
    assert "25.0 %" in first
    assert "0.0 %" in second
