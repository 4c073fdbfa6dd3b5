"""LLVM 22 as a judge: our code needs none, so a test that asks it skips where it is not there.

`make test-llvm` installs it and sets WAVEWRIGHT_JUDGES, which makes such a skip a failure.
"""

from __future__ import annotations

import shutil

import pytest

from wavewright.codeobj.libllvm.libraries import find_libraries

LACKING = "LLVM 22, the judge, is not here"


def llvm_program(name: str) -> str:
    """Path of a program of LLVM 22 or Clang 22, or skip."""
    program = shutil.which(f"{name}-22")
    if program is None:
        pytest.skip(f"{LACKING}: {name}-22 (make llvm)")
    return program


def llvm_library() -> str:
    """Path of a libLLVM of the machine, or skip."""
    libraries = find_libraries({})
    if not libraries:
        pytest.skip(f"{LACKING}: libLLVM (make llvm)")
    return libraries[0]
