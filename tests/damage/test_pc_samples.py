"""PC samples that were cut or changed: samples and losses, or one clear error; never a crash."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from synth.pc_samples import SampledRun, write_samples
from tests.damage.test_run_texts import WORDS
from wavewright.analysis.trace.about.overview import contents
from wavewright.analysis.trace.samples.diagnosis import sample_diagnosis
from wavewright.errors import WavewrightError
from wavewright.readers.opening import open_trace

if TYPE_CHECKING:
    from pathlib import Path

NAMES = {"csv": "4711_pc_sampling_stochastic.csv", "json": "4711_results.json", "kernels": "4711_kernel_trace.csv"}
COUNT = 12


@pytest.fixture(params=NAMES)
def specimen(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, bytes]:
    """A file of a run with few samples, and its sound content."""
    form = "json" if request.param == "json" else "csv"
    write_samples(SampledRun(sample_count=COUNT, unread_count=1), tmp_path, form=form)
    file = tmp_path / NAMES[request.param]
    return file, file.read_bytes()


def read(file: Path, data: bytes) -> int:
    """How many samples could be read; -1 = an error that says so."""
    file.write_bytes(data)
    try:
        trace = open_trace(file.parent)
        answer = sample_diagnosis(trace)
    except WavewrightError as error:
        assert str(file.parent) in str(error)
        return -1
    held = contents(trace).pc_samples
    assert held == answer.scope.all_sample_count == trace.sampled_dispatches["sample_count"].sum()
    return held


@pytest.mark.first_case
def test_cut_anywhere(specimen: tuple[Path, bytes]) -> None:
    file, whole = specimen
    step = max(1, len(whole) // 20)
    counts = [read(file, whole[:length]) for length in range(0, len(whole), step)]
    assert max(counts) <= COUNT + 1
    assert read(file, whole) == COUNT + 1


@pytest.mark.slow
def test_changed_anywhere(specimen: tuple[Path, bytes]) -> None:
    file, whole = specimen
    chance = random.Random(file.name)
    for _ in range(30):
        data = bytearray(whole)
        for _ in range(chance.choice((1, 1, 3, 12))):
            at = chance.randrange(len(data))
            if chance.random() < 0.5:
                data[at] = chance.randrange(256)
            else:
                data[at : at + chance.randrange(9)] = chance.choice(WORDS)
        read(file, bytes(data))


@pytest.mark.slow
def test_a_cut_table_counts_what_it_lost(tmp_path: Path) -> None:
    write_samples(SampledRun(sample_count=COUNT), tmp_path)
    file = tmp_path / NAMES["csv"]
    whole = file.read_bytes()
    header = whole.index(b"\n") + 1
    for length in range(header + 1, len(whole), 97):
        file.write_bytes(whole[:length])
        trace = open_trace(tmp_path)
        lines = whole[header:length].count(b"\n") + (not whole[:length].endswith(b"\n"))
        lost = int(trace.losses.filter(trace.losses["kind"] == "malformed_events")["count"].sum())
        assert contents(trace).pc_samples + lost == lines
