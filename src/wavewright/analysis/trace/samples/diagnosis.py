"""A diagnosis by PC samples: where the waves of a kernel were and why, as shares of samples with their intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from wavewright.analysis.common.noise import share_bounds
from wavewright.analysis.trace.samples.causes import ISSUED, LOST, SampleScope, causes_of_samples, scope_of
from wavewright.analysis.trace.selection import at_rows
from wavewright.model.answer import Answer
from wavewright.model.schema import TableSpec
from wavewright.model.trace import ThreadTrace


@dataclass(frozen=True)
class SampleStalls(Answer, package=__package__):
    """Causes for which sampled waves did not issue, the most frequent first."""

    scope: SampleScope
    causes: pl.DataFrame
    by_row: pl.DataFrame


def sample_stalls(trace: ThreadTrace, *, rows: pl.Series | None = None) -> SampleStalls:
    """The causes of samples that were not issued; `rows` = only those at these code rows, as shares of all."""
    scope, _ = scope_of(trace)
    stalled = causes_of_samples(trace).filter(pl.col("cause") != ISSUED.name, pl.col("count") > 0)
    stalled = at_rows(stalled, rows)
    by_row = (
        stalled.group_by("row", "cause")
        .agg(sample_count=pl.col("count").sum())
        .join(trace.code.select("row", "address", "text", "file", "line"), on="row", how="left")
        .sort("sample_count", "row", "cause", descending=[True, False, False])
    )
    causes = (
        stalled.sort("count", "row", descending=[True, False])
        .group_by("cause", maintain_order=True)
        .agg(
            pl.col("meaning").first(),
            sample_count=pl.col("count").sum(),
            row_count=pl.col("row").n_unique(),
            top_row=pl.col("row").first(),
        )
        .sort("sample_count", "cause", descending=[True, False])
    )
    tables = SampleStalls.tables
    return SampleStalls(scope, _typed(tables["causes"], causes, scope), _typed(tables["by_row"], by_row, scope))


def _typed(spec: TableSpec, counts: pl.DataFrame, scope: SampleScope) -> pl.DataFrame:
    """The declared columns, shares with their bounds among them."""
    total, independent = scope.sample_count or 1, scope.independent_count
    shares = [count / total for count in counts["sample_count"].to_list()]
    bounds = [share_bounds(share, independent) for share in shares]
    columns = {"share": shares, "share_min": [low for low, _ in bounds], "share_max": [high for _, high in bounds]}
    frame = counts.with_columns(pl.Series(name, values, pl.Float64) for name, values in columns.items())
    return frame.select(spec.casts)


LEAST_SHARE = 0.05  #: A cause is a finding when the lower end of its share of samples is at least this.
LEAST_OBSERVATIONS = 30  #: With fewer independent observations an interval is wider than most findings.
_MOST_PLACES = 3  #: Rows that a finding names at most.


@dataclass(frozen=True)
class SamplePlace:
    """One code row of a finding."""

    row: int
    address: int | None  #: None = not recorded.
    text: str
    file: str | None
    line: int | None
    sample_count: int
    share: float  #: Of the samples of the kernel.


@dataclass(frozen=True)
class SampleFinding:
    """One cause that many samples have in common."""

    name: str
    verdict: str
    remedy: str  #: What to try; empty = nothing follows from samples alone.
    sample_count: int
    share: float  #: Of the samples of the kernel.
    share_min: float
    share_max: float
    row_count: int
    places: tuple[SamplePlace, ...]  #: The rows with the most of its samples.


@dataclass(frozen=True)
class SampleDiagnosis(Answer):
    """Causes of a kernel's PC samples, the most frequent first."""

    definition: ClassVar[str] = (
        "The samples of the kernel with the most samples (of the user, where there is one), grouped by cause: the "
        "recorded reason why a wave did not issue, or, where the method records none, the kind of instruction that it "
        "was at. Shares are of the samples of that kernel, with Wilson's 95 % interval; samples of one moment count "
        f"as one observation. Told are causes with at least {100 * LEAST_SHARE:.0f} % at the lower end, from "
        f"{LEAST_OBSERVATIONS} observations on. A share of samples is a share of the time of waves, not of the kernel: "
        "no gain follows from it."
    )

    scope: SampleScope
    has_reasons: bool  #: Whether the method recorded why waves did not issue.
    is_enough: bool  #: Whether there are enough observations for findings.
    #: Share of samples in which the wave issued, or lost to another one that did; None = not recorded.
    issuing_share: float | None
    issuing_share_min: float | None
    issuing_share_max: float | None
    findings: tuple[SampleFinding, ...]


def sample_diagnosis(trace: ThreadTrace, *, rows: pl.Series | None = None) -> SampleDiagnosis:
    """Group the samples of the most sampled kernel by cause; `rows` = only those at these code rows."""
    scope, samples = scope_of(trace, one_kernel=True)
    causes = causes_of_samples(trace).join(samples.select("row"), on="row", how="semi")
    issuing = int(causes.filter(pl.col("cause").is_in([ISSUED.name, LOST.name]))["count"].sum())
    causes = at_rows(causes, rows)
    has_reasons = scope.unknown_count < scope.sample_count
    is_enough = scope.independent_count >= LEAST_OBSERVATIONS
    share = issuing / scope.sample_count if has_reasons and scope.sample_count else None
    low, high = (None, None) if share is None else share_bounds(share, scope.independent_count)
    return SampleDiagnosis(
        scope=scope,
        has_reasons=has_reasons,
        is_enough=is_enough,
        issuing_share=share,
        issuing_share_min=low,
        issuing_share_max=high,
        findings=tuple(_findings(trace, causes, scope)) if is_enough else (),
    )


def _findings(trace: ThreadTrace, causes: pl.DataFrame, scope: SampleScope) -> list[SampleFinding]:
    stalled = causes.filter(~pl.col("cause").is_in([ISSUED.name, LOST.name]))
    findings = []
    for (name,), group in stalled.group_by("cause", maintain_order=True):
        count = int(group["count"].sum())
        share = count / scope.sample_count
        low, high = share_bounds(share, scope.independent_count)
        if low < LEAST_SHARE:
            continue
        first = group.row(0, named=True)
        findings.append(
            SampleFinding(
                name=str(name),
                verdict=first["meaning"],
                remedy=first["remedy"],
                sample_count=count,
                share=share,
                share_min=low,
                share_max=high,
                row_count=group["row"].n_unique(),
                places=_places(trace, group, scope),
            )
        )
    return sorted(findings, key=lambda finding: (-finding.sample_count, finding.name))


def _places(trace: ThreadTrace, group: pl.DataFrame, scope: SampleScope) -> tuple[SamplePlace, ...]:
    rows = (
        group.group_by("row")
        .agg(sample_count=pl.col("count").sum())
        .sort("sample_count", "row", descending=[True, False])
        .head(_MOST_PLACES)
        .join(trace.code.select("row", "address", "text", "file", "line"), on="row", maintain_order="left")
    )
    return tuple(SamplePlace(**row, share=row["sample_count"] / scope.sample_count) for row in rows.to_dicts())
