"""The examples in docstrings run and give what they say."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import wavewright

MODULES = [
    module.name
    for module in pkgutil.walk_packages(wavewright.__path__, "wavewright.")
    if not module.name.endswith((".__main__", "._core", "_child"))
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    failed, _ = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert not failed
