"""Lane addresses from a finished trace: bank conflicts, coalescing and active lanes of every executed instruction.

A trace holds the executed path of every wave, so the integer part of the code can be evaluated lane by lane afterwards.
What is not certain stays unknown, with the reason.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import polars as pl

from wavewright.analysis.common.occupancy.architecture import architecture
from wavewright.analysis.trace.lanes.evaluated import (
    EvaluatedKernel,
    LaneOptions,
    RowRules,
    evaluate,
    lanes_of_waves,
    row_rules,
)
from wavewright.analysis.trace.lanes.reasons import NO_RULE, assumption_text, reason_text
from wavewright.base.once import once
from wavewright.codeobj.kernel_arguments import ArgumentValues
from wavewright.codeobj.targets import family_of
from wavewright.errors import UnsupportedError, UsageError
from wavewright.facts.lanes import Refusal
from wavewright.model.answer import Answer
from wavewright.model.schema import empty_frame
from wavewright.model.trace import ThreadTrace

_UNSIZED = "the workgroup size is not recorded: workgroups are taken as one-dimensional; --workgroup gives it"
#: Generations whose instructions are evaluated. gfx1250 chooses registers by a mode that texts need not show.
EVALUATED_FAMILIES = ("gfx9", "gfx10", "gfx11", "gfx12")


@dataclass(frozen=True)
class LaneAccesses(Answer, package=__package__):
    """Lane addresses of the executed memory instructions."""

    rows: pl.DataFrame
    reasons: pl.DataFrame
    branches: pl.DataFrame
    target: str
    lane_count: int  #: Lanes of a wave.
    segment_bytes: int | None = None  #: Size of a segment; None = no rule for this GPU.
    accesses_per_cycle: float | None = None  #: Segments that the L1 of a CU serves in a cycle; None = not known.
    wave_count: int = 0
    path_count: int = 0  #: Different paths of waves; each was evaluated once.
    branch_count: int = 0  #: Conditional branches on these paths.
    checked_branch_count: int = 0  #: Of these, those with a certain condition: all of them go the way the trace went.
    notes: tuple[str, ...] = ()


def lane_accesses(trace: ThreadTrace, options: LaneOptions | None = None) -> LaneAccesses:
    """Evaluate the traced waves.

    Raises `UnsupportedError`: the GPU is not known, or its instructions are not; `UsageError`: an argument or size does
    not fit the kernel, or there are no instructions.
    """
    if options is not None:
        return _lane_accesses(trace, options)
    answer: LaneAccesses = once(trace.answers, "lane_accesses", lambda: _lane_accesses(trace, LaneOptions()))
    return answer


def no_lane_accesses(trace: ThreadTrace, reason: str) -> LaneAccesses:
    """The answer where nothing can be evaluated."""
    empty: dict[str, Any] = {name: empty_frame(table) for name, table in LaneAccesses.tables.items()}
    target, lane_count = trace.source.target or "", lanes_of_waves(trace)
    return LaneAccesses(**empty, target=target, lane_count=lane_count, notes=(reason,))


def _lane_accesses(trace: ThreadTrace, options: LaneOptions) -> LaneAccesses:
    target = target_of(trace, options)
    lanes = lanes_of_waves(trace)
    rules = row_rules(trace, target, options.rules, lanes)
    kernels = _evaluated(trace, target, options, rules)
    coalescing = options.rules.coalescing_rule(target)
    segment_bytes = None if isinstance(coalescing, Refusal) else coalescing.segment_bytes
    texts = trace.code["text"].fill_null("").to_list()
    reasons = _with_refusals(_reasons(kernels, texts), rules.accesses.select("row", "refusal").drop_nulls())
    sums = _sums(kernels)
    first_reasons = reasons.group_by("row", maintain_order=True).agg(pl.col("reason").first())
    is_lds = pl.col("space") == "lds"
    rows = (
        rules.accesses.select("row", "space", "direction", "bytes_per_lane", "confidence")
        .join(sums.filter(pl.col("execution_count") > 0), on="row", maintain_order="left")
        .join(trace.code.select("row", "text", "file", "line"), on="row", how="left", maintain_order="left")
        .join(first_reasons, on="row", how="left", maintain_order="left")
        .with_columns(
            pl.when(is_lds).then("ideal_cycles_total"),
            pl.when(is_lds).then("extra_cycles_total"),
            pl.when(~is_lds).then("segment_count_total"),
            pl.when(~is_lds).then("least_segment_count_total"),
            active_lane_share=_share(lanes),
            moved_bytes_total=pl.when(~is_lds).then(pl.col("segment_count_total") * (segment_bytes or 0)),
            assumes=pl.col("assumptions").map_elements(
                lambda bits: assumption_text(bits, options.pointer_bytes), return_dtype=pl.String
            ),
        )
        .select(LaneAccesses.tables["rows"].casts)
    )
    return LaneAccesses(
        rows=rows,
        reasons=reasons,
        branches=_branches(trace, sums, lanes),
        target=target,
        lane_count=lanes,
        segment_bytes=segment_bytes,
        accesses_per_cycle=None if isinstance(coalescing, Refusal) else coalescing.accesses_per_cycle,
        wave_count=sum(kernel.wave_count for kernel in kernels),
        path_count=sum(kernel.path_count for kernel in kernels),
        branch_count=sum(kernel.branch_count for kernel in kernels),
        checked_branch_count=sum(kernel.checked_branch_count for kernel in kernels),
        notes=tuple(_notes(kernels, texts)),
    )


def lane_patterns(trace: ThreadTrace, options: LaneOptions | None = None) -> pl.DataFrame:
    """Different patterns of each row: `row`, `count`, `active`, `width_bytes`, `place`, `address`.

    `address` is a list of bytes relative to the base, one for each lane; `place` tells the two accesses of read2 and
    write2 apart; `count` is executions. Of rows with more than 64 patterns the first are kept.
    """
    options = options or LaneOptions()
    target = target_of(trace, options)
    rules = row_rules(trace, target, options.rules, lanes_of_waves(trace))
    return pl.concat([kernel.patterns for kernel in _evaluated(trace, target, options, rules)])


def _evaluated(trace: ThreadTrace, target: str, options: LaneOptions, rules: RowRules) -> list[EvaluatedKernel]:
    kernels: list[EvaluatedKernel] = once(
        trace.answers, ("evaluated lanes", options), lambda: evaluate(trace, target, options, rules)
    )
    if not kernels:
        raise UsageError("no wave has instructions that could be evaluated", where=trace.source.path)
    return kernels


def target_of(trace: ThreadTrace, options: LaneOptions) -> str:
    """The GPU whose code the trace ran. Raises `UnsupportedError`: it is not known."""
    target = options.target or trace.source.target or _inferred_target(trace)
    if target is None:
        what = "which GPU ran this code is not known, so no rule can be chosen"
        raise UnsupportedError(what, advice="--target names it: gfx942")
    if family_of(target) not in EVALUATED_FAMILIES:
        advice = f"evaluated are {', '.join(EVALUATED_FAMILIES)}"
        raise UnsupportedError(f"lanes of {target} are not evaluated", advice=advice)
    return target


def _inferred_target(trace: ThreadTrace) -> str | None:
    """The GPU that alone has instructions of this code, as other verbs infer it; None = several may."""
    with suppress(UsageError):
        inferred = architecture(trace)
        return inferred.facts.target if inferred.is_certain else None
    return None


def _sums(kernels: list[EvaluatedKernel]) -> pl.DataFrame:
    frames = pl.concat([kernel.rows for kernel in kernels])
    sums = frames.group_by("row", maintain_order=True).agg(
        pl.exclude("row", "assumptions").sum(), pl.col("assumptions").bitwise_or()
    )
    return sums.rename(
        {
            "ideal_cycle_total": "ideal_cycles_total",
            "extra_cycle_total": "extra_cycles_total",
            "segment_total": "segment_count_total",
            "least_segment_total": "least_segment_count_total",
            "requested_byte_total": "requested_bytes_total",
        }
    )


def _share(lanes: int) -> pl.Expr:
    share = pl.col("active_lane_total") / (pl.col("mask_known_count") * lanes)
    return pl.when(pl.col("mask_known_count") == pl.col("execution_count")).then(share)


def _reasons(kernels: list[EvaluatedKernel], texts: list[str]) -> pl.DataFrame:
    rows: list[tuple[int, str, bool, int]] = []
    for kernel in kernels:
        for row, kind, detail, base_kind, base_detail, is_cost, count in kernel.reasons.iter_rows():
            why = reason_text(kind, detail, texts, kernel.start.arguments, base=(base_kind, base_detail))
            rows.append((row, why, bool(is_cost), count))
    frame = pl.DataFrame(rows, schema=LaneAccesses.tables["reasons"].dtypes, orient="row")
    added = frame.group_by("row", "reason", "is_cost", maintain_order=True).agg(pl.col("execution_count").sum())
    return added.sort("row", "execution_count", descending=[False, True])


def _with_refusals(reasons: pl.DataFrame, refusals: pl.DataFrame) -> pl.DataFrame:
    """Reasons in which the rule that is missing is named."""
    named = reasons.join(refusals, on="row", how="left", maintain_order="left")
    is_missing = pl.col("reason") == reason_text(NO_RULE, 0, (), ArgumentValues())
    return named.with_columns(
        reason=pl.when(is_missing & pl.col("refusal").is_not_null()).then("refusal").otherwise("reason")
    ).drop("refusal")


def _branches(trace: ThreadTrace, sums: pl.DataFrame, lanes: int) -> pl.DataFrame:
    changing = pl.col("text").str.contains(r"^s_cbranch_(exec|vcc)|saveexec|^v_cmpx_")
    code = trace.code.filter(changing).select("row", "text", "file", "line")
    executed = code.join(sums.filter(pl.col("execution_count") > 0), on="row", maintain_order="left")
    return executed.with_columns(active_lane_share=_share(lanes)).select(LaneAccesses.tables["branches"].casts)


def _notes(kernels: list[EvaluatedKernel], texts: list[str]) -> list[str]:
    notes = []
    for kernel in kernels:
        notes += [
            f"the trace contradicts the branch at row {row} ({texts[row]}): these waves stay unknown"
            for row in kernel.contradictions
        ]
        notes += [
            f"behind row {row} the trace does not follow the code: what comes later stays unknown"
            for row in kernel.misfits
        ]
        if not kernel.start.is_sized:
            notes.append(_UNSIZED)
        notes += kernel.start.arguments.assumptions
    return notes
