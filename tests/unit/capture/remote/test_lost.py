"""A connection that is lost costs time, never data: programs are stopped gently, and the next connection goes on."""

from __future__ import annotations

import json
import os
import signal
import time
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.unit.capture.made_connections import OLD_PYTHON, Network
from wavewright.capture.machines import left_behind
from wavewright.capture.machines.runner import Limits
from wavewright.capture.remote import Connected, bringing
from wavewright.capture.remote.runner import RemoteRunner
from wavewright.errors import OutputError, UnreachableError, UsageError, WavewrightError

LIMITS = Limits(seconds=1000, grace_seconds=1000)
# Writes its data when it is interrupted, which takes a moment.
PROFILER = """trap 'trap "exit 99" INT; sleep 0.3; echo data > "$RAW/data"; echo the end; exit 3' INT
echo started; while :; do sleep 0.05; done"""


class Attempt:
    """A program on the other machine, with its folder here."""

    def __init__(self, folder: Path) -> None:
        self.raw = folder / "raw"
        self.stdout, self.stderr = folder / "stdout.txt", folder / "stderr.txt"
        self.mark = uuid.uuid4().hex

    def run(self, connected: Connected, script: str, *, each_second: object = None) -> None:
        raw = connected.runner.folder(self.raw)
        variables = {"PATH": os.environ["PATH"], "RAW": raw, left_behind.MARK: self.mark}
        connected.runner.run(
            ["sh", "-c", script],
            variables=variables,
            cwd="",
            stdout=self.stdout,
            stderr=self.stderr,
            limits=LIMITS,
            each_second=each_second or (lambda seconds: None),  # type: ignore[arg-type]
        )

    @property
    def agents(self) -> list[int]:
        """Processes of agents that watch it: parents of its leader."""
        pids = left_behind.processes_of(None, self.mark)
        parents = {int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]) for pid in pids}
        return sorted(parents - pids)


def _wait(condition: Callable[[], bool]) -> None:
    while not condition():
        time.sleep(0.02)


def _connection(runner: RemoteRunner) -> int:
    return runner._connection._process.pid


@pytest.mark.parametrize("python", [None, OLD_PYTHON])
def test_a_program_whose_connection_is_lost_writes_its_data_and_they_are_brought(
    tmp_path: Path, python: str | None
) -> None:
    network = Network(tmp_path / "network", python=python)
    attempt = Attempt(tmp_path)
    with (
        network.connect() as connected,
        pytest.raises(UnreachableError, match=r"the connection was lost.*run it again with --resume"),
    ):
        # The stand-in is the agent itself; real ones die apart. So its input ends, as sshd does it.
        attempt.run(connected, PROFILER, each_second=lambda seconds: connected.runner._connection._hang_up())
    assert not (attempt.raw / "data").exists()
    with network.connect() as (_, runner):  # at once: the program is still being stopped
        runner.clear(attempt.mark)  # must not interrupt it a second time
        runner.bring(attempt.raw)
        ending = runner.ending(attempt.raw)
        assert runner.losses(attempt.raw) == ()
    assert (attempt.raw / "data").read_text() == "data\n"
    assert attempt.stdout.read_text() == "started\nthe end\n"
    assert ending
    assert (ending.status, ending.stopped) == (3, "interrupted")
    assert not left_behind.processes_of(None, attempt.mark)
    assert not network.data, "what was brought is removed there"


def test_a_program_whose_agent_was_killed_is_stopped_by_the_next_one(tmp_path: Path) -> None:
    network = Network(tmp_path / "network")
    attempt = Attempt(tmp_path)

    def kill(_: float) -> None:
        for pid in attempt.agents:
            os.kill(pid, signal.SIGKILL)

    with network.connect() as connected, pytest.raises(UnreachableError, match="the connection was lost"):
        attempt.run(connected, PROFILER, each_second=kill)
    assert left_behind.processes_of(None, attempt.mark), "nobody could stop it"
    with network.connect() as (_, runner):
        runner.bring(attempt.raw)
        ending = runner.ending(attempt.raw)
    assert not left_behind.processes_of(None, attempt.mark)
    assert (attempt.raw / "data").read_text() == "data\n"
    assert ending
    assert (ending.status, ending.stopped) == (None, "interrupted")


@pytest.mark.first_case
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_an_agent_that_is_told_to_end_stops_its_program_gently(tmp_path: Path, number: int) -> None:
    network = Network(tmp_path / "network")
    attempt = Attempt(tmp_path)
    with network.connect() as connected, pytest.raises(UnreachableError):
        attempt.run(connected, PROFILER, each_second=lambda seconds: [os.kill(pid, number) for pid in attempt.agents])
    _wait(lambda: not left_behind.processes_of(None, attempt.mark))
    assert [path.read_text() for path in network.home.rglob("data/data")] == ["data\n"]


@pytest.mark.slow
def test_a_silent_connection_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other end of a broken network sees no end of its input: it misses the pings."""
    source = __import__("wavewright.capture.remote.connection", fromlist=["agent_source"]).agent_source()
    hasty = source.replace(b"SILENCE_SECONDS = 300.0", b"SILENCE_SECONDS = 1.0").replace(b"sleep(5)", b"sleep(0.1)")
    assert hasty != source
    monkeypatch.setattr("wavewright.capture.remote.connection.agent_source", lambda: hasty)
    network = Network(tmp_path / "network")
    attempt = Attempt(tmp_path)
    with network.connect() as connected:
        raw = connected.runner.folder(attempt.raw)
        token = connected.runner._folders[attempt.raw].token
        variables = {"PATH": os.environ["PATH"], "RAW": raw, left_behind.MARK: attempt.mark}
        connected.runner._connection.ask(
            "start",
            token=token,
            run=1,
            words=["sh", "-c", PROFILER],
            variables=variables,
            cwd="",
            seconds=60,
            grace_seconds=10,
            output_bytes=1000,
        )
        _wait(lambda: (Path(raw) / "data").exists())
        _wait(lambda: not left_behind.processes_of(None, attempt.mark))


def test_a_transfer_goes_on_where_it_was_broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bringing, "CHUNK_BYTES", 10_000)
    network = Network(tmp_path / "network")
    attempt = Attempt(tmp_path)
    size = 400_000
    with network.connect() as connected:
        attempt.run(connected, f"head -c {size} /dev/urandom > $RAW/large; echo 1 > $RAW/small")
    content = (network.data[0] / "large").read_bytes()
    sent: list[int] = []
    for connections in range(1, 10):
        with network.connect() as (_, runner):
            start = runner._connection

            def cut(done_bytes: int, total_bytes: int, connection: object = start, count: int = connections) -> None:
                sent.append(done_bytes)
                assert total_bytes == size + 2
                if count < 4 and done_bytes >= count * 100_000:
                    os.killpg(connection._process.pid, signal.SIGKILL)  # type: ignore[attr-defined]

            runner.progress = cut
            try:
                runner.bring(attempt.raw)
            except UnreachableError:
                assert not (attempt.raw / "large").exists()
                continue
            break
    assert connections == 4
    assert (attempt.raw / "large").read_bytes() == content
    assert sum(1 for done in sent if done) < size / 10_000 + 20, "what was here already did not travel again"
    assert not list(tmp_path.glob(".raw.partial"))
    assert not network.data


def test_a_partial_file_of_something_else_starts_again(tmp_path: Path) -> None:
    network = Network(tmp_path / "network")
    attempt = Attempt(tmp_path)
    with network.connect() as connected:
        attempt.run(connected, "echo the right content > $RAW/a")
        connection = connected.runner._connection
        token = connected.runner._folders[attempt.raw].token
        (tmp_path / ".raw.partial").mkdir()
        transfer = bringing._Transfer(connection, token, "a", 18, attempt.raw, tmp_path / ".raw.partial")
        transfer._partial.write_bytes(b"the wrong")
        (attempt.raw / "b").write_text("only here")
        connected.runner.bring(attempt.raw)
    assert (attempt.raw / "a").read_text() == "the right content\n"
    assert (attempt.raw / "b").read_text() == "only here"


def test_a_file_that_changed_there_replaces_the_one_that_is_here(tmp_path: Path) -> None:
    network = Network(tmp_path / "network")
    attempt = Attempt(tmp_path)
    with network.connect() as connected:
        attempt.run(connected, "echo new > $RAW/a")
        (attempt.raw / "a").write_text("old\n")
        connected.runner.bring(attempt.raw)
    assert (attempt.raw / "a").read_text() == "new\n"


def test_a_capture_that_was_removed_there_is_one_sentence(tmp_path: Path) -> None:
    network = Network(tmp_path / "network")
    attempt = Attempt(tmp_path)
    with network.connect() as connected:
        attempt.run(connected, "true")
        __import__("shutil").rmtree(network.home / ".cache")
        with pytest.raises(WavewrightError, match=r"gpu7: .*it was removed"):
            connected.runner.bring(attempt.raw)


@pytest.mark.parametrize("name", ["../mine", "{outside}/mine", "link", "folder/mine", "a\0b"])
def test_output_is_appended_to_files_of_the_capture_only(tmp_path: Path, name: str) -> None:
    network, work = Network(tmp_path / "network"), tmp_path / "work"
    work.mkdir()
    mine = tmp_path / "mine"
    mine.write_text("precious")
    attempt = Attempt(work)
    with network.connect() as connected:
        attempt.run(connected, "echo printed")
        stored = json.loads((work / "raw.remote.json").read_text())
        assert (stored["runs"][0]["stdout"], stored["runs"][0]["stderr"]) == ("stdout.txt", "stderr.txt")
        (work / "link").symlink_to(mine)
        (work / "folder").symlink_to(tmp_path)
        stored["runs"][0] |= {"ending": None, "stdout": name.format(outside=tmp_path)}
        (work / "raw.remote.json").write_text(json.dumps(stored | {"is_brought": False}))
        with pytest.raises((UsageError, OutputError)):
            RemoteRunner(connected.runner._connection).bring(attempt.raw)
    assert mine.read_text() == "precious"


def test_nothing_is_brought_that_nobody_started(tmp_path: Path) -> None:
    with Network(tmp_path / "network").connect() as (_, runner):
        runner.bring(tmp_path / "raw")
        assert not (tmp_path / "raw").exists()
        (tmp_path / "raw.remote.json").write_text('{"token": 5, "runs": [{}]}')
        runner.bring(tmp_path / "raw")
        assert runner.ending(tmp_path / "raw") is None


def test_marked_processes_of_an_earlier_run_are_cleared(tmp_path: Path) -> None:
    import subprocess

    mark = uuid.uuid4().hex
    sleeper = subprocess.Popen(["sleep", "60"], env={"PATH": os.environ["PATH"], left_behind.MARK: mark})
    with Network(tmp_path / "network").connect() as (_, runner):
        assert runner.clear(mark) == 1
        assert runner.clear(mark) == 0
        assert runner.clear("") == 0
    assert sleeper.wait() == -signal.SIGINT
