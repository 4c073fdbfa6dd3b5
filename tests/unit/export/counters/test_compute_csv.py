"""Tables as CSV files: whole or not at all, never into the capture, laid out as the reference does."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import pytest

from synth.counter_capture import CounterCapture, write_counters
from wavewright.analysis.counters.engine.panels import counter_panels
from wavewright.errors import UsageError
from wavewright.export.counters.compute_csv import system_rows, write_compute_csv
from wavewright.readers.counters import open_counters

if TYPE_CHECKING:
    from pathlib import Path

    from wavewright.model.counters import CounterSet


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "capture"
    write_counters(folder, CounterCapture("gfx90a", seed=3))
    return folder


@pytest.fixture(scope="module")
def counters(capture: Path) -> CounterSet:
    return open_counters(capture)


def cells(file: Path) -> list[list[str]]:
    with file.open(encoding="utf-8", newline="") as stream:
        return list(csv.reader(stream))


def test_units_are_honest_unless_the_reference_is_asked_for(counters: CounterSet, tmp_path: Path) -> None:
    name = "2.1_System_Speed-of-Light.csv"
    write_compute_csv(counter_panels(counters, panels=["2"]), counters, tmp_path / "ours")
    write_compute_csv(counter_panels(counters, panels=["2"], amd=True), counters, tmp_path / "theirs")
    ours, theirs = cells(tmp_path / "ours" / name), cells(tmp_path / "theirs" / name)
    assert ours[0] == theirs[0] == ["Metric", "Avg", "Unit", "Peak", "Pct of Peak"]
    assert [row[0] for row in ours] == [row[0] for row in theirs]
    units = {row[0]: (row[2], other[2]) for row, other in zip(ours, theirs, strict=True)}
    assert units["L2 Cache BW"] == ("GB/s", "Gb/s")
    assert units["IPC"] == ("Instr/cycle", "ns")


@pytest.mark.parametrize(("normalization", "unit"), [("wave", "Req per wave"), ("second", "Req per second")])
def test_other_normalizations_have_four_decimals(
    counters: CounterSet, tmp_path: Path, normalization: str, unit: str
) -> None:
    answer = counter_panels(counters, panels=["17.3"], normalization=normalization, amd=True)
    files = write_compute_csv(answer, counters, tmp_path / "tables")
    rows = cells(files[-1])
    assert unit in {row[-1] for row in rows}
    assert all(len(cell.partition(".")[2]) <= 4 for row in rows[1:] for cell in row[1:4] if "e" not in cell)
    files = write_compute_csv(answer, counters, tmp_path / "other", decimals=1)
    assert all(len(cell.partition(".")[2]) <= 1 for row in cells(files[-1])[1:] for cell in row[1:4])


def test_channels_are_rows(counters: CounterSet, tmp_path: Path) -> None:
    files = write_compute_csv(counter_panels(counters, panels=["18.4"]), counters, tmp_path / "tables")
    rows = cells(files[-1])
    assert rows[0] == ["Channel", "L2 Read", "L2 Write", "L2 Atomic"]
    assert [row[0] for row in rows[1:]] == [f"{channel}.0" for channel in range(32)]


def test_the_capture_is_never_written_to(counters: CounterSet, capture: Path) -> None:
    answer = counter_panels(counters, panels=["2"])
    before = sorted(file.name for file in capture.rglob("*"))
    for place in (capture, capture / "tables", capture / ".." / capture.name / "tables"):
        with pytest.raises(UsageError, match="part of the capture"):
            write_compute_csv(answer, counters, place, force=True)
    assert sorted(file.name for file in capture.rglob("*")) == before


def test_earlier_tables_are_replaced_only_when_asked(counters: CounterSet, tmp_path: Path) -> None:
    whole, part = counter_panels(counters, panels=["17"]), counter_panels(counters, panels=["17.1"])
    folder = tmp_path / "tables"
    folder.mkdir()
    assert len(write_compute_csv(whole, counters, folder)) == len(list(folder.iterdir()))
    with pytest.raises(UsageError, match="exists"):
        write_compute_csv(part, counters, folder)
    write_compute_csv(part, counters, folder, force=True)
    assert len(list(folder.iterdir())) == 4
    other = tmp_path / "other"
    other.mkdir()
    (other / "notes.txt").write_text("mine", "utf-8")
    with pytest.raises(UsageError, match="contains other files"):
        write_compute_csv(part, counters, other, force=True)
    assert (other / "notes.txt").read_text("utf-8") == "mine"


def test_kernels_and_dispatches(counters: CounterSet, tmp_path: Path) -> None:
    answer = counter_panels(counters, panels=["17.1"], amd=True)
    write_compute_csv(answer, counters, tmp_path / "tables")
    kernels, dispatches = (
        cells(tmp_path / "tables" / name) for name in ("0.1_Top_Kernels.csv", "0.2_Dispatch_List.csv")
    )
    assert sum(float(row[1]) for row in kernels[1:]) == counters.dispatches.height == len(dispatches) - 1
    assert sum(float(row[-1]) for row in kernels[1:]) == pytest.approx(100)
    assert all(len(line) <= 40 for row in kernels[1:] for line in row[0].split("\n"))
    names = {name[:20] for name in counters.dispatches["kernel_name"]}
    assert {row[1][:20] for row in dispatches[1:]} == names


def test_what_the_machine_says_is_retold_with_its_types() -> None:
    said = {"a": "x, y", "b": "NA", "c": "007", "d": "1638.40", "e": "", "f": "6.0.2-115", "g": "1e3"}
    assert [row[0] for row in system_rows(said)] == ["Info", "x, y", "", "7", "1638.4", "", "6.0.2-115", "1000.0"]
