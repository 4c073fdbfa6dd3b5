"""Two verdicts about a trace: whether its cycles can be used, and whether its source lines can."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from wavewright.analysis.common.caveats import Caveat
from wavewright.analysis.trace.trust.caveats import MANY_UNRESOLVED_SHARE, caveats_of_cycles
from wavewright.analysis.trace.trust.coverage import coverage
from wavewright.analysis.trace.trust.mapping import SourceMapping, mapping
from wavewright.base.words import counted, percent
from wavewright.model.answer import once_per_trace
from wavewright.model.trace import ThreadTrace

#: Severity of the worst caveat of the cycles -> verdict; without one they are good.
CYCLES = {"fatal": "do not use", "care": "use with caution", "note": "good"}
#: With fewer of its instructions mapped, a trace has few lines.
_FEW_MAPPED_SHARE = 0.5
#: A line that stands for many instructions counts from this share of the cost on.
_HEAVY_LINE_SHARE = 0.1
#: Such lines are worth care where the cost is spread over fewer lines than this; `effective_line_count` counts them.
_FEW_EFFECTIVE_LINES = 3.0


@dataclass(frozen=True)
class Trust:
    """Trust in a trace: its cycles, and apart from them its source lines."""

    cycles: str  #: good, use with caution, or do not use.
    lines: str  #: good, coarse, few or none.
    #: Whether instructions were executed and most of them have a known PC. Without, nothing is known of what waves did
    #: and waited for: no stall class and no gain can be stated.
    has_code: bool
    caveats_of_cycles: tuple[Caveat, ...]  #: Worst first.
    caveats_of_lines: tuple[Caveat, ...]

    @property
    def caveats(self) -> tuple[Caveat, ...]:
        """All caveats, those of the cycles first."""
        return self.caveats_of_cycles + self.caveats_of_lines


@once_per_trace
def trust_of(trace: ThreadTrace) -> Trust:
    """Both verdicts and the caveats that lead to them."""
    of_cycles, lines, scope = caveats_of_cycles(trace), mapping(trace), coverage(trace)
    resolved_count = scope.instruction_count - scope.unresolved_count
    is_code_unknown = resolved_count == 0 < scope.instruction_count  # a caveat of the cycles; lines are not the problem
    has_code = resolved_count > 0 and resolved_count >= (1 - MANY_UNRESOLVED_SHARE) * scope.instruction_count
    return Trust(
        cycles=cycles_verdict(of_cycles),
        lines=lines_verdict(lines),
        has_code=has_code,
        caveats_of_cycles=of_cycles,
        caveats_of_lines=() if is_code_unknown else caveats_of_lines(lines),
    )


def cycles_verdict(caveats: tuple[Caveat, ...]) -> str:
    """Verdict that the worst caveat allows."""
    severities = {caveat.severity for caveat in caveats}
    return next((word for severity, word in CYCLES.items() if severity in severities), "good")


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
