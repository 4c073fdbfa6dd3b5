"""Executions among the records of a thread trace: the two records of a gfx9 barrier are one execution."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

MESSAGE = 11  #: `instructions.category` of messages; the arrival at a gfx9 barrier is recorded as one.


def is_execution() -> pl.Expr:
    """False for records that belong to the execution before them: the release of a gfx9 `s_barrier` after its arrival.

    For the table `instructions` in its own order. No other row follows itself within a wave as a message and then as
    something else: a message that is sent again comes after a branch (spec_gfx9 6.5).
    """
    import polars as pl

    same = pl.all_horizontal((pl.col(name) == pl.col(name).shift(1)) for name in ("wave", "row"))
    is_message = pl.col("category") == MESSAGE
    return ~(same & (pl.col("row") >= 0) & ~is_message & is_message.shift(1)).fill_null(value=False)


def attempt_cycles() -> pl.Expr:
    """Time of the first attempt to issue the execution that a record of `instructions` belongs to.

    What lies in a window of time is decided by it: both records of a barrier lie where the first one does.
    """
    import polars as pl

    return pl.when(is_execution()).then("time_cycles").otherwise(pl.col("time_cycles").shift(1)).alias("time_cycles")
