"""What happens when nobody listens, the disk is full, or the user has had enough."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kit.sampling import every_third

PROGRAM = [sys.executable, "-m", "wavewright"]


def shell(line: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = ["bash", "-c", line, "bash", *PROGRAM, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("more", every_third([(), ("--json",)]))
def test_closed_streams(capture: Path, more: tuple[str, ...]) -> None:
    done = shell('"$@" >&-', "stalls", capture, *more)
    assert (done.returncode, done.stderr) == (0, "")
    assert shell('"$@" >&- 2>&-', "stalls", capture / "missing", *more).returncode == 2


@pytest.mark.first_case
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("more", [(), ("--json",)])
def test_a_full_disk(capture: Path, more: tuple[str, ...]) -> None:
    done = shell('"$@" >/dev/full', "stalls", capture, *more)
    assert done.returncode == 74
    assert done.stderr == "error: the output cannot be written: No space left on device\n"


def test_stopped(tmp_path: Path) -> None:
    """While the program waits for its input, which is never interrupted in the middle of an import."""
    waits = (
        "import os, signal, time, wavewright.cli, wavewright.readers.opening as opening\n"
        "def open(*_, **__):\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    time.sleep(60)\n"
        "opening.open_trace = open\n"
        "wavewright.cli.program()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", waits, "stalls", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert (done.returncode, done.stderr.strip()) == (130, "stopped")
