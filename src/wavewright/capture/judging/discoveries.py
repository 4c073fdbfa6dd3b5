"""What a discovery is worth: whether it names kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavewright.base.words import counted
from wavewright.capture.judgement import Judgement, Verdict
from wavewright.capture.judging.endings import causes_of, concluded
from wavewright.capture.judging.runs import NO_KERNEL_ADVICE
from wavewright.capture.plans.discovery import discovered
from wavewright.errors import NotATraceError, WavewrightError

if TYPE_CHECKING:
    from pathlib import Path

    from wavewright.capture.machines.runner import Ending
    from wavewright.capture.wanted import Discovery


def judge_discovery(wanted: Discovery, ending: Ending, attempt: Path) -> Judgement:
    """The verdict about the kernel trace of a discovery."""
    return concluded(_of_data(attempt), ending, causes_of(wanted, ending, attempt), attempt)


def _of_data(attempt: Path) -> Judgement:
    raw = attempt / "raw"
    if not raw.is_dir():
        return Judgement(verdict=Verdict.NO_DISPATCH, reasons=("the profiler left no file.",), advice=NO_KERNEL_ADVICE)
    try:
        kernels = discovered(raw)
    except NotATraceError:
        return Judgement(verdict=Verdict.NO_DISPATCH, reasons=("no kernel was recorded.",), advice=NO_KERNEL_ADVICE)
    except (WavewrightError, OSError) as error:
        return Judgement(verdict=Verdict.FAILED, reasons=(f"the kernel trace cannot be read: {error}.",))
    processes = f" in {kernels.process_count} processes" if kernels.process_count > 1 else ""
    names, launches = counted(len(kernels.kernels), "kernels"), counted(kernels.dispatch_count, "launches")
    return Judgement(verdict=Verdict.GOOD, reasons=(f"{names} with {launches}{processes}.",))
