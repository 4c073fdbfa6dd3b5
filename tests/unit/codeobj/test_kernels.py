"""The committed kernels are what their sources give."""

from __future__ import annotations

from pathlib import Path

import pytest

from synth.kernels import BUILDS, kernel_path
from synth.kernels.build import build
from tests.kit.judges import llvm_program


@pytest.mark.slow
def test_building_again_gives_the_same_bytes(tmp_path: Path) -> None:
    llvm_program("clang++")
    committed = kernel_path(*BUILDS[0]).parent
    assert build(tmp_path) == len(BUILDS)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(path.name for path in committed.iterdir())
    for path in tmp_path.iterdir():
        if path.suffix == ".tsv":
            assert path.read_bytes() == (committed / path.name).read_bytes()


def test_nothing_of_the_build_machine_is_in_them() -> None:
    for kernel, target in BUILDS:
        data = kernel_path(kernel, target).read_bytes()
        assert b"/wavewright/kernels" in data
        assert not any(word in data for word in (b"/work", b"/home", b"/root", b"/tmp", b"/usr"))
