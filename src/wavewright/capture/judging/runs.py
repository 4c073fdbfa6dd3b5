"""What an attempt at a trace of the whole program is worth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavewright.base.words import counted
from wavewright.capture.judgement import Judgement, Verdict
from wavewright.capture.judging.endings import causes_of, concluded
from wavewright.errors import NotATraceError, WavewrightError

if TYPE_CHECKING:
    from pathlib import Path

    from wavewright.capture.machines.runner import Ending
    from wavewright.capture.wanted import RunTrace
    from wavewright.model.run import Run

NO_KERNEL_ADVICE = "Does the program launch kernels, in this process or in children that end by themselves?"


def judge_run(wanted: RunTrace, ending: Ending, attempt: Path) -> Judgement:
    """The verdict about a run trace: good if a run with kernels, copies or calls can be read."""
    return concluded(_of_run(wanted, attempt), ending, causes_of(wanted, ending, attempt), attempt)


def _of_run(wanted: RunTrace, attempt: Path) -> Judgement:
    try:
        run = run_below(attempt / "raw")
        if run is None:
            reason = "no trace of a run was written."
            return Judgement(verdict=Verdict.NO_DISPATCH, reasons=(reason,), advice=NO_KERNEL_ADVICE)
        counts = {table: rows_of(run, table) for table in ("dispatches", "copies", "regions")}
    except (WavewrightError, OSError) as error:
        return Judgement(verdict=Verdict.FAILED, reasons=(f"the trace of the run cannot be read: {error}.",))
    words = [
        counted(counts["dispatches"], "dispatches of kernels"),
        counted(counts["copies"], "copies"),
        counted(counts["regions"], "calls and ranges"),
    ]
    if "kernel" in wanted.parts and not counts["dispatches"]:
        reason = f"no kernel was recorded ({', '.join(words[1:])})."
        return Judgement(verdict=Verdict.NO_DISPATCH, reasons=(reason,), advice=NO_KERNEL_ADVICE)
    if not any(counts.values()):
        return Judgement(verdict=Verdict.NO_DISPATCH, reasons=("nothing was recorded.",), advice=NO_KERNEL_ADVICE)
    return Judgement(verdict=Verdict.GOOD, reasons=(f"{', '.join(words)}.",))


def run_below(raw: Path) -> Run | None:
    """The run below a folder; None = there is none.

    Raises
    ------
    WavewrightError
        When what is there cannot be read.
    """
    from wavewright.readers.run.inputs import find_runs, open_inputs

    if not raw.is_dir():
        return None
    try:
        inputs = find_runs([raw])
    except NotATraceError:
        return None
    return open_inputs(inputs)


def rows_of(run: Run, table: str) -> int:
    """Rows of a table, counted in pieces."""
    return sum(chunk.height for chunk in run.chunks(table, ("start_ns",)))
