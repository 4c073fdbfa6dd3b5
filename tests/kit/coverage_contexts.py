"""A pytest plugin (`-p tests.kit.coverage_contexts`) that tells coverage.py which test function runs."""

from __future__ import annotations

import coverage
import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> None:
    measuring = coverage.Coverage.current()
    if measuring is not None:
        measuring.switch_context(item.nodeid.partition("[")[0])
