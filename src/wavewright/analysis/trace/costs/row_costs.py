"""Cost of each code row over all traced waves: hits, latency, stall and idle, and the part of it that nothing hid."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from wavewright import _core
from wavewright.analysis.trace.parts import Question, added, answers, ask
from wavewright.analysis.trace.selection import whole_of
from wavewright.model.answer import Answer, once_per_trace
from wavewright.model.schema import SAMPLE_COUNTS, packaged_spec
from wavewright.model.trace import ThreadTrace

_TOTALS = ("row", "hit_count", "latency_cycles_total", "stall_cycles_total", "idle_cycles_total")


def row_totals(trace: ThreadTrace) -> pl.DataFrame:
    """Totals of every code row that was executed, in row order.

    Columns: `row` (code.row), `hit_count` (executions), `latency_cycles_total` (sum of durations),
    `stall_cycles_total` (sum of stalls) and `idle_cycles_total` (sum of the gaps before its executions: from the
    latest end of the wave's earlier instructions, or the wave's start, to the first attempt to issue). Overlapping
    instructions have no gap. Instructions without a known PC have no row; as in AMD's writer they neither count nor
    end a gap.
    """
    return totals_and_maxima(trace).select(_TOTALS)


@once_per_trace
def totals_and_maxima(trace: ThreadTrace) -> pl.DataFrame:
    """The columns of `row_totals`, and the longest duration and stall (`latency_cycles_max`, `stall_cycles_max`)."""
    return added(answers(trace, totals_of_part), ["row"]).sort("row")


def totals_of_part(part: ThreadTrace, whole: ThreadTrace) -> pl.DataFrame:
    """Cost of each code row in a part (`parts`): the columns of `totals_and_maxima`."""
    return pl.DataFrame(_core.row_totals(part.instructions, part.waves, whole.code.height))


@once_per_trace
def entered_rows(trace: ThreadTrace) -> pl.DataFrame:
    """The code rows of every function in which at least one row was executed (PC sampling: was seen), in row order.

    Columns: `row`, `code_object`, `function`, `hit_count` (executions or samples; 0 = not executed). A code object
    holds more functions than a dispatch enters; those say nothing about it.
    """
    sampled = trace.samples.select("row", hit_count=pl.sum_horizontal(SAMPLE_COUNTS))
    executed = row_totals(trace).select("row", "hit_count")
    hits = pl.concat([executed, sampled]).group_by("row").agg(pl.col("hit_count").sum())
    rows = trace.code.select("row", "code_object", "function")
    rows = rows.join(hits, on="row", how="left", maintain_order="left").with_columns(pl.col("hit_count").fill_null(0))
    place = ["code_object", "function"]
    entered = rows.filter(pl.col("hit_count") > 0).select(place).unique()
    return rows.join(entered, on=place, how="semi", nulls_equal=True, maintain_order="left").sort("row")


ROW_COSTS = packaged_spec(__package__, "row_costs")
#: Columns of `ROW_COSTS` that are added up over rows: executions, cycles, and exposed cycles.
ROW_SUMS = tuple(
    name
    for name in ROW_COSTS.names
    if name == "hit_count" or (name.endswith("cycles_total") and not name.startswith("hidden_"))
)


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
    return (
        totals_and_maxima(trace)
        .join(hidden_latency(trace, amd=amd).by_row, on="row", how="left", maintain_order="left")
        .with_columns(pl.col(*hidden.values()).fill_null(0))
        .with_columns(**clamped)
        .with_columns((cycles[part] - pl.col(hidden[part])).clip(lower_bound=0).alias(exposed[part]) for part in cycles)
        .with_columns(exposed_cycles_total=pl.sum_horizontal(exposed.values()))
        .select(ROW_COSTS.names)
    )


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
    whole_trace, is_selected = whole_of(part)
    begins_as_matrix = pl.any_horizontal(pl.col("text").str.starts_with(prefix) for prefix in MATRIX_PREFIXES)
    is_matrix = whole_trace.code.select(begins_as_matrix.fill_null(value=False).cast(pl.UInt8)).to_series()
    waves = whole_trace.waves.select("wave", "se", "simd", "start_cycles").fill_null(0)
    return pl.DataFrame(
        _core.hidden_latency(
            whole_trace.instructions,
            waves,
            whole_trace.other_simd,
            is_matrix,
            None if is_selected is None else is_selected.cast(pl.UInt8),
            rule,
        )
    )


@dataclass(frozen=True)
class Activity(Answer, package=__package__):
    """All cycles of the executed instructions, split into three parts."""

    idle_cycles_total: int
    stall_cycles_total: int
    issue_cycles_total: int
    execution_count: int
    is_stored: bool  #: Whether the numbers are stored totals of a directory without instructions.

    @property
    def cycles_total(self) -> int:
        """Idle, stall and issue."""
        return self.idle_cycles_total + self.stall_cycles_total + self.issue_cycles_total

    @property
    def idle_share(self) -> float | None:
        """Idle of all cycles; None = there are no cycles."""
        return self.idle_cycles_total / self.cycles_total if self.cycles_total else None

    @property
    def stall_share(self) -> float | None:
        """Stall of all cycles."""
        return self.stall_cycles_total / self.cycles_total if self.cycles_total else None

    @property
    def issue_share(self) -> float | None:
        """Issue of all cycles."""
        return self.issue_cycles_total / self.cycles_total if self.cycles_total else None


def activity(trace: ThreadTrace) -> Activity:
    """Idle, stall and issue cycles of all traced waves."""
    is_stored = not trace.instructions.height and trace.stored_totals.height > 0
    totals = trace.stored_totals if is_stored else row_totals(trace)
    sums = {name: int(totals[name].sum()) for name in totals.columns if name != "row"}
    stall = sums["stall_cycles_total"]
    return Activity(
        idle_cycles_total=sums["idle_cycles_total"],
        stall_cycles_total=stall,
        issue_cycles_total=sums["latency_cycles_total"] - stall,
        execution_count=sums["hit_count"],
        is_stored=is_stored,
    )


def issue_share(trace: ThreadTrace) -> float | None:
    """Cycles in which instructions issue, of all cycles of their waves; None = there are none.

    Without `s_endpgm`: in some captures its duration contains the wait for the wave's stores.
    """
    totals = row_totals(trace).join(trace.code.select("row", "text"), on="row", how="left")
    issuing = totals.filter(~pl.col("text").fill_null("").str.starts_with("s_endpgm"))
    cycles = int(totals["latency_cycles_total"].sum()) + int(totals["idle_cycles_total"].sum())
    issued = int(issuing["latency_cycles_total"].sum()) - int(issuing["stall_cycles_total"].sum())
    return issued / cycles if cycles else None
