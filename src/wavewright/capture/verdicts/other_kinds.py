"""Verdicts about discovery runs, run traces and PC samples, from the files below `attempt/raw`.

Each verdict says whether there are kernels, events or samples that can be read, and how many. Thread traces and
counters, whose verdicts say more, have modules of their own: `thread_traces` and `counters`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavewright.base.words import amount, counted
from wavewright.capture.judgement import Judgement, Verdict
from wavewright.capture.plans.discovery import discovered
from wavewright.errors import NotATraceError, WavewrightError

if TYPE_CHECKING:
    from pathlib import Path

    from wavewright.capture.kinds import RunTrace
    from wavewright.readers.run.inputs import RunInput
    from wavewright.readers.trace.samples.files import SampleFile

PARSED_BYTES_MAX = 256 << 20  #: Size of the largest file of samples that is parsed to count them.
FEW_SAMPLES = 200  #: Below this, shares of lines are mostly chance.
_NO_KERNEL = "Does the program launch kernels, in this process or in children that end by themselves?"


def _nothing(reason: str, advice: str = _NO_KERNEL) -> Judgement:
    return Judgement(verdict=Verdict.NO_DISPATCH, reasons=(reason,), advice=advice)


def _unreadable(subject: str, error: Exception) -> Judgement:
    return Judgement(verdict=Verdict.FAILED, reasons=(f"{subject} cannot be read: {error}.",))


def judge_discovery(attempt: Path) -> Judgement:
    """Judge a discovery run, which records the program once with a kernel trace, to list its kernels and launches."""
    raw = attempt / "raw"
    if not raw.is_dir():
        return _nothing("the profiler left no file.")
    try:
        kernels = discovered(raw)
    except NotATraceError:
        return _nothing("no kernel was recorded.")
    except (WavewrightError, OSError) as error:
        return _unreadable("the kernel trace", error)
    processes = f" in {kernels.process_count} processes" if kernels.process_count > 1 else ""
    names, launches = counted(len(kernels.kernels), "kernels"), counted(kernels.dispatch_count, "launches")
    return Judgement(verdict=Verdict.GOOD, reasons=(f"{names} with {launches}{processes}.",))


def judge_run(recording: RunTrace, attempt: Path) -> Judgement:
    """Judge a run trace: good if a run with kernels, copies or calls can be read."""
    from wavewright.readers.run.inputs import open_inputs

    try:
        inputs = _run_inputs(attempt / "raw")
        if not inputs:
            return _nothing("no trace of a run was written.")
        run = open_inputs(inputs)
        tables = ("dispatches", "copies", "regions")
        counts = [sum(chunk.height for chunk in run.chunks(table, ("start_ns",))) for table in tables]
    except (WavewrightError, OSError) as error:
        return _unreadable("the trace of the run", error)
    names = ("dispatches of kernels", "copies", "calls and ranges")
    words = [counted(count, name) for count, name in zip(counts, names, strict=True)]
    if "kernel" in recording.parts and not counts[0]:
        return _nothing(f"no kernel was recorded ({', '.join(words[1:])}).")
    if not any(counts):
        return _nothing("nothing was recorded.")
    return Judgement(verdict=Verdict.GOOD, reasons=(f"{', '.join(words)}.",))


def _run_inputs(raw: Path) -> list[RunInput]:
    """The runs below a folder; none where it does not exist or holds other files only."""
    from wavewright.readers.run.inputs import find_runs

    try:
        return find_runs([raw], with_passes=True) if raw.is_dir() else []
    except NotATraceError:
        return []


def judge_samples(attempt: Path) -> Judgement:
    """Judge the PC samples below `attempt/raw`."""
    from wavewright.readers.files.inventory import Inventory
    from wavewright.readers.trace.samples.files import find_samples

    raw = attempt / "raw"
    try:
        files = find_samples(raw, Inventory()) if raw.is_dir() else []
        if not files:
            advice = "Ask `rocprofv3-avail list --pc-sampling` whether this GPU can do it; kernels must run a while."
            return _nothing("no PC samples were written.", advice)
        by_run = {file.run: file for file in sorted(files, key=lambda file: file.is_json)}  # JSON holds what CSV does
        counts = [_sample_count(file) for file in by_run.values()]
    except (WavewrightError, OSError) as error:
        return _unreadable("the PC samples", error)
    size = amount(sum(file.byte_count for file in files))
    if None in counts:
        return Judgement(verdict=Verdict.GOOD, reasons=(f"PC samples were written ({size}), too much to count them.",))
    count = sum(filter(None, counts))
    if not count:
        advice = "Use a smaller --interval, or let the kernels run longer."
        return Judgement(verdict=Verdict.EMPTY, reasons=(f"{size} were written, without a sample.",), advice=advice)
    few = (f"fewer than {FEW_SAMPLES}: shares of lines are mostly chance.",) if count < FEW_SAMPLES else ()
    return Judgement(verdict=Verdict.GOOD, reasons=(f"{counted(count, 'samples')} ({size}).", *few))


def _sample_count(file: SampleFile) -> int | None:
    """The number of samples in a file; None = large JSON, which has samples (`find_samples` checks) but is not parsed.

    Rows of a large CSV file are counted without parsing them.
    """
    from wavewright.model.schema import SAMPLE_COUNTS
    from wavewright.readers.files.inventory import Inventory
    from wavewright.readers.trace.samples import read_samples

    if file.byte_count <= PARSED_BYTES_MAX:
        trace = read_samples([file], inventory=Inventory())
        return sum(int(trace.samples[column].sum()) for column in SAMPLE_COUNTS)
    if file.is_json:
        return None
    with file.path.open("rb") as stream:
        return sum(chunk.count(b"\n") for chunk in iter(lambda: stream.read(1 << 20), b"")) - 1  # without the header
