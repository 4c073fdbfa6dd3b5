"""`wavewright waits`: its options."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from wavewright.cli.kit.trace import trace_verb

if TYPE_CHECKING:
    from wavewright.analysis.trace.waits import Waits
    from wavewright.cli.kit.request import Parts
    from wavewright.cli.kit.trace import TraceRequest


@trace_verb
@click.option(
    "--at", metavar="ROW|ADDRESS", help="Only the wait at this row, 0xADDRESS or handle (i0x1814), or the waits for it."
)
def command(request: TraceRequest, at: str | None) -> None:
    """Each wait with what it waited for, how far ahead that was issued, and how far would be enough."""
    from wavewright.analysis.trace.waits import waits

    answer = waits(request.require_instructions(), rows=request.rows)
    if at is not None:
        answer = _waits_at(request, answer, at)

    def report() -> Parts:
        from wavewright.words.trace.waits import waits_report

        return waits_report(answer, limit=request.limit)

    request.give(answer, answer.waits, request.with_code(report), request.trace.losses)


def _waits_at(request: TraceRequest, whole: Waits, at: str) -> Waits:
    """The wait at a place, and the waits for what is there."""
    import polars as pl

    from wavewright.analysis.trace.listing.places import rows_at
    from wavewright.analysis.trace.waits import waits

    rows = rows_at(request.trace.code, at)
    waiting = whole.producers.filter(pl.col("producer_row").is_in(rows))["row"].to_list()
    return waits(request.trace, rows=pl.Series("row", sorted({*rows, *waiting}), pl.Int32))
