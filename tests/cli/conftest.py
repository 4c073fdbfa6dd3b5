from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from synth import Scenario, compiled, synthesize, write_capture
from tests.cli.in_process import call

# pytest-xdist tells its workers a width of 80, as a terminal may; texts are judged at that of a pipe.
os.environ.pop("COLUMNS", None)
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def program() -> Run:
    """Run the program as a user would, in a process of its own; `environment` adds variables."""

    def start(*arguments: object, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "wavewright", *map(str, arguments)]
        variables = {**os.environ, **(environment or {})}
        return subprocess.run(command, capture_output=True, text=True, check=False, env=variables)

    return start


@pytest.fixture(scope="session")
def run() -> Run:
    """The same inside the test's own process, for tests that are not about processes: a start takes a second."""

    def start(*arguments: object, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in (environment or {}).items():
                patch.setenv(name, value)
            done = call(*arguments)
        return subprocess.CompletedProcess(arguments, done.status, done.stdout, done.stderr)

    return start


@pytest.fixture(scope="session")
def _written_capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("written") / "capture"
    kernel = compiled("saxpy", "gfx942")
    write_capture(synthesize(Scenario(kernels=(kernel,), shader_engines=2, realtime_pairs=2)), folder)
    return folder


@pytest.fixture
def capture(_written_capture: Path, tmp_path: Path) -> Path:
    """A small raw capture of two shader engines, which the test may change."""
    return shutil.copytree(_written_capture, tmp_path / "capture")
