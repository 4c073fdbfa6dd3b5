"""Captures on other machines as a user takes them: ssh and docker are programs of the test, everything else is real."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from synth.profiler_output import KERNEL, make_templates
from synth.rocm_tree import RocmTree, make_rocm_tree, steered
from tests.cli.in_process import Done, call
from tests.conftest import SHARED
from tests.unit.capture.made_captures import GPU_NODE, running
from tests.unit.capture.made_connections import Network

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
        self.network = Network(folder / "network")
        self._rocm = rocm
        self._templates = templates
        node = folder / "nodes" / "1"
        node.mkdir(parents=True)
        (node / "properties").write_text(GPU_NODE.format(unique_id=81985529216486895), "ascii")
        (node / "gpu_id").write_text("4242\n", "ascii")
        (folder / "locks").mkdir()
        self.variables = {
            **self.network.variables,
            "ROCPROFILER_KFD_TOPOLOGY": str(folder / "nodes"),
            "WAVEWRIGHT_LOCK_DIR": str(folder / "locks"),
        }

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
    assert there["host"] == "me@gpu7"
    different = {"disk", "shared_memory", "memory"}  # other folders, and numbers that change
    states = [
        {check["name"]: check["status"] for check in answer["checks"] if check["name"] not in different}
        for answer in (here, there)
    ]
    assert states[0] == states[1]
    assert here["machine"] == there["machine"]


@pytest.mark.slow
def test_a_thread_trace_over_ssh_is_judged_here(place: Place, tmp_path: Path) -> None:
    """Discovery, a truncated trace, a larger buffer: each step runs there, and its data are judged here."""
    done = _take(place, "att", "--host", "gpu7", "-o", tmp_path / "a", needed_bytes=400 << 20)
    assert done.status == 0, done.stderr
    assert "good after 2 attempts" in done.stdout
    assert place.network.log.read_text().count("BatchMode=yes") == 1, "one connection for everything"
    assert "blas::saxpy" in call("hotspots", tmp_path / "a").stdout
    runs = [json.loads(line) for line in (tmp_path / "record.jsonl").read_text().splitlines()]
    assert all(run["env"]["HOME"] == str(place.network.home) for run in runs)
    assert not place.network.data, "what was brought is removed there"
    assert not running(tmp_path)


def test_what_is_not_brought_is_told(place: Place, tmp_path: Path) -> None:
    words = place.words("discover", "--host", "gpu7", "-o", tmp_path / "d")
    program = words[words.index("--") + 1 :]
    script = (
        'folder=$(echo "$ROCPROF_OUTPUT_PATH" | sed "s,/data.*,/data,"); ln -s /etc/passwd "$folder/evil"; exec "$@"'
    )
    done = call(*words[: words.index("--") + 1], "sh", "-c", script, "sh", *program)
    assert done.status == 0, done.stderr
    assert "not brought: evil: a link\n" in done.stderr
    assert f"what was not brought is in {place.network.data[0]} on gpu7\n" in done.stderr
    assert (place.network.data[0] / "evil").is_symlink()
    assert not list((tmp_path / "d").rglob("evil"))


def test_a_capture_in_a_container_on_another_machine(place: Place, tmp_path: Path) -> None:
    done = _take(place, "discover", "--host", "gpu7", "--container", "docker:box", "-o", tmp_path / "d")
    assert done.status == 0, done.stderr
    assert "blas::saxpy" in done.stdout
    (run,) = [json.loads(line) for line in (tmp_path / "record.jsonl").read_text().splitlines()]
    assert run["env"]["INSIDE"] == "box"
    log = place.network.log.read_text()
    assert "docker container inspect -f {{.State.Running}} box\n" in log
    assert "docker exec -i box sh -c " in log


def test_no_connection_is_one_sentence(place: Place, tmp_path: Path) -> None:
    script = "#!/bin/sh\necho 'ssh: Could not resolve hostname gpu7: Name or service not known' >&2; exit 255\n"
    place.network.program(tmp_path / "network/programs/ssh", script)
    done = _take(place, "att", "--host", "gpu7", "-o", tmp_path / "a")
    assert done.status == 75
    assert "gpu7: the host is unknown\n  try: check its name, or its entry in ~/.ssh/config\n" in done.stderr
    assert not (tmp_path / "a").exists()
    done = _take(place, "att", "--host", "-oProxyCommand=touch x", "-o", tmp_path / "a")
    assert done.status == 2
    assert "this cannot be the name of a host" in done.stderr


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
    agents = subprocess.run(["pgrep", "-P", str(taker.pid)], capture_output=True, text=True, check=True).stdout.split()
    for pid in agents:  # the stand-in of ssh
        os.killpg(int(pid), signal.SIGKILL)
    _, printed = taker.communicate()
    assert taker.returncode == 75, printed
    assert "the connection was lost" in printed
    assert "--resume" in printed
    done = _take(place, "att", *options, "--resume")
    assert done.status == 0, done.stderr
    assert "good" in done.stdout
    assert not running(tmp_path)


def test_a_report_of_a_remote_capture_names_neither_host_nor_user(place: Place, tmp_path: Path) -> None:
    assert _take(place, "discover", "--host", "carol@gpu7.lab.example", "-o", tmp_path / "d").status == 0
    bundle = tmp_path / "report.tar.gz"
    done = call("capture", "report", tmp_path / "d", "-o", bundle)
    assert done.status == 0, done.stderr
    for name in ("job.json", "manifest.jsonl", "attempts/1/command.json", "attempts/1/stderr.txt", "doctor.json"):
        assert name in done.stdout
    plain = gzip.decompress(bundle.read_bytes())
    assert b"rocprofv3" in plain
    for planted in (b"carol", b"gpu7", str(place.network.home).encode()):
        assert planted not in plain
    again = call("capture", "report", tmp_path / "d", "-o", bundle)
    assert again.status == 2
    assert "the output exists" in again.stderr
    answer = json.loads(
        call("capture", "report", tmp_path / "d", "-o", bundle, "--force", "--json", "--no-doctor").stdout
    )
    assert "doctor.json" not in [file["name"] for file in answer["files"]]
    assert answer["path"] == str(bundle)
    assert call("capture", "report", tmp_path / "nothing").status == 2
    assert call("capture", "report", tmp_path / "d", "-o", tmp_path / "x.zip").status == 2
