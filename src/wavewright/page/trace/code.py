"""The static instructions, and what each of them cost, over all waves or in one."""

from __future__ import annotations

import polars as pl

from wavewright.analysis.trace.code.live import live_rows
from wavewright.analysis.trace.costs.row_costs import row_costs
from wavewright.analysis.trace.selection import Selection, select
from wavewright.model.document import Document
from wavewright.page.protocol.question import PageQuestion, no_answers
from wavewright.page.protocol.serialize import doubles
from wavewright.questions.kit.parameters import place

#: Columns of the code table that the page shows in no view.
_UNSENT = ("reads", "tied", "access")


def code(document: Document) -> pl.DataFrame:
    """The code rows, in row order; addresses as text, because JavaScript's integers end at 2**53.

    All vector instructions read EXEC and MODE: `implicit_reads` leaves these out, so that the rare ones can be seen.
    """
    rows = document.trace.code.sort("row").drop(_UNSENT)
    addresses = [None if value is None else hex(value) for value in rows["address"]]
    return rows.with_columns(
        pl.Series("address", addresses, pl.String), pl.col("code_object").cast(pl.String), implicit_reads=_rare_reads()
    )


def _rare_reads() -> pl.Expr:
    registers = pl.col("implicit_reads").str.replace(r"\bmode\b ?", "")
    others = registers.str.replace(r"\bexec(_lo)?\b ?", "")
    return pl.when(pl.col("mnemonic").str.starts_with("s_")).then(registers).otherwise(others).str.strip_chars_end()


def costs(document: Document) -> pl.DataFrame:
    """Hits, latency, stall, idle, hidden and exposed cycles of every executed row, over all waves."""
    return doubles(row_costs(document.trace))


def live_registers(document: Document) -> pl.DataFrame:
    """Live registers of the rows that kernels can reach, and the waves that fit with them."""
    return doubles(live_rows(document.trace))


def wave_costs(document: Document, *, wave: int) -> pl.DataFrame:
    """The columns of `costs` for one wave: cycles that other waves of its SIMD hid do not count as exposed."""
    return doubles(row_costs(select(document.trace, Selection(waves=(wave,)))))


QUESTIONS = (
    PageQuestion("code", code),
    PageQuestion("costs", costs, is_of_time=True),
    PageQuestion("live_registers", live_registers),
    PageQuestion("wave_costs", wave_costs, {"wave": place}, required=("wave",), exported=no_answers),
)
