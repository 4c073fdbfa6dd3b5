from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.judges import LACKING
from tests.sampling import effort, examples

# The same commit gives the same result: examples are drawn from the test's own name, a quarter of them in `make test`
# and all of them in `make test-slow`. `make search` draws many more at random. How long one example takes tells about
# the load of the machine, so there is no deadline.
if effort() == "search":
    _profile = settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=examples(100))
else:
    _slowly = [HealthCheck.too_slow]
    _profile = settings(
        deadline=None, suppress_health_check=_slowly, max_examples=examples(100), derandomize=True, database=None
    )
settings.register_profile("wavewright", _profile)
settings.load_profile("wavewright")
# Tests leave nothing in the folders of whoever runs them.
os.environ["WAVEWRIGHT_CACHE"] = ""
os.environ["WAVEWRIGHT_CONFIG"] = ""
SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where ../shared is present, a test that skips for the lack of a file in it fails; with judges likewise."""
    report = yield
    why = str(report.longrepr) if report.skipped else ""
    if (SHARED.is_dir() and "../shared" in why) or (os.environ.get("WAVEWRIGHT_JUDGES") and LACKING in why):
        report.outcome = "failed"
    return report


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real captures; tests that need it skip where it is absent."""
    if not SHARED.is_dir():
        pytest.skip("../shared is not here")
    return SHARED
