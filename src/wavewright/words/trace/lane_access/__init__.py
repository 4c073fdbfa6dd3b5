"""Bank conflicts, coalescing and active lanes in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import polars as pl

from wavewright.analysis.trace.lanes.answer import HARMLESS_SHARE, Lanes
from wavewright.base.words import counted, percent, short
from wavewright.model.blocks import GAP, AnyBlock, Part, Sentence, Table, sentence
from wavewright.model.losses import Loss
from wavewright.words.kit.declared_tables import declared_table, table_below

_Row = dict[str, Any]
_CONFIDENCES = {"counter-proven": "proven", "published": "published", "hypothesis": "hypothesis"}
_REASONS_SHOWN = 8  #: Reasons why executions are not known, and rows with unaligned accesses that are named.

_LEGEND = (
    "runs: executions by traced waves; lanes: share of active lanes; ideal, extra: LDS cycles of one execution, extra ="
    " lost to bank conflicts; segments: cache segments of one execution, touched/least; asked, moved: bytes of one"
    " execution; stall: share of the later wait that the extra cycles can explain at most; rule: how well the rule is"
    " proven; known: share of the executions whose cost is certain"
)
_FABRIC = "; fabric: cache lines of the row in the whole dispatch, added up over XCDs; distinct: of these, once each"


def lanes_report(
    answer: Lanes,
    *,
    limit: int,
    has_fixes: bool = False,
    measured_losses: Sequence[Loss] | None = None,
    doubt: str = "",
) -> Iterator[AnyBlock]:
    """A verdict, the instructions, source lines, branches, remedies, and what is not known.

    `measured_losses`: what of the measurements could not be read; None = there are no measurements. `doubt`: why the
    given arguments cannot be right.
    """
    if not answer.rows.height:
        yield Sentence("no instruction that touches memory lane by lane was executed")
    else:
        yield from _verdict(answer)
        if doubt:
            yield Sentence(doubt, "loss")
        yield GAP
        has_traffic = answer.rows["fabric_bytes"].count() > 0
        yield _row_table(answer.rows, limit, has_traffic=has_traffic)
        yield sentence((_LEGEND + _FABRIC * has_traffic, "dim"))
    lines = answer.lines.filter(pl.col("row_count") > 0)
    yield from table_below(
        "trace/lanes/lines", lines, limit=limit, active=_active, of_lds=_share_of_lds, certain=_certain
    )
    yield from table_below("trace/lanes/branches", answer.branches, limit=limit, active=_active)
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
        parts.append(f"{segments}, {_known(memory)} known{_most_scattered(memory, touched)}; ")
    elif memory.height:
        parts.append("memory: no cost is known; ")
    branches = f"{answer.checked_branch_count:,} of {answer.branch_count:,}"
    checked = f"{branches} conditional branches were checked against the trace" if answer.branch_count else "no branch"
    yield sentence(*parts, checked)
    yield from _harm(rows)


def _most_scattered(memory: pl.DataFrame, all_touched: int) -> str:
    """The row that most of the segments above the least come from, which their mean hides."""
    above = pl.col("segment_count_total") - pl.col("least_segment_count_total")
    top = memory.filter(above > 0).sort(above, "row", descending=[True, False])
    if not top.height:
        return ""
    row = top.row(0, named=True)
    share = percent(row["segment_count_total"] / all_touched, 0)
    return f"; row {row['row']} alone {_segments(row).replace('/', ' instead of ')} an execution, {share} of all"


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


def _each(name: str, count: str = "cost_known_count") -> Callable[[_Row], str]:
    """The cell that writes a sum divided by the number of executions for which it is known."""

    def cell(row: _Row) -> str:
        return "" if row[name] is None else _mean(row[name] / row[count]) if row[count] else "?"

    return cell


def _segments(row: _Row) -> str:
    touched, least = _each("segment_count_total")(row), _each("least_segment_count_total")(row)
    return touched if touched in ("", "?") else f"{touched}/{least}"


def _explained(row: _Row) -> str:
    share = row["explained_stall_share"]
    if not row["extra_cycles_total"]:
        return ""
    if share is None:
        return "no wait"
    return "harmless" if share < HARMLESS_SHARE else f"≤ {percent(share, 0)}"


def _active(row: _Row) -> str:
    share = row["active_lane_share"]
    return "?" if share is None else percent(share, 0)


def _certain(row: _Row) -> str:
    return percent(row["cost_known_count"] / max(1, row["execution_count"]), 0)


def _row_table(rows: pl.DataFrame, limit: int, *, has_traffic: bool) -> Table:
    return declared_table(
        "trace/lanes/rows",
        rows,
        limit=limit,
        has_lds=rows["ideal_cycles_total"].count() > 0,
        has_memory=rows["segment_count_total"].count() > 0,
        has_traffic=has_traffic,
        active=_active,
        ideal=_each("ideal_cycles_total"),
        extra=_each("extra_cycles_total"),
        explained=_explained,
        segments=_segments,
        asked=_each("requested_bytes_total", "known_count"),
        moved=_each("moved_bytes_total"),
        rule=lambda row: _CONFIDENCES.get(row["confidence"] or "", "none"),
        certain=_certain,
    )


def _share_of_lds(row: _Row) -> str:
    if not row["ideal_cycles_total"]:
        return ""
    return percent(row["extra_cycles_total"] / (row["ideal_cycles_total"] + row["extra_cycles_total"]), 0)


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


def _comparison(answer: Lanes, limit: int) -> Iterator[AnyBlock]:
    """The table of evaluated and measured counts per execution of each source line."""
    if answer.comparison.is_empty():
        yield GAP
        yield Sentence("no source line is both in the trace and in what Omniprobe measured: compile both with -g")
    counts = ("extra_cycles", "omniprobe_conflicts", "segments", "omniprobe_lines")
    cells = {name: _amount(f"{name}_per_execution") for name in counts}
    yield from table_below("trace/lanes/compared", answer.comparison, limit=limit, **cells)


def _amount(column: str) -> Callable[[_Row], str]:
    """The cell that writes a number of a column; empty where there is none."""
    return lambda row: "" if row[column] is None else _mean(row[column])


def _unknown(answer: Lanes) -> Iterator[AnyBlock]:
    """Reasons, unaligned accesses, and assumptions."""
    offsets = answer.reasons.filter(pl.col("reason").str.starts_with("unaligned"))
    if offsets.height:
        numbers = offsets["row"].unique().sort().to_list()
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
