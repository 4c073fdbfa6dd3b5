"""A test that hangs fails alone, wherever it hangs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kit.watchdog import fair_share

_ROOT = Path(__file__).resolve().parents[2]
_CONFTEST = """
from tests.kit.watchdog import Watchdog

def pytest_configure(config):
    if hasattr(config, "workerinput"):
        watchdog = Watchdog(limit_s=0.5, grace_s=0.5, period_s=0.05)
        config.pluginmanager.register(watchdog)
        watchdog.start()
"""
_TESTS = """
import signal, threading, time

def test_before():
    pass

def test_waits_for_ever():
    threading.Event().wait()

def test_cannot_be_interrupted():
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    while True:
        time.sleep(0.01)

def test_after():
    pass
"""


@pytest.mark.slow
def test_tests_that_hang_fail_alone(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(_CONFTEST)
    (tmp_path / "test_hanging.py").write_text(_TESTS)
    program = [sys.executable, "-m", "pytest", "-n", "1", "--dist", "loadfile", "-p", "no:cacheprovider", "-q", "."]
    environment = {**os.environ, "PYTHONPATH": str(_ROOT), "TMPDIR": str(tmp_path)}
    for name in [name for name in environment if name.startswith("PYTEST_")]:
        del environment[name]
    ran = subprocess.run(program, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert "2 failed, 2 passed, 1 error" in ran.stdout, ran.stdout
    assert "took more than 0.5 s" in ran.stdout
    assert "hung and could not be interrupted" in ran.stdout


def test_programs_that_tests_start_can_be_interrupted() -> None:
    asked = "import signal; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
    ran = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "True"
    assert signal.getsignal(signal.SIGINT) is not signal.SIG_IGN


def test_a_share_is_a_part_of_a_processor() -> None:
    assert 0 < fair_share() <= 1
