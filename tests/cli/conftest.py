from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from synth import Scenario, compiled, synthesize, write_capture

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def run() -> Run:
    """Run the program as a user would; `environment` adds variables."""

    def call(*arguments: object, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "wavescope", *map(str, arguments)]
        variables = {**os.environ, **(environment or {})}
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=variables)

    return call


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    """A small raw capture of two shader engines."""
    kernel = compiled("saxpy", "gfx942")
    folder = tmp_path / "capture"
    write_capture(synthesize(Scenario(kernels=(kernel,), shader_engines=2, realtime_pairs=2)), folder)
    return folder
