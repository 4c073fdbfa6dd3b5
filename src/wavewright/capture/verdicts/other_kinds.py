"""Verdicts about discoveries, traces of runs and PC samples: whether the data name kernels, and how many."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from wavewright.base.words import amount, counted
from wavewright.capture.judgement import Judgement, Verdict
from wavewright.capture.plans.discovery import discovered
from wavewright.errors import NotATraceError, WavewrightError

if TYPE_CHECKING:
    from pathlib import Path

    from wavewright.capture.kinds import RunTrace
    from wavewright.readers.trace.samples.files import SampleFile

READ_BYTES_MAX = 256 << 20  #: Of a file of samples that is read whole; of larger ones rows are only counted.
FEW_SAMPLES = 200  #: Below this, shares of lines are mostly chance.
_NO_KERNEL = "Does the program launch kernels, in this process or in children that end by themselves?"


def _nothing(reason: str, advice: str = _NO_KERNEL) -> Judgement:
    return Judgement(verdict=Verdict.NO_DISPATCH, reasons=(reason,), advice=advice)


def _unreadable(subject: str, error: Exception) -> Judgement:
    return Judgement(verdict=Verdict.FAILED, reasons=(f"{subject} cannot be read: {error}.",))


def judge_discovery(attempt: Path) -> Judgement:
    """Judge the kernel trace of a discovery."""
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
    from wavewright.readers.run.inputs import find_runs, open_inputs

    raw = attempt / "raw"
    try:
        inputs = None
        with suppress(NotATraceError):
            inputs = find_runs([raw], with_passes=True) if raw.is_dir() else None
        if inputs is None:
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
        count = sum(map(_sample_count, by_run.values()))
    except (WavewrightError, OSError) as error:
        return _unreadable("the PC samples", error)
    size = amount(sum(file.byte_count for file in files))
    if not count:
        advice = "Use a smaller --interval, or let the kernels run longer."
        return Judgement(verdict=Verdict.EMPTY, reasons=(f"{size} were written, without a sample.",), advice=advice)
    few = (f"fewer than {FEW_SAMPLES}: shares of lines are mostly chance.",) if count < FEW_SAMPLES else ()
    return Judgement(verdict=Verdict.GOOD, reasons=(f"{counted(count, 'samples')} ({size}).", *few))


def _sample_count(file: SampleFile) -> int:
    """Samples of a file; of a large one its lines, of large JSON one: its reader told that it holds samples."""
    from wavewright.model.schema import SAMPLE_COUNTS
    from wavewright.readers.files.inventory import Inventory
    from wavewright.readers.trace.samples import read_samples

    if file.byte_count <= READ_BYTES_MAX:
        trace = read_samples([file], inventory=Inventory())
        return sum(int(trace.samples[column].sum()) for column in SAMPLE_COUNTS)
    if file.is_json:
        return 1
    with file.path.open("rb") as stream:
        return sum(piece.count(b"\n") for piece in iter(lambda: stream.read(1 << 20), b"")) - 1
