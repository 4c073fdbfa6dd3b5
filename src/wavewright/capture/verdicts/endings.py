"""Endings of programs and their logs, and what they add to the verdict about the data."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from wavewright.base.shown import printable
from wavewright.capture.judgement import Cause, Judgement, Verdict
from wavewright.capture.kinds import Recording, is_by_rocprofv3
from wavewright.capture.machines.runner import Ending
from wavewright.capture.rocprofv3.messages import (
    cause_of,
    causes_of_command,
    causes_of_hang,
    ends_of,
    log_line,
    messages,
    printable_line,
    recognised,
)

_SHELL_SIGNAL = 128  #: A shell adds it to the number of the signal that ended a program.
_SIGNAL_MAX = 64  #: Linux has no signals of higher numbers.
_SIGNAL_NAMES = {known.value: known.name for known in signal.Signals}
_ABORTS = frozenset({-6, 134})  #: SIGABRT, as Python and as a shell tell it.
#: Rows of messages about AMD's decoder, which runs when the raw data are written: an abort there loses nothing.
_AFTER_WRITING = frozenset({2, 3, 5, 6, 86, 87, 91})
_NOT_COUNTED = 22  #: The row that nothing prints: counters that are 0.
_USAGE_STATUS = 2  #: With which AMD's script (argparse) refuses words.
#: What the library prints in every profiled process: the program was really started.
_STARTED = ("tool initialization", "initialized (instance=", "[rocprof-sys]", "rpd_tracer")


def causes_of(recording: Recording, ending: Ending, attempt: Path) -> tuple[Cause, ...]:
    """The causes that were recognised in the output of an attempt, its command and its ending; one per row."""
    texts = [ends_of(attempt / name) for name in ("stderr.txt", "stdout.txt")]
    causes = [*(cause for text in texts for cause in recognised(text))]
    causes += causes_of_command(ending.status, recording.variables)
    if ending.stopped == "timeout":
        is_of_systems = getattr(recording, "tool", "").startswith("rocprof-sys")
        is_of_all_gpus = is_by_rocprofv3(recording) and recording.gpu_index is None
        causes += causes_of_hang(["rocprof-sys"] * is_of_systems + ["rocprofv3 and all GPUs"] * is_of_all_gpus)
    by_row: dict[int, Cause] = {}
    for cause in causes:
        earlier = by_row.get(cause.number)
        by_row[cause.number] = cause if earlier is None else replace(earlier, count=earlier.count + cause.count)
    return tuple(by_row.values())


def words_of(ending: Ending) -> str:
    """The ending of a program as a clause; empty = well."""
    if ending.stopped:
        why = "at the time limit" if ending.stopped == "timeout" else "on request"
        return f"the program was stopped {why} after {ending.seconds:,.0f} s"
    if ending.status is None:
        return f"the program could not be started: {printable_line(ending.problem) or 'no reason was given'}"
    status = ending.status
    number = -status if status < 0 else status - _SHELL_SIGNAL if status > _SHELL_SIGNAL else 0
    if 0 < number <= _SIGNAL_MAX:
        return f"the program was ended by {_SIGNAL_NAMES.get(number, f'signal {number}')}"
    return f"the program ended with status {status}" if status else ""


def concluded(data: Judgement, ending: Ending, causes: Sequence[Cause], attempt: Path) -> Judgement:
    """The verdict about an attempt: that of its data if they are worth keeping, else what explains their lack."""
    ended = words_of(ending)
    if ending.status in _ABORTS and any(cause.number in _AFTER_WRITING for cause in causes):
        ended = ""
    refusal = next((cause for cause in causes if messages()[cause.number].verdict is Verdict.REFUSED), None)
    reasons, advice = list(data.reasons), data.advice
    if ending.stopped == "interrupted":
        verdict, reasons = Verdict.INTERRUPTED, [f"{ended}.", *reasons]
    elif data.is_kept:
        verdict = data.verdict
        reasons += [f"{ended}; the data were written all the same."] if ended else []
    elif refusal is not None:
        verdict, reasons, advice = Verdict.REFUSED, [refusal.cause, *reasons], refusal.remedy
    elif ending.status is None and not ending.stopped:
        verdict, reasons = Verdict.REFUSED, [f"{ended}."]
    elif ending.stopped:
        verdict, reasons = Verdict.HUNG, [f"{ended}, and left nothing to keep.", *reasons]
        advice = "Give it more time (--timeout), or a shorter problem; then see whether it ends without the profiler."
    elif ending.status == _USAGE_STATUS and not any(sign in ends_of(attempt / "stderr.txt") for sign in _STARTED):
        verdict, reasons = Verdict.REFUSED, [f"the profiler ended with status {_USAGE_STATUS}.", *_last_line(attempt)]
    elif ended:
        verdict, reasons = Verdict.FAILED, [f"{ended}.", *_last_line(attempt), *reasons]
        explained = next((cause for cause in causes if messages()[cause.number].verdict is Verdict.FAILED), None)
        advice = explained.remedy if explained else "Run the program without the profiler; it has to work there first."
    else:
        verdict = data.verdict
        telling = [cause for cause in causes if messages()[cause.number].verdict is data.verdict]
        reasons += [cause.cause for cause in telling]
        advice = " ".join([*(cause.remedy for cause in telling), advice]).strip()
    if verdict is Verdict.NOT_COUNTED:
        causes = [*causes, cause_of(_NOT_COUNTED, "every value is 0")]
    reasons = [_sentence(reason) for reason in reasons]
    return replace(data, verdict=verdict, reasons=tuple(dict.fromkeys(reasons)), advice=advice, causes=tuple(causes))


def _sentence(text: str) -> str:
    """A printable sentence with a capital letter; it may hold names of kernels and files."""
    text = printable(text)
    return text if text.startswith(("rocprofv3", "aqlprofile", "gfx")) else text[:1].upper() + text[1:]


def _last_line(attempt: Path) -> list[str]:
    """The last line of its errors, which is where programs say why they end."""
    for name in ("stderr.txt", "stdout.txt"):
        lines = [line for line in ends_of(attempt / name)[-4096:].splitlines() if line.strip()]
        own_lines = [line for line in lines if log_line(line) is None]
        if own_lines:
            return [f"Its last line: {printable_line(own_lines[-1])}"]
    return []
