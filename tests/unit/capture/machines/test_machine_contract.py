"""Every machine gives the same answers: here, over ssh, in a container, in a container there, on an old Python."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.capture.made_connections import OLD_PYTHON, Network
from wavewright.capture.machines.local_machine import LocalMachine
from wavewright.capture.machines.machine import READ_BYTES_MAX, Completed, Machine

PLACES = ("ssh", "container", "Python 3.6 in a container over ssh")


@pytest.fixture(scope="module", params=PLACES)
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Machine, Machine]]:
    """A machine at the other end, and this one with the same variables."""
    place = request.param
    is_old = place.startswith("Python")
    if is_old and not OLD_PYTHON:
        pytest.skip("no Python 3.6 here")
    network = Network(tmp_path_factory.mktemp("network"), python=OLD_PYTHON if is_old else None)
    host = None if place == "container" else "gpu7"
    with network.connect(host, "box" if "container" in place else None) as (machine, _):
        assert machine.identity.python.startswith("3.6.") == is_old
        yield machine, LocalMachine(variables=machine.variables)


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Files of every kind."""
    folder = tmp_path_factory.mktemp("files")
    (folder / "text").write_text("  grüße \n", encoding="utf-8")
    (folder / "empty").touch()
    (folder / "bytes").write_bytes(bytes(range(256)))
    with (folder / "large").open("wb") as file:
        file.truncate(READ_BYTES_MAX + 10)
    (folder / "program").write_text("#!/bin/sh\n")
    (folder / "program").chmod(0o755)
    (folder / "sub").mkdir()
    (folder / "sub/ü").touch()
    Path(os.fsdecode(os.fsencode(folder) + b"/sub/\xff\xe9")).write_text("x")
    os.mkfifo(folder / "pipe")
    (folder / "link").symlink_to("text")
    (folder / "out").symlink_to("/etc")
    (folder / "loop").symlink_to("loop")
    (folder / "dangling").symlink_to("nothing/below")
    names = [
        *(path.name for path in folder.iterdir()),
        "sub/ü",
        os.fsdecode(b"sub/\xff\xe9"),
        "nothing",
        "nothing/below",
        "text/below",
    ]
    more = ["/", "/dev/null", "/dev/kfd", "/proc/self/mem", "/proc/version", "/etc", "/with\0nul", "/sys/class"]
    return [str(folder), *(f"{folder}/{name}" for name in sorted(names)), *more]


def _answers(machine: Machine, path: str) -> dict[str, object]:
    is_proc = path.startswith("/proc/self")
    return {
        "read": machine.read(path),
        "text": machine.text(path),
        "names": machine.names(path),
        "facts": None if is_proc else machine.facts(path),
        "real_path": None if is_proc else machine.real_path(path),
        "refusal": machine.refusal(path),
        "program": machine.program(path),
    }


def test_answers_about_files_are_the_same(pair: tuple[Machine, Machine], paths: list[str]) -> None:
    there, here = pair
    for path in paths:
        assert _answers(there, path) == _answers(here, path), path


@pytest.mark.first_case
def test_answers_that_were_sent_ahead_are_the_same(pair: tuple[Machine, Machine], paths: list[str]) -> None:
    there, here = pair
    there.prefetch([*paths, "/sys/class/net/*", f"{paths[0]}/*", f"{paths[0]}/sub/*", "/nothing/*/here"])
    more = ["/sys/class/net", *(f"/sys/class/net/{name}" for name in here.names("/sys/class/net"))]
    for path in [*paths, *more, "/nothing"]:
        assert _answers(there, path) == _answers(here, path), path


def test_what_was_sent_ahead_takes_one_question(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/b").write_text("1")
    with Network(tmp_path / "network").connect() as (machine, runner):
        machine.prefetch([f"{tmp_path}/*/b", f"{tmp_path}/none"])
        runner._connection.close()  # from here on nobody answers
        assert machine.text(f"{tmp_path}/a/b") == "1"
        assert machine.names(f"{tmp_path}/a") == ("b",)
        assert machine.facts(f"{tmp_path}/none") is None


def test_what_was_sent_ahead_again_is_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Queues of a process vanish: its folder stays, and nothing in it matches."""
    queue = tmp_path / "proc/4711/queues/0"
    queue.mkdir(parents=True)
    (queue / "gpuid").write_text("1")
    pattern = f"{tmp_path}/proc/*/queues/*/gpuid"
    with Network(tmp_path / "network").connect() as (machine, _):
        machine.prefetch([pattern])
        assert machine.names(f"{tmp_path}/proc/4711/queues") == ("0",)
        (queue / "gpuid").unlink()
        queue.rmdir()
        assert machine.names(f"{tmp_path}/proc/4711/queues") == ("0",), "from what was sent ahead"
        machine.prefetch([pattern])
        assert machine.names(f"{tmp_path}/proc/4711/queues") == ()
        (tmp_path / "proc/a").touch()
        assert machine.facts(f"{tmp_path}/proc/a") is not None
        machine.prefetch([pattern])
        (tmp_path / "proc/b").touch()
        monkeypatch.setattr("time.monotonic", lambda now=time.monotonic: now() + 11)
        assert machine.names(f"{tmp_path}/proc") == ("4711", "a", "b")


def test_free_bytes_programs_variables_and_identity(pair: tuple[Machine, Machine]) -> None:
    there, here = pair
    for path in ("/", "/proc", "/nothing/at/all", "/with\0nul", ""):
        free_there, free_here = there.free_bytes(path), here.free_bytes(path)
        assert (free_there is None) == (free_here is None), path
        assert abs((free_there or 0) - (free_here or 0)) < 1 << 30
    for name in ("sh", "no-such-program", "", "/bin/sh", "/etc", "../sh"):
        assert there.program(name) == here.program(name), name
    ours = here.identity
    assert there.identity == type(ours)(**{**vars(ours), "python": there.identity.python})
    assert there.identity.python.startswith("3.")
    assert there.variables["LANG"] == "C"


@pytest.mark.first_case
@pytest.mark.parametrize(
    "words",
    [
        ["sh", "-c", "echo out; echo err >&2; exit 3"],
        ["sh", "-c", "kill -9 $$"],
        ["no-such-program"],
        [],
        ["sh", "-c", r"printf '\377\303\274'"],
        ["sh", "-c", 'echo "$1|$A|$LANG"', "sh", "a b  ü"],
        ["sh", "-c", "head -c 5000000 /dev/zero"],
        ["sh", "-c", "cat; sleep 60 & echo now"],
        ["/etc/passwd"],
        ["sh", "a\0b"],
    ],
)
def test_short_commands(pair: tuple[Machine, Machine], words: list[str]) -> None:
    there, here = (machine.run(words, seconds=20, variables={"A": "1 ü"}) for machine in pair)
    assert there == here


@pytest.mark.first_case
def test_short_commands_that_take_too_long(pair: tuple[Machine, Machine]) -> None:
    there, here = (machine.run(["sh", "-c", "echo a; sleep 60"], seconds=0.3) for machine in pair)
    assert there == here == Completed(None, "a\n", "", "no end after 0.3 s")


def test_names_of_places(tmp_path: Path) -> None:
    network = Network(tmp_path, engines=("podman", "apptainer"))
    for host, container, name, inside in (
        ("gpu7", None, "gpu7", None),
        (None, "box", "container box", "box"),
        ("me@gpu7", "podman:box", "container box on me@gpu7", "box"),
        (None, "apptainer:box", "container box", "instance"),
    ):
        with network.connect(host, container) as (machine, _):
            assert machine.name == name
            assert machine.variables.get("INSIDE") == inside
