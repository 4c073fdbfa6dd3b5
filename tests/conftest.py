from __future__ import annotations

import gc
import multiprocessing.util
import os
import signal
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from tests.kit.judges import LACKING
from tests.kit.sampling import effort, examples
from tests.kit.watchdog import Watchdog

# The same commit gives the same result: examples are drawn from the test's own name, a quarter of them in `make test`
# and all of them in `make test-all`. `make search` draws many more at random. How long one example takes tells about
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
# Hypothesis also draws constants of all modules that are imported, which depend on the tests that ran before.
providers._get_local_constants = lambda: providers._local_constants
# Tests leave nothing in the folders of whoever runs them.
os.environ["WAVEWRIGHT_CACHE"] = ""
os.environ["WAVEWRIGHT_CONFIG"] = ""
# The server that forks processes keeps its socket here: not below a folder that one test calls the temporary one.
multiprocessing.util.get_temp_dir()
# pytest-xdist gives its workers the width of a terminal, which programs that tests start would see.
for _name in ("COLUMNS", "LINES"):
    os.environ.pop(_name, None)
# A shell that starts us in the background lets us ignore SIGINT, and so would every program that a test starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
SHARED = Path(__file__).resolve().parents[2] / "shared"
#: What takes longest comes first, so that the workers end together; other folders follow by name.
_FIRST = ("e2e", "cli", "mcp", "notebook", "golden", "property", "damage")


class FewerCases:
    """Of tests that say `first_case` or `some_cases(n)`, all cases but the first quick one, or n of them, are slow."""

    @pytest.hookimpl(tryfirst=True)  # before those that are slow are left out
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        cases: dict[str, list[pytest.Item]] = {}
        for item in items:
            if not item.get_closest_marker("slow"):
                cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
        for quick in cases.values():
            some = quick[0].get_closest_marker("some_cases")
            count = some.args[0] if some else 1 if quick[0].get_closest_marker("first_case") else len(quick)
            # Spread over all: neighbours are often of one kind.
            kept = {number * len(quick) // count for number in range(min(count, len(quick)))}
            for number, item in enumerate(quick):
                if number not in kept:
                    item.add_marker(pytest.mark.slow)


def pytest_configure(config: pytest.Config) -> None:
    """Watch for tests that hang, where tests run: in each worker, or here when there are none."""
    config.pluginmanager.register(FewerCases())
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
        # A program that may not write much would leave half a compiled file for all others. Workers do write theirs:
        # they are started by a process that does not come here.
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        watchdog = Watchdog()
        config.pluginmanager.register(watchdog)
        watchdog.start()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long folders first."""
    tests = Path(__file__).parent

    def order(item: pytest.Item) -> int:
        folder = item.path.relative_to(tests).parts[0]
        return _FIRST.index(folder) if folder in _FIRST else len(_FIRST)

    items.sort(key=order)


def pytest_collection_finish() -> None:
    """Tests and modules stay to the end: the collector of circles need not look at them again."""
    gc.freeze()


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
