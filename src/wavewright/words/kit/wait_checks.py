"""Sentences about waits that are stricter than needed, and barriers that LDS writes in flight may reach."""

from __future__ import annotations

import polars as pl

from wavewright.base.words import counted


def strict_wait_words(strict_waits: pl.DataFrame) -> list[str]:
    """A sentence for each wait that is stricter than its loop needs: its columns in order are unpacked below."""
    return [
        f"row {row} waits for {counter}({value}), but the loop from row {first} "
        + (f"needs no wait for {counter} there" if enough is None else f"needs {counter}({enough}) only")
        + " while all other waits stay"
        for row, counter, value, enough, first in strict_waits.iter_rows()
    ]


def open_barrier_words(barriers: pl.DataFrame) -> list[str]:
    """A sentence for each barrier that LDS writes of the wave may reach before they are done."""
    return [
        f"the barrier in row {row} may be reached with {counted(count, 'LDS writes')} of the wave in flight, the latest"
        f" of row {write}: another wave may read behind the barrier before they land"
        for row, count, write in barriers.iter_rows()
    ]
