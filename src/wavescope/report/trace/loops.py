"""Loops and what their iterations cost, for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from wavescope.base.words import percent
from wavescope.report.kit.bars import bar
from wavescope.report.kit.tables import WIDE, Column, frame_table, place, printable, short

if TYPE_CHECKING:
    from rich.console import RenderableType

    from wavescope.analysis.trace.costs.loops import Loops

_SLOW_START = 1.5


def loops_report(answer: Loops, *, limit: int, width: int = WIDE) -> list[RenderableType]:
    """A verdict and the loops, inner ones below the one around them."""
    if not answer.loops.height:
        return [Text("no wave went round a loop")]
    parts: list[RenderableType] = [_verdict(answer), Text()]
    parts.append(frame_table(answer.loops, _COLUMNS, limit=limit, width=width, what="loops"))
    if answer.left_out_count:
        parts.append(Text(f"{answer.left_out_count:,} loops that ran less often are left out", "bold yellow"))
    return parts


def _verdict(answer: Loops) -> Text:
    top = answer.loops.sort("self_cycles_share", descending=True, maintain_order=True).row(0, named=True)
    text = Text(f"{percent(1 - answer.outside_cycles_share)} of the cycles are in loops")
    text.append("; hottest: ").append(f"loop {top['loop']}", "bold")
    where = _where(top)
    text.append(f"{f' ({printable(where)})' if where else ''}, {percent(top['self_cycles_share'])}")
    if top["iteration_count"] is None:
        return text
    text.append(f": {top['trips_median']:.0f} trips of {short(top['iteration_cycles_median'])} cycles")
    if top["steady_stall_share"] is not None:
        text.append(f", {percent(top['steady_stall_share'])} of them stall")
    steady = top["steady_cycles_median"]
    if steady and top["first_cycles_median"] > _SLOW_START * steady:
        text.append(f"; the first takes {top['first_cycles_median'] / steady:.1f} times as long")
    return text


def _where(row: dict[str, Any]) -> str:
    name = place(row["file"], row["first_line"])
    return f"{name}-{row['last_line']}" if name and row["last_line"] != row["first_line"] else name


def _trips(row: dict[str, Any]) -> str:
    if row["trips_min"] is None:
        return "-"
    if row["trips_min"] == row["trips_max"]:
        return f"{row['trips_min']:,}"
    return f"{row['trips_min']:,}..{row['trips_max']:,}"


def _cycles(name: str) -> Any:
    return lambda row: "-" if row[name] is None else short(row[name])


_COLUMNS = (
    Column("loop", lambda row: "  " * min(row["depth"], 8) + str(row["loop"]), is_text=True, is_fixed=True),
    Column("share", lambda row: percent(row["cycles_share"])),
    Column("", lambda row: bar(row["cycles_share"], 6), is_text=True, is_fixed=True, is_wide=True),
    Column("waves", lambda row: "-" if row["wave_count"] is None else f"{row['wave_count']:,}", is_wide=True),
    Column("trips", _trips),
    Column("cycles", _cycles("iteration_cycles_median")),
    Column("min", _cycles("iteration_cycles_min"), is_wide=True),
    Column("max", _cycles("iteration_cycles_max"), is_wide=True),
    Column("first", _cycles("first_cycles_median")),
    Column("steady", _cycles("steady_cycles_median")),
    Column("last", _cycles("last_cycles_median")),
    Column("stall", lambda row: percent(row["steady_stall_share"])),
    Column("address", lambda row: f"{row['address']:#x}", is_wide=True),
    Column("source", lambda row: printable(_where(row) or row["function"] or ""), takes_rest=True),
)
