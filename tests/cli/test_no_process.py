"""Opening a raw capture starts no process: the code is disassembled and its names are demangled in this one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys

def refuse(event, arguments):
    if event in ("subprocess.Popen", "os.posix_spawn", "os.fork", "os.forkpty", "os.exec", "os.spawn", "os.system"):
        raise RuntimeError(f"{event} {arguments}")

sys.addaudithook(refuse)
from wavewright.__main__ import program
program()
"""


def _run(*words: object) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "WAVEWRIGHT_LLVM"}
    command = [sys.executable, "-c", PROGRAM, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


@pytest.mark.parametrize("verb", ["info", "hotspots"])
def test_a_small_capture(capture: Path, verb: str) -> None:
    for listing in capture.glob("*.isa.tsv"):
        listing.unlink()
    done = _run(verb, capture, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert "no_disassembler" not in done.stdout


def test_a_real_capture(shared: Path) -> None:
    """The kernel's name is one of 759 letters with 34 references."""
    done = _run("hotspots", shared / "data" / "att-mi300x-bmm" / "c01" / "raw")
    assert (done.returncode, done.stderr) == (0, "")
    assert "ck_tile::kentry…BatchedGemmKernel" in done.stdout
    assert "buffer_load_dwordx4" in done.stdout
