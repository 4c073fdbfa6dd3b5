"""Costs of the code rows in a part of the trace: one wave, or a time window."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import polars as pl

from wavescope.analysis.trace.clocks import alignment
from wavescope.analysis.trace.costs.exposure import ROW_COSTS, row_costs
from wavescope.analysis.trace.selection import Selection, select
from wavescope.errors import UsageError
from wavescope.model.trace import ThreadTrace
from wavescope.page.protocol.doubles import doubles
from wavescope.page.protocol.question import Question, number, place
from wavescope.page.trace.times import aligned

if TYPE_CHECKING:
    from wavescope.page.protocol.document import Document


def wave_costs(document: Document, *, wave: int) -> pl.DataFrame:
    """Costs of one wave by row, as `costs` has them for all: what other waves of its SIMD hid is not exposed."""
    chosen = select(document.trace, Selection(waves=(wave,)))
    return doubles(row_costs(chosen))


def range_costs(document: Document, *, begin: float, end: float) -> pl.DataFrame:
    """Costs by row of the instructions whose first attempt to issue is in a window of aligned time."""
    trace = document.kept("on one clock", lambda: _on_one_clock(document.trace))
    try:
        chosen = select(trace, Selection(start_cycles=math.ceil(begin), end_cycles=math.ceil(end)))
        costs = row_costs(chosen)
    except UsageError:  # no wave was there then
        costs = pl.DataFrame(schema=ROW_COSTS.dtypes)
    return doubles(costs)


def _on_one_clock(trace: ThreadTrace) -> ThreadTrace:
    """The trace with instructions, waves and neighbours of every shader engine moved to the common clock."""
    if not any(alignment(trace).offsets.values()):
        return trace
    engine = trace.waves.select("wave", "se")
    instructions = trace.instructions.join(engine, on="wave", how="left", maintain_order="left")
    moved = {
        "waves": trace.waves.with_columns(aligned(trace, "start_cycles"), aligned(trace, "end_cycles")),
        "instructions": instructions.with_columns(aligned(trace, "time_cycles")).drop("se"),
        "other_simd": trace.other_simd.with_columns(aligned(trace, "time_cycles")),
    }
    shared = {name: trace.table(name) for name in ("code", "states", "shader_engines", "kernels")}
    return ThreadTrace(shared | moved, trace.source)


_RANGE = ("begin", "end")

QUESTIONS = (
    Question("wave_costs", "trace", wave_costs, {"wave": place}, ("wave",), lambda _: ()),
    Question("range_costs", "trace", range_costs, dict.fromkeys(_RANGE, number), _RANGE, lambda _: (), (_RANGE,)),
)
