"""End of the program on Ctrl-C, SIGTERM or a closed terminal: temporary files and child processes are cleaned up.

A signal can arrive during an import, in a destructor, or in native code that runs for minutes. An exception raised by
a handler would come late there, or be printed and swallowed. So a thread of its own waits for signals, cleans up and
ends the process. Only the command line calls `watch`; in a library, an interrupt stays `KeyboardInterrupt`.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_PATIENCE_SECONDS = 10.0  #: Time that the end waits for an `unstopped` block, such as the publishing of an output.
_RESTORED_TERMINAL = b"\r\x1b[2K\x1b[?25h"  #: Clears the line of a progress display and shows the cursor again.

_cleanups: dict[object, Callable[[], None]] = {}  # in the order in which they were registered
_whole = threading.Lock()  # held by the `unstopped` block that runs, and from the end of the program on
_statuses = {number: 128 + number for number in _SIGNALS}  # signal -> exit status
_is_stopping = False
_signal_count = 0


def add(action: Callable[[], None]) -> Callable[[], None]:
    """Register a cleanup for when the program is stopped, latest first; return a function that unregisters it.

    Called inside `unstopped`, together with the step that the cleanup undoes.

    >>> forget = add(lambda: print("gone"))
    >>> clear()
    gone
    >>> forget()
    """
    key = object()
    _cleanups[key] = action

    def forget() -> None:
        _cleanups.pop(key, None)

    return forget


@contextmanager
def unstopped() -> Iterator[None]:
    """Run a short block that a stop waits for; no block is entered once the program is stopped. Blocks do not nest."""
    if _is_stopping:
        _wait_for_the_end()
    with _whole:
        yield


def clear() -> None:
    """Run all registered cleanups."""
    for action in reversed(list(_cleanups.values())):
        with suppress(Exception):
            action()


@contextmanager
def served_until_interrupt() -> Iterator[None]:
    """While the block runs, Ctrl-C ends the program with status 0: it is the way to leave a server."""
    _statuses[signal.SIGINT] = 0
    try:
        yield
    finally:
        _statuses[signal.SIGINT] = 128 + signal.SIGINT


def leave(status: int) -> NoReturn:
    """Clean up and end the process at once, without Python's shutdown."""
    with unstopped():
        clear()
        os._exit(status)


def watch(words: str = "stopped\n") -> None:
    """From now on, SIGINT, SIGTERM and SIGHUP clean up, print `words` to stderr and end the program with 128 + N.

    Ignored signals (nohup) stay ignored. If no thread can be started, nothing changes.
    """
    usual = (signal.SIG_DFL, signal.default_int_handler)
    own_signals = [number for number in _SIGNALS if signal.getsignal(number) in usual]
    if not own_signals:
        return
    before = {number: signal.getsignal(number) for number in own_signals}
    for number in own_signals:  # nothing to clean up yet; the default ends the program without a traceback
        signal.signal(number, signal.SIG_DFL)
    _open_standard_streams()
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    try:
        threading.Thread(target=_end_at_signal, args=(read_end, words), name="stopping", daemon=True).start()
    except RuntimeError:
        for number, handler in before.items():
            signal.signal(number, handler)
        return
    signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    for number in own_signals:
        signal.signal(number, _note)


def _note(*_: object) -> None:
    """Signal handler, in the main thread: no further `unstopped` block is entered."""
    global _is_stopping, _signal_count
    _is_stopping = True
    _signal_count += 1


def signal_count() -> int:
    """Number of signals received: cleanups that wait for child processes hurry when it grows."""
    return _signal_count


def _end_at_signal(reading: int, words: str) -> None:
    while signal_bytes := os.read(reading, 64):
        for number in signal_bytes:
            if number in _SIGNALS:
                _end(number, words)


def _end(number: int, words: str) -> NoReturn:
    """End the process. Uses no import, foreign lock or Python stream: a stopped thread may hold them."""
    global _is_stopping
    _is_stopping = True
    _whole.acquire(timeout=_PATIENCE_SECONDS)  # never released
    with suppress(OSError):
        stderr_copy = os.dup(2)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (1, 2):  # other threads must not report files that vanish now
            os.dup2(nowhere, stream)
    clear()
    with suppress(OSError, NameError):
        is_drawn = os.isatty(stderr_copy) and os.environ.get("TERM", "dumb") != "dumb"
        os.write(stderr_copy, (_RESTORED_TERMINAL if is_drawn and words else b"") + words.encode())
    os._exit(_statuses[signal.Signals(number)])


def _wait_for_the_end() -> NoReturn:
    while True:
        time.sleep(3600)


def _open_standard_streams() -> None:
    """Open /dev/null for standard streams that were closed at the start, so that no other file gets their number."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(descriptor, True)  # noqa: FBT003
    os.close(descriptor)
