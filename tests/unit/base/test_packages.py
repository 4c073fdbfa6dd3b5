"""A package that is missing: the error names the extra that brings it, and that extra exists."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from wavewright.base.packages import require
from wavewright.errors import MissingToolError

ROOT = Path(__file__).resolve().parents[3]
NAMED = re.compile(r"""'wavewright\[([a-z0-9]+)\]'|require\(\w+, "([a-z0-9]+)"|require\("\w+", "([a-z0-9]+)\"""")


def test_the_error_names_the_extra() -> None:
    with pytest.raises(MissingToolError, match=r"^x: this needs no-such-package; pip install 'wavewright\[sql\]'$"):
        require("no_such_package", "sql", where="x")
    require("polars", "sql")


def test_every_extra_that_an_error_names_is_declared() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    texts = [file.read_text() for file in (ROOT / "src" / "wavewright").rglob("*.py")]
    named = {name for text in texts for match in NAMED.findall(text) for name in match if name}
    assert named == set(extras) - {"all"}
