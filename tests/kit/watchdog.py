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
from dataclasses import dataclass
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


@dataclass(frozen=True)
class _Watched:
    """One test in one of its phases: set-up, call, tear-down."""

    test: str
    limit_s: float


class Watchdog:
    """Watches the test that runs in the main thread of this process."""

    def __init__(self, limit_s: float = LIMIT_S, grace_s: float = _GRACE_S, period_s: float = _PERIOD_S) -> None:
        self._limit_s = limit_s
        self._grace_s = grace_s
        self._period_s = period_s
        self._main = threading.main_thread()
        self._watched: _Watched | None = None
        self._is_over = threading.Event()
        run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
        self._ended = Path(tempfile.gettempdir()) / f"wavewright-hung-{run}"

    def start(self) -> None:
        signal.signal(_SIGNAL, self._interrupt)
        threading.Thread(target=self._watch, name="watchdog", daemon=True).start()

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Iterator[object]:
        if (mark := self._mark(item.nodeid)).exists():
            what = "hung and could not be interrupted, so its worker was ended"
            pytest.fail(f"{what}:\n{mark.read_text()}", pytrace=False)
        return (yield from self._phase(item))

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[object]:
        return (yield from self._phase(item))

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Iterator[object]:
        return (yield from self._phase(item))

    def pytest_unconfigure(self) -> None:
        self._is_over.set()

    def _phase(self, item: pytest.Item) -> Iterator[object]:
        factor = _SLOW_FACTOR if item.get_closest_marker("slow") else 1
        self._watched = _Watched(item.nodeid, self._limit_s * factor)
        try:
            return (yield)
        finally:
            self._watched = None

    def _mark(self, test: str) -> Path:
        return self._ended.with_name(f"{self._ended.name}-{hashlib.sha256(test.encode()).hexdigest()[:16]}")

    def _interrupt(self, _number: int, _frame: FrameType | None) -> None:
        if (watched := self._watched) is not None:
            pytest.fail(f"took more than {watched.limit_s:g} s of a fair share of the machine")

    def _watch(self) -> None:
        watched: _Watched | None = None
        left_s, is_interrupted = 0.0, False
        before_s = time.monotonic()
        while not self._is_over.wait(self._period_s):
            now_s = time.monotonic()
            fair_s, before_s = (now_s - before_s) * fair_share(), now_s
            if self._watched is not watched:
                watched, is_interrupted = self._watched, False
                left_s = watched.limit_s if watched else 0.0
                continue
            left_s -= fair_s
            if watched is None or left_s > 0:
                continue
            if is_interrupted:
                with self._mark(watched.test).open("w") as places:
                    faulthandler.dump_traceback(places)
                os._exit(_EXIT_STATUS)
            is_interrupted, left_s = True, self._grace_s
            signal.pthread_kill(self._main.ident or 0, _SIGNAL)
