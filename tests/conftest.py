from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# How long one example takes tells about the load of the machine.
settings.register_profile("wavescope", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("wavescope")
os.environ["WAVESCOPE_CACHE"] = ""  # tests leave nothing in the cache folder of whoever runs them
SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real captures; tests that need it skip where it is absent."""
    if not SHARED.is_dir():
        pytest.skip("../shared is not here")
    return SHARED


@pytest.fixture(scope="session")
def llvm() -> str:
    """An LLVM with an AMDGPU disassembler; tests that need one skip where there is none."""
    found = shutil.which("llvm-objdump-22") or shutil.which("llvm-objdump-21") or shutil.which("llvm-objdump-20")
    if found is None:
        pytest.skip("no LLVM >= 20 here (apt-get install llvm-22)")
    return found
