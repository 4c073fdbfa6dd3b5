"""The examples in docstrings run and give what they say."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

import wavewright

ROOT = Path(wavewright.__file__).parent
#: Part of the package -> its modules with examples.
MODULES: dict[str, list[str]] = {}
for _file in sorted(ROOT.rglob("*.py")):
    if ">>> " in _file.read_text(encoding="utf-8"):
        _parts = _file.relative_to(ROOT).with_suffix("").parts
        _name = ".".join(("wavewright", *_parts)).removesuffix(".__init__")
        MODULES.setdefault(_parts[0], []).append(_name)


@pytest.mark.parametrize("part", MODULES)
def test_examples(part: str) -> None:
    tried = [
        (name, doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)) for name in MODULES[part]
    ]
    assert not [name for name, result in tried if result.failed]
