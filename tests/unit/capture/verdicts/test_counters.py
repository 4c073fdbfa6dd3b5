"""Verdicts about counters, from synthetic captures cut into passes and from real ones of a Radeon."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from synth.counter_capture import CounterCapture, write_counter_csv
from tests.unit.capture.verdicts.attempts import WELL, attempt_in, ended
from wavewright.capture.judgement import Judgement, Verdict
from wavewright.capture.kinds import Counters
from wavewright.capture.verdicts import judge
from wavewright.readers.counters import open_counters

PASSES = (("SQ_WAVES", "TCC_HIT", "TCC_MISS"), ("TCC_EA0_RDREQ", "TCC_EA0_RDREQ_32B"), ("GRBM_GUI_ACTIVE",))
SPELLED = (("SQ_WAVES", "TCC_HIT_sum", "TCC_MISS_sum"), ("TCC_EA0_RDREQ_sum", "TCC_EA0_RDREQ_32B_sum"), PASSES[2])
EXCEEDS = (
    "F20260101 12:00:00.000001 77 tool.cpp:900] Could not construct profile cfg: "
    "ROCPROFILER_STATUS_ERROR_EXCEEDS_HW_LIMIT :: Request exceeds the capabilities of the hardware to collect\n"
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_counter_csv(tmp_path_factory.mktemp("made"), CounterCapture("gfx942"), passes=PASSES).folder


def taken(folder: Path, made: Path, *numbers: int, stderr: str = "") -> Path:
    """An attempt with some of the passes, under the names that our commands give: pass_N/PID/counters_..."""
    attempt = attempt_in(folder, stderr=stderr)
    for number in numbers:
        below = attempt / "raw" / f"pass_{number}" / str(4000 + number)
        below.mkdir(parents=True)
        for path in (made / f"pass_{number}").iterdir():
            shutil.copyfile(path, below / path.name.replace("out_", "counters_"))
    return attempt


def changed(attempt: Path, number: int, change: Callable[[dict[str, str]], dict[str, str] | None]) -> None:
    """Rewrite the rows of a pass: `change` gets a row and gives it back, or None to leave it out."""
    [path] = (attempt / "raw" / f"pass_{number}").rglob("*counter_collection.csv")
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    kept_rows = [row for row in map(change, rows) if row is not None]
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(kept_rows)


def verdict_of(
    attempt: Path, passes: tuple[tuple[str, ...], ...] = SPELLED, launches: tuple[int, ...] = ()
) -> Judgement:
    return judge(Counters(program=("app",), passes=passes, launches=launches), WELL, attempt)


def test_all_passes_make_one_capture(tmp_path: Path, made: Path) -> None:
    attempt = taken(tmp_path, made, 1, 2, 3)
    judgement = verdict_of(attempt)
    assert judgement.verdict is Verdict.GOOD, judgement
    assert judgement.missing == ()
    assert "6 counters" in judgement.reasons[0]
    assert "3 passes" in judgement.reasons[0]
    joined = open_counters(attempt / "raw")
    assert joined.passes.height == 3
    assert joined.dispatches.height == open_counters(made).dispatches.height
    assert set(joined.counters["counter"]) == {name for names in PASSES for name in names}


def test_what_only_one_gpu_is_asked_for_is_found_by_its_name(tmp_path: Path, made: Path) -> None:
    judgement = verdict_of(taken(tmp_path, made, 1), (("SQ_WAVES:device=0", "TCC_HIT_sum"),))
    assert judgement.verdict is Verdict.GOOD


def test_a_pass_that_is_missing_leaves_the_others(tmp_path: Path, made: Path) -> None:
    judgement = verdict_of(taken(tmp_path, made, 1, 3))
    assert judgement.verdict is Verdict.INCOMPLETE
    assert judgement.is_kept
    assert judgement.missing == SPELLED[1]


def test_a_counter_of_another_gpu_is_missing(tmp_path: Path, made: Path) -> None:
    judgement = verdict_of(taken(tmp_path, made, 1), (("SQ_WAVES", "TCC_EA_RDREQ_sum"),))
    assert judgement.verdict is Verdict.INCOMPLETE
    assert judgement.missing == ("TCC_EA_RDREQ_sum",)
    assert "rocprofv3-avail" in judgement.advice


def test_a_counter_in_the_wrong_pass_does_not_count(tmp_path: Path, made: Path) -> None:
    judgement = verdict_of(taken(tmp_path, made, 1, 2), (("SQ_WAVES",), ("SQ_WAVES",)))
    assert judgement.missing == ("SQ_WAVES",)


def test_zeros_everywhere_are_not_counted(tmp_path: Path, made: Path) -> None:
    attempt = taken(tmp_path, made, 1, 2)
    for number in (1, 2):
        changed(attempt, number, lambda row: row | {"Counter_Value": "0"})
    judgement = verdict_of(attempt, SPELLED[:2])
    assert judgement.verdict is Verdict.NOT_COUNTED
    assert not judgement.is_kept
    assert set(judgement.silent) == {*SPELLED[0], *SPELLED[1]}
    assert "amd-smi" in judgement.advice


def test_zeros_that_cannot_be_true_are_named(tmp_path: Path, made: Path) -> None:
    attempt = taken(tmp_path, made, 1, 3)
    changed(attempt, 1, lambda row: row if row["Counter_Name"] == "SQ_WAVES" else row | {"Counter_Value": "0"})
    judgement = verdict_of(attempt, (SPELLED[0], (), SPELLED[2])[:1])
    assert judgement.verdict is Verdict.INCOMPLETE
    assert set(judgement.silent) == {"TCC_HIT_sum", "TCC_MISS_sum"}


def test_zeros_that_may_be_true_are_only_mentioned(tmp_path: Path, made: Path) -> None:
    attempt = taken(tmp_path, made, 2)
    (attempt / "raw/pass_2").rename(attempt / "raw/pass_1")
    changed(attempt, 1, lambda row: row if "32B" not in row["Counter_Name"] else row | {"Counter_Value": "0"})
    judgement = verdict_of(attempt, (SPELLED[1],))
    assert judgement.verdict is Verdict.GOOD
    assert judgement.silent == ("TCC_EA0_RDREQ_32B_sum",)
    assert any("may be true" in reason for reason in judgement.reasons)


def test_launches_that_a_pass_lacks(tmp_path: Path, made: Path) -> None:
    attempt = taken(tmp_path, made, 1, 2)
    changed(attempt, 2, lambda row: row if int(row["Dispatch_Id"]) < 4 else None)
    judgement = verdict_of(attempt, SPELLED[:2])
    assert judgement.verdict is Verdict.INCOMPLETE
    assert any("in some passes" in reason for reason in judgement.reasons)


def test_launches_that_the_program_did_not_make(tmp_path: Path, made: Path) -> None:
    attempt = taken(tmp_path, made, 1)
    judgement = verdict_of(attempt, SPELLED[:1], launches=tuple(range(1, 5000)))
    assert judgement.verdict is Verdict.INCOMPLETE
    assert any("of 4,999 launches" in reason for reason in judgement.reasons)


def test_more_than_the_hardware_can_count_is_refused(tmp_path: Path) -> None:
    attempt = attempt_in(tmp_path, stderr=EXCEEDS)
    judgement = judge(Counters(program=("app",), passes=SPELLED), ended(134), attempt)
    assert judgement.verdict is Verdict.REFUSED
    assert [cause.number for cause in judgement.causes] == [17]
    assert "passes" in judgement.advice
    assert set(judgement.missing) == {name for names in SPELLED for name in names}


def test_a_refused_pass_does_not_lose_the_others(tmp_path: Path, made: Path) -> None:
    attempt = taken(tmp_path, made, 1, stderr=EXCEEDS)
    judgement = judge(Counters(program=("app",), passes=SPELLED[:2]), ended(134), attempt)
    assert judgement.verdict is Verdict.INCOMPLETE
    assert judgement.missing == SPELLED[1]
    assert 17 in [cause.number for cause in judgement.causes]


def test_nothing_was_written(tmp_path: Path) -> None:
    judgement = verdict_of(attempt_in(tmp_path))
    assert judgement.verdict is Verdict.NO_DISPATCH
    assert "discover" in judgement.advice


@pytest.mark.parametrize("content", [b"", b"\x00\xff" * 500, b"Kernel_Name,Counter_Name\n", b"a,b\n1,2\n"])
def test_damaged_files_are_a_verdict(tmp_path: Path, content: bytes) -> None:
    attempt = attempt_in(tmp_path)
    (attempt / "raw/pass_1").mkdir()
    (attempt / "raw/pass_1/x_counter_collection.csv").write_bytes(content)
    judgement = verdict_of(attempt)
    assert judgement.verdict in (Verdict.NO_DISPATCH, Verdict.FAILED)
    assert judgement.reasons


@pytest.mark.parametrize(
    ("folder", "parts", "verdict"),
    [
        ("gl2c_724", ("gl2c_req", "ea_rd"), Verdict.NOT_COUNTED),
        ("gl2c_724_profstd", ("gl2c_req",), Verdict.GOOD),
        # The sizes of its requests stay 0 there, although requests are counted.
        ("gl2c_724_profstd", ("gl2c_req", "ea_rd"), Verdict.INCOMPLETE),
    ],
)
def test_a_real_radeon_counts_only_at_a_fixed_performance_level(
    shared: Path, tmp_path: Path, folder: str, parts: tuple[str, ...], verdict: Verdict
) -> None:
    source = shared / "data/gfx1201-counters-pcsampling" / folder
    attempt = attempt_in(tmp_path)
    recording = []
    for number, name in enumerate(parts, start=1):
        below = attempt / "raw" / f"pass_{number}"
        below.mkdir()
        for path in (source / name).glob("*.csv"):
            shutil.copyfile(path, below / path.name)
        with (source / name / "r_counter_collection.csv").open(newline="") as file:
            recording.append(tuple(dict.fromkeys(row["Counter_Name"] for row in csv.DictReader(file))))
    judgement = verdict_of(attempt, tuple(recording))
    assert judgement.verdict is verdict, judgement
