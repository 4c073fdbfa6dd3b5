"""The table of dispatches: shares are of the instructions of their own row."""

from __future__ import annotations

import io

import polars as pl
from rich.console import Console

from wavewright.words.trace.dispatches import dispatch_table


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
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(dispatch_table(rows, width=100))
    first, second = (line for line in console.export_text().splitlines() if "gemm" in line or "copy" in line)
    assert first.split()[-1] == "%"
    assert "25.0 %" in first
    assert "0.0 %" in second
