from __future__ import annotations

import gzip
import sqlite3
from typing import TYPE_CHECKING

import pytest

import wavewright
from tests.kit.made_decoded import write_decoded
from wavewright.errors import NotATraceError, UsageError
from wavewright.readers.files import runs as _run_files
from wavewright.readers.files.kinds import Kind, sniff
from wavewright.readers.opening import open_trace
from wavewright.readers.run.inputs import find_runs, holds_run, open_run

if TYPE_CHECKING:
    from pathlib import Path

API = '"Domain","Function","Process_Id","Thread_Id","Correlation_Id","Start_Timestamp","End_Timestamp"\n'
CALL = '"HIP_RUNTIME_API","hipInit",3,3,1,5,9\n'


def write_calls(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(API + CALL)
    return path


def write_database(path: Path, *tables: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path)
    for table in tables:
        connection.execute(f'CREATE TABLE "{table}" (id INTEGER)')
    connection.commit()
    connection.close()
    return path


def found_names(*paths: Path) -> list[str]:
    return [found.path.name for found in find_runs(list(paths))]


def test_kinds_are_told_by_content(tmp_path: Path) -> None:
    assert sniff(write_database(tmp_path / "a", "rocpd_op", "rocpd_metadata")) is Kind.RPD
    assert sniff(write_database(tmp_path / "b", "rocpd_metadata_0000_1")) is Kind.ROCPD
    assert sniff(write_database(tmp_path / "c", "KERN")) is Kind.ROCPROF_DATABASE
    assert sniff(write_database(tmp_path / "d", "compute_metadata")) is Kind.DATABASE
    texts = {
        '{"schemaVersion": 1, "deviceProperties": [': Kind.CHROME,
        '{"traceEvents": [{}': Kind.CHROME,
        '[{"name": "a", "ph": "X"}]': Kind.CHROME,
        '[{"name": "a"}]': Kind.UNKNOWN,
        '{"rocprofiler-sdk-tool": [': Kind.RESULTS,
        "Name,Calls,TotalDurationNs\n": Kind.STATISTICS,
        API: Kind.CSV_TRACE,
        "Kernel_Name,Start_Timestamp,SQ_WAVES\n": Kind.COUNTERS,
        "a,b\rc,d\n": Kind.UNKNOWN,
        '"a,b\n': Kind.UNKNOWN,
    }
    for text, kind in texts.items():
        (tmp_path / "text").write_text(text)
        assert sniff(tmp_path / "text") is kind, text
        (tmp_path / "text").write_bytes(gzip.compress(text.encode()))
        assert sniff(tmp_path / "text") is kind, text


def test_folders_are_searched_in_order_without_hidden_and_foreign_files(tmp_path: Path) -> None:
    write_calls(tmp_path / "b/2_hip_api_trace.csv")
    write_calls(tmp_path / "a/deep/1_hip_api_trace.csv")
    write_calls(tmp_path / ".hidden/3_hip_api_trace.csv")
    write_calls(tmp_path / "b/.4_hip_api_trace.csv")
    write_database(tmp_path / "b/other.db", "photos")
    (tmp_path / "b/notes.json").write_text("{}")
    (tmp_path / "b/Thumbs.db").write_bytes(b"not sqlite")
    write_decoded(tmp_path / "c")
    (tmp_path / "b/loop").symlink_to(tmp_path, target_is_directory=True)
    assert found_names(tmp_path) == ["1_hip_api_trace.csv", "2_hip_api_trace.csv"]


def test_databases_that_cannot_be_read_are_losses(tmp_path: Path) -> None:
    write_calls(tmp_path / "1_hip_api_trace.csv")
    (tmp_path / "2_results.db").write_bytes(b"")
    (tmp_path / "3.db").write_bytes(b"SQLite format 3\0" + bytes(50))
    (tmp_path / "4.rpd").write_bytes(b"SQLite format 3\0" + b"\xff" * 9999)
    run = open_run(tmp_path)
    assert run.regions.height == 1
    assert [row[0] for row in run.losses.select("kind").rows()] == ["unreadable_source"] * 3
    assert {path.rpartition("/")[2] for path in run.losses["path"]} == {"2_results.db", "3.db", "4.rpd"}


def test_a_named_path_that_is_no_run_is_an_error_alone_and_a_loss_among_others(tmp_path: Path) -> None:
    calls = write_calls(tmp_path / "1_hip_api_trace.csv")
    notes = tmp_path / "notes.txt"
    notes.write_text("hello")
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(NotATraceError, match="not a recorded run"):
        open_run(notes)
    with pytest.raises(NotATraceError, match="this folder is empty"):
        find_runs([empty])
    run = open_run(notes, calls, empty)
    assert run.regions.height == 1
    assert run.losses["kind"].to_list() == ["unreadable_source", "unreadable_source"]
    with pytest.raises(UsageError, match="no such file"):
        open_run(calls, tmp_path / "typo.db")


def test_patterns_and_files_named_twice(tmp_path: Path) -> None:
    for number in (1, 2, 10):
        write_calls(tmp_path / f"r{number}/{number}_hip_api_trace.csv")
    (tmp_path / "link.csv").symlink_to(tmp_path / "r1/1_hip_api_trace.csv")
    pattern = tmp_path / "r?" / "*.csv"
    assert found_names(pattern, tmp_path / "r2", tmp_path / "link.csv") == [
        "1_hip_api_trace.csv",
        "2_hip_api_trace.csv",
    ]
    with pytest.raises(UsageError, match="no file matches"):
        find_runs([tmp_path / "*.rpd"])


def test_what_a_shell_makes_of_a_pattern(tmp_path: Path) -> None:
    calls = write_calls(tmp_path / "1_hip_api_trace.csv")
    (tmp_path / "1_hip_api_stats.csv").write_text('"Name","Calls","TotalDurationNs"\n')
    (tmp_path / "1_agent_info.csv").write_text('"Node_Id","Agent_Type"\n0,"CPU"\n')
    (tmp_path / "notes.txt").write_text("hello")
    (run,) = find_runs(sorted(tmp_path.glob("*.csv")))
    assert [file.name for file in run.files] == [calls.name, "1_agent_info.csv"]
    assert found_names(tmp_path / "*") == [calls.name]
    with pytest.raises(NotATraceError, match="list of agents"):
        find_runs([tmp_path / "1_agent_info.csv", tmp_path / "1_hip_api_stats.csv"])


@pytest.mark.parametrize(
    "text",
    [
        'rocprofiler-sdk:\n  rocpd:\n    path: "."\n    files:\n      - a/1_results.db\n      - "b/2_results.db"\n',
        'rocprofiler-sdk: {rocpd: {path: ".", files: [a/1_results.db, "b/2_results.db"]}}',
    ],
)
def test_packages(tmp_path: Path, text: str) -> None:
    package = tmp_path / "run.rpdb"
    for name in ("a/1_results.db", "b/2_results.db", "b/not_listed.txt"):
        write_database(package / name, "rocpd_metadata_1")
    (package / "index.yaml").write_text(text)
    assert found_names(package / "index.yaml") == ["1_results.db", "2_results.db"]
    assert found_names(package) == found_names(tmp_path) == ["1_results.db", "2_results.db"]
    (package / "a/1_results.db").unlink()
    gone, there = find_runs([package / "index.yaml"])
    assert (gone.kind, there.kind) == (Kind.UNKNOWN, Kind.ROCPD)


def test_a_run_in_several_forms_counts_once(tmp_path: Path) -> None:
    write_calls(tmp_path / "7_hip_api_trace.csv")
    (tmp_path / "7_results.json").write_text('{"rocprofiler-sdk-tool": []}')
    write_calls(tmp_path / "8_hip_api_trace.csv")
    first, second = find_runs([tmp_path])
    assert (first.kind, first.path.name, [path.name for path in first.left_out]) == (
        Kind.RESULTS,
        "7_results.json",
        ["7_hip_api_trace.csv"],
    )
    assert (second.kind, second.left_out) == (Kind.CSV_TRACE, ())


def test_budgets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        write_calls(tmp_path / f"{number}/{number}_hip_api_trace.csv")
    monkeypatch.setattr(_run_files, "MAX_FOLDERS", 3)
    with pytest.raises(UsageError, match="name a folder below"):
        find_runs([tmp_path])


def test_open_gives_a_run_or_a_trace(tmp_path: Path) -> None:
    calls = write_calls(tmp_path / "run/1_hip_api_trace.csv")
    decoded = write_decoded(tmp_path / "traces")
    for path in (calls, calls.parent):
        assert isinstance(wavewright.open(path), wavewright.Run)
        assert holds_run(path)
        with pytest.raises(NotATraceError, match=r"run.*wavewright summary"):
            open_trace(path)
    assert isinstance(wavewright.open(decoded), wavewright.ThreadTrace)
    with pytest.raises(NotATraceError, match="not a run; wavewright hotspots"):
        wavewright.open_run(decoded)
