from __future__ import annotations

from pathlib import Path

import pytest

from synth.profiler_output import make_templates
from synth.rocm_tree import RocmTree, make_rocm_tree
from tests.conftest import SHARED
from tests.kit.amd_script import Scripts
from tests.unit.capture.made_captures import Bench


@pytest.fixture(scope="session")
def scripts(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Scripts:
    """AMD's scripts of six releases, by release."""
    return Scripts(shared, tmp_path_factory.mktemp("rocm"))


@pytest.fixture(scope="session")
def rocm_tree(tmp_path_factory: pytest.TempPathFactory) -> RocmTree:
    """The newest release: AMD's script where it is at hand."""
    return make_rocm_tree(tmp_path_factory.mktemp("rocm"), shared=SHARED if SHARED.is_dir() else None)


@pytest.fixture(scope="session")
def trace_templates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Streams of every kind, for stand-ins."""
    return make_templates(tmp_path_factory.mktemp("templates"))


@pytest.fixture
def bench(tmp_path: Path, rocm_tree: RocmTree, trace_templates: Path) -> Bench:
    return Bench(tmp_path, rocm_tree, trace_templates)
