"""The traced dispatch in the runs beside a trace: found by number and name, never guessed, damage is a loss."""

from __future__ import annotations

import csv
import gzip
import json
import sqlite3
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from synth.rocpd import write_rocpd
from synth.workload import Workload
from wavewright.model.schema import THREAD_TRACE, empty_frame
from wavewright.model.trace import ThreadTrace, TraceSource
from wavewright.readers import launches
from wavewright.readers.files.folder import Directory
from wavewright.readers.launches import look_beside, look_first_at

CALL = {
    "Kind": "KERNEL_DISPATCH",
    "Agent_Id": "Agent 2",
    "Dispatch_Id": 1,
    "Kernel_Name": "saxpy",
    "Start_Timestamp": 0,
    "End_Timestamp": 0,
    "Workgroup_Size_X": 64,
    "Workgroup_Size_Y": 1,
    "Workgroup_Size_Z": 1,
    "Grid_Size_X": 1024,
    "Grid_Size_Y": 1,
    "Grid_Size_Z": 1,
}


def trace(dispatch: int | None, name: str = "saxpy", *, demangled: str | None = None, file: str = "x") -> ThreadTrace:
    """A trace of one kernel on agent 55."""

    def rows(table: str, columns: dict[str, list[Any]]) -> pl.DataFrame:
        missing = empty_frame(THREAD_TRACE[table])
        frame = pl.DataFrame(columns, schema={name: missing.schema[name] for name in columns})
        return pl.concat([missing, frame], how="diagonal")

    tables = {
        "kernels": rows("kernels", {"kernel": [0], "name": [name], "demangled": [demangled or name]}),
        "shader_engines": rows("shader_engines", {"se": [0], "gfxip": [9], "file": [file]}),
    }
    return ThreadTrace(tables, TraceSource(path="x", agent=55, dispatch=dispatch))


def write_calls(path: Path, durations_ns: list[int], **constants: Any) -> Path:
    """A kernel trace: calls with these durations, one every millisecond, numbered from 1."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, CALL, quoting=csv.QUOTE_NONNUMERIC)
        writer.writeheader()
        for number, duration_ns in enumerate(durations_ns, 1):
            times = {"Start_Timestamp": number * 10**6, "End_Timestamp": number * 10**6 + duration_ns}
            writer.writerow(CALL | {"Dispatch_Id": number} | times | constants)
    return path


def test_a_call_among_the_calls_of_its_kernel(tmp_path: Path) -> None:
    write_calls(tmp_path / "9_kernel_trace.csv", [7100, *[4700, 4800, 4900, 5000, 5100] * 4])
    traced = trace(1)
    look_beside(traced, [Directory(tmp_path)])
    launch = traced.launch
    assert launch is not None
    assert (launch.call_number, launch.call_count, launch.duration_ns) == (1, 21, 7100)
    assert (launch.duration_ns_median, launch.kernel_name) == (4900, "saxpy")
    assert launch.above_median_share == pytest.approx(7100 / 4900 - 1)
    assert not launch.duration_ns_p10 <= launch.duration_ns <= launch.duration_ns_p90
    assert Path(launch.path).name == "9_kernel_trace.csv"
    assert traced.launch is launch
    assert not traced.losses.height


def test_only_calls_of_the_same_size_count(tmp_path: Path) -> None:
    path = write_calls(tmp_path / "9_kernel_trace.csv", [1000, 9000, 1100, 9000])
    lines = path.read_text().splitlines()
    path.write_text("\n".join(line.replace("1024", "4096") if "9000" in line else line for line in lines) + "\n")
    traced = trace(3)
    look_beside(traced, [Directory(tmp_path)])
    assert traced.launch is not None
    assert (traced.launch.call_number, traced.launch.call_count, traced.launch.kernel_call_count) == (2, 2, 4)
    assert traced.launch.duration_ns_median == 1050
    assert traced.launch.median_noise_ns is None


@pytest.mark.parametrize(
    ("spelled", "fits"),
    [
        ("void saxpy<int>(int*)", True),
        ("saxpy", True),
        ("_Z5saxpyIiEvPi.kd", True),
        ("void saxpy<float>(float*)", False),
    ],
)
def test_names_fit_as_runs_spell_them(tmp_path: Path, spelled: str, fits: bool) -> None:
    write_calls(tmp_path / "9_kernel_trace.csv", [1000, 1000], Kernel_Name=spelled)
    traced = trace(2, "_Z5saxpyIiEvPi", demangled="void saxpy<int>(int*)")
    look_beside(traced, [Directory(tmp_path)])
    assert (traced.launch is not None) == fits


@pytest.mark.parametrize("dispatch", [None, 3])
def test_a_dispatch_that_no_run_has(tmp_path: Path, dispatch: int | None) -> None:
    write_calls(tmp_path / "9_kernel_trace.csv", [1000, 1000])
    traced = trace(dispatch)
    look_beside(traced, [Directory(tmp_path), Directory(tmp_path / "nowhere")])
    assert traced.launch is None
    assert not traced.losses.height


def test_of_several_runs_that_of_the_traced_process(tmp_path: Path) -> None:
    for process, duration_ns in ((12, 1000), (45, 2000)):
        write_calls(tmp_path / f"{process}_kernel_trace.csv", [duration_ns] * 2)
    by_name, by_process = trace(1), trace(1, file="45_55_shader_engine_0_1.att")
    for traced, duration_ns in ((by_name, 1000), (by_process, 2000)):
        look_beside(traced, [Directory(tmp_path)])
        assert traced.launch is not None
        assert traced.launch.duration_ns == duration_ns


def test_the_nearest_folder_and_what_the_user_names(tmp_path: Path) -> None:
    far = write_calls(tmp_path / "far" / "1_kernel_trace.csv", [1000] * 2)
    write_calls(tmp_path / "near" / "2_kernel_trace.csv", [2000] * 2)
    traced = trace(1)
    look_beside(traced, [Directory(tmp_path / "near"), Directory(tmp_path / "far")])
    assert traced.launch is not None
    assert traced.launch.duration_ns == 2000
    traced = trace(1, file="1_55_shader_engine_0_1.att")
    look_beside(traced, [Directory(tmp_path / "near")])
    look_first_at(traced, [far.parent])
    assert traced.launch is not None
    assert traced.launch.duration_ns == 1000


def test_a_named_file_of_another_process_tells_no_duration(tmp_path: Path) -> None:
    other = write_calls(tmp_path / "other" / "discover_kernel_trace.csv", [1000] * 2)
    traced = trace(1, file="9_55_shader_engine_0_1.att")
    look_first_at(traced, [other])
    assert traced.launch is None
    assert traced.losses["kind"].to_list() == ["launch_of_another_run"]
    assert "dispatch 1 of 1.0 µs: nothing tells that it is of the process" in traced.losses["message"][0]


def spanned(span_cycles: int, workgroup: tuple[int, int, int] = (64, 1, 1)) -> ThreadTrace:
    """A trace at 2,000 MHz whose waves last this many cycles."""
    traced = trace(1, file="9_55_shader_engine_0_1.att")

    def rows(table: str, columns: dict[str, list[Any]]) -> pl.DataFrame:
        missing = empty_frame(THREAD_TRACE[table])
        values = {name: columns.get(name, [None] * len(next(iter(columns.values())))) for name in missing.schema}
        return pl.DataFrame(values, schema=missing.schema)

    pairs = {"se": [0, 0], "shader_clock_cycles": [0, 2_000_000], "realtime_ticks": [0, 100_000]}
    traced.tables["realtime"] = rows("realtime", pairs)
    traced.tables["waves"] = rows("waves", {"se": [0], "start_cycles": [1000], "end_cycles": [1000 + span_cycles]})
    sizes = {f"workgroup_size_{axis}": [size] for axis, size in zip("xyz", workgroup, strict=True)}
    traced.tables["dispatches"] = rows("dispatches", {"se": [0], "kernel": [0]} | sizes)
    return traced


@pytest.mark.parametrize(
    ("span_us", "duration_us", "is_taken"),
    [
        (100.0, 103.0, True),
        (100.0, 117.0, True),  # 10 % and 8 µs
        (100.0, 119.0, False),
        (100.0, 99.0, True),  # the clock may be off by 2 %
        (100.0, 97.0, False),  # no dispatch is shorter than its waves
        (178.7, 962.9, False),
    ],
)
def test_the_duration_agrees_with_the_span_of_the_waves(
    tmp_path: Path, span_us: float, duration_us: float, is_taken: bool
) -> None:
    write_calls(tmp_path / "9_kernel_trace.csv", [round(duration_us * 1000)] * 2)
    traced = spanned(round(span_us * 2000))
    look_beside(traced, [Directory(tmp_path)])
    assert (traced.launch is not None) == is_taken
    assert traced.losses["kind"].to_list() == ([] if is_taken else ["launch_of_another_run"])


def test_other_workgroups_are_another_dispatch(tmp_path: Path) -> None:
    write_calls(tmp_path / "9_kernel_trace.csv", [100_000] * 2)
    traced = spanned(200_000, (256, 1, 1))
    look_beside(traced, [Directory(tmp_path)])
    assert traced.launch is None
    assert "64 x 1 x 1 work-items, those of the trace 256 x 1 x 1" in traced.losses["message"][0]


def test_json(tmp_path: Path) -> None:
    info = {"dispatch_id": 7, "kernel_id": 3, "agent_id": {"handle": 55}, "queue_id": {"handle": 1}}
    record = {"dispatch_info": info, "start_timestamp": 5000, "end_timestamp": 8000, "thread_id": 1}
    symbol = {"kernel_id": 3, "kernel_name": "saxpy.kd", "formatted_kernel_name": "saxpy"}
    agents = [{"id": {"handle": 55}, "type": 2, "name": "gfx942"}]
    tool = {"agents": agents, "kernel_symbols": [symbol], "buffer_records": {"kernel_dispatch": [record]}}
    packed = gzip.compress(json.dumps({"rocprofiler-sdk-tool": [tool]}).encode())
    (tmp_path / "9_results.json.gz").write_bytes(packed)
    traced = trace(7)
    look_beside(traced, [Directory(tmp_path)])
    assert traced.launch is not None
    assert (traced.launch.duration_ns, traced.launch.call_count) == (3000, 1)


def test_a_database_against_separate_sql(tmp_path: Path) -> None:
    path = tmp_path / "9_results.db"
    write_rocpd(path, Workload(dispatches=60, seed=3))
    with sqlite3.connect(path) as database:
        rows = database.execute(
            'select s.display_name, d.dispatch_id, d."end" - d.start from rocpd_kernel_dispatch d '
            "join rocpd_info_kernel_symbol s on s.id = d.kernel_id order by d.start"
        ).fetchall()
    name, dispatch, duration_ns = rows[len(rows) // 2]
    traced = trace(dispatch, name)
    look_beside(traced, [Directory(tmp_path)])
    assert traced.launch is not None
    assert traced.launch.duration_ns == duration_ns
    assert traced.launch.kernel_call_count == sum(row[0] == name for row in rows)


@pytest.mark.parametrize("content", [b"", b"SQLite format 3\0" + b"\xff" * 5000, b"not a database"])
def test_a_damaged_database_is_a_loss(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "9_results.db").write_bytes(content)
    traced = trace(1)
    look_beside(traced, [Directory(tmp_path)])
    assert traced.launch is None
    assert traced.losses["kind"].to_list() == ["launch_unread"]
    assert "9_results.db" in traced.losses["message"][0]


def test_a_damaged_run_does_not_hide_a_sound_one(tmp_path: Path) -> None:
    (tmp_path / "1_results.db").write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
    write_calls(tmp_path / "2_kernel_trace.csv", [1000] * 2)
    traced = trace(1)
    look_beside(traced, [Directory(tmp_path)])
    assert traced.launch is not None
    assert traced.launch.duration_ns == 1000
    assert traced.losses["kind"].to_list() == ["launch_unread"]


def test_a_large_run_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_calls(tmp_path / "9_kernel_trace.csv", [1000] * 2)
    monkeypatch.setattr(launches, "MAX_BYTES", 10)
    traced = trace(1)
    look_beside(traced, [Directory(tmp_path)])
    assert traced.launch is None
    assert traced.losses["kind"].to_list() == ["launch_unread"]
