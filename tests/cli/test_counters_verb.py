"""`wavewright counters` and comparisons of counter captures, as a user sees them."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from synth.counter_capture import CounterCapture, write_counter_csv, write_counters
from synth.kernel_work import KernelWork
from tests.cli.in_process import Done, call
from tests.kit.sampling import covering

COPY = KernelWork("void copy<float>(float*)", dispatch_count=6, l2_hit_rate=0.3, channel_imbalance=0.2)
GEMM = KernelWork("gemm", dispatch_count=3, matrix=64, duration_ns=90_000, l2_hit_rate=0.8)
OWN = """[[metrics]]
name = "Waves per CU"
unit = "Waves"
formula = "SQ_WAVES / cu_count"
"""


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("capture")
    write_counters(folder, CounterCapture("gfx942", kernels=(COPY, GEMM)))
    return folder


@pytest.fixture(scope="module")
def slower(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("slower")
    kernels = (replace(COPY, duration_ns=26_000), GEMM)
    write_counters(folder, CounterCapture("gfx942", kernels=kernels, seed=2, with_channels=False))
    return folder


def ok(*arguments: object) -> str:
    done = call("counters", *arguments)
    assert done.status == 0, done.stderr
    return done.stdout


def parsed(done: Done) -> dict[str, Any]:
    answer = json.loads(done.stdout, parse_constant=lambda constant: pytest.fail(f"{constant} in the JSON"))
    assert isinstance(answer, dict)
    return answer


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_the_summary_is_short(capture: Path) -> None:
    text = ok(capture)
    assert len(text.splitlines()) <= 60
    lines = text.splitlines()
    assert lines[0].startswith("MI300X")
    assert "304 CUs" in lines[0]
    assert "9 dispatches of 2 kernels" in lines[1]
    for expected in ("speed of light of 9 dispatches", "#0 is nearest to the peak of: ", "next: ", "memory", "caches"):
        assert expected in text
    assert "copy<float>" in text
    assert "void copy" not in text


@pytest.mark.some_cases(2)
@pytest.mark.parametrize(
    ("options", "width"),
    covering(
        [(), ("--all",), ("--by", "kernel"), ("--by", "dispatch"), ("--all-channels", "--panel", "18")], [80, 120, 200]
    ),
)
def test_lines_fit_and_have_no_colours(
    capture: Path, width: int, options: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("NO_COLOR", "1")
    text = ok(capture, *options)
    assert max(map(len, text.splitlines())) <= width
    assert "\x1b" not in text


@pytest.mark.slow
def test_a_terminal_without_unicode(capture: Path) -> None:
    assert call("counters", capture, "--all", encoding="ascii").status == 0


def test_panels_by_word_number_and_table(capture: Path) -> None:
    by_word, by_number = ok(capture, "--panel", "l2"), ok(capture, "--panel", "17")
    assert by_word == by_number
    assert "17.1 " in by_word
    assert "17.3 " in by_word
    one = ok(capture, "--panel", "17.1")
    assert "17.1 " in one
    assert "17.3 " not in one
    assert "16.1 " in ok(capture, "--panel", "l2", "--panel", "l1")
    wrong = call("counters", capture, "--panel", "l9")
    assert wrong.status == 2
    assert "l2 (17)" in wrong.stderr


def test_panels_without_metrics(capture: Path) -> None:
    text = ok(capture, "--panel", "system", "--panel", "top", "--panel", "raw")
    assert "sysinfo.csv" in text
    assert "SQ_WAVES" in ok(capture, "--panel", "raw", "--top", "0")
    assert "showing 20 of " in text
    assert "2.1.0" not in text
    raw = rows_of(ok(capture, "--panel", "raw", "--csv"))
    assert {row["dispatch_count"] for row in raw if row["counter"] == "SQ_WAVES"} == {"9"}


def test_panels_without_metrics_are_about_the_choice_and_in_every_form(capture: Path) -> None:
    whole = parsed(call("counters", capture, "--panel", "top", "--panel", "system", "--json"))
    assert whole["dispatches"]["row_count"] == whole["dispatch_count"]
    assert whole["system"]["target"] == "gfx942"
    chosen = parsed(call("counters", capture, "--panel", "0", "--kernel", "0", "--json"))
    names = {row["kernel_name"] for row in chosen["dispatches"]["rows"]}
    assert names == {chosen["kernels"]["rows"][0]["kernel_name"]}
    assert chosen["dispatches"]["row_count"] == chosen["dispatch_count"] < whole["dispatch_count"]
    assert len(rows_of(ok(capture, "--panel", "top", "--kernel", "0", "--csv"))) == chosen["dispatch_count"]
    facts = {row["fact"]: row["value"] for row in rows_of(ok(capture, "--panel", "system", "--csv"))}
    assert (facts["target"], float(facts["cu_count"])) == ("gfx942", 304)


def test_files_and_single_kernels_do_not_go_together(capture: Path, tmp_path: Path) -> None:
    done = call("counters", capture, "--by", "kernel", "--csv-dir", tmp_path / "tables")
    assert done.status == 2
    assert not (tmp_path / "tables").exists()


def test_metrics_by_name_and_id(capture: Path) -> None:
    named = {row["metric_id"] for row in rows_of(ok(capture, "--metric", "hit rate", "--csv"))}
    assert {"2.1.21", "17.1.2", "18.1.0"} <= named
    assert [row["name"] for row in rows_of(ok(capture, "--metric", "17.1.2", "--csv"))] == ["Hit Rate"]
    assert call("counters", capture, "--metric", "no such").status == 2


def test_amounts_per_wave(capture: Path) -> None:
    per_kernel, per_wave = (
        rows_of(ok(capture, "--metric", "17.3.1", "--kernel", "gemm", "--per", per, "--csv"))[0]
        for per in ("kernel", "wave")
    )
    assert (per_kernel["unit"], per_wave["unit"]) == ("Req/kernel", "Req/wave")
    assert float(per_kernel["average"]) / float(per_wave["average"]) == pytest.approx(GEMM.waves)


def test_explained(capture: Path) -> None:
    text = ok(capture, "--panel", "17.1", "--explain")
    assert "= 100 * TCC_HIT / (TCC_HIT + TCC_MISS)" in text
    answer = parsed(call("counters", capture, "--panel", "17.1", "--explain", "--json"))
    metrics = answer["panels"][0]["tables"][0]["metrics"]
    assert metrics[2]["formula"] == "100 * TCC_HIT / (TCC_HIT + TCC_MISS)"
    assert "metrics" not in parsed(call("counters", capture, "--panel", "17.1", "--json"))["panels"][0]["tables"][0]


def test_channels_are_statistics_unless_asked_for(capture: Path) -> None:
    text = ok(capture, "--panel", "18.3")
    assert "between channels" in text
    assert len(text.splitlines()) < 25
    every = ok(capture, "--panel", "18.3", "--all-channels")
    assert len(every.splitlines()) > 128


def test_values_per_dispatch(capture: Path) -> None:
    rows = rows_of(ok(capture, "--by", "dispatch", "--metric", "17.1.2", "--csv"))
    assert len(rows) == 9
    hits = {row["kernel_name"]: float(row["17.1.2 Hit Rate (%)"]) for row in rows}
    assert hits["gemm"] == pytest.approx(80, abs=2)
    answer = parsed(call("counters", capture, "--by", "dispatch", "--metric", "17.1.2", "--json"))
    assert answer["values"]["row_count"] == 9
    assert answer["metrics"]["rows"][0]["unit"] == "%"
    text = ok(capture, "--by", "dispatch", "--top", "4")
    assert "showing 4 of 9 dispatches" in text
    assert "metrics" in text


def test_values_per_kernel(capture: Path) -> None:
    rows = rows_of(ok(capture, "--by", "kernel", "--csv"))
    assert [row["kernel_name"] for row in rows] == ["gemm", "void copy<float>(float*)"]
    text = ok(capture, "--by", "kernel")
    assert "#0" in text
    assert "2.1.21" in text


@pytest.mark.first_case
@pytest.mark.parametrize(
    ("options", "count"),
    [
        (("--dispatch", "2"), 1),
        (("--dispatch", "2-4"), 3),
        (("--dispatch", ">6"), 2),
        (("--dispatch", "<=1", "--dispatch", "8"), 3),
        (("--kernel", "gemm"), 3),
        (("--kernel", "1"), 6),
        (("--gpu", "0"), 9),
    ],
)
def test_choices(capture: Path, options: tuple[str, ...], count: int) -> None:
    assert parsed(call("counters", capture, *options, "--json"))["dispatch_count"] == count


@pytest.mark.parametrize(
    "options",
    [
        ("--dispatch", "99"),
        ("--dispatch", "7-3"),
        ("--dispatch", "x"),
        ("--gpu", "5"),
        ("--kernel", "no such kernel"),
        ("--kernel", "99"),
        ("--target", "gfx000"),
        ("--more", "/nowhere.toml"),
    ],
    ids=" ".join,
)
def test_a_choice_of_nothing_is_an_error(capture: Path, options: tuple[str, ...]) -> None:
    done = call("counters", capture, *options)
    assert (done.status, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr


def test_own_metrics(capture: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(OWN)
    text = ok(capture, "--more", own)
    assert "Waves per CU" in text
    assert "speed of light" in text
    row = rows_of(ok(capture, "--more", own, "--metric", "waves per cu", "--kernel", "gemm", "--csv"))[0]
    assert float(row["average"]) == pytest.approx(GEMM.waves / 304)
    own.write_text(OWN.replace("cu_count", "no_such_thing"))
    wrong = call("counters", capture, "--more", own)
    assert wrong.status == 2
    assert "no_such_thing" in wrong.stderr


@pytest.mark.slow
def test_tables_as_files(capture: Path, tmp_path: Path) -> None:
    before = {file: file.stat().st_mtime_ns for file in capture.iterdir()}
    target = tmp_path / "tables"
    assert "tables written to" in ok(capture, "--csv-dir", target, "--amd")
    assert (target / "17.1_L2_Speed-of-Light.csv").read_text().startswith("Metric,Avg,Unit\n")
    again = call("counters", capture, "--csv-dir", target)
    assert again.status == 2
    assert "--force" in again.stderr
    told = parsed(call("counters", capture, "--csv-dir", target, "--force", "--json"))
    assert len(told["written"]) == len(list(target.iterdir()))
    assert call("counters", capture, "--csv-dir", capture / "tables").status == 2
    assert {file: file.stat().st_mtime_ns for file in capture.iterdir()} == before


def test_decimals(capture: Path) -> None:
    assert "79.9998" in ok(capture, "--metric", "17.1.2", "--kernel", "gemm", "--decimals", "4")


def test_blanks_have_reasons(tmp_path: Path) -> None:
    write_counter_csv(tmp_path, CounterCapture(kernels=(COPY,)), passes=[["SQ_WAVES", "TCC_HIT", "TCC_MISS"]])
    text = ok(tmp_path)
    assert "L2 Cache Hit Rate" in text
    assert "blank: " in text
    assert "which was not measured" in text or "which were not measured" in text
    panel = ok(tmp_path, "--panel", "17.1")
    assert "¹ needs " in panel
    for row in rows_of(ok(tmp_path, "--panel", "17.1", "--csv")):
        assert bool(row["average"]) is not bool(row["reason"])


def test_a_gpu_without_panels_shows_its_counters(tmp_path: Path) -> None:
    file = tmp_path / "counters.csv"
    file.write_text(
        "Dispatch_Id,Kernel_Name,Counter_Name,Counter_Value,Start_Timestamp,End_Timestamp\n1,gemm,SQ_WAVES,100,0,1000\n"
    )
    text = ok(file)
    assert "SQ_WAVES" in text
    assert "--target" in text
    assert rows_of(ok(file, "--csv"))[0]["counter"] == "SQ_WAVES"
    assert parsed(call("counters", file, "--json"))["raw"]["rows"][0]["total"] == 100
    assert rows_of(ok(file, "--by", "dispatch", "--csv"))[0]["SQ_WAVES"] == "100.0"


def test_counters_themselves_per_dispatch_and_kernel(capture: Path) -> None:
    rows = rows_of(ok(capture, "--panel", "raw", "--by", "dispatch", "--csv"))
    assert len(rows) == 9
    assert {row["SQ_WAVES (pmc_perf)"] for row in rows if row["kernel_name"] == "gemm"} == {f"{GEMM.waves}.0"}
    assert "TCC_HIT" in rows[0]
    kernels = rows_of(ok(capture, "--panel", "raw", "--by", "kernel", "--csv"))
    assert [row["SQ_WAVES (pmc_perf)"] for row in kernels] == [f"{work.waves}.0" for work in (GEMM, COPY)]


def test_without_a_path() -> None:
    done = call("counters")
    assert done.status == 2
    assert "PATH" in done.stderr


@pytest.mark.slow
def test_compare(capture: Path, slower: Path) -> None:
    done = call("compare", capture, slower)
    assert done.status == 0, done.stderr
    assert done.stdout.startswith("B against A: time of kernels")
    assert "1 slower" in done.stdout
    answer = parsed(call("compare", capture, slower, "--json", "--panel", "2"))
    assert answer["verdicts"][0].startswith("B against A")
    assert answer["kernels"]["rows"][0]["status"] == "slower"
    assert len(answer["losses"]) == 2
    rows = rows_of(call("compare", capture, slower, "--csv", "--metric", "hit rate").stdout)
    assert {row["status"] for row in rows} <= {"same", "higher", "lower", "blank", "not in side"}
    everything = call("compare", capture, slower, "--all", "--top", "0").stdout
    assert len(everything.splitlines()) > len(done.stdout.splitlines())


@pytest.mark.slow
@pytest.mark.some_cases(1)
@pytest.mark.parametrize(("limit", "status"), [("5", 1), ("60", 0), ("0", 1)])
def test_a_threshold_for_regressions(capture: Path, slower: Path, limit: str, status: int) -> None:
    done = call("compare", capture, slower, "--fail-above", limit)
    assert done.status == status
    assert ("1 kernel got slower by more than" in done.stderr) is bool(status)
    answer = parsed(call("compare", capture, slower, "--fail-above", limit, "--json"))
    assert answer["is_failed"] is bool(status)
    assert call("compare", slower, capture, "--fail-above", limit).status == 0


def test_counters_are_not_compared_with_other_things(capture: Path, tmp_path: Path) -> None:
    trace = tmp_path / "x.att"
    trace.write_bytes(bytes.fromhex("1180000000000000") * 4)
    done = call("compare", capture, trace)
    assert done.status == 2
    assert "thread traces and counter captures" in done.stderr


@pytest.mark.first_case
@pytest.mark.parametrize("width", [80, 120, 200])
def test_comparisons_fit(capture: Path, slower: Path, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    assert max(map(len, call("compare", capture, slower, "--all").stdout.splitlines())) <= width
