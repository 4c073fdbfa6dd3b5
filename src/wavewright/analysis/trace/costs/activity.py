"""Time of the traced waves by activity: issue, stall or idle."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from wavewright.analysis.trace.costs.row_costs import row_totals
from wavewright.model.answer import Answer
from wavewright.model.trace import ThreadTrace


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
