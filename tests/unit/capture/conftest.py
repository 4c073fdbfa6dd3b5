from __future__ import annotations

from pathlib import Path

import pytest

from tests.amd_script import AmdScript, make_scripts


@pytest.fixture(scope="session")
def scripts(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, AmdScript]:
    """AMD's scripts of six releases, by release."""
    return make_scripts(shared, tmp_path_factory.mktemp("rocm"))
