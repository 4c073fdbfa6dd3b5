"""A pytest plugin that fails a test which hangs, alone, however busy the machine is.

A test may take LIMIT_S seconds of a fair share of the machine: with more processes that want to run than processors,
time counts for less. First the test is interrupted where it stands; if that does not end it (it is stuck in native
code), its worker ends, pytest-xdist starts another, and the test fails there when it comes up again.
"""

from __future__ import annotations

import faulthandler
import hashlib
import os
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest

LIMIT_S = 120.0
_SLOW_FACTOR = 15  # for tests marked slow
_GRACE_S = 30.0  # from the interruption to the end of the worker
_PERIOD_S = 1.0
_SIGNAL = signal.SIGUSR1
_EXIT_STATUS = 70


def fair_share() -> float:
    """The part of a processor that a process gets while this many want to run, at most 1."""
    try:
        for line in Path("/proc/stat").read_text().splitlines():
            if line.startswith("procs_running "):
                return min(1.0, (os.cpu_count() or 1) / max(1, int(line.split()[1])))
    except OSError:
        pass  # not Linux
    return 1.0


class Watchdog:
    """Watches the test that runs in the main thread of this process."""

    def __init__(self, limit_s: float = LIMIT_S, grace_s: float = _GRACE_S, period_s: float = _PERIOD_S) -> None:
        self._limit_s = limit_s
        self._grace_s = grace_s
        self._period_s = period_s
        self._main = threading.main_thread()
        self._test: str | None = None
        self._left_s = 0.0
        self._is_interrupted = False
        self._is_over = threading.Event()
        run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
        self._ended = Path(tempfile.gettempdir()) / f"wavewright-hung-{run}"

    def start(self) -> None:
        signal.signal(_SIGNAL, self._interrupt)
        threading.Thread(target=self._watch, name="watchdog", daemon=True).start()

    def stop(self) -> None:
        self._is_over.set()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[object]:
        factor = _SLOW_FACTOR if item.get_closest_marker("slow") else 1
        self._left_s, self._is_interrupted = self._limit_s * factor, False
        self._test = item.nodeid
        try:
            return (yield)
        finally:
            self._test = None

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        if (mark := self._mark(item.nodeid)).exists():
            pytest.fail(
                f"hung and could not be interrupted, so its worker was ended:\n{mark.read_text()}", pytrace=False
            )

    def pytest_unconfigure(self) -> None:
        self.stop()

    def _mark(self, test: str) -> Path:
        return self._ended.with_name(f"{self._ended.name}-{hashlib.sha256(test.encode()).hexdigest()[:16]}")

    def _interrupt(self, _number: int, _frame: FrameType | None) -> None:
        if self._test is not None:
            pytest.fail(f"took more than {self._limit_s:g} s of a fair share of the machine")

    def _watch(self) -> None:
        before = time.monotonic()
        while not self._is_over.wait(self._period_s):
            now = time.monotonic()
            self._left_s -= (now - before) * fair_share()
            before = now
            test = self._test
            if test is None or self._left_s > 0:
                continue
            if self._is_interrupted:
                with self._mark(test).open("w") as places:
                    faulthandler.dump_traceback(places)
                os._exit(_EXIT_STATUS)
            self._is_interrupted, self._left_s = True, self._grace_s
            signal.pthread_kill(self._main.ident or 0, _SIGNAL)
