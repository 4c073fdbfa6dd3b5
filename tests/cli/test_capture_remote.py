"""Captures on other machines as a user takes them: ssh and docker are programs of the test, everything else is real."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import tarfile
import time
from pathlib import Path
from typing import Any

import pytest

from synth.profiler_output import KERNEL, make_templates
from synth.rocm_tree import RocmTree, make_rocm_tree, steered
from tests.cli.in_process import Done, call
from tests.conftest import SHARED
from tests.unit.capture.made_captures import GPU_NODE, running
from wavewright.capture.other_machines import unpacked

#: Another machine is this one with another home folder; its login shell prints, as many do.
_SSH = """#!/bin/sh
echo "$@" >> "$FAKE_LOG"
while [ "$1" != "--" ]; do shift; done
echo "Welcome to $2!"; printf 'no line end'; echo "Last login: never" >&2
shift 2
cd "$HOME"; exec sh -c "$*"
"""
_ENGINE = """#!/bin/sh
echo "$(basename $0) $@" >> "$FAKE_LOG"
case "$1 $2 $3" in
"exec -i box") shift 3; INSIDE=box exec "$@";;
exec\\ -i\\ *) echo "Error response from daemon: No such container: $3" >&2; exit 1;;
exec\\ instance://*) shift 2; INSIDE=instance exec "$@";;
esac
"""
KERNELS = [["__amd_rocclr_copyBuffer", 6, 9000, 1], [KERNEL, 12, 5000, 2432]]


@pytest.fixture(scope="module")
def rocm(tmp_path_factory: pytest.TempPathFactory) -> RocmTree:
    return make_rocm_tree(tmp_path_factory.mktemp("rocm"), shared=SHARED if SHARED.is_dir() else None)


@pytest.fixture(scope="module")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_templates(tmp_path_factory.mktemp("templates"))


class Place:
    """A machine with a GPU behind ssh, as a user of this one sees it."""

    def __init__(self, folder: Path, rocm: RocmTree, templates: Path) -> None:
        self.folder = folder
        self.home, self.log, self.programs = folder / "home", folder / "log", folder / "programs"
        for made in (self.home, self.programs):
            made.mkdir()
        for name, text in (("ssh", _SSH), ("docker", _ENGINE), ("apptainer", _ENGINE)):
            self.program(name, text)
        self.program("wavewright", f'#!/bin/sh\nexec {sys.executable} -m wavewright "$@"\n')
        self._rocm = rocm
        self._templates = templates
        node = folder / "nodes" / "1"
        node.mkdir(parents=True)
        (node / "properties").write_text(GPU_NODE.format(unique_id=81985529216486895), "ascii")
        (node / "gpu_id").write_text("4242\n", "ascii")
        (folder / "locks").mkdir()
        self.variables = {
            "PATH": f"{self.programs}:{os.environ['PATH']}",
            "HOME": str(self.home),
            "FAKE_LOG": str(self.log),
            "LANG": "C",
            "ROCPROFILER_KFD_TOPOLOGY": str(folder / "nodes"),
            "WAVEWRIGHT_LOCK_DIR": str(folder / "locks"),
        }

    def program(self, name: str, text: str) -> None:
        (self.programs / name).write_text(text, encoding="utf-8")
        (self.programs / name).chmod(0o755)

    @property
    def data(self) -> list[Path]:
        """Folders of captures that are there."""
        return sorted((self.home / ".cache/wavewright/captures").glob("*"))

    def words(self, kind: str, *options: object, **steering: Any) -> list[str]:
        """Of a command line without `wavewright`."""
        settings = {"templates": str(self._templates), "kernels": KERNELS, "record": str(self.folder / "record.jsonl")}
        program, variables = steered(self.folder, **(settings | steering))
        told = [word for name, value in variables.items() for word in ("--env", f"{name}={value}")]
        return ["capture", kind, "--rocprofv3", self._rocm.rocprofv3, *told, *map(str, options), "--", *program]


@pytest.fixture
def place(rocm: RocmTree, templates: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    made = Place(tmp_path, rocm, templates)
    for name, value in made.variables.items():
        monkeypatch.setenv(name, value)
    return made


def _take(place: Place, *arguments: object, **steering: Any) -> Done:
    return call(*place.words(*map(str, arguments), **steering))


def test_doctor_says_the_same_of_another_machine(place: Place) -> None:
    here, there = (json.loads(call("doctor", "--json", *words).stdout) for words in ((), ("--host", "me@gpu7")))
    different = {"disk", "memory"}  # other folders, and numbers that change
    states = [
        {check["name"]: check["status"] for check in answer["checks"] if check["name"] not in different}
        for answer in (here, there)
    ]
    assert states[0] == states[1]


@pytest.mark.slow
def test_a_thread_trace_over_ssh(place: Place, tmp_path: Path) -> None:
    """Discovery, a truncated trace, a larger buffer: all of it runs there, and comes back as one folder."""
    done = _take(place, "att", "--host", "gpu7", "-o", tmp_path / "a", needed_bytes=400 << 20)
    assert done.status == 0, done.stderr
    assert "good after 2 attempts" in done.stdout
    assert "a buffer of" in done.stderr
    assert "BatchMode=yes" in place.log.read_text()
    assert "blas::saxpy" in call("hotspots", tmp_path / "a").stdout
    runs = [json.loads(line) for line in (tmp_path / "record.jsonl").read_text().splitlines()]
    assert all(run["env"]["HOME"] == str(place.home) for run in runs)
    assert not place.data, "what was brought is removed there"
    assert not running(tmp_path)
    again = _take(place, "att", "--host", "gpu7", "-o", tmp_path / "a", needed_bytes=400 << 20)
    assert again.status == 2
    assert "a capture is here already" in again.stderr


@pytest.mark.slow
def test_what_leads_out_is_not_brought_but_told(place: Place, tmp_path: Path) -> None:
    """Links, and names of an archive that lead out: nothing is written outside, and the rest comes."""
    words = place.words("discover", "--host", "gpu7", "-o", tmp_path / "d")
    program = words[words.index("--") + 1 :]
    script = 'ln -s /etc/passwd "$ROCPROF_OUTPUT_PATH/evil"; exec "$@"'
    done = call(*words[: words.index("--") + 1], "sh", "-c", script, "sh", *program)
    assert done.status == 0, done.stderr
    assert "evil (0 B): a link" in done.stderr
    assert "what was not brought is in ~/.cache/wavewright/captures/" in done.stderr
    assert not list((tmp_path / "d").rglob("evil"))
    assert len(place.data) == 1
    assert (tmp_path / "d" / "result").readlink() == Path("attempts/1")


def test_a_hostile_archive_stays_in_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "attempts").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").mkdir()
    entries = {
        "../outside": b"x",
        "/etc/outside": b"x",
        "a\x1b[2J": b"x",
        "job.json": b"{}",
    }
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, content in entries.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
        link = tarfile.TarInfo("result")
        link.type, link.linkname = tarfile.SYMTYPE, "../../etc"
        archive.addfile(link)
    stream.seek(0)
    with tarfile.open(fileobj=stream, mode="r|") as archive:
        problems = {entry.name: unpacked(archive, entry, folder) for entry in archive}
    assert [name for name, problem in problems.items() if not problem] == ["job.json"]
    assert sorted(path.name for path in folder.iterdir()) == ["attempts", "job.json"]
    inner = tarfile.TarInfo("attempts/1/x")
    with (
        pytest.raises(OSError, match=r"attempts|director|link"),
        tarfile.open(fileobj=io.BytesIO(), mode="w") as archive,
    ):
        unpacked(archive, inner, folder)  # a link on the way
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.slow
def test_a_capture_in_a_container_on_another_machine(place: Place, tmp_path: Path) -> None:
    done = _take(place, "discover", "--host", "gpu7", "--container", "docker:box", "-o", tmp_path / "d")
    assert done.status == 0, done.stderr
    assert "blas::saxpy" in done.stdout
    (run,) = [json.loads(line) for line in (tmp_path / "record.jsonl").read_text().splitlines()]
    assert run["env"]["INSIDE"] == "box"
    assert "docker exec -i box sh -c " in place.log.read_text()
    done = call("doctor", "--container", "nobox")
    assert done.status == 75
    assert "No such container: nobox" in done.stderr


def test_no_connection_and_other_versions_are_one_sentence(place: Place, tmp_path: Path) -> None:
    where = ("--host", "gpu7", "-o", tmp_path / "a")
    place.program("wavewright", "#!/bin/sh\necho wavewright 0.0.1\n")
    done = _take(place, "att", *where)
    assert done.status == 2
    assert "here and 0.0.1 there" in done.stderr
    done = _take(place, "att", *where, "--remote", "/no/such/wavewright")
    assert done.status == 5
    assert "there is no wavewright that answers" in done.stderr
    assert "pip install wavewright==" in done.stderr
    place.program(
        "ssh", "#!/bin/sh\necho 'ssh: Could not resolve hostname gpu7: Name or service not known' >&2; exit 255\n"
    )
    done = _take(place, "att", *where)
    assert done.status == 75
    assert "gpu7: the host is unknown\n  try: check its name, or its entry in ~/.ssh/config\n" in done.stderr
    assert not (tmp_path / "a").exists()
    done = _take(place, "att", "--host", "-oProxyCommand=touch x", "-o", tmp_path / "a")
    assert done.status == 2
    assert "this cannot be the name of a host" in done.stderr


@pytest.mark.slow
def test_what_is_refused_there_is_said_here(place: Place, tmp_path: Path) -> None:
    words = [*place.words("att", "--host", "gpu7", "-o", tmp_path / "a")[:-1], "/no/such/program"]
    words = [*words[: words.index("--") + 1], "/no/such/program"]
    done = call(*words)
    assert done.status == 2
    assert "gpu7: the program '/no/such/program' does not exist\n  try: check its name and PATH\n" in done.stderr
    done = call(*words[: words.index("--")], "--dry-run", "--", "./gemm")
    assert done.status == 0
    assert "what would be run" in done.stdout


@pytest.mark.slow
def test_a_capture_goes_on_after_the_connection_was_lost(place: Place, tmp_path: Path) -> None:
    options = ("--host", "gpu7", "-o", tmp_path / "a", "--kernel", "saxpy", "--launch", "8-9")
    words = place.words("att", *options, seconds=60)
    taker = subprocess.Popen(
        [sys.executable, "-m", "wavewright", *words],
        env={**os.environ, **place.variables},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not (tmp_path / "record.jsonl").exists():
        assert taker.poll() is None
        time.sleep(0.05)
    taker.send_signal(signal.SIGKILL)  # the other end sees the end of its input, and stops the capture
    taker.communicate()
    while running(tmp_path):
        time.sleep(0.05)
    done = _take(place, "att", *options, "--resume", seconds=0)
    assert done.status == 0, done.stderr
    assert "good" in done.stdout
    assert not place.data
    assert not running(tmp_path)
