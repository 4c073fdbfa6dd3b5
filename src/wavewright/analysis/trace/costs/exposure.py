"""Cost of each code row, and the part of it that nothing hid."""

from __future__ import annotations

import polars as pl

from wavewright.analysis.trace.costs.hidden_latency import hidden_in_part, hidden_latency, hiding_rule
from wavewright.analysis.trace.costs.row_totals import row_maxima, row_totals, totals_of_part
from wavewright.analysis.trace.parts import Question, ask
from wavewright.model.answer import once_per_trace
from wavewright.model.schema import packaged_spec
from wavewright.model.trace import ThreadTrace

ROW_COSTS = packaged_spec(__package__, "row_costs")


def cost_questions(trace: ThreadTrace, *, amd: bool | None = None) -> list[Question]:
    """Per-part questions of `row_costs` (`parts`)."""
    return [(totals_of_part,), (hidden_in_part, hiding_rule(trace, amd=amd))]


@once_per_trace
def row_costs(trace: ThreadTrace, *, amd: bool | None = None) -> pl.DataFrame:
    """Totals of every executed code row with their hidden and exposed parts (`ROW_COSTS`), in row order.

    `amd` as in `hidden_latency`. Hidden parts are clamped to the row's own cycles, so that exposed ones are never
    negative.
    """
    cycles = {
        "idle": pl.col("idle_cycles_total"),
        "stall": pl.col("stall_cycles_total"),
        "issue": pl.col("latency_cycles_total") - pl.col("stall_cycles_total"),
    }
    hidden = {part: f"hidden_{part}_cycles_total" for part in cycles}
    exposed = {part: f"exposed_{part}_cycles_total" for part in cycles}
    clamped = {name: pl.min_horizontal(name, cycles[part].clip(lower_bound=0)) for part, name in hidden.items()}
    ask(trace, cost_questions(trace, amd=amd))
    totals = row_totals(trace).join(row_maxima(trace), on="row", maintain_order="left")
    return (
        totals.join(hidden_latency(trace, amd=amd).by_row, on="row", how="left", maintain_order="left")
        .with_columns(pl.col(*hidden.values()).fill_null(0))
        .with_columns(**clamped)
        .with_columns((cycles[part] - pl.col(hidden[part])).clip(lower_bound=0).alias(exposed[part]) for part in cycles)
        .with_columns(exposed_cycles_total=pl.sum_horizontal(exposed.values()))
        .select(ROW_COSTS.names)
    )
