"""Time of a row that was hidden by other work on its SIMD."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from wavewright import _core
from wavewright.analysis.trace.parts import added, answers
from wavewright.analysis.trace.selection import whole_of
from wavewright.model.answer import Answer, once_per_trace
from wavewright.model.trace import ThreadTrace

_AMD = "reference"  #: The core's name of the rule of AMD's viewer.
MATRIX_PREFIXES = ("v_mfma", "v_smfma", "v_wmma", "v_swmma")  #: Start of the texts of matrix instructions.


@dataclass(frozen=True)
class HiddenLatency(Answer, package=__package__):
    """Hidden cycles of every executed code row."""

    amd: bool  #: Whether AMD's rule was applied.
    hidden_idle_cycles_total: int
    hidden_stall_cycles_total: int
    hidden_issue_cycles_total: int
    by_row: pl.DataFrame


@once_per_trace
def hidden_latency(trace: ThreadTrace, *, amd: bool | None = None) -> HiddenLatency:
    """Hidden gap, stall and issue cycles of every executed code row.

    All waves of a SIMD keep its pipes busy, also those that a selection left out. See
    docs/explanation/hidden-latency.md. `amd`: by the rule of AMD's viewer; None = as the trace was opened.
    """
    rule = hiding_rule(trace, amd=amd)
    by_row = added(answers(trace, hidden_in_part, rule), ["row"]).sort("row")
    idle, stall, issue = by_row.select(pl.exclude("row").sum()).row(0)
    return HiddenLatency(rule == _AMD, idle, stall, issue, by_row)


def hiding_rule(trace: ThreadTrace, *, amd: bool | None) -> str:
    """The core's name of the rule; `amd` None = as the trace was opened."""
    return _AMD if (trace.source.amd if amd is None else amd) else "corrected"


def hidden_in_part(part: ThreadTrace, _: ThreadTrace, rule: str) -> pl.DataFrame:
    """Hidden cycles of every code row executed in a part (`parts`): a SIMD belongs to one shader engine."""
    whole, is_selected = whole_of(part)
    begins_as_matrix = pl.any_horizontal(pl.col("text").str.starts_with(prefix) for prefix in MATRIX_PREFIXES)
    is_matrix = whole.code.select(begins_as_matrix.fill_null(value=False).cast(pl.UInt8)).to_series()
    waves = whole.waves.select("wave", "se", "simd", "start_cycles").fill_null(0)
    return pl.DataFrame(
        _core.hidden_latency(
            whole.instructions,
            waves,
            whole.other_simd,
            is_matrix,
            None if is_selected is None else is_selected.cast(pl.UInt8),
            rule,
        )
    )
