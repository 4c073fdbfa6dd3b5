"""Captures of counters from strangers: every analysis gives finite numbers with reasons, or one clear error."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import sqlite3
import warnings
from contextlib import closing
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from synth import CounterCapture, KernelWork, write_counters
from tests.cli.in_process import call
from tests.kit.sampling import every_third, every_third_pair, examples
from wavewright.analysis.counters.contents import counter_contents
from wavewright.analysis.counters.engine.panels import counter_panels
from wavewright.analysis.counters.l2 import l2
from wavewright.analysis.counters.limiters import limiters
from wavewright.analysis.counters.memory_chart import memory_chart
from wavewright.analysis.counters.raw import raw_counters
from wavewright.analysis.counters.roofline import roofline
from wavewright.analysis.counters.values import raw_values
from wavewright.errors import WavewrightError
from wavewright.model.answer import to_builtins
from wavewright.model.counters import CounterSet
from wavewright.readers.counters import open_counters

NASTY = "</script><img src=x onerror=alert(1)>&\"'|\u2028\u202e\x07\x1b[31m=cmd()\t[red]"
LONG = (
    "Dispatch_Id,Agent_Id,Process_Id,Grid_Size,Kernel_Name,Counter_Name,Counter_Value,Start_Timestamp,End_Timestamp\n"
)
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2028\u2029]")
ANALYSES = (
    counter_panels,
    counter_contents,
    raw_counters,
    lambda counters: raw_values(counters, by="dispatch"),
    roofline,
    memory_chart,
    limiters,
    l2,
    lambda counters: counter_panels(counters, amd=True),
)


@cache
def specimen() -> dict[str, bytes]:
    """The files of a small capture."""
    with TemporaryDirectory() as folder:
        works = (KernelWork("alpha", dispatch_count=2), KernelWork("beta", dispatch_count=1, matrix=4))
        write_counters(folder, CounterCapture("gfx942", kernels=works, with_channels=False))
        return {file.name: file.read_bytes() for file in Path(folder).iterdir()}


def placed(folder: Path, **changed: bytes) -> Path:
    """The small capture in a folder with some files changed: their names without .csv."""
    for name, content in specimen().items():
        (folder / name).write_bytes(changed.get(name.removesuffix(".csv"), content))
    return folder


def cells(name: str, value: str, columns: str) -> bytes:
    """A table of the capture with this value in all columns whose name matches."""
    header, *rows = csv.reader(io.StringIO(specimen()[name].decode()))
    out = io.StringIO()
    changed = [[value if re.match(columns, head) else cell for head, cell in zip(header, row)] for row in rows]  # noqa: B905
    csv.writer(out).writerows([header, *changed])
    return out.getvalue().encode()


def constants(text: str) -> float:
    raise AssertionError(text)


def analysed(counters: CounterSet) -> None:
    """Every analysis answers or refuses; numbers are finite, but for those of the reference's own rules."""
    for analyse in ANALYSES:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                answer = analyse(counters)
            except WavewrightError as error:
                assert error.what
                continue
        if getattr(answer, "rules", "") != "rocprof-compute-3.3":
            json.loads(json.dumps(to_builtins(answer)), parse_constant=constants)


@pytest.mark.some_cases(1)
@pytest.mark.parametrize(
    "value", every_third(["0", "1e308", "1e400", "-1", "nan", "inf", "abc", "", "9" * 40, "5e-324", "1_0"])
)
def test_impossible_counts(tmp_path: Path, value: str) -> None:
    found = open_counters(placed(tmp_path, pmc_perf=cells("pmc_perf.csv", value, "(SQ|TC|TA|TD|GRBM|CP|SPI)")))
    assert found.losses.height or value in ("", "0", "nan")  # which mean: not measured
    analysed(found)


@pytest.mark.first_case
@pytest.mark.parametrize("times", [("5", "5"), ("-9223372036854775808", "9223372036854775807"), ("0", "1e300")])
def test_impossible_times(tmp_path: Path, times: tuple[str, str]) -> None:
    text = cells("pmc_perf.csv", times[0], "Start")
    specimen_of_end = cells("pmc_perf.csv", times[1], "End").decode().splitlines()
    begins = list(csv.reader(io.StringIO(text.decode())))
    ends = list(csv.reader(specimen_of_end))
    place = begins[0].index("End_Timestamp")
    for begin, end in zip(begins[1:], ends[1:], strict=True):
        begin[place] = end[place]
    out = io.StringIO()
    csv.writer(out).writerows(begins)
    found = open_counters(placed(tmp_path, pmc_perf=out.getvalue().encode()))
    durations = (found.dispatches["end_ns"] - found.dispatches["start_ns"]).drop_nulls()
    assert not (durations > 1e12).any()
    analysed(found)


@pytest.mark.first_case
@pytest.mark.parametrize(
    ("table", "value"),
    every_third_pair(["sysinfo", "roofline"], ["-5", "1e30", "lots", "0", "nan", "inf", "1e400", "0.5", "999999"]),
)
def test_nonsense_about_the_machine(tmp_path: Path, table: str, value: str) -> None:
    columns = r"(?!gpu_arch|gpu_model|name).*" if table == "sysinfo" else ".*"
    found = open_counters(placed(tmp_path, **{table: cells(f"{table}.csv", value, columns)}))
    assert (found.system.l2_channel_count or 0) <= 4096
    assert found.system.target == "gfx942"
    analysed(found)


@pytest.mark.slow
def test_a_capture_cut_anywhere_gives_no_other_number(tmp_path: Path) -> None:
    head = "Dispatch_ID,Grid_Size,Kernel_Name,Start_Timestamp,End_Timestamp,SQ_WAVES,TCC_HIT_sum\n"
    rows = "0,64,k,1000000000000,1000000010000,64,1234\n1,64,k,1000000020000,1000000040000,65,13.5\n"
    for text in (head + rows, LONG + '0,1,9,64,"k",SQ_WAVES,1234,1000000000000,1000000010000\n'):
        file = tmp_path / ("pmc_perf.csv" if text.startswith(head) else "a_counter_collection.csv")
        file.write_text(text)
        whole = {row[:4]: row[4] for row in open_counters(file).values.rows()}
        assert whole
        for length in range(len(text)):
            file.write_text(text[:length])
            try:
                found = open_counters(file)
            except WavewrightError as error:
                assert error.advice or error.where
                continue
            assert all(whole[row[:4]] == row[4] for row in found.values.rows())
            assert found.values.height + found.losses["count"].sum() > 0 or length <= text.index("\n") + 1
            ends = found.dispatches["end_ns"].drop_nulls().to_list()
            assert all(end in (10_000.0, 40_000.0) for end in ends)


def test_a_file_that_ends_inside_a_number_says_so(tmp_path: Path) -> None:
    file = tmp_path / "pmc_perf.csv"
    file.write_text("Kernel_Name,SQ_WAVES,TCC_HIT_sum\nk,64,1234")
    found = open_counters(file)
    assert found.losses["kind"].to_list() == ["counter_cut", "no_times"]
    assert found.values["counter"].to_list() == ["SQ_WAVES"]
    file.write_text('Kernel_Name,SQ_WAVES,TCC_HIT_sum\n"k","64","1234"')
    assert open_counters(file).values["value"].to_list() == [64.0, 1234.0]


@pytest.mark.parametrize(
    "rows",
    [
        "".join(f"{n},1,9,64,k,SQ_C{n},5,10,20\n" for n in range(5000)),
        "".join(f"1,1,9,64,k,SQ_WAVES,5,{n},{n + 1}\n" for n in range(5000)),
    ],
    ids=["counters", "executions"],
)
def test_a_file_of_thousands_of_passes_is_refused(tmp_path: Path, rows: str) -> None:
    file = tmp_path / "a_counter_collection.csv"
    file.write_text(LONG + rows)
    with pytest.raises(WavewrightError, match=r"5,000 (sets|executions)"):
        open_counters(file)


def test_counters_called_like_columns_and_by_no_name(tmp_path: Path) -> None:
    names = ("dispatch", "execution", "kernel_name", "value", "", "SQ_WAVES", "TCC_HIT[65535]", "TCC_HIT[99999999]")
    file = tmp_path / "a_counter_collection.csv"
    file.write_text(LONG + "".join(f"1,1,9,64,k,{name},5,10,20\n1,1,9,64,k,{name},5,30,40\n" for name in names))
    found = open_counters(file)
    assert found.losses["kind"].to_list() == ["counter_rows"]
    assert "SQ_WAVES" in found.measured[0].columns
    analysed(found)


def test_a_kernel_name_of_a_megabyte_stays_apart_from_another(tmp_path: Path) -> None:
    file = tmp_path / "a_counter_collection.csv"
    names = ["k" * 1_000_000 + end for end in "ab"]
    file.write_text(LONG + "".join(f"{n},1,9,64,{name},SQ_WAVES,5,10,20\n" for n, name in enumerate(names)))
    found = open_counters(file)
    assert found.dispatches["kernel_name"].n_unique() == 2
    assert found.dispatches["kernel_name"].str.len_chars().max() == pytest.approx(16_384, abs=100)
    assert "1000001 characters" in found.dispatches["kernel_name"][0]


def test_nothing_in_a_folder_blocks_or_loops(tmp_path: Path) -> None:
    placed(tmp_path)
    for name in ("SQ_IFETCH_LEVEL.csv", "sysinfo.csv", "roofline.csv"):
        (tmp_path / name).unlink()
    os.mkfifo(tmp_path / "SQ_IFETCH_LEVEL.csv")
    os.mkfifo(tmp_path / "timestamps.csv")
    (tmp_path / "sysinfo.csv").symlink_to("/dev/zero")
    (tmp_path / "roofline.csv").mkdir()
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "pmc_perf_1.csv").symlink_to("pmc_perf_1.csv")
    found = open_counters(tmp_path)
    assert found.dispatches.height == 3
    analysed(found)


def test_names_do_not_reach_the_terminal_as_they_are(tmp_path: Path) -> None:
    changed = {"sysinfo": cells("sysinfo.csv", NASTY, "gpu_model|name|version|gpu_arch")}
    for name in specimen():
        if name.startswith(("SQ", "pmc")):
            changed[name.removesuffix(".csv")] = cells(name, NASTY, "Kernel_Name")
    placed(tmp_path, **changed)
    for verb in ("counters", "roofline", "memory-chart", "diagnose", "info", "l2", "closure"):
        for target in ((), ("--target", "MI300X")) if verb != "info" else ((),):
            done = call(verb, tmp_path, *target)
            assert done.status in (0, 2), done.stderr
            assert not CONTROL.search(done.stdout + done.stderr), verb
    done = call("counters", tmp_path, "--plan", "--target", "MI300X", "--kernel", "0")
    assert done.status == 0
    assert not CONTROL.search(done.stdout)


def analysis_database(path: Path, more: str) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            """
            create table compute_workload(workload_id, name, sys_info_extdata, roofline_bench_extdata);
            create table compute_kernel(kernel_uuid, workload_id, kernel_name);
            create table compute_dispatch(dispatch_uuid, kernel_uuid, dispatch_id, gpu_id, start_timestamp,
                                          end_timestamp);
            create table compute_metric_definition(metric_uuid, workload_id, name, metric_id, table_name,
                                                   sub_table_name, unit);
            create table compute_kernel_metric_value(metric_uuid, kernel_uuid, value_name, value);
            create table compute_workload_metric_value(metric_uuid, workload_id, value_name, value);
            insert into compute_workload values (1, 'w', '{"gpu_arch": "gfx942"}', '{}');
            insert into compute_kernel values (1, 1, 'k');
            insert into compute_dispatch values (1, 1, 0, 2, 100, 200), (2, 1, 1, 2, 300, 500);
            insert into compute_metric_definition values (1, 1, 'Hit Rate', '17.1.2', 'L2', 'SOL', 'Pct');
            insert into compute_kernel_metric_value values (1, 1, 'Avg', 75.0);
            insert into compute_workload_metric_value values (1, 1, 'Avg', 75.0);
            """
        )
        connection.executescript(more)
        connection.commit()
    return path


@pytest.mark.some_cases(3)
@pytest.mark.parametrize(
    ("more", "dispatches"),
    [
        ("", 2),
        ("insert into compute_kernel values (1, 1, 'k'), (1, 1, 'other');", 2),
        ("insert into compute_kernel values (2, 1, null); update compute_dispatch set kernel_uuid = 2;", 0),
        ("update compute_dispatch set start_timestamp = -9223372036854775808, end_timestamp = 9223372036854775807;", 2),
        ("update compute_dispatch set start_timestamp = 'x', end_timestamp = x'00ff', dispatch_id = 1.5;", 2),
        ("update compute_kernel_metric_value set value = 1e308;", 2),
        ("update compute_workload_metric_value set value = 9e999;", 2),
        ("update compute_metric_definition set name = null, unit = x'00';", 2),
        ("update compute_workload set sys_info_extdata = replace(hex(zeroblob(50000)), '00', '[');", 2),
        ('update compute_workload set roofline_bench_extdata = \'{"HBMBw": [1], "device": 1e999}\';', 2),
    ],
)
def test_hostile_analysis_databases(tmp_path: Path, more: str, dispatches: int) -> None:
    path = analysis_database(tmp_path / "a.db", more)
    found = open_counters(path)
    assert found.dispatches.height == dispatches
    analysed(found)
    assert call("counters", path).status == 0


@pytest.mark.slow
@settings(deadline=None, max_examples=examples(12), suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_every_analysis_of_changed_captures(data: st.DataObject) -> None:
    """Cells, columns, rows and bytes of any file changed: all analyses in one process."""
    name = data.draw(st.sampled_from(sorted(specimen())))
    header, *rows = csv.reader(io.StringIO(specimen()[name].decode()))
    words = ["", "0", "-1", "1e308", "nan", "inf", "1,5", "x", NASTY, "9" * 30, "gfx90a", "1e-300"]
    for _ in range(data.draw(st.integers(1, 5))):
        column = data.draw(st.integers(0, len(header) - 1))
        match data.draw(st.sampled_from(["cell", "column", "header", "swap", "drop", "again"])):
            case "cell" if rows:
                data.draw(st.sampled_from(rows))[column] = data.draw(st.sampled_from(words))
            case "column":
                word = data.draw(st.sampled_from(words))
                for row in rows:
                    row[column] = word
            case "header":
                header[column] = data.draw(st.sampled_from([*words, *header]))
            case "swap":
                rows.reverse()
            case "drop" if rows:
                rows.pop()
            case _:
                rows += [list(row) for row in rows[:1]]
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([header, *rows])
    text = out.getvalue().encode()
    if data.draw(st.booleans()):
        text = text[: data.draw(st.integers(0, len(text)))]
    with TemporaryDirectory() as folder:
        try:
            found = open_counters(placed(Path(folder), **{name.removesuffix(".csv"): text}))
        except WavewrightError as error:
            assert error.what
            return
    analysed(found)
