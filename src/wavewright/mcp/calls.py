"""Calls of tools: a few run at once, each in a thread; each can be cancelled while the others go on."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

AT_ONCE = 4  #: Calls that run at the same time.
MOST_WAITING = 256  #: Calls in the queue; more are refused.
_MOST_ABANDONED = 8  #: Cancelled calls that still compute; each gets a thread more.
_PROGRESS_SECONDS = 1.0  #: Between two messages of progress.


@dataclass
class Call:
    """One call: its id, its work and its state."""

    key: Any  #: The id of the request.
    work: Callable[[Call], None] = field(repr=False)
    #: Sends progress (seconds, stage); None = not asked for.
    tell: Callable[[float, str], None] | None = field(default=None, repr=False)
    stage: str = "waiting"  #: What it does now, as text for progress.
    is_cancelled: bool = False
    is_replaced: bool = False  #: Whether a new thread took the place of the one that still computes it.
    is_done: threading.Event = field(default_factory=threading.Event, repr=False)


class Calls:
    """The running and the waiting calls."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: deque[Call] = deque()
        self._running: dict[Any, Call] = {}
        self._abandoned = 0
        self._threads = 0

    def start(self, call: Call) -> bool:
        """Start or queue a call; False = too many are waiting, or one has the same id."""
        with self._changed:
            keys = {waiting.key for waiting in self._waiting} | self._running.keys()
            if call.key in keys or len(self._waiting) >= MOST_WAITING:
                return False
            self._waiting.append(call)
            serving = self._threads - self._abandoned  # threads that take calls from the queue
            if serving < AT_ONCE and len(self._waiting) > serving - len(self._running):  # more calls than idle threads
                self._add_thread()
            self._changed.notify()
        if call.tell is not None:
            threading.Thread(target=_report, args=(call, call.tell), name="progress", daemon=True).start()
        return True

    def cancel(self, key: Any) -> None:
        """Drop a call; a running one goes on without an answer, and another thread takes its place."""
        with self._changed:
            for call in self._waiting:
                if call.key == key:
                    call.is_cancelled = True
                    call.is_done.set()
                    self._waiting.remove(call)
                    return
            running = self._running.pop(key, None)
            if running is None:
                return
            running.is_cancelled = True
            running.is_done.set()
            if self._abandoned < _MOST_ABANDONED:
                self._abandoned += 1
                running.is_replaced = True
                self._add_thread()
            self._changed.notify_all()

    def finish(self) -> None:
        """Wait until every call that was not cancelled has been answered."""
        with self._changed:
            self._changed.wait_for(lambda: not self._waiting and not self._running)

    def _add_thread(self) -> None:
        self._threads += 1
        threading.Thread(target=self._serve, name="calls", daemon=True).start()

    def _serve(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: bool(self._waiting))
                call = self._waiting.popleft()
                self._running[call.key] = call
            call.work(call)
            call.is_done.set()
            with self._changed:
                if self._running.get(call.key) is call:
                    del self._running[call.key]
                    self._changed.notify_all()
                if call.is_replaced:
                    self._abandoned -= 1
                    self._threads -= 1
                    return


def _report(call: Call, tell: Callable[[float, str], None]) -> None:
    """Send progress until a call is done: seconds, and what it does."""
    seconds = 0.0
    tell(seconds, call.stage)
    while not call.is_done.wait(_PROGRESS_SECONDS):
        seconds += _PROGRESS_SECONDS
        tell(seconds, call.stage)
