"""A manifest survives crashes, strangers and full disks; what it says is the state of a job."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wavewright.capture.jobs import manifest
from wavewright.capture.jobs.manifest import Event, JobState, Manifest, is_locked, job_lock, read_events, state_of
from wavewright.errors import OutputError, UsageError


def _names(folder: Path) -> list[str]:
    return [event.event for event in Manifest(folder).events()]


def test_events_come_back_as_they_were_written(tmp_path: Path) -> None:
    journal = Manifest(tmp_path)
    written = [
        journal.append("a1", "planned", commands=[["rocprofv3", "--", "x y"]]),
        journal.append("a1", "started", attempt=1, variables={"A": "b\n"}),
        journal.append("a1", "judged", attempt=1, verdict="good", reasons=["täglich"]),
    ]
    assert journal.events() == tuple(written)
    lines = (tmp_path / "manifest.jsonl").read_text().splitlines()
    assert [list(json.loads(line))[:4] for line in lines] == [["v", "time", "job", "event"]] * 3


def test_a_torn_line_is_ignored_and_closed_by_the_next_one(tmp_path: Path) -> None:
    journal = Manifest(tmp_path)
    journal.append("a1", "planned")
    journal.append("a1", "started", attempt=1)
    whole = journal.path.read_bytes()
    for length in range(len(whole)):
        journal.path.write_bytes(whole[:length])
        names = _names(tmp_path)
        assert names == ["planned", "started"][: len(names)]
        journal.append("a1", "ended", attempt=1)
        assert _names(tmp_path) == [*names, "ended"]


@pytest.mark.parametrize(
    "line",
    [
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"event":5}',
        b"null",
        b'"started"',
        b'{"event":"x","attempt":' + b"9" * 5000 + b"}",
        b'{"event":"' + b"x" * (2 << 20) + b'"}',
        b"\0" * 512,
    ],
)
def test_a_hostile_line_costs_itself_only(tmp_path: Path, line: bytes) -> None:
    journal = Manifest(tmp_path)
    journal.append("a1", "planned")
    with journal.path.open("ab") as stream:
        stream.write(line + b"\n")
    journal.append("a1", "finished")
    events, ignored = read_events(journal.path)
    assert [events[0].event, events[-1].event] == ["planned", "finished"]
    assert len(events) + ignored == 3


@given(st.binary(max_size=400))
def test_any_bytes_give_events_or_nothing(content: bytes) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "manifest.jsonl").write_bytes(content)
        for event in Manifest(Path(folder)).events():
            assert isinstance(event.event, str)


def test_unknown_events_and_later_versions_are_kept_and_change_nothing(tmp_path: Path) -> None:
    journal = Manifest(tmp_path)
    journal.append("a1", "started", attempt=1)
    with journal.path.open("a") as stream:
        stream.write('{"v":7,"event":"measured","job":"a1","new":[1]}\n')
    events = journal.events()
    assert events[-1] == Event(event="measured", job="a1", details={"new": [1]})
    assert state_of(events, is_worked_on=True) is JobState.RUNNING


@pytest.mark.parametrize(
    ("names", "state", "abandoned"),
    [
        ([], JobState.PLANNED, JobState.PLANNED),
        (["planned"], JobState.PLANNED, JobState.PLANNED),
        (["planned", "started"], JobState.RUNNING, JobState.INTERRUPTED),
        (["planned", "started", "ended"], JobState.RUNNING, JobState.INTERRUPTED),
        (["planned", "started", "ended", "judged"], JobState.JUDGED, JobState.JUDGED),
        (["planned", "started", "ended", "judged", "started"], JobState.RUNNING, JobState.INTERRUPTED),
        (["planned", "started", "interrupted"], JobState.INTERRUPTED, JobState.INTERRUPTED),
        (["planned", "started", "ended", "judged", "finished"], JobState.FINISHED, JobState.FINISHED),
        (["finished", "started"], JobState.FINISHED, JobState.FINISHED),
    ],
)
def test_the_state_follows_from_the_events(names: list[str], state: JobState, abandoned: JobState) -> None:
    events = [Event(event=name) for name in names]
    assert state_of(events, is_worked_on=True) is state
    assert state_of(events, is_worked_on=False) is abandoned


def test_what_programs_say_makes_no_line_too_long(tmp_path: Path) -> None:
    deep: object = "x"
    for _ in range(500):
        deep = [deep]
    Manifest(tmp_path).append("a", "ended", text="x" * 10**7, rows=list(range(10**6)), deep=deep)
    assert (tmp_path / "manifest.jsonl").stat().st_size < 20_000
    assert _names(tmp_path) == ["ended"]


def test_names_that_are_not_utf8_are_written_as_escapes(tmp_path: Path) -> None:
    Manifest(tmp_path).append("a", "planned", program=[os.fsdecode(b"a\xff")])
    assert Manifest(tmp_path).events()[0].details["program"] == ["a\\xff"]


def test_a_manifest_that_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "manifest.jsonl")
    with pytest.raises(OutputError, match="cannot write the manifest"):
        Manifest(tmp_path).append("a", "planned")
    assert Manifest(tmp_path).events() == ()


def test_a_full_disk_is_one_sentence_and_leaves_a_manifest_that_can_be_read(tmp_path: Path) -> None:
    script = """
import resource, signal, sys
from pathlib import Path
from wavewright.capture.jobs.manifest import Manifest
from wavewright.errors import OutputError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (150, 150))
journal = Manifest(Path(sys.argv[1]))
journal.append("a", "planned")
try:
    journal.append("a", "started", text="x" * 200)
except OutputError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True)
    assert "cannot write the manifest: " in done.stdout
    assert _names(tmp_path) == ["planned"]


def test_only_one_works_on_a_job(tmp_path: Path) -> None:
    assert not is_locked(tmp_path)
    with job_lock(tmp_path):
        assert is_locked(tmp_path)
        with (
            pytest.raises(UsageError, match="another process works on this capture"),
            job_lock(tmp_path, wait_seconds=0.1),
        ):
            pass
    assert not is_locked(tmp_path)


def test_a_lock_goes_with_a_killed_process(tmp_path: Path) -> None:
    script = """
import sys, time
from pathlib import Path
from wavewright.capture.jobs.manifest import job_lock
with job_lock(Path(sys.argv[1])):
    print("locked", flush=True)
    time.sleep(100)
"""
    holder = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE)
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"locked\n"
    assert is_locked(tmp_path)
    holder.kill()
    holder.wait()
    holder.stdout.close()
    assert not is_locked(tmp_path)


def test_many_writers_at_once_lose_no_line(tmp_path: Path) -> None:
    def write(number: int) -> None:
        for attempt in range(20):
            Manifest(tmp_path).append(str(number), "started", attempt=attempt)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seen = {(event.job, event.attempt) for event in Manifest(tmp_path).events()}
    assert len(seen) == 80


def test_a_clock_beyond_all_years_writes_no_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for seconds in (1e30, -1e30, float("inf"), 0.0):
        clock = SimpleNamespace(**vars(time) | {"time": lambda seconds=seconds: seconds})  # not that of other threads
        monkeypatch.setattr(manifest, "time", clock)
        Manifest(tmp_path).append("a", "planned")
    monkeypatch.undo()
    assert [event.time for event in Manifest(tmp_path).events()] == ["", "", "", "1970-01-01T00:00:00.000Z"]
