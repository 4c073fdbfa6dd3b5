"""Barriers for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
from rich.text import Text

from wavescope.base.words import percent
from wavescope.report.kit.bars import bar
from wavescope.report.kit.tables import Column, frame_table, place, short

if TYPE_CHECKING:
    from rich.console import RenderableType

    from wavescope.analysis.trace.barriers import Barriers

_SYSTEMATIC = 1.5  #: A place is systematically last when it is so much more often than by chance.


def barriers_report(answer: Barriers, *, limit: int) -> list[RenderableType]:
    """A verdict, then every barrier with its meetings."""
    if not answer.rows.height:
        return [Text("no barrier was executed", "bold")]
    parts: list[RenderableType] = [_verdict(answer), _workgroups(answer), Text()]
    lost = max(answer.lost_cycles_total, 1)
    shares, place_name = _shares(answer), "SIMD" if _place(answer) == "simd" else "slot"
    columns = (
        Column("lost", lambda row: short(row["lost_cycles_total"])),
        Column("", lambda row: bar(row["lost_cycles_total"] / lost, 5), is_text=True),
        Column("stall", lambda row: short(row["stall_cycles_total"])),
        Column("met", lambda row: f"{row['meeting_count']:,}"),
        Column("waves", lambda row: _number(row["waves_per_meeting"], 1)),
        Column("spread", lambda row: _number(row["spread_cycles_mean"], 0)),
        Column("max", lambda row: _number(row["spread_cycles_max"], 0)),
        Column("late", lambda row: short(row["late_cycles_total"])),
        Column(f"last {place_name} %", lambda row: shares.get(row["row"], "")),
        Column("row", lambda row: str(row["row"])),
        Column("at", lambda row: place(row["file"], row["line"]) or row["text"], takes_rest=True),
    )
    legend = (
        "lost: cycles that waves waited for the last one; met: times a workgroup passed; spread: last - first arrival; "
        "late: cycles by which the last wave was behind the one before; last: whose wave was last, in order of number"
    )
    parts += [Text(legend, "dim"), frame_table(answer.rows, columns, limit=limit, what="barriers")]
    return [*parts, *_causes(answer, limit)]


def _causes(answer: Barriers, limit: int) -> list[RenderableType]:
    """Rows at which the last waves lose time on their way to the costliest barriers."""
    shown = answer.rows.filter(pl.col("meeting_count") > 0)["row"].head(min(limit, _BARRIERS)).to_list()
    parts: list[RenderableType] = []
    for barrier in shown:
        causes = answer.causes.filter(pl.col("row") == barrier)
        if causes.height:
            title = f"on the way to the barrier at row {barrier}, the last wave spends longer at"
            parts += [Text(), frame_table(causes, _CAUSES, limit=min(limit, _PER_BARRIER), what="rows", title=title)]
    return parts


_BARRIERS = 2
_PER_BARRIER = 3
_CAUSES = (
    Column("excess", lambda row: f"+{row['excess_cycles_mean']:,.0f}"),
    Column("last wave", lambda row: f"{row['last_cycles_mean']:,.0f}"),
    Column("others", lambda row: f"{row['other_cycles_mean']:,.0f}"),
    Column("row", lambda row: str(row["cause_row"])),
    Column("line", lambda row: place(row["file"], row["line"]), is_text=True),
    Column("instruction", lambda row: row["text"] or "", takes_rest=True),
)


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:,.{digits}f}"


def _place(answer: Barriers) -> str:
    """The column that distinguishes waves of a workgroup: SIMD, or slot where all are on one SIMD (RDNA)."""
    return "simd" if answer.last_waves["simd"].n_unique() > 1 else "slot"


def _shares(answer: Barriers) -> dict[int, str]:
    """Row -> shares of the places whose wave was last, in the order of the places, in percent."""
    place = _place(answer)
    last_shares = answer.last_waves.group_by("row", place).agg(pl.col("last_share").sum())
    places = sorted(last_shares[place].unique().to_list())
    shares = {(row, at): share for row, at, share in last_shares.iter_rows()}
    rows = last_shares["row"].unique().to_list()
    return {row: "/".join(f"{100 * shares.get((row, at), 0):.0f}" for at in places) for row in rows}


def _verdict(answer: Barriers) -> Text:
    if not answer.workgroup_count:
        return Text("no two waves of a workgroup are in this trace or part of it: who is last cannot be told", "bold")
    share = percent(answer.lost_share)
    text = Text(f"waiting for the last wave at barriers costs {share} of all wave cycles", "bold")
    text.append(f" ({short(answer.lost_cycles_total)} cycles)")
    worst: dict[str, Any] = answer.rows.row(0, named=True)
    place = _place(answer)
    often, count = worst[f"last_{place}_share"], answer.last_waves[place].n_unique()
    if worst["meeting_count"] and count > 1:
        name = "SIMD" if place == "simd" else "slot"
        if often > _SYSTEMATIC / count:
            share = percent(often, 0)
            text.append(
                f"; at row {worst['row']} the wave of {name} {worst[f'last_{place}']} is last in {share} of the cases"
            )
        else:
            text.append(f"; at row {worst['row']} no {name} is systematically last")
    return text


def _workgroups(answer: Barriers) -> Text:
    text = f"{answer.workgroup_count:,} workgroups of {answer.waves_per_workgroup:.1f} traced waves each met"
    if not answer.workgroup_count:
        text = "0 workgroups met"
    if answer.alone_wave_count:
        text += f"; {answer.alone_wave_count:,} waves met no other traced wave"
    return Text(text, "dim")
