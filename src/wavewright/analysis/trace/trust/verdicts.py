"""Two verdicts about a trace: whether its cycles can be used, and whether its source lines can."""

from __future__ import annotations

from dataclasses import dataclass

from wavewright.analysis.common.caveats import Caveat
from wavewright.analysis.trace.trust.caveats import MANY_UNRESOLVED_SHARE, caveats_of_cycles
from wavewright.analysis.trace.trust.coverage import coverage
from wavewright.analysis.trace.trust.line_caveats import caveats_of_lines, lines_verdict
from wavewright.analysis.trace.trust.mapping import mapping
from wavewright.model.answer import once_per_trace
from wavewright.model.trace import ThreadTrace

#: Severity of the worst caveat of the cycles -> verdict; without one they are good.
CYCLES = {"fatal": "do not use", "care": "use with caution", "note": "good"}


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
    has_code = resolved_count > 0 and resolved_count >= (1 - MANY_UNRESOLVED_SHARE) * scope.instruction_count
    return Trust(
        cycles=cycles_verdict(of_cycles),
        lines=lines_verdict(lines),
        has_code=has_code,
        caveats_of_cycles=of_cycles,
        caveats_of_lines=caveats_of_lines(lines) if resolved_count or not scope.instruction_count else (),
    )


def cycles_verdict(caveats: tuple[Caveat, ...]) -> str:
    """Verdict that the worst caveat allows.

    Examples
    --------
    >>> cycles_verdict(())
    'good'
    """
    severities = {caveat.severity for caveat in caveats}
    return next((word for severity, word in CYCLES.items() if severity in severities), "good")
