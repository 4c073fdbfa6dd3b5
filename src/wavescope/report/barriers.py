"""Barriers for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavescope.report.bars import bar
from wavescope.report.tables import Column, frame_table, place, short

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

    from wavescope.analysis.barriers import Barriers

__all__ = ["barriers_report"]


def barriers_report(answer: Barriers, *, limit: int) -> list[RenderableType]:
    """A verdict, then every barrier with its meetings.

    Examples
    --------
    >>> from wavescope.analysis.barriers import barriers
    >>> from wavescope.model import ThreadTrace, TraceSource
    >>> print(barriers_report(barriers(ThreadTrace({}, TraceSource(path="nothing"))), limit=20)[0])
    no barrier was executed
    """
    from rich.text import Text

    if not answer.rows.height:
        return [Text("no barrier was executed", "bold")]
    parts: list[RenderableType] = [_verdict(answer), _workgroups(answer), Text()]
    lost = max(answer.lost_cycles_total, 1)
    per_simd = _by_simd(answer)
    columns = (
        Column("lost", lambda row: short(row["lost_cycles_total"])),
        Column("", lambda row: bar(row["lost_cycles_total"] / lost, 5), is_text=True),
        Column("stall", lambda row: short(row["stall_cycles_total"])),
        Column("met", lambda row: f"{row['meeting_count']:,}"),
        Column("waves", lambda row: _number(row["waves_per_meeting"], 1)),
        Column("spread", lambda row: _number(row["spread_cycles_mean"], 0)),
        Column("max", lambda row: _number(row["spread_cycles_max"], 0)),
        Column("late", lambda row: short(row["late_cycles_total"])),
        Column("last SIMD %", lambda row: per_simd.get(row["row"], "")),
        Column("row", lambda row: str(row["row"])),
        Column("at", lambda row: place(row["file"], row["line"]) or row["text"], takes_rest=True),
    )
    legend = (
        "lost: cycles that waves waited for the last one; met: times a workgroup passed; spread: last - first;\n"
        "late: cycles by which the last wave was behind the one before; last SIMD %: whose wave was last, SIMD 0/1/.."
    )
    return [*parts, Text(legend, "dim"), frame_table(answer.rows, columns, limit=limit, what="barriers")]


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:,.{digits}f}"


def _by_simd(answer: Barriers) -> dict[int, str]:
    shares: dict[int, dict[int, float]] = {}
    for row, simd, share in answer.last_waves.select("row", "simd", "last_share").iter_rows():
        shares.setdefault(row, {})[simd] = share
    width = max((simd for row in shares.values() for simd in row), default=0) + 1
    return {row: "/".join(f"{100 * found.get(simd, 0):.0f}" for simd in range(width)) for row, found in shares.items()}


def _verdict(answer: Barriers) -> Text:
    from rich.text import Text

    share = f"{answer.lost_share:.1%}".replace("%", " %")
    text = Text(f"waiting for the last wave at barriers costs {share} of all wave cycles", "bold")
    text.append(f" ({short(answer.lost_cycles_total)} cycles)")
    worst: dict[str, Any] = answer.rows.row(0, named=True)
    if worst["meeting_count"] and worst["last_simd_share"] is not None:
        expected = 1 / max(worst["waves_per_meeting"], 1)
        said = f"{worst['last_simd_share']:.0%}".replace("%", " %")
        if worst["last_simd_share"] > 1.5 * expected and worst["waves_per_meeting"] > 1:
            text.append(f"; at row {worst['row']} the wave of SIMD {worst['last_simd']} is last in {said} of the cases")
        else:
            text.append(f"; at row {worst['row']} no SIMD is systematically last")
    return text


def _workgroups(answer: Barriers) -> Text:
    from rich.text import Text

    text = f"{answer.workgroup_count:,} workgroups of {answer.waves_per_workgroup:.1f} traced waves each met"
    if answer.alone_wave_count:
        text += f"; {answer.alone_wave_count:,} waves met no other traced wave"
    return Text(text, "dim")
