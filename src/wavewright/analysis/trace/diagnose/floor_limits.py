"""Floors and lane addresses in findings: causes, remedies, and gains that no reordering can exceed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from wavewright.analysis.trace.diagnose.facts import RowView
from wavewright.analysis.trace.diagnose.finding import LaneCause, Remedy, StallFinding
from wavewright.analysis.trace.diagnose.gains import is_lds, is_memory
from wavewright.analysis.trace.floors import Floors, floors, floors_without
from wavewright.analysis.trace.floors.executions import LANE_PIPES
from wavewright.analysis.trace.lanes.answer import HARMLESS_SHARE
from wavewright.analysis.trace.lanes.evaluated import LaneOptions
from wavewright.analysis.trace.selection import traced_waves
from wavewright.base.toml import packaged
from wavewright.base.words import counted, percent
from wavewright.model.trace import ThreadTrace

#: Larger traces get no floors, and (second) no lanes unless `options` ask for them: a diagnosis must not take long.
_MOST_INSTRUCTIONS = 2_000_000
_MOST_INSTRUCTIONS_OF_LANES = 300_000
_CAUSE_SHARE = 0.5  #: An access pattern that explains at least this share of a finding's stalls is its cause.
_BANK_CONFLICTS, _SCATTERED = "bank conflicts", "lanes that do not coalesce"
_REMEDIES = packaged("texts.toml", __package__)["lane_remedies"]  #: Pipe -> name and text.


def limits(trace: ThreadTrace, options: LaneOptions | None, left_out: tuple[int, ...]) -> Floors | None:
    """Floors of a trace; None = it is too large, or has several kernels whose times are not told apart.

    Without `options`, lanes are only evaluated where that is fast; what depends on arguments stays unknown then.
    """
    waves = traced_waves(trace).filter(~pl.col("wave").is_in(list(left_out)))
    if not waves.height or waves["kernel"].n_unique() > 1 or trace.instruction_count > _MOST_INSTRUCTIONS:
        return None
    with_lanes = options is not None or trace.instruction_count <= _MOST_INSTRUCTIONS_OF_LANES
    answer = floors(trace, options, left_out=left_out, with_lanes=with_lanes)
    return answer if answer.span_cycles_total else None


def with_lanes(finding: StallFinding, views: Sequence[RowView], answer: Floors) -> StallFinding:
    """The finding with the access patterns that are its cause, a part of it, or harmless."""
    pipes = [pipe for pipe in LANE_PIPES if any(_is_about(cause.name, pipe) for cause in finding.causes)]
    causes = [cause for pipe in pipes if (cause := _cause(finding, views, answer, pipe))]
    if not causes:
        return finding
    finding = replace(finding, lane_causes=tuple(causes))
    for cause in causes:
        finding = replace(finding, reason=f"{finding.reason}; {cause.text}")
        if cause.verdict == "cause":
            remedy = Remedy(**_REMEDIES[cause.pipe], rows=cause.rows, exposed_cycles_total=_exposed(views, cause.rows))
            finding = replace(
                finding,
                verdict=f"{finding.verdict}, because of {cause.name}",
                gain_share_max=cause.gain_share_max,
                gain_share_min=min(finding.gain_share_min, cause.gain_share_max),
                remedy=remedy.text,
                remedies=(remedy, *finding.remedies),
            )
    return finding


def within_floors(finding: StallFinding, answer: Floors) -> StallFinding:
    """The finding with no gain larger than the floors allow.

    Where access patterns are a cause, the floor after they are changed counts.
    """
    changed = [cause for cause in finding.lane_causes if cause.verdict != "harmless"]
    floor = floors_without(answer, {cause.pipe: cause.saved_cycles_total for cause in changed})
    gain_max = max(0.0, 1 - floor.share) if floor else 1.0
    return replace(
        finding,
        gain_share_max=min(finding.gain_share_max, gain_max),
        gain_share_min=min(finding.gain_share_min, gain_max),
        causes=tuple(replace(cause, gain_share_max=min(cause.gain_share_max, gain_max)) for cause in finding.causes),
    )


def _is_about(stall_class: str, pipe: str) -> bool:
    """True if access patterns of a pipe can be a cause of stalls of a class."""
    if pipe == "L1":
        return is_memory(stall_class)
    return is_lds(stall_class) or "LDS" in stall_class.removeprefix("wait ").split(" + ")


def _cause(finding: StallFinding, views: Sequence[RowView], answer: Floors, pipe: str) -> LaneCause | None:
    """Part of the access patterns of one pipe in a finding; None = it is not known.

    Two bounds: on the critical path each lost cycle of a pipe stands at most once, so the span shrinks by no more than
    the lost cycles; and a wait shrinks by no more than what its own operations lose, as `lanes` has it.
    """
    stall = sum(view.stall_cycles_total for view in views)
    views = [view for view in views if _is_about(view.stall_class, pipe)]
    changes = answer.changes.filter(pipe=pipe)
    lost = dict(changes.select("row", "saved_cycles_total").iter_rows())
    executions = dict(changes.select("row", "counted_count").iter_rows())
    at_issue = any(not view.stall_class.startswith("wait") for view in views)
    rows = set(lost) if at_issue else {producer.row for view in views for producer in view.producers} & set(lost)
    total = sum(lost[row] for row in rows)
    if not total or not stall or not finding.gain_share_max:
        return _no_conflict(answer) if pipe == "LDS" else None
    lost_per_execution = {row: lost[row] / executions[row] for row in rows}
    of_waits = sum(_explained(view, lost_per_execution) for view in views) / stall
    removable = min(finding.gain_share_max, total / answer.span_cycles_total)
    explained = min(1.0, of_waits, removable / finding.gain_share_max)
    verdict = "cause" if explained >= _CAUSE_SHARE else "part" if explained >= HARMLESS_SHARE else "harmless"
    ordered = tuple(sorted(rows, key=lambda row: (-lost[row], row)))
    confidence = answer.pipes.filter(pipe=pipe)["confidence"][0]
    name = _BANK_CONFLICTS if pipe == "LDS" else _SCATTERED
    judgement = _judgement(explained, verdict, removable, confidence)
    lost_cycles = sum(lost.values())
    pipe_cycles = int(answer.pipes.filter(pipe=pipe)["floor_cycles_total"].sum())
    unit = "LDS" if pipe == "LDS" else "the L1 cache"
    share = percent(lost_cycles / max(pipe_cycles, 1), 0)
    together = f"together {lost_cycles:,} of the {pipe_cycles:,} cycles of {unit} ({share})"
    text = f"{_loss(changes, ordered)}; {together}; {judgement}"
    return LaneCause(name, pipe, ordered, total, removable, explained, verdict, text, confidence)


def _no_conflict(answer: Floors) -> LaneCause | None:
    """Sentence that nothing is lost, where the lane addresses of all executions are known."""
    lds = answer.pipes.filter(pipe="LDS")
    if answer.changes.filter(pipe="LDS").height or not lds.height or lds["floor_cycles_total"][0] is None:
        return None
    counted_count, execution_count, confidence = lds.select("counted_count", "execution_count", "confidence").row(0)
    if counted_count < execution_count:
        return None
    text = f"bank conflicts cost nothing here: none of the {execution_count:,} LDS accesses has any"
    return LaneCause(_BANK_CONFLICTS, "LDS", (), 0, 0.0, 0.0, "harmless", text, confidence)


def _explained(view: RowView, lost_per_execution: Mapping[int, float]) -> float:
    """Stall cycles of a row that lost cycles can explain at most."""
    if not view.stall_class.startswith("wait"):
        return float(view.stall_cycles_total)  # the operations of all waves stand before it in the queue
    lost = sum(lost_per_execution.get(producer.row, 0.0) * producer.count for producer in view.producers)
    return min(float(view.stall_cycles_total), lost)


def _loss(changes: pl.DataFrame, ordered: tuple[int, ...]) -> str:
    """Loss per execution of the row that loses most."""
    first = changes.filter(pl.col("row") == ordered[0]).row(0, named=True)
    place = f", {first['file'].rsplit('/', 1)[-1]}:{first['line']}" if first["file"] and first["line"] else ""
    where = f"row {first['row']} ({first['text'].split(' ', 1)[0]}{place})"
    lost = first["saved_cycles_total"] / first["counted_count"]
    if first["pipe"] == "LDS":
        what = f"{where} loses {lost:.4g} LDS cycles per execution to bank conflicts"
    else:
        needs = first["cycles_total"] / first["counted_count"]
        what = f"{where} takes {needs:.4g} cycles of the L1 cache per execution, {needs - lost:.4g} if coalesced"
    return what + (f", as {counted(len(ordered) - 1, 'more rows')} do in part" if len(ordered) > 1 else "")


def _judgement(explained: float, verdict: str, removable: float, confidence: str) -> str:
    rule = " (its rule is a hypothesis)" if confidence == "hypothesis" else ""
    if verdict == "harmless":
        return f"that explains at most {percent(explained, 0)} of these stalls{rule}: harmless here"
    return (
        f"that explains at most {percent(explained, 0)} of these stalls, and removing it gains at most "
        f"{percent(removable)} of the time{rule}"
    )


def _exposed(views: Sequence[RowView], rows: tuple[int, ...]) -> int:
    about = set(rows)
    return sum(
        view.exposed_cycles_total
        for view in views
        if view.row in about or about & {producer.row for producer in view.producers}
    )
