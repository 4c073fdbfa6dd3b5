"""Bank conflicts, coalescing and active lanes in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from wavewright.analysis.trace.lanes.explained_waits import HARMLESS_SHARE
from wavewright.base.words import counted, percent, short
from wavewright.model.blocks import GAP, AnyBlock, Part, Sentence, sentence
from wavewright.words.kit.frame_tables import Column, frame_table
from wavewright.words.trace.row_columns import INSTRUCTION, LINE, SOURCE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wavewright.analysis.trace.lanes.answer import Lanes
    from wavewright.model.losses import Loss

_Row = dict[str, Any]
_CONFIDENCES = {"counter-proven": "proven", "published": "published", "hypothesis": "hypothesis"}
_REASONS_SHOWN = 8

_LEGEND = (
    "runs: executions by traced waves; lanes: share of active lanes; ideal, extra: LDS cycles of one execution, extra ="
    " lost to bank conflicts; segments: cache segments of one execution, touched/least; asked, moved: bytes of one"
    " execution; stall: share of the later wait that the extra cycles can explain at most; rule: how well the rule is"
    " proven; known: share of the executions whose cost is certain"
)


def lanes_report(
    answer: Lanes,
    *,
    limit: int,
    has_fixes: bool = False,
    measured_losses: Sequence[Loss] | None = None,
) -> Iterator[AnyBlock]:
    """A verdict, the instructions, source lines, branches, remedies, and what is not known.

    `measured_losses`: what of the measurements could not be read; None = there are no measurements.
    """
    if not answer.rows.height:
        yield Sentence("no instruction that touches memory lane by lane was executed")
    else:
        yield from _verdict(answer)
        yield GAP
        yield frame_table(answer.rows, _row_columns(answer), limit=limit, what="memory instructions")
        yield sentence((_LEGEND, "dim"))
    lines = answer.lines.filter(pl.col("row_count") > 0)
    if lines.height:
        yield GAP
        yield frame_table(lines, _LINES, limit=limit, what="source lines", title="by source line")
    if answer.branches.height:
        yield GAP
        title = "active lanes at branches"
        yield frame_table(answer.branches, _BRANCHES, limit=limit, what="rows", title=title)
    if has_fixes:
        yield from _fixes(answer)
    if measured_losses is not None:
        yield from _comparison(answer, limit)
        for loss in measured_losses:
            yield Sentence(f"Omniprobe: {loss.count:,} {loss.detail} could not be read", "loss")
    yield from _unknown(answer)


def _verdict(answer: Lanes) -> Iterator[Sentence]:
    rows = answer.rows
    waves = counted(answer.wave_count, "waves")
    paths = counted(answer.path_count, "different paths" if answer.path_count != 1 else "path")
    parts: list[Part] = [f"{waves} on {paths}; "]
    lds = rows.filter(pl.col("space") == "lds")
    per_wave = max(1, answer.wave_count)
    if lds["cost_known_count"].sum():
        extra, ideal = int(lds["extra_cycles_total"].sum()), int(lds["ideal_cycles_total"].sum())
        parts += [
            f"LDS: {_mean((extra + ideal) / per_wave)} cycles per wave, ",
            (f"{_mean(extra / per_wave)} of them extra", "bold" if extra else ""),
            f" ({percent(extra / max(1, extra + ideal), 0)}), {_known(lds)} known; ",
        ]
    elif lds.height:
        parts.append("LDS: no cost is known; ")
    memory = rows.filter(pl.col("space") != "lds")
    if memory["cost_known_count"].sum():
        touched, least = (int(memory[f"{name}segment_count_total"].sum()) for name in ("", "least_"))
        segments = f"memory: {_mean(touched / per_wave)} segments per wave, {_mean(least / per_wave)} at least"
        parts.append(f"{segments}, {_known(memory)} known; ")
    elif memory.height:
        parts.append("memory: no cost is known; ")
    branches = f"{answer.checked_branch_count:,} of {answer.branch_count:,}"
    checked = f"{branches} conditional branches were checked against the trace" if answer.branch_count else "no branch"
    yield sentence(*parts, checked)
    yield from _harm(rows)


def _harm(rows: pl.DataFrame) -> Iterator[Sentence]:
    """A sentence about whether the conflicts matter."""
    conflicting = rows.filter(pl.col("extra_cycles_total") > 0)
    if not conflicting.height:
        return
    share = pl.col("explained_stall_share")
    harmful = conflicting.filter(share >= HARMLESS_SHARE)
    if harmful.is_empty():
        yield sentence(("the conflicts are harmless: hardly any wait can be explained by their cycles", "green"))
        return
    top = harmful.sort("explained_stall_share", descending=True, maintain_order=True).row(0, named=True)
    harmless = conflicting.height - harmful.height
    text = f"{counted(harmful.height, 'rows' if harmful.height != 1 else 'row')} with conflicts can explain part of "
    text += f"a later wait, most row {top['row']}: at most {percent(top['explained_stall_share'], 0)} of its stall"
    yield Sentence(text + (f"; {harmless:,} harmless" if harmless else ""))


def _known(rows: pl.DataFrame) -> str:
    return percent(int(rows["cost_known_count"].sum()) / max(1, int(rows["execution_count"].sum())), 0)


def _mean(number: float) -> str:
    return f"{number:,.0f}" if number >= 1000 or number == int(number) else f"{number:,.1f}"


def _each(name: str, count: str = "cost_known_count") -> Any:
    """Mean of a sum per execution that it is known of."""

    def cell(row: _Row) -> str:
        return "" if row[name] is None else _mean(row[name] / row[count]) if row[count] else "?"

    return cell


def _segments(row: _Row) -> str:
    touched, least = _each("segment_count_total")(row), _each("least_segment_count_total")(row)
    return touched if touched in ("", "?") else f"{touched}/{least}"


def _explained(row: _Row) -> str:
    share = row["explained_stall_share"]
    if not row["extra_cycles_total"] or share is None:
        return "" if not row["extra_cycles_total"] else "no wait"
    return "harmless" if share < HARMLESS_SHARE else f"≤ {percent(share, 0)}"


def _row_columns(answer: Lanes) -> tuple[Column, ...]:
    has_lds = answer.rows["ideal_cycles_total"].null_count() < answer.rows.height
    has_memory = answer.rows["segment_count_total"].null_count() < answer.rows.height
    lds = (
        Column("ideal", _each("ideal_cycles_total")),
        Column("extra", _each("extra_cycles_total")),
        Column("stall", _explained),
    )
    memory = (Column("segments", _segments),)
    return (
        Column("row", lambda row: str(row["row"])),
        Column("runs", lambda row: short(row["execution_count"])),
        Column(
            "lanes", lambda row: percent(row["active_lane_share"], 0) if row["active_lane_share"] is not None else "?"
        ),
        *(lds if has_lds else ()),
        *(memory if has_memory else ()),
        Column("asked", _each("requested_bytes_total", "known_count"), is_wide=True),
        Column("moved", _each("moved_bytes_total"), is_wide=True),
        Column("rule", lambda row: _CONFIDENCES.get(row["confidence"] or "", "none"), is_text=True, is_wide=True),
        Column("known", lambda row: percent(row["cost_known_count"] / max(1, row["execution_count"]), 0)),
        INSTRUCTION,
        SOURCE,
    )


_LINES = (
    LINE,
    Column("rows", lambda row: f"{row['row_count']:,}"),
    Column("runs", lambda row: short(row["execution_count"])),
    Column("lanes", lambda row: percent(row["active_lane_share"], 0) if row["active_lane_share"] is not None else "?"),
    Column("extra cycles", lambda row: short(row["extra_cycles_total"], none="")),
    Column(
        "of LDS",
        lambda row: (
            ""
            if not row["ideal_cycles_total"]
            else percent(row["extra_cycles_total"] / (row["ideal_cycles_total"] + row["extra_cycles_total"]), 0)
        ),
    ),
    Column("segments", lambda row: short(row["segment_count_total"], none="")),
    Column("least", lambda row: short(row["least_segment_count_total"], none="")),
    Column("known", lambda row: percent(row["cost_known_count"] / max(1, row["execution_count"]), 0)),
)
_BRANCHES = (
    Column("row", lambda row: str(row["row"])),
    Column("runs", lambda row: short(row["execution_count"])),
    Column("lanes", lambda row: percent(row["active_lane_share"], 0) if row["active_lane_share"] is not None else "?"),
    INSTRUCTION,
    SOURCE,
)


def _fixes(answer: Lanes) -> Iterator[AnyBlock]:
    yield GAP
    if answer.fixes.is_empty():
        yield Sentence("no array of LDS has known conflicts: there is nothing to change")
        return
    cycles = short(answer.fixes["extra_cycles_total"][0])
    yield sentence(
        ("layouts of LDS", "bold"), f" for all its arrays together, against {cycles} extra cycles of all executions:"
    )
    for fix in answer.fixes.iter_rows(named=True):
        if fix["kind"] is None:
            yield Sentence(f"  {fix['text']}")
            continue
        share = percent(fix["removed_cycles_total"] / max(1, fix["extra_cycles_total"]), 0)
        cost = f"{percent(fix['added_share'], 0)} more LDS" if fix["added_share"] else "no more LDS"
        yield Sentence(f"  {fix['text']}: removes {short(fix['removed_cycles_total'])} ({share}), {cost}")


_COMPARED = (
    LINE,
    Column("space", lambda row: row["space"], is_text=True, is_fixed=True),
    Column("kind", lambda row: row["kind"], is_text=True, is_fixed=True),
    Column("extra", lambda row: _or_none(row["extra_cycles_per_execution"])),
    Column("Omniprobe", lambda row: _or_none(row["omniprobe_conflicts_per_execution"])),
    Column("segments", lambda row: _or_none(row["segments_per_execution"])),
    Column("Omniprobe lines", lambda row: _or_none(row["omniprobe_lines_per_execution"])),
    Column("verdict", lambda row: row["verdict"], is_text=True, is_fixed=True),
)


def _or_none(number: float | None) -> str:
    return "" if number is None else _mean(number)


def _comparison(answer: Lanes, limit: int) -> Iterator[AnyBlock]:
    yield GAP
    if answer.comparison.is_empty():
        yield Sentence("no source line is both in the trace and in what Omniprobe measured: compile both with -g")
        return
    title = "evaluated and measured by Omniprobe, per execution"
    yield frame_table(answer.comparison, _COMPARED, limit=limit, what="source lines", title=title)


def _unknown(answer: Lanes) -> Iterator[AnyBlock]:
    """Reasons, unaligned accesses, and assumptions."""
    unaligned = answer.reasons.filter(pl.col("reason").str.starts_with("unaligned"))
    if unaligned.height:
        numbers = unaligned["row"].unique().sort().to_list()
        names = ", ".join(map(str, numbers[:_REASONS_SHOWN])) + (", ..." if len(numbers) > _REASONS_SHOWN else "")
        yield GAP
        yield Sentence(
            f"{counted(len(numbers), 'rows')} with addresses that the width of the access does not divide ({names}): "
            "such accesses are split, at a cost that nobody has published; align the data, or access smaller pieces"
        )
    if answer.reasons.height:
        yield GAP
        reasons = (
            answer.reasons.group_by("reason", maintain_order=True)
            .agg(pl.col("execution_count").sum(), pl.col("row").n_unique().alias("row_count"))
            .sort("execution_count", descending=True, maintain_order=True)
        )
        yield sentence(("why executions are not known", "bold"))
        for row in reasons.head(_REASONS_SHOWN).iter_rows(named=True):
            rows = counted(row["row_count"], "rows" if row["row_count"] != 1 else "row")
            yield Sentence(f"  {short(row['execution_count'])} executions of {rows}: {row['reason']}")
        if reasons.height > _REASONS_SHOWN:
            yield sentence((f"  {counted(reasons.height - _REASONS_SHOWN, 'more reasons')}; --json has all", "dim"))
    assumed = sorted({part for text in answer.rows["assumes"].unique().to_list() for part in text.split("; ") if part})
    notes = [*answer.notes, *(f"assumed: {part}" for part in assumed)]
    for note in notes:
        yield Sentence(note, "note")
