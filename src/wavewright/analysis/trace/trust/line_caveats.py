"""Reasons against the source lines of a trace; its cycles are not touched by it."""

from __future__ import annotations

import polars as pl

from wavewright.analysis.common.caveats import Caveat
from wavewright.analysis.trace.trust.mapping import SourceMapping
from wavewright.base.words import counted, percent

#: With fewer of its instructions mapped, a trace has few lines.
_FEW_MAPPED_SHARE = 0.5
#: Lines that spread the cost less than this many equal ones are coarse.
_FEW_EFFECTIVE_LINES = 3.0
#: A line that swallows the code matters from this share of the cost on.
_HEAVY_LINE_SHARE = 0.1


def lines_verdict(lines: SourceMapping) -> str:
    """Good, coarse (one line stands for many instructions), few (most instructions have none) or none."""
    if not lines.mapped_row_count:
        return "none"
    if lines.mapped_share < _FEW_MAPPED_SHARE:
        return "few"
    return "coarse" if _swallowing(lines).height else "good"


def caveats_of_lines(lines: SourceMapping) -> tuple[Caveat, ...]:
    """The caveat behind the verdict, if there is one; traces without code have another problem."""
    verdict = lines_verdict(lines)
    if verdict == "good" or not lines.row_count:
        return ()
    if verdict == "coarse":
        return (_coarse(lines),)
    has = "no instruction has" if verdict == "none" else f"only {percent(lines.mapped_share)} of the instructions have"
    return (Caveat("no_lines", "note", f"{has} a source line", lines.remedy, {"mapped_share": lines.mapped_share}),)


def _swallowing(lines: SourceMapping) -> pl.DataFrame:
    return lines.swallowing.filter(pl.col("weight_share") >= _HEAVY_LINE_SHARE)


def _coarse(lines: SourceMapping) -> Caveat:
    swallowing = _swallowing(lines)
    columns = ("file", "line", "row_count", "row_share", "weight_share")
    places = [
        f"line {line} of {file.rsplit('/', 1)[-1]} for {counted(rows, 'instructions')} ({percent(share)} of its file, "
        f"{percent(weight)} of the cost)"
        for file, line, rows, share, weight in swallowing.select(columns).iter_rows()
    ]
    return Caveat(
        "coarse_lines",
        "care" if lines.effective_line_count < _FEW_EFFECTIVE_LINES else "note",
        f"one source line stands for many instructions: {', '.join(places[:3])}",
        lines.remedy,
        {"line_count": swallowing.height, "effective_line_count": lines.effective_line_count},
    )
