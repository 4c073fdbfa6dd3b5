"""What an attempt at PC sampling is worth: whether there are samples, and of what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavewright.base.words import amount, counted
from wavewright.capture.judgement import Judgement, Verdict
from wavewright.capture.judging.endings import causes_of, concluded
from wavewright.errors import WavewrightError

if TYPE_CHECKING:
    from pathlib import Path

    from wavewright.capture.machines.runner import Ending
    from wavewright.capture.wanted import Samples
    from wavewright.readers.trace.samples.files import SampleFile

READ_BYTES_MAX = 256 << 20  #: Of a file of samples that is read whole; of larger ones rows are only counted.
FEW_SAMPLES = 200  #: Below this, shares of lines are mostly chance.


def judge_samples(wanted: Samples, ending: Ending, attempt: Path) -> Judgement:
    """The verdict about the PC samples below `attempt/raw`."""
    return concluded(_of_data(attempt), ending, causes_of(wanted, ending, attempt), attempt)


def _of_data(attempt: Path) -> Judgement:
    from wavewright.readers.files.inventory import Inventory
    from wavewright.readers.trace.samples.files import find_samples

    raw = attempt / "raw"
    try:
        files = find_samples(raw, Inventory()) if raw.is_dir() else []
        if not files:
            advice = "Ask `rocprofv3-avail list --pc-sampling` whether this GPU can do it; kernels must run a while."
            return Judgement(verdict=Verdict.NO_DISPATCH, reasons=("no PC samples were written.",), advice=advice)
        count = sum(_samples_of(file) for file in _one_per_run(files))
    except (WavewrightError, OSError) as error:
        return Judgement(verdict=Verdict.FAILED, reasons=(f"the PC samples cannot be read: {error}.",))
    size = amount(sum(file.byte_count for file in files))
    if not count:
        advice = "Use a smaller --interval, or let the kernels run longer."
        return Judgement(verdict=Verdict.EMPTY, reasons=(f"{size} were written, without a sample.",), advice=advice)
    few = (f"fewer than {FEW_SAMPLES}: shares of lines are mostly chance.",) if count < FEW_SAMPLES else ()
    return Judgement(verdict=Verdict.GOOD, reasons=(f"{counted(count, 'samples')} ({size}).", *few))


def _one_per_run(files: list[SampleFile]) -> list[SampleFile]:
    """The files of all runs, each run in one form: JSON holds what CSV does."""
    chosen: dict[object, SampleFile] = {}
    for file in sorted(files, key=lambda file: file.is_json):
        chosen[file.run] = file
    return list(chosen.values())


def _samples_of(file: SampleFile) -> int:
    """Samples of a file; of a large one its lines, of large JSON one: its reader told that it holds samples."""
    if file.byte_count > READ_BYTES_MAX:
        return 1 if file.is_json else _lines_of(file.path) - 1
    from wavewright.model.schema import SAMPLE_COUNTS
    from wavewright.readers.files.inventory import Inventory
    from wavewright.readers.trace.samples import read_samples

    trace = read_samples([file], inventory=Inventory())
    return sum(int(trace.samples[column].sum()) for column in SAMPLE_COUNTS)


def _lines_of(path: Path) -> int:
    with path.open("rb") as file:
        return sum(piece.count(b"\n") for piece in iter(lambda: file.read(1 << 20), b""))
