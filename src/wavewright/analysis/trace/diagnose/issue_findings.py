"""The finding that SIMDs issue most of the time: fewer instructions are the answer, not shorter waits."""

from __future__ import annotations

import polars as pl

from wavewright.analysis.trace.costs.row_costs import row_costs
from wavewright.analysis.trace.diagnose.finding import Remedy, StallFinding, other_evidence
from wavewright.analysis.trace.diagnose.gpu_fill import Filling
from wavewright.analysis.trace.diagnose.remedies import CaptureFacts, general_remedy
from wavewright.analysis.trace.pipes import matrix_rows, pipe_cycles_of_rows
from wavewright.analysis.trace.pipes.utilization import utilization
from wavewright.analysis.trace.waits.wait_producers import free_wait_cycles
from wavewright.base.words import percent
from wavewright.facts.stall_classes import ISSUE_WORDS, IssueWords
from wavewright.model.trace import ThreadTrace

ISSUE_BOUND = "instructions"  #: Kind of the finding.
_MOST_OF_THE_TIME = 0.5  #: No other part of the time can be larger than one that is more than half of it.
_EVIDENCE_ROWS = 5
#: Classes of instructions that go through no pipe, or through that of branches.
_NO_PIPE = ("wait", "nop", "sleep", "delay", "barrier", "barrier_wait", "barrier_signal", "branch", "end")


def issue_finding(
    trace: ThreadTrace, residency: Filling, capture: CaptureFacts, memory_share: float
) -> StallFinding | None:
    """The pipe with most of the issues, where SIMDs issue instructions more than half of the time; None = they do not.

    Waits, padding and matrix instructions are no reason: other findings are about them. Nor is the time that they issue
    the bound where the memory is certainly used for more of it: `memory_share`, of what copies reach.
    """
    use = utilization(trace)
    span = int(use.bubbles["span_cycles_total"].sum())
    share = int(use.bubbles["issue_cycles_total"].sum()) / span if span else 0.0
    is_work = pl.col("pipe").is_in(list(ISSUE_WORDS))
    other_share = float(use.pipes.filter(~is_work)["issue_share"].sum())  # waits and padding; matrix has a roof
    pipes = use.pipes.filter(is_work).sort("issue_share", "pipe", descending=True)
    of_work = (share - other_share) * (1 - residency.empty_simd_share)
    if of_work <= max(_MOST_OF_THE_TIME, memory_share) or not pipes.height:
        return None
    pipe, pipe_share, count = pipes.select("pipe", "issue_share", "issue_count").row(0)
    words = ISSUE_WORDS[pipe]
    remedy = general_remedy(words.instructions, words.remedy, capture)
    rows = _issue_rows(trace, words)
    return StallFinding(
        name=words.instructions,
        kind=ISSUE_BOUND,
        verdict=f"Bound by issue: SIMDs issue {percent(share, 0)} of their time, {words.instructions} alone "
        f"{percent(pipe_share, 0)}",
        reason=f"the traced SIMDs issue {count:,} {words.instructions}; shorter waits can only gain the time in which "
        "nothing issues",
        remedy=remedy,
        remedies=(Remedy("", remedy, tuple(rows["row"])),),
        evidence=tuple(other_evidence(rows.head(_EVIDENCE_ROWS))),
        row_count=rows.height,
        gain_share_max=pipe_share,
        confidence="high",
        confidence_reason="issue cycles of all traced instructions; how many of them the work needs is not known",
    )


def _issue_rows(trace: ThreadTrace, words: IssueWords) -> pl.DataFrame:
    """Rows of a pipe with the cycles that they take it, most first."""
    code = trace.code.sort("row")
    cycles = pipe_cycles_of_rows(trace)
    text, is_matrix = pl.col("text").fill_null(""), matrix_rows(code)
    is_of_pipe = pl.any_horizontal(text.str.starts_with(prefix) for prefix in words.prefixes)
    rows = code.with_columns(each=pl.when(cycles > 0).then(cycles).otherwise(free_wait_cycles(trace))).filter(
        is_of_pipe & ~is_matrix & ~pl.col("class").is_in(_NO_PIPE)
    )
    counts = rows.join(row_costs(trace).select("row", "hit_count"), on="row").filter(pl.col("hit_count") > 0)
    by_cycles = counts.with_columns(cycles=pl.col("hit_count") * pl.col("each"))
    return by_cycles.sort("cycles", "row", descending=[True, False])
