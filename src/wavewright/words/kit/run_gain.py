"""The gain of a kernel, carried to its run, in words: the same in diagnoses and what-ifs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavewright.base.words import counted, duration, percent

if TYPE_CHECKING:
    from wavewright.analysis.common.run_gain import RunGain


_LEAST_SHARE = 0.001  #: A smaller share of the run or step is only said to be below it.


def run_gain_words(gain: RunGain) -> str:
    """The gain of the run, and of its steps; empty = there is none to tell.

    >>> from wavewright.analysis.common.run_gain import RunGain
    >>> run_gain_words(RunGain(9, 900_000, 20_000_000, 0, 390_000))
    'the run (20.0 ms) would take at most 390.0 us (1.9 % of it) less'
    >>> run_gain_words(RunGain(9, 900_000, 20_000_000, 0, 390_000, 4, 4e6, 20_000.0, 97_500.0))
    'the run (20.0 ms) would take at most 390.0 us (1.9 % of it) less; a step (4.0 ms, 4 steps) 20.0 us to 97.5 us'
    """
    if gain.unknown or not gain.span_ns:
        return ""
    interval = _interval(gain.gain_ns_min, gain.gain_ns_max, gain.span_ns)
    run = f"the run ({duration(gain.span_ns)}) would take {interval} less"
    if gain.step_gain_ns_max is None or gain.step_gain_ns_min is None or not gain.step_ns_median:
        return run
    step = f"a step ({duration(gain.step_ns_median)}, {counted(gain.step_count, 'steps')})"
    return f"{run}; {step} {_interval(gain.step_gain_ns_min, gain.step_gain_ns_max)}"


def calls_words(gain: RunGain) -> str:
    """The calls in the run that the gain is of, or why nothing can be told.

    >>> from wavewright.analysis.common.run_gain import RunGain
    >>> calls_words(RunGain(9, 900_000, 20_000_000, 0, 390_000))
    'its 9 calls of this size take 900.0 us of 20.0 ms'
    >>> calls_words(RunGain(9, 900_000, 0, 0, 0, unknown="no call is recorded"))
    'its 9 calls of this size take 900.0 us; what a gain would do to the run is not known: no call is recorded'
    """
    calls = f"its {counted(gain.call_count, 'calls')} of this size take {duration(gain.calls_ns)}"
    if not gain.unknown:
        return f"{calls} of {duration(gain.span_ns)}"
    unknown = f"what a gain would do to the run is not known: {gain.unknown}"
    return f"{calls}; {unknown}" if gain.call_count else unknown


def _interval(least_ns: float, most_ns: float, whole_ns: float = 0) -> str:
    least, most = (f"{duration(ns)}{_of_whole(ns, whole_ns)}" for ns in (least_ns, most_ns))
    if least_ns == most_ns == 0:
        return "nothing"
    if least_ns == most_ns:
        return most
    return f"at most {most}" if least_ns <= 0 < most_ns else f"{least} to {most}"


def _of_whole(part_ns: float, whole_ns: float) -> str:
    if not whole_ns:
        return ""
    share = part_ns / whole_ns
    return f" ({percent(share) if abs(share) >= _LEAST_SHARE else f'below {percent(_LEAST_SHARE)}'} of it)"
