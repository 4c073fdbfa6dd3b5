"""The table of dispatches: shares are of the instructions of their own row."""

from __future__ import annotations

import polars as pl

from wavewright.words.trace.input.dispatches import chosen_line, dispatch_table
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


def test_nothing_is_said_of_a_dispatch_that_could_not_be_read() -> None:
    rows = pl.DataFrame({"key": ["1", "2", "3"], "kernel": ["gemm", "copy", None], "is_chosen": [False, True, False]})
    assert (
        plain_text(chosen_line(rows), 100)
        == "Showing dispatch 2 (copy). 2 more dispatches here; use --dispatch or --kernel\n"
    )
    assert list(chosen_line(rows.filter(~pl.col("is_chosen")))) == []
