"""Ownership of time: where several rules claim the same idle or exposed time, one finding promises it.

`settle` takes the candidates of all rules and returns them with their bounds, which add up to no more than the time
that there is. Time is in *cells* (rows of `Account.idle` and `.exposed`); a cell belongs to the first rule in the order
of `OWNERS` that claims it. A candidate *within* another is a part of it, and owns nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import polars as pl

from wavewright.facts.run_rules import OWNERS, RULES
from wavewright.model.findings import PlaceEvidence

NOTHING = pl.lit(value=False)
_IN_STEP_MAX = 1.05  #: GPUs are in step where the last takes at most so many times the mean.
_SHARE_MIN = 0.01  #: Less than this share of the window is not worth a finding of its own.


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A possible finding of a rule, before time is given to owners. Times are means of the GPUs."""

    rule: str
    time_ns: float
    cause: str
    title: str = ""  #: Instead of that of the rule.
    value: float | None = None  #: What its threshold is compared with; None = the share of the window that its time is.
    claim: pl.Expr = NOTHING  #: Cells of idle time.
    takes: pl.Expr = NOTHING  #: Cells of exposed communication and copies.
    extra_ns: float = 0.0  #: A bound beyond these cells: time of kernels.
    fixed_ns: float | None = None  #: The bound itself, where it is not the sum of cells.
    rest_ns: float = 0.0  #: At most so much of what nobody else owns.
    evidence: tuple[PlaceEvidence, ...] = ()
    case_count: int = 0
    confidence: str = ""  #: Instead of that of the rule, with its reason.
    confidence_reason: str = ""
    rules: tuple[str, ...] = ()  #: Rules that it stands for beside its own.
    within: str = ""  #: The rule that owns its time.
    kernel: str = ""  #: For the next command.
    remedies: tuple[str, ...] = ()  #: Instead of those of the rule.
    least: float | None = None  #: Share of the window that it must own, instead of the threshold of its rule.

    @property
    def order(self) -> int:
        """Its place among owners."""
        return OWNERS.index(self.rule) if self.rule in OWNERS else len(OWNERS)


@dataclass(frozen=True)
class Settled:
    """A candidate with its bounds."""

    candidate: Candidate
    alone_ns: float  #: At most so much shorter if only its cause vanishes.
    owned_ns: float  #: The part of it that no owner before it promises.


@dataclass(frozen=True, eq=False, repr=False)
class Account:
    """The time that findings may promise."""

    idle: pl.DataFrame  #: Cells of idle time with `part`, `place`, `segment` and `time_ns`.
    exposed: pl.DataFrame  #: Cells of exposed time, likewise.
    gpu_count: int
    #: Whether the segments of all GPUs lie between the same collectives: the slowest GPU of each sets the time.
    is_aligned: bool
    window_ns: float
    computation_ns: float
    limit_ns: float  #: All promises of idle and exposed time together: window - computation.

    def time_of(self, idle: pl.DataFrame, exposed: pl.DataFrame) -> float:
        """The mean time of these cells over the GPUs.

        Where all GPUs take about as long between two collectives, it is the longest of each: the last GPU sets the
        time.
        """
        cells = pl.concat(frame.select("part", "place", "segment", "time_ns") for frame in (idle, exposed))
        mean = float(cells["time_ns"].sum()) / max(1, self.gpu_count)
        if not self.is_aligned:
            return mean
        of_gpus = cells.group_by("part", "place", "segment").agg(pl.col("time_ns").sum())
        of_last = float(of_gpus.group_by("segment").agg(pl.col("time_ns").max())["time_ns"].sum())
        return of_last if of_last <= _IN_STEP_MAX * mean else mean


def settle(candidates: Sequence[Candidate], account: Account) -> list[Settled]:
    """The candidates with their bounds, largest first, without those whose time others own.

    A candidate that owns less than its threshold is dropped, weakest first, and the others are settled again.
    """
    remaining = list(candidates)
    while True:
        settled = _limited(_assigned(remaining, account), account)
        weak = [row for row in settled if not _is_enough(row, account)]
        if not weak:
            return _in_order(_nested(settled))
        weakest = min(weak, key=lambda row: (row.owned_ns, -row.candidate.order)).candidate
        remaining.remove(weakest)
        remaining = [candidate for candidate in remaining if candidate.within != weakest.rule]


def _nested(settled: list[Settled]) -> list[Settled]:
    """A finding within another promises no more than that one."""
    bounds = {row.candidate.rule: row.owned_ns for row in settled}
    limits = [bounds.get(row.candidate.within, row.alone_ns) for row in settled]
    return [replace(row, alone_ns=min(row.alone_ns, limit)) for row, limit in zip(settled, limits, strict=True)]


def _in_order(settled: list[Settled]) -> list[Settled]:
    """The largest bound first; a finding within another directly below it."""
    owners = [row for row in settled if not row.candidate.within]
    owners.sort(key=lambda row: (-row.owned_ns, row.candidate.order))
    inside: dict[str, list[Settled]] = {owner.candidate.rule: [] for owner in owners}
    for row in settled:
        if row.candidate.within in inside:
            inside[row.candidate.within].append(row)
    return [row for owner in owners for row in (owner, *inside[owner.candidate.rule])]


def _is_enough(settled: Settled, account: Account) -> bool:
    """True if a candidate owns enough time for a finding, or is part of another one."""
    rule = RULES[settled.candidate.rule]
    if settled.candidate.within:
        return True
    share_min = rule.say or _SHARE_MIN
    if rule.unit != "share" or rule.kind == "kernels":  # its threshold is not a share of the window
        share_min = min(share_min, _SHARE_MIN)
    if settled.candidate.least is not None:
        share_min = settled.candidate.least
    return settled.owned_ns >= share_min * account.window_ns


def _assigned(candidates: Sequence[Candidate], account: Account) -> list[Settled]:
    """The candidates with their bounds: cells of time belong to the first owner that claims them."""
    idle = account.idle.with_columns(is_free=pl.lit(value=True))
    exposed = account.exposed.with_columns(is_free=pl.lit(value=True))
    kernels_ns = account.computation_ns
    settled = []
    for candidate in sorted(candidates, key=lambda candidate: candidate.order):
        is_idle, is_exposed = candidate.claim.fill_null(value=False), candidate.takes.fill_null(value=False)
        claimed, covered = idle.filter(is_idle), exposed.filter(is_exposed)
        alone_ns = account.time_of(claimed, covered)
        owned_ns = account.time_of(claimed.filter("is_free"), covered.filter("is_free"))
        if not candidate.within:
            idle = idle.with_columns(is_free=pl.col("is_free") & ~is_idle)
            exposed = exposed.with_columns(is_free=pl.col("is_free") & ~is_exposed)
        extra_ns = candidate.extra_ns
        if RULES[candidate.rule].kind == "kernels":
            extra_ns = min(extra_ns, kernels_ns)
            kernels_ns -= extra_ns
        if candidate.rest_ns:
            free_ns = account.time_of(idle.filter("is_free"), exposed.filter("is_free"))
            owned_ns += min(candidate.rest_ns, free_ns)
            alone_ns += candidate.rest_ns
        alone_ns, owned_ns = alone_ns + candidate.extra_ns, owned_ns + extra_ns
        if candidate.fixed_ns is not None:
            alone_ns = owned_ns = candidate.fixed_ns
        settled.append(Settled(candidate, alone_ns, 0.0 if candidate.within else owned_ns))
    return settled


def _limited(settled: list[Settled], account: Account) -> list[Settled]:
    """The bounds, cut so that they promise no more idle and exposed time than there is, the largest first."""
    remaining_ns, limited = account.limit_ns, {}
    for row in sorted(settled, key=lambda row: -row.owned_ns):
        is_of_kernels = RULES[row.candidate.rule].kind == "kernels"
        owned_ns = row.owned_ns if is_of_kernels else min(row.owned_ns, remaining_ns)
        remaining_ns -= 0.0 if is_of_kernels else owned_ns
        limited[row.candidate.rule] = replace(row, owned_ns=owned_ns)
    return [limited[row.candidate.rule] for row in settled]
